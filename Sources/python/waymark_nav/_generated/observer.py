"""What observers are told. Made by scripts/generate/python_messages.py from Protos. Do not edit."""

from __future__ import annotations

from dataclasses import dataclass

from waymark_nav._generated.connection import Feature, FeatureGrant, SessionPhase, VehicleLimits, VehiclePreferences
from waymark_nav._generated.session import SnapshotKind
from waymark_nav._generated.vehicle import Receipt, UpdateRouteFeedback, VehicleSettings
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


class ObservedKind(OpenEnum):
    """What happened."""

    UNSPECIFIED = 0
    #: The gateway accepted a Hello.
    ADMITTED = 1
    #: The same, and the peer resumed.
    RESUMED = 2
    #: The gateway closes a connection. `code`: the close code.
    CLOSING = 3
    #: A peer has gone. `code`: 1 after its Goodbye, 0 otherwise.
    DEPARTED = 4
    #: The codec rejected a message, or an endpoint's event had no room in the queue of its client. `code`: the error
    #: code.
    REJECTED = 5
    #: The access rules refused a Hello, or no longer let a peer be connected. `reason`: the rule.
    HELLO_REFUSED = 6
    #: A client opened a session.
    SESSION_OPENED = 10
    #: A client was refused vehicles. `code`: the error code; `reason`: the rule, if a rule refused them.
    VEHICLES_REFUSED = 11
    #: A vehicle that asked for guidance joined a session for any vehicle that asked.
    JOINED = 12
    #: A vehicle left its session. `code`: the end reason.
    LEFT = 13
    #: Guidance began. `code`: the generation.
    STARTED = 14
    #: Guidance is paused. `code`: the pause reason.
    PAUSED = 15
    #: Guidance continues along the same route.
    CONTINUED = 16
    #: Guidance continues along another route. `code`: the generation.
    REROUTED = 17
    #: The client of a session is away.
    SUSPENDED = 18
    #: The client of a session is back.
    RESTORED = 19
    #: A session ended. `code`: the end reason.
    SESSION_ENDED = 20
    #: A vehicle asks a client to stop on the way.
    STOP_REQUESTED = 40
    #: A vehicle asks a client for guidance to a destination.
    DRIVE_REQUESTED = 41
    #: A request ended. `code`: the outcome. `reason`: its OutcomeCause, e.g. notGuided.
    REQUEST_ENDED = 42
    #: A vehicle asks its client to start a trip of the previews.
    START_REQUESTED = 43


class RequestStage(OpenEnum):
    """How far a request has come."""

    UNSPECIFIED = 0
    #: The client has it.
    ASKED = 1
    #: The vehicle's user is asked by the gateway.
    PROMPTING = 2
    #: The client asks the user by itself.
    OWN_PROMPT = 3


class Direction(OpenEnum):
    """Which way frames went."""

    UNSPECIFIED = 0
    #: To the gateway.
    IN = 1
    #: From the gateway.
    OUT = 2


