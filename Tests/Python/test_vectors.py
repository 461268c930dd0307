"""The golden vectors: bodies, headers of frames, and what an endpoint holds after each frame of a conversation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from waymark_nav import Phase, Rejection, VehicleState, messages as m
from waymark_nav._wire import decode, encode
from waymark_nav.core import Endpoint, EndpointSettings
from waymark_nav.core._partial import PartialMessage
from waymark_nav.frames import Splitter, Violation
from waymark_nav.messages import CloseCode

import vectors

pytestmark = pytest.mark.skipif(not vectors.FOLDER.exists(), reason="Protos/vectors does not exist")


def test_every_body_is_read_or_refused_as_its_vector_says() -> None:
    count = 0
    for vector in vectors.lines():
        if "valid" not in vector:
            continue
        count += 1
        cls, body = vectors.class_of(vector["message"]), vectors.body(vector)
        if vector["valid"]:
            message = decode(cls, body)
            if "json" in vector:
                read = vectors.as_read(vectors.known(vector["json"]))
                assert vectors.as_json(message) == read, vector["name"]
                if vector.get("canonical") and read == vector["json"]:
                    assert encode(message) == body, vector["name"]
            assert decode(cls, encode(message)) == message, vector["name"]
        else:
            with pytest.raises(Rejection) as refused:
                decode(cls, body)
            assert (refused.value.code.name, refused.value.field) == (vector["code"], vector["field"]), vector["name"]
    assert count > 2_000


def test_messages_in_several_frames_are_read_as_one() -> None:
    count = 0
    for vector in vectors.lines("parts.jsonl"):
        count += 1
        partial, splitter = PartialMessage(), Splitter()
        splitter.feed(bytes.fromhex("".join(vector["frames"])))
        read = [whole for part in splitter.frames() if (whole := partial.add(part)) is not None]
        (whole,) = [each for each in read if each.type != m.MessageType.PING]
        assert whole.session == vector["session_id"], vector["name"]
        assert whole.decode() == decode(vectors.class_of(vector["message"]), bytes.fromhex(vector["hex"])), vector["name"]
        assert whole.body.hex() == vector["hex"], vector["name"]
    assert count >= 8


def test_headers_are_read_as_their_vectors_say() -> None:
    count = 0
    for vector in vectors.lines("frames.jsonl"):
        splitter = Splitter()
        splitter.feed(bytes.fromhex(vector["hex"]))
        is_of_another_version = vector["outcome"] == "closed" and vector["code"] in ("BAD_MAGIC", "UNSUPPORTED_VERSION")
        if is_of_another_version and not vector["hex"].startswith("574d01"):
            with pytest.raises(Violation) as violated:
                list(splitter.frames())
            assert violated.value.code == CloseCode[vector["code"]], vector["name"]
        elif vector["outcome"] == "incomplete":
            assert list(splitter.frames()) == [], vector["name"]
        elif "header" in vector:
            (whole,) = splitter.frames()
            header = vector["header"]
            assert (whole.flags, whole.type, whole.key, whole.session) == tuple(
                header[each] for each in ("flags", "type", "key", "session_id")
            )
            assert (len(whole.body), str(whole.sequence)) == (header["length"], header["sequence"]), vector["name"]
        else:
            continue
        count += 1
    assert count > 100


def held(state: VehicleState) -> dict[str, Any]:
    """A state as the conversations write it."""
    if state.session == 0:
        return {"phase": "none"}

    def listed(messages: Iterable[Any]) -> list[Any]:
        return [vectors.as_json(each) for each in messages]

    pause = None
    if state.phase is Phase.PAUSED and state.pause_reason is not None:
        pause = m.PauseGuidance(reason=state.pause_reason, description_variants=state.pause_description)
    content = {
        "phase": state.phase.value,
        "session_id": state.session,
        "client_id": state.client,
        "suspended": state.suspended,
        "withheld": [{"feature": int(feature), "reason": int(reason)} for feature, reason in state.withheld.items()],
        "trips": listed(state.previews),
        "selected_trip_id": state.selected_preview,
        "trip": state.trip and vectors.as_json(state.trip),
        "generation": state.generation,
        "maneuvers": listed(state.maneuvers),
        "lane_guidances": listed(state.lane_guidances),
        "segments": listed(state.segments),
        "upcoming_maneuver_ids": list(state.upcoming_maneuvers),
        "current_lane_guidance_id": state.current_lane_guidance,
        "current_segment_id": state.current_segment,
        "name_variants": list(state.current_road_name),
        "maneuver_state": int(state.maneuver_state),
        "time_remaining_color": int(state.time_remaining_color),
        "maneuver_travel_estimates": {str(key): vectors.as_json(value) for key, value in state.maneuver_estimates.items()},
        "next_speed_limit": state.next_speed_limit and vectors.as_json(state.next_speed_limit),
        "pause": pause and vectors.as_json(pause),
        "extensions": [{"name": each.name, "key": each.key, "content": each.content.hex()} for each in state.extensions],
        "alert": state.alert and vectors.as_json(state.alert),
    }
    content = {key: value for key, value in content.items() if value not in (None, 0, "", [], {})}
    if state.trip_estimates is not None:
        content["trip_travel_estimates"] = vectors.as_json(state.trip_estimates)
    if state.speed_limit is not None:
        content["speed_limit"] = vectors.as_json(state.speed_limit)
    return content | {"cursor": str(state.sequence), "complete": state.is_complete}


def test_an_endpoint_holds_what_the_conversations_say() -> None:
    count = 0
    for vector in vectors.lines("conversations.jsonl"):
        machine = Endpoint(EndpointSettings(vehicle="car", limits=vectors.from_json(m.VehicleLimits, vector["limits"])))
        now = 0.0
        for number, step in enumerate(vector["steps"]):
            where = f"{vector['name']}, step {number}"
            if step.get("cut"):
                machine.lost(now)
                now = machine.deadline or now
            elif step["from"] == "endpoint":
                machine.opening()
                machine.opened(now)
                own, theirs = Splitter(), Splitter()
                own.feed(machine.take_output(now))
                theirs.feed(bytes.fromhex(step["hex"]))
                hello, wanted = (next(each.frames()).decode() for each in (own, theirs))
                assert isinstance(hello, m.Hello)
                assert isinstance(wanted, m.Hello)
                assert hello.resumption_token == wanted.resumption_token, where
                assert (hello.resume_session_id, hello.resume_sequence) == (wanted.resume_session_id, wanted.resume_sequence), where
            else:
                machine.receive(bytes.fromhex(step["hex"]), now)
                if "state" in step:
                    assert held(machine.state) == vectors.known(step["state"]), where
                    count += 1
    assert count > 100
