"""The golden vectors of Protos/vectors: what Protos/vectors/README.md says of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("waymark_nav")
vectors = pytest.importorskip("vectors")

from waymark_nav import Rejection  # noqa: E402
from waymark_nav import messages as m  # noqa: E402
from waymark_nav._wire import Message, decode, encode  # noqa: E402
from waymark_nav.core import Phase, VehicleState  # noqa: E402
from waymark_nav.core import _state as states  # noqa: E402
from waymark_nav.frames import HEADER, Frame, Splitter, Violation  # noqa: E402

FOLDER = Path(__file__).resolve().parents[2] / "Protos/vectors"
BODIES = sorted(path.name for path in FOLDER.glob("*.jsonl") if path.stem not in ("frames", "conversations"))


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").split("\n") if line]


@pytest.mark.parametrize("name", BODIES)
def test_a_body_is_valid_or_refused_with_the_code_and_the_field(name: str) -> None:
    wrong = []
    for vector in lines(name):
        expected = "valid" if vector["valid"] else f"{vector['code']} {vector['field']}"
        try:
            decode(vectors.class_of(vector["message"]), vectors.body(vector))
            found = "valid"
        except Rejection as rejection:
            found = f"{rejection.code.name} {rejection.field}"
        if found != expected:
            wrong.append(f"{vector['name']}: {found}, not {expected}")
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize("name", [name for name in BODIES if name != "large.jsonl"])
def test_a_valid_body_has_the_json_form_and_is_written_again(name: str) -> None:
    wrong = []
    for vector in (each for each in lines(name) if each["valid"]):
        body = vectors.body(vector)
        message = decode(vectors.class_of(vector["message"]), body)
        written = encode(message)
        if vectors.as_json(message) != vectors.known(vector["json"]):
            wrong.append(f"{vector['name']}: {vectors.as_json(message)}")
        if decode(type(message), written) != message:
            wrong.append(f"{vector['name']}: is another message when it is written again")
        if vector.get("canonical") and "?" not in json.dumps(vector["json"]) and written != body:
            wrong.append(f"{vector['name']}: is written as {written.hex()}")
    assert not wrong, "\n".join(wrong[:20])


def test_a_header_is_read_as_it_is_or_closes_the_connection() -> None:
    wrong = []
    for vector in lines("frames.jsonl"):
        splitter = Splitter(vector["frame_bytes_max"])
        try:
            splitter.feed(bytes.fromhex(vector["hex"]))
            frames = list(splitter.frames())
            found = "frame" if frames else "incomplete"
        except Violation as violation:
            frames, found = [], violation.code.name
        # What depends on the type and the state is the gateway's to check.
        if vector.get("code") in ("BAD_MAGIC", "UNSUPPORTED_VERSION", "FRAME_TOO_LARGE"):
            expected = vector["code"]
        elif vector["outcome"] in ("closed", "incomplete"):
            expected = found if vector["outcome"] == "closed" else "incomplete"
        else:
            expected = "frame"
        if found != expected:
            wrong.append(f"{vector['name']}: {found}, not {expected}")
        if frames and "header" in vector:
            frame = frames[0]
            header = {
                "flags": frame.flags,
                "type": frame.type,
                "key": frame.key,
                "length": len(frame.body),
                "session_id": frame.session,
                "sequence": str(frame.sequence),
            }
            if header != vector["header"]:
                wrong.append(f"{vector['name']}: {header}")
            if frame.encode() != bytes.fromhex(vector["hex"]):
                wrong.append(f"{vector['name']}: is written as {frame.encode().hex()}")
    assert not wrong, "\n".join(wrong[:20])


# Conversations


def held(state: VehicleState) -> dict[str, Any]:
    """The state in the form of the vectors."""
    if state.session == 0:
        return {"phase": "none"}
    json_of = vectors.as_json
    found: dict[str, Any] = {
        "session_id": state.session,
        "client_id": state.client,
        "suspended": state.suspended,
        "withheld": [{"feature": int(feature), "reason": int(reason)} for feature, reason in sorted(state.withheld.items())],
        "trips": [json_of(trip) for trip in state.previews],
        "trip": json_of(state.trip) if state.trip else None,
        "generation": state.generation,
        "maneuvers": [json_of(each) for each in state.maneuvers],
        "lane_guidances": [json_of(each) for each in state.lane_guidances],
        "segments": [json_of(each) for each in state.segments],
        "upcoming_maneuver_ids": list(state.upcoming_maneuvers),
        "current_lane_guidance_id": state.current_lane_guidance,
        "current_segment_id": state.current_segment,
        "name_variants": list(state.current_road_name),
        "maneuver_state": int(state.maneuver_state),
        "time_remaining_color": int(state.time_remaining_color),
        "maneuver_travel_estimates": {str(key): json_of(value) for key, value in state.maneuver_estimates.items()},
        "alert": json_of(state.alert) if state.alert else None,
    }
    found = {key: value for key, value in found.items() if value}
    found |= {"phase": state.phase.value, "cursor": str(state.sequence), "complete": state.is_complete}
    if state.trip_estimates is not None:
        found["trip_travel_estimates"] = json_of(state.trip_estimates)
    if state.phase is Phase.PAUSED:
        pause = m.PauseGuidance(reason=state.pause_reason or m.PauseReason(0), description_variants=state.pause_description)
        found["pause"] = json_of(pause)
    return found


def receive(state: VehicleState, frame: Frame, limits: m.VehicleLimits) -> VehicleState:
    message: Message | None = frame.decode() if frame.is_known else None
    if isinstance(message, m.Welcome):
        return state if message.resumed else VehicleState()
    return states.apply(state, frame, message, limits, 0.0)


def test_an_endpoint_holds_what_the_vectors_say_after_each_frame() -> None:
    wrong = []
    for conversation in lines("conversations.jsonl"):
        state, limits = VehicleState(), m.VehicleLimits()
        for index, step in enumerate(conversation["steps"]):
            if "hex" not in step:
                continue
            data = bytes.fromhex(step["hex"])
            header = HEADER.unpack_from(data)
            frame = Frame(header[3], data[24:], header[6], header[7], header[2], header[4])
            if step["from"] == "endpoint":
                hello = frame.decode()
                assert isinstance(hello, m.Hello) and hello.vehicle is not None
                limits = hello.vehicle.limits or replace(limits)
                is_whole = state.session != 0 and not state.in_snapshot
                resumed = (state.session, state.sequence) if is_whole else (0, 0)
                if resumed != (hello.resume_session_id, hello.resume_sequence):
                    wrong.append(f"{conversation['name']}, step {index}: resumes {resumed}")
                continue
            state = receive(state, frame, limits)
            if "state" in step and held(state) != step["state"]:
                wrong.append(f"{conversation['name']}, step {index}: {held(state)}, not {step['state']}")
    assert not wrong, "\n".join(wrong[:20])
