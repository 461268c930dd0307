"""Requests and settings of vehicles. Made by scripts/generate/python_messages.py from Protos. Do not edit."""

from __future__ import annotations

from dataclasses import dataclass

from waymark_nav._generated.model import (
    AlertDismissal,
    ClusterSetting,
    ContentStyle,
    Reachability,
    RouteSource,
    SimulationAction,
    TravelEstimates,
    Waypoint,
    ZoomDirection,
)
from waymark_nav._wire import BOOL, BYTES, ENUM, MESSAGE, STRING, UINT32, UINT64, Field, Message, OpenEnum, define


class Outcome(OpenEnum):
    """How a request ended, and how a destination share ended."""

    UNSPECIFIED = 0
    #: Done, or accepted by the user.
    ACCEPTED = 1
    #: No connected peer can do it.
    NOT_SUPPORTED = 2
    #: The user said no.
    DECLINED_BY_USER = 3
    #: Not now.
    BUSY = 4
    #: The request makes no sense to its receiver, e.g. the place cannot be reached.
    INVALID = 5
    TIMED_OUT = 6
    TOO_LARGE = 7
    #: The client, or the vehicle, that was asked has gone.
    GONE = 8
    #: The vehicle took it back.
    WITHDRAWN = 9
    #: The session it belonged to is over.
    SESSION_ENDED = 10


class Answer(OpenEnum):
    """How a client answers a request."""

    UNSPECIFIED = 0
    #: Waypoint: here are the estimates, ask the user.
    ESTIMATES = 1
    #: Waypoint: the client asks the user by itself; ACCEPT or DECLINE follows.
    OWN_PROMPT = 2
    #: Destination: will start. Waypoint after OWN_PROMPT: the user agreed. Trip: StartGuidance follows.
    ACCEPT = 3
    #: See `reason`.
    DECLINE = 4
    #: Destination: will open a session that shows previews. The vehicle's user chooses and starts a trip there.
    ACCEPT_WITH_PREVIEW = 5


class OutcomeCause(OpenEnum):
    """Who decided how a request ended, and why. A value that is not known: not said."""

    #: Not said, e.g. by a gateway that does not know causes.
    UNSPECIFIED = 0
    #: The client that was asked answered.
    CLIENT_ANSWERED = 1
    #: The vehicle's user answered the prompt, at `endpoint`.
    PROMPT_ANSWERED = 2
    #: `endpoint` withdrew the request.
    WITHDRAWN = 3
    #: The vehicle began to navigate itself, as `endpoint` said.
    OWN_NAVIGATION = 4
    #: The client that was asked did not answer in time.
    CLIENT_SILENT = 5
    #: The client asked its own user, who did not answer in time.
    CLIENT_USER_SILENT = 6
    #: The vehicle's user did not answer the prompt in time.
    PROMPT_UNANSWERED = 7
    #: The client that was asked was disconnected before the request ended.
    CLIENT_GONE = 8
    #: The client was not connected, so it was not asked.
    CLIENT_NOT_CONNECTED = 9
    #: The client does not handle such requests, so it was not asked.
    CLIENT_NOT_CAPABLE = 10
    #: No connected client that may guide the vehicle handles such requests, so none was asked.
    NO_CLIENT = 11
    #: No endpoint of the vehicle shows prompts, so its user was not asked.
    NO_PROMPTS = 12
    #: A stop while no client guided the vehicle.
    NOT_GUIDED = 13
    #: A drive while a client guided the vehicle.
    GUIDED = 14
    #: The route has no such segment.
    UNKNOWN_SEGMENT = 15
    #: The start of a trip while no client showed previews.
    NO_PREVIEWS = 16
    #: The newest previews do not have the trip, or it has no such route choice.
    UNKNOWN_TRIP = 17
    #: Another request to start a trip was open: that of `endpoint` was first.
    OTHER_START = 18
    #: As many requests of the vehicle were open as `Welcome.requests_open_max` allows.
    TOO_MANY_OPEN = 19
    #: The open requests used up the memory that the gateway has for them.
    NO_MEMORY = 20
    #: Changed access rules were being applied.
    RULES_CHANGING = 21
    #: The access rules no longer let the client that was asked guide the vehicle.
    NOT_ALLOWED = 22
    #: The session ended while the request was open.
    SESSION_ENDED = 23
    #: The session that the request named was over, so no client was asked.
    SESSION_OVER = 24
    #: The vehicle's last endpoint, `endpoint`, has gone.
    VEHICLE_GONE = 25


