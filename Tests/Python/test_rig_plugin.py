"""The pytest plugin, as a project's tests use it: each test here runs pytest in a folder of its own."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from waymark_nav.rig._errors import RigError
from waymark_nav.rig._programs import program

from conftest import PROGRAMS, ROOT, Run


def test_drives_are_judged(run: Run) -> None:
    tests = """
async def test_words(rig):
    car = await rig.vehicle("car")
    car.never({"shows": "stale"})
    car.always({"connected": True})
    car.rate("updateManeuverEstimates").at_most(1, per="1s")
    car.when("startGuidance").eventually({"next.distance": "<200m"}, within=5)
    car.sometimes("startGuidance")
    car.exactly(1, m.StartGuidance)
    car.ended("finished")
    turns = car.in_order("startGuidance", {"next.distance": 150}, within=20)
    async with Client("app", rig.gateway.navigation) as client:
        session = await drive(client, m.ManeuverType.RIGHT_TURN)
        await car.eventually({"next.type": "rightTurn", "next.distance": "100m..0.2km"}, within=5)
        await turns
        await car.unchanged("next.type", lasting="10ms")
        async with car.phase("end"):
            car.expect("finishGuidance", within=5)
            await session.finish()
        assert car.state.end_reason == m.SessionEndReason.FINISHED

async def test_a_stop(rig):
    car = await rig.vehicle("car", prompts="accept")
    async def offer(request, session):
        return Offer(m.TravelEstimates(distance_remaining_meters=100))
    from waymark_nav import Offer
    async with Client("app", rig.gateway.navigation) as client:
        session = await client.open_session("car", on_waypoint=offer)
        route = m.RouteInformation()
        await session.start(m.Trip(id="trip", origin=place(47), destination=place(48)), route)
        await car.expect("startGuidance", within=5)
        request = await car.request_waypoint(47.5, 9.5, "Café")
        await request.expect(outcome="accepted", within=5)

async def test_a_gateway_that_is_killed(rig):
    car = await rig.vehicle("car")
    async with Client("app", rig.gateway.navigation) as client:
        await drive(client, m.ManeuverType.RIGHT_TURN)
        await car.eventually({"shows": "fresh"}, within=5)
        gone = car.eventually({"shows": "stale"}, within=5)
        await rig.gateway.kill(after="10ms")
        await gone
        await car.eventually({"shows": "fresh", "next.type": "rightTurn"}, within=20)
        car.cut()
        await car.in_order({"connected": False}, {"resumed": True}, within=20)

async def test_a_gateway_that_is_restarted(rig):
    car = await rig.vehicle("car")
    async with Client("app", rig.gateway.navigation) as client:
        await drive(client, m.ManeuverType.RIGHT_TURN)
        await car.eventually({"shows": "fresh"}, within=5)
        # The session ends behind the phase, with its client.
        async with car.phase("restart"):
            car.always({"shows": "fresh", "connected": True})
            await rig.gateway.restart()
            request = await car.request_destination(47.5, 9.5)
            await request.expect(outcome="invalid", within=5)

async def test_what_comes_with_an_event_comes_after_it(rig):
    car = await rig.vehicle("car")
    async def watch():
        await car.expect("startGuidance", within=5)
        await car.expect("currentRoadName", within=5)
    async with Client("app", rig.gateway.navigation) as client:
        watching = asyncio.create_task(watch())
        session = await client.open_session("car")
        await session.start(m.Trip(id="trip", origin=place(47), destination=place(48)), m.RouteInformation())
        await session.publish(m.CurrentRoadName(name_variants=("A",)))
        await watching

def test_without_a_coroutine(gateway):
    assert gateway.vehicle.startswith("unix:")

async def test_with_a_gateway_only(gateway, tmp_path):
    await asyncio.sleep(0)
"""
    run(tests=tests).assert_outcomes(passed=7)


def test_a_failure_explains_itself(run: Run, pytester: pytest.Pytester) -> None:
    tests = """
async def test_turn(rig):
    car = await rig.vehicle("car")
    async with Client("app", rig.gateway.navigation) as client:
        await drive(client, m.ManeuverType.RIGHT_TURN)
        await car.expect("updateManeuverEstimates", within=5)
        turn = car.eventually({"next.type": "leftTurn", "next.distance": "<200m"}, within="100ms")
        await turn.because("A driver must know where to turn.")
