"""What the attacks of hostile.py have in common: their table, the gateway that they attack, and crowds of peers."""

import itertools
import os
import signal
import sys

from hostile_peer import START, Peer, chunk, client_hello, discard_for_ever, now, segment, start, vehicle_hello

ATTACKS = {}


def attack(text, **options):
    """Adds a row. Options: `daemon` (settings as YAML), `descriptors`, `stderr` ("unread"), `newcomer` ("named" or "any"), `pauses`: the
    victim's client reads only now and then."""

    def add(function):
        name = function.__name__.replace("_", "-")
        ATTACKS[name] = {"text": text, "run": function, **options}
        return function

    return add


class Target:
    """A gateway, seen from the process of an attacker."""

    def __init__(self, addresses, source, seconds, scale):
        self.address, self.tcp, self.tcp_with_key = addresses
        self.source, self.seconds, self.scale = source, seconds, scale
        self.end = None
        self.children = []
        self.notes = {}
        self.unique = itertools.count()

    def running(self):
        if self.end is None:
            self.end = now() + self.seconds
        return now() < self.end

    def count(self, full, least=1):
        """A number of things, fewer in the short form."""
        return max(least, int(full * self.scale))

    def note(self, name, value):
        self.notes[name] = value

    def peer(self, **options):
        source = None if self.address.startswith("unix:") else self.source
        return Peer(self.address, source=source, **options)

    def client(self, name=None, **options):
        return self.peer().greet(client_hello(name or f"attacker-{next(self.unique)}", **options))

    def vehicles(self, count, endpoints=1, name="v", receive_bytes=None, each=None, **options):
        """Connects `count` vehicles with `endpoints` endpoints each."""
        peers = []
        for index in range(count * endpoints):
            vehicle, endpoint = divmod(index, endpoints)
            peer = self.peer(receive_bytes=receive_bytes)
            more = each(index) if each else {}
            peer.send(vehicle_hello(f"{name}{vehicle}", f"e{endpoint}", **{**options, **more}))
            peers.append(peer)
        for peer in peers:
            peer.welcome()
        return peers

    def drain(self, peers):
        """Another process reads and discards what these peers get."""
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            try:
                discard_for_ever(peers)
            finally:
                os._exit(0)
        self.children.append(child)
        return peers

    def finish(self):
        for child in self.children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def names(count, prefix="v"):
    return [f"{prefix}{index}" for index in range(count)]


def long_route(points):
    """Two segments: a route of two bytes a point."""
    return chunk(3, segment("leg-1", points // 2)) + chunk(3, segment("leg-2", points // 2))


def bursts(target, client, count, frames, **options):
    """Sends what `frames` returns, `count` frames in one write, each when the gateway has processed the one before."""
    while target.running():
        client.send(b"".join(frames() for _ in range(count)))
        client.synchronize(**options)


def guide_everything(target, count, text="all", **options):
    vehicles = target.drain(target.vehicles(count, wanted=True, **options))
    client = target.client()
    client.open(text)
    return vehicles, client


def crowd(target, vehicles=128, endpoints=16, **options):
    count = target.count(vehicles, 8)
    target.drain(target.vehicles(count, endpoints, **options))
    client = target.client()
    client.open("crowd", names(count))
    client.publish(START, start())
    client.synchronize()
    return client
