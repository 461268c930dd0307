"""The command line ends at SIGINT and SIGTERM, although what it waits for never comes. `scripts/measure/signals.py` measures how fast."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import pytest

from conftest import Gateway

CLUSTER = [sys.executable, "-m", "waymark_nav", "cluster", "--json", "--id", "car", "--watch"]
SIGNALS = [signal.SIGINT, signal.SIGTERM]


def start(address: str, *options: str) -> subprocess.Popen[str]:
    command = [*CLUSTER, "--connect", address, *options]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(process: subprocess.Popen[str], number: signal.Signals) -> None:
    process.send_signal(number)
    process.communicate()
    assert process.returncode == 128 + number


@pytest.fixture
def folder() -> Iterator[str]:
    """A folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="wn-") as path:
        yield path


@pytest.fixture
def silent(folder: str) -> Iterator[socket.socket]:
    """A gateway that accepts connections and says nothing."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/g")
        listener.listen()
        yield listener


@pytest.mark.parametrize("number", SIGNALS)
def test_a_cluster_ends_that_waits_for_a_gateway(number: signal.Signals, folder: str) -> None:
    cluster = start(f"unix:{folder}/nothing", "--wait", "600")
    assert cluster.stderr is not None
    for line in cluster.stderr:
        if line.startswith("waiting up to 600 seconds"):
            break
    end(cluster, number)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_cluster_ends_whose_hello_is_not_answered(number: signal.Signals, silent: socket.socket) -> None:
    cluster = start(f"unix:{silent.getsockname()}")
    connection, _ = silent.accept()
    assert connection.recv(1)
    end(cluster, number)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_cluster_ends_whose_gateway_stands_still(number: signal.Signals, folder: str) -> None:
    gateway = Gateway(folder)
    gateway.start()
    try:
        cluster = start(gateway.vehicle)
        assert cluster.stdout is not None
        for line in cluster.stdout:
            if '"connected"' in line:
                break
        assert gateway.process is not None
        gateway.process.send_signal(signal.SIGSTOP)
        end(cluster, number)
        gateway.process.send_signal(signal.SIGCONT)
    finally:
        gateway.stop()


def test_a_cluster_that_waited_connects(folder: str) -> None:
    gateway = Gateway(folder)
    cluster = start(gateway.vehicle, "--wait", "600")
    assert cluster.stderr is not None and cluster.stdout is not None
    for line in cluster.stderr:
        if line.startswith("waiting up to 600 seconds"):
            break
    gateway.start()
    try:
        assert any('"connected"' in line for line in cluster.stdout)
        end(cluster, signal.SIGTERM)
    finally:
        gateway.stop()
