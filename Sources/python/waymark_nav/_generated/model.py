"""The words of a drive. Made by scripts/generate/python_messages.py from Protos. Do not edit."""

from __future__ import annotations

from dataclasses import dataclass

from waymark_nav._wire import BOOL, DOUBLE, ENUM, MESSAGE, SINT32, STRING, UINT32, Field, Message, OpenEnum, define


class ManeuverType(OpenEnum):
    """The action that the driver takes at a maneuver. Source: CPManeuverType, raw values 0 ... 53."""

    #: Nothing to turn at.
    NO_TURN = 0
    #: Turn left, by 45 to 135 degrees.
    LEFT_TURN = 1
    #: Turn right, by 45 to 135 degrees.
    RIGHT_TURN = 2
    #: Go straight ahead; the road's name changes.
    STRAIGHT_AHEAD = 3
    #: Make a U-turn and proceed to the route.
    U_TURN = 4
    #: Follow the same road.
    FOLLOW_ROAD = 5
    #: Enter a roundabout.
    ENTER_ROUNDABOUT = 6
    #: Leave a roundabout; also by an exit above 19.
    EXIT_ROUNDABOUT = 7
    #: Leave a road by a ramp.
    OFF_RAMP = 8
    #: Take a ramp onto a road.
    ON_RAMP = 9
    #: Arrive where navigation is complete; the rest of the journey needs another means of transport.
    ARRIVE_END_OF_NAVIGATION = 10
    #: Proceed to the beginning of the route.
    START_ROUTE = 11
    #: Arrive at the destination, or at a waypoint.
    ARRIVE_AT_DESTINATION = 12
    #: Keep left where the road divides.
    KEEP_LEFT = 13
    #: Keep right where the road divides.
    KEEP_RIGHT = 14
    #: Drive onto a ferry.
    ENTER_FERRY = 15
    #: Drive off a ferry.
    EXIT_FERRY = 16
    #: Change from one ferry to another.
    CHANGE_FERRY = 17
    #: Proceed to the beginning of the route with a U-turn.
    START_ROUTE_WITH_U_TURN = 18
    #: Make a U-turn by way of a roundabout.
    U_TURN_AT_ROUNDABOUT = 19
    #: Turn left at the end of the road.
    LEFT_TURN_AT_END = 20
    #: Turn right at the end of the road.
    RIGHT_TURN_AT_END = 21
    #: Leave the motorway on the left.
    HIGHWAY_OFF_RAMP_LEFT = 22
    #: Leave the motorway on the right.
    HIGHWAY_OFF_RAMP_RIGHT = 23
    #: Arrive; the destination is on the left.
    ARRIVE_AT_DESTINATION_LEFT = 24
    #: Arrive; the destination is on the right.
    ARRIVE_AT_DESTINATION_RIGHT = 25
    #: Make a U-turn when possible: the vehicle is off the route.
    U_TURN_WHEN_POSSIBLE = 26
    #: Arrive where the directions end and navigation is complete; the rest of the journey needs another means of
    #: transport.
    ARRIVE_END_OF_DIRECTIONS = 27
    #: Take exit 1 of a roundabout.
    ROUNDABOUT_EXIT_1 = 28
    #: Take exit 2 of a roundabout.
    ROUNDABOUT_EXIT_2 = 29
    #: Take exit 3 of a roundabout.
    ROUNDABOUT_EXIT_3 = 30
    #: Take exit 4 of a roundabout.
    ROUNDABOUT_EXIT_4 = 31
    #: Take exit 5 of a roundabout.
    ROUNDABOUT_EXIT_5 = 32
    #: Take exit 6 of a roundabout.
    ROUNDABOUT_EXIT_6 = 33
    #: Take exit 7 of a roundabout.
    ROUNDABOUT_EXIT_7 = 34
    #: Take exit 8 of a roundabout.
    ROUNDABOUT_EXIT_8 = 35
    #: Take exit 9 of a roundabout.
    ROUNDABOUT_EXIT_9 = 36
    #: Take exit 10 of a roundabout.
    ROUNDABOUT_EXIT_10 = 37
    #: Take exit 11 of a roundabout.
    ROUNDABOUT_EXIT_11 = 38
    #: Take exit 12 of a roundabout.
    ROUNDABOUT_EXIT_12 = 39
    #: Take exit 13 of a roundabout.
    ROUNDABOUT_EXIT_13 = 40
    #: Take exit 14 of a roundabout.
    ROUNDABOUT_EXIT_14 = 41
    #: Take exit 15 of a roundabout.
    ROUNDABOUT_EXIT_15 = 42
    #: Take exit 16 of a roundabout.
    ROUNDABOUT_EXIT_16 = 43
    #: Take exit 17 of a roundabout.
    ROUNDABOUT_EXIT_17 = 44
    #: Take exit 18 of a roundabout.
    ROUNDABOUT_EXIT_18 = 45
    #: Take exit 19 of a roundabout.
    ROUNDABOUT_EXIT_19 = 46
    #: Turn sharp left, by 135 to 180 degrees.
    SHARP_LEFT_TURN = 47
    #: Turn sharp right, by 135 to 180 degrees.
    SHARP_RIGHT_TURN = 48
    #: Turn slightly left, by less than 45 degrees, onto a different road.
    SLIGHT_LEFT_TURN = 49
    #: Turn slightly right, by less than 45 degrees, onto a different road.
    SLIGHT_RIGHT_TURN = 50
    #: Change from one motorway to another.
    CHANGE_HIGHWAY = 51
    #: Change to another motorway on the left.
    CHANGE_HIGHWAY_LEFT = 52
    #: Change to another motorway on the right.
    CHANGE_HIGHWAY_RIGHT = 53


