// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The vehicle's use of the shared route.
///
/// Raw values are those on the wire.
///
/// - Source: CPRouteSource, whose iOS* values are the client's here.
public enum RouteSource: WireEnumeration {
    /// The vehicle does not use the shared route.
    case inactive
    /// It uses the client's route as it is.
    case clientUnchanged
    /// It uses the client's route, modified between the same destinations.
    case clientRouteModified
    /// It uses the client's route with other destinations.
    case clientDestinationsModified
    /// It uses the client's destinations with a route of its own.
    case clientDestinationsOnly
    /// It uses its own route to its own destinations.
    case vehicle
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [RouteSource] = [
        .inactive,
        .clientUnchanged,
        .clientRouteModified,
        .clientDestinationsModified,
        .clientDestinationsOnly,
        .vehicle,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .inactive: 0
        case .clientUnchanged: 1
        case .clientRouteModified: 2
        case .clientDestinationsModified: 3
        case .clientDestinationsOnly: 4
        case .vehicle: 5
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 0: self = .inactive
        case 1: self = .clientUnchanged
        case 2: self = .clientRouteModified
        case 3: self = .clientDestinationsModified
        case 4: self = .clientDestinationsOnly
        case 5: self = .vehicle
        default: self = .unrecognized(rawValue)
        }
    }
}
