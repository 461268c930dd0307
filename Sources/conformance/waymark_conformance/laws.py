"""Laws: what must hold in every conversation, whatever the case is about. Their ids and requirements are in data/laws.json."""

from collections import Counter
from collections.abc import Callable

from .frames import FLAGS, flag_names
from .schema import MESSAGES, faults, load

SENDERS = {
    "endpoint": {"newcomer", "peer", "endpoint", "endpointOrObserver"},
    "client": {"newcomer", "peer", "client", "publisher"},
    "observer": {"newcomer", "peer", "observer", "endpointOrObserver"},
}
# Types that the gateway sends, by the role of their receiver.
TO_ENDPOINT = {
    "Welcome",
    "Goodbye",
    "Ping",
    "Pong",
    "Error",
    "SessionEnded",
    "SnapshotBegin",
    "SnapshotEnd",
    "SessionSuspended",
    "SessionRestored",
    "Prompt",
    "PromptOver",
    "RequestOutcome",
}
TO_CLIENT = {
    "Welcome",
    "Goodbye",
    "Ping",
    "Pong",
    "Error",
    "SessionOpened",
    "VehicleChanged",
    "SessionEnded",
    "ReceiptReport",
    "Acknowledgement",
    "WaypointRequest",
    "DestinationRequest",
    "StartTripRequest",
    "RequestOutcome",
    "UpdateRouteSource",
    "SelectPreview",
    "VehicleSettings",
    "ZoomCluster",
    "AlertResponse",
    "VehicleExtension",
    "SimulateDrive",
    "DestinationShareWanted",
    "UpdateRouteFeedback",
    "DestinationShareStatus",
}
TO_OBSERVER = {
    "Welcome",
    "Goodbye",
    "Ping",
    "Pong",
    "Error",
    "ObservationBegin",
    "ObservedRecords",
    "ObservedEvent",
    "ObservedFrames",
    "ObservationGap",
    "Counters",
}
ENTRIES = {"ObservedRecords", "ObservedEvent", "ObservedFrames"}
TO = {"endpoint": TO_ENDPOINT, "client": TO_CLIENT, "observer": TO_OBSERVER}
OF_SESSION = {"SnapshotBegin", "SnapshotEnd", "SessionSuspended", "SessionRestored"}
TO_CLIENT_OF_SESSION = {
    "VehicleChanged",
    "ReceiptReport",
    "Acknowledgement",
    "WaypointRequest",
    "StartTripRequest",
    "UpdateRouteSource",
    "SelectPreview",
    "VehicleSettings",
    "ZoomCluster",
    "AlertResponse",
    "VehicleExtension",
    "DestinationShareWanted",
    "UpdateRouteFeedback",
    "DestinationShareStatus",
}
NEEDS = {
    "TripPreviews": "TRIP_PREVIEWS",
    "AddManeuvers": "MANEUVERS",
    "AddLaneGuidances": "LANE_GUIDANCE",
    "AddRouteSegments": "ROUTE_SEGMENTS",
    "UpcomingManeuvers": "MANEUVERS",
    "CurrentLaneGuidance": "LANE_GUIDANCE",
    "CurrentRoadName": "CURRENT_ROAD_NAME",
    "UpdateManeuverState": "MANEUVERS",
    "UpdateManeuverEstimates": "MANEUVERS",
    "CurrentRouteSegment": "ROUTE_SEGMENTS",
    "ShowAlert": "NAVIGATION_ALERTS",
    "DismissAlert": "NAVIGATION_ALERTS",
    "ShareDestination": "DESTINATION_SHARING",
    "UpdateSpeedLimit": "SPEED_LIMIT",
}
OF_ROUTE = {"maneuvers": "MANEUVERS", "lane_guidances": "LANE_GUIDANCE", "segments": "ROUTE_SEGMENTS"}
KNOWN_FLAGS = sum(FLAGS.values())
# The causes of outcomes, from the page's table.
CAUSES = load("causes.json")


# Messages that a gateway divides for clients and observers.
DIVIDED = {
    "Welcome", "SessionOpened", "VehicleChanged", "ReceiptReport", "ObservedRecords", "ObservedEvent", "ObservedFrames", "Counters",
}  # fmt: skip


