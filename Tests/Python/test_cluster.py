"""The command line: the lines of `python -m waymark_nav cluster --json` are those of `waymark cluster --json`."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from waymark_nav import _json, messages as m
from waymark_nav._cluster import main
from waymark_nav.core import Endpoint, EndpointSettings, Update
from waymark_nav.frames import Splitter

from conftest import PROGRAMS, ROOT, Gateway
from drive import CAFE, TRIP, meters, route
from scripted import Gateway as Scripted

ROUTES = ROOT / "Sources/WaymarkCommandLine/Resources/routes"
PYTHON = [sys.executable, "-m", "waymark_nav", "cluster", "--json"]
SWIFT = [str(PROGRAMS / "waymark"), "cluster", "--json"]


def lines(output: str) -> list[str]:
    """The lines without the times at which they were written."""
    return [re.sub(r',"time":"[^"]*"|"time":"[^"]*",', "", line) for line in output.splitlines()]


class Program:
    """A program whose output is read all the time: one that waits for its reader would be a slow endpoint."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.output = ""
        self.is_over = False
        self.news = threading.Condition()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self.news:
                self.output += line
                self.news.notify_all()
        with self.news:
            self.is_over = True
            self.news.notify_all()

    def wait_for(self, text: str, count: int = 1) -> None:
        """Waits until a text was printed so many times."""
        with self.news:
            assert self.news.wait_for(lambda: self.output.count(text) >= count or self.is_over, 60)
            assert self.output.count(text) >= count, self.output

    def end(self) -> int:
        """Waits until it ends; returns its status."""
        status = self.process.wait(60)
        self.reader.join(60)
        return status


@contextmanager
def started(command: list[str], *arguments: str) -> Iterator[Program]:
    program = Program([*command, *arguments])
    try:
        yield program
    finally:
        program.process.kill()
        program.end()
        if program.process.stdout is not None:
            program.process.stdout.close()


class Listener:
    """A vehicle's address that takes one connection and gives it to `serve` in a thread."""

    def __init__(self, path: str, serve: Callable[[socket.socket], None]) -> None:
        self.address = f"unix:{path}"
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen()
        self.thread = threading.Thread(target=self.run, args=[serve], daemon=True)
        self.thread.start()

    def run(self, serve: Callable[[socket.socket], None]) -> None:
        connection, _ = self.socket.accept()
        with connection, self.socket:
            serve(connection)

    def end(self) -> None:
        self.thread.join(60)
        assert not self.thread.is_alive()


