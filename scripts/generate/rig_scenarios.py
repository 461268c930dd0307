"""Scenario documents, and whether they are right: for the reader of scenarios and for scenario.schema.json."""

import copy
from itertools import pairwise

WAIT = {"within": "2s"}
STATE = {"phase": "active"}
CUT = {"link": "dut", "kind": "cut"}
ACTIONS = [
    {"request": {"waypoint": [47, 9.5], "name": "Charging", "segment": "s", "stop-kind": "charging", "id": "a"}},
    {"request": {"destination": [-90, 180]}},
    {"withdraw": "a"},
    {"answer-prompt": "accept"},
    {"answer-destination": "decline"},
    {"cancel": "userStopped"},
    {"allow-guidance": True},
    {
        "set": {
            "ready": True,
            "contentStyle": "dark",
            "compass": "enabled",
            "speedLimit": "userPreference",
            "limitedUserInterfaces": ["keyboard", "lists"],
        }
    },
    {"route-source": "clientUnchanged"},
    {"select-preview": {"trip": "preview-2", "route-choice": 2}},
    {"request": {"trip": "preview-2", "route-choice": 2, "id": "a"}},
    {"route-feedback": {"stops": [420, "reachable", "unreachable"], "first-unreachable": "leg-1", "generation": 1}},
    {"want-destination": "preview-1"},
    {"zoom": "in"},
    {"simulate-drive": "stop"},
    {"simulate-drive": {"speed": 20}},
    {"respond-to-alert": {"alert": 1, "action": 2}},
    {"read": {"nothing-for": "2s"}},
    {"read": {"bytes-per-second": 0}},
    {"leave": "cut"},
    {"return": "with-token"},
    {"drive": {"route": "b", "start-at": "50%", "speed": 2}},
    {"end": "finish"},
    {"pause": "loading"},
    {"resume": True},
    {"stand-for": "1min"},
    {"reroute": {"route": "b", "reason": "missedTurn"}},
    {
        "alert": {
            "id": 1,
            "title": "Closed",
            "subtitle": "Tunnel",
            "actions": ["Yes", "No"],
            "for": "10s",
            "notification": "withEstimates",
            "priority": "high",
        }
    },
    {"dismiss-alert": 1},
    {"share-destination": True},
    {"preview": ["a", "b"]},
]
WORDS = [
    {"message": "updateTripEstimates", "where": {"tripEstimates.distanceMeters": "<2km"}, **WAIT},
    {"eventually": {"next.id": 4, "maneuverState": "prepare"}, **WAIT},
    {"prints": r"next (?<type>\w+) in (?<meters>\d+) m", "where": {"type": "left", "meters": "<200"}, **WAIT},
    {"always": STATE, "for": "3s"},
    {"never": STATE, "for": "3s"},
    {"never": {"message": "showAlert", "of": "client"}},
    {"never": {"prints": "ERROR|panic", "of": "client"}},
    {"sometimes": {"state": STATE}},
    {"rate": {"message": "showAlert", "where": {"alert.id": 1}, "at-most": 3, "at-least": 1, "per": "1s"}, "for": "9s"},
    {"gap": {"message": "currentRoadName", "below": "2s"}, "for": "3s"},
    {
        "in-order": ["prompt", {"message": "promptOver", "where": {"outcome": "accepted"}, "count": 2}, {"state": STATE, "of": "dut"}],
        **WAIT,
    },
    {"exactly": {"count": 2, "message": "prompt", "where": {"requestID": "a"}}, "for": "3s"},
    {"unchanged": ["trip", "maneuvers[0].id", "lanes.good"], "for": "3s"},
    {"shown-within": "500ms", "for": "3s"},
    {"outcome": "declinedByUser", **WAIT},
    {"holds-what-was-published": True, **WAIT},
    {"ended": "userStopped", **WAIT},
]
FAULTS = [
    {"gateway": "kill", "for": "800ms", "after": {"message": "startGuidance", "count": 2}},
    {"link": "*", "kind": "delay", "by": "200ms", "towards": "peer", "for": "5s"},
    {"link": "dut/cluster", "kind": "jitter", "by": "20ms"},
    {"link": "client", "kind": "throttle", "bytes-per-second": 100},
    {"link": "dut", "kind": "slice", "bytes": 1},
    {"link": "dut", "kind": "stall", "at-byte": 17, "times": 2},
    {"link": "dut", "kind": "cut", "with": "fin", "at-byte": 0, "after": {"state": STATE}},
    {"link": "dut", "kind": "chaos", "every": "1s", "for": "1min", "kinds": ["drop", "cut"]},
    *({"link": "dut", "kind": kind} for kind in ("drop", "duplicate", "reorder", "corrupt", "half-close", "refuse", "blackhole")),
]
VEHICLE = {
    "endpoint": "hud",
    "profile": "full",
    "prompts": "decline",
    "destinations": "ignore",
    "answer-after": "1s",
    "shows-after": "20ms",
}
WHOLE = {
    "about": "All keys.",
    "clock": "either",
    "gateway": {
        **dict.fromkeys(("grace", "request", "prompt", "share", "slow-consumer", "keepalive"), "10s"),
        "settings": "waymarkd.yaml",
        "arbitration": "priority",
    },
    "route": "a",
    "start-at": "600m",
    "speed": 1.5,
    "vehicle": {**VEHICLE, "ready": False, "guidance-wanted": True, "connects": False},
    "client": {
        "route": "b",
        "start-at": "90s",
        "speed": 10,
        "vehicles": ["dut"],
        "drives": "when-told",
        "waits-for": "ready",
        "priority": -1000,
        "on-waypoint": "own-prompt",
        "on-destination": "decline",
        "on-start-trip": "ignore",
        "answer-after": "0.5s",
        "detour": "c",
        "without-features": ["charge", "prompts"],
        "connects": True,
    },
    "ended": "finished",
    "allow": [{"lint": "LINT-LANE-LINK", "of": "client", "reason": "The engine has none."}],
    "seed": 7,
    "at-most": "2h",
    "connect-within": "20s",
}
#: Whose keys are paths, and whose values are conditions.
STATES = ("eventually", "always", "never", "sometimes", "where", "state")
#: Whose keys are names or paths, not words of the schema.
NAMED = ("vehicles", "clients", "endpoints", *STATES)
#: Texts that may be empty.
EMPTY = ("name", "segment", "subtitle", "command")


