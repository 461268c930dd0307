"""Handshake, keepalive, errors. Made by scripts/generate/python_messages.py from Protos. Do not edit."""

from __future__ import annotations

from dataclasses import dataclass

from waymark_nav._wire import (
    BOOL,
    BYTES,
    ENUM,
    MESSAGE,
    SINT32,
    STRING,
    UINT32,
    UINT64,
    Field,
    Message,
    OpenEnum,
    define,
)


class Role(OpenEnum):
    """What a connection is for."""

    UNSPECIFIED = 0
    #: One endpoint of a vehicle: a cluster, a head-up display, driver assistance, a test rig.
    VEHICLE_ENDPOINT = 1
    #: A client that provides guidance.
    NAVIGATION_CLIENT = 2
    #: A peer that sees what happens and takes no part in it.
    OBSERVER = 3


class Feature(OpenEnum):
    """What can be granted or withheld."""

    UNSPECIFIED = 0
    #: Maneuvers with the roads behind them, upcoming maneuvers, maneuver state, estimates of maneuvers.
    MANEUVERS = 1
    #: Lane guidances and the current one.
    LANE_GUIDANCE = 2
    #: `Maneuver.highway_exit_label`.
    EXIT_LABELS = 3
    #: `CurrentRoadName`.
    CURRENT_ROAD_NAME = 4
    #: Route segments and the current one.
    ROUTE_SEGMENTS = 5
    #: Destinations shared with the vehicle.
    DESTINATION_SHARING = 6
    #: Navigation alerts.
    NAVIGATION_ALERTS = 7
    #: `Waypoint.charge`.
    CHARGE = 8
    #: `Waypoint.time_zone`, `Waypoint.utc_offset_minutes`.
    TIME_ZONE = 9
    #: Trip previews before guidance.
    TRIP_PREVIEWS = 10
    #: The endpoint may send requests that speak for its vehicle.
    REQUESTS = 11
    #: The endpoint is asked on behalf of the vehicle's user.
    PROMPTS = 12
    #: The client is asked to insert waypoints.
    WAYPOINT_REQUESTS = 13
    #: The client is asked to start a drive.
    DESTINATION_REQUESTS = 14
    #: Receipts are reported. Need not be asked for.
    RECEIPTS = 15
    #: The connection can be resumed by token. Need not be asked for.
    RESUMPTION = 16
    #: `UpdateSpeedLimit`, `RouteSegment.speed_limits`.
    SPEED_LIMIT = 17
    #: The client is told which trip of its previews the vehicle selects, and is asked to start one.
    TRIP_REQUESTS = 18
    #: The client can be asked to simulate a drive; the endpoint may ask.
    SIMULATED_DRIVES = 19


class WithheldReason(OpenEnum):
    """Why a feature is withheld."""

    UNSPECIFIED = 0
    #: This peer did not ask for it.
    NOT_REQUESTED = 1
    #: The gateway already fits the session to as many distinct profiles as it may; ends as soon as there is room.
    NO_CAPACITY = 2
    #: The navigation client does not provide it, or was not granted it.
    CLIENT_DOES_NOT_PROVIDE = 3
    #: This trip is not shared: `Trip.route_segments_available` or `Trip.destination_shareable` is false.
    TRIP_OPTED_OUT = 4
    #: The vehicle's owner has not consented (configuration).
    NO_CONSENT = 5
    #: The operator switched it off (configuration).
    POLICY = 6
    #: The endpoint's `VehicleSettings.speed_limit` is DISABLED; ends as soon as it is not.
    VEHICLE_DOES_NOT_WANT = 8


class DistanceUnits(OpenEnum):
    """The units in which the endpoint shows distances."""

    #: Distances as the navigation client published them.
    AS_PUBLISHED = 0
    #: Metres and kilometres.
    METRIC = 1
    #: Miles and feet.
    IMPERIAL_FEET = 2
    #: Miles and yards.
    IMPERIAL_YARDS = 3


class Visibility(OpenEnum):
    """What an observer sees."""

    UNSPECIFIED = 0
    #: Everything but places: coordinates, addresses, names, and texts, which may contain names.
    STATE = 1
    #: Everything, but for what a vehicle's owner or a trip does not share.
    CONTENT = 2
    #: Everything.
    ALL = 3


class SessionPhase(OpenEnum):
    """What became of a client's session while it was away."""

    UNSPECIFIED = 0
    PREVIEW = 1
    ACTIVE = 2
    PAUSED = 3
    ENDED = 4