class JunctionType(OpenEnum):
    """The type of the junction that a maneuver is at. Source: CPJunctionType."""

    #: A crossing or a fork.
    INTERSECTION = 0
    #: A roundabout.
    ROUNDABOUT = 1


class TrafficSide(OpenEnum):
    """The side of the road on which traffic drives. Source: CPTrafficSide."""

    #: Traffic drives on the right.
    RIGHT = 0
    #: Traffic drives on the left.
    LEFT = 1


class LaneStatus(OpenEnum):
    """Whether a lane leads where the route goes. Source: CPLaneStatus."""

    #: The lane does not lead along the route.
    NOT_GOOD = 0
    #: The lane leads along the route.
    GOOD = 1
    #: The best of the lanes that lead along the route.
    PREFERRED = 2


class ManeuverState(OpenEnum):
    """The stage of the approach to the next maneuver; the cycle is continue, initial, prepare, execute, continue.
    Source: CPManeuverState.
    """

    #: The driver has nothing to do soon.
    CONTINUE = 0
    #: The maneuver is in the near future.
    INITIAL = 1
    #: The maneuver is in the immediate future.
    PREPARE = 2
    #: The vehicle is in the maneuver.
    EXECUTE = 3


class TimeRemainingColor(OpenEnum):
    """The colour in which the remaining time is shown. Source: CPTimeRemainingColor."""

    #: The display's usual colour.
    DEFAULT = 0
    #: Green: no delay.
    GREEN = 1
    #: Orange: some delay.
    ORANGE = 2
    #: Red: a long delay.
    RED = 3


class PauseReason(OpenEnum):
    """The reason why guidance is paused. Source: CPTripPauseReason."""

    UNSPECIFIED = 0
    #: The vehicle has arrived at the destination or a waypoint.
    ARRIVED = 1
    #: The client is loading the route.
    LOADING = 2
    #: The client is finding out where the vehicle is.
    LOCATING = 3
    #: The client is computing another route.
    REROUTING = 4
    #: The vehicle is off the route and the driver must drive to it.
    PROCEED_TO_ROUTE = 5


