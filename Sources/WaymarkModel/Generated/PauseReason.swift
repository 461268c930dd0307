// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The reason why guidance is paused.
///
/// Raw values are those on the wire.
///
/// - Source: CPTripPauseReason.
public enum PauseReason: WireEnumeration {
    /// The vehicle has arrived at the destination or a waypoint.
    case arrived
    /// The client is loading the route.
    case loading
    /// The client is finding out where the vehicle is.
    case locating
    /// The client is computing another route.
    case rerouting
    /// The vehicle is off the route and the driver must drive to it.
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
