internal import Foundation
package import WaymarkModel

extension Coordinate {
    /// The distance to another place along the Earth's surface, in metres; a sphere is exact enough here.
    package func distance(to other: Coordinate) -> Double {
        let radians = Double.pi / 180
        let (latitude, otherLatitude) = (self.latitude * radians, other.latitude * radians)
        let halfLatitude = sin((otherLatitude - latitude) / 2)
        let halfLongitude = sin((other.longitude - self.longitude) * radians / 2)
        let chord =
            halfLatitude * halfLatitude + cos(latitude) * cos(otherLatitude) * halfLongitude * halfLongitude
        return 2 * 6_371_008.8 * asin(min(1, chord.squareRoot()))
    }

    /// The direction to another place, in degrees clockwise from north, 0 ..< 360.
    package func bearing(to other: Coordinate) -> Double {
        let radians = Double.pi / 180
        let (latitude, otherLatitude) = (self.latitude * radians, other.latitude * radians)
        let difference = (other.longitude - self.longitude) * radians
        let east = sin(difference) * cos(otherLatitude)
        let north = cos(latitude) * sin(otherLatitude) - sin(latitude) * cos(otherLatitude) * cos(difference)
        return (atan2(east, north) / radians + 360).truncatingRemainder(dividingBy: 360)
    }

    /// The place a part of the way to another one; near places only.
    package func interpolated(to other: Coordinate, _ part: Double) -> Coordinate {
        Coordinate(
            latitude: self.latitude + (other.latitude - self.latitude) * part,
            longitude: self.longitude + (other.longitude - self.longitude) * part)
    }
}