"""
    result = run("--junit-xml=out.xml", tests=tests)
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines([
        r".*RigFailure: eventually next.type leftTurn, next.distance <200m within 0.1 s of",
        r"E +car/cluster",
        r"E +in +test_it.py:9",
        r"E +because +A driver must know where to turn\.",
        r"E +nearest +at \d+\.\d{3} s; 1 value is different",
        r"E +next.type +rightTurn +expected leftTurn",
        r"E +> +\d+\.\d{3}  UpdateManeuverEstimates \d+: maneuver 1, distanceMeters 150",
        r"E +vehicle +\d+\.\d{3} connected · .*",
        r".*Captured waymarkd call.*",
        r".*Captured expectations call.*",
        r"passed at \d+\.\d{3} s: test_it.py:8 message updateManeuverEstimates within 5 s of car/cluster",
        r"failed at \d+\.\d{3} s: test_it.py:9 eventually next.type leftTurn.*",
    ])  # fmt: skip
    properties = pytester.path.joinpath("out.xml").read_text()
    assert properties.count('<property name="expectation" value="passed at') == 1
    assert properties.count('<property name="expectation" value="failed at') == 1


def test_a_test_that_passed_has_its_verdicts_in_junit(run: Run, pytester: pytest.Pytester) -> None:
    tests = """
async def test_green(rig):
    car = await rig.vehicle("car")
    for _ in range(50):
        await car.eventually({"connected": True}, within=5)
    async with car.phase("a quiet one"):
        car.never("showAlert")

async def test_red(rig):
    car = await rig.vehicle("car")
    for _ in range(50):
        await car.eventually({"connected": True}, within=5)
    assert 1 == 2
"""
    result = run("--junit-xml=out.xml", tests=tests)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.re_match_lines([r".*Captured expectations call.*", r"… 10 more", r"passed at .*"])
    verdicts = pytester.path.joinpath("out.xml").read_text().split('<property name="expectation" value="')[1:]
    assert len(verdicts) == 101
    assert all(verdict.startswith("passed at ") for verdict in verdicts)
    assert "test_it.py:9 never message showAlert of car/cluster" in verdicts[50]


def test_what_is_not_awaited_fails_too(run: Run) -> None:
    tests = """
async def test_end(rig):
    car = await rig.vehicle("car")
    car.expect("startGuidance", within=60)
    car.never("vehicleSettings")
    car.when("showAlert").expect("dismissAlert", within=1)
    car.never({"connected": False})
    await car.eventually({"connected": True}, within=5)

async def test_phase(rig):
    car = await rig.vehicle("car")
    async with car.phase("a quiet one"):
        car.never({"connected": True})

async def test_body(rig):
    car = await rig.vehicle("car")
    car.sometimes({"phase": "active"})
    assert 1 == 2

async def test_endless(rig):
    car = await rig.vehicle("car")
    await car.never("showAlert")

async def test_request(rig):
    car = await rig.vehicle("car")
    request = await car.request_waypoint(47, 9)
    await request.expect(outcome="acepted", within=1)
"""
    result = run(tests=tests)
    result.assert_outcomes(failed=5)
    text = result.stdout.str()
    for said in (
        "message startGuidance within 60 s of car/cluster",
        "message dismissAlert within 1 s, when showAlert of car/cluster",
        "never happened",
        "in the phase a quiet one:",
        "assert 1 == 2",
        "This failed too:",
        "sometimes phase active of car/cluster",
        "it has no end before that of the test, so it cannot be awaited",
        "acepted is no outcome; did you mean accepted?",
    ):
        assert said in text
    assert all(line.startswith("passed at ") for line in text.splitlines() if "never connected false" in line)
    assert re.search(r"^failed at \d+\.\d{3} s: test_it.py:8 message dismissAlert", text, re.M)


def test_how_long_content_takes_to_the_display_is_judged(run: Run) -> None:
    tests = """
from waymark_nav.rig import RigFailure

async def test_shown(rig):
    car = await rig.vehicle("car", shows_after="200ms")
    await rig.client("nav", drive="vaduz-balzers", speed=5, receipts="200ms")
    await car.shown_within("10s", lasting="4s")
    with pytest.raises(RigFailure) as failure:
        await car.shown_within("199ms", lasting="4s")
    assert "expected within 0.199 s" in str(failure.value)

async def test_not_measured(rig):
    silent, car = await rig.vehicle("silent"), await rig.vehicle("car", shows_after="10ms")
    await rig.client("nav", drive="vaduz-balzers", speed=5, receipts="200ms")
    known, unknown = car.shown_within("10s", lasting="4s"), silent.shown_within("10s", lasting="4s")
    await known
    with pytest.raises(RigFailure, match="nothing like it was seen"):
        await unknown
"""
    run(tests=tests).assert_outcomes(passed=2)


def test_programs_take_part(run: Run) -> None:
    tests = f"""
