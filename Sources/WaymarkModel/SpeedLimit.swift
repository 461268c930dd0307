/// A speed limit, with value and unit as posted: they are never converted.
public struct SpeedLimit: Sendable, Hashable {
    /// The status: whether the limit is known, and whether there is one.
    public var status: SpeedLimitStatus
    /// The value as posted, 1 ... 500; nil if the status is not ``SpeedLimitStatus/limited``.
    public var value: UInt32?
    /// The unit of the value; nil if there is no value.
    public var unit: SpeedUnit?
    /// The kind: what sets the limit; nil if that is not known.
    public var kind: SpeedLimitKind?
    /// The shape of the sign; nil if that is not known.
    public var sign: SpeedLimitSign?

    /// Creates a speed limit of any status.
    public init(
        status: SpeedLimitStatus, value: UInt32? = nil, unit: SpeedUnit? = nil, kind: SpeedLimitKind? = nil,
        sign: SpeedLimitSign? = nil
    ) {
        self.status = status
        self.value = value
        self.unit = unit
        self.kind = kind
        self.sign = sign
    }

    /// Creates a limit with a value.
    public init(_ value: UInt32, _ unit: SpeedUnit, kind: SpeedLimitKind? = nil, sign: SpeedLimitSign? = nil)
    {
        self.init(status: .limited, value: value, unit: unit, kind: kind, sign: sign)
    }

    /// A limit that is not known.
    public static let unknown = SpeedLimit(status: .unknown)

    /// No limit: the speed is free.
    public static let unlimited = SpeedLimit(status: .none)
}

/// A speed limit ahead of the vehicle, and how far ahead it begins.
public struct SpeedLimitAhead: Sendable, Hashable {
    /// The limit.
    public var limit: SpeedLimit
    /// The true distance, at most 50 000 km.
    public var distance: Distance
    /// The distance to show; nil if the receiver rounds the true distance by itself.
    public var distanceToDisplay: DisplayDistance?

    /// Creates a limit ahead.
    public init(_ limit: SpeedLimit, in distance: Distance, distanceToDisplay: DisplayDistance? = nil) {
        self.limit = limit
        self.distance = distance
        self.distanceToDisplay = distanceToDisplay
    }
}

/// A speed limit along a part of a segment's line: to the first point of the next span, or to the end of the line.
public struct SpeedLimitSpan: Sendable, Hashable {
    /// The index of the point of the segment's line at which the limit begins to hold. If the line does not have the point, the span holds
    /// nowhere.
    public var firstPoint: UInt32
    /// The limit.
    public var limit: SpeedLimit

    /// Creates a span.
    public init(from firstPoint: UInt32, _ limit: SpeedLimit) {
        self.firstPoint = firstPoint
        self.limit = limit
    }
}

extension RouteSegment {
    /// Returns the speed limit that holds at a point of the line, and from there to the next point: ``SpeedLimit/unknown`` before the first
    /// span.
    public func speedLimit(atPoint index: Int) -> SpeedLimit {
        self.speedLimits.last { Int($0.firstPoint) <= index }?.limit ?? .unknown
    }
}