def has_speed_limits(frame):
    """Whether a segment of a publication has speed limits."""
    route = frame.decoded.get("route", {}) if isinstance(frame.decoded.get("route"), dict) else {}
    segments = route.get("segments", []) + (frame.decoded.get("segments", []) if frame.name == "AddRouteSegments" else [])
    return any(segment.get("speed_limits") for segment in segments)


class Laws:
    """Observes one connection. `used` has the laws that it could have broken, `broken` what broke them."""

    def __init__(self):
        self.used: set[str] = set()
        self.broken: list[tuple[str, str]] = []
        self.count, self.is_over = 0, False
        self.pings: Counter[int] = Counter()
        # How late this program has been since an instant, at worst: what it measures is wrong by as much.
        self.late: Callable[[float], float] = lambda since: 0.0

    def law(self, name, holds, text):
        self.used.add(name)
        if not holds:
            self.broken.append((name, text))
        return holds

    def keepalive(self, frame):
        if frame.name == "Pong":
            nonce = frame.decoded.get("nonce", 0)
            self.law("PONG", self.pings[nonce] > 0, f"a Pong has the nonce {nonce}, which no Ping had")
            self.pings[nonce] -= 1

    def body(self, name, frame, fault):
        found = [fault] if fault else faults(frame.name, frame.body)
        self.law(name, not found, f"{frame.name}: {'; '.join(found[:3])}")

    def sent(self, frame, now):
        if frame.name == "Ping":
            self.pings[frame.decoded.get("nonce", 0)] += 1

    def closed(self):
        """The connection has ended."""