class RerouteReason(OpenEnum):
    """The reason why the route changed. Source: CPRerouteReason."""

    #: The reason is not known.
    UNKNOWN = 0
    #: The driver missed a turn.
    MISSED_TURN = 1
    #: The client has lost its network connection.
    OFFLINE = 2
    #: The driver chose another route.
    ALTERNATE_ROUTE = 3
    #: A waypoint was added, moved or removed.
    WAYPOINT_MODIFIED = 4
    #: The old route must not be taken any more, e.g. because a road was closed.
    MANDATED = 5


class RouteSource(OpenEnum):
    """The vehicle's use of the shared route. Source: CPRouteSource, whose iOS* values are the client's here."""

    #: The vehicle does not use the shared route.
    INACTIVE = 0
    #: It uses the client's route as it is.
    CLIENT_UNCHANGED = 1
    #: It uses the client's route, modified between the same destinations.
    CLIENT_ROUTE_MODIFIED = 2
    #: It uses the client's route with other destinations.
    CLIENT_DESTINATIONS_MODIFIED = 3
    #: It uses the client's destinations with a route of its own.
    CLIENT_DESTINATIONS_ONLY = 4
    #: It uses its own route to its own destinations.
    VEHICLE = 5


class NotificationStyle(OpenEnum):
    """Whether a maneuver or an alert may interrupt a display that shows something else. Source: what
    CPMapTemplateDelegate answers to shouldShowNotification and shouldUpdateNotification.
    """

    #: The receiver decides.
    UNSPECIFIED = 0
    #: It does not interrupt the display.
    NEVER = 1
    #: It interrupts the display once.
    ONCE = 2
    #: It interrupts the display, and stays there with estimates that are updated.
    WITH_ESTIMATES = 3


class AlertPriority(OpenEnum):
    """The importance of an alert among others. Source: Apple's CarPlay navigation guide of 2018."""

    #: The receiver decides.
    UNSPECIFIED = 0
    #: Useful to know. It gives way to other alerts.
    LOW = 1
    #: The driver should know it soon.
    MEDIUM = 2
    #: The driver must know it now. It is shown before other alerts.
    HIGH = 3


class Reachability(OpenEnum):
    """Whether the vehicle gets to a stop with the charge that it has, and with what it charges on the way."""

    UNSPECIFIED = 0
    #: It gets there.
    REACHABLE = 1
    #: It does not get there without another stop to charge.
    UNREACHABLE = 2


class DistanceUnit(OpenEnum):
    """The unit in which a distance is shown."""

    UNSPECIFIED = 0
    #: Metres.
    METERS = 1
    #: Kilometres.
    KILOMETERS = 2
    #: Feet.
    FEET = 3
    #: Yards.
    YARDS = 4
    #: Miles.
    MILES = 5


class SpeedLimitStatus(OpenEnum):
    """Whether a speed limit is known."""

    #: The limit is not known.
    UNKNOWN = 0
    #: The speed is limited to a value.
    LIMITED = 1
    #: The speed is not limited.
    NONE = 2


class SpeedUnit(OpenEnum):
    """The unit of a speed limit, as posted."""

    UNSPECIFIED = 0
    #: Kilometres per hour.
    KILOMETERS_PER_HOUR = 1
    #: Miles per hour.
    MILES_PER_HOUR = 2


class SpeedLimitKind(OpenEnum):
    """The kind of a speed limit: what sets it."""

    UNSPECIFIED = 0
    #: A sign, or the law of the place, sets the limit.
    POSTED = 1
    #: The speed is advised, not prescribed.
    ADVISORY = 2
    #: A sign whose value changes with traffic or weather sets the limit.
    VARIABLE = 3
    #: The limit holds under a condition, e.g. in rain or for some hours of the day.
    CONDITIONAL = 4
    #: The limit is that of a school zone.
    SCHOOL_ZONE = 5


class SpeedLimitSign(OpenEnum):
    """The shape of the sign that drivers of the place know."""

    UNSPECIFIED = 0
    #: A round sign with a red ring, of the Vienna Convention.
    VIENNA = 1
    #: A rectangular sign with the words SPEED LIMIT, of the MUTCD.
    MUTCD = 2