class CancelReason(OpenEnum):
    """Why the vehicle ends guidance."""

    UNSPECIFIED = 0
    #: "I navigate myself now": no client may guide again before the vehicle asks or allows.
    OWN_NAVIGATION_STARTED = 1
    #: The user stopped guidance.
    USER_STOPPED = 2


class ShareStage(OpenEnum):
    """Where a destination share stands."""

    UNSPECIFIED = 0
    #: On its way to the vehicle.
    WILL_SHARE = 1
    DID_SHARE = 2
    #: See the outcome.
    DID_FAIL_TO_SHARE = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WaypointRequest(Message):
    """Vehicle to gateway to client: insert this waypoint. Only while the vehicle is guided."""

    #: The vehicle's own. The same id again has no second effect: it gets the same outcome.
    request_id: str

    waypoint: Waypoint

    #: The segment to insert into, one that was added; empty: the client chooses.
    segment_id: str = ""

    #: Set by the gateway on the way to the client.
    vehicle_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DestinationRequest(Message):
    """Vehicle to gateway to clients: drive to this place. Only while the vehicle is not guided."""

    #: As in WaypointRequest.
    request_id: str

    destination: Waypoint

    #: Set by the gateway on the way to the client.
    vehicle_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WithdrawRequest(Message):
    """Vehicle to gateway: the request is taken back. The client hears RequestOutcome with WITHDRAWN."""

    #: As in the request.
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RequestAnswer(Message):
    """Client to gateway: answers a WaypointRequest, a DestinationRequest or a StartTripRequest."""

    #: As in the request.
    request_id: str

    #: As in the request: another vehicle may have a request with the same id.
    vehicle_id: str

    answer: Answer

    #: With ESTIMATES, and only then: of the trip with the new waypoint.
    travel_estimates: TravelEstimates | None = None

    #: With DECLINE, and only then: one of NOT_SUPPORTED, DECLINED_BY_USER, BUSY, INVALID, TOO_LARGE.
    reason: Outcome = Outcome.UNSPECIFIED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Prompt(Message):
    """Gateway to prompting endpoints: ask the vehicle's user."""

    request_id: str

    waypoint: Waypoint

    travel_estimates: TravelEstimates

    #: How long the gateway still waits for an answer when it sends this.
    deadline_milliseconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PromptAnswer(Message):
    """Endpoint to gateway: the user's answer. The first one counts."""

    #: As in the Prompt.
    request_id: str

    accepted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PromptOver(Message):
    """Gateway to prompting endpoints: the prompt is over."""

    request_id: str

    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RequestOutcome(Message):
    """Gateway to the vehicle's requesting endpoints and to the client that was asked: how the request ended. Exactly
    one.
    """

    request_id: str

    vehicle_id: str

    outcome: Outcome

    #: The client that accepted or was asked last; empty: none.
    client_id: str = ""

    #: Of a destination request: the client shows previews first. Only with ACCEPTED.
    preview_follows: bool = False

    #: Who decided, and why; none: not said.
    cause: OutcomeCause = OutcomeCause.UNSPECIFIED

    #: The endpoint of the vehicle that decided, or that came first; empty: none.
    endpoint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CancelNavigation(Message):
    """Vehicle to gateway: end guidance at once. Answered by SessionEnded to all of the vehicle's endpoints."""

    reason: CancelReason


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AllowNavigation(Message):
    """Vehicle to gateway: clients may guide again after CancelNavigation with OWN_NAVIGATION_STARTED."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UpdateRouteSource(Message):
    """Vehicle to gateway to client: what the vehicle does with the route. State, retained for the session."""

    route_source: RouteSource = RouteSource.INACTIVE

    #: Set by the gateway on the way to the client.
    vehicle_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VehicleSettings(Message):
    """Vehicle to gateway to client: how the vehicle's display is set. State per endpoint, retained. An absent field is
    unchanged; towards the client, which gets all fields that were ever set, it was never set.
    """

    compass: ClusterSetting = ClusterSetting.UNSPECIFIED

    speed_limit: ClusterSetting = ClusterSetting.UNSPECIFIED

    content_style: ContentStyle = ContentStyle.UNSPECIFIED

    #: Bits of CPLimitableUserInterface: 1 keyboard, 2 lists.
    limited_user_interfaces: int | None = None

    #: The endpoint is ready to show.
    ready_to_show: bool | None = None

    #: Set by the gateway on the way to the client.
    vehicle_id: str = ""

    endpoint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ZoomCluster(Message):
    """Vehicle to gateway to client: zoom the cluster's map. Event."""

    direction: ZoomDirection

    #: Set by the gateway on the way to the client.
    vehicle_id: str = ""

    endpoint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AlertResponse(Message):
    """Vehicle to gateway to client: the alert went away, or an action was chosen. Event."""

    #: The alert that is shown.
    alert_id: int

    #: 0: dismissed; 1 or 2: the action that was chosen.
    action_id: int = 0

    #: Only when dismissed.
    dismissal: AlertDismissal = AlertDismissal.TIMEOUT

    #: Set by the gateway on the way to the client.
    vehicle_id: str = ""

    endpoint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DestinationShareAnswer(Message):
    """Vehicle to gateway: takes the shared destination, or not. The first answer of a vehicle counts."""

    #: As in the ShareDestination.
    share_id: str

    #: ACCEPTED, or why not.
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DestinationShareStatus(Message):
    """Gateway to client: where a share stands, per vehicle. WILL_SHARE, then exactly one of the others."""

    share_id: str

    vehicle_id: str

    stage: ShareStage

    #: Only with DID_FAIL_TO_SHARE.
    outcome: Outcome = Outcome.UNSPECIFIED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VehicleExtension(Message):
    """Vehicle to gateway to client: content that an endpoint and its client agree on. Event. Frame: the session's id."""

    #: Whose content it is.
    name: str

    content: bytes = b""

    #: Set by the gateway on the way to the client.
    vehicle_id: str = ""

    endpoint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SelectPreview(Message):
    """Vehicle to gateway to client: a trip of the previews was selected on the vehicle's display. State per vehicle,
    retained until the next TripPreviews. Only while the session is in phase preview; the client answers with
    TripPreviews that select it, or not at all.
    """

    #: One of the newest TripPreviews.
    trip_id: str

    #: One of the trip's choices. 0: its selected one, or its first.
    route_choice_id: int = 0

    #: Set by the gateway on the way to the client.
    vehicle_id: str = ""

    endpoint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StartTripRequest(Message):
    """Vehicle to gateway to client: start this trip of the previews. Only while the session is in phase preview."""

    #: As in WaypointRequest.
    request_id: str

    #: One of the newest TripPreviews.
    trip_id: str

    #: One of the trip's choices. 0: its selected one, or its first.
    route_choice_id: int = 0

    #: Set by the gateway on the way to the client.
    vehicle_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SimulateDrive(Message):
    """Vehicle or observer to gateway to client: simulate a drive, or stop to. Event. Only as the access rules allow.
    Frame: the session of the vehicle; from an observer that names no vehicle 0.
    """

    action: SimulationAction

    #: With START: how fast, in per cent of the real speed; 0: 100.
    speed_percent: int = 0

    #: From an observer: the client that is asked.
    client_id: str = ""

    #: From an observer: the vehicle that the client guides and that it is about; empty: all of them. Set by the
    #: gateway if an endpoint asks.
    vehicle_id: str = ""

    #: Set by the gateway if an endpoint asks.
    endpoint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DestinationShareWanted(Message):
    """Vehicle to gateway to client: the vehicle's user wants the destination of a trip. Event. The client answers with
    ShareDestination, or not.
    """

    #: Before guidance one of the newest TripPreviews; while guided empty, or the trip that is driven.
    trip_id: str = ""

    #: Set by the gateway on the way to the client.
    vehicle_id: str = ""

    endpoint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StopFeedback(Message):
    """What the vehicle expects of one stop. Neither field: it does not know."""

    #: The charge with which it will arrive, in 1/1000 of the battery.
    arrival_battery_per_mille: int | None = None

    reachability: Reachability = Reachability.UNSPECIFIED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UpdateRouteFeedback(Message):
    """Vehicle to gateway to client: how far the vehicle gets on the route. State, retained for the session while the
    generation is current.
    """

    #: Of the route that is meant. If it is not the current one, the gateway ignores the message.
    generation: int = 0

    #: In order: the waypoints of the trip, then its destination. Fewer: the others are not known.
    stops: tuple[StopFeedback, ...] = ()

    #: The first segment that the vehicle cannot reach or finish, one that was added; empty: none, or not known.
    first_unreachable_segment_id: str = ""

    #: Set by the gateway on the way to the client.
    vehicle_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Receipt(Message):
    """Endpoint to gateway: how far it is. Frame: the session's id."""

    #: Up to which number the endpoint holds the session; see Docs/protocol.md, Resumption.
    received_sequence: int = 0

    #: The last sequence number whose content was shown; at most the received one.
    shown_sequence: int = 0

    #: What the endpoint's monotonic clock showed when it had received `received_sequence`; see Docs/protocol.md,
    #: Clocks.
    received_nanoseconds: int | None = None

    #: The same of `shown_sequence`, when its content was on the display.
    shown_nanoseconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EndpointReceipt(Message):
    """One endpoint's receipt."""

    vehicle_id: str

    endpoint: str

    received_sequence: int = 0

    shown_sequence: int = 0

    #: How long after the gateway had accepted `received_sequence` the endpoint received it. Absent: not measured.
    received_delay_microseconds: int | None = None

    #: The same of `shown_sequence`, until its content was on the display.
    shown_delay_microseconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ReceiptReport(Message):
    """Gateway to client: who has got how far. Frame: the session's id. State."""

    #: The last sequence number the gateway has.
    gateway_sequence: int = 0

    endpoints: tuple[EndpointReceipt, ...] = ()


