#!/usr/bin/env python3
"""Measures how long commands take to end after SIGINT and SIGTERM, in every phase in which they wait for a gateway, and although it is
silent, stopped or gone, or the reader of their output reads nothing.

    scripts/measure/signals.py [--programs .build/release] [--limit 1.0] [--only watch]

Fails if one takes longer than the limit. `Tests/EndToEndTests/InterruptionTests.swift` tests that they end at all.
"""

from __future__ import annotations

import argparse
import array
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ROUTE = ROOT / "Sources/WaymarkCommandLine/Resources/routes/vaduz-balzers.json"
#: For a command to reach the phase in which it is interrupted.
SETTLE = 1.0
PATIENCE = 30.0

#: By the kind of listener that they connect to.
COMMANDS = {
    "observer": [
        "watch",
        "watch --json",
        "status --interval 60",
        "top",
        "lint --live",
        "record --to {folder}",
        "exporter --listen 127.0.0.1:0",
        "inspect --listen 127.0.0.1:0",
    ],
    "vehicle": [
        "cluster --id car --watch",
        "cluster --id car --accept-prompts yes --json",
        "request waypoint 47,9 --id other",
        "request destination 47,9 --id other",
        "request cancel --id other",
        "python cluster --json --id car --watch",
    ],
    "navigation": ["navigate --route {route}", "navigate --route {route} --vehicle ghost"],
}


