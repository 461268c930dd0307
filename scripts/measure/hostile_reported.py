"""The attacks of hostile.py that were reported: what one peer can make expensive for others.

Each is a generator: what is before its `yield` prepares the attack, what is behind it runs until `target.running()` is false.
All stay within the protocol and the default limits of the gateway.
"""

import contextlib
import itertools
import random
import time

from hostile_peer import (
    ADD_MANEUVERS,
    CANCEL,
    DESTINATION,
    ENDED,
    ERROR,
    FRAME_BYTES_MAX,
    GOODBYE,
    HEADER,
    OPENED,
    ROAD,
    SHARE,
    START,
    UPCOMING,
    WAYPOINT,
    WITHDRAW,
    Closed,
    Peer,
    chunk,
    client_hello,
    frame,
    now,
    number,
    opening,
    packed,
    start,
    vehicle_hello,
    waypoint,
)
from hostile_target import attack, bursts, crowd, guide_everything, long_route, names


def jump_setup(target):
    def limits(index):
        return {"limits": number(7, 2_048 + index)}

    target.drain(target.vehicles(2, 16, each=limits))
    client = target.client()
    client.open("jump", names(2))
    client.publish(START, start(1, chunk(1, number(1, 1) + number(2, 2))))
    part, parts = target.count(4_000, 1_000), 4
    for index in range(parts):
        client.publish(
            ADD_MANEUVERS,
            number(1, 1)
            + b"".join(chunk(2, number(1, 2 + identity) + number(2, 2)) for identity in range(index * part, (index + 1) * part)),
        )
    client.synchronize()
    ends = itertools.cycle([number(1, 1) + packed(2, [part * parts // 2]), number(1, 1) + packed(2, [1])])
    return client, ends


@attack("UpcomingManeuvers that jump, 32 profiles with slots, 200 in one read")
def jump(target):
    client, ends = jump_setup(target)
    yield
    bursts(target, client, target.count(200, 20), lambda: client.published(UPCOMING, next(ends)))


@attack("the same without waiting for the gateway")
def jump_flood(target):
    client, ends = jump_setup(target)
    yield
    while target.running():
        client.send(b"".join(client.published(UPCOMING, next(ends)) for _ in range(400)))


def awaited(target, prefix="w", count=196):
    """Sessions of one client that wait for 256 vehicles each."""
    client = target.client()
    vehicles = names(256 * target.count(count), prefix)
    for first in range(0, len(vehicles), 256):
        client.send(opening(f"o{first}", vehicles[first : first + 256]))
    for _ in range(0, len(vehicles), 256):
        client.await_frame(OPENED, ERROR)
    return client


@attack("a Hello of a client with 256 sessions for any vehicle that asked, 49 000 vehicles known")
def any_hello(target):
    holder = awaited(target, count=190)
    client = target.client("any")
    for index in range(target.count(256)):
        client.send(opening(f"a{index}"))
    for _ in range(target.count(256)):
        client.await_frame(OPENED)
    yield holder
    while target.running():
        token = client.token
        client.close()
        client = target.peer().greet(client_hello("any", token=token))
        client.synchronize()


@attack("OpenSession for any vehicle that asked, ended at once, 49 000 vehicles known")
def any_open(target):
    holder = awaited(target, count=190)
    client = target.client()
    yield holder
    while target.running():
        client.send(b"".join(opening(f"{next(target.unique)}") for _ in range(100)))
        opened = [client.await_frame(OPENED)[3].number(2) for _ in range(100)]
        client.send(b"".join(frame(CANCEL, b"", session, 1) for session in opened))


@attack("CancelGuidance with 8 000 vehicles and 8 open shares")
def cancel_shares(target):
    _, client = guide_everything(target, target.count(8_000, 100))

    def share_all():
        client.publish(START, start(shareable=True))
        for index in range(8):
            client.publish(SHARE, chunk(1, f"s{index}") + chunk(2, waypoint()))
            client.synchronize()

    share_all()
    yield
    while target.running():
        client.publish(CANCEL)
        try:
            client.await_frame(ENDED)
            client.open(f"again-{next(target.unique)}")
        except (Closed, OSError):
            client = target.client()
            client.open("again")
        share_all()


def opening_setup(target, endpoints):
    vehicles = target.count(256, 16)
    target.drain(target.vehicles(vehicles, endpoints))
    client = target.client("opener")
    client.open("first", names(vehicles))
    return client, vehicles


@attack("OpenSession of 256 vehicles with 4 096 endpoints, repeated with the same request id")
def open_repeat(target):
    client, vehicles = opening_setup(target, 16)
    again = opening("first") * target.count(1_500, 20)
    yield
    while target.running():
        try:
            client.send(again)
            client.synchronize()
        except (Closed, OSError):
            # Too many answers waited for it. Without its token it starts anew, which ends its session.
            client = target.client("opener")
            client.open("first", names(vehicles))


@attack("OpenSession of 256 vehicles with 4 096 endpoints, each replaces the one before")
def open_replace(target):
    client, vehicles = opening_setup(target, 16)
    yield
    while target.running():
        try:
            client.send(b"".join(opening(f"{next(target.unique)}", names(vehicles)) for _ in range(40)))
            client.synchronize()
        except (Closed, OSError):
            client = target.client("opener")


@attack("OpenSession of 256 awaited vehicles, each replaces the one before, 55 KB in one read")
def open_awaited(target):
    client = target.client()
    vehicles = names(256, "")
    yield
    while target.running():
        client.send(b"".join(opening(f"{next(target.unique)}", vehicles) for _ in range(target.count(45, 5))))
        client.synchronize()


@attack("destination requests with 11 000 clients, requested and withdrawn")
def destinations(target):
    clients = []
    for index in range(target.count(11_000, 50)):
        clients.append(target.peer())
        clients[-1].send(client_hello(f"d{index}"))
    for client in clients:
        client.welcome()
    target.drain(clients)
    (vehicle,) = target.vehicles(1)
    yield
    while target.running():
        requests = [f"{next(target.unique)}" for _ in range(300)]
        vehicle.send(
            b"".join(
                frame(DESTINATION, chunk(1, request) + chunk(2, waypoint("T"))) + frame(WITHDRAW, chunk(1, request)) for request in requests
            )
        )
        vehicle.synchronize()


@attack("many frames of one read to 2 048 endpoints")
def fan_out(target):
    client = crowd(target)
    texts = itertools.cycle([chunk(1, "a"), chunk(1, "b")])
    yield
    while target.running():
        client.send(b"".join(client.published(ROAD, next(texts)) for _ in range(1_000)))


@attack("one unfinished frame of 1 MiB for each of 2 000 connections")
def unfinished(target):
    vehicles = target.vehicles(target.count(2_000, 20))
    part = HEADER.pack(b"WM", 1, 0, WAYPOINT, 0, FRAME_BYTES_MAX - 24, 0, 0) + bytes(FRAME_BYTES_MAX - 25)
    yield
    for vehicle in vehicles:
        if not target.running():
            break
        vehicle.send(part)
    while target.running():
        time.sleep(0.05)


@attack("1 000 endpoints that do not read get a snapshot of 1 MB")
def snapshot_unread(target):
    client = target.client()
    vehicles = target.count(64, 4)
    client.open("big", names(vehicles))
    client.publish(START, start(route=long_route(500_000), segments=True))
    client.synchronize()
    client.publish(ROAD, chunk(1, "road"))
    yield
    peers = target.vehicles(vehicles, 16, receive_bytes=4_096)
    target.note("endpoints", len(peers))
    while target.running():
        client.publish(ROAD, chunk(1, f"{next(target.unique)}"))
        time.sleep(0.05)


@attack("196 OpenSessions for 256 vehicles each take all 50 000 vehicles")
def vehicles_all(target):
    client = target.client()
    yield
    for index in range(target.count(196)):
        client.send(opening(f"o{index}", names(256, f"w{index}-")))
    while target.running():
        time.sleep(0.05)


@attack("40 clients with 256 sessions each take all 10 000 sessions")
def sessions_all(target):
    clients = [target.client() for _ in range(target.count(40))]
    yield
    for client in clients:
        client.send(b"".join(opening(f"{index}") for index in range(256)))
    while target.running():
        time.sleep(0.05)


@attack("12 000 silent TCP connections, opened again when they are closed")
def tcp_silent(target):
    peers = []

    def fill():
        try:
            peers.append(Peer(target.tcp, source=target.source, timeout=1))
        except OSError:
            time.sleep(0.01)
        if len(peers) > target.count(12_000, 100):
            peers.pop(0).close()

    for _ in range(target.count(12_000, 100)):
        fill()
    yield
    while target.running():
        fill()


@attack("12 000 vehicles over TCP that are silent after their Hello, with a keepalive of ten minutes")
def tcp_idle(target):
    peers = []
    yield
    for index in range(target.count(12_000, 100)):
        try:
            peers.append(Peer(target.tcp, source=target.source, timeout=5))
            peers[-1].send(vehicle_hello(f"idle{index}"))
        except OSError:
            break
    target.note("connected", len(peers))
    target.end = now() + target.seconds
    while target.running():
        time.sleep(0.05)


@attack("32 endpoints with odd limits join another user's session for any vehicle that asked", newcomer="any")
def profiles(target):
    def odd(index):
        return {"limits": number(1, 100 + index)}

    yield
    target.drain(target.vehicles(2, 16, name="odd", wanted=True, each=odd))
    while target.running():
        time.sleep(0.05)


def guesses(target, address, data):
    """Connects 50 peers at a time, and counts those whose guess was checked: they get a Goodbye."""
    count = checked = 0
    while target.running():
        peers = []
        with contextlib.suppress(OSError):
            for _ in range(50):
                peers.append(Peer(address, source=target.source, timeout=2))
                peers[-1].send(data())
                count += 1
        for peer in peers:
            with contextlib.suppress(Closed):
                checked += peer.read()[0] == GOODBYE
            peer.close()
    target.note("guesses", count)
    target.note("checked", checked)


@attack("wrong resumption tokens for the victim's vehicle")
def tokens(target):
    yield
    guesses(target, target.tcp, lambda: vehicle_hello("victim", "cluster", token=random.randbytes(16)))


@attack("wrong keys")
def keys(target):
    yield
    guesses(target, target.tcp_with_key, lambda: vehicle_hello("guess", key=random.randbytes(16)))