async def test_process(rig):
    program = await rig.process({sys.executable!r}, "-c", "print('hello'); raise SystemExit(3)")
    assert await program.wait(within=20) == 3
    assert program.output == "hello"
    car = await rig.vehicle("car")
    await car.eventually({{"phase": "active"}}, within=0.01)

async def test_input(rig):
    code = "import select, sys; print(select.select([0], [], [], 0)[0], flush=True); sys.stdin.read()"
    program = await rig.process({sys.executable!r}, "-c", code)
    while not program.output and program.status is None:
        await asyncio.sleep(0.01)
    # An input that is over, such as that of /dev/null, could be read at once.
    assert program.output == "[]"
    assert program.status is None

async def test_patience(rig):
    program = await rig.process({sys.executable!r}, "-c", "import time; time.sleep(60)", name="sleeper")
    await program.wait(within=0.01)

async def test_missing(rig):
    await rig.process("/there/is/none")

async def test_profile(rig):
    await rig.vehicle("car", profile="huge")

async def test_slow(rig):
    await rig.vehicle("car", profile="slow-reader")

async def test_name(rig):
    await rig.vehicle("no spaces")

async def test_profiles(rig):
    for profile in ("full", "left-hand-traffic", "no-lanes", "short-text", "two-maneuvers"):
        await rig.vehicle(profile, profile=profile)
"""
    result = run(tests=tests)
    result.assert_outcomes(failed=6, passed=2)
    text = result.stdout.str()
    for said in (
        "ended with status 3: hello",
        "sleeper still runs after 0.01 s",
        "/there/is/none cannot be run: No such file or directory",
        "huge is none of the profiles in",
        "reads without a delay",
        "the vehicle no spaces: ",
    ):
        assert said in text, said


def test_a_client_waits_for_what_is_said(run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    program = pytester.path / "waymark"
    program.write_text('#!/bin/sh\necho "$*"\n')
    program.chmod(0o755)
    monkeypatch.setenv("WAYMARK", str(program))
    tests = """
@pytest.mark.parametrize("options, word", [
    ({}, "connected"), ({"waits_for": "joined"}, "connected"), ({"waits_for": "ready"}, "ready"), ({"waits_for": "nothing"}, "no"),
])
async def test_words(rig, options, word):
    client = await rig.client("nav", drive="heidelberg-lanes", **options)
    assert await client.wait(within=20) == 0
    words = client.output.split()
    assert words[:3] == ["navigate", "--id", "nav"]
    assert words[words.index("--await-vehicle") + 1] == word
    assert words.count("--await-vehicle") == 1

async def test_wrong(rig):
    await rig.client("nav", drive="heidelberg-lanes", waits_for="redy")
"""
    result = run(tests=tests)
    result.assert_outcomes(passed=4, failed=1)
    assert "waits_for is one of nothing, joined, ready, not redy; did you mean ready?" in result.stdout.str()


def test_other_plugins_are_left_alone(run: Run, pytester: pytest.Pytester) -> None:
    tests = """
@pytest.fixture
async def number():
    return 3

async def test_rig(rig):
    await (await rig.vehicle("car")).eventually({"connected": True}, within=5)

class TestClass:
    async def test_method(self, rig):
        assert await rig.vehicle("car")

@pytest.mark.asyncio
async def test_other(number):
    assert number == 3
"""
    run("-p", "pytest_asyncio", "-o", "asyncio_mode=auto", tests=tests).assert_outcomes(passed=3)
    run("-p", "pytest_asyncio", "-o", "asyncio_mode=strict", "-k", "rig or method").assert_outcomes(passed=2, deselected=1)
    foreign = """
@pytest.fixture
def gateway():
    return "mine"

async def test_mine(gateway):
    assert gateway == "mine"
"""
    result = run("-p", "no:asyncio", tests=foreign)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*async def functions are not natively supported*"])


def test_tests_run_at_the_same_time(run: Run) -> None:
    tests = """
@pytest.mark.parametrize("number", range(4))
async def test_rig(rig, number):
    car = await rig.vehicle("car")
    await car.eventually({"connected": True}, within=10)
"""
    run("-p", "xdist", "-n", "2", tests=tests).assert_outcomes(passed=4)


def test_a_long_folder_is_no_hindrance(run: Run, pytester: pytest.Pytester) -> None:
    tests = """
async def test_rig(rig):
    assert len(str(rig.gateway.folder)) < 40
    await rig.vehicle("car")