class CloseCode(OpenEnum):
    """Close codes. Each is documented with its meaning and what the peer should do in Docs/protocol.md."""

    UNSPECIFIED = 0
    #: The peer is done.
    NORMAL = 1
    #: The gateway is going down; connect again after the hint.
    SHUTTING_DOWN = 2
    BAD_MAGIC = 3
    UNSUPPORTED_VERSION = 4
    FRAME_TOO_LARGE = 5
    UNKNOWN_MESSAGE_TYPE = 7
    UNEXPECTED_MESSAGE = 8
    HANDSHAKE_TIMEOUT = 9
    HANDSHAKE_INVALID = 10
    ROLE_NOT_ALLOWED = 11
    NOT_AUTHORIZED = 12
    ID_IN_USE = 13
    TAKEN_OVER = 14
    KEEPALIVE_TIMEOUT = 15
    SLOW_CONSUMER = 16
    TOO_MANY_CONNECTIONS = 17
    TOO_MANY_ERRORS = 18
    RESOURCE_LIMIT = 19
    #: Reserved: the meaning of a code that the peer does not know.
    INTERNAL = 20
    #: Reserved: the gateway's peers belong to another gateway.
    MOVED = 21
    #: Reserved: the peer sends more than it may.
    RATE_LIMITED = 22
    #: The listener needs a key, and the Hello has none or another one.
    NOT_AUTHENTICATED = 23
    #: The operator changed keys or rules for a peer that was allowed before; connect again, as after a cut.
    RULES_CHANGED = 24


