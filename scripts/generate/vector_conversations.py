"""Conversations: the frames that an endpoint receives, and what it must hold then. For vectors.py."""

import copy

from vector_endpoint import Endpoint
from vector_frames import FITTED, GATEWAY, MORE, PUBLISHED, RETAINED, SKIPPABLE, STATE, frame
from vector_rules import read
from vector_schema import encode

PLACE = {"center": {"latitude": 47.141, "longitude": 9.5215}}
TRIP = {"id": "trip", "origin": PLACE, "destination": {"center": {"latitude": 47.138, "longitude": 9.5241}}}
FULL, MISSED = 1, 2


def maneuvers(*ids, **fields):
    return [{"id": each, **fields} for each in ids]


def guidances(*ids):
    return [{"id": each, "lanes": [{"angles_degrees": [0]}]} for each in ids]


def segments(*ids):
    return [{"id": each, "origin": PLACE, "destination": PLACE} for each in ids]


def meters(distance):
    return {"distance_remaining_meters": distance}


class Conversation:
    """One conversation, written step by step; its states come from an Endpoint."""

    def __init__(self, protos, name, limits=None):
        self.protos, self.name, self.limits = protos, name, dict(limits or {})
        self.receive_frame_bytes_max = self.limits.pop("receive_frame_bytes_max", 0)
        self.endpoint, self.steps = Endpoint(self.limits), []
        self.session, self.number, self.generation = 7, 0, 0
        # The token of the last Welcome that the endpoint got, and how many Welcomes the gateway has sent.
        self.token, self.welcomes = "", 0
        self.connect()

    def shape(self, name):
        return self.protos.shapes[name]

    def vector(self):
        return "conversations", {"name": self.name, "limits": self.limits, "steps": self.steps}

    # Steps

    def gateway(self, name, message=None, flags=0, session=0, sequence=0, key=0):
        """A frame of the gateway, and the state after it."""
        shape = self.shape(name)
        body = encode(self.protos, shape, message or {})
        message = read(self.protos, shape, body)
        data = frame(shape.type_number, body, flags, key, session=session, sequence=sequence)
        if name == "PublishExtension":
            message = message | {"state": key if flags & STATE else None, "retained": bool(flags & RETAINED)}
        self.received(name, message, data, flags, session, sequence, shape.type_number in PUBLISHED)

    def received(self, name, message, data, flags, session, sequence, is_publication):
        self.endpoint.receive(name, message, flags, session, sequence, is_publication)
        # A copy, because later frames change what it shares.
        self.steps.append({"from": "gateway", "hex": data.hex(), "state": copy.deepcopy(self.endpoint.state())})

    def connect(self, resumed=False):
        """The endpoint connects, and is welcomed."""
        self.hello()
        self.welcome(resumed)

    def hello(self):
        """The endpoint connects."""
        session, cursor = self.endpoint.resumption() if self.token else (0, 0)
        hello = {
            "version_min": 2,
            "version_max": 2,
            "role": 1,
            "vehicle": {
                "vehicle_id": "car",
                "endpoint": "cluster",
                "features": list(range(1, 13)),
                "limits": self.limits,
                "preferences": {},
            },
        }
        if self.receive_frame_bytes_max:
            hello["receive_frame_bytes_max"] = self.receive_frame_bytes_max
        if self.token:
            hello["resumption_token"] = self.token
        if session:
            hello |= {"resume_session_id": session, "resume_sequence": str(cursor)}
        data = frame(0x0001, encode(self.protos, self.shape("Hello"), {key: value for key, value in hello.items() if value != "0"}))
        self.steps.append({"from": "endpoint", "hex": data.hex()})

    def new_token(self):
        """The token of the next Welcome."""
        self.welcomes += 1
        return bytes([self.welcomes - 1, *range(1, 16)]).hex()

    def welcome(self, resumed):
        holds_nothing = resumed and self.endpoint.resumption() == (0, 0)
        self.endpoint.welcome(resumed)
        self.token = self.new_token()
        welcome = {
            "version": 2,
            "keepalive_milliseconds": 10000,
            "receive_frame_bytes_max": 1048576,
            "send_frame_bytes_max": self.receive_frame_bytes_max or 16777216,
            "resumption_token": self.token,
            "gateway_instance": "gateway",
            "gateway_epoch": "1789000000000",
        } | ({"resumed": True} if resumed else {})
        self.gateway("Welcome", welcome)
        if holds_nothing:
            # What an endpoint shows of a snapshot that was cut is its own affair.
            del self.steps[-1]["state"]

    def cut(self, resumed=True):
        self.lose()
        self.connect(resumed)

    def lose(self):
        """The connection is cut."""
        self.steps.append({"cut": True})

    def lose_welcome(self):
        """The endpoint connects, and its connection is cut before it has the Welcome."""
        self.lose()
        self.hello()
        self.new_token()

    def snapshot(self, kind=FULL, until=None, **fields):
        """SnapshotBegin; a full one begins with number 0."""
        until = self.number if until is None else until
        message = {"kind": kind, "client_id": "app", "to_sequence": str(until)}
        if kind == MISSED:
            message["from_sequence"] = str(self.endpoint.cursor)
        self.gateway("SnapshotBegin", message | fields, GATEWAY, self.session)

    def end_snapshot(self):
        self.gateway("SnapshotEnd", flags=GATEWAY, session=self.session)

    def join(self, **fields):
        """A session without publications."""
        self.snapshot(**fields)
        self.end_snapshot()
        return self

    def publish(self, name, message=None, flags=0, number=None):
        self.number = self.number + 1 if number is None else number
        self.gateway(name, message, flags, self.session, self.number)
        return self

    def with_generation(self, name, flags=0, number=None, **message):
        return self.publish(name, {"generation": self.generation, **message}, flags, number)

    def extension(self, name, content, key=None, retained=True, number=None):
        """Content of an extension: a state with a key, or an event."""
        self.number = self.number + 1 if number is None else number
        flags = 0 if key is None else STATE | (RETAINED if retained else 0)
        message = {"name": name, "content": content.hex()}
        self.gateway("PublishExtension", message, flags, self.session, self.number, key or 0)

    def unknown(self, key=0, body=b"x", flags=SKIPPABLE | STATE | RETAINED, type_number=0x01E1):
        self.number += 1
        data = frame(type_number, body, flags, key, self.session, self.number)
        self.received(None, None, data, flags, self.session, self.number, True)

    def start(self, flags=0, number=None, trip=None, **route):
        self.generation += 1
        return self.publish("StartGuidance", {"trip": trip or TRIP, "generation": self.generation, "route": route}, flags, number)

    def resume(self, **route):
        self.generation += 1 if route else 0
        message = {"generation": self.generation, "reason": 1}
        return self.publish("ResumeGuidance", message | ({"route": route} if route else {}))

    def ended(self, session=None, reason=4):
        self.gateway("SessionEnded", {"session_id": self.session if session is None else session, "reason": reason})