def all_cases():
    """Every case."""
    valid = list(right())
    cases = [{"name": name, "document": document, "valid": True} for name, document in valid]
    parts = [(f"only {key}", {"route": "a", "ended": "finished", key: WHOLE[key]}) for key in WHOLE]
    for name, document in [*valid, *parts]:
        for what, wrong in mutated(document):
            cases.append({"name": f"{name}: {what}", "document": wrong, "valid": False})
    cases.append({"name": "whole", "document": WHOLE, "valid": True})
    cases += [{"name": name, "document": document, "valid": False} for name, document in wrong_combinations()]
    unknown = scenario(expect={"exactly": {"count": 1, "message": "showAlerts"}})
    cases.append({"name": "an unknown message", "document": unknown, "valid": False, "error": "did you mean showAlert?"})
    cases += [{"name": name, "document": document, "valid": False, "error": error} for name, document, error in wrong_conditions()]
    cases += [{"name": name, "document": document, "valid": False, "schema": True, "error": error} for name, document, error in beyond()]
    return without_copies(cases)


def without_copies(cases):
    """The cases, each document once."""
    kept = {}
    for case in cases:
        kept.setdefault(repr(case["document"]), case)
    return list(kept.values())


def scenario(**more):
    return {"route": "a", **more}


def called(what, part):
    """The name of a case: the first key, and the first key in it."""
    key, value = next(iter(part.items()))
    return f"{what} {key} {next(iter(value))}" if isinstance(value, dict) else f"{what} {key}"