class ChargeConnector(OpenEnum):
    """Plugs of charging stations."""

    UNSPECIFIED = 0
    #: Type 1 (SAE J1772), AC.
    TYPE_1 = 1
    #: Type 2 (IEC 62196-2, "Mennekes"), AC.
    TYPE_2 = 2
    #: CCS Combo 1 (SAE J1772 combo), DC.
    CCS_1 = 3
    #: CCS Combo 2 (IEC 62196-3), DC.
    CCS_2 = 4
    #: CHAdeMO, DC.
    CHADEMO = 5
    #: NACS (SAE J3400).
    NACS = 6
    #: GB/T 20234.2, AC.
    GB_T_AC = 7
    #: GB/T 20234.3, DC.
    GB_T_DC = 8
    #: Megawatt Charging System, DC.
    MCS = 9


class StopKind(OpenEnum):
    """The kind of a stop: the reason why it is made."""

    UNSPECIFIED = 0
    #: A stop to charge the vehicle's battery.
    CHARGING = 1
    #: A stop to refuel.
    FUEL = 2
    #: A stop to rest.
    REST = 3
    #: A stop to eat.
    FOOD = 4
    #: A stop to park.
    PARKING = 5
    #: A stop to pick up a passenger or goods.
    PICK_UP = 6
    #: A stop to drop off a passenger or goods.
    DROP_OFF = 7


class AlertDismissal(OpenEnum):
    """The reason why an alert went away. Source: CPNavigationAlertDismissalContext."""

    #: Its time was up.
    TIMEOUT = 0
    #: The user dismissed it.
    USER_DISMISSED = 1
    #: The vehicle, or the client, removed it.
    SYSTEM_DISMISSED = 2


class ContentStyle(OpenEnum):
    """Whether a display shows light or dark content. Source: CPContentStyle."""

    UNSPECIFIED = 0
    #: Dark content on a light background.
    LIGHT = 1
    #: Light content on a dark background.
    DARK = 2


class ClusterSetting(OpenEnum):
    """Whether the cluster shows a compass, a speed limit. Source: CPInstrumentClusterSetting."""

    UNSPECIFIED = 0
    #: It is shown.
    ENABLED = 1
    #: It is not shown.
    DISABLED = 2
    #: The user decides whether it is shown.
    USER_PREFERENCE = 3


class SimulationAction(OpenEnum):
    """An order to a client that simulates drives."""

    UNSPECIFIED = 0
    #: Drives along its route from where it is, at the speed that was asked for, as if the vehicle moved.
    START = 1
    #: Stands still where it is; START continues from there.
    STOP = 2