class Conversations:
    """Makes all conversations."""

    def __init__(self, protos):
        self.protos, self.made = protos, []

    def new(self, name, limits=None):
        conversation = Conversation(self.protos, name, limits)
        self.made.append(conversation)
        return conversation

    def all(self):
        for part in (
            self.sessions,
            self.routes,
            self.generations,
            self.slots,
            self.conflation,
            self.snapshots,
            self.resumption,
            self.unknown_types,
            self.extensions,
            self.groups,
            self.others,
        ):
            part()
        return [each.vector() for each in self.made]

    def sessions(self):
        talk = self.new("a session without publications").join()
        talk.publish("TripPreviews", {"trips": [TRIP, {**TRIP, "id": "other"}], "selected_trip_id": "other"})
        talk.start(maneuvers=maneuvers(1, 2), upcoming_maneuver_ids=[1, 2])
        talk.publish("FinishGuidance")
        talk.ended(reason=1)
        talk = self.new("the client cancels").join().start().publish("CurrentRoadName", {"name_variants": ["Main Street", "Main"]})
        talk.publish("CancelGuidance")
        talk = self.new("the gateway ends the session").join().start()
        talk.ended(reason=5)
        talk = self.new("the end of another session changes nothing").join().start()
        talk.ended(session=8)
        talk.publish("CurrentRoadName", {"name_variants": ["A 1"]})
        talk = self.new("a SessionEnded with session id 0 ends the session").join().start()
        talk.ended(session=0, reason=3)
        talk = self.new("another session follows").join().start(maneuvers=maneuvers(1))
        talk.ended()
        talk.session, talk.number, talk.generation = 8, 0, 0
        talk.join().start(maneuvers=maneuvers(5))
        talk = self.new("the same session follows").join().start(maneuvers=maneuvers(1))
        talk.ended()
        talk.snapshot()
        talk.start(maneuvers=maneuvers(1), number=1)
        talk.end_snapshot()
        talk = self.new("the client is away and returns").join().start()
        talk.gateway("SessionSuspended", {"grace_milliseconds": 30000, "age_milliseconds": 200}, GATEWAY, 7)
        talk.gateway("SessionRestored", flags=GATEWAY, session=7)
        talk.publish("CurrentRoadName", {"name_variants": ["A 1"]})
        talk = self.new("an endpoint joins while the client is away")
        talk.number = 4
        talk.snapshot(suspended=True, age_milliseconds=300)
        talk.start(number=2)
        talk.publish("CurrentRoadName", {"name_variants": ["A 1"]}, number=4)
        talk.end_snapshot()
        talk.gateway("SessionRestored", flags=GATEWAY, session=7)
        talk = self.new("features are withheld")
        talk.join(withheld=[{"feature": 5, "reason": 5}, {"feature": 6, "reason": 4}]).start(maneuvers=maneuvers(1))

    def routes(self):
        for name, route in (
            ("an empty route", {}),
            ("the first segment is the current one", {"segments": segments("a", "b")}),
            ("the route names its current segment", {"segments": segments("a", "b"), "current_segment_id": "b"}),
            (
                "the route's estimates are those of its first upcoming maneuver",
                {
                    "maneuvers": maneuvers(1, 2),
                    "upcoming_maneuver_ids": [2, 1],
                    "maneuver_travel_estimates": meters(90),
                    "trip_travel_estimates": meters(900),
                },
            ),
            (
                "estimates of a maneuver without an upcoming one",
                {"maneuvers": maneuvers(1), "maneuver_travel_estimates": meters(90)},
            ),
            ("a route with a current lane guidance", {"lane_guidances": guidances(1, 2), "current_lane_guidance_id": 2}),
            ("values that no enumeration has", {"maneuvers": maneuvers(1, type=99, junction_type=9)}),
        ):
            self.new(name).join().start(**route)
        talk = self.new("elements are added to the route").join().start(maneuvers=maneuvers(1), segments=segments("a"))
        talk.with_generation("AddManeuvers", maneuvers=maneuvers(2, 3))
        talk.with_generation("AddLaneGuidances", lane_guidances=guidances(1, 2))
        talk.with_generation("AddRouteSegments", segments=segments("b", "c"))
        talk.with_generation("CurrentRouteSegment", segment_id="c")
        talk.with_generation("CurrentLaneGuidance", lane_guidance_id=2)
        talk.with_generation("CurrentLaneGuidance")
        talk = self.new("added segments set no current one").join().start()
        talk.with_generation("AddRouteSegments", segments=segments("a"))
        talk = self.new("segments whose ids Unicode calls equivalent").join().start()
        talk.with_generation("AddRouteSegments", segments=segments("\u00e9"))
        talk.with_generation("AddRouteSegments", segments=segments("e\u0301"))
        talk.with_generation("CurrentRouteSegment", segment_id="e\u0301")
        talk = self.new("estimates").join().start(maneuvers=maneuvers(1, 2), upcoming_maneuver_ids=[1, 2])
        talk.with_generation("UpdateManeuverEstimates", maneuver_id=1, travel_estimates=meters(500))
        talk.with_generation("UpdateManeuverEstimates", maneuver_id=2, travel_estimates=meters(900))
        talk.with_generation("UpdateManeuverEstimates", maneuver_id=1, travel_estimates={"time_remaining_seconds": 0})
        talk.publish("UpdateTripEstimates", {"travel_estimates": meters(5000), "time_remaining_color": 3})
        talk.publish("UpdateTripEstimates", {"travel_estimates": {}})
        talk = self.new("speed limits").join().start()
        fast, slow = ({"status": 1, "value": value, "unit": 1, "kind": 1, "sign": 1} for value in (80, 50))
        ahead = {"limit": slow, "distance_meters": 420, "distance_to_display": {"value_tenths": 4000, "unit": 1}}
        talk.publish("UpdateSpeedLimit", {"limit": fast, "next": ahead})
        talk.publish("UpdateSpeedLimit", {"limit": slow})
        talk.publish("UpdateSpeedLimit", {"limit": {}, "next": {"limit": {"status": 2}}})
        talk.publish("PauseGuidance", {"reason": 4})
        talk.publish("ResumeGuidance", {"generation": 2, "route": {}})
        talk = self.new("alerts").join().start()
        alert = {"id": 1, "title_variants": ["Road closed"], "actions": [{"id": 1, "title_variants": ["Reroute"]}]}
        talk.publish("ShowAlert", {"alert": alert})
        talk.publish("ShowAlert", {"alert": {**alert, "title_variants": ["Road still closed"]}})
        talk.publish("ShowAlert", {"alert": {"id": 2, "title_variants": ["Fuel is low"]}})
        talk.publish("DismissAlert", {"alert_id": 2})
        talk = self.new("the trip changes").join().start()
        talk.publish("UpdateTrip", {"trip": {**TRIP, "waypoints": [PLACE], "destination_shareable": True}})
        talk.publish("ShareDestination", {"share_id": "s", "destination": PLACE})
        talk = self.new("the destination of a preview is shared").join()
        talk.publish("TripPreviews", {"trips": [{**TRIP, "destination_shareable": True}]})
        talk.publish("ShareDestination", {"share_id": "s", "destination": PLACE, "trip_id": TRIP["id"]})
        talk.start()
        talk = self.new("the maneuver state").join().start(maneuvers=maneuvers(1, 2), upcoming_maneuver_ids=[1, 2])
        for state in (1, 2, 3, 0, 2):
            talk.with_generation("UpdateManeuverState", state=state)
        talk.with_generation("UpcomingManeuvers", maneuver_ids=[2])
        talk.with_generation("UpcomingManeuvers")

    def generations(self):
        content = {
            "maneuvers": maneuvers(1, 2),
            "lane_guidances": guidances(1),
            "segments": segments("a"),
            "upcoming_maneuver_ids": [1],
            "current_lane_guidance_id": 1,
            "trip_travel_estimates": meters(5000),
            "maneuver_travel_estimates": meters(50),
        }

        def begun(name):
            talk = self.new(name).join()
            talk.publish("TripPreviews", {"trips": [TRIP]})
            talk.start(**content)
            talk.publish("CurrentRoadName", {"name_variants": ["A 1"]})
            talk.publish("ShowAlert", {"alert": {"id": 1, "title_variants": ["Slow"]}})
            talk.publish("UpdateTripEstimates", {"travel_estimates": meters(4000), "time_remaining_color": 2})
            return talk.with_generation("UpdateManeuverState", state=2)

        begun("guidance starts over").start(maneuvers=maneuvers(9))
        begun("guidance starts over with another trip").start(trip={**TRIP, "id": "next"})
        talk = begun("guidance pauses and resumes on the same route")
        talk.publish("PauseGuidance", {"reason": 4, "description_variants": ["Computing a route", "Computing"]})
        talk.publish("PauseGuidance", {"reason": 2})
        talk.resume()
        talk = begun("guidance resumes on another route")
        talk.publish("PauseGuidance", {"reason": 4})
        talk.resume(maneuvers=maneuvers(1, 9), upcoming_maneuver_ids=[9])
        talk.with_generation("UpdateManeuverState", state=1)
        talk = begun("guidance resumes on an empty route of a higher generation")
        talk.publish("PauseGuidance", {"reason": 5})
        talk.generation += 5
        talk.publish("ResumeGuidance", {"generation": talk.generation, "route": {}})
        talk = begun("guidance starts over while it is paused")
        talk.publish("PauseGuidance", {"reason": 1, "description_variants": ["Arrived"]})
        talk.start()

    def slots(self):
        # The example of Docs/protocol.md, "Slots".
        talk = self.new("two slots, the page's example", {"maneuvers_stored_max": 2}).join()
        talk.start(FITTED, maneuvers=maneuvers(1, 2), upcoming_maneuver_ids=[1, 2])
        talk.with_generation("AddManeuvers", FITTED, 2, maneuvers=maneuvers(3))
        talk.with_generation("UpcomingManeuvers", FITTED, 2, maneuver_ids=[2, 3])
        talk.with_generation("UpcomingManeuvers", FITTED, 3)
        talk.with_generation("AddManeuvers", FITTED, 4, maneuvers=maneuvers(4, 5))
        talk.with_generation("UpcomingManeuvers", FITTED, 4, maneuver_ids=[5])
        talk.with_generation("AddManeuvers", FITTED, 5, maneuvers=maneuvers(6))
        talk.with_generation("AddManeuvers", FITTED, 6, maneuvers=maneuvers(4, 5))
        talk.with_generation("UpcomingManeuvers", FITTED, 6, maneuver_ids=[4, 5])
        for count in range(1, 6):
            talk = self.new(f"{count} slots, maneuvers one by one", {"maneuvers_stored_max": count}).join()
            first = list(range(1, count + 1))
            talk.start(FITTED, maneuvers=maneuvers(*first), upcoming_maneuver_ids=first, maneuver_travel_estimates=meters(10))
            for each in range(count + 1, count + 5):
                talk.with_generation("AddManeuvers", FITTED, each, maneuvers=maneuvers(each))
                talk.with_generation("UpdateManeuverEstimates", FITTED, each, maneuver_id=each, travel_estimates=meters(each * 100))
                talk.with_generation("UpcomingManeuvers", FITTED, each, maneuver_ids=list(range(each - count + 1, each + 1)))
        talk = self.new("a maneuver that is added again counts as added now", {"maneuvers_stored_max": 3}).join()
        talk.start(FITTED, maneuvers=maneuvers(1, 2, 3), upcoming_maneuver_ids=[1, 2])
        talk.with_generation("UpdateManeuverEstimates", maneuver_id=1, travel_estimates=meters(70))
        talk.with_generation("AddManeuvers", FITTED, maneuvers=maneuvers(1, type=2))
        talk.with_generation("AddManeuvers", FITTED, maneuvers=maneuvers(4))
        talk.with_generation("AddManeuvers", FITTED, maneuvers=maneuvers(5))
        talk.with_generation("AddManeuvers", FITTED, maneuvers=maneuvers(6))
        talk = self.new("a message with a maneuver that is held and one that is not counts as a whole", {"maneuvers_stored_max": 2}).join()
        talk.start(FITTED, maneuvers=maneuvers(2, 3), upcoming_maneuver_ids=[2], maneuver_travel_estimates=meters(70))
        talk.with_generation("AddManeuvers", FITTED | MORE, 2, maneuvers=maneuvers(1, 2))
        talk.with_generation("UpcomingManeuvers", FITTED, 2, maneuver_ids=[1, 2])
        talk = self.new("a new route empties the slots", {"maneuvers_stored_max": 3, "lane_guidances_stored_max": 2}).join()
        talk.start(FITTED, maneuvers=maneuvers(1, 2, 3), lane_guidances=guidances(1, 2))
        talk.publish("PauseGuidance", {"reason": 4})
        talk.resume(maneuvers=maneuvers(7))
        talk.with_generation("AddManeuvers", FITTED, maneuvers=maneuvers(8, 9))
        talk.with_generation("AddLaneGuidances", FITTED, lane_guidances=guidances(3))
        talk.start(FITTED, maneuvers=maneuvers(1))
        for count in (1, 2, 3):
            talk = self.new(f"{count} slots for lane guidances", {"lane_guidances_stored_max": count}).join()
            first = list(range(1, count + 1))
            talk.start(FITTED, lane_guidances=guidances(*first), current_lane_guidance_id=1)
            for each in range(count + 1, count + 4):
                talk.with_generation("AddLaneGuidances", FITTED, each, lane_guidances=guidances(each))
                talk.with_generation("CurrentLaneGuidance", FITTED, each, lane_guidance_id=each - count + 1)

    def conflation(self):
        talk = self.new("numbers of states that were replaced are missing").join()
        talk.start(maneuvers=maneuvers(1, 2), upcoming_maneuver_ids=[1])
        talk.publish("CurrentRoadName", {"name_variants": ["A 1"]}, number=90)
        talk.with_generation("UpdateManeuverEstimates", number=95, maneuver_id=1, travel_estimates=meters(1))
        talk.publish("UpdateTripEstimates", {"travel_estimates": meters(2)}, number=4_294_967_296)
        talk = self.new("a state before and one behind the upcoming maneuvers").join()
        talk.start(maneuvers=maneuvers(1, 2), upcoming_maneuver_ids=[1])
        talk.with_generation("UpdateManeuverState", number=5, state=0)
        talk.with_generation("UpcomingManeuvers", number=6, maneuver_ids=[2])
        talk.with_generation("UpdateManeuverState", number=9, state=2)
        talk = self.new("estimates are one state for each maneuver").join()
        talk.start(maneuvers=maneuvers(1, 2, 3))
        for number, each in ((10, 2), (20, 1), (30, 3), (40, 2)):
            talk.with_generation("UpdateManeuverEstimates", number=number, maneuver_id=each, travel_estimates=meters(number))

    def snapshots(self):
        talk = self.new("a full snapshot")
        talk.number = 30
        talk.snapshot()
        talk.start(number=3, maneuvers=maneuvers(1), upcoming_maneuver_ids=[1])
        talk.with_generation("AddManeuvers", number=9, maneuvers=maneuvers(2))
        talk.publish("CurrentRoadName", {"name_variants": ["A 1"]}, number=30)
        talk.number = 30
        talk.end_snapshot()
        talk.publish("CurrentRoadName", {"name_variants": ["A 2"]})
        talk = self.new("a full snapshot in the middle of a session").join()
        talk.start(maneuvers=maneuvers(1)).publish("CurrentRoadName", {"name_variants": ["A 1"]})
        talk.snapshot(withheld=[{"feature": 4, "reason": 6}])
        talk.start(number=1, maneuvers=maneuvers(1))
        talk.number = 2
        talk.end_snapshot()
        talk = self.new("a snapshot whose last frames were conflated").join()
        talk.start()
        talk.number = 50
        talk.snapshot()
        talk.start(number=1)
        talk.end_snapshot()
        talk.publish("CurrentRoadName", {"name_variants": ["A 1"]}, number=51)
        talk = self.new("a list of withheld features changes").join()
        talk.start(maneuvers=maneuvers(1))
        talk.snapshot(MISSED, withheld=[{"feature": 7, "reason": 3}])
        talk.end_snapshot()
        talk = self.new("a paused route in a snapshot")
        talk.number = 12
        talk.snapshot()
        talk.start(number=1, maneuvers=maneuvers(1))
        talk.generation += 1
        talk.publish("ResumeGuidance", {"generation": talk.generation, "route": {"maneuvers": maneuvers(2)}}, number=5)
        talk.publish("PauseGuidance", {"reason": 2}, number=12)
        talk.end_snapshot()

    def resumption(self):
        def guided(name, limits=None):
            talk = self.new(name, limits).join()
            return talk.start(maneuvers=maneuvers(1, 2), upcoming_maneuver_ids=[1]).publish("CurrentRoadName", {"name_variants": ["A 1"]})

        talk = guided("an endpoint gets what it missed")
        talk.cut()
        talk.snapshot(MISSED, until=6)
        talk.publish("CurrentRoadName", {"name_variants": ["A 2"]}, number=5)
        talk.number = 6
        talk.end_snapshot()
        talk.publish("CurrentRoadName", {"name_variants": ["A 3"]})
        talk.cut()
        talk.snapshot(MISSED)
        talk.end_snapshot()
        talk = guided("an endpoint that missed nothing")
        talk.cut()
        talk.snapshot(MISSED)
        talk.end_snapshot()
        talk = guided("an endpoint gets a full snapshot after a cut")
        talk.cut()
        talk.snapshot()
        talk.start(number=1, maneuvers=maneuvers(1))
        talk.end_snapshot()
        talk = guided("the gateway no longer knows the endpoint")
        talk.cut(resumed=False)
        talk.cut()
        talk = guided("cut while a full snapshot arrives")
        talk.snapshot()
        talk.start(number=1)
        talk.cut()
        talk.snapshot(until=2)
        talk.start(number=1)
        talk.end_snapshot()
        talk = guided("cut while missed frames arrive")
        talk.cut()
        talk.snapshot(MISSED, until=9)
        talk.publish("CurrentRoadName", {"name_variants": ["A 2"]}, number=4)
        talk.cut()
        talk.snapshot(MISSED, until=9)
        talk.publish("CurrentRoadName", {"name_variants": ["A 3"]}, number=9)
        talk.end_snapshot()
        talk = guided("the session ended meanwhile")
        talk.cut()
        talk.ended(reason=6)
        talk.cut()
        talk = self.new("an empty session is resumed").join()
        talk.cut()
        talk.snapshot()
        talk.end_snapshot()
        talk.start()
        talk = guided("the Welcome is lost")
        talk.lose_welcome()
        talk.lose_welcome()
        talk.cut()
        talk.snapshot(MISSED, until=3)
        talk.publish("CurrentRoadName", {"name_variants": ["A 2"]})
        talk.end_snapshot()
        talk.cut()
        talk.snapshot(MISSED)
        talk.end_snapshot()
        talk = guided("a late Hello with the older token")
        talk.lose_welcome()
        talk.lose()
        talk.hello()
        talk.gateway("Goodbye", {"code": 13, "reconnect_after_milliseconds": 1000})
        talk.cut()
        talk.snapshot(MISSED)
        talk.end_snapshot()
        talk = guided("frames with the number of the cursor are repeated", {"maneuvers_stored_max": 2})
        talk.with_generation("AddManeuvers", FITTED | MORE, 3, maneuvers=maneuvers(3))
        talk.cut()
        talk.snapshot(MISSED, until=3)
        talk.with_generation("AddManeuvers", FITTED | MORE, 3, maneuvers=maneuvers(3))
        talk.with_generation("UpcomingManeuvers", FITTED, 3, maneuver_ids=[2, 3])
        talk.end_snapshot()

    def unknown_types(self):
        talk = self.new("frames of types that an endpoint does not know move its cursor").join().start()
        talk.unknown(1)
        talk.unknown(2)
        talk.publish("CurrentRoadName", {"name_variants": ["A 1"]})
        talk.unknown(1, b"\xff", SKIPPABLE | STATE)
        talk.unknown(0, b"", SKIPPABLE, 0x01FF)
        talk.cut()
        talk.snapshot(MISSED, until=8)
        talk.unknown(1)
        talk.number = 8
        talk.end_snapshot()
        talk = self.new("unknown publications in a full snapshot")
        talk.snapshot(until=4)
        talk.start(number=1)
        talk.unknown(3)
        talk.end_snapshot()
        talk = self.new("an unknown publication ends one of several frames", {"receive_frame_bytes_max": 4096}).join()
        talk.start(FITTED | MORE)
        talk.unknown()

    def extensions(self):
        talk = self.new("states and events of extensions").join()
        talk.extension("org.example.tyres", b"70", 1)
        talk.extension("org.example.tyres", b"5", 2)
        talk.extension("com.example.seats", b"", 3)
        talk.extension("org.example.tyres", b"71", 1)
        talk.extension("org.example.tyres", b"a puncture")
        talk.extension("org.example.tyres", b"6", 2, retained=False)
        talk.start()
        talk.extension("com.example.seats", b"warm", 1)
        talk.resume(maneuvers=maneuvers(1))
        talk.extension("com.example.seats", b"hot", 65_535)
        talk.cut()
        talk.snapshot(MISSED, until=11)
        talk.extension("com.example.seats", b"cold", 1)
        talk.end_snapshot()
        talk = self.new("extensions in a full snapshot")
        talk.snapshot(until=9)
        talk.start(number=1)
        talk.extension("org.example.tyres", b"70", 1, number=4)
        talk.extension("com.example.seats", b"warm", 2, number=9)
        talk.end_snapshot()
        talk.publish("FinishGuidance", number=10)

    def groups(self):
        small = {"receive_frame_bytes_max": 4096}
        talk = self.new("a route in several frames", small).join()
        talk.start(FITTED | MORE)
        talk.with_generation("AddManeuvers", FITTED | MORE, 1, maneuvers=maneuvers(1, 2))
        talk.with_generation("AddManeuvers", FITTED | MORE, 1, maneuvers=maneuvers(3))
        talk.with_generation("UpcomingManeuvers", FITTED, 1, maneuver_ids=[1, 2])
        talk = self.new("the next publication ends one whose last frame is missing", small).join()
        talk.start(FITTED | MORE)
        talk.with_generation("AddManeuvers", FITTED | MORE, 1, maneuvers=maneuvers(1, 2))
        talk.publish("CurrentRoadName", {"name_variants": ["A 1"]})
        talk = self.new("the next publication, of several frames itself", small).join()
        talk.start(FITTED | MORE)
        talk.with_generation("AddManeuvers", FITTED | MORE, maneuvers=maneuvers(1))
        talk.with_generation("AddManeuvers", FITTED, 2, maneuvers=maneuvers(2))
        talk = self.new("the end of a snapshot ends a publication of several frames", small)
        talk.snapshot(until=1)
        talk.start(FITTED | MORE, number=1)
        talk.with_generation("AddManeuvers", FITTED | MORE, 1, maneuvers=maneuvers(1))
        talk.end_snapshot()
        talk = self.new("a frame without a session id between frames of a publication", small).join()
        talk.start(FITTED | MORE)
        talk.gateway("Ping", {"nonce": "5"})
        talk.with_generation("AddManeuvers", FITTED, 1, maneuvers=maneuvers(1))
        talk = self.new("a session ends between frames of a publication", small).join()
        talk.start(FITTED | MORE)
        talk.ended()

    def others(self):
        talk = self.new("messages that change nothing").join().start(maneuvers=maneuvers(1))
        talk.gateway("Ping", {"nonce": "5"})
        talk.gateway("Pong", {"nonce": "5"})
        talk.gateway("Error", {"code": 7, "message_type": 0x0208})
        talk.gateway("Prompt", {"request_id": "r", "waypoint": PLACE, "travel_estimates": meters(1), "deadline_milliseconds": 60000})
        talk.gateway("PromptOver", {"request_id": "r", "outcome": 1})
        talk.gateway("RequestOutcome", {"request_id": "r", "vehicle_id": "car", "outcome": 1})
        talk.received(None, None, frame(0x00EE, b"\xff", SKIPPABLE), SKIPPABLE, 0, 0, False)