def right():
    """Right documents: each action, word and fault, and peers."""
    for action in ACTIONS:
        yield called("do", action), scenario(steps=[{"do": action}])
    for word in WORDS:
        yield called("expect", word), scenario(expect=word)
    for fault in FAULTS:
        yield f"fault {fault.get('kind', 'gateway')}", scenario(faults=[fault], ended="finished")
    yield "a list of expectations", scenario(expect=WORDS[:3])
    yield "a list of faults", scenario(steps=[{"fault": [FAULTS[0], CUT]}])
    yield "expect of", scenario(expect={"of": "dut/cluster", "because": "It matters.", "when": {"message": "prompt"}, **WORDS[1]})
    yield "step at", scenario(steps=[{"name": "there", "at": "2.5km", "do": {"as": "client", "resume": True}}])
    yield "step after", scenario(steps=[{"after": "90s"}])
    yield "step when", scenario(steps=[{"when": {"message": "prompt", "where": {"requestID": "a"}, "of": "dut"}, **WAIT}])
    yield "gateway private", scenario(gateway="private", ended="finished")
    yield "vehicles", scenario(vehicles={"one": {}, "two": {"endpoints": {"a": {"profile": "full"}, "b": {}}}}, ended="finished")
    yield "clients", scenario(clients={"one": {"vehicles": "any-that-asked"}, "two": {}}, ended="finished")
    yield (
        "commands",
        scenario(vehicle={"command": ["cluster", "{address}"]}, client={"command": ["navigate"]}, ended="finished", clock="real"),
    )
    yield "replay", scenario(client={"replay": {"recording": "r.mcap", "peer": "dut/cluster", "compare": True}}, ended="finished")
    yield "without what has a default", scenario(ended="finished")
    conditions = {
        "next.distance": ["<0.2km", "80..120", " 80 m .. 0.12km ", ">= 3", "!=4", "200", -1.5, None],
        "next.time": ["<5min"], "next.exitAngle": ["90°"], "next.id": ["4", 4],
        "next.type": ["rightTurn", "!= leftTurn", "~Turn$", "99", 99], "shows": ["stale-or-none"],
        "client": ["", "!=x", "~x", "4"], "connected": [True], "withheld.charge": ["unspecified"],
        "currentRoadName": [["x"], {"contains": "x"}], "upcomingManeuvers": [[1, "2"]],
        "maneuvers[9].junctionElementAngles": [[90, "45°"]], "maneuvers": [[]], "previews[0].waypoints[12].charge.connector": ["ccs2"],
    }  # fmt: skip
    for path, values in conditions.items():
        for value in values:
            yield f"condition {path} {value!r}", scenario(expect={"always": {path: value}})
    yield "a message of a later version", scenario(expect={"message": "0x0142", "where": {"fitted": True}, **WAIT})
    for condition in ("x", "<=2", None, True, 4.5, [], ["a", 1, True], {"contains": "x"}):
        paths = {list: "upcomingManeuvers", bool: "suspended", float: "generation", dict: "currentRoadName"}
        path = paths.get(type(condition), "generation" if condition == "<=2" else "client")
        value = [1, 2] if condition == ["a", 1, True] else condition
        yield f"condition {condition}", scenario(expect={"eventually": {path: value}, **WAIT})


def mutated(document):
    """The document with each key misspelt, and each value of another type."""
    for path, value in walk(document):
        if any(part in STATES for part in path[:-2]):
            continue
        is_named = len(path) > 1 and path[-2] in NAMED
        if isinstance(path[-1], str) and not is_named:
            yield f"{place(path)} is misspelt", changed(document, path, rename=True)
        yield f"{place(path)} is a mapping", changed(document, path, {"x": {"y": 1}})
        if not is_named:
            yield f"{place(path)} is null", changed(document, path, None)
        if isinstance(value, str) and not is_named:
            yield f"{place(path)} is a number", changed(document, path, 12345.5)
            if not any(part in EMPTY for part in path[-2:]) or path[-2] == 0:
                yield f"{place(path)} is empty", changed(document, path, "")
        elif isinstance(value, bool | int | float) and not is_named:
            yield f"{place(path)} is a text", changed(document, path, "text")
            yield f"{place(path)} is negative", changed(document, path, -10000)
        elif isinstance(value, list):
            yield f"{place(path)} is a list in a list", changed(document, path, [[]])


