#!/usr/bin/env python3
"""A navigation client in plain Python: guides one vehicle along a small route, and answers its requests.

    python3 navigate.py unix:/run/user/1000/waymark/navigation.sock car

Commands, one a line: start, step (drive on a little), gauge NUMBER PERCENT (a state of an extension), pause, resume, finish, cancel,
cut (lose the connection and come back), quit. A waypoint request is answered with estimates; when it is accepted, the route changes.
A destination request is accepted and driven to.
"""

import sys
from itertools import pairwise

from wire import EXTENSION, GAUGES, RETAINED, STATE as IS_STATE, Peer, chunk, double, number, packed, say, zigzag

OPEN_SESSION, SESSION_OPENED, VEHICLE_CHANGED, SESSION_ENDED, ACKNOWLEDGEMENT = *range(0x10, 0x14), 0x1A
START, UPCOMING, LANES, ROAD, STATE = 0x101, 0x106, 0x107, 0x108, 0x109
ESTIMATES, PAUSE, RESUME, FINISH, CANCEL = 0x10B, 0x10D, 0x10E, 0x112, 0x113
WAYPOINT, DESTINATION, ANSWER, OUTCOME = 0x200, 0x201, 0x203, 0x207
ESTIMATED, ACCEPT, ACCEPTED, REROUTING, WAYPOINT_MODIFIED = 1, 3, 1, 4, 4
PROVIDED = [1, 2, 4, 5, 13, 14, 16]  # maneuvers, lanes, road name, segments; requests for both; resumption
LINE = [(47.14100, 9.52150), (47.13945, 9.52280), (47.13800, 9.52410)]
STEPS = [(400, 1), (150, 2), (20, 3), (900, 0)]  # metres to the maneuver, maneuver state


