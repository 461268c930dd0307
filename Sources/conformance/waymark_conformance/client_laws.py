"""Laws for navigation clients: numbers, generations, references and phases of what they publish."""

from .frames import FLAGS
from .laws import NEEDS, OF_ROUTE, PeerLaws

ANYTIME = {"TripPreviews", "ShareDestination", "StartGuidance", "FinishGuidance", "CancelGuidance"}
STATES = ["CONTINUE", "INITIAL", "PREPARE", "EXECUTE"]


def canonical(angle):
    """The angle of 180 and of -180 degrees is the same."""
    return -180 if angle == 180 else angle


class Session:
    """What a client has published in one session."""

    def __init__(self, number=0):
        self.number, self.generation, self.phase, self.is_over = number, 0, "preview", False
        self.maneuvers, self.lanes, self.segments = set(), set(), set()
        self.previews = {}
        self.state, self.first, self.is_fresh, self.shares_segments, self.shares_destination, self.alert = (
            0,
            None,
            True,
            False,
            False,
            0,
        )
        self.is_known = True

    def begin(self, generation, route):
        self.generation, self.maneuvers, self.lanes, self.segments = generation, set(), set(), set()
        self.state, self.is_fresh, self.first = 0, True, (route.get("upcoming_maneuver_ids") or [None])[0]