class GatewayLaws(Laws):
    """A gateway, seen from a peer with a role."""

    def __init__(self, role):
        super().__init__()
        self.role, self.session, self.numbers, self.is_full = role, 0, 0, False
        # Whether the peers of the case set flags that have no name, which the gateway forwards (REQ-FRAME-10).
        self.is_later = False
        self.withheld, self.outcomes, self.acknowledged, self.published = set(), {}, {}, {}
        self.limit, self.granted, self.phase_ended, self.entry = 16_777_216, None, set(), 0
        # The type of an entry of which another part follows.
        self.has_more = ""

    def sent(self, frame, now):
        super().sent(frame, now)
        if frame.name == "Hello":
            self.limit = frame.decoded.get("receive_frame_bytes_max", 0) or 16_777_216
        elif frame.is_publication:
            self.published[frame.session] = max(frame.sequence, self.published.get(frame.session, 0))

    def received(self, frame, fault, now):
        self.count += 1
        self.law("GOODBYE", not self.is_over, f"{frame.name} comes after the Goodbye")
        self.law("FIRST", self.count > 1 or frame.name in ("Welcome", "Goodbye"), f"the first frame is {frame.name}")
        self.header(frame)
        if frame.is_publication:
            self.law("DIRECTION", self.role == "endpoint", f"{frame.name} goes to the role {self.role}")
        else:
            self.law("DIRECTION", frame.name in TO[self.role], f"{frame.name} goes to the role {self.role}")
            if frame.name in MESSAGES:
                self.body("BODY", frame, fault)
            self.session_of(frame)
        self.keepalive(frame)
        if self.role == "endpoint":
            self.endpoint(frame)
        elif self.role == "client":
            self.client(frame)
        else:
            self.observer(frame)
        self.is_over = self.is_over or frame.name == "Goodbye"

    def header(self, frame):
        names = flag_names(frame.flags)
        own = frame.flags & (FLAGS["GATEWAY"] | FLAGS["FITTED"] | FLAGS["MORE"])
        is_own = not frame.is_publication or frame.flags & FLAGS["FITTED"]  # Others have the client's header.
        is_forwarded = self.is_later and frame.is_publication
        self.law("FLAGS", not is_own or is_forwarded or frame.flags & ~KNOWN_FLAGS == 0, f"{frame.name} has the flags {names}")
        is_divided = own & FLAGS["FITTED"] if self.role == "endpoint" else frame.name in DIVIDED
        self.law("FLAGS", not own & FLAGS["MORE"] or is_divided, f"{frame.name} to the role {self.role} has MORE")
        retained = frame.flags & (FLAGS["STATE"] | FLAGS["RETAINED"])
        self.law("FLAGS", not (own & FLAGS["FITTED"] and retained), f"{frame.name} has the flags {names}")
        self.law("KEY", not is_own or not frame.key or frame.flags & FLAGS["STATE"], f"{frame.name} has the key {frame.key}")
        is_right = frame.sequence > 0 if frame.is_publication else frame.sequence == 0
        self.law("SEQUENCE", is_right, f"{frame.name} has the number {frame.sequence}")
        size = len(frame.body) + 24
        self.law("SIZE", size <= self.limit, f"{frame.name} has {size} bytes, more than {self.limit}")

    def session_of(self, frame):
        expected = {"endpoint": OF_SESSION, "client": TO_CLIENT_OF_SESSION, "observer": set()}[self.role]
        if frame.name == "RequestOutcome":
            self.cause(frame.decoded)
            if self.role == "client":
                return
        if self.role == "client" and frame.name == "SimulateDrive":
            is_of_vehicle = bool(frame.decoded.get("vehicle_id"))
            self.law("SESSION", (frame.session != 0) == is_of_vehicle, f"{frame.name} has the session {frame.session}")
            return
        self.law("SESSION", (frame.session != 0) == (frame.name in expected), f"{frame.name} has the session {frame.session}")

    def endpoint(self, frame):
        body = frame.decoded
        if frame.name == "Welcome":
            self.granted = {each["feature"] for each in body.get("features", []) if each.get("granted")}
        elif frame.name == "SnapshotBegin":
            self.session, self.is_full, self.numbers = frame.session, body.get("kind") == "FULL", 0
            self.withheld = {each["feature"] for each in body.get("withheld", [])}
            return
        elif frame.name == "SessionEnded" and body.get("session_id", 0) in (0, self.session):
            self.session = 0
        if frame.session:
            self.law("SNAPSHOT", frame.session == self.session, f"{frame.name} of session {frame.session} without a SnapshotBegin")
        if frame.name == "SnapshotEnd":
            self.numbers = 0 if self.is_full else self.numbers
            self.is_full = False
        if frame.is_publication:
            self.law(
                "ORDER",
                self.is_full or frame.sequence >= self.numbers,
                f"{frame.name} has the number {frame.sequence} after {self.numbers}",
            )
            self.numbers = frame.sequence
            self.content(frame)
        if frame.name in ("Prompt", "PromptOver") and self.granted is not None:
            self.law("GRANTED", "PROMPTS" in self.granted, f"{frame.name} without PROMPTS")
        if frame.name == "RequestOutcome":
            if self.granted is not None:
                self.law("GRANTED", "REQUESTS" in self.granted, "RequestOutcome without REQUESTS")
            self.one_outcome(body)

    def one_outcome(self, body):
        known = self.outcomes.setdefault((body.get("vehicle_id"), body.get("request_id")), body.get("outcome"))
        self.law("OUTCOME", known == body.get("outcome"), f"request {body.get('request_id')} ends with {known} and {body.get('outcome')}")

    def cause(self, body):
        """A gateway need not say a cause; what it says is one of the table."""
        cause, endpoint = CAUSES.get(str(body.get("cause"))), body.get("endpoint")
        if cause is not None:
            fits = body.get("outcome") in cause["outcomes"]
            self.law("CAUSE", fits, f"the outcome {body.get('outcome')} has the cause {body.get('cause')}")
        if endpoint:
            names = cause is None or cause["endpoint"]
            self.law("CAUSE", names, f"the cause {body.get('cause')} names the endpoint {endpoint}")

    def content(self, frame):
        feature = NEEDS.get(frame.name)
        self.law("WITHHELD", feature is None or feature not in self.withheld, f"{frame.name} comes, but {feature} is withheld")
        route = frame.decoded.get("route", {}) if isinstance(frame.decoded.get("route"), dict) else {}
        for key, feature in OF_ROUTE.items():
            self.law("WITHHELD", feature not in self.withheld or not route.get(key), f"{frame.name} has {key}, but {feature} is withheld")
        if "SPEED_LIMIT" in self.withheld:
            self.law("WITHHELD", not has_speed_limits(frame), f"{frame.name} has speed limits, but SPEED_LIMIT is withheld")

    def observer(self, frame):
        number = frame.decoded.get("number", 0)
        if frame.name == "ObservationBegin":
            self.entry = number
        elif frame.name == "ObservationGap":
            self.entry += frame.decoded.get("dropped", 0)
        elif frame.name in ENTRIES and number:
            # A part of a message has the number of the parts before it.
            follows = self.entry if self.has_more == frame.name else self.entry + 1
            self.law("ENTRIES", number == follows, f"{frame.name} has the number {number} after {self.entry}")
            self.entry = number
        if frame.name in ENTRIES:
            self.has_more = frame.name if frame.flags & FLAGS["MORE"] else ""

    def client(self, frame):
        if frame.name == "Acknowledgement":
            number, before = frame.decoded.get("sequence", 0), self.acknowledged.get(frame.session, 0)
            self.law("ACKNOWLEDGED", number > before, f"Acknowledgement of {number} after {before}")
            self.law(
                "ACKNOWLEDGED",
                number <= self.published.get(frame.session, number),
                f"Acknowledgement of {number}, which was not published",
            )
            self.acknowledged[frame.session] = number
        elif frame.name == "SessionEnded":
            self.phase_ended.add(frame.decoded.get("session_id"))
        elif frame.session:
            self.law("LAST", frame.session not in self.phase_ended, f"{frame.name} of session {frame.session} after its SessionEnded")
        if frame.name in TO_CLIENT_OF_SESSION & {
            "UpdateRouteSource",
            "VehicleSettings",
            "ZoomCluster",
            "AlertResponse",
            "SelectPreview",
            "WaypointRequest",
            "StartTripRequest",
            "DestinationShareWanted",
            "UpdateRouteFeedback",
        }:
            self.law("NAMED", bool(frame.decoded.get("vehicle_id")), f"{frame.name} does not name the vehicle")