class ZoomDirection(OpenEnum):
    """Direction of a zoom request."""

    UNSPECIFIED = 0
    #: Closer: a smaller part of the map.
    IN = 1
    #: Further away: a larger part of the map.
    OUT = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Coordinate(Message):
    """A point on the Earth, WGS 84."""

    #: Degrees, finite.
    latitude: float = 0.0

    #: Degrees, finite.
    longitude: float = 0.0

    #: Metres above the ellipsoid, finite.
    altitude_meters: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Polyline(Message):
    """A line of points, packed: 1e-6 degree (11 cm), the first value absolute, each further one the difference to the
    one before. Both lists have the same length; every sum must be a valid coordinate.
    """

    #: Unit 1e-6 degree, zigzag deltas.
    latitude_e6_deltas: tuple[int, ...] = ()

    #: Unit 1e-6 degree, zigzag deltas; as many.
    longitude_e6_deltas: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DisplayDistance(Message):
    """A distance as it is shown: rounded, with its unit."""

    #: In tenths of `unit`: 4.5 km is 45 KILOMETERS.
    value_tenths: int = 0

    unit: DistanceUnit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TravelEstimates(Message):
    """How far and how long. Source: CPTravelEstimates."""

    #: True distance.
    distance_remaining_meters: int = 0

    #: Absent: not known.
    time_remaining_seconds: int | None = None

    #: What to show. Absent: the receiver rounds the true distance by itself.
    distance_remaining_to_display: DisplayDistance | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SpeedLimit(Message):
    """A speed limit, with value and unit as posted: they are never converted."""

    status: SpeedLimitStatus = SpeedLimitStatus.UNKNOWN

    #: With LIMITED it must be given, with UNKNOWN and NONE it must not.
    value: int = 0

    #: The unit of `value`; given exactly when that is.
    unit: SpeedUnit = SpeedUnit.UNSPECIFIED

    kind: SpeedLimitKind = SpeedLimitKind.UNSPECIFIED

    sign: SpeedLimitSign = SpeedLimitSign.UNSPECIFIED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SpeedLimitAhead(Message):
    """A speed limit ahead of the vehicle, and how far ahead it begins."""

    limit: SpeedLimit

    #: True distance.
    distance_meters: int = 0

    #: What to show. Absent: the receiver rounds the true distance by itself.
    distance_to_display: DisplayDistance | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SpeedLimitSpan(Message):
    """A speed limit along a part of a segment's line: to the first point of the next span, or to the end of the line."""

    #: The index of the point at which the limit begins to hold. A point that the line does not have: the span holds
    #: nowhere.
    first_point: int = 0

    limit: SpeedLimit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Maneuver(Message):
    """What the driver does at one point of the route. Source: CPManeuver."""

    #: Unique within one generation of the session.
    id: int

    type: ManeuverType = ManeuverType.NO_TURN

    junction_type: JunctionType = JunctionType.INTERSECTION

    traffic_side: TrafficSide = TrafficSide.RIGHT

    #: What to do, in words.
    instruction_variants: tuple[str, ...] = ()

    #: The road after the maneuver.
    road_following_maneuver_variants: tuple[str, ...] = ()

    #: As signposted, e.g. "12A".
    highway_exit_label: str = ""

    #: Direction of leaving the junction.
    junction_exit_angle_degrees: int | None = None

    #: The other roads of the junction; must not contain the exit angle.
    junction_element_angles_degrees: tuple[int, ...] = ()

    #: 0: none. Otherwise the id of a lane guidance, which may be added later in the same generation.
    linked_lane_guidance_id: int = 0

    #: Estimates from the maneuver before (from the start for the first) to this one.
    initial_travel_estimates: TravelEstimates | None = None

    #: The true number of the exit, where a roundabout or rotary has one. Types 28 ... 46 say 1 ... 19; above 19 the
    #: type is EXIT_ROUNDABOUT and this field has the number. 0: none.
    roundabout_exit_number: int = 0

    #: The maneuver arrives at a waypoint on the way, not at the destination. CarPlay has no type for this.
    intermediate_waypoint: bool = False

    #: Whether it may interrupt a display that shows something else.
    notification: NotificationStyle = NotificationStyle.UNSPECIFIED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Lane(Message):
    """One lane. Source: CPLane."""

    #: Directions in which the lane may be left; may be empty (a lane without arrows).
    angles_degrees: tuple[int, ...] = ()

    #: The direction to take; one of `angles_degrees`; only when the status is not NOT_GOOD.
    highlighted_angle_degrees: int | None = None

    status: LaneStatus = LaneStatus.NOT_GOOD


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LaneGuidance(Message):
    """The lanes at one point, from left to right. Source: CPLaneGuidance."""

    #: Unique within one generation of the session.
    id: int

    lanes: tuple[Lane, ...]

    instruction_variants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ChargeStop(Message):
    """A charging stop as planned."""

    #: State of charge on arrival.
    arrival_battery_per_mille: int | None = None

    #: State of charge on departure.
    departure_battery_per_mille: int | None = None

    connector: ChargeConnector = ChargeConnector.UNSPECIFIED

    #: Of the station. 0: not known.
    power_watts: int = 0

    #: 0: not known.
    charging_time_seconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Waypoint(Message):
    """A place on the trip. Source: CPNavigationWaypoint."""

    center: Coordinate

    #: Within this distance of the centre the point counts as reached. 0: not given.
    location_threshold_meters: int = 0

    name_variants: tuple[str, ...] = ()

    address_variants: tuple[str, ...] = ()

    #: Where the place can be entered.
    entry_points: tuple[Coordinate, ...] = ()

    #: IANA name, e.g. "Europe/Vaduz".
    time_zone: str = ""

    #: Minutes east of UTC at arrival.
    utc_offset_minutes: int | None = None

    stop_kind: StopKind = StopKind.UNSPECIFIED

    charge: ChargeStop | None = None

    #: The client's or vehicle's own name for the place; handed back unchanged.
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RouteChoice(Message):
    """One of the ways to make a trip. Source: CPRouteChoice."""

    #: Unique in the trip.
    id: int

    #: "Via A 14".
    summary_variants: tuple[str, ...] = ()

    #: "Traffic is light".
    additional_information_variants: tuple[str, ...] = ()

    #: Shown once chosen.
    selection_summary_variants: tuple[str, ...] = ()

    travel_estimates: TravelEstimates | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Trip(Message):
    """A drive from origin to destination. Source: CPTrip."""

    #: The client's own.
    id: str

    origin: Waypoint

    destination: Waypoint

    #: On the way, in order, without origin and destination.
    waypoints: tuple[Waypoint, ...] = ()

    #: All ids differ.
    route_choices: tuple[RouteChoice, ...] = ()

    #: The id of the choice that is driven or preselected, one of `route_choices`. 0: the first, or none.
    selected_route_choice_id: int = 0

    #: The destination may be shared with the vehicle.
    destination_shareable: bool = False

    #: Route segments will be published. False withholds them from every vehicle, also those that were published
    #: before.
    route_segments_available: bool = False

    #: Of the selected route choice. A trip of previews should have them.
    travel_estimates: TravelEstimates | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RouteSegment(Message):
    """One leg between two waypoints. Source: CPRouteSegment."""

    #: Unique within one generation of the session.
    id: str

    origin: Waypoint

    destination: Waypoint

    #: The way from origin to destination; at most 262 144 points.
    coordinates: Polyline | None = None

    #: The segment's maneuvers, in order; each must have been added.
    maneuver_ids: tuple[int, ...] = ()

    #: The segment's lane guidances, in order; each must have been added.
    lane_guidance_ids: tuple[int, ...] = ()

    #: The maneuvers to show when this segment becomes current, next ones first; each must have been added.
    current_maneuver_ids: tuple[int, ...] = ()

    #: The lane guidance to show when this segment becomes current. 0: none.
    current_lane_guidance_id: int = 0

    #: Of the whole trip from the segment's start.
    trip_travel_estimates: TravelEstimates | None = None

    #: To the first of the current maneuvers from the segment's start.
    maneuver_travel_estimates: TravelEstimates | None = None

    #: The speed limits along `coordinates`, whose `first_point` rises from one to the next. Before the first span the
    #: limit is not known.
    speed_limits: tuple[SpeedLimitSpan, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AlertAction(Message):
    """A choice offered in an alert."""

    #: 1: primary; 2: secondary.
    id: int

    title_variants: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NavigationAlert(Message):
    """Something the driver should know now. Source: CPNavigationAlert."""

    #: The id of the alert that is shown: the same alert in other words. Otherwise one that the session has not had.
    id: int

    title_variants: tuple[str, ...]

    subtitle_variants: tuple[str, ...] = ()

    actions: tuple[AlertAction, ...] = ()

    #: 0: until dismissed. Otherwise, below 5 000 the receiver raises it to that.
    duration_milliseconds: int = 0

    #: Whether it may interrupt a display that shows something else.
    notification: NotificationStyle = NotificationStyle.UNSPECIFIED

    #: The importance of the alert among others.
    priority: AlertPriority = AlertPriority.UNSPECIFIED


define(
    Coordinate,
    Field(1, "latitude", DOUBLE, lower=-90, upper=90),
    Field(2, "longitude", DOUBLE, lower=-180, upper=180),
    Field(3, "altitude_meters", DOUBLE, lower=-12000, upper=100000, optional=True),
)
define(
    Polyline,
    Field(1, "latitude_e6_deltas", SINT32, count=262144, sums=90000000),
    Field(2, "longitude_e6_deltas", SINT32, count=262144, sums=180000000),
)
define(
    DisplayDistance,
    Field(1, "value_tenths", UINT32, lower=0, upper=99999999),
    Field(2, "unit", ENUM, of=DistanceUnit, lower=1, upper=2147483647, required=True),
)
define(
    TravelEstimates,
    Field(1, "distance_remaining_meters", UINT32, lower=0, upper=50000000),
    Field(2, "time_remaining_seconds", UINT32, lower=0, upper=31536000, optional=True),
    Field(3, "distance_remaining_to_display", MESSAGE, of=DisplayDistance),
)
define(
    SpeedLimit,
    Field(1, "status", ENUM, of=SpeedLimitStatus, lower=0, upper=2147483647),
    Field(2, "value", UINT32, lower=0, upper=500),
    Field(3, "unit", ENUM, of=SpeedUnit, lower=0, upper=2147483647),
    Field(4, "kind", ENUM, of=SpeedLimitKind, lower=0, upper=2147483647),
    Field(5, "sign", ENUM, of=SpeedLimitSign, lower=0, upper=2147483647),
)
define(
    SpeedLimitAhead,
    Field(1, "limit", MESSAGE, of=SpeedLimit, required=True),
    Field(2, "distance_meters", UINT32, lower=0, upper=50000000),
    Field(3, "distance_to_display", MESSAGE, of=DisplayDistance),
)
define(
    SpeedLimitSpan,
    Field(1, "first_point", UINT32),
    Field(2, "limit", MESSAGE, of=SpeedLimit, required=True),
)
define(
    Maneuver,
    Field(1, "id", UINT32, lower=1, upper=4294967295, required=True),
    Field(2, "type", ENUM, of=ManeuverType, lower=0, upper=2147483647),
    Field(3, "junction_type", ENUM, of=JunctionType, lower=0, upper=2147483647),
    Field(4, "traffic_side", ENUM, of=TrafficSide, lower=0, upper=2147483647),
    Field(5, "instruction_variants", STRING, lower=0, upper=512, count=8),
    Field(6, "road_following_maneuver_variants", STRING, lower=0, upper=512, count=8),
    Field(7, "highway_exit_label", STRING, lower=0, upper=64),
    Field(8, "junction_exit_angle_degrees", SINT32, lower=-180, upper=180, optional=True),
    Field(9, "junction_element_angles_degrees", SINT32, lower=-180, upper=180, count=32),
    Field(10, "linked_lane_guidance_id", UINT32),
    Field(11, "initial_travel_estimates", MESSAGE, of=TravelEstimates),
    Field(12, "roundabout_exit_number", UINT32, lower=0, upper=255),
    Field(13, "intermediate_waypoint", BOOL),
    Field(14, "notification", ENUM, of=NotificationStyle, lower=0, upper=2147483647),
)
define(
    Lane,
    Field(1, "angles_degrees", SINT32, lower=-180, upper=180, count=16),
    Field(2, "highlighted_angle_degrees", SINT32, lower=-180, upper=180, optional=True),
    Field(3, "status", ENUM, of=LaneStatus, lower=0, upper=2147483647),
)
define(
    LaneGuidance,
    Field(1, "id", UINT32, lower=1, upper=4294967295, required=True),
    Field(2, "lanes", MESSAGE, of=Lane, count=32, required=True),
    Field(3, "instruction_variants", STRING, lower=0, upper=512, count=8),
)
define(
    ChargeStop,
    Field(1, "arrival_battery_per_mille", UINT32, lower=0, upper=1000, optional=True),
    Field(2, "departure_battery_per_mille", UINT32, lower=0, upper=1000, optional=True),
    Field(3, "connector", ENUM, of=ChargeConnector, lower=0, upper=2147483647),
    Field(4, "power_watts", UINT32, lower=0, upper=10000000),
    Field(5, "charging_time_seconds", UINT32, lower=0, upper=604800),
)
define(
    Waypoint,
    Field(1, "center", MESSAGE, of=Coordinate, required=True),
    Field(2, "location_threshold_meters", UINT32, lower=0, upper=100000),
    Field(3, "name_variants", STRING, lower=0, upper=512, count=8),
    Field(4, "address_variants", STRING, lower=0, upper=512, count=8),
    Field(5, "entry_points", MESSAGE, of=Coordinate, count=16),
    Field(6, "time_zone", STRING, lower=0, upper=64),
    Field(7, "utc_offset_minutes", SINT32, lower=-840, upper=840, optional=True),
    Field(8, "stop_kind", ENUM, of=StopKind, lower=0, upper=2147483647),
    Field(9, "charge", MESSAGE, of=ChargeStop),
    Field(10, "id", STRING, lower=0, upper=128),
)
define(
    RouteChoice,
    Field(1, "id", UINT32, lower=1, upper=4294967295, required=True),
    Field(2, "summary_variants", STRING, lower=0, upper=512, count=8),
    Field(3, "additional_information_variants", STRING, lower=0, upper=512, count=8),
    Field(4, "selection_summary_variants", STRING, lower=0, upper=512, count=8),
    Field(5, "travel_estimates", MESSAGE, of=TravelEstimates),
)
define(
    Trip,
    Field(1, "id", STRING, lower=1, upper=128, required=True),
    Field(2, "origin", MESSAGE, of=Waypoint, required=True),
    Field(3, "destination", MESSAGE, of=Waypoint, required=True),
    Field(4, "waypoints", MESSAGE, of=Waypoint, count=64),
    Field(5, "route_choices", MESSAGE, of=RouteChoice, count=3),
    Field(6, "selected_route_choice_id", UINT32),
    Field(7, "destination_shareable", BOOL),
    Field(8, "route_segments_available", BOOL),
    Field(9, "travel_estimates", MESSAGE, of=TravelEstimates),
)
define(
    RouteSegment,
    Field(1, "id", STRING, lower=1, upper=128, required=True),
    Field(2, "origin", MESSAGE, of=Waypoint, required=True),
    Field(3, "destination", MESSAGE, of=Waypoint, required=True),
    Field(4, "coordinates", MESSAGE, of=Polyline),
    Field(5, "maneuver_ids", UINT32, count=4096),
    Field(6, "lane_guidance_ids", UINT32, count=4096),
    Field(7, "current_maneuver_ids", UINT32, count=64),
    Field(8, "current_lane_guidance_id", UINT32),
    Field(9, "trip_travel_estimates", MESSAGE, of=TravelEstimates),
    Field(10, "maneuver_travel_estimates", MESSAGE, of=TravelEstimates),
    Field(11, "speed_limits", MESSAGE, of=SpeedLimitSpan, count=4096),
)
define(
    AlertAction,
    Field(1, "id", UINT32, lower=1, upper=2, required=True),
    Field(2, "title_variants", STRING, lower=0, upper=512, count=8, required=True),
)
define(
    NavigationAlert,
    Field(1, "id", UINT32, lower=1, upper=4294967295, required=True),
    Field(2, "title_variants", STRING, lower=0, upper=512, count=8, required=True),
    Field(3, "subtitle_variants", STRING, lower=0, upper=512, count=8),
    Field(4, "actions", MESSAGE, of=AlertAction, count=2),
    Field(5, "duration_milliseconds", UINT32, lower=0, upper=600000),
    Field(6, "notification", ENUM, of=NotificationStyle, lower=0, upper=2147483647),
    Field(7, "priority", ENUM, of=AlertPriority, lower=0, upper=2147483647),
)
