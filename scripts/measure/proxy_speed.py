#!/usr/bin/env python3
"""proxy_speed.py WAYMARK [--seconds N]: what `waymark proxy` costs, without faults and with a fault that never acts.

Measures, over TCP on the loopback device and in one process of Python: the time from a frame of 200 bytes to its echo, and the rate at
which frames arrive that are sent as fast as possible; first over a direct connection, then through the proxy. WAYMARK is the program.
"""

import argparse
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HEADER = struct.Struct(">2sBBHHIIQ")
FRAME_BYTES = 200
# Of a type that does not exist: no peer answers it.
FRAME = HEADER.pack(b"WM", 1, 1, 0x1E1, 0, FRAME_BYTES - HEADER.size, 0, 0) + bytes(FRAME_BYTES - HEADER.size)
BLOCK = FRAME * 300
ROUNDS = 5_000
FAULT = "faults: [{ link: '*', kind: drop, after: { message: finishGuidance } }]\n"


def listen():
    server = socket.create_server(("127.0.0.1", 0))
    return server, server.getsockname()[1]


def connect(port):
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def receive(connection, count):
    left = count
    while left:
        data = connection.recv(min(left, 1 << 20))
        if not data:
            sys.exit("the connection ended")
        left -= len(data)


def echo(server):
    """Sends each frame back."""
    connection, _ = server.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while data := connection.recv(65_536):
        connection.sendall(data)


def latency(port, server):
    """Microseconds to the echo: the median and the 99th percentile."""
    threading.Thread(target=echo, args=(server,), daemon=True).start()
    with connect(port) as connection:
        times = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            connection.sendall(FRAME)
            receive(connection, FRAME_BYTES)
            times.append((time.perf_counter() - start) * 1e6)
    times = sorted(times[ROUNDS // 10 :])
    return times[len(times) // 2], times[len(times) * 99 // 100]


def throughput(port, server, seconds):
    """Megabytes per second that arrive."""
    total = 0

    def count():
        nonlocal total
        connection, _ = server.accept()
        while data := connection.recv(1 << 20):
            total += len(data)

    reader = threading.Thread(target=count, daemon=True)
    reader.start()
    with connect(port) as connection:
        end = time.perf_counter() + seconds
        start = time.perf_counter()
        while time.perf_counter() < end:
            connection.sendall(BLOCK)
    reader.join()
    return total / (time.perf_counter() - start) / 1e6


def measure(name, port, server, seconds):
    median, high = latency(port, server)
    rate = throughput(port, server, seconds)
    print(f"{name:22} {median:7.0f} us {high:7.0f} us {rate:9.1f} MB/s {rate * 1e6 / FRAME_BYTES:11.0f} frames/s", flush=True)


def through(program, port, arguments):
    """A proxy, and where it listens."""
    command = [program, "proxy", "--listen", "tcp:127.0.0.1:0", "--to", f"tcp:127.0.0.1:{port}", *arguments]
    proxy = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    line = proxy.stdout.readline()
    threading.Thread(target=proxy.stdout.read, daemon=True).start()
    return proxy, int(line.split(",")[0].rsplit(":", 1)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()
    server, port = listen()
    print(f"{'':22} {'median':>10} {'99 %':>10} {'throughput':>14}")
    measure("direct", port, server, options.seconds)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as faults:
        faults.write(FAULT)
        faults.flush()
        for name, arguments in (("proxy", []), ("proxy, waiting fault", ["--faults", faults.name])):
            proxy, entry = through(options.program, port, arguments)
            measure(name, entry, server, options.seconds)
            proxy.terminate()
            proxy.wait()


if __name__ == "__main__":
    main()
