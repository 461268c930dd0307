"""Peers in plain Python for hostile.py: built for speed, on the frames and bodies of Docs/examples/wire.py."""

import os
import select
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Docs/examples"))
from wire import HEADER, Body, chunk, double, number, packed, varint, zigzag  # noqa: F401

HELLO, WELCOME, GOODBYE, PING, PONG, ERROR = 1, 2, 3, 4, 5, 6
OPEN, OPENED, CHANGED, ENDED, SNAPSHOT, SNAPSHOT_END = range(0x10, 0x16)
RECEIPT, REPORT = 0x18, 0x19
PREVIEWS, START, UPDATE_TRIP, ADD_MANEUVERS, ADD_LANES, ADD_SEGMENTS, UPCOMING = range(0x100, 0x107)
ROAD, STATE, TRIP_ESTIMATES, ESTIMATES = 0x108, 0x109, 0x10A, 0x10B
ALERT, SHARE, FINISH, CANCEL = 0x10F, 0x111, 0x112, 0x113
UNKNOWN_PUBLISHED, UNKNOWN = 0x1F0, 0x2F0
WAYPOINT, DESTINATION, WITHDRAW, ANSWER, PROMPT, PROMPT_ANSWER = range(0x200, 0x206)
OUTCOME, CANCEL_NAVIGATION, ALLOW, ROUTE_SOURCE, SETTINGS, ZOOM = range(0x207, 0x20D)
OBSERVE, OBSERVATION_BEGIN, READ_COUNTERS, COUNTERS = 0x300, 0x301, 0x306, 0x307
VEHICLE, CLIENT, OBSERVER = 1, 2, 3
CONTENT = list(range(1, 11))
FRAME_BYTES_MAX = 1_048_576
SKIPPABLE = 1


def frame(kind, body=b"", session=0, sequence=0, flags=0):
    return HEADER.pack(b"WM", 1, flags, kind, 0, len(body), session, sequence) + body


def hello(role, about, token=b"", key=b"", place=b""):
    """A Hello that asks for the longest keepalive, so that an attacker need not answer Pings."""
    return frame(
        HELLO,
        number(1, 2)
        + number(2, 2)
        + number(3, role)
        + about
        + (chunk(8, key) if key else b"")
        + number(9, 600_000)
        + (chunk(11, token) if token else b"")
        + place,
    )


def vehicle_hello(vehicle, endpoint="e", features=(*CONTENT, 11, 12), limits=b"", wanted=False, **more):
    about = chunk(1, vehicle) + chunk(2, endpoint) + packed(3, features)
    about += (chunk(4, limits) if limits else b"") + (number(6, 1) if wanted else b"")
    return hello(VEHICLE, chunk(4, about), **more)


def client_hello(client, features=(*CONTENT, 13, 14), **more):
    return hello(CLIENT, chunk(5, chunk(1, client) + packed(2, features)), **more)


def observer_hello(name="o", **more):
    return hello(OBSERVER, chunk(15, chunk(1, name)), **more)


def observing(state=True, events=True, frames=True, after=0, vehicles=()):
    """An Observe for these, of all vehicles or some."""
    wish = b"".join(chunk(1, vehicle) for vehicle in vehicles)
    return frame(OBSERVE, wish + number(5, state) + number(6, events) + number(7, frames) + number(8, after))


def opening(request, vehicles=None, receipts=0):
    """An OpenSession for vehicles, or for any that asked."""
    which = number(3, 1) if vehicles is None else chunk(2, b"".join(chunk(1, vehicle) for vehicle in vehicles))
    return frame(OPEN, chunk(1, request) + which + (number(4, receipts) if receipts else b""))


def waypoint(name="Town hall", more=b""):
    return chunk(1, double(1, 47.138) + double(2, 9.5241)) + chunk(3, name) + more


def trip(identity="trip", shareable=False, segments=False, more=b""):
    body = chunk(1, identity) + chunk(2, waypoint("Start")) + chunk(3, waypoint()) + more
    return body + (number(7, 1) if shareable else b"") + (number(8, 1) if segments else b"")


def start(generation=1, route=b"", **more):
    return chunk(1, trip(**more)) + number(2, generation) + chunk(3, route)


def maneuvers(first, count):
    return b"".join(chunk(1, number(1, identity) + number(2, 2)) for identity in range(first, first + count))