class ClientLaws(PeerLaws):
    """A client, seen from its gateway."""

    # What a client published survives its connection.
    def __init__(self, sessions):
        super().__init__("client")
        self.published, self.granted, self.extensions, self.asked = sessions, set(), [], {}

    def sent(self, frame, now):
        super().sent(frame, now)
        body = frame.decoded
        if frame.name == "SessionOpened":
            self.published.setdefault(body["session_id"], Session())
        elif frame.name == "SessionEnded":
            self.published.setdefault(body["session_id"], Session()).is_over = True
        elif frame.name == "Welcome":
            self.granted = {each["feature"] for each in body.get("features", []) if each.get("granted")}
            self.extensions = body.get("extensions", [])
            for resumed in body.get("sessions", []):
                session = self.published.setdefault(resumed["session_id"], Session())
                if resumed.get("sequence", 0) < session.number:
                    session.is_known = False  # What was published since is repeated: only numbers are checked then.
                session.number = resumed.get("sequence", 0)
        elif frame.name in ("WaypointRequest", "DestinationRequest", "StartTripRequest"):
            self.asked[body["request_id"]] = [frame.name, body.get("vehicle_id"), []]

    def received(self, frame, fault, now):
        super().received(frame, fault, now)
        if frame.is_publication:
            self.publication(frame)
        elif frame.name == "RequestAnswer":
            self.answer(frame.decoded)

    def answer(self, body):
        known = self.asked.get(body.get("request_id"))
        is_asked = known is not None and known[1] == body.get("vehicle_id")
        self.law("ANSWER", is_asked, f"an answer to {body.get('request_id')}, which was not asked")
        if known is None or not is_asked:
            return
        kind, _, before = known
        answer = body.get("answer")
        after: dict[str, dict[str, list[str] | None]] = {
            "WaypointRequest": {"ESTIMATES": [], "OWN_PROMPT": [], "ACCEPT": ["OWN_PROMPT"], "DECLINE": None},
            "DestinationRequest": {"ACCEPT": [], "ACCEPT_WITH_PREVIEW": [], "DECLINE": []},
            "StartTripRequest": {"ACCEPT": [], "DECLINE": []},
        }
        fits = after[kind].get(answer, ["never"])
        self.law("ANSWER", fits is None or fits == before, f"{answer} to a {kind} after {before}")
        self.law("ANSWER", ("travel_estimates" in body) == (answer == "ESTIMATES"), f"{answer}: estimates do not fit")
        self.law(
            "ANSWER",
            (body.get("reason", "UNSPECIFIED") != "UNSPECIFIED") == (answer == "DECLINE"),
            f"{answer}: the reason does not fit",
        )
        before.append(answer)

    def publication(self, frame):
        session = self.published.get(frame.session)
        name = frame.name
        if not self.law("OPEN", session is not None, f"{name} for session {frame.session}, which was not opened"):
            return
        self.law("NUMBERS", frame.sequence == session.number + 1, f"{name} has the number {frame.sequence} after {session.number}")
        session.number = frame.sequence
        self.law("STATEFLAGS", not frame.flags & FLAGS["RETAINED"] or frame.flags & FLAGS["STATE"], f"{name} has RETAINED without STATE")
        self.law("OWNTYPES", not name.startswith("0x"), f"{name} is not defined")
        if not session.is_known or not isinstance(frame.decoded, dict) or name.startswith("0x"):
            return
        body = frame.decoded
        if name == "PublishExtension":
            extension = body.get("name")
            self.law("EXTENSIONS", extension in self.extensions, f"{extension} is not in Welcome")
            return
        needs = NEEDS.get(name)
        self.law("DECLARED", needs is None or needs in self.granted, f"{name} without {needs}")
        allowed = name in ANYTIME or session.phase == "paused" or (session.phase == "active" and name != "ResumeGuidance")
        self.law("PHASE", allowed, f"{name} in the phase {session.phase}")
        self.generations(session, name, body)
        self.content(session, name, body)

    def generations(self, session, name, body):
        generation = body.get("generation", 0)
        if name == "StartGuidance" or (name == "ResumeGuidance" and "route" in body):
            self.law("GENERATION", generation > session.generation, f"{name} has the generation {generation} after {session.generation}")
            if name == "StartGuidance":
                session.shares_segments = body.get("trip", {}).get("route_segments_available", False)
                session.shares_destination = body.get("trip", {}).get("destination_shareable", False)
                session.alert = 0
            route = body.get("route", {})
            session.begin(generation, route)
            self.add(session, name, route)
            self.references(session, name, route)
        elif "generation" in body or name in ("AddManeuvers", "UpdateManeuverState", "UpcomingManeuvers", "ResumeGuidance"):
            self.law(
                "GENERATION",
                generation == session.generation,
                f"{name} has the generation {generation}, the current one is {session.generation}",
            )

    def add(self, session, name, route):
        for key, known in (("maneuvers", session.maneuvers), ("lane_guidances", session.lanes), ("segments", session.segments)):
            for each in route.get(key, []):
                self.law("UNIQUE", each.get("id") not in known, f"{name}: {key} has {each.get('id')} twice")
                known.add(each.get("id"))
            self.law("DECLARED", not route.get(key) or OF_ROUTE[key] in self.granted, f"{name} has {key} without {OF_ROUTE[key]}")
        self.law(
            "SEGMENTS",
            not route.get("segments") or session.shares_segments,
            f"{name} has segments, but the trip does not share them",
        )
        for maneuver in route.get("maneuvers", []):
            angles = maneuver.get("junction_element_angles_degrees", [])
            self.law(
                "CONSISTENT",
                canonical(maneuver.get("junction_exit_angle_degrees")) not in map(canonical, angles),
                f"{name}: the exit angle is among the other roads",
            )
        for lane in (lane for guidance in route.get("lane_guidances", []) for lane in guidance.get("lanes", [])):
            if "highlighted_angle_degrees" in lane:
                is_known = canonical(lane["highlighted_angle_degrees"]) in map(canonical, lane.get("angles_degrees", []))
                fits = is_known and lane.get("status", "NOT_GOOD") != "NOT_GOOD"
                self.law("CONSISTENT", fits, f"{name}: a lane highlights an angle that it does not have")
        for segment in route.get("segments", []):
            self.line(name, segment.get("coordinates", {}))

    def line(self, name, line):
        axes = [line.get("latitude_e6_deltas", []), line.get("longitude_e6_deltas", [])]
        self.law("CONSISTENT", len(axes[0]) == len(axes[1]), f"{name}: a line has {len(axes[0])} latitudes and {len(axes[1])} longitudes")
        for values, most in zip(axes, (90_000_000, 180_000_000), strict=True):
            total, is_right = 0, True
            for delta in values:
                total += delta
                is_right = is_right and abs(total) <= most
            self.law("CONSISTENT", is_right, f"{name}: a line leaves the Earth")

    def references(self, session, name, body):
        pairs = [("upcoming_maneuver_ids", session.maneuvers), ("maneuver_ids", session.maneuvers)]
        for key, known in pairs:
            missing = [each for each in body.get(key, []) if each not in known]
            self.law("REFERENCES", not missing, f"{name}: {key} has {missing}, which was not added")
        for key, known in (
            ("current_lane_guidance_id", session.lanes),
            ("lane_guidance_id", session.lanes),
            ("maneuver_id", session.maneuvers),
        ):
            self.law("REFERENCES", not body.get(key) or body[key] in known, f"{name}: {key} is {body.get(key)}, which was not added")
        for key in ("current_segment_id", "segment_id"):
            self.law(
                "REFERENCES",
                not body.get(key) or body[key] in session.segments,
                f"{name}: {key} is {body.get(key)}, which was not added",
            )
        for segment in body.get("segments", []):
            missing = [
                each for each in segment.get("maneuver_ids", []) + segment.get("current_maneuver_ids", []) if each not in session.maneuvers
            ]
            missing += [each for each in segment.get("lane_guidance_ids", []) if each not in session.lanes]
            self.law("REFERENCES", not missing, f"{name}: a segment has {missing}, which was not added")

    def content(self, session, name, body):
        if name in ("StartGuidance", "ResumeGuidance"):
            session.phase = "active"
            session.is_fresh = True
        elif name == "PauseGuidance":
            session.phase, session.state, session.is_fresh = "paused", 0, True
        elif name in ("AddManeuvers", "AddLaneGuidances", "AddRouteSegments"):
            self.add(session, name, body)
            self.references(session, name, body)
        elif name == "UpcomingManeuvers":
            self.references(session, name, body)
            first = (body.get("maneuver_ids") or [None])[0]
            session.is_fresh = session.is_fresh or first != session.first
            session.first = first
        elif name == "UpdateManeuverState":
            self.maneuver_state(session, body)
        elif name in ("UpdateManeuverEstimates", "CurrentLaneGuidance", "CurrentRouteSegment"):
            self.references(session, name, body)
        elif name == "UpdateTrip":
            session.shares_segments = body.get("trip", {}).get("route_segments_available", False)
            session.shares_destination = body.get("trip", {}).get("destination_shareable", False)
        elif name == "TripPreviews":
            session.previews = {trip.get("id", ""): trip.get("destination_shareable", False) for trip in body.get("trips", [])}
        elif name == "ShareDestination":
            shares = session.previews.get(body.get("trip_id", ""), False) if session.phase == "preview" else session.shares_destination
            self.law("SHARE", shares, "ShareDestination, but the trip does not share its destination")
        elif name == "ShowAlert":
            session.alert = body.get("alert", {}).get("id", 0)
        elif name == "DismissAlert":
            self.law(
                "ALERT",
                body.get("alert_id") == session.alert,
                f"DismissAlert of {body.get('alert_id')}, the current alert is {session.alert}",
            )
            session.alert = 0
        elif name in ("FinishGuidance", "CancelGuidance"):
            session.phase = "over"

    def maneuver_state(self, session, body):
        state = body.get("state", "CONTINUE")
        number = STATES.index(state) if state in STATES else 0
        fits = session.is_fresh or number >= session.state or (session.state == 3 and number == 0)
        self.law("MANEUVERSTATE", fits, f"the maneuver state goes from {STATES[session.state]} to {state}")
        self.law("MANEUVERSTATE", session.phase != "paused" or number == 0, f"the maneuver state is {state} while guidance is paused")
        session.state, session.is_fresh = number, False