HELLOS = {
    "endpoint": ("VEHICLE_ENDPOINT", "vehicle"),
    "client": ("NAVIGATION_CLIENT", "navigation"),
    "observer": ("OBSERVER", "observer"),
}


class PeerLaws(Laws):
    """An endpoint, a client or an observer, seen from its gateway."""

    def __init__(self, role):
        super().__init__()
        self.role, self.is_dismissed, self.sessions = role, False, set()
        # Whether its Hello had a token and its Welcome has not been sent.
        self.must_wait = False

    def sent(self, frame, now):
        super().sent(frame, now)
        if frame.session:
            self.sessions.add(frame.session)
        self.is_dismissed = self.is_dismissed or frame.name == "Goodbye"
        self.must_wait = self.must_wait and frame.name != "Welcome"

    def received(self, frame, fault, now):
        self.count += 1
        self.law("GOODBYE", not self.is_over, f"{frame.name} comes after the Goodbye")
        self.law(
            "FIRST",
            (frame.name in ("Hello", "Goodbye")) == (self.count == 1) or frame.name == "Goodbye",
            f"frame {self.count} is {frame.name}",
        )
        self.wait(frame)
        self.law("UNANSWERED", not (self.is_dismissed and frame.name == "Goodbye"), "a Goodbye is answered by a Goodbye")
        if self.count == 1:
            self.law("HELLO", len(frame.body) + 24 <= 4_096, f"the Hello has {len(frame.body) + 24} bytes")
        unknown = frame.name not in MESSAGES
        is_skippable = frame.flags & FLAGS["SKIPPABLE"]
        self.law(
            "DIRECTION",
            is_skippable or (not unknown and MESSAGES[frame.name]["sender"] in SENDERS[self.role]),
            f"{frame.name} from the role {self.role}",
        )
        allowed = FLAGS["SKIPPABLE"] | (FLAGS["STATE"] | FLAGS["RETAINED"] if self.role == "client" else 0)
        self.law("FLAGS", frame.flags & ~allowed == 0, f"{frame.name} has the flags {flag_names(frame.flags)}")
        self.law("KEY", not frame.key or frame.flags & FLAGS["STATE"], f"{frame.name} has the key {frame.key}")
        if not frame.is_publication:
            self.law("SEQUENCE", frame.sequence == 0, f"{frame.name} has the number {frame.sequence}")
        if not unknown:
            self.body("BODY", frame, fault)
            self.role_of(frame)
        self.keepalive(frame)
        self.session_of(frame)
        self.is_over = self.is_over or frame.name == "Goodbye"

    def wait(self, frame):
        if self.must_wait:
            self.law("WAIT", frame.name == "Goodbye", f"{frame.name} comes behind a Hello with a token, before the Welcome")
        elif frame.name == "Hello" and frame.decoded.get("resumption_token"):
            self.must_wait = self.law("WAIT", True, "")

    def role_of(self, frame):
        if frame.name == "Hello":
            body = frame.decoded
            role, part = HELLOS[self.role]
            # An observer may leave its part out: it has only ids for others to read.
            is_right = part in body or self.role == "observer"
            others = [other for _, other in HELLOS.values() if other != part and other in body]
            self.law("HELLO", body.get("role") == role and is_right and not others, "role and content of the Hello do not fit")
            self.law("HELLO", body.get("version_min", 0) <= 2 <= body.get("version_max", 0), "the Hello does not offer version 2")

    def session_of(self, frame):
        if self.role == "client" or frame.name not in MESSAGES:
            return
        if frame.name == "Receipt":
            fits = frame.session in self.sessions
        else:
            fits = frame.session == 0 or (frame.type >= 0x200 and frame.session in self.sessions)
        self.law("SESSION", fits, f"{frame.name} has the session {frame.session}")


