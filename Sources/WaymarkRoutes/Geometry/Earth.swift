import Foundation
package import WaymarkModel

extension Coordinate {
    /// The mean radius of the Earth in metres.
    private static let earthRadius = 6_371_008.8

    /// Whether latitude and longitude are finite and in range.
    package var isOnEarth: Bool {
        (-90...90).contains(self.latitude) && (-180...180).contains(self.longitude)
    }

    /// Whether latitude and longitude equal those of `other`. The altitude is ignored.
    package func isAt(_ other: Coordinate) -> Bool {
        self.latitude == other.latitude && self.longitude == other.longitude
    }

    /// The great-circle distance to `other` in metres.
    package func meters(to other: Coordinate) -> Double {
        let latitudes = (self.latitude * .pi / 180, other.latitude * .pi / 180)
        let halfLatitude = sin((latitudes.1 - latitudes.0) / 2)
        let halfLongitude = sin((other.longitude - self.longitude) * .pi / 360)
        let chord =
            halfLatitude * halfLatitude + cos(latitudes.0) * cos(latitudes.1) * halfLongitude * halfLongitude
        return 2 * Self.earthRadius * asin(min(1, chord.squareRoot()))
    }

    /// The direction of `other` in degrees, clockwise from north, 0 ..< 360.
    package func bearing(to other: Coordinate) -> Double {
        let latitudes = (self.latitude * .pi / 180, other.latitude * .pi / 180)
        let longitude = (other.longitude - self.longitude) * .pi / 180
        let east = sin(longitude) * cos(latitudes.1)
        let north = cos(latitudes.0) * sin(latitudes.1) - sin(latitudes.0) * cos(latitudes.1) * cos(longitude)
        let degrees = atan2(east, north) * 180 / .pi
        return degrees < 0 ? degrees + 360 : degrees
    }

    /// The point at `fraction`, 0 ... 1, of the straight line on the map to `other`, the shorter way around the Earth.
    package func interpolated(to other: Coordinate, fraction: Double) -> Coordinate {
        var east = other.longitude - self.longitude
        if east > 180 { east -= 360 } else if east < -180 { east += 360 }
        var longitude = self.longitude + east * fraction
        if longitude > 180 { longitude -= 360 } else if longitude < -180 { longitude += 360 }
        return Coordinate(
            latitude: self.latitude + (other.latitude - self.latitude) * fraction, longitude: longitude)
    }

    /// The point `meters` away in direction `bearing`, degrees clockwise from north.
    package func moved(meters: Double, bearing: Double) -> Coordinate {
        let (angle, heading) = (meters / Self.earthRadius, bearing * .pi / 180)
        let latitude = self.latitude * .pi / 180
        let target = asin(sin(latitude) * cos(angle) + cos(latitude) * sin(angle) * cos(heading))
        let east = atan2(sin(heading) * sin(angle) * cos(latitude), cos(angle) - sin(latitude) * sin(target))
        let longitude = (self.longitude + east * 180 / .pi + 540).truncatingRemainder(dividingBy: 360) - 180
        return Coordinate(latitude: target * 180 / .pi, longitude: longitude)
    }
}

extension Angle {
    /// The angle of `degrees`, rounded; nil if the number is not finite or too large.
    package static func degrees(rounding degrees: Double) -> Angle? {
        guard degrees.isFinite, abs(degrees) < 1e6 else { return nil }
        return .degrees(Int(degrees.rounded()))
    }
}
