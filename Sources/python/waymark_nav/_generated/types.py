"""Message types. Made by scripts/generate/python_messages.py from Protos. Do not edit."""

from __future__ import annotations

from enum import IntEnum

from waymark_nav._generated.connection import Error, Goodbye, Hello, Ping, Pong, Welcome
from waymark_nav._generated.observer import (
    Counters,
    ObservationBegin,
    ObservationGap,
    Observe,
    ObservedEvent,
    ObservedFrames,
    ObservedRecords,
    ReadCounters,
)
from waymark_nav._generated.session import (
    Acknowledgement,
    AddLaneGuidances,
    AddManeuvers,
    AddRouteSegments,
    CancelGuidance,
    CurrentLaneGuidance,
    CurrentRoadName,
    CurrentRouteSegment,
    DismissAlert,
    FinishGuidance,
    OpenSession,
    PauseGuidance,
    PublishExtension,
    ResumeGuidance,
    SessionEnded,
    SessionOpened,
    SessionRestored,
    SessionSuspended,
    ShareDestination,
    ShowAlert,
    SnapshotBegin,
    SnapshotEnd,
    StartGuidance,
    TripPreviews,
    UpcomingManeuvers,
    UpdateManeuverEstimates,
    UpdateManeuverState,
    UpdateSpeedLimit,
    UpdateTrip,
    UpdateTripEstimates,
    VehicleChanged,
)
from waymark_nav._generated.vehicle import (
    AlertResponse,
    AllowNavigation,
    CancelNavigation,
    DestinationRequest,
    DestinationShareAnswer,
    DestinationShareStatus,
    DestinationShareWanted,
    Prompt,
    PromptAnswer,
    PromptOver,
    Receipt,
    ReceiptReport,
    RequestAnswer,
    RequestOutcome,
    SelectPreview,
    SimulateDrive,
    StartTripRequest,
    UpdateRouteFeedback,
    UpdateRouteSource,
    VehicleExtension,
    VehicleSettings,
    WaypointRequest,
    WithdrawRequest,
    ZoomCluster,
)
from waymark_nav._wire import Message


class MessageType(IntEnum):
    """The type number in a frame's header."""

    HELLO = 0x0001
    WELCOME = 0x0002
    GOODBYE = 0x0003
    PING = 0x0004
    PONG = 0x0005
    ERROR = 0x0006
    OPEN_SESSION = 0x0010
    SESSION_OPENED = 0x0011
    VEHICLE_CHANGED = 0x0012
    SESSION_ENDED = 0x0013
    SNAPSHOT_BEGIN = 0x0014
    SNAPSHOT_END = 0x0015
    SESSION_SUSPENDED = 0x0016
    SESSION_RESTORED = 0x0017
    RECEIPT = 0x0018
    RECEIPT_REPORT = 0x0019
    ACKNOWLEDGEMENT = 0x001A
    TRIP_PREVIEWS = 0x0100
    START_GUIDANCE = 0x0101
    UPDATE_TRIP = 0x0102
    ADD_MANEUVERS = 0x0103
    ADD_LANE_GUIDANCES = 0x0104
    ADD_ROUTE_SEGMENTS = 0x0105
    UPCOMING_MANEUVERS = 0x0106
    CURRENT_LANE_GUIDANCE = 0x0107
    CURRENT_ROAD_NAME = 0x0108
    UPDATE_MANEUVER_STATE = 0x0109
    UPDATE_TRIP_ESTIMATES = 0x010A
    UPDATE_MANEUVER_ESTIMATES = 0x010B
    CURRENT_ROUTE_SEGMENT = 0x010C
    PAUSE_GUIDANCE = 0x010D
    RESUME_GUIDANCE = 0x010E
    SHOW_ALERT = 0x010F
    DISMISS_ALERT = 0x0110
    SHARE_DESTINATION = 0x0111
    FINISH_GUIDANCE = 0x0112
    CANCEL_GUIDANCE = 0x0113
    UPDATE_SPEED_LIMIT = 0x0114
    PUBLISH_EXTENSION = 0x01E0
    WAYPOINT_REQUEST = 0x0200
    DESTINATION_REQUEST = 0x0201
    WITHDRAW_REQUEST = 0x0202
    REQUEST_ANSWER = 0x0203
    PROMPT = 0x0204
    PROMPT_ANSWER = 0x0205
    PROMPT_OVER = 0x0206
    REQUEST_OUTCOME = 0x0207
    CANCEL_NAVIGATION = 0x0208
    ALLOW_NAVIGATION = 0x0209
    UPDATE_ROUTE_SOURCE = 0x020A
    VEHICLE_SETTINGS = 0x020B
    ZOOM_CLUSTER = 0x020C
    ALERT_RESPONSE = 0x020D
    DESTINATION_SHARE_ANSWER = 0x020E
    DESTINATION_SHARE_STATUS = 0x020F
    VEHICLE_EXTENSION = 0x0210
    SELECT_PREVIEW = 0x0211
    START_TRIP_REQUEST = 0x0212
    DESTINATION_SHARE_WANTED = 0x0213
    UPDATE_ROUTE_FEEDBACK = 0x0214
    SIMULATE_DRIVE = 0x0215
    OBSERVE = 0x0300
    OBSERVATION_BEGIN = 0x0301
    OBSERVED_RECORDS = 0x0302
    OBSERVED_EVENT = 0x0303
    OBSERVED_FRAMES = 0x0304
    OBSERVATION_GAP = 0x0305
    READ_COUNTERS = 0x0306
    COUNTERS = 0x0307


