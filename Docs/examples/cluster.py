#!/usr/bin/env python3
"""A vehicle endpoint in plain Python: says Hello, holds what it is sent, prints what it would show.

    python3 cluster.py tcp:127.0.0.1:7227 car
    python3 cluster.py unix:/run/user/1000/waymark/vehicle.sock car head-up
    python3 cluster.py tcp:127.0.0.1:7227 car cluster 4096     takes frames of at most 4 096 bytes

Commands, one a line: waypoint LAT LON, destination LAT LON, withdraw, yes, no (answer a prompt), cancel, own (the vehicle
navigates by itself), allow, cut (lose the connection and come back), quit.
"""

import sys
import time

from wire import EXTENSION, GAUGES, RETAINED, STATE as IS_STATE, Body, Peer, chunk, double, number, packed, say

PUBLICATIONS = range(0x100, 0x200)
SESSION_ENDED, SNAPSHOT_BEGIN, SNAPSHOT_END, SUSPENDED, RESTORED = 0x13, 0x14, 0x15, 0x16, 0x17
START, UPDATE_TRIP, ADD_MANEUVERS, ADD_LANES, ADD_SEGMENTS, UPCOMING, LANES, ROAD, STATE = range(0x101, 0x10A)
ESTIMATES, SEGMENT, PAUSE, RESUME, SHARE, FINISH, CANCEL = 0x10B, 0x10C, 0x10D, 0x10E, 0x111, 0x112, 0x113
WAYPOINT, DESTINATION, WITHDRAW, PROMPT, PROMPT_ANSWER, PROMPT_OVER, OUTCOME = 0x200, 0x201, 0x202, *range(0x204, 0x208)
CANCEL_NAVIGATION, ALLOW_NAVIGATION, SHARE_ANSWER = 0x208, 0x209, 0x20E
CONTENT, REQUESTS, PROMPTS, RESUMPTION = list(range(1, 11)), 11, 12, 16
MORE = 32
STATES = ["continue", "initial", "prepare", "execute"]
ACCEPTED, GONE = 1, 8  # outcomes
OF_GENERATION = {ADD_MANEUVERS, ADD_LANES, ADD_SEGMENTS, UPCOMING, LANES, STATE, ESTIMATES, SEGMENT}


def elements(maneuvers=(), lanes=(), segments=()):
    """What is held of elements of a route, by their ids."""
    return (
        {maneuver.number(1): maneuver for maneuver in maneuvers},
        {guidance.number(1): len(guidance.bodies(2)) for guidance in lanes},
        {segment.text(1): len(segment.body(4).numbers(1)) for segment in segments},
    )


