"""The programs of Docs/examples/python run as documented, and Docs/python.md shows them as they are."""

from __future__ import annotations

import importlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from waymark_nav import messages as m
from waymark_nav.frames import frame

from conftest import ROOT, Gateway

EXAMPLES = ROOT / "Docs/examples/python"
PAGE = (ROOT / "Docs/python.md").read_text(encoding="utf-8")
#: A Python with the installed package; without it, this one with the sources.
INSTALLED = os.environ.get("WAYMARK_PYTHON")


def command(name: str, *arguments: str) -> list[str]:
    return [INSTALLED or sys.executable, str(EXAMPLES / f"{name}.py"), *arguments]


@contextmanager
def started(name: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    environment = {key: value for key, value in os.environ.items() if not (INSTALLED and key == "PYTHONPATH")}
    process = subprocess.Popen(command(name, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def until(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdout is not None
    read: list[str] = []
    while not any(text in line for line in read[-1:]):
        read.append(process.stdout.readline())
        assert read[-1], f"the program has ended: {read} {process.stderr.read() if process.stderr else ''}"


@pytest.mark.parametrize("cluster", ["cluster", "blocking"])
def test_a_client_in_twenty_lines_guides_a_cluster_in_ten(gateway: Gateway, cluster: str) -> None:
    with started(cluster, gateway.vehicle) as display, started("navigate", gateway.navigation) as client:
        until(display, "in 300 m: Turn left onto Landstrasse")
        until(display, "in 10 m: Turn left onto Landstrasse")
        assert client.wait(60) == 0


def test_a_driver_asks_for_a_stop_and_gets_it(gateway: Gateway) -> None:
    with started("stop", gateway.vehicle) as display, started("detour", gateway.navigation) as client:
        until(display, "stop at Café in Triesen, then 11000 m to go? yes")
        until(display, "the stop: ACCEPTED")
        until(client, "the stop: ACCEPTED")
        assert (display.wait(60), client.wait(60)) == (0, 0)


def test_a_rig_drives_a_client_that_it_did_not_start(gateway: Gateway) -> None:
    with started("cluster", gateway.vehicle) as display, started("simulated", gateway.navigation) as client:
        until(display, "in 300 m: Arrive")
        assert client.poll() is None  # It stands still.
        with started("simulate", gateway.observer) as rig:
            until(client, "drives")
            assert (client.wait(60), rig.wait(60)) == (0, 0)


def test_an_observer_sees_the_drive(gateway: Gateway) -> None:
    with started("observe", gateway.observer) as observer:
        until(observer, "vehicles: clients:")
        with started("cluster", gateway.vehicle), started("navigate", gateway.navigation) as client:
            assert client.wait(60) == 0
        for event in ("ADMITTED", "STARTED", "SESSION_ENDED"):
            until(observer, event)


def test_a_machine_is_driven_over_a_plain_socket(gateway: Gateway) -> None:
    with started("machine", gateway.vehicle) as display, started("navigate", gateway.navigation) as client:
        until(display, "startGuidance Turn left onto Landstrasse")
        assert client.wait(60) == 0
        gateway.stop(signal.SIGTERM)
        assert display.wait(60) == 0


class SlowSocket:
    """A socket on which each read takes 0.8 s, and its program's clock."""

    def __init__(self, *reads: bytes) -> None:
        self.reads = list(reads)
        self.sent = b""
        self.now = 100.0

    def connect(self, address: str) -> None:
        pass

    def sendall(self, data: bytes) -> None:
        self.sent += data

    def recv(self, count: int) -> bytes:
        self.now += 0.8
        return self.reads.pop(0)


def test_a_frame_that_takes_five_intervals_to_arrive_is_no_silence_for_the_plain_example(monkeypatch: pytest.MonkeyPatch) -> None:
    welcome, ping = (
        frame(message).encode()
        for message in (
            m.Welcome(
                version=2,
                keepalive_milliseconds=1_000,
                receive_frame_bytes_max=4_096,
                resumption_token=bytes(16),
                gateway_instance="g",
                gateway_epoch=1,
            ),
            m.Ping(nonce=99),
        )
    )
    slow = SlowSocket(welcome, *(ping[index : index + 1] for index in range(6)), ping[6:], b"")
    monkeypatch.syspath_prepend(str(ROOT / "Docs/examples"))
    wire, cluster = importlib.import_module("wire"), importlib.import_module("cluster")
    monkeypatch.setattr(wire, "time", SimpleNamespace(monotonic=lambda: slow.now))
    monkeypatch.setattr(wire, "select", SimpleNamespace(select=lambda *_: ([slow], [], [])))
    monkeypatch.setattr(wire, "socket", SimpleNamespace(AF_UNIX=0, socket=lambda _: slow))
    with pytest.raises(SystemExit, match="the gateway closed the connection"):
        cluster.Cluster("unix:/g", "car").run()
    assert frame(m.Pong(nonce=99)).encode() in slow.sent


def test_the_first_programs_have_ten_and_twenty_lines() -> None:
    counts = {name: len([line for line in (EXAMPLES / f"{name}.py").read_text().splitlines() if line]) for name in ("cluster", "navigate")}
    assert counts["cluster"] <= 10
    assert counts["navigate"] <= 20


def blocks(text: str, language: str) -> list[list[str]]:
    return [block.splitlines() for block in re.findall(rf"```{language}\n(.*?)```", text, re.S)]


def test_the_code_of_the_page_is_taken_from_programs_that_are_run() -> None:
    programs = [path.read_text(encoding="utf-8").splitlines() for path in sorted(EXAMPLES.glob("*.py"))]
    found = blocks(PAGE, "python")
    assert len(found) >= 4
    for block in found:
        length = len(block)
        assert any(program[at : at + length] == block for program in programs for at in range(len(program))), "\n".join(block)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_the_page_names_every_program(path: Path) -> None:
    assert f"examples/python/{path.name}" in PAGE
