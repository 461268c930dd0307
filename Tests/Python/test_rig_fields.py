"""The rig's keys are those of Docs/cluster-json.md, and what cannot be meant is an error before anything is judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from waymark_nav import VehicleState, _json, messages as m
from waymark_nav._kinds import Items, Kind, Object, Word
from waymark_nav._wire import BYTES, ENUM, MESSAGE, PLANS, STRING
from waymark_nav.core import Update
from waymark_nav.rig import RigError, event
from waymark_nav.rig._fields import CONTENT, STATE, message_name
from waymark_nav.rig._history import History
from waymark_nav.rig._judge import FAILURES_MAX
from waymark_nav.rig._times import nanoseconds

from conftest import ROOT
from rigcases import Case


def check(value: Any, kind: Kind, path: str, seen: set[str]) -> None:
    """A value is of its kind; the paths of its keys are added."""
    match kind:
        case Object():
            assert isinstance(value, dict), path
            for key, inner in value.items():
                assert key in kind.keys, f"{path}.{key}"
                seen.add(f"{path}.{key}")
                if inner is not None:
                    check(inner, kind.keys[key], f"{path}.{key}", seen)
        case Items():
            assert isinstance(value, list), path
            for each in value:
                check(each, kind.element, f"{path}[]", seen)
        case Word():
            assert value in kind.names or value.isdecimal(), f"{path}: {value}"
        case _:
            assert isinstance(value, str | int | float), path


def paths(kind: Kind, path: str) -> set[str]:
    match kind:
        case Object():
            return {f"{path}.{key}" for key in kind.keys}.union(*(paths(each, f"{path}.{key}") for key, each in kind.keys.items()))
        case Items():
            return paths(kind.element, f"{path}[]")
        case _:
            return set()


def whole(cls: type[Any]) -> Any:
    """A message with all fields, whether that is allowed or not."""
    values: dict[str, object] = {}
    for field in PLANS[cls].fields:
        one: dict[int, Callable[[Any], object]] = {
            MESSAGE: lambda of: whole(of),
            ENUM: lambda of: of(1),
            STRING: lambda of: "text",
            BYTES: lambda of: b"bytes",
        }
        value = one.get(field.kind, lambda of: 1)(field.of)
        values[field.name] = (value, value) if field.is_repeated else value
    return cls(**values)


@pytest.mark.parametrize("cls", CONTENT, ids=lambda cls: cls.__name__)
def test_a_message_has_the_keys_of_the_table(cls: type[Any]) -> None:
    seen, kind = set[str](), Object(CONTENT[cls])
    check(_json.content(whole(cls)), kind, cls.__name__, seen)
    # A message withholds one feature here, not all of them.
    # The key of an extension is in the header.
    missing = paths(kind, cls.__name__) - seen - {"PublishExtension.key"}
    assert not {path for path in missing if ".withheld." not in path}


def test_messages_that_are_not_in_the_table_have_no_content() -> None:
    for cls in m.BODIES.values():
        assert cls in CONTENT or not _json.content(whole(cls))


def test_a_state_has_the_keys_of_the_table() -> None:
    derived = {"connected", "resumed", "shows", "next", "lanes"}
    assert STATE.keys.keys() - derived == _json.state(VehicleState()).keys() - {"kind"} | {
        "pauseReason", "pauseDescription", "endReason", "trip", "currentLaneGuidance", "currentSegment", "tripEstimates", "speedLimit",
        "nextSpeedLimit", "alert", "selectedPreview",
    }  # fmt: skip
    for key in STATE.keys.keys() - derived:
        _json.value(VehicleState(), key)


def test_the_keys_are_documented() -> None:
    page = (ROOT / "Docs/testing.md").read_text(encoding="utf-8")
    for key, kind in STATE.keys.items():
        if key in ("next", "lanes") and isinstance(kind, Object):
            assert all(f"`{inner}`" in page for inner in kind.keys), key


@pytest.mark.parametrize(
    ("say", "reason"),
    [
        (lambda car: car.never({"next.typ": "uTurn"}), "unknown key typ of next; did you mean type?"),
        (lambda car: car.never({"nxt.type": "uTurn"}), "unknown key nxt of the state; did you mean next?"),
        (lambda car: car.never({"next.type": "uturn"}), "uturn is not a value of next.type; did you mean uTurn?"),
        (lambda car: car.always({"next": 4}), "next needs a key"),
        (lambda car: car.always({"next.distance": "<200s"}), "next.distance is a number of m, not 200s"),
        (lambda car: car.always({"next.road": "<200m"}), "next.road is no number"),
        (lambda car: car.always({"next.road": 4}), 'next.road is a text; write "4"'),
        (lambda car: car.always({"next.id": "~4"}), "next.id is no text"),
        (lambda car: car.always({"next.road": "~("}), "is no regular expression"),
        (lambda car: car.always({"next.id": "4..2"}), "begins above its end"),
        (lambda car: car.always({"connected": 1}), "connected is True or False"),
        (lambda car: car.always({"maneuvers.type": "uTurn"}), "maneuvers is a list"),
        (lambda car: car.always({"next.id[0]": 4}), "next.id is not a list"),
        (lambda car: car.always({"next.id.x": 4}), "next.id has no keys"),
        (lambda car: car.always({"next.id[": 4}), "is not a key"),
        (lambda car: car.always({"trip": 4}), "trip is an object"),
        (lambda car: car.always({"upcomingManeuvers": 4}), "upcomingManeuvers is a list: write [4]"),
        (lambda car: car.always({"next.id": [4]}), "next.id is not a list"),
        (lambda car: car.always({"next.id": {"contains": 4}}), "so it contains nothing"),
        (lambda car: car.always({"next.id": {"below": 4}}), "is no condition"),
        (lambda car: car.expect("updateTripEstimate", within=1), "did you mean updateTripEstimates?"),
        (lambda car: car.expect(VehicleState, within=1), "VehicleState is not a message"),
        (lambda car: car.expect("showAlert", {"alert.titel": "x"}, within=1), "unknown key titel of alert"),
        (lambda car: car.expect("showAlert", within="2"), "2 is not a time"),
        (lambda car: car.expect("showAlert", within=0), "0 is not a time above 0"),
        (lambda car: car.expect("showAlert", within=float("inf")), "inf is not a time above 0"),
        (lambda car: car.ended("finnished", within=1), "did you mean finished?"),
        (lambda car: car.in_order(within=1), "needs events"),
        (lambda car: car.unchanged(), "needs fields"),
        (lambda car: car.exactly(-1, "showAlert"), "there cannot be exactly -1"),
        (lambda car: car.rate("showAlert").at_least(0, per=1), "always there"),
        (lambda car: car.when("showAlert", count=0), "the first time"),
        (lambda car: event("showAlert", count=0), "at least once"),
    ],
)
def test_what_cannot_be_meant_is_an_error(say: Any, reason: str) -> None:
    with pytest.raises(RigError) as raised:
        say(Case({"frames": [], "end": 1}))
    assert reason in str(raised.value)


def test_values_of_enumerations_may_be_given_as_such() -> None:
    case: Any = Case({"frames": [], "end": 1})
    for value in ("rightTurn", m.ManeuverType.RIGHT_TURN, int(m.ManeuverType.RIGHT_TURN)):
        assert case.always({"next.type": value}).text == "always next.type rightTurn"


def test_a_class_names_its_message() -> None:
    case: Any = Case({"frames": [], "end": 1})
    assert case.expect(m.UpdateTripEstimates, within="500ms").text == "message updateTripEstimates within 0.5 s"
    assert case.expect("0x0142", within=1).text == "message 0x0142 within 1 s"
    assert message_name(m.MessageType.SHOW_ALERT) == "showAlert"


def test_times_are_those_of_scenarios() -> None:
    assert [nanoseconds(each) for each in (2, 0.5, "300ms", "2s", "5min", "1h")] == [
        each * 1_000_000 for each in (2_000, 500, 300, 2_000, 300_000, 3_600_000)
    ]


def test_a_function_that_raises_fails_its_expectation_only() -> None:
    case: Any = Case({"frames": [], "end": 1})
    broken = case.always(lambda state: state.alert.id == 4)
    other = case.always({"connected": False})
    case.judge.see(case.history.append(Update(name="current", message=None, state=VehicleState(generation=1)), 5))
    assert "NoneType" in broken.failures[0].error
    assert not other.is_over


def test_failures_of_one_expectation_are_bounded() -> None:
    case: Any = Case({"frames": [], "end": 1})
    judged = case.when({"generation": ">0"}).never({"generation": ">0"}, lasting=1)
    for number in range(40):
        state = VehicleState(generation=number % 2)
        case.judge.see(case.history.append(Update(name="current", message=None, state=state), number))
    assert (judged.failure_count, len(judged.failures)) == (20, FAILURES_MAX)


def test_a_history_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waymark_nav.rig._history.ENTRIES_MAX", 2)
    history = History()
    for instant in range(2):
        history.append(Update(name="current", message=None, state=VehicleState()), instant)
    assert history.is_full
    with pytest.raises(RigError, match="make the test shorter"):
        history.append(Update(name="current", message=None, state=VehicleState()), 2)