class Recording:
    """What a gateway sends to one endpoint, so that another endpoint can be sent exactly the same."""

    def __init__(self) -> None:
        self.received = bytearray()

    def record(self, gateway: str, peer: socket.socket) -> None:
        """Connects a peer with a gateway and keeps what the gateway sends."""
        with socket.socket(socket.AF_UNIX) as upstream:
            upstream.connect(gateway.removeprefix("unix:"))
            back = threading.Thread(target=self.forward, args=[peer, upstream])
            back.start()
            while data := upstream.recv(65536):
                self.received += data
                with suppress(OSError):  # The peer may have gone while the gateway still sends.
                    peer.sendall(data)
            with suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)
            back.join(60)

    @staticmethod
    def forward(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def replay(self, peer: socket.socket) -> None:
        """Sends the same to a peer that has said Hello, but for the answer to its Goodbye."""
        splitter = Splitter()
        splitter.feed(bytes(self.received))
        frames = [whole for whole in splitter.frames() if not isinstance(whole.decode(), m.Goodbye)]
        assert peer.recv(65536)
        with suppress(OSError):
            peer.sendall(b"".join(whole.encode() for whole in frames))
            while peer.recv(65536):
                pass


@pytest.mark.parametrize(
    ("name", "options", "more"),
    [
        ("vaduz-balzers.json", ["--states", "changes"], ["--share", "--preview", "0.1"]),
        ("heidelberg-lanes.json", ["--states", "full"], ["--leave-route-at", "1"]),
        ("vaduz-balzers-charging.json", ["--receive-frame-bytes-max", "4096"], []),
        ("singapore-left-hand.json", ["--states", "none"], []),
    ],
)
def test_the_lines_are_those_of_the_swift_program(gateway: Gateway, name: str, options: list[str], more: list[str]) -> None:
    own = ["--id", "car", "--endpoint", "cluster", *options, "--until", "ended", "--accept-prompts", "yes"]
    navigate = [str(PROGRAMS / "waymark"), "navigate", "--connect", gateway.navigation, "--vehicle", "car", "--speed", "50"]
    # Two endpoints that are connected at once may be sent different values: the gateway skips old ones for the slower endpoint.
    recording = Recording()
    live = Listener(f"{gateway.folder}/live", lambda peer: recording.record(gateway.vehicle, peer))
    with started(PYTHON, *own, "--connect", live.address) as python:
        python.wait_for('"connected"')
        drive = subprocess.run([*navigate, "--route", str(ROUTES / name), *more], capture_output=True, text=True, timeout=120, check=False)
        assert drive.returncode == 0, drive.stdout + drive.stderr
        assert python.end() == 0
    live.end()
    again = Listener(f"{gateway.folder}/again", recording.replay)
    with started(SWIFT, *own, "--connect", again.address) as swift:
        assert swift.end() == 0
    again.end()
    assert len(swift.output.splitlines()) > 40
    assert lines(python.output) == lines(swift.output)


def test_a_lost_gateway_is_told_in_the_same_lines(gateway: Gateway) -> None:
    own = ["--connect", gateway.vehicle, "--id", "car", "--watch"]
    with started(PYTHON, *own, "--endpoint", "python") as python, started(SWIFT, *own, "--endpoint", "swift") as swift:
        both = (python, swift)
        for program in both:
            program.wait_for('"connected"')
        gateway.stop(signal.SIGKILL)
        gateway.start()
        for program in both:
            program.wait_for('"connected"', 2)
            program.process.send_signal(signal.SIGTERM)
        assert [program.end() for program in both] == [143, 143]
    # How often it tries while there is no gateway depends on the time that takes.
    assert list(dict.fromkeys(lines(python.output))) == list(dict.fromkeys(lines(swift.output)))


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
    command = [*PYTHON, "--connect", gateway.vehicle, "--id", "car", "--watch"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        while '"connected"' not in process.stdout.readline():
            pass
        process.stdout.close()
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
        ["cluster", "--json", "--id", "car", "--receive-frame-bytes-max", "17"],
        ["cluster", "--json", "--id", "car", "--watch", "--accept-prompts", "yes"],
        ["cluster", "--json", "--id", "car", "--watch", "--commands"],
        ["cluster", "--json", "--id", "car", "--slots", "-1"],
    ],
)
def test_a_wrong_command_line_has_the_status_64(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 64
    assert "Error: " in capsys.readouterr().err


def test_it_obeys_the_lines_of_its_standard_input(gateway: Gateway) -> None:
    command = [*PYTHON, "--connect", gateway.vehicle, "--id", "obeys", "--commands", "--slots", "2"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line, words in (
            ("destination 47.1 9.5", "destination 47.1 9.5: "),
            ("withdraw", ""),
            ("yes", "there is nothing to answer with yes"),
            ("destination 91 9.5", "latitude"),
            ("destination north 9.5", "north"),
            ("start", "there is no trip to start"),
            ("start trip-1 2", "start trip-1: "),
            ("start trip-1 second", "second"),
            ("fly", "fly is no command; the commands are waypoint LAT LON"),
        ):
            print(line, file=process.stdin, flush=True)
            while words and words not in process.stdout.readline():
                assert process.poll() is None, words
        process.stdin.close()
        assert process.wait(timeout=60) == 0


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
