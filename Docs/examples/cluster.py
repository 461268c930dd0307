#!/usr/bin/env python3
"""A vehicle endpoint in plain Python: connects, says Hello, prints what it is sent.

    python3 cluster.py tcp:127.0.0.1:7227 car
    python3 cluster.py unix:/run/user/1000/waymark/vehicle.sock car

Written from Docs/protocol.md and Protos/ alone, without packages: bodies are built and read by hand.
"""
import socket
import struct
import sys

HEADER = struct.Struct(">2sBBHHIIQ")  # magic, version, flags, type, reserved, body length, session, sequence
HELLO, WELCOME, GOODBYE, PING, PONG = 1, 2, 3, 4, 5


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def chunk(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def frame(kind, body):
    return HEADER.pack(b"WM", 1, 0, kind, 0, len(body), 0, 0) + body


def hello(vehicle, endpoint):
    features = b"".join(varint(feature) for feature in range(1, 11))  # everything that is content
    about = chunk(1, vehicle.encode()) + chunk(2, endpoint.encode()) + chunk(3, features) + number(6, 1)
    return number(1, 1) + number(2, 1) + number(3, 1) + chunk(4, about)


def connect(address):
    if address.startswith("unix:"):
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(address[5:])
        return peer
    host, port = address[4:].rsplit(":", 1)
    return socket.create_connection((host.strip("[]"), int(port)))


def exactly(stream, count):
    data = stream.read(count)
    if len(data) < count:
        sys.exit("the gateway closed the connection")
    return data


def main(address, vehicle):
    peer = connect(address)
    peer.sendall(frame(HELLO, hello(vehicle, "python")))
    stream = peer.makefile("rb")
    while True:
        magic, version, flags, kind, _, length, session, sequence = HEADER.unpack(exactly(stream, HEADER.size))
        if (magic, version) != (b"WM", 1):
            sys.exit("this is not the Waymark protocol")
        body = exactly(stream, length)
        print(f"type 0x{kind:04X} session {session} sequence {sequence} flags {flags} body {length} bytes", flush=True)
        if kind == PING:
            peer.sendall(frame(PONG, body))
        if kind == GOODBYE:
            return


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
