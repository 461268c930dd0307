/// What the vehicle does with the shared route.
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

/// How an alert went away.
///
/// Raw values are those on the wire.
///
/// - Source: CPNavigationAlertDismissalContext.
public enum AlertDismissal: WireEnumeration {
    /// Timeout.
    case timeout
    /// User dismissed.
    case userDismissed
    /// System dismissed.
    case systemDismissed
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [AlertDismissal] = [
        .timeout,
        .userDismissed,
        .systemDismissed,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .timeout: 0
        case .userDismissed: 1
        case .systemDismissed: 2
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 0: self = .timeout
        case 1: self = .userDismissed
        case 2: self = .systemDismissed
        default: self = .unrecognized(rawValue)
        }
    }
}

/// Whether a display shows light or dark content.
///
/// Raw values are those on the wire.
///
/// - Source: CPContentStyle.
public enum ContentStyle: WireEnumeration {
    /// Light.
    case light
    /// Dark.
    case dark
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [ContentStyle] = [
        .light,
        .dark,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .light: 1
        case .dark: 2
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .light
        case 2: self = .dark
        default: self = .unrecognized(rawValue)
        }
    }
}

/// Whether the cluster shows a compass, a speed limit.
///
/// Raw values are those on the wire.
///
/// - Source: CPInstrumentClusterSetting.
public enum ClusterSetting: WireEnumeration {
    /// Enabled.
    case enabled
    /// Disabled.
    case disabled
    /// User preference.
    case userPreference
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [ClusterSetting] = [
        .enabled,
        .disabled,
        .userPreference,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .enabled: 1
        case .disabled: 2
        case .userPreference: 3
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .enabled
        case 2: self = .disabled
        case 3: self = .userPreference
        default: self = .unrecognized(rawValue)
        }
    }
}

/// Direction of a zoom request.
///
/// Raw values are those on the wire.
public enum ZoomDirection: WireEnumeration {
    /// In.
    case `in`
    /// Out.
    case out
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [ZoomDirection] = [
        .in,
        .out,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .in: 1
        case .out: 2
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .in
        case 2: self = .out
        default: self = .unrecognized(rawValue)
        }
    }
}