def walk(value, path=()):
    """All places of a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key), item
        yield from walk(item, (*path, key))


def place(path):
    return ".".join(str(part) for part in path)


def changed(document, path, value=None, rename=False):
    """A copy with another value, or another key."""
    document = copy.deepcopy(document)
    target = document
    for part in path[:-1]:
        target = target[part]
    if rename:
        target[f"{path[-1]}x"] = target.pop(path[-1])
    else:
        target[path[-1]] = value
    return document


def wrong_combinations():
    """Keys that exclude or need each other, and values beyond their bounds."""
    yield "nothing to do", scenario()
    yield "vehicle and vehicles", scenario(vehicle={}, vehicles={"a": {}}, ended="finished")
    yield "client and clients", scenario(client={}, clients={"a": {}}, ended="finished")
    for key in ("endpoint", "profile", "command"):
        value = ["x"] if key == "command" else "x"
        yield f"endpoints and {key}", scenario(vehicle={"endpoints": {"a": {}}, key: value}, ended="finished")
    both = {"command": ["x"], "replay": {"recording": "r"}}
    yield "vehicle command and replay", scenario(vehicle=both, ended="finished")
    yield "client command and replay", scenario(client=both, ended="finished")
    yield "replay without a recording", scenario(client={"replay": {}}, ended="finished")
    for keys in (("at", "after"), ("at", "when"), ("after", "when")):
        step = {"at": "1km", "after": "1s", "when": {"message": "prompt"}, **WAIT}
        kept = {key: step[key] for key in (*keys, *(("within",) if "when" in keys else ()))}
        yield f"step {keys[0]} and {keys[1]}", scenario(steps=[kept])
    yield "step when without within", scenario(steps=[{"when": {"message": "prompt"}}])
    yield "step within without when", scenario(steps=[{"do": {"resume": True}, **WAIT}])
    yield "an empty step", scenario(steps=[{}])
    yield "a step with a name only", scenario(steps=[{"name": "x"}])
    for first, second in pairwise(ACTIONS):
        if next(iter(first)) != next(iter(second)):
            yield f"{called('do', first)} and {called('do', second)}", scenario(steps=[{"do": {**first, **second}}])
    for first, second in pairwise(WORDS):
        if next(iter(first)) != next(iter(second)):
            yield f"{called('expect', first)} and {called('expect', second)}", scenario(expect={**first, **second})
    yield "no action", scenario(steps=[{"do": {}}])
    yield "an actor only", scenario(steps=[{"do": {"as": "dut"}}])
    yield "no word", scenario(expect={"because": "x"})
    yield "an empty list of expectations", scenario(expect=[])
    waiting = ("message", "prints", "eventually", "outcome", "in-order", "holds-what-was-published", "ended", "unchanged")
    for word in WORDS:
        name = next(iter(word))
        for key in ("within", "for"):
            if key in word and name in waiting:
                yield f"{called('expect', word)} without {key}", scenario(expect={k: v for k, v in word.items() if k != key})
            if key not in word and not (key == "for" and name == "never"):
                yield f"{called('expect', word)} with {key}", scenario(expect={**word, key: "1s"})
    yield "where without message", scenario(expect={"always": STATE, "where": {"session": 1}})
    yield "an event with two", scenario(steps=[{"when": {"message": "prompt", "state": STATE}, **WAIT}])
    yield "an event with none", scenario(steps=[{"when": {"of": "dut"}, **WAIT}])
    yield "where of a state", scenario(steps=[{"when": {"state": STATE, "where": {"session": 1}}, **WAIT}])
    yield "where of a group that is none", scenario(expect={"prints": "a", "where": {}, **WAIT})
    yield "a line that is no text", scenario(expect={"prints": {"a": 1}, **WAIT})
    yield "rate without bounds", scenario(expect={"rate": {"per": "1s"}})
    yield "rate without per", scenario(expect={"rate": {"at-most": 1}})
    yield "gap without below", scenario(expect={"gap": {}})
    yield "one in order", scenario(expect={"in-order": ["prompt"], **WAIT})
    yield "exactly without count", scenario(expect={"exactly": {"message": "prompt"}})
    yield "exactly without message", scenario(expect={"exactly": {"count": 1}})
    yield "the same twice", scenario(expect={"unchanged": ["trip", "trip"], "for": "1s"})
    yield "request of two places", scenario(steps=[{"do": {"request": {"waypoint": [1, 2], "destination": [1, 2]}}}])
    yield "request of no place", scenario(steps=[{"do": {"request": {"name": "x"}}}])
    for wrong in ([91, 0], [0, 181], [1], [1, 2, 3], ["1", "2"]):
        yield f"place {wrong}", scenario(steps=[{"do": {"request": {"waypoint": wrong}}}])
    yield "read twice", scenario(steps=[{"do": {"read": {"nothing-for": "1s", "bytes-per-second": 1}}}])
    yield "read nothing", scenario(steps=[{"do": {"read": {}}}])
    yield "set nothing", scenario(steps=[{"do": {"set": {}}}])
    yield "limited twice", scenario(steps=[{"do": {"set": {"limitedUserInterfaces": ["lists", "lists"]}}}])
    yield "alert without title", scenario(steps=[{"do": {"alert": {"id": 1}}}])
    yield "alert of no priority", scenario(steps=[{"do": {"alert": {"id": 1, "title": "x", "priority": "highest"}}}])
    yield "alert of no notification", scenario(steps=[{"do": {"alert": {"id": 1, "title": "x", "notification": "none"}}}])
    yield "alert 0", scenario(steps=[{"do": {"dismiss-alert": 0}}])
    yield "three actions", scenario(steps=[{"do": {"alert": {"id": 1, "title": "x", "actions": ["a", "b", "c"]}}}])
    yield from wrong_faults()
    yield from wrong_values()


def wrong_faults():
    """Faults whose keys do not fit each other."""
    arguments = {"by": "1s", "bytes-per-second": 1, "bytes": 1, "every": "1s", "kinds": ["cut"], "with": "fin", "at-byte": 1}
    allowed = {"delay": ["by"], "slice": ["bytes"], "cut": ["with", "at-byte"], "drop": [], "stall": ["at-byte"]}
    for kind, keys in allowed.items():
        for key, value in arguments.items():
            if key not in keys:
                fault = {"link": "dut", "kind": kind, **{needed: arguments[needed] for needed in keys}, key: value}
                yield f"fault {kind} with {key}", scenario(steps=[{"fault": fault}])
    for kind in ("delay", "jitter", "throttle", "slice", "chaos"):
        yield f"fault {kind} without arguments", scenario(steps=[{"fault": {"link": "dut", "kind": kind}}])
    yield "chaos without an end", scenario(steps=[{"fault": {"link": "dut", "kind": "chaos", "every": "1s"}}])
    yield "chaos of chaos", scenario(steps=[{"fault": {"link": "dut", "kind": "chaos", "every": "1s", "for": "1s", "kinds": ["chaos"]}}])
    yield "gateway and link", scenario(steps=[{"fault": {"gateway": "kill", **CUT}}])
    yield "gateway with kind", scenario(steps=[{"fault": {"gateway": "kill", "kind": "cut"}}])
    yield "gateway with times", scenario(steps=[{"fault": {"gateway": "kill", "times": 1}}])
    yield "link without kind", scenario(steps=[{"fault": {"link": "dut"}}])
    yield "kind without link", scenario(steps=[{"fault": {"kind": "cut"}}])
    yield "no fault", scenario(steps=[{"fault": {}}])
    yield "no faults", scenario(steps=[{"fault": []}])


def wrong_values():
    """Values beyond their bounds."""
    for value in ("5m", "1", "s", "1.2345s", "1234567890s", "-1s", "1 s", "1e3s", ".5s", "1.s", "1S"):
        yield f"duration {value}", scenario(ended="finished", **{"at-most": value})
    for value in ("5", "5mi", "km", "-1km", "5 km"):
        yield f"position {value}", scenario(ended="finished", **{"start-at": value})
    for value in (0, -1, 10001, "2", True):
        yield f"speed {value}", scenario(ended="finished", speed=value)
    for value in (-1, 1.5, 9007199254740992, "1", True):
        yield f"seed {value}", scenario(ended="finished", seed=value)
    for name in ("gateway", "a b", "a/b", "", "x" * 65):
        yield f"a vehicle is called {name}", scenario(vehicles={name: {}}, ended="finished")
    for name in ("Prompt", "up", "0x12", "0x012g", "update trip"):
        yield f"a message is called {name}", scenario(expect={"exactly": {"count": 1, "message": name}})
    for path in ("nxt.id", "next", "lanes", "next.foo", "connected.x", "trip..id", "trip.", "maneuvers[12345].id", "maneuvers[a]", ""):
        yield f"a state has {path}", scenario(expect={"always": {path: None}})
    for lint in ("LINT-A", "lint-a-b", "LINT-A-B-C", "LINT-A1-B", "LINT--B"):
        yield f"a rule is called {lint}", scenario(ended="finished", allow=[{"lint": lint, "reason": "It is known."}])
    yield "a short reason", scenario(ended="finished", allow=[{"lint": "LINT-A-B", "reason": "why"}])
    yield "no reason", scenario(ended="finished", allow=[{"lint": "LINT-A-B"}])
    yield "a long text", scenario(ended="finished", about="x" * 513)
    yield "a priority", scenario(client={"priority": 1001}, ended="finished")
    yield "no vehicle", scenario(vehicles={}, ended="finished")
    yield "no command", scenario(vehicle={"command": []}, ended="finished")
    yield "a feature twice", scenario(client={"without-features": ["charge", "charge"]}, ended="finished")
    yield "an empty state", scenario(expect={"always": {}})
    yield "contains nothing", scenario(expect={"always": {"currentRoadName": {}}})
    yield "contains null", scenario(expect={"always": {"currentRoadName": {"contains": None}}})
    yield "a null in a list", scenario(expect={"always": {"currentRoadName": [None]}})
    yield "a list in a list", scenario(expect={"always": {"upcomingManeuvers": [[1]]}})
    yield "a list", [1]
    yield "a text", "x"


def wrong_conditions():
    """Conditions of fields that are none, and of values that fields cannot have, with a part of the error."""
    yield "an unknown key", scenario(expect={"always": {"trip.orign": None}}), "unknown key orign of trip; did you mean origin?"
    yield "an unknown field", scenario(expect={**WORDS[0], "where": {"tripEstimate": None}}), "did you mean tripEstimates?"
    yield "an unknown value", scenario(expect={"always": {"next.type": "rightturn"}}), "did you mean rightTurn?"
    yield "a wrong unit", scenario(expect={"always": {"next.distance": "<200s"}}), "next.distance is a distance in metres, not 200s"
    yield "a text for a flag", scenario(expect={"always": {"suspended": "yes"}}), "suspended is true or false"
    yield "a number for a text", scenario(expect={"always": {"client": 4}}), 'client is a text; write "4"'
    yield "a text for a list", scenario(expect={"always": {"currentRoadName": "x"}}), "write [x], or {contains: x}"
    yield "a condition of an object", scenario(expect={"always": {"trip": "x"}}), "name one of its keys"
    yield "an element of no list", scenario(expect={"always": {"trip[0]": None}}), "trip is not a list"
    yield "a list without an element", scenario(expect={"always": {"maneuvers.id": None}}), "maneuvers[0].id"
    yield (
        "a field of another message",
        scenario(expect={"message": "prompt", "where": {"alert.id": 1}, **WAIT}),
        "unknown key alert of prompt",
    )
    alert = {"showAlert": {"alert.id": "~1"}, "0x0142": {"alert.id": 1}}
    for message, where in alert.items():
        for word, more in (("exactly", {"count": 1}), ("rate", {"at-most": 1, "per": "1s"}), ("gap", {"below": "1s"}), ("never", {})):
            document = scenario(expect={word: {"message": message, "where": where, **more}})
            yield f"{word} of a wrong field of {message}", document, "alert"
    yield "a comparison of texts", scenario(expect={"always": {"client": "<x"}}), "client is no number"
    yield "a unit of nothing", scenario(expect={"always": {"next.id": "4m"}}), "next.id is a number, not 4m"
    yield "an unknown value that it is not", scenario(expect={"always": {"next.type": "!=rightturn"}}), "did you mean rightTurn?"
    yield "a number in texts", scenario(expect={"always": {"currentRoadName": {"contains": 4}}}), "is a text"
    yield "a list of objects", scenario(expect={"always": {"maneuvers": ["x"]}}), "maneuvers has no values"


def beyond():
    """Documents that the schema accepts and the reader does not, with a part of the error."""
    yield "no route", {"ended": "finished"}, "client drives at once, and has no route"
    yield "virtual with a program", scenario(vehicle={"command": ["x"]}, ended="finished", clock="virtual"), "the clock cannot be virtual"
    yield "a regular expression", scenario(expect={"always": {"client": "~("}}), "( without )"
    yield "an inverted range", scenario(expect={"always": {"next.distance": "9..1"}}), "begins above its end"
    yield "no such peer", scenario(expect={"of": "dat", **WORDS[1]}), "dat is no peer of this scenario; did you mean dut?"
    yield "no such vehicle", scenario(client={"vehicles": ["one"]}, ended="finished"), "one is no vehicle of this scenario"
    yield "the state of a client", scenario(expect={"of": "client", **WORDS[1]}), "client is a client, and has no state"
    yield "which of two vehicles", scenario(vehicles={"a": {}, "b": {}}, expect=WORDS[0]), "2 vehicles: say which by of"
    yield "which of two clients", scenario(clients={"a": {}, "b": {}}, steps=[{"do": {"resume": True}}]), "2 clients: say which by as"
    yield (
        "which of two endpoints",
        scenario(vehicle={"endpoints": {"a": {}, "b": {}}}, expect=WORDS[1]),
        "several endpoints: say which by of",
    )
    yield "one name for two", scenario(vehicles={"a": {}}, clients={"a": {}}, ended="finished"), "a is a vehicle and a client"
    yield "a verb of clients", scenario(steps=[{"do": {"as": "dut", "resume": True}}]), "dut is a vehicle, and resume is for clients"
    yield "a count without meaning", scenario(expect={"never": {"message": "prompt", "count": 2}}), "never has no count"
    yield "where of every publication", scenario(expect={"gap": {"where": {"session": 1}, "below": "1s"}}), "gap needs message"
    yield "more than a year", scenario(**{"at-most": "8761h"}, ended="finished"), "at-most can be at most 8760h"
    yield "the longest time", scenario(steps=[{"after": "999999999h"}]), "after can be at most 8760h"
    yield "a late start", scenario(**{"start-at": "999999999.999h"}, ended="finished"), "start-at can be at most 8760h"
    yield "beyond the goal", scenario(**{"start-at": "101%"}, ended="finished"), "start-at must be a position"
    yield "a rate per nothing", scenario(expect={"rate": {"at-most": 1, "per": "0s"}}), "per must be more than nothing"