class Gateway:
    """A waymarkd, or what a test puts in its place."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self.addresses = {kind: folder / kind for kind in ("observer", "vehicle", "navigation")}
        self._process: subprocess.Popen[bytes] | None = None
        self._silent: list[socket.socket] = []

    def start(self) -> None:
        options = [text for kind, path in self.addresses.items() for text in (f"--{kind}-listen", f"unix:{path}")]
        self._process = subprocess.Popen([self._programs / "waymarkd", *options], stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while not all(path.exists() for path in self.addresses.values()):
            if time.monotonic() > end:
                raise SystemExit("waymarkd does not listen")
            time.sleep(0.05)

    def signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)

    def be_silent(self) -> None:
        """Accepts connections and says nothing."""
        for path in self.addresses.values():
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(path))
            listener.listen(8)
            self._silent.append(listener)

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        for listener in self._silent:
            listener.close()


class Measurement:
    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._programs = Path(options.programs).resolve()
        self.slow: list[str] = []
        self.count = 0
        self.longest = 0.0

    @contextmanager
    def gateway(self) -> Iterator[tuple[Gateway, Path]]:
        folder = Path(tempfile.mkdtemp(prefix="wsig-"))
        gateway = Gateway(self._programs, folder)
        try:
            yield gateway, folder
        finally:
            gateway.end()
            shutil.rmtree(folder)

    def start(self, text: str, folder: Path, address: Path | None, output: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        words = text.format(folder=folder, route=ROUTE).split()
        words = [sys.executable, "-m", "waymark_nav", *words[1:]] if words[0] == "python" else [str(self._programs / "waymark"), *words]
        if address is not None:
            words += ["--connect", f"unix:{address}"]
        environment = os.environ | {"PYTHONPATH": str(ROOT / "Sources/python")}
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL, env=environment)

    def measure(self, name: str, process: subprocess.Popen[bytes], number: signal.Signals) -> None:
        """Sends the signal, and waits for the end."""
        if process.poll() is not None:
            print(f"  has ended before  {name}")
            return
        began = time.monotonic()
        process.send_signal(number)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        took = time.monotonic() - began
        self.count += 1
        self.longest = max(self.longest, took)
        line = f"{took:6.2f} s  status {process.returncode:4}  {number.name:7}  {name}"
        print(f"  {line}", flush=True)
        if took > self._options.limit:
            self.slow.append(line)

    def phases(self, kind: str, text: str, number: signal.Signals) -> None:
        """A command in each phase of its connection."""

        def run(phase: str, before: Callable[[Gateway], None], after: Callable[[Gateway], None], more: str = "") -> None:
            with self.gateway() as (gateway, folder):
                before(gateway)
                process = self.start(text + more, folder, gateway.addresses[kind])
                time.sleep(SETTLE)
                after(gateway)
                self.measure(f"{text}: {phase}", process, number)

        def nothing(_: Gateway) -> None:
            pass

        def silence(gateway: Gateway) -> None:
            gateway.signal(signal.SIGSTOP)
            time.sleep(0.3)

        def death(gateway: Gateway) -> None:
            gateway.signal(signal.SIGKILL)
            time.sleep(0.5)

        if not text.startswith(("exporter", "inspect")):
            run("waits for a gateway", nothing, nothing, " --wait 60")
        run("no answer to its Hello", Gateway.be_silent, nothing)
        run("the gateway stands still", Gateway.start, silence)
        run("the gateway is gone", Gateway.start, death)

    def drives(self, number: signal.Signals) -> None:
        """A client that guides, and one whose arrival is not confirmed."""
        for phase, speed, rest in (("while it guides", 1, 1.0), ("while it waits for its arrival's confirmation", 10_000, 4.0)):
            with self.gateway() as (gateway, folder):
                gateway.start()
                cluster = self.start("cluster --id car --accept-prompts yes --json", folder, gateway.addresses["vehicle"])
                drive = self.start(
                    f"navigate --route {{route}} --vehicle car --speed {speed} --preview 1", folder, gateway.addresses["navigation"]
                )
                time.sleep(SETTLE)
                gateway.signal(signal.SIGSTOP)
                time.sleep(rest)
                self.measure(f"navigate {phase}, the gateway stands still", drive, number)
                self.measure("cluster of it, the gateway stands still", cluster, number)

    def unread(self, number: signal.Signals) -> None:
        """A command whose output is not read."""
        with self.gateway() as (gateway, folder):
            gateway.start()
            source, sink = os.pipe()
            watch = self.start("watch --json", folder, gateway.addresses["observer"], sink)
            cluster = self.start("cluster --id car --accept-prompts yes --json", folder, gateway.addresses["vehicle"])
            drive = self.start("navigate --route {route} --vehicle car --speed 200", folder, gateway.addresses["navigation"])
            count, end = array.array("i", [0]), time.monotonic() + PATIENCE
            while count[0] < 60_000 and time.monotonic() < end:
                time.sleep(0.1)
                fcntl.ioctl(source, termios.FIONREAD, count)
            time.sleep(SETTLE)
            self.measure(f"watch --json: its output is not read ({count[0]} bytes wait)", watch, number)
            for process in (drive, cluster):
                process.kill()
                process.wait()
            os.close(source)
            os.close(sink)

    def others(self, number: signal.Signals) -> None:
        """Commands that connect to nothing, or bring their gateway along."""
        with self.gateway() as (gateway, folder):
            gateway.be_silent()
            proxy = self.start(f"proxy --listen unix:{folder}/p --to unix:{gateway.addresses['vehicle']}", folder, None)
            time.sleep(SETTLE)
            peer = socket.socket(socket.AF_UNIX)
            peer.connect(f"{folder}/p")
            self.measure("proxy: the gateway is silent", proxy, number)
            peer.close()
            for text in ("demo", "demo --json", "test --clock real @gallery"):
                process = self.start(text, folder, None)
                time.sleep(SETTLE)
                self.measure(text, process, number)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=str(ROOT / ".build/release"))
    parser.add_argument("--limit", type=float, default=1.0, help="seconds that a command may take")
    parser.add_argument("--only", default="", help="commands that contain this text")
    options = parser.parse_args()
    measurement = Measurement(options)
    for number in (signal.SIGINT, signal.SIGTERM):
        for kind, commands in COMMANDS.items():
            for text in commands:
                if options.only in text:
                    measurement.phases(kind, text, number)
        for name, part in (("drives", measurement.drives), ("unread", measurement.unread), ("others", measurement.others)):
            if options.only in ("", name):
                part(number)
    print(f"{measurement.count} interruptions, at most {measurement.longest:.2f} s")
    for line in measurement.slow:
        print(f"too long: {line}")
    return 1 if measurement.slow else 0


if __name__ == "__main__":
    sys.exit(main())
