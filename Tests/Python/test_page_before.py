"""Peers for the page before this one, 1.1, are refused at their Hello with a reason: they never work in half."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, Gateway

#: The wheel, the examples and the protos of that page.
BEFORE = ROOT / "Tests/Fixtures/1.1"
REASON = "this gateway speaks version 1.2 of the protocol, and the peer version 1.1"

PEER = """
import asyncio, sys
import waymark_nav

role, address = sys.argv[1:]
peer = {
    "endpoint": lambda: waymark_nav.Endpoint("car", "cluster", address),
    "client": lambda: waymark_nav.Client("app", address),
    "observer": lambda: waymark_nav.Observer("watcher", address),
}[role]()
try:
    asyncio.run(peer.connect())
except waymark_nav.RefusedError as error:
    print(waymark_nav.__file__, error.code.name, error.reason, sep="|")
"""


def address_of(gateway: Gateway, role: str) -> str:
    return {"endpoint": gateway.vehicle, "client": gateway.navigation, "observer": gateway.observer}[role]


def said(command: list[str]) -> tuple[int, list[str]]:
    """The exit status and the lines of a program that ends by itself while its input stays open."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
        return process.wait(60), lines
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("role", ["endpoint", "client", "observer"])
def test_the_wheel_is_refused(gateway: Gateway, role: str) -> None:
    (wheel,) = BEFORE.glob("*.whl")
    environment = {**os.environ, "PYTHONPATH": str(wheel)}
    command = [sys.executable, "-c", PEER, role, address_of(gateway, role)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    file, code, reason = run.stdout.strip().split("|")
    assert file.startswith(str(wheel))
    assert (code, reason) == ("UNSUPPORTED_VERSION", REASON)


@pytest.mark.parametrize(
    ("name", "role", "arguments"), [("cluster", "endpoint", ["car"]), ("navigate", "client", ["car"]), ("observe", "observer", [])]
)
def test_the_examples_in_python_are_refused(gateway: Gateway, name: str, role: str, arguments: list[str]) -> None:
    command = [sys.executable, str(BEFORE / f"examples/{name}.py"), address_of(gateway, role), *arguments]
    assert said(command) == (1, [f"goodbye 4 {REASON}"])


@pytest.mark.parametrize(("name", "role"), [("cluster", "endpoint"), ("navigate", "client")])
def test_the_examples_in_c_are_refused(gateway: Gateway, tmp_path: Path, name: str, role: str) -> None:
    if shutil.which("protoc-c") is None or shutil.which("pkg-config") is None:
        pytest.skip("protoc-c or pkg-config is missing")
    protos = sorted(str(file) for file in (BEFORE / "protos/waymark/v1").glob("*.proto"))
    subprocess.run(["protoc-c", f"-I{BEFORE / 'protos'}", f"--c_out={tmp_path}", *protos], check=True)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libprotobuf-c"], check=True, capture_output=True, text=True).stdout.split()
    sources = sorted(str(file) for file in tmp_path.glob("waymark/v1/*.c"))
    program = tmp_path / name
    compiler = shutil.which("cc") or "clang"
    source = str(BEFORE / f"examples/{name}.c")
    subprocess.run([compiler, "-o", str(program), source, *sources, f"-I{tmp_path}", *flags], check=True)
    status, lines = said([str(program), address_of(gateway, role), "car"])
    assert (status, lines) == (1, [f"goodbye 4 {REASON}"])