def line(points):
    """A zigzag line, two bytes a point."""

    def axis(field, begin, steps):
        return packed(field, [zigzag(begin), *(zigzag(steps[index % len(steps)]) for index in range(points - 1))])

    return axis(1, 47_000_000, (40, -39, 37, -41)) + axis(2, 9_500_000, (7, -5, 11, -13, 3))


def segment(identity, points):
    return chunk(1, identity) + chunk(2, waypoint("A")) + chunk(3, waypoint("B")) + chunk(4, line(points))


class Closed(Exception):
    """The gateway has closed the connection."""


class Peer:
    """A blocking connection."""

    # Of all peers of this process.
    sent = 0

    def __init__(self, address, source=None, timeout=30.0, receive_bytes=None):
        if address.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            where = address[5:]
        else:
            self.socket = socket.socket()
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            host, port = address[4:].rsplit(":", 1)
            where = (host, int(port))
            if source:
                self.socket.setsockopt(socket.SOL_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
                self.socket.bind((source, 0))
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        # Why not by settimeout: the connect of a Unix socket would then fail whenever the queue of the listener is full.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(timeout), 0))
        self.socket.connect(where)
        self.socket.settimeout(timeout)
        self.data, self.at, self.token, self.sequence, self.session = b"", 0, b"", 0, 0

    def fileno(self):
        return self.socket.fileno()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)
        Peer.sent += len(data)

    def read(self):
        """The next frame's type, session, sequence number and body."""
        while True:
            if len(self.data) - self.at >= 24:
                _, _, _, kind, _, length, session, sequence = HEADER.unpack_from(self.data, self.at)
                end = self.at + 24 + length
                if len(self.data) >= end:
                    body = self.data[self.at + 24 : end]
                    self.at = end
                    return kind, session, sequence, body
            try:
                news = self.socket.recv(1 << 20)
            except TimeoutError as error:
                raise Closed("no answer") from error
            except OSError as error:
                raise Closed(str(error)) from error
            if not news:
                raise Closed("closed")
            self.data, self.at = self.data[self.at :] + news, 0

    def await_frame(self, *kinds):
        """The next frame of one of these types; a Goodbye or an Error that is not awaited ends the wait."""
        while True:
            kind, session, sequence, body = self.read()
            if kind == ERROR and PONG in kinds and ERROR in kinds:
                continue
            if kind in kinds:
                return kind, session, sequence, Body(body)
            if kind in (GOODBYE, ERROR):
                about = Body(body)
                if kind == GOODBYE:
                    raise Closed(f"Goodbye {about.number(1)}: {about.text(2)}")
                raise Closed(f"Error {about.number(1)}: {about.text(2)} {about.text(3)}")

    def welcome(self):
        _, _, _, body = self.await_frame(WELCOME)
        self.token = body.bytes(5)
        return body

    def greet(self, data):
        self.send(data)
        self.welcome()
        return self

    def open(self, request, vehicles=None, receipts=0):
        self.send(opening(request, vehicles, receipts))
        _, _, _, body = self.await_frame(OPENED)
        self.session, self.sequence = body.number(2), 0
        return body

    def published(self, kind, body=b"", flags=0):
        self.sequence += 1
        return HEADER.pack(b"WM", 1, flags, kind, 0, len(body), self.session, self.sequence) + body

    def publish(self, kind, body=b""):
        self.send(self.published(kind, body))

    def synchronize(self, errors=False):
        """Waits until the gateway has processed everything before."""
        self.send(frame(PING, number(1, 1)))
        self.await_frame(PONG, *([ERROR] if errors else []))


def discard_for_ever(peers):
    """Reads and discards what many peers get, in this process."""
    poll = select.epoll()
    sockets = {}
    for peer in peers:
        os.set_blocking(peer.fileno(), False)
        sockets[peer.fileno()] = peer.socket
        poll.register(peer.fileno(), select.EPOLLIN)
    buffer = bytearray(1 << 18)
    while True:
        for descriptor, _event in poll.poll():
            try:
                count = sockets[descriptor].recv_into(buffer)
            except BlockingIOError:
                continue
            except OSError:
                count = 0
            if count == 0:
                poll.unregister(descriptor)


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def now():
    return time.clock_gettime(time.CLOCK_MONOTONIC)
