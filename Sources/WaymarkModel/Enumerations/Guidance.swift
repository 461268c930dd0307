/// Whether a lane leads where the route goes.
///
/// Raw values are those on the wire.
///
/// - Source: CPLaneStatus.
public enum LaneStatus: WireEnumeration {
    /// Not good.
    case notGood
    /// Good.
    case good
    /// Preferred.
    case preferred
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [LaneStatus] = [
        .notGood,
        .good,
        .preferred,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .notGood: 0
        case .good: 1
        case .preferred: 2
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 0: self = .notGood
        case 1: self = .good
        case 2: self = .preferred
        default: self = .unrecognized(rawValue)
        }
    }
}

/// How near the next maneuver is; the cycle is continue, initial, prepare, execute, continue.
///
/// Raw values are those on the wire.
///
/// - Source: CPManeuverState.
public enum ManeuverState: WireEnumeration {
    /// Nothing to do soon.
    case `continue`
    /// In the near future.
    case initial
    /// In the immediate future.
    case prepare
    /// In the maneuver.
    case execute
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [ManeuverState] = [
        .continue,
        .initial,
        .prepare,
        .execute,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .continue: 0
        case .initial: 1
        case .prepare: 2
        case .execute: 3
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 0: self = .continue
        case 1: self = .initial
        case 2: self = .prepare
        case 3: self = .execute
        default: self = .unrecognized(rawValue)
        }
    }
}

/// The colour in which the remaining time is shown.
///
/// Raw values are those on the wire.
///
/// - Source: CPTimeRemainingColor.
public enum TimeRemainingColor: WireEnumeration {
    /// Default.
    case `default`
    /// Green.
    case green
    /// Orange.
    case orange
    /// Red.
    case red
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [TimeRemainingColor] = [
        .default,
        .green,
        .orange,
        .red,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .default: 0
        case .green: 1
        case .orange: 2
        case .red: 3
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 0: self = .default
        case 1: self = .green
        case 2: self = .orange
        case 3: self = .red
        default: self = .unrecognized(rawValue)
        }
    }
}

/// Why guidance is paused.
///
/// Raw values are those on the wire.
///
/// - Source: CPTripPauseReason.
public enum PauseReason: WireEnumeration {
    /// Arrived.
    case arrived
    /// Loading.
    case loading
    /// Locating.
    case locating
    /// Rerouting.
    case rerouting
    /// Proceed to route.
    case proceedToRoute
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [PauseReason] = [
        .arrived,
        .loading,
        .locating,
        .rerouting,
        .proceedToRoute,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .arrived: 1
        case .loading: 2
        case .locating: 3
        case .rerouting: 4
        case .proceedToRoute: 5
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .arrived
        case 2: self = .loading
        case 3: self = .locating
        case 4: self = .rerouting
        case 5: self = .proceedToRoute
        default: self = .unrecognized(rawValue)
        }
    }
}

/// Why the route changed.
///
/// Raw values are those on the wire.
///
/// - Source: CPRerouteReason.
public enum RerouteReason: WireEnumeration {
    /// Unknown.
    case unknown
    /// Missed turn.
    case missedTurn
    /// Offline.
    case offline
    /// Alternate route.
    case alternateRoute
    /// Waypoint modified.
    case waypointModified
    /// Mandated.
    case mandated
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [RerouteReason] = [
        .unknown,
        .missedTurn,
        .offline,
        .alternateRoute,
        .waypointModified,
        .mandated,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .unknown: 0
        case .missedTurn: 1
        case .offline: 2
        case .alternateRoute: 3
        case .waypointModified: 4
        case .mandated: 5
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 0: self = .unknown
        case 1: self = .missedTurn
        case 2: self = .offline
        case 3: self = .alternateRoute
        case 4: self = .waypointModified
        case 5: self = .mandated
        default: self = .unrecognized(rawValue)
        }
    }
}

/// The unit in which a distance is shown.
///
/// Raw values are those on the wire.
public enum DistanceUnit: WireEnumeration {
    /// Meters.
    case meters
    /// Kilometers.
    case kilometers
    /// Feet.
    case feet
    /// Yards.
    case yards
    /// Miles.
    case miles
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [DistanceUnit] = [
        .meters,
        .kilometers,
        .feet,
        .yards,
        .miles,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .meters: 1
        case .kilometers: 2
        case .feet: 3
        case .yards: 4
        case .miles: 5
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .meters
        case 2: self = .kilometers
        case 3: self = .feet
        case 4: self = .yards
        case 5: self = .miles
        default: self = .unrecognized(rawValue)
        }
    }
}
