#!/usr/bin/env python3
"""scenario_fields.py [--check]: makes the end of scenario.schema.json: messages and the fields of conditions; --check only compares.

The fields that vehicles receive are those of the Python package's rig. A test holds the schema to the reader of scenarios:
SchemaFieldTests.
"""

import json
import re
import sys
import textwrap

from protocol import ROOT, put

SCHEMA = ROOT / "Sources/WaymarkCommandLine/Resources/scenarios/scenario.schema.json"
sys.path.insert(0, str(ROOT / "Sources/python"))

from waymark_nav import messages as m  # noqa: E402
from waymark_nav._generated import json_keys as j  # noqa: E402
from waymark_nav._kinds import FLAG, MILLISECONDS, NUMBER, TEXT, TEXTS, Flag, Items, Number, Object, Text, Word, word  # noqa: E402
from waymark_nav.frames import type_name  # noqa: E402
from waymark_nav.rig import _fields  # noqa: E402

WIDTH = 150
MARK = '    "generated": { "$comment": "What follows is made by scripts/generate/scenario_fields.py. Do not edit." },\n'
#: Texts and words may be operators; what a text of a list may be is not.
UNITS = {"": "A number", "m": "Metres", "s": "Seconds", "ms": "Milliseconds", "°": "Degrees"}
DIGITS = r"-?([0-9]+\.?[0-9]*|\.[0-9]+)"
INDEX = r"\[[0-9]{1,4}\]"

