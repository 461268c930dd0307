"""Conversations of random drives, each from its number. For vectors.py."""

import random
from typing import ClassVar

from vector_conversations import MISSED, TRIP, Conversation, guidances, maneuvers, meters, segments
from vector_frames import GATEWAY


class Drives:
    """Makes the conversations."""

    def __init__(self, protos):
        self.protos = protos

    def all(self):
        for seed in range(100):
            limits = RandomDrive.LIMITS[seed % len(RandomDrive.LIMITS)]
            talk = Conversation(self.protos, f"random drive {seed + 1}", limits)
            RandomDrive(talk, seed).drive()
            yield talk.vector()


class RandomDrive:
    """A drive of random frames that a gateway could send."""

    LIMITS: ClassVar = [
        {},
        {"maneuvers_stored_max": 2},
        {"maneuvers_stored_max": 3, "lane_guidances_stored_max": 2},
        {"receive_frame_bytes_max": 4096},
    ]

    def __init__(self, talk, seed):
        self.talk, self.source, self.next_id, self.alerts = talk, random.Random(seed), 1, 0
        self.slots = talk.limits.get("maneuvers_stored_max", 0)

    def drive(self):
        self.talk.join()
        self.begin(self.talk.start)
        steps = [
            self.add,
            self.add,
            self.upcoming,
            self.estimates,
            self.name,
            self.state,
            self.pause,
            self.alert,
            self.trip,
            self.reconnect,
            self.replace,
            self.suspend,
            self.extension,
        ]
        for _ in range(self.source.randint(8, 20)):
            self.source.choice(steps)()
        if self.source.random() < 0.3:
            self.talk.publish(self.source.choice(["FinishGuidance", "CancelGuidance"]))
        # Only the states that matter most, to keep the file small.
        for index, step in enumerate(self.talk.steps[:-1]):
            if index % 5:
                step.pop("state", None)

    def ids(self, count):
        self.next_id += count
        return list(range(self.next_id - count, self.next_id))

    def begin(self, start):
        ids = self.ids(self.source.randint(1, self.slots or 4))
        start(
            maneuvers=maneuvers(*ids),
            upcoming_maneuver_ids=ids[:2],
            segments=segments(f"s{ids[0]}"),
            trip_travel_estimates=meters(len(ids)),
        )

    def held(self):
        return [each["id"] for each in self.talk.endpoint.fields.get("maneuvers", [])]

    def add(self):
        kind = self.source.randrange(3)
        if kind == 0:
            self.talk.with_generation(
                "AddManeuvers", maneuvers=maneuvers(*self.ids(self.source.randint(1, 3)), type=self.source.randrange(60))
            )
        elif kind == 1:
            self.talk.with_generation("AddLaneGuidances", lane_guidances=guidances(*self.ids(self.source.randint(1, 3))))
        else:
            self.talk.with_generation("AddRouteSegments", segments=segments(*(f"s{each}" for each in self.ids(1))))

    def upcoming(self):
        held = self.held()
        self.talk.with_generation("UpcomingManeuvers", maneuver_ids=held[-self.source.randint(1, 3) :])

    def estimates(self):
        if self.source.random() < 0.5:
            self.talk.with_generation(
                "UpdateManeuverEstimates",
                maneuver_id=self.source.choice(self.held()),
                travel_estimates=meters(self.source.randrange(1000)),
            )
        else:
            self.talk.publish(
                "UpdateTripEstimates",
                {"travel_estimates": meters(self.source.randrange(9000)), "time_remaining_color": self.source.randrange(4)},
            )

    def name(self):
        self.talk.publish("CurrentRoadName", {"name_variants": [f"A {self.source.randrange(99)}"] * self.source.randrange(3)})

    def state(self):
        if self.talk.endpoint.fields["phase"] == "active":
            self.talk.with_generation("UpdateManeuverState", state=self.source.randrange(4))

    def pause(self):
        if self.talk.endpoint.fields["phase"] == "active":
            self.talk.publish("PauseGuidance", {"reason": self.source.randint(1, 5)})
        elif self.source.random() < 0.5:
            self.talk.resume()
        else:
            self.begin(self.talk.resume)

    def alert(self):
        if self.talk.endpoint.fields.get("alert"):
            self.talk.publish("DismissAlert", {"alert_id": self.alerts})
        else:
            self.alerts += 1
            self.talk.publish("ShowAlert", {"alert": {"id": self.alerts, "title_variants": ["!"], "duration_milliseconds": 6000}})

    def trip(self):
        self.talk.publish("UpdateTrip", {"trip": {**TRIP, "destination_shareable": self.source.random() < 0.5}})

    def reconnect(self):
        self.talk.cut()
        self.talk.snapshot(MISSED, until=self.talk.number + 1)
        self.name()
        self.talk.end_snapshot()

    def replace(self):
        self.begin(self.talk.start)

    def suspend(self):
        self.talk.gateway("SessionSuspended", {"grace_milliseconds": 1}, GATEWAY, 7)
        self.talk.gateway("SessionRestored", flags=GATEWAY, session=7)

    def extension(self):
        self.talk.unknown(self.source.randrange(3), bytes([self.source.randrange(256)]))
