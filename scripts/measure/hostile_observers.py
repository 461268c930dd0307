"""The attacks of hostile.py by observers. The gateway admits eight of one user."""

import itertools
import time

from hostile_peer import (
    OBSERVATION_BEGIN,
    OPENED,
    READ_COUNTERS,
    ROAD,
    SETTINGS,
    Closed,
    chunk,
    frame,
    number,
    observer_hello,
    observing,
    opening,
)
from hostile_target import attack, bursts, crowd, guide_everything, names

COUNT = 8


def observers(target, receive_bytes=None, wish=b""):
    """Observers that want `wish`; with few `receive_bytes` they never read, else another process reads for them."""
    peers = [target.peer(receive_bytes=receive_bytes).greet(observer_hello()) for _ in range(COUNT)]
    for peer in peers:
        peer.send(wish)
    return peers if receive_bytes else target.drain(peers)


def known_vehicles(target):
    """A state that takes long to tell."""
    return guide_everything(target, target.count(8_000, 100))


def publish(target, client):
    texts = itertools.cycle([chunk(1, "a"), chunk(1, "b")])
    bursts(target, client, target.count(500, 20), lambda: client.published(ROAD, next(texts)))


@attack("8 observers of everything that never read, beside publications to 512 endpoints")
def observers_unread(target):
    client = crowd(target, 32)
    peers = observers(target, 4_096, observing())
    yield peers
    publish(target, client)


@attack("8 observers of everything that read, beside publications to 512 endpoints")
def observers_read(target):
    client = crowd(target, 32)
    observers(target, wish=observing())
    yield
    publish(target, client)


@attack("8 observers ask for everything again and again, and read it, 8 000 vehicles in a session")
def observe_again(target):
    known_vehicles(target)
    peers = observers(target)
    data = observing() * target.count(2_000, 100)
    yield
    while target.running():
        for peer in peers:
            peer.send(data)


@attack("the same of observers that never read")
def observe_again_unread(target):
    known_vehicles(target)
    peers = observers(target, 4_096)
    for peer in peers:
        peer.socket.settimeout(0.2)
    data = observing() * target.count(2_000, 100)
    yield peers
    for peer in itertools.cycle(peers):
        if not target.running():
            break
        try:
            peer.send(data)
        except OSError:
            time.sleep(0.01)


@attack("ReadCounters of 8 observers in large writes, 4 864 sessions open")
def counters(target):
    for _ in range(target.count(19)):
        holder = target.client()
        holder.send(b"".join(opening(f"{index}") for index in range(256)))
        for _ in range(256):
            holder.await_frame(OPENED)
        target.drain([holder])
    peers = observers(target)
    data = frame(READ_COUNTERS) * target.count(2_500, 100)
    yield
    while target.running():
        for peer in peers:
            peer.send(data)


@attack("more observers than one user may have connect and are cut, again and again, 8 000 vehicles in a session")
def observers_many(target):
    known_vehicles(target)
    admitted = refused = 0
    yield
    while target.running():
        peers = [target.peer(timeout=5) for _ in range(2 * COUNT)]
        for peer in peers:
            peer.send(observer_hello() + observing())
        for peer in peers:
            try:
                peer.welcome()
                admitted += 1
            except Closed:
                refused += 1
            peer.close()
    target.note("admitted", admitted)
    target.note("refused", refused)


@attack("an observer resumes again and again behind the oldest of 100 000 entries, which it was told before")
def observer_resumes(target):
    peer = target.peer().greet(observer_hello())
    peer.send(observing(state=False))
    peer.await_frame(OBSERVATION_BEGIN)
    (vehicle,) = target.vehicles(1)
    for _ in range(target.count(50)):
        vehicle.send(b"".join(frame(SETTINGS, number(5, index % 2)) for index in range(2_000)))
        vehicle.synchronize()
        peer.synchronize()
    yield
    while target.running():
        token = peer.token
        peer.close()
        peer = target.peer().greet(observer_hello(token=token))
        peer.send(observing(state=False, after=1))
        peer.await_frame(OBSERVATION_BEGIN)


@attack("8 observers that want 64 vehicles by name, beside publications to 512 endpoints")
def observers_filter(target):
    client = crowd(target, 32)
    for index, peer in enumerate(observers(target)):
        peer.send(observing(vehicles=[f"v{index}", *names(63, "other-")]))
    yield
    publish(target, client)