class ErrorCode(OpenEnum):
    """Error codes. Unlike after a close code, the connection stays open."""

    UNSPECIFIED = 0
    #: The body is not the message that its type says.
    MALFORMED = 1
    #: A string is not UTF-8, or has a NUL in it.
    INVALID_TEXT = 2
    #: A number, or a count or length, is outside its range.
    OUT_OF_RANGE = 3
    #: A field that must be there is not.
    MISSING = 4
    #: An id refers to nothing that was added.
    UNKNOWN_REFERENCE = 5
    #: An id is there already.
    DUPLICATE = 6
    #: The message is not allowed in this state.
    WRONG_STATE = 7
    #: The generation is not the current one.
    STALE_GENERATION = 8
    #: The sequence number is not the last plus one.
    SEQUENCE_GAP = 9
    #: There is no such session, or it is not this client's.
    UNKNOWN_SESSION = 10
    #: Another client guides the vehicle.
    VEHICLE_BUSY = 11
    #: The vehicle navigates by itself and has not asked for guidance.
    VEHICLE_NAVIGATES_ITSELF = 12
    #: The feature was not granted.
    NOT_GRANTED = 13
    #: A limit was reached.
    LIMIT_REACHED = 14
    #: Fields contradict each other.
    INCONSISTENT = 15
    #: The gateway's access rules do not allow it.
    NOT_AUTHORIZED = 17
    #: The message was allowed, but had no effect. Only for peers that asked for it in Hello.
    IGNORED = 18


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FeatureGrant(Message):
    """One feature and what became of it."""

    feature: Feature

    granted: bool = False

    #: Only when not granted.
    reason: WithheldReason = WithheldReason.UNSPECIFIED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VehicleLimits(Message):
    """What one vehicle endpoint can store and show. In all fields 0 means "no limit", except where said."""

    #: Longest text the endpoint shows, in Unicode scalars. Which texts: see Docs/protocol.md, Fitting.
    current_road_name_length_max: int = 0

    destination_name_length_max: int = 0

    road_following_maneuver_length_max: int = 0

    maneuver_instruction_length_max: int = 0

    lane_instruction_length_max: int = 0

    alert_text_length_max: int = 0

    #: How many maneuvers can be stored, counted from the first upcoming one.
    maneuvers_stored_max: int = 0

    #: How many lane guidances can be stored, counted from the current one.
    lane_guidances_stored_max: int = 0

    #: How many points of a route segment can be stored; longer lines are thinned, see Docs/protocol.md, Fitting.
    route_segment_points_max: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VehiclePreferences(Message):
    """How the endpoint wants things to look."""

    distance_units: DistanceUnits = DistanceUnits.AS_PUBLISHED

    #: BCP 47, e.g. "de-LI"; told to clients, which may publish in it.
    locale: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VehicleHello(Message):
    """What a vehicle endpoint says of itself."""

    #: The vehicle.
    vehicle_id: str

    #: The endpoint, unique in the vehicle.
    endpoint: str

    #: What it wants; see Feature. PROMPTS and REQUESTS say what it may do.
    features: tuple[Feature, ...] = ()

    limits: VehicleLimits | None = None

    preferences: VehiclePreferences | None = None

    #: The vehicle takes guidance from sessions opened for "any vehicle that asked".
    guidance_wanted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NavigationHello(Message):
    """What a navigation client says of itself."""

    #: The client.
    client_id: str

    #: What it provides (MANEUVERS, LANE_GUIDANCE, ROUTE_SEGMENTS, DESTINATION_SHARING, ...) and handles
    #: (WAYPOINT_REQUESTS, DESTINATION_REQUESTS, SIMULATED_DRIVES).
    features: tuple[Feature, ...] = ()

    #: Higher wins, -1 000 ... 1 000: for the arbitration policy `priority` and the order of destination requests.
    priority: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NegotiatedLimits(Message):
    """Limits that later versions may raise, by negotiation; see Docs/protocol.md, Limits. 0: the page's value."""

    #: Vehicles named in OpenSession.
    vehicles_per_session_max: int = 0

    #: Pairs of type and key of states whose content the gateway does not know.
    extension_states_max: int = 0

    #: Segments in one message.
    route_segments_max: int = 0

    #: Points of one segment.
    coordinates_max: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ObserverHello(Message):
    """What an observer says of itself."""

    #: For humans and the log; need not be unique.
    observer_id: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Hello(Message):
    """First frame on every connection, from the peer that connected."""

    #: Protocol versions the peer speaks, minor numbers of major version 1.
    version_min: int

    version_max: int

    role: Role

    #: Exactly the one that fits the role.
    vehicle: VehicleHello | None = None

    navigation: NavigationHello | None = None

    #: For humans.
    display_name: str = ""

    software: str = ""

    #: The listener's pre-shared key, if it has one.
    credential: bytes = b""

    #: How often this peer wants to hear something. 0: the gateway's default.
    keepalive_milliseconds: int = 0

    #: Largest frame that this peer sends, header included. 0: the largest that the gateway takes.
    send_frame_bytes_max: int = 0

    #: From the last Welcome, or empty.
    resumption_token: bytes = b""

    #: With a token, a vehicle endpoint's place: the session it was in, and its cursor: up to which number it holds the
    #: session; see Docs/protocol.md, Resumption. With the cursor 0 it holds nothing, or an empty session; the gateway
    #: then sends everything.
    resume_session_id: int = 0

    resume_sequence: int = 0

    #: The highest limits that the peer can use: a client as a sender, an endpoint as a receiver.
    negotiated_limits: NegotiatedLimits | None = None

    #: Like `vehicle` and `navigation`.
    observer: ObserverHello | None = None

    #: The peer wants an Error with IGNORED for each frame of it that the gateway ignores; see Docs/protocol.md,
    #: Errors.
    report_ignored: bool = False

    #: Largest frame that this peer takes, header included, of any message to it; see Docs/protocol.md, Size. 0: no
    #: limit of its own.
    receive_frame_bytes_max: int = 0

    #: The extensions that the peer uses: a client those that it publishes or handles, an endpoint those that it takes
    #: or sends.
    extensions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ResumedSession(Message):
    """A session that a client finds again."""

    session_id: int

    #: The last sequence number the gateway has; the client continues with the next.
    sequence: int = 0

    phase: SessionPhase

    #: Only when ended: a SessionEndReason.
    end_reason: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Welcome(Message):
    """The gateway's answer to a Hello it takes."""

    #: The agreed minor version.
    version: int

    #: Every feature the role knows, granted or withheld.
    features: tuple[FeatureGrant, ...] = ()

    #: Agreed. Each side sends something within this time and may close after three times as long a silence.
    keepalive_milliseconds: int = 0

    #: Agreed. Largest frame that the gateway takes from this peer, header included.
    receive_frame_bytes_max: int = 0

    #: Good for one use within `grace_milliseconds` after this connection ends. The token of the Hello stays good until
    #: the gateway has read a frame after this Welcome.
    resumption_token: bytes

    #: The token in Hello was taken.
    resumed: bool = False

    #: For a client that resumed: its sessions.
    sessions: tuple[ResumedSession, ...] = ()

    #: How long the gateway keeps a place for this peer.
    grace_milliseconds: int = 0

    #: Requests that one vehicle may have open at a time; one more ends with BUSY.
    requests_open_max: int = 0

    #: For humans.
    software: str = ""

    #: The limits that hold on this connection, each of them given.
    negotiated_limits: NegotiatedLimits | None = None

    #: The operator's name for this gateway, or 32 hexadecimal digits that it drew when its state began.
    gateway_instance: str

    #: When its state began, in milliseconds since 1970: higher than for every earlier state of the instance.
    gateway_epoch: int

    #: For an observer: what it sees.
    visibility: Visibility = Visibility.UNSPECIFIED

    #: Agreed. Largest frame that the gateway sends to this peer, header included: what Hello says, or 16 777 216.
    send_frame_bytes_max: int = 0

    #: The extensions of the Hello that the gateway forwards for this peer: all that the operator does not withhold.
    extensions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Goodbye(Message):
    """Last frame on a connection, from either side."""

    code: CloseCode

    #: For humans.
    reason: str = ""

    #: When to connect again. 0: the peer's own back-off, or not at all, by code.
    reconnect_after_milliseconds: int = 0

    #: Reserved for MOVED: where the gateway is now, as tcp:HOST:PORT or unix:/path.
    moved_to: str = ""

    #: The limit that the peer is beyond, if that is the reason: the name of its row in Docs/protocol.md, Limits, with
    #: `_` between the words, e.g. "connections_per_user_max".
    limit: str = ""

    #: Its value.
    limit_value: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Ping(Message):
    """Asks for a Pong with the same nonce."""

    nonce: int = 0

    #: What the sender's monotonic clock showed when it sent this; see Docs/protocol.md, Clocks. Absent: the Pong needs
    #: no times.
    sent_nanoseconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Pong(Message):
    """Answers a Ping."""

    nonce: int = 0

    #: If the Ping had a time: what the clock of the Pong's sender showed when it received the Ping ...
    received_nanoseconds: int | None = None

    #: ... and when it sent the Pong.
    sent_nanoseconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Error(Message):
    """A message was refused; nothing of it was applied."""

    code: ErrorCode

    #: The path of the field, e.g. "maneuvers[3].junction_element_angles_degrees[0]"; empty: the message as a whole.
    field: str = ""

    #: A sentence.
    reason: str = ""

    #: The refused frame.
    message_type: int = 0

    session_id: int = 0

    sequence: int = 0

    #: The request or the share that the refused message named, if any.
    request_id: str = ""

    #: The limit that the message is beyond, as in Goodbye.
    limit: str = ""

    #: Its value.
    limit_value: int = 0

    #: When the same message may be accepted. 0: not known, or there is no use in trying again unchanged.
    retry_after_milliseconds: int = 0


