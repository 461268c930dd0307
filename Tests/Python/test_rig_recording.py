"""The fixture `recording`: what crossed a test's gateway, kept if the test fails."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from waymark_nav.rig._recording import kept_folder

from conftest import PROGRAMS, Run

DRIVE = """
async def drive_and_end(rig):
    car = await rig.vehicle("car")
    async with Client("app", rig.gateway.navigation) as client:
        session = await drive(client, m.ManeuverType.RIGHT_TURN)
        await session.finish()
        await session.accepted()
    return car
"""


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYMARK", str(PROGRAMS / "waymark"))


def test_a_test_sees_what_crossed_everywhere(run: Run, pytester: pytest.Pytester) -> None:
    tests = f"""{DRIVE}
async def test_frames(rig, recording):
    car = await drive_and_end(rig)
    sent = await recording.frames("startGuidance")
    assert [(frame.peer, frame.to_gateway, frame.rejected) for frame in sent] == [("app", True, False), ("car/cluster", False, False)]
    assert sent[0].message.trip.id == "trip" and sent[0].time <= sent[1].time
    assert await recording.frames(m.StartGuidance, peer="app") == sent[:1]
    everything = await recording.frames()
    assert {{frame.peer for frame in everything}} == {{"app", "car/cluster"}}
    assert [frame.message.software[:11] for frame in everything if isinstance(frame.message, m.Hello)] == ["waymark-nav"] * 2
    kinds = [event["event"] for event in await recording.events()]
    assert kinds.count("admitted") == 2 and kinds[-1] == "departed"
    await car.leave()
    assert len(await recording.events()) == len(kinds) + 1

async def test_restart(rig, recording):
    await rig.vehicle("car")
    assert await recording.events()  # They are recorded before the gateway dies.
    await rig.gateway.kill()
    assert await recording.frames("hello", peer="car/cluster")  # Now the recorder is connected again.
    await rig.vehicle("other")
    assert {{frame.peer for frame in await recording.frames("hello")}} >= {{"car/cluster", "other/cluster"}}
    assert len(recording.paths) == 2
"""
    run("-p", "no:cacheprovider", tests=tests).assert_outcomes(passed=2)
    assert not pytester.path.joinpath(".waymark").exists()


def test_the_recording_of_a_failed_test_is_kept_and_named(run: Run, pytester: pytest.Pytester) -> None:
    tests = f"""{DRIVE}
@pytest.mark.parametrize("name", ["a/b", "c"])
async def test_red(rig, recording, name):
    await drive_and_end(rig)
    assert name == "right"

async def test_dead(rig, recording):
    await drive_and_end(rig)
    rig.gateway.stop()
    assert False

@pytest.mark.xfail
async def test_expected(rig, recording):
    assert False

async def test_green(rig, recording):
    pass
"""
    result = run("-p", "xdist", "-n", "2", "--junit-xml=out.xml", tests=tests)
    result.assert_outcomes(failed=3, passed=1, xfailed=1)
    kept = sorted(pytester.path.glob(".waymark/**/*.mcap"))
    folders = sorted(path.parent.name for path in kept)
    assert [name.split("-")[0] for name in folders] == ["test_dead", "test_red[a", "test_red[c]"]
    for path in kept:
        name = path.relative_to(pytester.path)
        assert f"waymark recording show {shlex.quote(str(name))}" in result.outlines
        assert f'name="recording" value="{name}"' in pytester.path.joinpath("out.xml").read_text()
        command = [str(PROGRAMS / "waymark"), "recording", "export", "--jsonl", str(path)]
        lines = [json.loads(line) for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()]
        assert "finishGuidance" in [line.get("message") for line in lines]
    assert pytester.path.joinpath(".waymark/.gitignore").read_text() == "*\n"
    first = {path: path.stat().st_ino for path in kept}
    run("-k", "red").assert_outcomes(failed=2, deselected=3)
    again = sorted(pytester.path.glob(".waymark/**/test_red*/*.mcap"))
    assert len(again) == 2
    assert not first.keys() & set(again)


def test_the_recording_of_a_gateway_that_died_is_kept(run: Run, pytester: pytest.Pytester) -> None:
    tests = f"""{DRIVE}
async def test_crash(rig, recording):
    await drive_and_end(rig)
    await recording.events()
    rig.gateway._process.kill()
    rig.gateway._process.wait()
"""
    result = run(tests=tests)
    result.assert_outcomes(passed=1, errors=1)
    (kept,) = pytester.path.glob(".waymark/test_it.py/test_crash/*.mcap")
    assert f"waymark recording show {kept.relative_to(pytester.path)}" in result.outlines


def test_what_is_missing_for_a_recording_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = """
async def test_read(rig, recording):
    import sys
    sys.modules["mcap.exceptions"] = None
    await recording.frames()
"""
    said = 'RigError: recordings are read by the package mcap: pip install "waymark-nav[rig]" installs it'
    assert said in run(tests=tests).stdout.str()
    monkeypatch.setenv("WAYMARK", sys.executable)
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*RigError: waymark record does not record:"])


def test_different_tests_have_different_folders() -> None:
    root = Path("/r")
    assert kept_folder(root, "tests/test_it.py::TestX::test_y[a-1]") == root / "tests/test_it.py/TestX/test_y[a-1]"
    odd = ["t[a b]", "t[a-b]", "t[a:b]", "x" * 300, "x" * 301, "t[..]", "..", "t[é]"]
    folders = {kept_folder(root, f"t.py::{name}") for name in odd}
    assert len(folders) == len(odd)
    assert all(folder.is_relative_to(root / "t.py") and ".." not in folder.parts for folder in folders)
