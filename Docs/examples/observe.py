#!/usr/bin/env python3
"""An observer in plain Python: holds the gateway's records, and prints how they change, what happens and what crosses.

    python3 observe.py unix:/run/user/1000/waymark/observe.sock
    python3 observe.py unix:/run/waymark/observe.sock car     only what concerns the vehicle car

Commands, one a line: counters, cut (lose the connection and come back), quit.
"""

import sys

from wire import HEADER, Peer, chunk, number, say

OBSERVE, BEGIN, RECORDS, EVENT, FRAMES, GAP, READ_COUNTERS, COUNTERS = range(0x300, 0x308)
VISIBILITY = ["nothing", "state", "content", "everything"]
PHASES = ["", "preview", "active", "paused", "ended"]
KINDS = {
    1: "admitted",
    2: "resumed",
    3: "closing",
    4: "departed",
    5: "rejected",
    6: "hello refused",
    10: "session opened",
    11: "vehicles refused",
    12: "joined",
    13: "left",
    14: "started",
    15: "paused",
    16: "continued",
    17: "rerouted",
    18: "suspended",
    19: "restored",
    20: "session ended",
    40: "stop requested",
    41: "drive requested",
    42: "request ended",
}


def frames_in(data):
    """The types of whole frames, and the numbers of those that have one."""
    found, at = [], 0
    while at < len(data):
        _, _, _, kind, _, size, _, sequence = HEADER.unpack_from(data, at)
        found.append(f"0x{kind:04X}" + (f" number {sequence}" if sequence else ""))
        at += HEADER.size + size
    return found


class Observer(Peer):
    def __init__(self, address, vehicle=""):
        super().__init__(address)
        self.vehicle = vehicle
        self.number = 0  # of the last entry
        self.forget()

    def forget(self):
        self.vehicles, self.clients, self.sessions, self.requests, self.retained = {}, {}, {}, {}, {}
        self.audiences = {}  # their last members

    def hello(self, token):
        about = chunk(15, chunk(1, "observe.py"))
        return number(1, 1) + number(2, 1) + number(3, 3) + (chunk(11, token) if token else b"") + about

    def welcomed(self, body):
        say(f"sees {VISIBILITY[body.number(14)]}")
        self.number = self.number if body.number(6) else 0
        wish = chunk(1, self.vehicle) if self.vehicle else b""
        self.send(OBSERVE, wish + number(5, 1) + number(6, 1) + number(7, 1) + number(8, self.number))

    def received(self, frame):
        body = frame.body
        if frame.type == BEGIN:
            self.number = body.number(2)
            if body.number(1) == 1:
                self.forget()
            say(f"{'full' if body.number(1) == 1 else 'missed'} from number {self.number}")
        elif frame.type == GAP:
            self.number = body.number(2) - 1
            say(f"{body.number(1)} entries were dropped")
        elif frame.type == COUNTERS:
            for counter in body.bodies(3):
                say(f"counter {counter.number(1)} label {counter.number(2)}: {counter.number(3)}")
        elif frame.type in (RECORDS, EVENT, FRAMES):
            self.count(body.number(1))
            {RECORDS: self.apply, EVENT: self.tell_event, FRAMES: self.tell_frames}[frame.type](body)

    def count(self, entry):
        """Each entry has the number after that of the one before; parts of the present state have none."""
        if entry and entry != self.number + 1:
            sys.exit(f"entry {entry} follows {self.number}")
        self.number = entry or self.number

    def apply(self, body):
        def name(request):
            return f"{request.text(2)} of {request.text(1)}"

        self.replace("vehicle", self.vehicles, {each.text(1): each for each in body.bodies(3)}, body.texts(8))
        now = {}
        for vehicle, record in self.vehicles.items():
            for endpoint in record.bodies(7):
                now.setdefault(endpoint.number(8), []).append(f"{vehicle}/{endpoint.text(1)}")
        self.audiences.update(now)
        self.replace("client", self.clients, {each.text(1): each for each in body.bodies(4)}, body.texts(9))
        self.replace("session", self.sessions, {each.number(1): each for each in body.bodies(5)}, body.numbers(10))
        requests = {name(each.body(1)): each for each in body.bodies(6)}
        self.replace("request", self.requests, requests, [name(each) for each in body.bodies(11)])
        for part in body.bodies(7):
            kept = [] if part.number(4) else self.retained.get(part.number(1), [])
            self.retained[part.number(1)] = kept + frames_in(part.bytes(2))
            say(f"session {part.number(1)} retains {', '.join(self.retained[part.number(1)])}")
        if body.number(12):
            say(f"holds {len(self.vehicles)} vehicles, {len(self.clients)} clients, {len(self.sessions)} sessions")

    def replace(self, kind, held, records, gone):
        for key in gone:
            if held.pop(key, None):  # it may be gone before it was told
                say(f"{kind} {key} is gone")
        for key, record in records.items():
            held[key] = record
            say(f"{kind} {key}" + {"vehicle": self.about_vehicle, "session": self.about_session}.get(kind, lambda _: "")(record))

    @staticmethod
    def about_vehicle(record):
        names = [endpoint.text(1) + ("" if endpoint.number(2) else " (away)") for endpoint in record.bodies(7)]
        return f": {', '.join(names) or 'no endpoint'}" + (f", in session {record.number(2)}" if record.number(2) else "")

    @staticmethod
    def about_session(record):
        return f": {record.text(2)}, {PHASES[record.number(5)]}{', suspended' if record.number(7) else ''}"

    def tell_event(self, body):
        about = body.texts(7) + body.texts(8) + ([f"session {body.number(9)}"] if body.number(9) else [])
        about = about or [f"connection {body.number(6)}"]  # of a peer without a record: an observer, or one that was refused
        code = f" code {body.number(4)}" if body.number(4) else ""
        say(f"event {KINDS.get(body.number(3), body.number(3))}{code}: {', '.join(about)} {body.text(5)}".rstrip())

    def tell_frames(self, body):
        rejected = ", rejected" if body.number(8) else ""
        way = "from" if body.number(3) == 1 else "to"
        say(f"{way} {self.peers(body.number(4), body.number(5))}: {', '.join(frames_in(body.bytes(9)))}{rejected}")

    def peers(self, connection, audience):
        """Who has this connection, or is in this audience."""
        if audience:
            return " ".join(self.audiences.get(audience, ["an audience"]))
        for client, record in self.clients.items():
            if record.number(2) == connection:
                return client
        for vehicle, record in self.vehicles.items():
            for endpoint in record.bodies(7):
                if endpoint.number(2) == connection:
                    return f"{vehicle}/{endpoint.text(1)}"
        return f"connection {connection}"

    def command(self, words):
        if words == ["counters"]:
            self.send(READ_COUNTERS)
        return words == ["counters"]


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    Observer(*sys.argv[1:]).run()