define(
    WaypointRequest,
    Field(1, "request_id", STRING, lower=1, upper=64, required=True),
    Field(2, "waypoint", MESSAGE, of=Waypoint, required=True),
    Field(3, "segment_id", STRING, lower=0, upper=128),
    Field(4, "vehicle_id", STRING, lower=1, upper=64, zero=True, name=True),
)
define(
    DestinationRequest,
    Field(1, "request_id", STRING, lower=1, upper=64, required=True),
    Field(2, "destination", MESSAGE, of=Waypoint, required=True),
    Field(3, "vehicle_id", STRING, lower=1, upper=64, zero=True, name=True),
)
define(
    WithdrawRequest,
    Field(1, "request_id", STRING, lower=1, upper=64, required=True),
)
define(
    RequestAnswer,
    Field(1, "request_id", STRING, lower=1, upper=64, required=True),
    Field(2, "vehicle_id", STRING, lower=1, upper=64, required=True, name=True),
    Field(3, "answer", ENUM, of=Answer, lower=1, upper=5, required=True),
    Field(4, "travel_estimates", MESSAGE, of=TravelEstimates),
    Field(5, "reason", ENUM, of=Outcome, lower=0, upper=2147483647),
)
define(
    Prompt,
    Field(1, "request_id", STRING, lower=1, upper=64, required=True),
    Field(2, "waypoint", MESSAGE, of=Waypoint, required=True),
    Field(3, "travel_estimates", MESSAGE, of=TravelEstimates, required=True),
    Field(4, "deadline_milliseconds", UINT32),
)
define(
    PromptAnswer,
    Field(1, "request_id", STRING, lower=1, upper=64, required=True),
    Field(2, "accepted", BOOL),
)
define(
    PromptOver,
    Field(1, "request_id", STRING, lower=1, upper=64, required=True),
    Field(2, "outcome", ENUM, of=Outcome, lower=1, upper=2147483647, required=True),
)
define(
    RequestOutcome,
    Field(1, "request_id", STRING, lower=1, upper=64, required=True),
    Field(2, "vehicle_id", STRING, lower=1, upper=64, required=True, name=True),
    Field(3, "outcome", ENUM, of=Outcome, lower=1, upper=2147483647, required=True),
    Field(4, "client_id", STRING, lower=1, upper=64, zero=True, name=True),
    Field(5, "preview_follows", BOOL),
    Field(6, "cause", ENUM, of=OutcomeCause, lower=0, upper=2147483647),
    Field(7, "endpoint", STRING, lower=1, upper=64, zero=True, name=True),
)
define(
    CancelNavigation,
    Field(1, "reason", ENUM, of=CancelReason, lower=1, upper=2147483647, required=True),
)
define(AllowNavigation)
define(
    UpdateRouteSource,
    Field(1, "route_source", ENUM, of=RouteSource, lower=0, upper=2147483647),
    Field(2, "vehicle_id", STRING, lower=1, upper=64, zero=True, name=True),
)
define(
    VehicleSettings,
    Field(1, "compass", ENUM, of=ClusterSetting, lower=0, upper=2147483647),
    Field(2, "speed_limit", ENUM, of=ClusterSetting, lower=0, upper=2147483647),
    Field(3, "content_style", ENUM, of=ContentStyle, lower=0, upper=2147483647),
    Field(4, "limited_user_interfaces", UINT32, optional=True),
    Field(5, "ready_to_show", BOOL, optional=True),
    Field(6, "vehicle_id", STRING, lower=1, upper=64, zero=True, name=True),
    Field(7, "endpoint", STRING, lower=1, upper=64, zero=True, name=True),
)
define(
    ZoomCluster,
    Field(1, "direction", ENUM, of=ZoomDirection, lower=1, upper=2147483647, required=True),
    Field(2, "vehicle_id", STRING, lower=1, upper=64, zero=True, name=True),
    Field(3, "endpoint", STRING, lower=1, upper=64, zero=True, name=True),
)
define(
    AlertResponse,
    Field(1, "alert_id", UINT32, lower=1, upper=4294967295, required=True),
    Field(2, "action_id", UINT32, lower=0, upper=2),
    Field(3, "dismissal", ENUM, of=AlertDismissal, lower=0, upper=2147483647),
    Field(4, "vehicle_id", STRING, lower=1, upper=64, zero=True, name=True),
    Field(5, "endpoint", STRING, lower=1, upper=64, zero=True, name=True),
)
define(
    DestinationShareAnswer,
    Field(1, "share_id", STRING, lower=1, upper=64, required=True),
    Field(2, "outcome", ENUM, of=Outcome, lower=1, upper=2147483647, required=True),
)
define(
    DestinationShareStatus,
    Field(1, "share_id", STRING, lower=1, upper=64, required=True),
    Field(2, "vehicle_id", STRING, lower=1, upper=64, required=True, name=True),
    Field(3, "stage", ENUM, of=ShareStage, lower=1, upper=2147483647, required=True),
    Field(4, "outcome", ENUM, of=Outcome, lower=0, upper=2147483647),
)
define(
    VehicleExtension,
    Field(1, "name", STRING, lower=3, upper=128, required=True, extension=True),
    Field(2, "content", BYTES, lower=0, upper=4096),
    Field(3, "vehicle_id", STRING, lower=1, upper=64, zero=True, name=True),
    Field(4, "endpoint", STRING, lower=1, upper=64, zero=True, name=True),
)
define(
    SelectPreview,
    Field(1, "trip_id", STRING, lower=1, upper=128, required=True),
    Field(2, "route_choice_id", UINT32),
    Field(3, "vehicle_id", STRING, lower=1, upper=64, zero=True, name=True),
    Field(4, "endpoint", STRING, lower=1, upper=64, zero=True, name=True),
)
define(
    StartTripRequest,
    Field(1, "request_id", STRING, lower=1, upper=64, required=True),
    Field(2, "trip_id", STRING, lower=1, upper=128, required=True),
    Field(3, "route_choice_id", UINT32),
    Field(4, "vehicle_id", STRING, lower=1, upper=64, zero=True, name=True),
)
define(
    SimulateDrive,
    Field(1, "action", ENUM, of=SimulationAction, lower=1, upper=2147483647, required=True),
    Field(2, "speed_percent", UINT32, lower=0, upper=100000),
    Field(3, "client_id", STRING, lower=1, upper=64, zero=True, name=True),
    Field(4, "vehicle_id", STRING, lower=1, upper=64, zero=True, name=True),
    Field(5, "endpoint", STRING, lower=1, upper=64, zero=True, name=True),
)
define(
    DestinationShareWanted,
    Field(1, "trip_id", STRING, lower=0, upper=128),
    Field(2, "vehicle_id", STRING, lower=1, upper=64, zero=True, name=True),
    Field(3, "endpoint", STRING, lower=1, upper=64, zero=True, name=True),
)
define(
    StopFeedback,
    Field(1, "arrival_battery_per_mille", UINT32, lower=0, upper=1000, optional=True),
    Field(2, "reachability", ENUM, of=Reachability, lower=0, upper=2147483647),
)
define(
    UpdateRouteFeedback,
    Field(1, "generation", UINT32),
    Field(2, "stops", MESSAGE, of=StopFeedback, count=65),
    Field(3, "first_unreachable_segment_id", STRING, lower=0, upper=128),
    Field(4, "vehicle_id", STRING, lower=1, upper=64, zero=True, name=True),
)
define(
    Receipt,
    Field(1, "received_sequence", UINT64),
    Field(2, "shown_sequence", UINT64),
    Field(3, "received_nanoseconds", UINT64, optional=True),
    Field(4, "shown_nanoseconds", UINT64, optional=True),
)
define(
    EndpointReceipt,
    Field(1, "vehicle_id", STRING, lower=1, upper=64, required=True, name=True),
    Field(2, "endpoint", STRING, lower=1, upper=64, required=True, name=True),
    Field(3, "received_sequence", UINT64),
    Field(4, "shown_sequence", UINT64),
    Field(5, "received_delay_microseconds", UINT64, optional=True),
    Field(6, "shown_delay_microseconds", UINT64, optional=True),
)
define(
    ReceiptReport,
    Field(1, "gateway_sequence", UINT64),
    Field(2, "endpoints", MESSAGE, of=EndpointReceipt, count=65536),
)