class EndpointLaws(PeerLaws):
    """The cursor of an endpoint, and its receipts."""

    def __init__(self):
        super().__init__("endpoint")
        self.cursor = self.end = self.every = self.session = 0
        self.is_full, self.receipts, self.cursors = False, [], {0}

    def sent(self, frame, now):
        super().sent(frame, now)
        if frame.name == "SnapshotBegin" and frame.decoded.get("kind") == "FULL":
            self.session = frame.session
        if frame.session != self.session:
            return
        if frame.name == "SnapshotBegin":
            self.is_full = frame.decoded.get("kind") == "FULL"
            self.every = frame.decoded.get("receipts_every_milliseconds", 0) / 1000
            self.cursor, self.end = 0 if self.is_full else self.cursor, frame.decoded.get("to_sequence", 0)
        elif frame.name == "SnapshotEnd":
            self.cursor, self.is_full = self.end, False
        elif frame.is_publication and not self.is_full:
            self.cursor = frame.sequence
        self.cursors.add(self.cursor)

    def received(self, frame, fault, now):
        super().received(frame, fault, now)
        if frame.name != "Receipt":
            return
        number = frame.decoded.get("received_sequence", 0)
        self.law("RECEIPT", number in self.cursors, f"Receipt with {number}, which never was the cursor")
        self.law("RECEIPT", frame.decoded.get("shown_sequence", 0) <= number, "Receipt shows more than it received")
        self.law("RATE", self.every > 0, "Receipt, which was not requested")
        if self.receipts and self.every:
            apart = now - self.receipts[-1]
            least = self.every * 0.8 - 0.05 - 2 * self.late(self.receipts[-1] - self.every)
            self.law("RATE", apart > least, f"two Receipts within {apart:.3f} s")
        self.receipts.append(now)


class ObserverLaws(PeerLaws):
    """What an observer asks for: an observation that can be continued, and nothing else."""

    def __init__(self):
        super().__init__("observer")
        # The number of the last entry that it was told.
        self.told = 0

    def sent(self, frame, now):
        super().sent(frame, now)
        if isinstance(frame.decoded, dict):
            self.told = max(self.told, frame.decoded.get("number", 0))

    def received(self, frame, fault, now):
        super().received(frame, fault, now)
        if frame.name == "Observe":
            after = frame.decoded.get("after_number", 0)
            self.law("AFTER", after <= self.told, f"Observe after the entry {after}, and the last one that was told is {self.told}")
