"""Sessions and publications. Made by scripts/generate/python_messages.py from Protos. Do not edit."""

from __future__ import annotations

from dataclasses import dataclass

from waymark_nav._generated.connection import ErrorCode, FeatureGrant
from waymark_nav._generated.model import (
    AlertDismissal,
    LaneGuidance,
    Maneuver,
    ManeuverState,
    NavigationAlert,
    PauseReason,
    RerouteReason,
    RouteSegment,
    SpeedLimit,
    SpeedLimitAhead,
    TimeRemainingColor,
    TravelEstimates,
    Trip,
    Waypoint,
)
from waymark_nav._wire import BOOL, BYTES, ENUM, MESSAGE, STRING, UINT32, UINT64, Field, Message, OpenEnum, define


class VehicleStanding(OpenEnum):
    """How one vehicle stands to a session."""

    UNSPECIFIED = 0
    #: It is in the session and connected.
    JOINED = 1
    #: It will join when it connects.
    AWAITED = 2
    #: It was refused, see the error code.
    REFUSED = 3
    #: It has left the session, see the end reason.
    LEFT = 4


class SessionEndReason(OpenEnum):
    """Why a session, or one vehicle's part in it, ended."""

    UNSPECIFIED = 0
    #: The client finished: arrived.
    FINISHED = 1
    #: The client cancelled.
    CANCELLED_BY_CLIENT = 2
    #: The vehicle's own navigation started.
    OWN_NAVIGATION_STARTED = 3
    #: The vehicle's user stopped guidance.
    USER_STOPPED = 4
    #: Another client took the vehicle over.
    REPLACED = 5
    #: The client did not come back in its grace time.
    CLIENT_GONE = 6
    #: The vehicle did not come back in its grace time.
    VEHICLE_GONE = 7
    #: The gateway's access rules no longer allow the client to guide the vehicle, or one of the two to be connected.
    NOT_AUTHORIZED = 10


