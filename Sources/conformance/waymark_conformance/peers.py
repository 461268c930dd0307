"""Implementations under test: how they are started, and what they show."""

import asyncio
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import socket
import tempfile
from dataclasses import dataclass, field, fields
from typing import Any

from .schema import Malformed

STATES = {"continue", "initial", "prepare", "execute"}
SHOWS = re.compile(
    r"shows (\S+) generation (\d+) on (.+?): (.+) in (\S+) m, (\w+), (\d+) maneuvers, (\d+) lanes, "
    r"(\d+) segments with (\d+) points"
)
# The page's defaults, in seconds.
TIMES = {"grace": 30, "request": 10, "prompt": 60, "share": 10, "handshake": 5, "stall": 30, "errors": 10}
PARTS = ("state", "json", "screen", "entries", "reconnects", "drives", "commands", "gauge", "previews")
# What a setup can change.
SETUP_KEYS = ("command", "file", "changed", "times", "environment")
KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number", type(None): "null"}
# The line of a crash that says what went wrong, in most languages.
CRASH = re.compile(r"Error|error:")


@dataclass
class Peer:
    """What is tested: a command, and what is known of it."""

    role: str
    command: str
    name: str = "implementation"
    file: str = ""
    """A template of a file, whose path replaces {file} in the command."""
    changed: str = ""
    """Of a gateway: the file after its operator has changed it. The gateway reads it at SIGHUP."""
    driver: list[str] = field(default_factory=list)
    """Which of PARTS, the driver contract, it has."""
    setups: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Of a gateway: names of setups, each with its own command, file and times."""
    times: dict[str, float] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    def setup(self, name):
        """The setup of the name, or this one."""
        changes = self.setups.get(name)
        if changes is None:
            return self
        return Peer(**{**self.__dict__, "setups": {}, **changes, "times": {**self.times, **changes.get("times", {})}})

    def time(self, name):
        return self.times.get(name, TIMES[name])


def one_of(key, names, where):
    if key not in names:
        raise Malformed(f"{where} has no key {key}; the keys are {', '.join(names)}")


def of_kind(value, kind, where):
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Malformed(f"{where} is {KINDS[type(value)]}, not {KINDS[kind if isinstance(kind, type) else kind[0]]}")


def check_command(command, where):
    of_kind(command, str, where)
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise Malformed(f"{where}: {error}") from error
    if not words:
        raise Malformed(f"{where} is empty")
    if not shutil.which(words[0]):
        raise Malformed(f"there is no program {words[0]}")


def check_values(values, where):
    """Values that a peer and a setup can have; the error names the key."""
    for key in ("name", "file", "changed", "role"):
        of_kind(values.get(key, ""), str, where + key)
    if "command" in values:
        check_command(values["command"], where + "command")
    for key, kind in (("times", (int, float)), ("environment", str)):
        of_kind(values.get(key, {}), dict, where + key)
        for name, value in values.get(key, {}).items():
            if key == "times":
                one_of(name, TIMES, where + key)
            of_kind(value, kind, f"{where}{key}.{name}")


def check_peer(values, setups):
    """Checks the object of a peer file: `setups` are the names of those that cases of its role need."""
    of_kind(values, dict, "the peer")
    for key in values:
        one_of(key, [each.name for each in fields(Peer)], "the peer")
    check_values(values, "")
    of_kind(values.get("driver", []), list, "driver")
    for part in values.get("driver", []):
        if part not in PARTS:
            raise Malformed(f"driver has no part {part}; the parts are {', '.join(PARTS)}")
    of_kind(values.get("setups", {}), dict, "setups")
    for name, setup in values.get("setups", {}).items():
        one_of(name, setups, "setups")
        of_kind(setup, dict, f"setups.{name}")
        for key in setup:
            one_of(key, SETUP_KEYS, f"setups.{name}")
        check_values(setup, f"setups.{name}.")


def free_ports(count):
    """Different ports on which nothing listens: each is held until all are chosen."""
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


class Process:
    """A started implementation."""

    def __init__(self, peer, places):
        self.peer, self.places = peer, dict(places)
        self.folder = tempfile.mkdtemp(prefix="waymark-conformance-")
        self.places["folder"] = self.folder
        self.lines, self.views, self.state, self.entries = [], [], {}, []
        self.held = Held()
        self.news = asyncio.Event()
        self.process: asyncio.subprocess.Process | None = None

    @property
    def started(self):
        if self.process is None:
            raise RuntimeError(f"{self.peer.name} has not been started")
        return self.process

    def fill(self, text):
        for name, value in self.places.items():
            text = text.replace("{" + name + "}", str(value))
        return text

    def write_file(self, text):
        """Writes the file of the program for its own user alone: it may contain a key."""
        self.places["file"] = os.path.join(self.folder, "file")
        with open(os.open(self.places["file"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(self.fill(text))

    async def start(self):
        if self.peer.file:
            self.write_file(self.peer.file)
        starting = asyncio.ensure_future(self.execute())
        try:
            self.process = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # A start that is cancelled half-way would wait without end for pipes that are never made.
            self.process = await starting
            raise
        finally:
            if self.process:
                self.task = asyncio.create_task(self.read())

    def execute(self):
        return asyncio.create_subprocess_exec(
            *shlex.split(self.fill(self.peer.command)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            limit=1 << 24,
            env={**os.environ, **self.peer.environment},
        )

    async def read(self):
        with contextlib.suppress(ValueError, ConnectionError):
            while line := await self.started.stdout.readline():
                self.understand(line.decode("utf-8", "replace").rstrip("\n"))
                self.news.set()

    def understand(self, line):
        if len(self.lines) < 10_000:
            self.lines.append(line)
        if self.peer.role == "observer":
            self.observed(line)
        elif line.startswith("{"):
            with contextlib.suppress(ValueError):
                report = json.loads(line)
                if report.get("kind") == "state":
                    self.state = report
                    self.views.append(view_of_state(report))
                elif report.get("kind") == "change":
                    apply_change(self.state, report)
                    self.views.append(view_of_state(self.state))
        elif line == "shows nothing":
            self.views.append({"shows": False})
        elif match := SHOWS.match(line):
            self.views.append(view_of_text(match))

    def observed(self, line):
        """A line of an observer: what it holds, or an entry."""
        if line.startswith("{"):
            with contextlib.suppress(ValueError):
                report = json.loads(line)
                if report.get("kind") == "records":
                    self.views.append({key: report.get(key) for key in ("vehicles", "clients", "sessions", "complete")})
                else:
                    self.entries.append(report)
        elif entry := entry_of_text(line):
            self.entries.append(entry)
        elif self.held.change(line):
            self.views.append(self.held.view())

    def signal(self, name):
        """Sends a signal by its name without SIG."""
        self.started.send_signal(getattr(signal, f"SIG{name}"))

    def change(self):
        """Replaces the file by the changed one."""
        self.write_file(self.peer.changed)
        self.signal("HUP")

    def last_words(self):
        """How it ended: the line of its output that names an error, and the last one."""
        printed = [line for line in self.lines if line.strip() and not line.startswith("{")]
        named = [line for line in printed if CRASH.search(line)][:1]
        words = " / ".join(dict.fromkeys(named + printed[-1:])) or "it printed nothing"
        return f"it ended with status {self.started.returncode}: {words}"

    def command(self, line):
        self.started.stdin.write(line.encode() + b"\n")

    async def end(self):
        if self.process and self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.process.wait(), 5)
        if self.process:
            self.task.cancel()
        shutil.rmtree(self.folder, ignore_errors=True)


def apply_change(state, change):
    """A line `change` of cluster-json."""
    for key, value in change.items():
        if key == "maneuverEstimates":
            known = {each["maneuver"]: each for each in state.get(key, [])}
            known.update((each["maneuver"], each) for each in value or [])
            state[key] = [each for each in known.values() if "distanceMeters" in each]
        elif value is None:
            state.pop(key, None)
        else:
            state[key] = value


def first_text(variants):
    return variants[0] if variants else "-"


def view_of_state(state):
    """The view of a line `state` of cluster-json."""
    if state.get("phase") not in ("active", "paused"):
        return {"shows": False}
    upcoming = (state.get("upcomingManeuvers") or [0])[0]
    maneuvers = {each.get("id"): each for each in state.get("maneuvers") or []}
    lanes = {each.get("id"): each for each in state.get("laneGuidances") or []}
    distances = {each["maneuver"]: each.get("distanceMeters", 0) for each in state.get("maneuverEstimates") or []}
    segments = state.get("segments") or []
    return {
        "shows": True,
        "trip": (state.get("trip") or {}).get("id", ""),
        "generation": state.get("generation", 0),
        "road": first_text(state.get("currentRoadName")),
        "instruction": first_text(maneuvers.get(upcoming, {}).get("instructionVariants")),
        "distance": distances.get(upcoming),
        "state": "paused" if state["phase"] == "paused" else state.get("maneuverState", "continue"),
        "maneuvers": len(maneuvers),
        "lanes": len(lanes.get(state.get("currentLaneGuidance"), {}).get("lanes", [])),
        "segments": len(segments),
        "points": sum(len(each.get("coordinates", [])) for each in segments),
    }


class Held:
    """The records that an observer holds, read from its lines as the example observe.py prints them."""

    LINE = re.compile(r"(vehicle|client|session) (\S+?)( is gone|:.*|)$")

    def __init__(self):
        self.forget()

    def forget(self):
        self.ids: dict[str, set[str | int]] = {"vehicle": set(), "client": set(), "session": set()}
        self.is_complete = False

    def change(self, line):
        """Whether a line tells of records."""
        if line.startswith("full from number "):
            self.forget()
        elif line.startswith("holds "):
            self.is_complete = True
        elif match := self.LINE.match(line):
            kind, name, what = match.groups()
            known = self.ids[kind]
            (known.discard if what == " is gone" else known.add)(int(name) if kind == "session" else name)
        else:
            return False
        return True

    def view(self):
        """The view of the JSON line `records`."""
        return {f"{kind}s": sorted(ids) for kind, ids in self.ids.items()} | {"complete": self.is_complete}


def entry_of_text(line):
    """The entry of a line of observe.py, or None."""
    if match := re.match(r"event ([a-z ]+|\d+)", line):
        return {"kind": "event", "event": re.sub(r" code$", "", match[1].strip())}
    if match := re.match(r"(?:from|to) .+?: 0x[0-9A-F]{4}(?: number (\d+))?", line):
        return {"kind": "frame", "sequence": int(match[1] or 0)}
    if match := re.match(r"(\d+) entries were dropped", line):
        return {"kind": "dropped", "count": int(match[1])}
    return None


def view_of_text(match):
    """The view of a line `shows …`."""
    trip, generation, road, instruction, distance, state, maneuvers, lanes, segments, points = match.groups()
    return {
        "shows": True,
        "trip": trip,
        "generation": int(generation),
        "road": road,
        "instruction": instruction,
        "distance": None if distance == "-" else int(distance),
        "state": state,
        "maneuvers": int(maneuvers),
        "lanes": int(lanes),
        "segments": int(segments),
        "points": int(points),
    }