def estimates(meters):
    return number(1, meters) + number(2, meters // 10) + chunk(3, number(1, meters * 10) + number(2, 1))


def place(latitude, longitude, name):
    return chunk(1, double(1, latitude) + double(2, longitude)) + chunk(3, name)


def line(points):
    """Packed deltas of 1e-6 degree, latitudes and longitudes apart."""
    body = b""
    for axis in (0, 1):
        values = [round(point[axis] * 1e6) for point in points]
        deltas = [value - before for before, value in pairwise([0, *values])]
        body += packed(axis + 1, [zigzag(delta) for delta in deltas])
    return body


def maneuver(identity, kind, words, lanes=0):
    return number(1, identity) + number(2, kind) + chunk(5, words) + (number(10, lanes) if lanes else b"")


def route():
    """Right turn with two lanes, then the destination."""
    lanes = chunk(2, packed(1, [zigzag(0)])) + chunk(2, packed(1, [zigzag(90)]) + number(2, zigzag(90)) + number(3, 2))
    origin, destination = place(*LINE[0], "Start"), place(*LINE[-1], "Town hall")
    segment = chunk(1, "leg") + chunk(2, origin) + chunk(3, destination) + chunk(4, line(LINE))
    segment += packed(5, [1, 2]) + packed(6, [1]) + packed(7, [1, 2]) + number(8, 1)
    segment += chunk(9, estimates(900)) + chunk(10, estimates(500))
    body = chunk(1, maneuver(1, 2, "Turn right", lanes=1)) + chunk(1, maneuver(2, 12, "Arrive"))
    body += chunk(2, number(1, 1) + lanes) + chunk(3, segment) + chunk(4, "leg") + packed(5, [1, 2]) + number(6, 1)
    return body + chunk(7, estimates(900)) + chunk(8, estimates(500))


def trip():
    origin, destination = place(*LINE[0], "Start"), place(*LINE[-1], "Town hall")
    return chunk(1, "to-the-town-hall") + chunk(2, origin) + chunk(3, destination) + number(8, 1)


class Navigation(Peer):
    def __init__(self, address, vehicle, client="python"):
        super().__init__(address)
        self.vehicle, self.client = vehicle, client
        self.opened = self.session = self.sequence = self.generation = self.steps = 0
        self.asked = set()  # requests without an outcome
        self.published = []  # in the session, and not acknowledged: sequence number, type, body, flags and key

    def hello(self, token):
        about = chunk(1, self.client) + packed(2, PROVIDED)
        place = chunk(11, token) if token else b""
        return number(1, 2) + number(2, 2) + number(3, 2) + chunk(5, about) + place + chunk(18, GAUGES)

    def welcomed(self, body):
        """The gateway names the last number that it has; what it missed is sent again."""
        known = {session.number(1): session for session in body.bodies(7)}
        if self.session in known and known[self.session].number(3) != 4:
            self.acknowledge(known[self.session].number(2))
            for sequence, kind, body, flags, key in self.published:
                self.send(kind, body, self.session, sequence, flags, key)
        elif self.session:
            self.session = 0
            if not body.number(6):  # the gateway knows nothing of this client: the drive begins again
                self.open()

    def publish(self, kind, body=b"", flags=0, key=0):
        if self.session:
            self.sequence += 1
            self.published.append((self.sequence, kind, body, flags, key))
            self.send(kind, body, self.session, self.sequence, flags, key)

    def acknowledge(self, sequence):
        """The gateway never asks for what it has acknowledged."""
        self.published = [frame for frame in self.published if frame[0] > sequence]

    def open(self):
        self.opened += 1
        vehicles = chunk(2, chunk(1, self.vehicle))
        self.send(OPEN_SESSION, chunk(1, f"open-{self.opened}") + vehicles)

    def start(self, session):
        self.session, self.sequence, self.published, self.generation, self.steps = session, 0, [], 1, 0
        self.publish(START, chunk(1, trip()) + number(2, self.generation) + chunk(3, route()))
        self.publish(ROAD, chunk(1, "Main street"))

    def step(self):
        meters, state = STEPS[self.steps % len(STEPS)]
        self.steps += 1
        self.publish(ESTIMATES, number(1, self.generation) + number(2, 1) + chunk(3, estimates(meters)))
        self.publish(STATE, number(1, self.generation) + number(2, state))

    def reroute(self):
        self.generation, self.steps = self.generation + 1, 0
        self.publish(PAUSE, number(1, REROUTING))
        self.publish(RESUME, number(1, self.generation) + number(2, WAYPOINT_MODIFIED) + chunk(3, route()))

    def received(self, frame):
        kind, body = frame.type, frame.body
        if kind == SESSION_OPENED:
            say(f"session opened, standing {body.body(3).number(2)}")
            self.start(body.number(2))
        elif kind == VEHICLE_CHANGED:
            say(f"vehicle {body.body(1).text(1)} standing {body.body(1).number(2)}")
        elif kind == ACKNOWLEDGEMENT and frame.session == self.session:
            self.acknowledge(body.number(1))
            say(f"acknowledged {body.number(1)}, {len(self.published)} frames kept")
        elif kind == SESSION_ENDED:
            say(f"ended {body.number(2)}")
            if body.number(1) == self.session:
                self.session = 0
        elif kind in (WAYPOINT, DESTINATION):
            vehicle = body.text(4 if kind == WAYPOINT else 3)
            self.asked.add(body.text(1))
            say(f"asked for {'waypoint' if kind == WAYPOINT else 'destination'} {body.text(1)} by {vehicle}")
            answer = number(3, ESTIMATED) + chunk(4, estimates(1500)) if kind == WAYPOINT else number(3, ACCEPT)
            self.send(ANSWER, chunk(1, body.text(1)) + chunk(2, vehicle) + answer)
        elif kind == OUTCOME and body.text(1) in self.asked:  # After a cut the gateway says again what was heard before it.
            self.asked.remove(body.text(1))
            say(f"outcome {body.number(3)} of {body.text(1)}")
            if body.number(3) == ACCEPTED and self.session:
                self.reroute()
            elif body.number(3) == ACCEPTED:
                self.open()

    def command(self, words):
        actions = {
            "start": self.open,
            "step": self.step,
            "pause": lambda: self.publish(PAUSE, number(1, 2)),
            "resume": lambda: self.publish(RESUME, number(1, self.generation)),
            "finish": lambda: self.publish(FINISH),
            "cancel": lambda: self.publish(CANCEL),
        }
        if words[0] == "gauge" and len(words) == 3:  # the gateway keeps the newest one of each key
            self.publish(EXTENSION, chunk(1, GAUGES) + chunk(2, bytes([int(words[2])])), IS_STATE | RETAINED, int(words[1]))
            return True
        if len(words) != 1 or words[0] not in actions:
            return False
        actions[words[0]]()
        return True


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    Navigation(*sys.argv[1:]).run()
