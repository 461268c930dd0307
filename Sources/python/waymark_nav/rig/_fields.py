"""The keys of states and messages, with what each contains. They are those of Docs/cluster-json.md, and some that the rig derives."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

from waymark_nav import _json, messages as m
from waymark_nav._generated import json_keys as j
from waymark_nav._kinds import (
    DEGREES,
    FLAG,
    METERS,
    MILLISECONDS,
    NUMBER,
    NUMBERS,
    SECONDS,
    TEXT,
    TEXTS,
    Items,
    Kind,
    Number,
    Object,
    Word,
    word,
)
from waymark_nav.core import Phase
from waymark_nav.frames import PUBLISHED, type_name
from waymark_nav.rig._errors import RigError

#: Which units can be written, and how many of the field's unit they are.
UNITS: dict[str, dict[str, float]] = {
    "": {"": 1},
    "m": {"": 1, "m": 1, "km": 1_000, "ft": 0.3048, "yd": 0.9144, "mi": 1_609.344},
    "s": {"": 1, "ms": 0.001, "s": 1, "min": 60, "h": 3_600},
    "ms": {"": 1, "ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000},
    "°": {"": 1, "°": 1},
}

_END_REASON = word(m.SessionEndReason)
_OUTCOME = word(m.Outcome)

_NEXT = Object({
    "id": NUMBER, "type": word(m.ManeuverType), "distance": METERS, "displayed": METERS, "time": SECONDS, "road": TEXT,
    "instruction": TEXT, "exitAngle": DEGREES, "junction": word(m.JunctionType), "side": word(m.TrafficSide),
})  # fmt: skip
_LANES = Object({"count": NUMBER, "highlighted": NUMBERS, "preferred": NUMBERS, "good": NUMBERS, "instruction": TEXT})

#: Of an endpoint's state.
STATE = Object({
    "phase": Word(tuple(phase.value for phase in Phase)), "pauseReason": word(m.PauseReason), "pauseDescription": TEXTS,
    "endReason": _END_REASON, **_json.STATE.keys, "maneuverEstimates": Items(Object({"maneuver": NUMBER, **j.TRAVEL_ESTIMATES.keys})),
    # What the rig derives.
    "connected": FLAG, "resumed": FLAG, "shows": Word(("fresh", "stale", "none", "stale-or-none")), "next": _NEXT, "lanes": _LANES,
})  # fmt: skip
#: Keys of the connection, which count also while a snapshot is not complete.
OF_CONNECTION = {"connected", "resumed", "shows"}

_HEADER: dict[str, Kind] = {"session": NUMBER, "sequence": NUMBER, "fitted": FLAG, "more": FLAG, "fromGateway": FLAG}
#: Of each message, besides those of its header. Messages that are not here have no others.
CONTENT: dict[type[Any], Mapping[str, Kind]] = {
    m.SnapshotBegin: {
        "snapshot": Word(("full", "missed")), "client": TEXT, "clientDisplayName": TEXT, "suspended": FLAG,
        "receiptsEveryMilliseconds": MILLISECONDS, "withheld": _json.WITHHELD, "fromSequence": NUMBER, "toSequence": NUMBER,
        "ageMilliseconds": MILLISECONDS, "estimatesAgeMilliseconds": MILLISECONDS,
    },
    m.SessionSuspended: {
        "graceMilliseconds": MILLISECONDS, "ageMilliseconds": MILLISECONDS, "estimatesAgeMilliseconds": MILLISECONDS,
    },
    m.SessionEnded: {"endedSession": NUMBER, "endReason": _END_REASON},
    m.Prompt: {"requestID": TEXT, "waypoint": j.WAYPOINT, "travelEstimates": j.TRAVEL_ESTIMATES, "deadlineMilliseconds": MILLISECONDS},
    m.PromptOver: {"requestID": TEXT, "outcome": _OUTCOME},
    m.RequestOutcome: {
        "requestID": TEXT, "outcome": _OUTCOME, "client": TEXT, "previewFollows": FLAG, "cause": word(m.OutcomeCause), "endpoint": TEXT,
    },
    m.Error: {
        "code": word(m.ErrorCode), "field": TEXT, "reason": TEXT, "requestID": TEXT, "limit": TEXT, "limitValue": NUMBER,
        "retryAfterMilliseconds": MILLISECONDS,
    },
    **{of: shape.keys for of, shape in j.PUBLICATIONS.items()},
    m.PublishExtension: {**j.PUBLICATIONS[m.PublishExtension].keys, "key": NUMBER},
}  # fmt: skip

_TYPES = {type_name(number): number for number in m.BODIES}


def message_type(message: str | type[Any]) -> int:
    """The number of a message type, from its name, e.g. updateTripEstimates or 0x0142, or its class."""
    if isinstance(message, type):
        if message not in m.TYPES:
            raise RigError(f"{message.__name__} is not a message of the protocol")
        return int(m.TYPES[message])
    if re.fullmatch(r"0x[0-9A-Fa-f]{4}", message):
        return int(message, 16)
    if message not in _TYPES:
        raise RigError(f"there is no message {message}{hint(message, _TYPES)}")
    return _TYPES[message]


def message_name(number: int) -> str:
    """The name of a message type; of one that this version does not know, e.g. 0x0142."""
    return type_name(number) if number in m.BODIES else f"0x{number:04X}"


def is_published(number: int) -> bool:
    """Whether messages of a type are publications."""
    return number in PUBLISHED


def message_keys(number: int | None) -> Object:
    """The keys of messages of a type; None: of every publication."""
    body = m.BODIES.get(m.MessageType(number)) if number is not None else None
    return Object({**_HEADER, **(CONTENT.get(body, {}) if body is not None else {})})


def hint(word: str, known: Any) -> str:
    """For an error about a word that is not known: the nearest one that is."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else f"; known are {', '.join(known)}"