WITHHELD = _fields.STATE.keys["withheld"]
ENDPOINT = {"vehicle": TEXT, "endpoint": TEXT}
RECEIPT = {"received": NUMBER, "shown": NUMBER}
DELAYS = {"receivedDelayMicroseconds": NUMBER, "shownDelayMicroseconds": NUMBER}
OUTCOME = {"outcome": word(m.Outcome)}
REASON = {"endReason": word(m.SessionEndReason)}
REQUEST = {"requestID": TEXT}
#: internal is a word of Swift.
CLOSE_CODE = Word(tuple({"internal": "internalError"}.get(each, each) for each in word(m.CloseCode).names), m.CloseCode)
VEHICLE = {
    "vehicle": TEXT,
    "standing": Word(("joined", "awaited", "refused", "left")),
    "code": word(m.ErrorCode),
    **REASON,
    "endpoints": Items(Object({"endpoint": TEXT, "ready": FLAG, "locale": TEXT, "withheld": WITHHELD})),
}
#: The fields of messages that no vehicle receives, besides those of each header.
OTHERS = {
    m.Hello: {
        "role": Word(("vehicle", "navigation", "observer")), **ENDPOINT, "client": TEXT, "observer": TEXT, "features": TEXTS,
        "guidanceWanted": FLAG, "priority": NUMBER, "software": TEXT, "displayName": TEXT,
    },
    m.Welcome: {
        "resumed": FLAG, "software": TEXT, "instance": TEXT, "epoch": NUMBER, "keepaliveMilliseconds": MILLISECONDS,
        "receiveFrameBytesMax": NUMBER, "sendFrameBytesMax": NUMBER, "withheld": WITHHELD,
    },
    m.Goodbye: {
        "code": CLOSE_CODE,
        "reason": TEXT,
        "reconnectAfterMilliseconds": MILLISECONDS,
        "limit": TEXT,
        "limitValue": NUMBER,
    },
    m.OpenSession: {**REQUEST, "vehicles": TEXTS, "anyThatAsked": FLAG, "receiptsEveryMilliseconds": MILLISECONDS},
    m.SessionOpened: {**REQUEST, "openedSession": NUMBER, "vehicles": Items(Object(VEHICLE))},
    m.VehicleChanged: VEHICLE,
    m.Receipt: {**RECEIPT, "receivedNanoseconds": NUMBER, "shownNanoseconds": NUMBER},
    m.ReceiptReport: {"gatewaySequence": NUMBER, "receipts": Items(Object({**ENDPOINT, **RECEIPT, **DELAYS}))},
    m.Acknowledgement: {"acknowledged": NUMBER},
    m.WaypointRequest: {**REQUEST, "waypoint": j.WAYPOINT, "segment": TEXT, "vehicle": TEXT},
    m.DestinationRequest: {**REQUEST, "destination": j.WAYPOINT, "vehicle": TEXT},
    m.StartTripRequest: {**REQUEST, "trip": TEXT, "routeChoice": NUMBER, "vehicle": TEXT},
    m.SelectPreview: {"trip": TEXT, "routeChoice": NUMBER, **ENDPOINT},
    m.WithdrawRequest: REQUEST,
    m.RequestAnswer: {
        **REQUEST, "vehicle": TEXT, "answer": Word(("estimates", "ownPrompt", "accept", "decline", "acceptWithPreview")),
        **OUTCOME,
        "travelEstimates": j.TRAVEL_ESTIMATES,
    },
    m.PromptAnswer: {**REQUEST, "accepted": FLAG},
    m.CancelNavigation: {"cancelReason": word(m.CancelReason)},
    m.UpdateRouteSource: {"routeSource": word(m.RouteSource), "vehicle": TEXT},
    m.VehicleSettings: {
        "compass": word(m.ClusterSetting), "speedLimit": word(m.ClusterSetting), "contentStyle": word(m.ContentStyle),
        "limitedUserInterfaces": NUMBER, "ready": FLAG, **ENDPOINT,
    },
    m.ZoomCluster: {"zoomDirection": word(m.ZoomDirection), **ENDPOINT},
    m.VehicleExtension: {"name": TEXT, "content": TEXT, **ENDPOINT},
    m.SimulateDrive: {"simulationAction": word(m.SimulationAction), "speedPercent": NUMBER, "client": TEXT, **ENDPOINT},
    m.DestinationShareWanted: {"trip": TEXT, **ENDPOINT},
    m.UpdateRouteFeedback: {
        "generation": NUMBER, "firstUnreachableSegment": TEXT, "vehicle": TEXT,
        "stops": Items(Object({"arrivalBatteryPerMille": NUMBER, "reachability": word(m.Reachability)})),
    },
    m.AlertResponse: {"alertID": NUMBER, "dismissal": word(m.AlertDismissal), "action": NUMBER, **ENDPOINT},
    m.DestinationShareAnswer: {"shareID": TEXT, **OUTCOME},
    m.DestinationShareStatus: {
        "shareID": TEXT, "vehicle": TEXT, "stage": Word(("willShare", "didShare", "didFailToShare")), **OUTCOME,
    },
}  # fmt: skip
DERIVED = (_fields.STATE.keys["next"], _fields.STATE.keys["lanes"])
#: Fields of the state, with the one that only the reader of scenarios derives.
STATE = {**_fields.STATE.keys, "missed": NUMBER}
#: The names of vocabularies that are no enumerations of the protos: of their fields.
CLOSED = {
    kind.names: key.capitalize()
    for keys in (STATE, *_fields.CONTENT.values(), *OTHERS.values())
    for key, kind in keys.items()
    if isinstance(kind, Word) and kind.enumeration is None
}
#: The names of messages without a body that is decoded, and of numbers that are not known: their header.
HEADER = _fields.message_keys(None).keys


