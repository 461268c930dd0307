import Foundation
package import WaymarkModel
import WaymarkProtocol

/// Lines of points as text: zigzag differences in five-bit groups, as routing engines write them.
///
/// - Source: https://developers.google.com/maps/documentation/utilities/polylinealgorithm; with six digits in place
///   of five it is what Valhalla and newer OSRM and Mapbox answers use.
package enum Polyline {
    /// The number of decimal digits of a degree in a text.
    package enum Precision: Int, Sendable, Hashable, CaseIterable {
        case five = 5
        case six = 6

        /// Units in one degree.
        var unitsPerDegree: Double { self == .five ? 1e5 : 1e6 }
    }

    /// An error in a text.
    package enum Mistake: Error, Sendable, Hashable, CustomStringConvertible {
        /// A byte outside of 63 ... 126, at this offset.
        case character(offset: Int)
        /// The text ends within a number, or after a latitude.
        case truncated
        /// A number of more than 32 bits, or a sum off the Earth, at this point.
        case range(point: Int)

        package var description: String {
            switch self {
            case .character(let offset): "byte \(offset) of the polyline is none of a polyline"
            case .truncated: "the polyline ends within a point"
            case .range(let point): "point \(point) of the polyline is not on the Earth"
            }
        }
    }

    /// Reads all points of `text`, which has two numbers for each.
    package static func decode(_ text: String, _ precision: Precision) throws(Mistake) -> [Coordinate] {
        try self.decode(text, unitsPerDegree: precision.unitsPerDegree)
    }

    /// Reads all points of `text`.
    ///
    /// - Parameters:
    ///   - text: Numbers in groups of five bits.
    ///   - unitsPerDegree: Finite, above 0.
    ///   - dimensions: 2, or 3 with an altitude in centimetres.
    /// - Returns: The points; an altitude out of the protocol's range is left out.
    /// - Throws: The first character, number or point that is no part of a polyline.
    package static func decode(
        _ text: String, unitsPerDegree: Double, dimensions: Int = 2
    ) throws(Mistake) -> [Coordinate] {
        var points: [Coordinate] = []
        points.reserveCapacity(text.utf8.count / 6)
        var values: [Int64] = [0, 0, 0]
        var axis = 0
        var bits: UInt64 = 0
        var shift: UInt64 = 0
        for (offset, byte) in text.utf8.enumerated() {
            guard (63...126).contains(byte) else { throw .character(offset: offset) }
            guard shift <= 30 else { throw .range(point: points.count) }
            bits |= UInt64((byte - 63) & 0x1F) << shift
            shift += 5
            guard byte - 63 < 0x20 else { continue }
            values[axis] += Int64(bits >> 1) ^ -Int64(bits & 1)
            (bits, shift) = (0, 0)
            axis = (axis + 1) % dimensions
            guard axis == 0 else { continue }
            var point = Coordinate(
                latitude: Double(values[0]) / unitsPerDegree, longitude: Double(values[1]) / unitsPerDegree)
            guard point.isOnEarth else { throw .range(point: points.count) }
            let altitude = Double(values[2]) / 100
            if dimensions == 3, ProtocolConstants.altitudeMeters.contains(altitude) {
                point.altitude = altitude
            }
            points.append(point)
        }
        guard axis == 0, shift == 0 else { throw .truncated }
        return points
    }

    /// Writes `points`, rounded to `precision`.
    package static func encode(_ points: [Coordinate], _ precision: Precision) -> String {
        var text = ""
        var last: (Int64, Int64) = (0, 0)
        for point in points {
            let latitude = Int64((point.latitude * precision.unitsPerDegree).rounded())
            let longitude = Int64((point.longitude * precision.unitsPerDegree).rounded())
            Self.append(latitude - last.0, to: &text)
            Self.append(longitude - last.1, to: &text)
            last = (latitude, longitude)
        }
        return text
    }

    private static func append(_ value: Int64, to text: inout String) {
        var rest = UInt64(bitPattern: (value << 1) ^ (value >> 63))
        while rest >= 0x20 {
            text.unicodeScalars.append(Unicode.Scalar(UInt8(rest & 0x1F | 0x20) + 63))
            rest >>= 5
        }
        text.unicodeScalars.append(Unicode.Scalar(UInt8(rest) + 63))
    }
}

extension Polyline.Precision {
    /// The precision in which `texts` together are about as long as `meters`; nil if unknown.
    ///
    /// The lengths differ by a factor of ten, so the nearer one is right even for a coarse line.
    package static func fitting(_ texts: [String], meters: Double?) -> Polyline.Precision? {
        let lengths = self.allCases.compactMap { precision in
            self.length(of: texts, precision).map { (precision: precision, meters: $0) }
        }
        // Why: read with too few digits, a line may leave the Earth.
        if lengths.count == 1 { return lengths[0].precision }
        guard let meters, meters > 0 else { return nil }
        let fits = lengths.filter { $0.meters > 0 }.map { ($0.precision, abs(log($0.meters / meters))) }
        return fits.min { $0.1 < $1.1 }?.0
    }

    /// The precision in which `text` agrees best with `evidence`; nil if it cannot be read in any.
    static func fitting(_ text: String, _ evidence: LineEvidence) -> Polyline.Precision? {
        var best: (precision: Polyline.Precision, error: (Double, Double))?
        for precision in self.allCases {
            do throws(Polyline.Mistake) {
                let points = try Polyline.decode(text, precision)
                let error = evidence.error(of: points)
                if !points.isEmpty, best.map({ error < $0.error }) ?? true { best = (precision, error) }
            } catch {
                continue  // It is not readable in this precision, so this is not the right one.
            }
        }
        return best?.precision
    }

    /// In metres; nil for texts that cannot be read in `precision`.
    private static func length(of texts: [String], _ precision: Polyline.Precision) -> Double? {
        var meters = 0.0
        for text in texts {
            do throws(Polyline.Mistake) {
                let points = try Polyline.decode(text, precision)
                meters += zip(points, points.dropFirst()).reduce(0) { $0 + $1.0.meters(to: $1.1) }
            } catch {
                return nil
            }
        }
        return meters
    }
}
