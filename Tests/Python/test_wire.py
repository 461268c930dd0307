"""Bodies and frames: bytes to messages and back."""

from __future__ import annotations

import random
import re
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from waymark_nav import Rejection, messages as m
from waymark_nav._wire import PLANS, Message, decode, encode, validate
from waymark_nav.frames import HEADER_BYTES, Flags, Frame, Splitter, Violation, frame
from waymark_nav.messages import CloseCode, ErrorCode

from conftest import ROOT

FIXTURES = sorted((ROOT / "Tests/WaymarkCodecTests/Fixtures").glob("*.hex"))


def frames_of(text: str) -> list[Frame]:
    """The frames of a text with hexadecimal digits and comments."""
    splitter = Splitter()
    splitter.feed(bytes.fromhex("".join(line.split("#")[0] for line in text.splitlines())))
    return list(splitter.frames())


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_message_has_the_bytes_of_the_swift_codec(path: Path) -> None:
    (whole,) = frames_of(path.read_text())
    assert encode(whole.decode()) == whole.body
    assert whole.encode() == bytes.fromhex("".join(line.split("#")[0] for line in path.read_text().splitlines()))


def test_there_is_a_fixture_for_every_message() -> None:
    assert len(FIXTURES) == len(m.BODIES)


def test_the_frames_of_the_page_are_read_and_written_as_they_are() -> None:
    page = (ROOT / "Docs/protocol.md").read_text()
    frames = [whole for block in re.findall(r"```hex\n(.*?)```", page, re.S) for whole in frames_of(block)]
    assert len(frames) > 20
    for whole in frames:
        if whole.is_known:
            assert encode(whole.decode()) == whole.body


def smallest(cls: type[Message]) -> Message:
    """A message with the required fields only."""
    values: dict[str, object] = {}
    for field in PLANS[cls].fields:
        if not field.is_required:
            continue
        if issubclass(field.of, Message) if field.of else False:
            value: object = smallest(field.of)
        elif field.of is not None:
            value = field.of(max(field.lower, 1))
        else:
            value = {5: 0.0, 6: "a" * max(field.lower, 1), 7: b"a" * max(field.lower, 1)}.get(field.kind, max(field.lower, 1))
        values[field.name] = (value,) if field.is_repeated else value
    return cls(**values)


@pytest.mark.parametrize("cls", list(PLANS), ids=lambda cls: cls.__name__)
def test_a_message_cannot_be_changed_and_equals_what_is_read_from_its_bytes(cls: type[Message]) -> None:
    message = smallest(cls)
    plan = PLANS[cls]
    assert not hasattr(message, "__dict__")
    if plan.fields:
        with pytest.raises(FrozenInstanceError):
            setattr(message, plan.fields[0].name, None)
    assert hash(message) == hash(smallest(cls))


REFUSED: list[tuple[Message, ErrorCode, str]] = [
    (m.Hello(version_min=3, version_max=2, role=m.Role.NAVIGATION_CLIENT), ErrorCode.INCONSISTENT, "version_max"),
    (m.Hello(version_min=2, version_max=2, role=m.Role.NAVIGATION_CLIENT), ErrorCode.MISSING, "navigation"),
    (m.Goodbye(code=m.CloseCode.NORMAL, reason="x" * 257), ErrorCode.OUT_OF_RANGE, "reason"),
    (m.OpenSession(request_id="a"), ErrorCode.MISSING, "vehicles"),
    (m.OpenSession(request_id="", any_that_asked=True), ErrorCode.MISSING, "request_id"),
    (m.OpenSession(request_id="a\0", any_that_asked=True), ErrorCode.INVALID_TEXT, "request_id"),
    (m.OpenSession(request_id="\ud800", any_that_asked=True), ErrorCode.INVALID_TEXT, "request_id"),
    (m.OpenSession(request_id="a", vehicles=m.VehicleSet(vehicle_ids=("ä",))), ErrorCode.INVALID_TEXT, "vehicles.vehicle_ids[0]"),
    (m.OpenSession(request_id="a", vehicles=m.VehicleSet(vehicle_ids=("a", "a"))), ErrorCode.DUPLICATE, "vehicles.vehicle_ids[1]"),
    (m.OpenSession(request_id="a", vehicles=m.VehicleSet(vehicle_ids=())), ErrorCode.MISSING, "vehicles.vehicle_ids"),
    (m.AddManeuvers(maneuvers=(m.Maneuver(id=0),)), ErrorCode.MISSING, "maneuvers[0].id"),
    (m.AddManeuvers(maneuvers=(m.Maneuver(id=1), m.Maneuver(id=1))), ErrorCode.DUPLICATE, "maneuvers[1].id"),
    (
        m.AddManeuvers(maneuvers=(m.Maneuver(id=1, junction_exit_angle_degrees=90, junction_element_angles_degrees=(0, 90)),)),
        ErrorCode.INCONSISTENT,
        "maneuvers[0].junction_element_angles_degrees[1]",
    ),
    (
        m.AddLaneGuidances(lane_guidances=(m.LaneGuidance(id=1, lanes=(m.Lane(highlighted_angle_degrees=181),)),)),
        ErrorCode.OUT_OF_RANGE,
        "lane_guidances[0].lanes[0].highlighted_angle_degrees",
    ),
    (m.UpcomingManeuvers(maneuver_ids=(1,) * 65), ErrorCode.OUT_OF_RANGE, "maneuver_ids[64]"),
    (m.PauseGuidance(reason=m.PauseReason.UNSPECIFIED), ErrorCode.MISSING, "reason"),
    (
        m.UpdateTripEstimates(travel_estimates=m.TravelEstimates(distance_remaining_meters=50_000_001)),
        ErrorCode.OUT_OF_RANGE,
        "travel_estimates.distance_remaining_meters",
    ),
    (
        m.WaypointRequest(request_id="a", waypoint=m.Waypoint(center=m.Coordinate(latitude=float("nan"), longitude=0.0))),
        ErrorCode.OUT_OF_RANGE,
        "waypoint.center.latitude",
    ),
    (m.Receipt(received_sequence=1, shown_sequence=2), ErrorCode.INCONSISTENT, "shown_sequence"),
    (m.RequestAnswer(request_id="a", vehicle_id="a", answer=m.Answer.DECLINE), ErrorCode.MISSING, "reason"),
    # Values that have not the type of the field.
    (m.Ping(nonce=-1), ErrorCode.OUT_OF_RANGE, "nonce"),
    (m.UpdateManeuverState(generation=-1), ErrorCode.OUT_OF_RANGE, "generation"),
    (m.UpdateManeuverState(generation=2**70), ErrorCode.OUT_OF_RANGE, "generation"),
    (m.UpdateManeuverState(generation="1"), ErrorCode.MALFORMED, "generation"),  # type: ignore[arg-type]
    (m.CurrentRoadName(name_variants="road"), ErrorCode.MALFORMED, "name_variants"),  # type: ignore[arg-type]
    (m.UpdateTrip(trip=m.Ping()), ErrorCode.MALFORMED, "trip"),  # type: ignore[arg-type]
]  # fmt: skip