def condition(kind):
    """What the conditions of a field of this kind are, with its name."""
    match kind:
        case Object():
            return "an-object", {"description": "null: absent. Its keys have conditions.", "type": "null"}
        case Items(element=Text() | Number() as element):
            called, value = scalar(element)
            return f"list-of-{called}", {
                "description": "null: absent. A list: equal to it. Or {contains: x}.",
                "anyOf": [
                    {"type": "null"},
                    {"type": "array", "maxItems": 64, "items": value},
                    {
                        "type": "object", "additionalProperties": False, "required": ["contains"],
                        "properties": {"contains": value},
                    },
                ],
            }  # fmt: skip
        case Items():
            return "a-list", {"description": "null or []: absent. Its elements have conditions.", "type": ["array", "null"], "maxItems": 0}
        case Text():
            described = "A text; null: absent. Also !=x, and with ~ a regular expression."
            return "a-text", {"description": described, "type": ["string", "null"], "pattern": "^[^<>]|^$"}
        case Flag():
            return "a-flag", {"description": "true or false; null: absent.", "type": ["boolean", "null"]}
        case Number(unit=unit):
            called, _ = scalar(kind)
            amount = f"{DIGITS} *{suffix(unit)} *"
            pattern = f"^((<=|>=|<|>|!=) *)?{amount}$|^ *{amount}\\.\\. *{amount}$"
            return called, {
                "description": f"{UNITS[unit]}; null: absent. As text also a comparison: <200, >=3, !=4, 80..120"
                + (f", with a unit: {', '.join(each for each in _fields.UNITS[unit] if each)}." if unit else "."),
                "type": ["number", "string", "null"], "pattern": pattern,
            }  # fmt: skip
        case Word(names=names):
            called = kind.enumeration.__name__ if kind.enumeration else CLOSED[names]
            # Only a feature can be withheld without a reason.
            known = [each for each in names if each != "unspecified" or kind.enumeration is m.WithheldReason]
            return called, {
                "description": "One of these names, or a number; null: absent. As text also !=x, and with ~ a regular expression.",
                "anyOf": [
                    {"enum": known},
                    {"type": ["integer", "null"], "minimum": 0, "maximum": 2**32 - 1},
                    {"type": "string", "pattern": f"^~|^!= *({'|'.join(known)}|[0-9]+) *$|^[0-9]+$"},
                ],
            }


def scalar(kind):
    """The name of a kind, and what an element of a list of these is."""
    match kind:
        case Text():
            return "texts", {"type": "string"}
        case Number(unit=unit):
            called = {"": "number", "m": "metres", "s": "seconds", "ms": "milliseconds", "°": "degrees"}[unit]
            return called, {"type": ["number", "string"], "pattern": f"^{DIGITS} *{suffix(unit)} *$"}
    raise AssertionError(kind)


def suffix(unit):
    """The units that a number of a unit can have."""
    units = [each for each in _fields.UNITS[unit] if each]
    return f"({'|'.join(units)})?" if units else ""


def paths(kind, path):
    """The paths to a field and what it contains, with their kinds. Of a list, the keys of the first element, and nothing in these."""
    yield path, kind
    match kind:
        case Object(keys=keys) if "]." not in path:
            for key, inner in keys.items():
                yield from paths(inner, f"{path}.{key}")
        case Items(element=Object() as element) if "[" not in path:
            yield from paths(element, f"{path}[0]")


def is_completed(path, kind):
    """Whether editors complete a path: the first keys, and the values in them. next and lanes have conditions only for their keys."""
    if kind in DERIVED or path.endswith("]"):
        return False
    return "." not in path or not isinstance(kind, Object | Items if "[" in path else Object)


class Fields:
    """The conditions of the fields of objects."""

    def __init__(self):
        #: The schemas of conditions, each once, by kind.
        self.definitions = {}

    def of(self, keys, description):
        """The conditions of the fields of an object: by patterns, and by names those that editors complete."""
        patterns = {}
        for called in self.kinds(Object(keys)):
            patterns[f"^{self.pattern(Object(keys), called)}$"] = {"$ref": f"#/$defs/{called}"}
        return {
            "description": description, "type": "object", "minProperties": 1, "maxProperties": 32, "additionalProperties": False,
            "properties": {
                path: {"$ref": f"#/$defs/{self.called(inner)}"}
                for key, kind in keys.items()
                for path, inner in paths(kind, key)
                if is_completed(path, inner)
            },
            "patternProperties": patterns,
        }  # fmt: skip

    def called(self, kind):
        """The name of what the conditions of a kind are, which is defined."""
        called, schema = condition(kind)
        if self.definitions.setdefault(called, schema) != schema:
            sys.exit(f"two definitions are called {called}")
        return called

    def kinds(self, kind):
        """The names of what the conditions of all fields in an object or a list are."""
        inner = kind.keys.values() if isinstance(kind, Object) else [kind.element] if isinstance(kind, Items) else []
        found = {}
        for each in inner:
            found |= ({} if each in DERIVED else {self.called(each): None}) | self.kinds(each)
        return found

    def pattern(self, kind, called):
        """The paths of an object to what has this name; None if there are none."""
        keys = {}
        for key, inner in kind.keys.items():
            rest = self.rest(inner, called)
            if rest is not None:
                keys.setdefault(rest, []).append(key)
        return one_of([one_of(each) + rest for rest, each in keys.items()]) if keys else None

    def rest(self, kind, called):
        """What follows the path to a field, up to what has this name; None if nothing does."""
        match kind:
            case Object():
                inner = self.pattern(kind, called)
                rest = None if inner is None else f"\\.{inner}"
            case Items(element=element):
                inner = self.rest(element, called)
                rest = None if inner is None else INDEX + inner
            case _:
                rest = None
        if kind in DERIVED or self.called(kind) != called:
            return rest
        return "" if rest is None else f"({rest})?"


