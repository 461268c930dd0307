"""The key of a Hello does not stay in the daemon's memory."""

from __future__ import annotations

import hashlib
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from waymark_nav import messages as m
from waymark_nav.core import Endpoint, EndpointSettings
from waymark_nav.frames import Splitter, frame

import conftest
from conftest import Gateway
from scripted import Gateway as Scripted

KEY = hashlib.sha512(b"a key that no program has").digest()


@pytest.fixture(params=[False, True], ids=["without a key", "with another key"])
def listener(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    """A gateway that admits every Hello, or refuses those without its key."""
    folder = tempfile.mkdtemp(prefix="wk-")
    if request.param:
        key = Path(folder, "key")
        key.write_text("the only key of this listener")
        key.chmod(0o600)
        needed = "roles: [vehicle], keys: [{{ name: k, key-file: key }}]"
        monkeypatch.setattr(conftest, "SETTINGS", conftest.SETTINGS.replace("roles: [vehicle]", needed))
    running = Gateway(folder)
    try:
        running.start()
        yield running
        assert running.stop() == 0
    finally:
        if running.process is not None and running.process.poll() is None:
            running.process.kill()
            running.process.communicate()
        shutil.rmtree(folder)


def answer(address: str, hello: bytes, piece: int) -> m.MessageType:
    """Says Hello in pieces; returns the type of the answer."""
    splitter = Splitter()
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(60)
        peer.connect(address.removeprefix("unix:"))
        for start in range(0, len(hello), piece):
            peer.sendall(hello[start : start + piece])
            # Mostly the daemon reads each piece for itself. If it does not, less is tested.
            time.sleep(0.01)
        while True:
            read = peer.recv(65_536)
            assert read, "there was no answer"
            splitter.feed(read)
            for whole in splitter.frames():
                return m.MessageType(whole.type)


def places(gateway: Gateway, content: bytes) -> list[str]:
    """The parts of the daemon's memory that have the content."""
    assert gateway.process is not None
    found = []
    folder = Path(f"/proc/{gateway.process.pid}")
    with (folder / "mem").open("rb", buffering=0) as memory:
        for line in (folder / "maps").read_text().splitlines():
            span, rights, *rest = line.split()
            if not rights.startswith("rw"):
                continue
            start, end = (int(number, 16) for number in span.split("-"))
            memory.seek(start)
            if content in memory.read(end - start):
                found.append(f"{span} {rest[-1]}")
    return found


@pytest.mark.parametrize("piece", [4_096, 40])
@pytest.mark.parametrize("is_for_vehicles", [True, False])
def test_the_key_of_a_hello_is_overwritten_everywhere(listener: Gateway, piece: int, is_for_vehicles: bool) -> None:
    hello = frame(Scripted(Endpoint(EndpointSettings(vehicle="car", credential=KEY))).open()).encode()
    assert KEY in hello
    is_admitted = is_for_vehicles and "key-file" not in conftest.SETTINGS
    address = listener.vehicle if is_for_vehicles else listener.navigation
    assert answer(address, hello, piece) == (m.MessageType.WELCOME if is_admitted else m.MessageType.GOODBYE)
    # The settings stay in memory, so the search finds what is there.
    assert places(listener, f"{listener.folder}/v".encode())
    # The answer may arrive before the daemon has done everything that follows from the Hello.
    end = time.monotonic() + 10
    # The heap writes to the beginning of what is freed.
    while (found := places(listener, KEY[16:48])) and time.monotonic() < end:
        time.sleep(0.1)
    assert found == []
