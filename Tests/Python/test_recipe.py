"""The recipe of CONTRIBUTING.md for a publication, followed: its message is all that a plain state needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPE = PAGE.split("### Add a publication\n")[1].split("\n### ")[0]
MESSAGE = "\n".join(line.removeprefix("   ") for line in RECIPE.split("```proto\n")[1].split("   ```")[0].splitlines())
GENERATED = {
    "WaymarkModel/Generated/PlainState.swift": [
        "    case updateWeather(weather: String, temperature: Int32)",
        '    public var weather: String = ""',
        "    public var temperature: Int32 = 0",
    ],
    "WaymarkProtocol/Generated/PublicationRules.swift": ['(.updateWeather, .state, in: .guided, retains: .newest, largest: "summary"),'],
    "WaymarkProtocol/Generated/MessageType.swift": ["    case updateWeather = 0x0115"],
    "WaymarkCodec/Generated/PlainStateCoding.swift": [
        "            unsafe self = .updateWeather(",
        "                weather: text(wire.pointee.summary), temperature: wire.pointee.temperature)",
        "                unsafe wire.pointee.summary = arena.text(weather)",
    ],
    "WaymarkClient/Generated/PlainStateValues.swift": ["    public var temperature: Int32 {"],
    "WaymarkTexts/Generated/PlainStateJSON.swift": [
        '            ["weather": weather, "temperature": Int(clamping: temperature)]',
        '        self.add("weather", \\.weather) { $0 }',
    ],
    "WaymarkScenario/Generated/PlainStateFields.swift": ['                .number("temperature") { $0.temperature },'],
    "WaymarkRig/Generated/PlainStateKeys.swift": ['    public var weather: Rig.Field<String> { Rig.Field("weather") }'],
}
#: What the package then does with the state.
PROGRAM = """
from waymark_nav import _json, messages as m
from waymark_nav._wire import encode
from waymark_nav.core import _content, _state
from waymark_nav.core._session import _REPLACED
from waymark_nav.frames import Frame
from waymark_nav.rig._fields import CONTENT, STATE

weather = m.UpdateWeather(summary="rain", temperature=-3)
place = m.Waypoint(center=m.Coordinate(latitude=47.1, longitude=9.5))
state = _state.VehicleState(phase=_state.Phase.ACTIVE, session=7, trip=m.Trip(id="t", origin=place, destination=place))
frame = Frame(0x0115, encode(weather), session=7, sequence=1)
told = _state.apply(state, frame, weather, m.VehicleLimits(), 0)
assert (told.weather, told.temperature) == ("rain", -3)
assert _json.content(weather) == {"weather": "rain", "temperature": -3}
assert _json.change(told, state) == {"kind": "change", "weather": "rain", "temperature": -3}
assert weather in list(_content.restatement(told, None, 1))
assert m.UpdateWeather not in {type(each) for each in _content.restatement(state, None, 1)}
assert m.UpdateWeather in _REPLACED
assert {"weather", "temperature"} <= STATE.keys.keys() and CONTENT[m.UpdateWeather].keys() == {"weather", "temperature"}
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The protos with the message of the recipe, and what is generated from them."""
    for folder in ("Protos/waymark", "scripts/generate", "Sources/python/waymark_nav"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "Protos/waymark/v1/session.proto").open("a", encoding="utf-8") as session:
        session.write(f"\n{MESSAGE}\n")
    for name in ("protocol.py", "swift_publications.py", "python_messages.py"):
        arguments = [] if name == "python_messages.py" else [str(tmp_path / "Swift")]
        subprocess.run([sys.executable, str(tmp_path / "scripts/generate" / name), *arguments], check=True)
    return tmp_path


def test_the_message_of_a_plain_state_makes_all_of_its_code(tree: Path) -> None:
    for name, lines in GENERATED.items():
        text = (tree / "Swift" / name).read_text(encoding="utf-8")
        for line in lines:
            assert line in text, (name, line)
    environment = {**os.environ, "PYTHONPATH": str(tree / "Sources/python")}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env=environment)


@pytest.mark.parametrize(
    ("rule", "field", "problem"),
    [
        ("state, while guided", "// [at most 512 bytes, json weather]\n string rain = 1;", "have one name in JSON: weather"),
        ("state, while guided", "// [json where]\n uint32 rain = 1;", "where is a word of a language"),
        ("state, while guided", "StopKind kind = 1;", "0 must be a value"),
        ("state", "uint32 rain = 1;", "say once when it may be published"),
        ("value, while guided", "uint32 rain = 1;", "is none of event, state"),
        ("state, while guided, rains", "uint32 rain = 1;", "not understood: rains"),
    ],
)
def test_a_publication_that_cannot_be_generated_is_refused(tree: Path, rule: str, field: str, problem: str) -> None:
    with (tree / "Protos/waymark/v1/session.proto").open("a", encoding="utf-8") as session:
        session.write(f"\n// Published. [type 0x0115, published, {rule}]\nmessage UpdateRain {{\n {field}\n}}\n")
    command = [sys.executable, str(tree / "scripts/generate/swift_publications.py"), str(tree / "Swift")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and problem in done.stderr


def test_the_number_of_the_recipe_is_free() -> None:
    number = re.search(r"\[type (0x\w+), published", MESSAGE)
    assert number is not None
    for proto in (ROOT / "Protos/waymark/v1").glob("*.proto"):
        assert f"[type {number[1]}," not in proto.read_text(encoding="utf-8")


def test_each_file_of_the_recipes_is_there() -> None:
    recipes = PAGE[PAGE.index("### Add a publication\n") : PAGE.index("## How we write\n")]
    paths = set(re.findall(r"`((?:Sources|Tests|Docs|Protos|scripts|systemd)/[\w./-]+)`", recipes))
    assert len(paths) > 20
    for path in paths:
        assert (ROOT / path).exists(), path


def test_a_plain_state_changes_at_most_three_files_of_the_product_by_hand() -> None:
    plain = RECIPE.split("\n#### ")[0]
    files = set(re.findall(r"`((?:Sources|Protos)/[\w./-]+\.(?:proto|swift|py|js))`", plain))
    assert "Protos/waymark/v1/session.proto" in files
    assert len(files) <= 3, files