class CounterName(OpenEnum):
    """What is counted. Values from 64 on are the present size of something, the others only grow."""

    UNSPECIFIED = 0
    #: Label: the message type; 0 for types that the gateway does not know.
    PUBLICATIONS = 1
    #: Publications that changed nothing.
    PUBLICATIONS_UNCHANGED = 2
    PUBLICATIONS_REJECTED = 3
    #: Label: none.
    SESSIONS_OPENED = 4
    #: Label: the end reason.
    SESSIONS_ENDED = 5
    REQUESTS = 6
    #: Label: the outcome.
    REQUESTS_ENDED = 7
    #: SnapshotBegin with FULL.
    SNAPSHOTS = 8
    #: Welcomes to peers that resumed, also to observers.
    RESUMPTIONS = 9
    #: Welcomes. Label: the role.
    PEERS_ADMITTED = 10
    #: Peers that the gateway did not admit. Label: the close code.
    PEERS_REFUSED = 11
    #: Admitted peers that the gateway closed. Label: the close code.
    PEERS_CLOSED = 12
    #: Entries that observers did not get because they read too slowly: what ObservationGap tells. For each observer an
    #: entry counts once, also if it is told twice because a connection was cut in between, or never because the
    #: observer does not come back.
    ENTRIES_DROPPED = 13
    #: Publications that changed something, each counted for each endpoint of its session, also in its grace time.
    #: Label: as for publications.
    DELIVERIES = 14
    ACKNOWLEDGEMENTS = 15
    CONNECTIONS_ACCEPTED = 16
    #: By all transports, frames of all types, also from and to peers that are refused.
    BYTES_RECEIVED = 17
    BYTES_SENT = 18
    #: States that newer ones replaced while they waited for a peer that reads slowly.
    CONFLATED = 19
    #: Requests that ended, by the time from the request to its outcome. Label: the least of 10, 50, 100, 250, 500, 1
    #: 000, 2 500, 5 000, 10 000, 15 000, 30 000, 60 000 and 90 000 milliseconds that is not below the time; 0: longer.
    REQUEST_TIMES = 20
    #: The sum of these times.
    REQUEST_MICROSECONDS = 21
    #: Features that endpoints were told are withheld from them, each time that they were told. Label: the reason.
    FEATURES_WITHHELD = 22
    #: Delays until endpoints had received publications, as in `EndpointRecord.delays`. Label: the least of the bounds
    #: of `DelayCounts`, in milliseconds, that is not below the delay; 0: longer.
    RECEIVED_DELAYS = 23
    #: The sum of these delays.
    RECEIVED_DELAY_MICROSECONDS = 24
    #: The same until their content was on the display.
    SHOWN_DELAYS = 25
    SHOWN_DELAY_MICROSECONDS = 26
    VEHICLES_CONNECTED = 64
    ENDPOINTS_CONNECTED = 65
    CLIENTS_CONNECTED = 66
    OBSERVERS_CONNECTED = 67
    SESSIONS = 68
    REQUESTS_OPEN = 69
    RETAINED_BYTES = 70
    REPLAY_BYTES = 71
    OBSERVATION_BYTES = 72
    #: Also those whose Hello has not arrived.
    CONNECTIONS = 73
    #: What waits for peers that read slowly.
    WAITING_BYTES = 74
    #: Of frames that have not arrived completely.
    INPUT_BYTES = 75
    #: Label: the phase.
    SESSIONS_IN_PHASE = 76
    #: Of open requests. Those that have at most 512 bytes may be left out.
    REQUEST_BYTES = 77
    #: How long the gateway's event loops, or what else it consists of, took to answer when the counters were read.
    LOOP_MICROSECONDS = 78


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Observe(Message):
    """Observer to gateway: what it wants. Replaces what it wanted before."""

    #: Only what concerns these vehicles. Empty: all.
    vehicle_ids: tuple[str, ...] = ()

    #: Only what concerns these clients. Empty: all.
    client_ids: tuple[str, ...] = ()

    #: Only what concerns these sessions. Empty: all.
    session_ids: tuple[int, ...] = ()

    #: Only events of these kinds. Empty: all.
    kinds: tuple[ObservedKind, ...] = ()

    #: The present state in records, and each record again when it has changed.
    state: bool = False

    #: What happens.
    events: bool = False

    #: The frames of all peers; with `state` also the retained frames of sessions.
    frames: bool = False

    #: For an observer that resumed: the last number that it received.
    after_number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ObservationBegin(Message):
    """Gateway to observer: what follows."""

    #: FULL: the present state, if it was asked for, then what happens. MISSED: what happened after `after_number`.
    kind: SnapshotKind

    #: The last number before what follows.
    number: int = 0

    #: The gateway's clock. All instants of an observation are of this clock.
    instant_microseconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DelayCounts(Message):
    """Delays of publications to one endpoint, from when the gateway accepted them. Of each receipt, at most the delay
    of the one it names counts.
    """

    #: How many were at most 1, 5, 10, 25, 50, 100, 250, 500, 1 000, 2 500, 5 000 and 10 000 milliseconds, each without
    #: those before it; then how many were longer. Zeros at the end may be left out.
    counts: tuple[int, ...] = ()

    #: Their sum.
    total_microseconds: int = 0

    #: The last one.
    last_microseconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EndpointDelays(Message):
    """How long publications take to an endpoint, and to its display."""

    #: Until the endpoint had received them.
    received: DelayCounts | None = None

    #: Until their content was on the display.
    shown: DelayCounts | None = None

    #: The round trip of the Ping by which the clocks were compared last. The delays are wrong by at most half of it.
    round_trip_microseconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EndpointRecord(Message):
    """One endpoint of a vehicle."""

    endpoint: str

    #: 0 while it is disconnected and may resume.
    connection_id: int = 0

    #: Since when it is connected, or until when it may resume.
    instant_microseconds: int = 0

    #: What it asked for.
    features: tuple[Feature, ...] = ()

    limits: VehicleLimits | None = None

    preferences: VehiclePreferences | None = None

    #: The session that it is in; 0: none.
    session_id: int = 0

    #: The audience that it is in; 0: none.
    audience_id: int = 0

    #: What is withheld from it in the session, and why, but for what the trip does not share.
    withheld: tuple[FeatureGrant, ...] = ()

    settings: VehicleSettings | None = None

    #: Its last receipt in the session.
    receipt: Receipt | None = None

    #: The largest frame that it takes; 0: any.
    receive_frame_bytes_max: int = 0

    #: Absent: none was measured.
    delays: EndpointDelays | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VehicleRecord(Message):
    """One vehicle. A record; its key is `vehicle_id`."""

    vehicle_id: str

    #: The session that it is in, or that waits for it; 0: none.
    session_id: int = 0

    navigates_itself: bool = False

    #: It ended guidance and has not asked for it again.
    has_stopped: bool = False

    guidance_wanted: bool = False

    #: Absent: not told.
    route_source: int | None = None

    #: None: a session waits for the vehicle.
    endpoints: tuple[EndpointRecord, ...] = ()

    #: Whose it is: "user 1000", "key NAME", "anyone". Empty: only a session waits for it.
    owner: str = ""

    #: The last one of the session, without `vehicle_id`; perhaps of an earlier route. Absent: not told.
    route_feedback: UpdateRouteFeedback | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ClientRecord(Message):
    """One navigation client. A record; its key is `client_id`."""

    client_id: str

    #: 0 while it is disconnected and may resume.
    connection_id: int = 0

    #: Since when it is connected, or until when it may resume.
    instant_microseconds: int = 0

    #: What it was granted.
    granted: tuple[Feature, ...] = ()

    priority: int = 0

    display_name: str = ""

    #: Whose it is, as in VehicleRecord.
    owner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SessionRecord(Message):
    """One session. A record; its key is `session_id`."""

    session_id: int

    client_id: str

    #: The request that opened it.
    request_id: str = ""

    any_that_asked: bool = False

    phase: SessionPhase

    #: Of its route; 0: none.
    generation: int = 0

    suspended: bool = False

    #: The alert that is shown; 0: none.
    alert_id: int = 0

    #: What the trip does not share.
    opted_out: tuple[Feature, ...] = ()

    #: Destination shares that are under way.
    shares_open: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RequestKey(Message):
    """Names a request."""

    vehicle_id: str

    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RequestRecord(Message):
    """One open request. A record; its key is `key`."""

    key: RequestKey

    #: WaypointRequest or DestinationRequest.
    message_type: int = 0

    #: 0: none.
    session_id: int = 0

    #: The client that was asked last.
    client_id: str

    stage: RequestStage

    #: When the gateway gives up.
    deadline_microseconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RetainedFrames(Message):
    """The retained frames of a session, in order."""

    session_id: int

    #: Whole frames.
    frames: bytes = b""

    #: Places were removed.
    redacted: bool = False

    #: The first part: forget the frames that were told before.
    is_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ObservedRecords(Message):
    """Gateway to observer: records, each whole. Each replaces the one with the same key."""

    #: 0: part of the present state.
    number: int = 0

    instant_microseconds: int = 0

    vehicles: tuple[VehicleRecord, ...] = ()

    clients: tuple[ClientRecord, ...] = ()

    sessions: tuple[SessionRecord, ...] = ()

    requests: tuple[RequestRecord, ...] = ()

    retained: tuple[RetainedFrames, ...] = ()

    #: Records that are gone.
    vehicles_gone: tuple[str, ...] = ()

    clients_gone: tuple[str, ...] = ()

    sessions_gone: tuple[int, ...] = ()

    requests_gone: tuple[RequestKey, ...] = ()

    #: The last part of the present state.
    is_last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ObservedEvent(Message):
    """Gateway to observer: something happened. Records that changed with it come before."""

    number: int

    instant_microseconds: int = 0

    kind: ObservedKind

    #: See the kinds.
    code: int = 0

    reason: str = ""

    #: 0: none.
    connection_id: int = 0

    vehicle_ids: tuple[str, ...] = ()

    client_id: str = ""

    #: 0: none.
    session_id: int = 0

    #: Of a request.
    request_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ObservedFrames(Message):
    """Gateway to observer: consecutive frames that crossed, as they were on the wire."""

    number: int

    instant_microseconds: int = 0

    direction: Direction

    #: From or to this connection ...
    connection_id: int = 0

    #: ... or to every endpoint of this audience.
    audience_id: int = 0

    #: The session of publications; 0 for other frames.
    session_id: int = 0

    #: Places and unknown fields were removed.
    redacted: bool = False

    #: The gateway rejected them; the next frame to the connection is the Error.
    rejected: bool = False

    #: Whole frames.
    frames: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ObservationGap(Message):
    """Gateway to observer: the oldest entries were dropped, because the observer reads too slowly."""

    #: How many.
    dropped: int

    #: The number of the next entry.
    next_number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ReadCounters(Message):
    """Observer to gateway: asks for Counters."""

    #: Also what waits for each connection.
    connections: bool = False

    #: Also what each session has.
    sessions: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Counter(Message):
    """One value."""

    name: CounterName

    #: 0: none.
    label: int = 0

    value: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ConnectionMeasure(Message):
    """What waits for one connection."""

    connection_id: int

    #: What waits for the peer to read.
    waiting_bytes: int = 0

    #: Of a frame that has not arrived completely.
    input_bytes: int = 0

    #: States that newer ones replaced while they waited.
    conflated: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SessionMeasure(Message):
    """What one session has."""

    session_id: int

    #: The number of its last publication.
    sequence: int = 0

    #: Kept for endpoints that join.
    retained_bytes: int = 0

    #: Kept for endpoints that resume.
    replay_bytes: int = 0

    #: How long ago the gateway accepted the last publication, rounded up to 100. Absent: none so far.
    age_milliseconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Counters(Message):
    """Gateway to observer: all counters, then measures if they were asked for, in as many messages as they need."""

    #: The number of the last entry before.
    number: int = 0

    instant_microseconds: int = 0

    #: In the first message. Those that are 0 may be left out.
    counters: tuple[Counter, ...] = ()

    connections: tuple[ConnectionMeasure, ...] = ()

    sessions: tuple[SessionMeasure, ...] = ()

    #: The last message of the answer.
    is_last: bool = False


