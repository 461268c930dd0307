"""The command line: the lines of `python -m waymark_nav cluster --json` are those of `waymark cluster --json`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from waymark_nav import _json
from waymark_nav import messages as m
from waymark_nav._cluster import main
from waymark_nav.core import Endpoint, EndpointSettings, Update

from conftest import PROGRAMS, ROOT, Gateway
from drive import CAFE, TRIP, meters, route
from scripted import Gateway as Scripted

ROUTES = ROOT / "Sources/WaymarkCommandLine/Resources/routes"
PYTHON = [sys.executable, "-m", "waymark_nav", "cluster", "--json"]
SWIFT = [str(PROGRAMS / "waymark"), "cluster", "--json"]


def lines(output: str) -> list[str]:
    """The lines without the times at which they were written."""
    return [re.sub(r',"time":"[^"]*"|"time":"[^"]*",', "", line) for line in output.splitlines()]


@contextmanager
def started(command: list[str], *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def wait_for(process: subprocess.Popen[str], text: str) -> str:
    """Reads lines until one contains a text; returns all of them."""
    assert process.stdout is not None
    read = ""
    while text not in read:
        line = process.stdout.readline()
        assert line, f"the program has ended: {read} {process.stderr.read() if process.stderr else ''}"
        read += line
    return read


@pytest.mark.parametrize(
    ("name", "options", "more"),
    [
        ("vaduz-balzers.json", ["--states", "changes"], ["--share", "--preview", "0.1"]),
        ("heidelberg-lanes.json", ["--states", "full"], ["--leave-route-at", "1"]),
        ("vaduz-balzers-charging.json", ["--frame-bytes-max", "4096"], []),
        ("singapore-left-hand.json", ["--states", "none"], []),
    ],
)
def test_the_lines_are_those_of_the_swift_program(gateway: Gateway, name: str, options: list[str], more: list[str]) -> None:
    own = ["--connect", gateway.vehicle, "--id", "car", *options, "--until", "ended", "--accept-prompts", "yes"]
    navigate = [str(PROGRAMS / "waymark"), "navigate", "--connect", gateway.navigation, "--vehicle", "car", "--speed", "400"]
    with started(PYTHON, *own, "--endpoint", "python") as python, started(SWIFT, *own, "--endpoint", "swift") as swift:
        begun = [wait_for(process, '"connected"') for process in (python, swift)]
        drive = subprocess.run([*navigate, "--route", str(ROUTES / name), *more], capture_output=True, text=True, timeout=120, check=False)
        assert drive.returncode == 0, drive.stdout + drive.stderr
        (printed, _), (expected, _) = python.communicate(timeout=60), swift.communicate(timeout=60)
        assert (python.returncode, swift.returncode) == (0, 0)
    assert len(expected.splitlines()) > 40
    assert lines(begun[0] + printed) == lines(begun[1] + expected)


def test_a_lost_gateway_is_told_in_the_same_lines(gateway: Gateway) -> None:
    own = ["--connect", gateway.vehicle, "--id", "car", "--watch"]
    with started(PYTHON, *own, "--endpoint", "python") as python, started(SWIFT, *own, "--endpoint", "swift") as swift:
        both = (python, swift)
        printed = [wait_for(process, '"connected"') for process in both]
        gateway.stop(signal.SIGKILL)
        gateway.start()
        printed = [before + wait_for(process, '"connected"') for before, process in zip(printed, both, strict=True)]
        for process in both:
            process.send_signal(signal.SIGTERM)
        rest = [process.communicate(timeout=60)[0] for process in both]
        assert [process.returncode for process in both] == [143, 143]
    found, expected = (lines(before + after) for before, after in zip(printed, rest, strict=True))
    # How often it tries while there is no gateway depends on the time that takes.
    assert list(dict.fromkeys(found)) == list(dict.fromkeys(expected))


@pytest.mark.parametrize("program", [PYTHON, SWIFT], ids=["python", "swift"])
def test_without_a_gateway_both_say_why(program: list[str]) -> None:
    run = subprocess.run(
        [*program, "--id", "car", "--watch", "--connect", "unix:/nonexistent/v"], capture_output=True, text=True, check=False
    )
    reason = "cannot connect to unix:/nonexistent/v: there is no such socket; is waymarkd running?"
    assert lines(run.stdout) == [
        '{"kind":"connection","state":"connecting"}',
        f'{{"kind":"connection","reason":"{reason}","state":"closed"}}',
    ]
    assert (run.returncode, run.stderr) == (1, f"Error: {reason}\n")


def test_a_reader_that_exits_ends_the_program(gateway: Gateway) -> None:
    with started(PYTHON, "--connect", gateway.vehicle, "--id", "car", "--watch") as process:
        wait_for(process, '"connected"')
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        gateway.stop(signal.SIGKILL)
        assert process.wait(timeout=60) == 141
        gateway.start()


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["cluster"],
        ["cluster", "--json"],
        ["cluster", "--json", "--id", "ü"],
        ["cluster", "--json", "--id", "car", "--connect", "somewhere"],
        ["cluster", "--json", "--id", "car", "--timeout", "-1"],
        ["cluster", "--json", "--id", "car", "--frame-bytes-max", "17"],
        ["cluster", "--json", "--id", "car", "--watch", "--accept-prompts", "yes"],
    ],
)
def test_a_wrong_command_line_has_the_status_64(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 64
    assert "Error: " in capsys.readouterr().err


def test_a_timeout_ends_the_program(gateway: Gateway) -> None:
    command = [*PYTHON, "--connect", gateway.vehicle, "--id", "car", "--watch", "--timeout", "0"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    late = subprocess.run([*command, "--until", "finished"], capture_output=True, text=True, check=False)
    assert late.returncode == 1
    assert "--until finished was not reached" in late.stderr


def test_the_key_of_a_listener_is_read_from_a_file(tmp_path: Path) -> None:
    missing = tmp_path / "key"
    run = subprocess.run([*PYTHON, "--id", "car", "--key-file", str(missing)], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr.splitlines()[-1]) == (1, f"Error: {missing} cannot be read: No such file or directory")


def test_what_would_steer_a_terminal_is_escaped() -> None:
    text = 'a"\\/\b\f\n\r\t\x00\x1b\x7f\x85\u2028\u200b\U000e0001ä😀'
    escaped = '"a\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001b\\u007f\\u0085\\u2028\\u200b\\udb40\\udc01ä😀"'
    assert _json.line({"text": text}) == '{"text":' + escaped + "}"


@pytest.mark.parametrize(
    ("number", "text"), [(47.0, "47"), (-0.0, "-0"), (9.5215, "9.5215"), (1e-05, "1e-05"), (0.1 + 0.2, "0.30000000000000004")]
)
def test_numbers_are_as_short_as_they_can_be(number: float, text: str) -> None:
    assert _json.line({"number": number}) == f'{{"number":{text}}}'


def test_every_message_for_an_endpoint_has_its_content_in_json() -> None:
    """A guard against a message that is printed without what is in it."""
    charge = m.ChargeStop(arrival_battery_per_mille=100, departure_battery_per_mille=800, connector=m.ChargeConnector.CCS_2, power_watts=9)
    waypoint = m.Waypoint(
        center=m.Coordinate(latitude=47.0, longitude=9.5, altitude_meters=460.5),
        location_threshold_meters=5,
        entry_points=(m.Coordinate(latitude=1.0, longitude=2.0),),
        time_zone="Europe/Vaduz",
        utc_offset_minutes=0,
        stop_kind=m.StopKind.CHARGING,
        charge=charge,
        id="w",
    )
    machine = Endpoint(EndpointSettings(vehicle="car"))
    gateway = Scripted(machine)
    gateway.welcome()
    gateway.say(m.SnapshotBegin(kind=m.SnapshotKind.FULL, client_id="app"), 7)
    gateway.say(m.StartGuidance(trip=TRIP, generation=1, route=route()), 7, 1)
    gateway.say(m.Prompt(request_id="r", waypoint=waypoint, travel_estimates=meters(3), deadline_milliseconds=5))
    gateway.say(m.Error(code=m.ErrorCode(99), field="f", reason="why"))
    gateway.say(m.ShowAlert(alert=m.NavigationAlert(id=1, title_variants=("t",), duration_milliseconds=1)), 7, 2)
    gateway.say(m.ShareDestination(share_id="s", destination=CAFE), 7, 3)
    gateway.say(m.SessionEnded(session_id=7, reason=m.SessionEndReason(99)))
    printed = {update.name: _json.message(update) for update in gateway.events(Update)}
    assert printed["prompt"]["waypoint"] == {
        "center": [47.0, 9.5, 460.5],
        "thresholdMeters": 5,
        "entryPoints": [[1.0, 2.0]],
        "timeZone": "Europe/Vaduz",
        "utcOffsetMinutes": 0,
        "stopKind": "charging",
        "charge": {"arrivalBatteryPerMille": 100, "departureBatteryPerMille": 800, "connector": "ccs2", "powerWatts": 9},
        "id": "w",
    }
    assert printed["error"]["code"] == "inconsistent"
    assert printed["showAlert"]["alert"]["durationMilliseconds"] == 5_000
    assert printed["shareDestination"]["shareID"] == "s"
    assert printed["sessionEnded"]["endReason"] == "unrecognized"


def test_the_program_is_found_without_the_current_folder() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "Sources/python")}
    run = subprocess.run([sys.executable, "-m", "waymark_nav", "--version"], capture_output=True, text=True, env=environment, check=True)
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", run.stdout)


def test_output_that_cannot_be_written_is_a_failure(gateway: Gateway) -> None:
    with Path("/dev/full").open("w") as full:
        command = [*PYTHON, "--connect", gateway.vehicle, "--id", "car", "--watch"]
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert run.returncode == 1
    assert "the output cannot be written: No space left on device" in run.stderr
    assert "Traceback" not in run.stderr
