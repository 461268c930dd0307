"""The content of messages in JSON, held to two lists by hand: Docs/cluster-json.md, and Tests/RigCases/lines.json."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from waymark_nav import _json, messages as m
from waymark_nav._generated import json_keys as j
from waymark_nav._kinds import ALWAYS, DEGREES, METERS, MILLISECONDS, NUMBER, SECONDS, Items, Number, Object, Shape
from waymark_nav._wire import Message, decode
from waymark_nav.frames import type_name
from waymark_nav.rig._fields import CONTENT, STATE

import vectors
from conftest import ROOT

LINES: dict[str, Any] = json.loads((ROOT / "Tests/RigCases/lines.json").read_text(encoding="utf-8"))


def test_messages_have_the_content_that_is_written_by_hand() -> None:
    found: dict[str, Message] = {}
    for vector in vectors.lines():
        if vector.get("valid") and vector["name"] in LINES:
            found[vector["name"]] = decode(vectors.class_of(vector["message"]), vectors.body(vector))
    assert found.keys() == LINES.keys()
    for name, message in found.items():
        assert json.loads(_json.line(_json.content(message))) == LINES[name], name


def test_each_message_with_content_is_there() -> None:
    assert {name for name in LINES if name.endswith(": full")} == {f"{cls.__name__}: full" for cls in CONTENT}


# The page


PAGE = (ROOT / "Docs/cluster-json.md").read_text(encoding="utf-8")
#: The names that the page gives objects.
OBJECTS = {
    "route": j.ROUTE_INFORMATION, "trip": j.TRIP, "route choice": j.ROUTE_CHOICE, "waypoint": j.WAYPOINT, "charge": j.CHARGE_STOP,
    "estimates": j.TRAVEL_ESTIMATES, "maneuver": j.MANEUVER, "lane guidance": j.LANE_GUIDANCE, "lane": j.LANE,
    "segment": j.ROUTE_SEGMENT, "speed limit": j.SPEED_LIMIT, "next speed limit": j.SPEED_LIMIT_AHEAD,
    "speed limit of a segment": j.SPEED_LIMIT_SPAN, "alert": j.NAVIGATION_ALERT, "action": j.ALERT_ACTION,
}  # fmt: skip


def rows(head: str) -> Iterator[list[str]]:
    """The cells of a table of the page, without what is said in brackets."""
    table = PAGE[PAGE.index(f"| {head} |") :].split("\n\n")[0]
    for line in table.splitlines()[2:]:
        yield [re.sub(r"(?<!\])\([^)]*\)", "", cell).strip() for cell in line.strip("|").split("|")]


def names(cell: str) -> set[str]:
    """The keys that a cell names."""
    return set(re.findall(r"`(\w+)`", cell))


def always(shape: Shape) -> set[str]:
    """The keys that are always there."""
    names = {key.name for key in shape.fields if key.when is ALWAYS and key.name}
    inline = (key.kind for key in shape.fields if key.when is ALWAYS and not key.name)
    return names.union(*(always(kind) for kind in inline if isinstance(kind, Shape)))


def test_the_page_has_every_object_with_its_keys() -> None:
    listed = {cells[0]: (names(cells[1]), names(cells[2])) for cells in rows("object")}
    made = {name: (always(shape), shape.keys.keys() - always(shape)) for name, shape in OBJECTS.items()}
    assert listed == made
    # It is no object of its own.
    assert [each for each in vars(j).values() if isinstance(each, Shape) and each not in OBJECTS.values()] == [j.DISPLAY_DISTANCE]


def test_the_page_has_every_message_with_its_keys() -> None:
    route = j.ROUTE_INFORMATION.keys.keys()
    listed = {
        message: names(content) | (route if "a [route]" in content else set())
        for name, content in rows("`message` | content")
        for message in names(name)
    }
    assert listed.pop("forgotten") == set()
    assert listed == {type_name(m.TYPES[cls]): set(keys) for cls, keys in CONTENT.items()}


def test_the_page_has_every_key_of_the_state() -> None:
    said = PAGE[PAGE.index("**`state`**") :].split("\n\n")[0]
    derived = {"connected", "resumed", "shows", "next", "lanes"}
    words = {"idle", "preview", "active", "paused", "ended", "maneuver", "time", "state"}
    assert names(said) - words == STATE.keys.keys() - derived


def test_the_unit_of_a_number_is_said_by_its_name() -> None:
    units = {"meters": METERS, "milliseconds": MILLISECONDS, "seconds": SECONDS, "angle": DEGREES, "angles": DEGREES}
    for shape in [*OBJECTS.values(), *j.PUBLICATIONS.values()]:
        for name, kind in shape.keys.items():
            element = kind.element if isinstance(kind, Items) else kind
            if isinstance(element, Number):
                # "milliseconds" before "seconds", which it ends with.
                assert element == next((unit for end, unit in units.items() if name.lower().endswith(end)), NUMBER), name


# The schema of scenarios


def test_the_schema_of_scenarios_has_every_message_and_every_key_of_the_state() -> None:
    schema = json.loads((ROOT / "Sources/WaymarkCommandLine/Resources/scenarios/scenario.schema.json").read_text(encoding="utf-8"))
    assert schema["$defs"]["message"]["anyOf"][0]["enum"] == [type_name(number) for number in m.BODIES]
    paths = schema["$defs"]["path"]["anyOf"][0]["enum"]
    # The rig of the Python package does not count what an endpoint missed.
    assert {re.split(r"[.\[]", path)[0] for path in paths} == STATE.keys.keys() | {"missed"}
    for key in ("next", "lanes"):
        kind = STATE.keys[key]
        assert isinstance(kind, Object)
        assert {path.removeprefix(f"{key}.") for path in paths if path.startswith(f"{key}.")} == kind.keys.keys()
