/// The vehicle's view of one stop of a trip. Without both values it does not know.
public struct StopFeedback: Sendable, Hashable {
    /// The charge with which it will arrive, 0 ... 1 000 per mille of the battery; nil when not known.
    public var arrivalBatteryPerMille: UInt16?
    /// Whether it gets there; nil when not known.
    public var reachability: Reachability?

    /// Creates the vehicle's view of one stop.
    public init(arrivalBatteryPerMille: UInt16? = nil, reachability: Reachability? = nil) {
        self.arrivalBatteryPerMille = arrivalBatteryPerMille
        self.reachability = reachability
    }
}

/// The vehicle's view of a route: how far it gets with the charge that it has, and with what it charges on the way.
public struct RouteFeedback: Sendable, Hashable {
    /// The generation of the route that is meant.
    public var generation: UInt32
    /// The stops in order: the waypoints of the trip, then its destination; at most 65. Fewer: the others are not known.
    public var stops: [StopFeedback]
    /// The first route segment that the vehicle cannot reach or finish; nil for none, or when not known.
    public var firstUnreachableSegment: String?

    /// Creates the vehicle's view of a route.
    public init(generation: UInt32, stops: [StopFeedback] = [], firstUnreachableSegment: String? = nil) {
        self.generation = generation
        self.stops = stops
        self.firstUnreachableSegment = firstUnreachableSegment
    }
}