@pytest.mark.parametrize(("message", "code", "field"), REFUSED, ids=lambda value: str(value)[:60] if isinstance(value, str) else None)
def test_a_message_that_the_gateway_would_refuse_is_refused_with_its_code_and_field(message: Message, code: ErrorCode, field: str) -> None:
    with pytest.raises(Rejection) as refused:
        validate(message)
    assert (refused.value.code, refused.value.field) == (code, field)
    assert refused.value.reason


def test_values_of_later_versions_are_kept() -> None:
    state = decode(m.UpdateManeuverState, bytes.fromhex("1063"))
    assert state.state == 99
    assert not state.state.is_recognized
    assert f"{state.state}" == "UNRECOGNIZED_99"
    assert encode(state) == bytes.fromhex("1063")
    assert m.ManeuverState(99) == state.state
    with pytest.raises(ValueError, match="99999999999"):
        m.ManeuverState(99_999_999_999)


def test_random_bytes_are_read_or_refused() -> None:
    values = random.Random(7)
    for _ in range(20_000):
        cls = values.choice(list(m.BODIES.values()))
        body = bytearray(encode(smallest(cls)) + values.randbytes(values.randrange(8)))
        for _ in range(values.randrange(3)):
            if body:
                body[values.randrange(len(body))] = values.randrange(256)
        try:
            message = decode(cls, bytes(body))
        except Rejection as rejection:
            assert rejection.code.is_recognized
        else:
            assert decode(cls, encode(message)) == message


def test_frames_are_found_however_the_stream_is_cut() -> None:
    whole = [frame(m.Ping(nonce=number)) for number in range(20)] + [Frame(0x01E1, b"72", 7, 10, int(Flags.SKIPPABLE), 1)]
    stream = b"".join(each.encode() for each in whole)
    for size in (1, 2, 7, 24, 25, len(stream)):
        splitter, found = Splitter(), list[Frame]()
        for at in range(0, len(stream), size):
            splitter.feed(stream[at : at + size])
            found += splitter.frames()
        assert found == whole


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"X", CloseCode.BAD_MAGIC),
        (b"WX", CloseCode.BAD_MAGIC),
        (b"WM\x02", CloseCode.UNSUPPORTED_VERSION),
        (b"WM\x01\0\0\4\0\0\0\0\x10\0" + bytes(12), CloseCode.FRAME_TOO_LARGE),
    ],
)
def test_what_is_no_frame_is_known_by_its_first_bytes(data: bytes, code: CloseCode) -> None:
    splitter = Splitter(4_096)
    splitter.feed(data)
    with pytest.raises(Violation) as violated:
        list(splitter.frames())
    assert violated.value.code == code


def test_a_header_has_24_bytes() -> None:
    assert len(frame(m.SnapshotEnd()).encode()) == HEADER_BYTES