class Cluster(Peer):
    def __init__(self, address, vehicle, endpoint="cluster", receive_frame_bytes_max="0"):
        super().__init__(address, int(receive_frame_bytes_max))
        self.vehicle, self.endpoint = vehicle, endpoint
        self.session = self.requests = 0
        self.asked = {}  # requests without an outcome: type, body, and the session that they are for
        self.sequence = self.snapshot_end = 0  # the cursor, and what it becomes at the end of a snapshot
        self.prompt = self.snapshot = self.shown = ""
        self.awaits_more = False  # more parts of the last publication are to come
        self.deadline = 0.0  # of the prompt
        self.forget()

    def forget(self):
        self.trip, self.paused, self.road, self.gauges = "", False, "", {}
        self.begin_route(Body(b""), 0)

    def hello(self, token):
        about = chunk(1, self.vehicle) + chunk(2, self.endpoint)
        about += packed(3, [*CONTENT, REQUESTS, PROMPTS, RESUMPTION]) + number(6, 1)
        place = chunk(11, token) + number(12, self.session) + number(13, self.sequence) if token else b""
        place += number(17, self.receive_frame_bytes_max) + chunk(18, GAUGES)
        return number(1, 2) + number(2, 2) + number(3, 1) + chunk(4, about) + place

    def leave(self):
        """Holds no session any more."""
        self.forget()
        self.session = self.sequence = 0
        self.snapshot, self.awaits_more = "", False

    def welcomed(self, body):
        self.prompt = ""  # the gateway sends an open one again
        if not body.number(6):
            for request in self.asked:  # the gateway does not know them: a new request gets a new id
                say(f"outcome {GONE} of {request}")
            self.asked = {}
            self.leave()
            self.show()
        elif self.snapshot == "full":  # half of a snapshot is nothing
            self.leave()
        for kind, request, session in self.asked.values():
            self.send(kind, request, session)

    def begin_route(self, route, generation):
        """A new generation voids everything that spoke of the route. A route that cannot be read changes nothing."""
        new = elements(route.bodies(1), route.bodies(2), route.bodies(3))
        upcoming, current_lanes, distance = route.numbers(5), route.number(6), route.body(8).number(1)
        self.generation, self.maneuvers, self.lanes, self.segments = generation, {}, {}, {}
        self.distances, self.state = {}, 0
        self.add(*new)
        self.upcoming = [each for each in upcoming if each in self.maneuvers]
        self.current_lanes = current_lanes
        if route.has(8) and upcoming and upcoming[0] in self.maneuvers:
            self.distances[upcoming[0]] = distance

    def add(self, maneuvers, lanes, segments):
        self.maneuvers.update(maneuvers)
        self.lanes.update(lanes)
        self.segments.update(segments)

    def received(self, frame):
        kind = frame.type
        if kind == SNAPSHOT_BEGIN and frame.body.number(1) == 1:
            self.leave()
            self.session = frame.session
        if frame.session not in (0, self.session):  # of a session that this endpoint does not hold
            return
        if kind in PUBLICATIONS:
            self.awaits_more = bool(frame.flags & MORE)
            if self.snapshot != "full":
                self.sequence = frame.sequence  # also if the frame is of no use
        self.apply(frame, kind, frame.body)
        self.show()

    def apply(self, frame, kind, body):
        if kind == SNAPSHOT_BEGIN:
            self.snapshot = "full" if body.number(1) == 1 else "missed"
            self.snapshot_end = body.number(8)
            say(f"snapshot {self.snapshot} from {body.text(2)}")
        elif kind == SNAPSHOT_END:
            self.snapshot, self.sequence, self.awaits_more = "", self.snapshot_end, False
        elif kind in (FINISH, CANCEL):
            say("finished" if kind == FINISH else "cancelled")
            self.leave()
        elif kind == SESSION_ENDED:
            say(f"ended {body.number(2)}")
            if body.number(1) in (0, self.session):  # else it answers a CancelNavigation that crossed
                self.leave()
        elif kind in (SUSPENDED, RESTORED):
            say("suspended" if kind == SUSPENDED else "restored")
        elif kind == START:
            trip = body.body(1).text(1)
            self.begin_route(body.body(3), body.number(2))
            self.trip, self.paused, self.road, self.gauges = trip, False, "", {}
        elif kind == PROMPT:
            self.prompt, self.deadline = body.text(1), time.monotonic() + body.number(4) / 1000
            name = [*body.body(2).texts(3), "-"][0]
            say(f"prompt {self.prompt}: {name}, then {body.body(3).number(1)} m to go")
        elif kind == PROMPT_OVER:
            if body.text(1) == self.prompt:
                self.prompt = ""
            say(f"prompt over {body.text(1)} outcome {body.number(2)}")
        elif kind == OUTCOME:
            self.asked.pop(body.text(1), None)
            say(f"outcome {body.number(3)} of {body.text(1)}")
        elif kind == EXTENSION:
            if frame.flags & IS_STATE and body.text(1) == GAUGES:
                self.gauges.pop(frame.key, None)
                if frame.flags & RETAINED and body.bytes(2):
                    self.gauges[frame.key] = body.bytes(2)[0]
        elif kind == SHARE:  # also of a trip preview; a real vehicle would ask its own navigation
            say(f"shared {[*body.body(2).texts(3), '-'][0]}")
            self.send(SHARE_ANSWER, chunk(1, body.text(1)) + number(2, ACCEPTED), self.session)
        elif self.trip:  # the others need guidance
            self.update(kind, body)

    def refused(self, body):
        """The gateway rejected a message: a request that it names has ended."""
        if body.number(4) in (WAYPOINT, DESTINATION, WITHDRAW):
            self.asked.pop(body.text(7), None)

    def update(self, kind, body):
        if kind in OF_GENERATION and body.number(1) != self.generation:
            return
        if kind == UPDATE_TRIP:
            self.trip = body.body(1).text(1)
        elif kind == ADD_MANEUVERS:
            self.add(*elements(maneuvers=body.bodies(2)))
        elif kind == ADD_LANES:
            self.add(*elements(lanes=body.bodies(2)))
        elif kind == ADD_SEGMENTS:
            self.add(*elements(segments=body.bodies(2)))
        elif kind == UPCOMING:
            self.upcoming = [each for each in body.numbers(2) if each in self.maneuvers]
        elif kind == LANES and body.number(2) in (0, *self.lanes):
            self.current_lanes = body.number(2)
        elif kind == ROAD:
            self.road = [*body.texts(1), ""][0]
        elif kind == STATE:
            state = body.number(2)
            self.state = state if state < len(STATES) else 0  # a state of a later version is none that it can show
        elif kind == ESTIMATES and body.number(2) in self.maneuvers:
            self.distances[body.number(2)] = body.body(3).number(1)
        elif kind == PAUSE:
            self.paused, self.state = True, 0
        elif kind == RESUME:
            if body.number(1) != self.generation:
                self.begin_route(body.body(3), body.number(1))
            self.paused = False

    def show(self):
        """Prints the display, when it has changed and nothing is half on its way."""
        line = ""
        if self.trip:
            first = self.upcoming[0] if self.upcoming else 0
            words = self.maneuvers[first].texts(5) if first in self.maneuvers else []
            line = f"shows {self.trip} generation {self.generation} on {self.road or '-'}: {[*words, '-'][0]}"
            line += f" in {self.distances.get(first, '-')} m, {'paused' if self.paused else STATES[self.state]}"
            line += f", {len(self.maneuvers)} maneuvers, {self.lanes.get(self.current_lanes, 0)} lanes"
            line += f", {len(self.segments)} segments with {sum(self.segments.values())} points"
            line += "".join(f", gauge {key} at {percent} %" for key, percent in sorted(self.gauges.items()))
        if not self.snapshot and not self.awaits_more and line != self.shown:
            self.shown = line
            say(line or "shows nothing")

    def command(self, words):
        if words[0] in ("waypoint", "destination") and len(words) == 3:
            self.requests += 1
            place = double(1, float(words[1])) + double(2, float(words[2]))
            body = chunk(1, f"request-{self.requests}") + chunk(2, chunk(1, place) + chunk(3, "A place"))
            # A waypoint is for the drive that is shown, not for a later one.
            kind, session = (WAYPOINT, self.session) if words[0] == "waypoint" else (DESTINATION, 0)
            self.asked[f"request-{self.requests}"] = kind, body, session
            self.send(kind, body, session)
        elif words == ["withdraw"]:
            last = f"request-{self.requests}"
            if last in self.asked:  # else it has ended
                self.asked[last] = WITHDRAW, chunk(1, last), 0
                self.send(WITHDRAW, chunk(1, last))
        elif words in (["yes"], ["no"]) and self.prompt and time.monotonic() < self.deadline:
            self.send(PROMPT_ANSWER, chunk(1, self.prompt) + number(2, int(words == ["yes"])))
        elif words == ["own"]:
            self.send(CANCEL_NAVIGATION, number(1, 1))
        elif words == ["cancel"]:
            self.send(CANCEL_NAVIGATION, number(1, 2), self.session)
        elif words == ["allow"]:
            self.send(ALLOW_NAVIGATION)
        else:
            return False
        return True


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    Cluster(*sys.argv[1:]).run()