def one_of(patterns):
    return patterns[0] if len(patterns) == 1 else f"({'|'.join(patterns)})"


def made():
    """The definitions, in their order."""
    fields, content = Fields(), {**_fields.CONTENT, **OTHERS}
    objects, cases, others = {}, [], []
    for number, body in m.BODIES.items():
        name = type_name(number)
        if body in content:
            objects[f"fields-of-{name}"] = fields.of({**HEADER, **content[body]}, f"Keys of {name}; all must hold.")
            cases.append(case({"const": name}, f"fields-of-{name}"))
        else:
            others.append(name)
    objects["fields-of-others"] = fields.of(HEADER, "Keys of the header; all must hold.")
    cases.append(case({"anyOf": [{"enum": others}, {"pattern": "^0x"}]}, "fields-of-others"))
    state = fields.of(STATE, "Keys of the state; all must hold together.")
    keys = [f"({each[1:-1]})" for each in state["patternProperties"]]
    path = {
        "description": "A key of the lines state of Docs/cluster-json.md, or one that the rig derives: "
        "connected, resumed, missed, shows, next, lanes.",
        "anyOf": [{"enum": list(state["properties"])}, {"type": "string", "pattern": f"^({'|'.join(keys)})$"}],
    }
    message = {
        "description": "A message's name, e.g. updateTripEstimates, or the number of a type that is not known.",
        "anyOf": [{"enum": [type_name(number) for number in m.BODIES]}, {"type": "string", "pattern": "^0x[0-9A-F]{4}$"}],
    }
    where = {"description": "The fields of each message.", "allOf": cases}
    return {"message": message, "state": state, "path": path, "where-of-message": where, **objects, **fields.definitions}


def case(message, called):
    """What where has, if the message is this one."""
    condition = {"required": ["message"], "properties": {"message": message}}
    return {"if": condition, "then": {"properties": {"where": {"$ref": f"#/$defs/{called}"}}}}


def lines(value, indent):
    """JSON as the rest of the file has it: what fits into a line, and members of many that are short, beside each other."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= WIDTH or not isinstance(value, dict | list):
        return flat if not isinstance(value, dict) else re.sub(r"^\{(.*)\}$", r"{ \1 }", flat)
    inner = " " * (indent + 2)
    parts = [
        (json.dumps(key, ensure_ascii=False) + ": " if key is not None else "") + lines(each, indent + 2)
        for key, each in (value.items() if isinstance(value, dict) else ((None, each) for each in value))
    ]
    rows = []
    for part in parts:
        if rows and "\n" not in part + rows[-1] and len(inner) + len(rows[-1]) + len(part) + 2 <= WIDTH:
            rows[-1] += ", " + part
        else:
            rows.append(part)
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    return opened + "\n" + ",\n".join(inner + row for row in rows) + "\n" + " " * indent + closed


def main(arguments):
    old = SCHEMA.read_text(encoding="utf-8")
    head, mark, _ = old.partition(MARK)
    if not mark:
        sys.exit(f"{SCHEMA.relative_to(ROOT)} has no line\n{textwrap.dedent(MARK)}")
    parts = [f"    {json.dumps(name)}: {lines(schema, 4)}" for name, schema in made().items()]
    new = head + mark + ",\n".join(parts) + "\n  }\n}\n"
    put({SCHEMA: new}, arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