"""
    folder = pytester.path / ("long" * 25)
    run("--basetemp", str(folder), tests=tests).assert_outcomes(passed=1)


def test_a_missing_program_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYMARKD", "/there/is/none")
    result = run(tests="async def test_rig(rig):\n    pass\n")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*there is no program /there/is/none: install waymark-nav-tools or waymark, add its folder to*"])


def test_programs_are_those_of_the_variable_or_of_the_tools_or_of_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def executable(path: str) -> Path:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch(0o755)
        return tmp_path / path

    meant, tools, installed = executable("meant/waymarkd"), executable("tools/waymark"), executable("installed/waymarkd")
    monkeypatch.setenv("WAYMARKD", str(meant))
    monkeypatch.setenv("PATH", str(installed.parent))
    monkeypatch.setitem(sys.modules, "waymark_nav_tools", SimpleNamespace(EXECUTABLE=tools))
    assert program("waymarkd") == str(meant)
    monkeypatch.delenv("WAYMARKD")
    assert program("waymarkd") == str(tools)
    tools.unlink()
    assert program("waymarkd") == str(installed)
    monkeypatch.setitem(sys.modules, "waymark_nav_tools", None)
    assert program("waymarkd") == str(installed)
    installed.unlink()
    with pytest.raises(RigError, match="there is no program waymarkd: install waymark-nav-tools or waymark"):
        program("waymarkd")


FAKE = f"""#!{sys.executable}
import json, sys
name = sys.argv[-1]
if name.startswith("wrong"):
    print(f"{{name}}:1:1: unknown key x", file=sys.stderr)
    sys.exit(2)
if "--list" in sys.argv:
    print(json.dumps({{"kind": "scenario", "file": name, "expectations": []}}))
    sys.exit()
line = {{"kind": "scenario", "seed": 7, "clock": "virtual", "seconds": 1.5, "verdict": "passed", "expectations": [], "lints": []}}
if name.startswith("red"):
    failed = {{"line": 3, "column": 5, "verdict": "failed", "seconds": 1.25, "text": "x", "explanation": ["  next.type"]}}
    passed = {{"line": 2, "column": 3, "verdict": "passed", "seconds": 0.5, "text": "y"}}
    line |= {{"verdict": "failed", "expectations": [passed, failed],
              "lints": [{{"rule": "LINT-LANE-LINK", "sentence": "Lanes.", "findings": [{{"seconds": 2, "text": "lanes 4"}}]}}]}}
    line |= {{"recording": ".waymark/red/seed 7.mcap", "programs": [{{"peer": "client", "output": ["nav: no route"]}}]}}
if name.startswith("broken"):
    line |= {{"verdict": "broken", "problem": "the history is full", "gatewayLog": ["notice waymarkd: stopped"],
              "recordingProblem": "x cannot be written: the disk is full"}}
print(json.dumps(line))
sys.exit({{"green": 0, "red": 1, "broken": 2}}[name.split(".")[0]])
"""


def test_scenario_files_are_tests(run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    program = pytester.path / "waymark"
    program.write_text(FAKE)
    program.chmod(0o755)
    monkeypatch.setenv("WAYMARK", str(program))
    for name in ("green", "red", "broken", "wrong"):
        pytester.path.joinpath(f"{name}.scenario.yaml").write_text("about: x\n")
    result = run("--continue-on-collection-errors", "--junit-xml=out.xml")
    result.assert_outcomes(passed=1, failed=2, errors=1)
    text = result.stdout.str()
    for said in (
        "wrong.scenario.yaml:1:1: unknown key x",
        "red.scenario.yaml:3:5\n  next.type",
        "red.scenario.yaml: LINT-LANE-LINK: Lanes.\n  2.000  lanes 4",
        "waymark recording show '.waymark/red/seed 7.mcap'",
        "nav: no route",
        "broken.scenario.yaml: the history is full",
        "notice waymarkd: stopped",
        "x cannot be written: the disk is full",
    ):
        assert said in text
    properties = pytester.path.joinpath("out.xml").read_text()
    assert 'name="seed" value="7"' in properties
    assert 'name="expectation" value="passed at 0.500 s: 2:3 y"' in properties
    assert 'name="expectation" value="failed at 1.250 s: 3:5 x"' in properties
    assert 'name="recording" value=".waymark/red/seed 7.mcap"' in properties
    monkeypatch.setenv("WAYMARK", "/there/is/none")
    run("green.scenario.yaml").stdout.fnmatch_lines(["*there is no program /there/is/none*"])


def test_the_examples_of_the_page_run(run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYMARK", str(PROGRAMS / "waymark"))
    for name in ("test_drive.py", "test_rejections.py"):
        shutil.copy(ROOT / "Docs/examples/python" / name, pytester.path)
    run().assert_outcomes(passed=2)