define(
    Observe,
    Field(1, "vehicle_ids", STRING, lower=1, upper=64, count=64, name=True),
    Field(2, "client_ids", STRING, lower=1, upper=64, count=64, name=True),
    Field(3, "session_ids", UINT32, lower=1, upper=4294967295, count=64),
    Field(4, "kinds", ENUM, of=ObservedKind, lower=1, upper=2147483647, count=64),
    Field(5, "state", BOOL),
    Field(6, "events", BOOL),
    Field(7, "frames", BOOL),
    Field(8, "after_number", UINT64),
)
define(
    ObservationBegin,
    Field(1, "kind", ENUM, of=SnapshotKind, lower=1, upper=2, required=True),
    Field(2, "number", UINT64),
    Field(3, "instant_microseconds", UINT64),
)
define(
    DelayCounts,
    Field(1, "counts", UINT32, count=16),
    Field(2, "total_microseconds", UINT64),
    Field(3, "last_microseconds", UINT64),
)
define(
    EndpointDelays,
    Field(1, "received", MESSAGE, of=DelayCounts),
    Field(2, "shown", MESSAGE, of=DelayCounts),
    Field(3, "round_trip_microseconds", UINT64),
)
define(
    EndpointRecord,
    Field(1, "endpoint", STRING, lower=1, upper=64, required=True, name=True),
    Field(2, "connection_id", UINT64),
    Field(3, "instant_microseconds", UINT64),
    Field(4, "features", ENUM, of=Feature, lower=1, upper=2147483647, count=64),
    Field(5, "limits", MESSAGE, of=VehicleLimits),
    Field(6, "preferences", MESSAGE, of=VehiclePreferences),
    Field(7, "session_id", UINT32),
    Field(8, "audience_id", UINT64),
    Field(9, "withheld", MESSAGE, of=FeatureGrant, count=64),
    Field(10, "settings", MESSAGE, of=VehicleSettings),
    Field(11, "receipt", MESSAGE, of=Receipt),
    Field(12, "receive_frame_bytes_max", UINT32, lower=4096, upper=16777216, zero=True),
    Field(13, "delays", MESSAGE, of=EndpointDelays),
)
define(
    VehicleRecord,
    Field(1, "vehicle_id", STRING, lower=1, upper=64, required=True, name=True),
    Field(2, "session_id", UINT32),
    Field(3, "navigates_itself", BOOL),
    Field(4, "has_stopped", BOOL),
    Field(5, "guidance_wanted", BOOL),
    Field(6, "route_source", UINT32, optional=True),
    Field(7, "endpoints", MESSAGE, of=EndpointRecord, count=1024),
    Field(8, "owner", STRING, lower=0, upper=256),
    Field(9, "route_feedback", MESSAGE, of=UpdateRouteFeedback),
)
define(
    ClientRecord,
    Field(1, "client_id", STRING, lower=1, upper=64, required=True, name=True),
    Field(2, "connection_id", UINT64),
    Field(3, "instant_microseconds", UINT64),
    Field(4, "granted", ENUM, of=Feature, lower=1, upper=2147483647, count=64),
    Field(5, "priority", SINT32, lower=-1000, upper=1000),
    Field(6, "display_name", STRING, lower=0, upper=128),
    Field(7, "owner", STRING, lower=0, upper=256),
)
define(
    SessionRecord,
    Field(1, "session_id", UINT32, lower=1, upper=4294967295, required=True),
    Field(2, "client_id", STRING, lower=1, upper=64, required=True, name=True),
    Field(3, "request_id", STRING, lower=0, upper=64),
    Field(4, "any_that_asked", BOOL),
    Field(5, "phase", ENUM, of=SessionPhase, lower=1, upper=2147483647, required=True),
    Field(6, "generation", UINT32),
    Field(7, "suspended", BOOL),
    Field(8, "alert_id", UINT32),
    Field(9, "opted_out", ENUM, of=Feature, lower=1, upper=2147483647, count=64),
    Field(10, "shares_open", UINT32),
)
define(
    RequestKey,
    Field(1, "vehicle_id", STRING, lower=1, upper=64, required=True, name=True),
    Field(2, "request_id", STRING, lower=1, upper=64, required=True),
)
define(
    RequestRecord,
    Field(1, "key", MESSAGE, of=RequestKey, required=True),
    Field(2, "message_type", UINT32, lower=0, upper=65535),
    Field(3, "session_id", UINT32),
    Field(4, "client_id", STRING, lower=1, upper=64, required=True, name=True),
    Field(5, "stage", ENUM, of=RequestStage, lower=1, upper=2147483647, required=True),
    Field(6, "deadline_microseconds", UINT64),
)
define(
    RetainedFrames,
    Field(1, "session_id", UINT32, lower=1, upper=4294967295, required=True),
    Field(2, "frames", BYTES, lower=0, upper=16777216),
    Field(3, "redacted", BOOL),
    Field(4, "is_first", BOOL),
)
define(
    ObservedRecords,
    Field(1, "number", UINT64),
    Field(2, "instant_microseconds", UINT64),
    Field(3, "vehicles", MESSAGE, of=VehicleRecord, count=65536),
    Field(4, "clients", MESSAGE, of=ClientRecord, count=65536),
    Field(5, "sessions", MESSAGE, of=SessionRecord, count=65536),
    Field(6, "requests", MESSAGE, of=RequestRecord, count=65536),
    Field(7, "retained", MESSAGE, of=RetainedFrames, count=65536),
    Field(8, "vehicles_gone", STRING, lower=1, upper=64, count=65536, name=True),
    Field(9, "clients_gone", STRING, lower=1, upper=64, count=65536, name=True),
    Field(10, "sessions_gone", UINT32, lower=1, upper=4294967295, count=65536),
    Field(11, "requests_gone", MESSAGE, of=RequestKey, count=65536),
    Field(12, "is_last", BOOL),
)
define(
    ObservedEvent,
    Field(1, "number", UINT64, lower=1, upper=18446744073709551615, required=True),
    Field(2, "instant_microseconds", UINT64),
    Field(3, "kind", ENUM, of=ObservedKind, lower=1, upper=2147483647, required=True),
    Field(4, "code", UINT32),
    Field(5, "reason", STRING, lower=0, upper=512),
    Field(6, "connection_id", UINT64),
    Field(7, "vehicle_ids", STRING, lower=1, upper=64, count=256, name=True),
    Field(8, "client_id", STRING, lower=1, upper=64, zero=True, name=True),
    Field(9, "session_id", UINT32),
    Field(10, "request_id", STRING, lower=0, upper=64),
)
define(
    ObservedFrames,
    Field(1, "number", UINT64, lower=1, upper=18446744073709551615, required=True),
    Field(2, "instant_microseconds", UINT64),
    Field(3, "direction", ENUM, of=Direction, lower=1, upper=2, required=True),
    Field(4, "connection_id", UINT64),
    Field(5, "audience_id", UINT64),
    Field(6, "session_id", UINT32),
    Field(7, "redacted", BOOL),
    Field(8, "rejected", BOOL),
    Field(9, "frames", BYTES, lower=0, upper=16777216),
)
define(
    ObservationGap,
    Field(1, "dropped", UINT64, lower=1, upper=18446744073709551615, required=True),
    Field(2, "next_number", UINT64),
)
define(
    ReadCounters,
    Field(1, "connections", BOOL),
    Field(2, "sessions", BOOL),
)
define(
    Counter,
    Field(1, "name", ENUM, of=CounterName, lower=1, upper=2147483647, required=True),
    Field(2, "label", UINT32),
    Field(3, "value", UINT64),
)
define(
    ConnectionMeasure,
    Field(1, "connection_id", UINT64, lower=1, upper=18446744073709551615, required=True),
    Field(2, "waiting_bytes", UINT64),
    Field(3, "input_bytes", UINT64),
    Field(4, "conflated", UINT64),
)
define(
    SessionMeasure,
    Field(1, "session_id", UINT32, lower=1, upper=4294967295, required=True),
    Field(2, "sequence", UINT64),
    Field(3, "retained_bytes", UINT64),
    Field(4, "replay_bytes", UINT64),
    Field(5, "age_milliseconds", UINT32, optional=True),
)
define(
    Counters,
    Field(1, "number", UINT64),
    Field(2, "instant_microseconds", UINT64),
    Field(3, "counters", MESSAGE, of=Counter, count=1024),
    Field(4, "connections", MESSAGE, of=ConnectionMeasure, count=65536),
    Field(5, "sessions", MESSAGE, of=SessionMeasure, count=65536),
    Field(6, "is_last", BOOL),
)
