/// A length on the ground.
///
/// Unit: metre. Whole metres are enough for a cluster, and integers compare exactly in tests.
public struct Distance: Sendable, Hashable, Comparable {
    /// The length, in whole metres.
    public let meters: UInt32

    /// A length of `meters` metres.
    public static func meters(_ meters: UInt32) -> Distance { Distance(meters: meters) }

    /// A length of `meters` metres, rounded to the nearest whole metre and clamped to what a distance can hold.
    ///
    /// A value that is not a number becomes zero.
    public static func meters(rounding meters: Double) -> Distance {
        guard meters > 0 else { return Distance(meters: 0) }
        return Distance(meters: meters >= Double(UInt32.max) ? .max : UInt32(meters.rounded()))
    }

    /// Shorter is less.
    public static func < (lhs: Distance, rhs: Distance) -> Bool { lhs.meters < rhs.meters }

    private init(meters: UInt32) { self.meters = meters }
}

/// A direction relative to the direction of entry into a junction.
///
/// Unit: degree; 0 is straight on, clockwise is positive, always in -180 ..< 180: +180 degrees is the same angle as -180 degrees.
public struct Angle: Sendable, Hashable, Comparable {
    /// The angle in degrees, -180 ..< 180.
    public let degrees: Int16

    /// The angle of `degrees` degrees, turned into -180 ..< 180.
    public static func degrees(_ degrees: Int) -> Angle {
        // Why the remainder first: nothing overflows then.
        let turned = (degrees % 360 + 540) % 360 - 180
        return Angle(degrees: Int16(turned))
    }

    /// Further left is less.
    public static func < (lhs: Angle, rhs: Angle) -> Bool { lhs.degrees < rhs.degrees }

    private init(degrees: Int16) { self.degrees = degrees }
}

/// A point on the Earth, WGS 84.
///
/// - Source: `CPLocationCoordinate3D`.
public struct Coordinate: Sendable, Hashable {
    /// Degrees, -90 ... 90.
    public var latitude: Double
    /// Degrees, -180 ... 180.
    public var longitude: Double
    /// Metres above the ellipsoid, -12 000 ... 100 000; nil when not known.
    public var altitude: Double?

    /// A point at `latitude` and `longitude`, in degrees, and `altitude`, in metres.
    public init(latitude: Double, longitude: Double, altitude: Double? = nil) {
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
    }
}