_IDENTITIES = {"client", "endpoint", "id", "maneuver", "segment", "session", "vehicle"}


class FieldPath:
    """A field, e.g. maneuvers[0].junctionExitAngle."""

    def __init__(self, text: str, root: Object, of: str) -> None:
        self.text = text
        self.first = re.split(r"[.\[]", text, maxsplit=1)[0]
        self._steps: list[str | int] = []
        kind: Kind = root
        before = of
        for part in text.split("."):
            if re.fullmatch(r"[^\[\]]+(\[\d{1,4}\])*", part) is None:
                raise RigError(f"{text} is not a key")
            name, *indexes = part.replace("]", "").split("[")
            if isinstance(kind, Items):
                raise RigError(f"{before} is a list; name one of its elements, e.g. {before}[0].{name}")
            if not isinstance(kind, Object):
                raise RigError(f"{before} has no keys, so it has no {name}")
            if name not in kind.keys:
                raise RigError(f"unknown key {name} of {before}{hint(name, kind.keys)}")
            kind = kind.keys[name]
            self._steps.append(name)
            before = name if before == of else f"{before}.{name}"
            for index in indexes:
                if not isinstance(kind, Items):
                    raise RigError(f"{before} is not a list")
                kind = kind.element
                self._steps.append(int(index))
                before = f"{before}[{index}]"
        if text in ("next", "lanes") and isinstance(kind, Object):
            raise RigError(f"{text} needs a key: {', '.join(f'{text}.{key}' for key in kind.keys)}")
        self.kind = kind
        last = text.split(".")[-1]
        #: Whether it says which thing is meant: an id, a vehicle, a session.
        self.is_identity = last in _IDENTITIES or last.endswith(("ID", "Session"))

    def read(self, value: Any) -> Any:
        """The field's value, from that of the first key; None if there is none."""
        for step in self._steps[1:]:
            if isinstance(step, int):
                value = value[step] if isinstance(value, list) and step < len(value) else None
            else:
                value = value.get(step) if isinstance(value, dict) else None
        return value

    def show(self, value: Any) -> str:
        """As a report shows a value."""
        return "none" if value is None else show(value, self.kind)


def show(value: Any, kind: Kind) -> str:
    """A value in a report: numbers with their unit, lists cut after some elements."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            unit = kind.unit if isinstance(kind, Number) else ""
            return number(value) + (unit if unit == "°" or not unit else f" {unit}")
        case list():
            element = kind.element if isinstance(kind, Items) else kind
            shown = [show(each, element) for each in value[:8]]
            return f"[{', '.join(shown + ([f'… {len(value)}'] if len(value) > 8 else []))}]"
        case dict():
            return _json.line(value)
        case _:
            return str(value)


def number(value: float) -> str:
    """Without decimals where there are none."""
    rounded = round(value, 3)
    return str(int(rounded)) if rounded == int(rounded) else str(rounded)
