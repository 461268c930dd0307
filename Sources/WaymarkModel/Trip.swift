/// A charging stop as planned.
public struct ChargeStop: Sendable, Hashable {
    /// State of charge on arrival, 0 ... 1 000 per mille; nil when not known.
    public var arrivalBatteryPerMille: UInt16?
    /// State of charge on departure, 0 ... 1 000 per mille; nil when not known.
    public var departureBatteryPerMille: UInt16?
    /// The plug; nil when not known.
    public var connector: ChargeConnector?
    /// The power of the station, 1 ... 10 000 000 watts; nil when not known.
    public var powerWatts: UInt32?
    /// The charging time, 1 ... 604 800 whole seconds; nil when not known.
    public var chargingTime: Duration?

    /// Creates a charging stop.
    public init(
        arrivalBatteryPerMille: UInt16? = nil, departureBatteryPerMille: UInt16? = nil,
        connector: ChargeConnector? = nil, powerWatts: UInt32? = nil, chargingTime: Duration? = nil
    ) {
        self.arrivalBatteryPerMille = arrivalBatteryPerMille
        self.departureBatteryPerMille = departureBatteryPerMille
        self.connector = connector
        self.powerWatts = powerWatts
        self.chargingTime = chargingTime
    }
}

/// A place on a trip.
///
/// - Source: `CPNavigationWaypoint`; `Destination` in Android for Cars.
public struct Waypoint: Sendable, Hashable {
    /// The middle of the place.
    public var center: Coordinate
    /// The distance from the centre within which the place counts as reached; at most 100 000 m; nil when not given.
    public var locationThreshold: Distance?
    /// The name, longest first; at most 8 variants of at most 512 bytes.
    public var nameVariants: [String]
    /// The address, longest first; at most 8 variants of at most 512 bytes.
    public var addressVariants: [String]
    /// The points at which the place can be entered; at most 16.
    public var entryPoints: [Coordinate]
    /// IANA name, e.g. "Europe/Vaduz"; empty when not known; at most 64 bytes.
    public var timeZone: String
    /// Minutes east of UTC at arrival, -840 ... 840; nil when not known.
    public var utcOffsetMinutes: Int16?
    /// The reason why the stop is made; nil when not said.
    public var stopKind: StopKind?
    /// The charging plan, for a charging stop.
    public var charge: ChargeStop?
    /// The publisher's own name for the place, handed back unchanged; empty for none; at most 128 bytes.
    public var id: String

    /// Creates a waypoint.
    public init(
        center: Coordinate, locationThreshold: Distance? = nil, nameVariants: [String] = [],
        addressVariants: [String] = [], entryPoints: [Coordinate] = [], timeZone: String = "",
        utcOffsetMinutes: Int16? = nil, stopKind: StopKind? = nil, charge: ChargeStop? = nil, id: String = ""
    ) {
        self.center = center
        self.locationThreshold = locationThreshold
        self.nameVariants = nameVariants
        self.addressVariants = addressVariants
        self.entryPoints = entryPoints
        self.timeZone = timeZone
        self.utcOffsetMinutes = utcOffsetMinutes
        self.stopKind = stopKind
        self.charge = charge
        self.id = id
    }
}

/// One of the ways to make a trip.
///
/// - Source: `CPRouteChoice`.
public struct RouteChoice: Sendable, Hashable {
    /// The id, which is unique in the trip; not zero.
    public var id: UInt32
    /// The summary, e.g. "Via A 14", longest first; at most 8 variants of at most 512 bytes.
    public var summaryVariants: [String]
    /// The additional information, e.g. "Traffic is light", longest first; at most 8 variants of at most 512 bytes.
    public var additionalInformationVariants: [String]
    /// The summary that is shown once the choice is selected, longest first; at most 8 variants of at most 512 bytes.
    public var selectionSummaryVariants: [String]
    /// The estimates of the whole choice; nil when not known.
    public var travelEstimates: TravelEstimates?

    /// Creates a route choice.
    public init(
        id: UInt32, summaryVariants: [String] = [], additionalInformationVariants: [String] = [],
        selectionSummaryVariants: [String] = [], travelEstimates: TravelEstimates? = nil
    ) {
        self.id = id
        self.summaryVariants = summaryVariants
        self.additionalInformationVariants = additionalInformationVariants
        self.selectionSummaryVariants = selectionSummaryVariants
        self.travelEstimates = travelEstimates
    }
}

/// A drive from origin to destination.
///
/// - Source: `CPTrip`.
public struct Trip: Sendable, Hashable {
    /// The client's own id for the trip; not empty, at most 128 bytes.
    public var id: String
    /// The waypoint at which the trip starts.
    public var origin: Waypoint
    /// The waypoint at which the trip ends.
    public var destination: Waypoint
    /// The waypoints on the way, in order, without origin and destination; at most 64.
    public var waypoints: [Waypoint]
    /// The ways to make the trip; at most 3.
    public var routeChoices: [RouteChoice]
    /// The choice that is driven or preselected; nil for none.
    public var selectedRouteChoice: UInt32?
    /// Whether the destination may be shared with the vehicle.
    public var isDestinationShareable: Bool
    /// Whether route segments will be published; false withholds them from every vehicle.
    public var routeSegmentsAvailable: Bool
    /// The estimates of the selected route choice; nil when not known. A trip of previews should have them.
    public var travelEstimates: TravelEstimates?

    /// Creates a trip.
    public init(
        id: String, origin: Waypoint, destination: Waypoint, waypoints: [Waypoint] = [],
        routeChoices: [RouteChoice] = [], selectedRouteChoice: UInt32? = nil,
        isDestinationShareable: Bool = true, routeSegmentsAvailable: Bool = true,
        travelEstimates: TravelEstimates? = nil
    ) {
        self.id = id
        self.origin = origin
        self.destination = destination
        self.waypoints = waypoints
        self.routeChoices = routeChoices
        self.selectedRouteChoice = selectedRouteChoice
        self.isDestinationShareable = isDestinationShareable
        self.routeSegmentsAvailable = routeSegmentsAvailable
        self.travelEstimates = travelEstimates
    }
}
