// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The reason why the route changed.
///
/// Raw values are those on the wire.
///
/// - Source: CPRerouteReason.
public enum RerouteReason: WireEnumeration {
    /// The reason is not known.
    case unknown
    /// The driver missed a turn.
    case missedTurn
    /// The client has lost its network connection.
    case offline
    /// The driver chose another route.
    case alternateRoute
    /// A waypoint was added, moved or removed.
    case waypointModified
    /// The old route must not be taken any more, e.g. because a road was closed.
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