class SnapshotKind(OpenEnum):
    """What a snapshot holds."""

    UNSPECIFIED = 0
    #: The whole retained state: forget what was held of any session before.
    FULL = 1
    #: Only the frames after the number that the endpoint resumed from.
    MISSED = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VehicleSet(Message):
    """The vehicles of a session by name."""

    #: Ids as in VehicleHello, all different.
    vehicle_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OpenSession(Message):
    """Client to gateway: opens a session. Frame: session id 0, sequence 0."""

    #: The client's own. The same id again has no second effect.
    request_id: str

    #: Exactly one of these two. A vehicle that is not connected joins when it comes.
    vehicles: VehicleSet | None = None

    #: Every vehicle that wants guidance and is free, now and later.
    any_that_asked: bool = False

    #: How often to report receipts. 0: not at all.
    receipts_every_milliseconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VehicleStatus(Message):
    """One vehicle's standing, and what its endpoints do not receive."""

    vehicle_id: str

    standing: VehicleStanding

    #: Only when refused.
    refusal: ErrorCode = ErrorCode.UNSPECIFIED

    #: Only when it has left.
    end_reason: SessionEndReason = SessionEndReason.UNSPECIFIED

    endpoints: tuple[EndpointStatus, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EndpointStatus(Message):
    """One endpoint of a vehicle in a session."""

    endpoint: str

    #: The cluster said that it is ready to show.
    ready: bool = False

    locale: str = ""

    #: What is withheld from it, and why.
    withheld: tuple[FeatureGrant, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SessionOpened(Message):
    """Gateway to client: the session is open."""

    request_id: str

    session_id: int

    vehicles: tuple[VehicleStatus, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VehicleChanged(Message):
    """Gateway to client: a vehicle joined or left, an endpoint came, went or became ready, or gets more or less than
    before. Frame: the session's id.
    """

    vehicle: VehicleStatus


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SessionEnded(Message):
    """Gateway to client and endpoints: the session is over for the receiver. Frame: session id 0, so that nothing with
    the session's id follows it, until a SnapshotBegin.
    """

    #: 0: there was none to end.
    session_id: int = 0

    reason: SessionEndReason


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SnapshotBegin(Message):
    """Gateway to endpoint: what follows is the session's retained state, or what was missed. Event."""

    kind: SnapshotKind

    #: The client that guides.
    client_id: str

    client_display_name: str = ""

    #: The client is away; see SessionSuspended.
    suspended: bool = False

    #: How often to send a Receipt, at most. 0: not wanted.
    receipts_every_milliseconds: int = 0

    #: What is withheld from this endpoint in this session, and why.
    withheld: tuple[FeatureGrant, ...] = ()

    #: FULL: 0. MISSED: the number that the endpoint resumed from.
    from_sequence: int = 0

    #: After SnapshotEnd the endpoint holds the session up to this number.
    to_sequence: int = 0

    #: How long ago the gateway accepted the last publication, rounded up to 100. Absent: there is none.
    age_milliseconds: int | None = None

    #: How long ago it accepted the newest estimates of those that the session has: of the trip, of a maneuver, or of a
    #: route. Rounded up to 100. Absent: it has none.
    estimates_age_milliseconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SnapshotEnd(Message):
    """Gateway to endpoint: the endpoint now holds what the session holds. Event."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SessionSuspended(Message):
    """Gateway to endpoint: the client is away and may come back. Guidance stands still. Event."""

    grace_milliseconds: int = 0

    #: As in SnapshotBegin.
    age_milliseconds: int | None = None

    estimates_age_milliseconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SessionRestored(Message):
    """Gateway to endpoint: the client is back. Event."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Acknowledgement(Message):
    """Gateway to client: what was published up to a number is decided: it was accepted, or its Error was sent before
    this message. Frame: the session's id.
    """

    #: The last number that the gateway used up. Rises with each Acknowledgement of a session.
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RouteInformation(Message):
    """What a route consists of. Source: CPRouteInformation."""

    #: In order along the route.
    maneuvers: tuple[Maneuver, ...] = ()

    #: In order along the route.
    lane_guidances: tuple[LaneGuidance, ...] = ()

    #: In order.
    segments: tuple[RouteSegment, ...] = ()

    #: One of `segments`. Empty: the first; without segments none.
    current_segment_id: str = ""

    #: Next ones first.
    upcoming_maneuver_ids: tuple[int, ...] = ()

    #: 0: none.
    current_lane_guidance_id: int = 0

    trip_travel_estimates: TravelEstimates | None = None

    #: To the first upcoming maneuver.
    maneuver_travel_estimates: TravelEstimates | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TripPreviews(Message):
    """Published. State, key: the type. Trips to choose from; hidden by StartGuidance."""

    #: All ids differ. Empty: hidden.
    trips: tuple[Trip, ...] = ()

    #: The id of the highlighted trip, one of `trips`; empty: none.
    selected_trip_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StartGuidance(Message):
    """Published. Event. Guidance starts, or starts over: whatever was published before it is forgotten."""

    trip: Trip

    #: Above every generation used in this session before; at least 1.
    generation: int = 0

    #: May be empty.
    route: RouteInformation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UpdateTrip(Message):
    """Published. State, key: the type. The trip changed, e.g. a waypoint more."""

    trip: Trip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AddManeuvers(Message):
    """Published. Event. Adds maneuvers, in order along the route; they accumulate."""

    generation: int = 0

    maneuvers: tuple[Maneuver, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AddLaneGuidances(Message):
    """Published. Event. Adds lane guidances, in order along the route; they accumulate."""

    generation: int = 0

    lane_guidances: tuple[LaneGuidance, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AddRouteSegments(Message):
    """Published. Event. Adds route segments, in order; they accumulate."""

    generation: int = 0

    segments: tuple[RouteSegment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UpcomingManeuvers(Message):
    """Published. State, key: the type. The next maneuvers, nearest first; each must have been added."""

    generation: int = 0

    #: Empty only when guidance has nothing more to say.
    maneuver_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CurrentLaneGuidance(Message):
    """Published. State, key: the type. The lanes to show now; must have been added."""

    generation: int = 0

    #: 0: none.
    lane_guidance_id: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CurrentRoadName(Message):
    """Published. State, key: the type. The road the vehicle is on."""

    #: Longest first; empty: not known.
    name_variants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UpdateManeuverState(Message):
    """Published. State, key: the type. Where the vehicle is in the approach to the first upcoming maneuver."""

    generation: int = 0

    state: ManeuverState = ManeuverState.CONTINUE


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UpdateTripEstimates(Message):
    """Published. State, key: the type. For the whole trip."""

    travel_estimates: TravelEstimates

    time_remaining_color: TimeRemainingColor = TimeRemainingColor.DEFAULT


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UpdateManeuverEstimates(Message):
    """Published. State, key: the type and the maneuver. For one maneuver."""

    generation: int = 0

    #: Must have been added.
    maneuver_id: int

    travel_estimates: TravelEstimates


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CurrentRouteSegment(Message):
    """Published. State, key: the type. The segment the vehicle is on; must have been added."""

    generation: int = 0

    segment_id: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PauseGuidance(Message):
    """Published. Event. Guidance stands still; the maneuver state becomes continue."""

    reason: PauseReason

    description_variants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ResumeGuidance(Message):
    """Published. Event. Guidance resumes: with the same generation and no route, as it was; with a higher generation,
    on a new route, which replaces all maneuvers, lane guidances, segments and what referred to them.
    """

    generation: int = 0

    reason: RerouteReason = RerouteReason.UNKNOWN

    #: Absent: the route as it was.
    route: RouteInformation | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ShowAlert(Message):
    """Published. Event. Shows an alert, in place of the one before."""

    alert: NavigationAlert


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DismissAlert(Message):
    """Published. Event. The alert went away at the client."""

    #: The alert that is shown.
    alert_id: int

    dismissal: AlertDismissal = AlertDismissal.TIMEOUT


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ShareDestination(Message):
    """Published. Event. Offers a trip's destination to the vehicle, which answers with DestinationShareAnswer."""

    #: The client's own.
    share_id: str

    destination: Waypoint

    #: Whose destination it is. Before guidance one of the newest TripPreviews; while guided empty, or the trip that is
    #: driven.
    trip_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FinishGuidance(Message):
    """Published. Event. Arrived; the session is over."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CancelGuidance(Message):
    """Published. Event. The client stops; the session is over."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UpdateSpeedLimit(Message):
    """Published. State, key: the type. The speed limit where the vehicle is, and the next different one."""

    limit: SpeedLimit

    #: Absent: no other limit is known ahead.
    next: SpeedLimitAhead | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PublishExtension(Message):
    """Published. With STATE in the header a state by the key there, else an event. Content that a client and endpoints
    agree on; see Docs/protocol.md, Extensions.
    """

    #: Whose content it is.
    name: str

    content: bytes = b""


define(
    VehicleSet,
    Field(1, "vehicle_ids", STRING, lower=1, upper=64, count=256, required=True, name=True),
)
define(
    OpenSession,
    Field(1, "request_id", STRING, lower=1, upper=64, required=True),
    Field(2, "vehicles", MESSAGE, of=VehicleSet),
    Field(3, "any_that_asked", BOOL),
    Field(4, "receipts_every_milliseconds", UINT32, lower=100, upper=60000, zero=True),
)
define(
    VehicleStatus,
    Field(1, "vehicle_id", STRING, lower=1, upper=64, required=True, name=True),
    Field(2, "standing", ENUM, of=VehicleStanding, lower=1, upper=2147483647, required=True),
    Field(3, "refusal", ENUM, of=ErrorCode, lower=0, upper=2147483647),
    Field(4, "end_reason", ENUM, of=SessionEndReason, lower=0, upper=2147483647),
    Field(5, "endpoints", MESSAGE, of=EndpointStatus, count=256),
)
define(
    EndpointStatus,
    Field(1, "endpoint", STRING, lower=1, upper=64, required=True, name=True),
    Field(2, "ready", BOOL),
    Field(3, "locale", STRING, lower=0, upper=35),
    Field(4, "withheld", MESSAGE, of=FeatureGrant, count=64),
)
define(
    SessionOpened,
    Field(1, "request_id", STRING, lower=1, upper=64, required=True),
    Field(2, "session_id", UINT32, lower=1, upper=4294967295, required=True),
    Field(3, "vehicles", MESSAGE, of=VehicleStatus, count=256),
)
define(
    VehicleChanged,
    Field(1, "vehicle", MESSAGE, of=VehicleStatus, required=True),
)
define(
    SessionEnded,
    Field(1, "session_id", UINT32),
    Field(2, "reason", ENUM, of=SessionEndReason, lower=1, upper=2147483647, required=True),
)
define(
    SnapshotBegin,
    Field(1, "kind", ENUM, of=SnapshotKind, lower=1, upper=2, required=True),
    Field(2, "client_id", STRING, lower=1, upper=64, required=True, name=True),
    Field(3, "client_display_name", STRING, lower=0, upper=128),
    Field(4, "suspended", BOOL),
    Field(5, "receipts_every_milliseconds", UINT32),
    Field(6, "withheld", MESSAGE, of=FeatureGrant, count=64),
    Field(7, "from_sequence", UINT64),
    Field(8, "to_sequence", UINT64),
    Field(9, "age_milliseconds", UINT32, optional=True),
    Field(10, "estimates_age_milliseconds", UINT32, optional=True),
)
define(SnapshotEnd)
define(
    SessionSuspended,
    Field(1, "grace_milliseconds", UINT32),
    Field(2, "age_milliseconds", UINT32, optional=True),
    Field(3, "estimates_age_milliseconds", UINT32, optional=True),
)
define(SessionRestored)
define(
    Acknowledgement,
    Field(1, "sequence", UINT64, lower=1, upper=18446744073709551615, required=True),
)
define(
    RouteInformation,
    Field(1, "maneuvers", MESSAGE, of=Maneuver, count=4096),
    Field(2, "lane_guidances", MESSAGE, of=LaneGuidance, count=4096),
    Field(3, "segments", MESSAGE, of=RouteSegment, count=65),
    Field(4, "current_segment_id", STRING, lower=0, upper=128),
    Field(5, "upcoming_maneuver_ids", UINT32, count=64),
    Field(6, "current_lane_guidance_id", UINT32),
    Field(7, "trip_travel_estimates", MESSAGE, of=TravelEstimates),
    Field(8, "maneuver_travel_estimates", MESSAGE, of=TravelEstimates),
)
define(
    TripPreviews,
    Field(1, "trips", MESSAGE, of=Trip, count=12),
    Field(2, "selected_trip_id", STRING, lower=0, upper=128),
)
define(
    StartGuidance,
    Field(1, "trip", MESSAGE, of=Trip, required=True),
    Field(2, "generation", UINT32),
    Field(3, "route", MESSAGE, of=RouteInformation, required=True),
)
define(
    UpdateTrip,
    Field(1, "trip", MESSAGE, of=Trip, required=True),
)
define(
    AddManeuvers,
    Field(1, "generation", UINT32),
    Field(2, "maneuvers", MESSAGE, of=Maneuver, count=4096),
)
define(
    AddLaneGuidances,
    Field(1, "generation", UINT32),
    Field(2, "lane_guidances", MESSAGE, of=LaneGuidance, count=4096),
)
define(
    AddRouteSegments,
    Field(1, "generation", UINT32),
    Field(2, "segments", MESSAGE, of=RouteSegment, count=65),
)
define(
    UpcomingManeuvers,
    Field(1, "generation", UINT32),
    Field(2, "maneuver_ids", UINT32, count=64),
)
define(
    CurrentLaneGuidance,
    Field(1, "generation", UINT32),
    Field(2, "lane_guidance_id", UINT32),
)
define(
    CurrentRoadName,
    Field(1, "name_variants", STRING, lower=0, upper=512, count=8),
)
define(
    UpdateManeuverState,
    Field(1, "generation", UINT32),
    Field(2, "state", ENUM, of=ManeuverState, lower=0, upper=2147483647),
)
define(
    UpdateTripEstimates,
    Field(1, "travel_estimates", MESSAGE, of=TravelEstimates, required=True),
    Field(2, "time_remaining_color", ENUM, of=TimeRemainingColor, lower=0, upper=2147483647),
)
define(
    UpdateManeuverEstimates,
    Field(1, "generation", UINT32),
    Field(2, "maneuver_id", UINT32, lower=1, upper=4294967295, required=True),
    Field(3, "travel_estimates", MESSAGE, of=TravelEstimates, required=True),
)
define(
    CurrentRouteSegment,
    Field(1, "generation", UINT32),
    Field(2, "segment_id", STRING, lower=1, upper=128, required=True),
)
define(
    PauseGuidance,
    Field(1, "reason", ENUM, of=PauseReason, lower=1, upper=2147483647, required=True),
    Field(2, "description_variants", STRING, lower=0, upper=512, count=8),
)
define(
    ResumeGuidance,
    Field(1, "generation", UINT32),
    Field(2, "reason", ENUM, of=RerouteReason, lower=0, upper=2147483647),
    Field(3, "route", MESSAGE, of=RouteInformation),
)
define(
    ShowAlert,
    Field(1, "alert", MESSAGE, of=NavigationAlert, required=True),
)
define(
    DismissAlert,
    Field(1, "alert_id", UINT32, lower=1, upper=4294967295, required=True),
    Field(2, "dismissal", ENUM, of=AlertDismissal, lower=0, upper=2147483647),
)
define(
    ShareDestination,
    Field(1, "share_id", STRING, lower=1, upper=64, required=True),
    Field(2, "destination", MESSAGE, of=Waypoint, required=True),
    Field(3, "trip_id", STRING, lower=0, upper=128),
)
define(FinishGuidance)
define(CancelGuidance)
define(
    UpdateSpeedLimit,
    Field(1, "limit", MESSAGE, of=SpeedLimit, required=True),
    Field(2, "next", MESSAGE, of=SpeedLimitAhead),
)
define(
    PublishExtension,
    Field(1, "name", STRING, lower=3, upper=128, required=True, extension=True),
    Field(2, "content", BYTES, lower=0, upper=65536),
)