define(
    FeatureGrant,
    Field(1, "feature", ENUM, of=Feature, lower=1, upper=2147483647, required=True),
    Field(2, "granted", BOOL),
    Field(3, "reason", ENUM, of=WithheldReason, lower=0, upper=2147483647),
)
define(
    VehicleLimits,
    Field(1, "current_road_name_length_max", UINT32),
    Field(2, "destination_name_length_max", UINT32),
    Field(3, "road_following_maneuver_length_max", UINT32),
    Field(4, "maneuver_instruction_length_max", UINT32),
    Field(5, "lane_instruction_length_max", UINT32),
    Field(6, "alert_text_length_max", UINT32),
    Field(7, "maneuvers_stored_max", UINT32),
    Field(8, "lane_guidances_stored_max", UINT32),
    Field(9, "route_segment_points_max", UINT32),
)
define(
    VehiclePreferences,
    Field(1, "distance_units", ENUM, of=DistanceUnits, lower=0, upper=2147483647),
    Field(2, "locale", STRING, lower=0, upper=35),
)
define(
    VehicleHello,
    Field(1, "vehicle_id", STRING, lower=1, upper=64, required=True, name=True),
    Field(2, "endpoint", STRING, lower=1, upper=64, required=True, name=True),
    Field(3, "features", ENUM, of=Feature, lower=1, upper=2147483647, count=64),
    Field(4, "limits", MESSAGE, of=VehicleLimits),
    Field(5, "preferences", MESSAGE, of=VehiclePreferences),
    Field(6, "guidance_wanted", BOOL),
)
define(
    NavigationHello,
    Field(1, "client_id", STRING, lower=1, upper=64, required=True, name=True),
    Field(2, "features", ENUM, of=Feature, lower=1, upper=2147483647, count=64),
    Field(3, "priority", SINT32, lower=-1000, upper=1000),
)
define(
    NegotiatedLimits,
    Field(1, "vehicles_per_session_max", UINT32, lower=256, upper=65536, zero=True),
    Field(2, "extension_states_max", UINT32, lower=64, upper=65536, zero=True),
    Field(3, "route_segments_max", UINT32, lower=65, upper=4096, zero=True),
    Field(4, "coordinates_max", UINT32, lower=262144, upper=4194304, zero=True),
)
define(
    ObserverHello,
    Field(1, "observer_id", STRING, lower=1, upper=64, required=True, name=True),
)
define(
    Hello,
    Field(1, "version_min", UINT32, lower=1, upper=4294967295, required=True),
    Field(2, "version_max", UINT32, lower=1, upper=4294967295, required=True),
    Field(3, "role", ENUM, of=Role, lower=1, upper=3, required=True),
    Field(4, "vehicle", MESSAGE, of=VehicleHello),
    Field(5, "navigation", MESSAGE, of=NavigationHello),
    Field(6, "display_name", STRING, lower=0, upper=128),
    Field(7, "software", STRING, lower=0, upper=128),
    Field(8, "credential", BYTES, lower=0, upper=256),
    Field(9, "keepalive_milliseconds", UINT32, lower=1000, upper=600000, zero=True),
    Field(10, "send_frame_bytes_max", UINT32, lower=4096, upper=16777216, zero=True),
    Field(11, "resumption_token", BYTES, lower=16, upper=16, zero=True),
    Field(12, "resume_session_id", UINT32),
    Field(13, "resume_sequence", UINT64),
    Field(14, "negotiated_limits", MESSAGE, of=NegotiatedLimits),
    Field(15, "observer", MESSAGE, of=ObserverHello),
    Field(16, "report_ignored", BOOL),
    Field(17, "receive_frame_bytes_max", UINT32, lower=4096, upper=16777216, zero=True),
    Field(18, "extensions", STRING, lower=3, upper=128, count=32, extension=True),
)
define(
    ResumedSession,
    Field(1, "session_id", UINT32, lower=1, upper=4294967295, required=True),
    Field(2, "sequence", UINT64),
    Field(3, "phase", ENUM, of=SessionPhase, lower=1, upper=2147483647, required=True),
    Field(4, "end_reason", UINT32, lower=0, upper=2147483647),
)
define(
    Welcome,
    Field(1, "version", UINT32, lower=1, upper=4294967295, required=True),
    Field(2, "features", MESSAGE, of=FeatureGrant, count=64),
    Field(3, "keepalive_milliseconds", UINT32),
    Field(4, "receive_frame_bytes_max", UINT32),
    Field(5, "resumption_token", BYTES, lower=16, upper=16, required=True),
    Field(6, "resumed", BOOL),
    Field(7, "sessions", MESSAGE, of=ResumedSession, count=4096),
    Field(8, "grace_milliseconds", UINT32),
    Field(9, "requests_open_max", UINT32),
    Field(10, "software", STRING, lower=0, upper=128),
    Field(11, "negotiated_limits", MESSAGE, of=NegotiatedLimits),
    Field(12, "gateway_instance", STRING, lower=1, upper=64, required=True, name=True),
    Field(13, "gateway_epoch", UINT64, lower=1, upper=18446744073709551615, required=True),
    Field(14, "visibility", ENUM, of=Visibility, lower=0, upper=2147483647),
    Field(15, "send_frame_bytes_max", UINT32),
    Field(16, "extensions", STRING, lower=3, upper=128, count=32, extension=True),
)
define(
    Goodbye,
    Field(1, "code", ENUM, of=CloseCode, lower=1, upper=2147483647, required=True),
    Field(2, "reason", STRING, lower=0, upper=256),
    Field(3, "reconnect_after_milliseconds", UINT32),
    Field(4, "moved_to", STRING, lower=0, upper=256),
    Field(5, "limit", STRING, lower=0, upper=64),
    Field(6, "limit_value", UINT64),
)
define(
    Ping,
    Field(1, "nonce", UINT64),
    Field(2, "sent_nanoseconds", UINT64, optional=True),
)
define(
    Pong,
    Field(1, "nonce", UINT64),
    Field(2, "received_nanoseconds", UINT64, optional=True),
    Field(3, "sent_nanoseconds", UINT64, optional=True),
)
define(
    Error,
    Field(1, "code", ENUM, of=ErrorCode, lower=1, upper=2147483647, required=True),
    Field(2, "field", STRING, lower=0, upper=512),
    Field(3, "reason", STRING, lower=0, upper=512),
    Field(4, "message_type", UINT32, lower=0, upper=65535),
    Field(5, "session_id", UINT32),
    Field(6, "sequence", UINT64),
    Field(7, "request_id", STRING, lower=0, upper=64),
    Field(8, "limit", STRING, lower=0, upper=64),
    Field(9, "limit_value", UINT64),
    Field(10, "retry_after_milliseconds", UINT32),
)
