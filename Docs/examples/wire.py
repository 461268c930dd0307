"""The Waymark protocol's frames and bodies in plain Python, for cluster.py, navigate.py and observe.py.

Written from Docs/protocol.md and Protos/ alone, without packages: bodies are built and read by hand.
"""

import contextlib
import functools
import os
import select
import socket
import struct
import sys
import time

HEADER = struct.Struct(">2sBBHHIIQ")  # magic, version, flags, type, key, body length, session, sequence
HELLO, WELCOME, GOODBYE, PING, PONG, ERROR = 1, 2, 3, 4, 5, 6
STATE, RETAINED = 8, 16
EXTENSION = 0x1E0
# The extension of these examples: a gauge, which the key names, and its percentage as the only byte.
GAUGES = "org.example.gauges"
KNOWN = {*range(0x1, 0x7), *range(0x10, 0x1B), *range(0x100, 0x114), EXTENSION, *range(0x200, 0x211), *range(0x300, 0x308)}


# Bodies are protobuf: each field is a key (field number and kind), then a varint, eight bytes, or a length and bytes.


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value):
    return value << 1 if value >= 0 else (-value << 1) - 1


def number(field, value):
    return varint(field << 3) + varint(value)


def double(field, value):
    return varint(field << 3 | 1) + struct.pack("<d", value)


def chunk(field, data):
    """A string, bytes, or a message within a message."""
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def packed(field, values):
    return chunk(field, b"".join(varint(value) for value in values))


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


class Body:
    """The fields of a message; those that were not sent read as 0, empty, or a message without fields."""

    def __init__(self, data):
        self.fields, at = {}, 0
        while at < len(data):
            key, at = read_varint(data, at)
            if key & 7 == 0:
                value, at = read_varint(data, at)
            else:
                size, at = {1: (8, at), 5: (4, at)}.get(key & 7) or read_varint(data, at)
                value, at = data[at : at + size], at + size
            if at > len(data):
                raise ValueError("a field is longer than its message")
            self.fields.setdefault(key >> 3, []).append(value)

    def has(self, field):
        return field in self.fields

    def number(self, field):
        return self.fields.get(field, [0])[-1]

    def bytes(self, field):
        return self.fields.get(field, [b""])[-1]

    def text(self, field):
        return self.bytes(field).decode()

    def texts(self, field):
        return [data.decode() for data in self.fields.get(field, [])]

    def body(self, field):
        return Body(self.bytes(field))

    def bodies(self, field):
        return [Body(data) for data in self.fields.get(field, [])]

    def numbers(self, field):
        """A repeated number, packed or not."""
        out = []
        for value in self.fields.get(field, []):
            if isinstance(value, int):
                out.append(value)
                continue
            at = 0
            while at < len(value):
                item, at = read_varint(value, at)
                out.append(item)
        return out


class Frame:
    def __init__(self, header, data):
        _, _, self.flags, self.type, self.key, _, self.session, self.sequence = header
        self.data = data

    @functools.cached_property
    def body(self):
        return Body(self.data if self.type in KNOWN else b"")  # a newer gateway may have more types


class Peer:
    """One role's program: a connection, its keepalive, and commands from standard input, one a line.

    Subclasses have `hello(token)`, `welcomed(body)`, `received(frame)` and `command(words)`, and may have `refused(body)`.
    """

    def __init__(self, address, receive_frame_bytes_max=0):
        self.address = address
        self.receive_frame_bytes_max = receive_frame_bytes_max  # the largest frame that it takes; 0: any
        self.token = b""
        self.typed = b""

    def connect(self):
        if self.address.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(self.address[5:])
        else:
            host, port = self.address.removeprefix("tcp:").rsplit(":", 1)
            self.socket = socket.create_connection((host.strip("[]"), int(port)))
        self.active, self.keepalive, self.heard, self.data = False, 10.0, time.monotonic(), b""
        self.send(HELLO, self.hello(self.token))

    def send(self, kind, body=b"", session=0, sequence=0, flags=0, key=0):
        self.socket.sendall(HEADER.pack(b"WM", 1, flags, kind, key, len(body), session, sequence) + body)
        self.sent = time.monotonic()

    def run(self):
        self.connect()
        while True:
            sources = [self.socket, 0] if self.active else [self.socket]  # nothing is sent before Welcome
            due = self.sent + self.keepalive / 2 if self.active else self.heard + 3 * self.keepalive
            ready, _, _ = select.select(sources, [], [], max(0.0, due - time.monotonic()))
            if time.monotonic() > self.heard + 3 * self.keepalive:
                sys.exit("the gateway is silent")
            if self.active and time.monotonic() >= self.sent + self.keepalive / 2:
                self.send(PING, number(1, 1))
            if self.socket in ready:
                self.read()
            if 0 in ready:
                self.typed += os.read(0, 4096) or b"quit\n"
            while self.active and b"\n" in self.typed:
                line, _, self.typed = self.typed.partition(b"\n")
                self.obey(line.decode().split())

    def read(self):
        try:
            news = self.socket.recv(65536)
        except ConnectionResetError:
            news = b""
        if not news:
            sys.exit("the gateway closed the connection")
        self.heard = time.monotonic()
        self.data += news
        while len(self.data) >= HEADER.size:
            header = HEADER.unpack_from(self.data)
            if header[:2] != (b"WM", 1):
                sys.exit("this is not the Waymark protocol")
            end = HEADER.size + header[5]
            if 0 < self.receive_frame_bytes_max < end:
                sys.exit("a frame is longer than agreed")
            if len(self.data) < end:
                return
            data, self.data = self.data[HEADER.size : end], self.data[end:]
            # A body that is not what its type says is ignored.
            with contextlib.suppress(IndexError, ValueError, struct.error):
                self.handle(Frame(header, data))

    def refused(self, body):
        """An Error of the gateway."""

    def handle(self, frame):
        if frame.type == WELCOME:
            self.active = True
            self.token = frame.body.bytes(5)
            self.keepalive = frame.body.number(3) / 1000
            say("resumed" if frame.body.number(6) else "connected")
            self.welcomed(frame.body)
        elif frame.type == PING:
            self.send(PONG, frame.data)
        elif frame.type == ERROR:
            say(f"error {frame.body.number(1)} {frame.body.text(2)}: {frame.body.text(3)}")
            self.refused(frame.body)
        elif frame.type == GOODBYE:
            say(f"goodbye {frame.body.number(1)} {frame.body.text(2)}".rstrip())
            sys.exit(1)
        else:
            self.received(frame)

    def obey(self, words):
        if words == ["quit"]:
            self.send(GOODBYE, number(1, 1))
            sys.exit(0)
        elif words == ["cut"]:  # as if the network had failed: no Goodbye
            self.socket.close()
            self.connect()
        elif words and not self.command(words):
            say("unknown command")


def say(line):
    print(line, flush=True)