#: The class of the body, by type.
BODIES: dict[int, type[Message]] = {
    0x0001: Hello,
    0x0002: Welcome,
    0x0003: Goodbye,
    0x0004: Ping,
    0x0005: Pong,
    0x0006: Error,
    0x0010: OpenSession,
    0x0011: SessionOpened,
    0x0012: VehicleChanged,
    0x0013: SessionEnded,
    0x0014: SnapshotBegin,
    0x0015: SnapshotEnd,
    0x0016: SessionSuspended,
    0x0017: SessionRestored,
    0x0018: Receipt,
    0x0019: ReceiptReport,
    0x001A: Acknowledgement,
    0x0100: TripPreviews,
    0x0101: StartGuidance,
    0x0102: UpdateTrip,
    0x0103: AddManeuvers,
    0x0104: AddLaneGuidances,
    0x0105: AddRouteSegments,
    0x0106: UpcomingManeuvers,
    0x0107: CurrentLaneGuidance,
    0x0108: CurrentRoadName,
    0x0109: UpdateManeuverState,
    0x010A: UpdateTripEstimates,
    0x010B: UpdateManeuverEstimates,
    0x010C: CurrentRouteSegment,
    0x010D: PauseGuidance,
    0x010E: ResumeGuidance,
    0x010F: ShowAlert,
    0x0110: DismissAlert,
    0x0111: ShareDestination,
    0x0112: FinishGuidance,
    0x0113: CancelGuidance,
    0x0114: UpdateSpeedLimit,
    0x01E0: PublishExtension,
    0x0200: WaypointRequest,
    0x0201: DestinationRequest,
    0x0202: WithdrawRequest,
    0x0203: RequestAnswer,
    0x0204: Prompt,
    0x0205: PromptAnswer,
    0x0206: PromptOver,
    0x0207: RequestOutcome,
    0x0208: CancelNavigation,
    0x0209: AllowNavigation,
    0x020A: UpdateRouteSource,
    0x020B: VehicleSettings,
    0x020C: ZoomCluster,
    0x020D: AlertResponse,
    0x020E: DestinationShareAnswer,
    0x020F: DestinationShareStatus,
    0x0210: VehicleExtension,
    0x0211: SelectPreview,
    0x0212: StartTripRequest,
    0x0213: DestinationShareWanted,
    0x0214: UpdateRouteFeedback,
    0x0215: SimulateDrive,
    0x0300: Observe,
    0x0301: ObservationBegin,
    0x0302: ObservedRecords,
    0x0303: ObservedEvent,
    0x0304: ObservedFrames,
    0x0305: ObservationGap,
    0x0306: ReadCounters,
    0x0307: Counters,
}

#: The type, by the class of the body.
TYPES: dict[type[Message], MessageType] = {body: MessageType(number) for number, body in BODIES.items()}
