"""The real programs on Unix sockets of a temporary folder: a gateway, clients, clusters, the inspector, recordings, a routing engine."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(os.environ.get("WAYMARK_BIN", ROOT / ".build/release"))
ROUTES = ROOT / "Sources/WaymarkCommandLine/Resources/routes"
WITHIN = 60.0
"""Seconds that a condition may take."""

CONFIGURATION = """
listeners:
  - {{address: "unix:{folder}/vehicle.sock", roles: [vehicle]}}
  - {{address: "unix:{folder}/navigation.sock", roles: [navigation]}}
  - {{address: "unix:{folder}/observe.sock", roles: [observer], observe: content}}
times: {{share: 300s, prompt: 300s}}
"""


def until(condition: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + WITHIN
    while not (found := condition()):
        assert time.monotonic() < end, f"in vain: {what}"
        time.sleep(0.02)
    return found


class Program:
    """A running program, and the lines that it printed."""

    def __init__(self, name: str, *arguments: str, environment: dict[str, str]) -> None:
        self.name = " ".join([name, *arguments])
        self.process = subprocess.Popen(
            [PROGRAMS / name, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.lines: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def line(self, part: str) -> str:
        """The first line that has `part`."""

        def found() -> str | None:
            assert self.process.poll() is None or part in "\n".join(self.lines), f"{self.name} ended: {self.lines}"
            return next((line for line in self.lines if part in line), None)

        return str(until(found, f"{self.name}: {part}"))

    def interrupt(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def stop(self) -> None:
        self.interrupt()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class _Engine(BaseHTTPRequestHandler):
    """Answers as OSRM does: with the drive to Balzers, or with the same drive by way of the charging station."""

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        places = self.path.split("?")[0].rsplit("/", 1)[-1].split(";")
        body = (ROUTES / ("vaduz-balzers.json" if len(places) == 2 else "vaduz-balzers-charging.json")).read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def ends(name: str) -> list[tuple[float, float]]:
    """Latitude and longitude of the places that a stored route of OSRM leads to."""
    waypoints = json.loads((ROUTES / name).read_text(encoding="utf-8"))["waypoints"]
    return [(one["location"][1], one["location"][0]) for one in waypoints]


class World:
    """`bus` is guided through Heidelberg with a cluster and a head-up display that asks for no lanes. A test starts what else it needs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs: list[Program] = []
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "NO_COLOR": "1", "TZ": "UTC"}
        self.engine = ThreadingHTTPServer(("127.0.0.1", 0), _Engine)
        self.engine.daemon_threads = True
        threading.Thread(target=self.engine.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        (folder / "waymarkd.yaml").write_text(CONFIGURATION.format(folder=folder), encoding="utf-8")
        self.start("waymarkd", "--config", str(folder / "waymarkd.yaml"))
        for name in ["vehicle", "navigation", "observe"]:
            until((folder / f"{name}.sock").exists, f"{name}.sock")
        self.link = self.inspect("--act", "--connect", self.socket("observe"), "--vehicle-address", self.socket("vehicle"))
        self.recorders = [self.record(name) for name in ["first", "second"]]
        self.cluster("bus", "cluster", "--accept-prompts", "yes").line("connected")
        self.cluster("bus", "hud", "--watch", "--profile", "no-lanes").line("connected")
        self.bus = self.navigate(
            "bus", "--route", str(ROUTES / "heidelberg-lanes.json"), "--id", "city-nav", "--start-at", "0.2", "--speed", "2"
        )

    def socket(self, name: str) -> str:
        return f"unix:{self.folder}/{name}.sock"

    def start(self, name: str, *arguments: str) -> Program:
        program = Program(name, *arguments, environment=self.environment)
        self.programs.append(program)
        return program

    def inspect(self, *arguments: str) -> str:
        """The link to its page."""
        return self.start("waymark", "inspect", "--listen", "127.0.0.1:0", *arguments).line("http://").strip()

    def record(self, name: str) -> Program:
        recorder = self.start("waymark", "record", "--connect", self.socket("observe"), "--to", str(self.folder), "--name", name)
        until(lambda: list(self.folder.glob(f"{name}*")), name)
        return recorder

    def recording(self, index: int) -> str:
        """Ends a recording; its file."""
        self.recorders[index].stop()
        return str(next(self.folder.glob(f"{['first', 'second'][index]}*.mcap")))

    def cluster(self, vehicle: str, endpoint: str, *arguments: str) -> Program:
        return self.start(
            "waymark", "cluster", "--json", "--connect", self.socket("vehicle"), "--id", vehicle, "--endpoint", endpoint, *arguments
        )

    def navigate(self, vehicle: str, *arguments: str) -> Program:
        return self.start(
            "waymark", "navigate", "--connect", self.socket("navigation"), "--vehicle", vehicle, "--await-vehicle", "connected", *arguments
        )

    def drive_to_balzers(self, vehicle: str, *arguments: str) -> Program:
        """A drive with an engine, so that stops can be added."""
        begin, end = (f"{latitude},{longitude}" for latitude, longitude in ends("vaduz-balzers.json"))
        return self.navigate(
            vehicle,
            "--engine",
            f"osrm=http://127.0.0.1:{self.engine.server_port}",
            "--from",
            begin,
            "--to",
            end,
            "--id",
            f"nav-{vehicle}",
            *arguments,
        )

    def close(self) -> None:
        for program in reversed(self.programs):
            program.interrupt()
        for program in self.programs:
            program.stop()
        self.engine.shutdown()
        self.engine.server_close()
