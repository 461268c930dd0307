internal import WaymarkModel

/// Decodes lines of coordinates.
enum Geometry {
    /// Decodes a polyline of the given precision (1e5 or 1e6); nil if it is not one.
    static func polyline(_ text: String, precision: Double) -> [Coordinate]? {
        var coordinates: [Coordinate] = []
        var (latitude, longitude) = (0, 0)
        var bytes = text.utf8.makeIterator()
        while let latitudeDelta = self.delta(&bytes) {
            guard let longitudeDelta = self.delta(&bytes) else { return nil }
            latitude += latitudeDelta
            longitude += longitudeDelta
            let coordinate = Coordinate(
                latitude: Double(latitude) / precision, longitude: Double(longitude) / precision)
            guard coordinate.isOnEarth else { return nil }
            coordinates.append(coordinate)
        }
        return coordinates
    }

    /// One signed number; nil at the end, or where it is cut off.
    private static func delta(_ bytes: inout String.UTF8View.Iterator) -> Int? {
        var value = 0
        var shift = 0
        while let byte = bytes.next() {
            guard byte >= 63, shift <= 50 else { return nil }
            value |= ((Int(byte) - 63) & 0x1F) << shift
            if byte - 63 < 0x20 { return value & 1 == 1 ? ~(value >> 1) : value >> 1 }
            shift += 5
        }
        return nil
    }

    /// Decodes a geometry member: GeoJSON, or a polyline whose precision is told by a point that must lie on it.
    static func line(_ value: JSONValue, near point: Coordinate?) -> [Coordinate]? {
        if let positions = value["coordinates"].array { return positions.compactMap { self.position($0) } }
        guard let text = value.text else { return nil }
        let candidates = [1e5, 1e6].compactMap { self.polyline(text, precision: $0) }.filter { !$0.isEmpty }
        guard let point else { return candidates.last }
        return candidates.min { lhs, rhs in
            lhs[0].distance(to: point) < rhs[0].distance(to: point)
        }
    }

    /// A GeoJSON position: longitude first.
    static func position(_ value: JSONValue) -> Coordinate? {
        guard let numbers = value.array?.compactMap(\.number), numbers.count >= 2 else { return nil }
        let coordinate = Coordinate(latitude: numbers[1], longitude: numbers[0])
        return coordinate.isOnEarth ? coordinate : nil
    }
}

extension Coordinate {
    /// Whether latitude and longitude are finite and in range.
    var isOnEarth: Bool { (-90.0...90).contains(self.latitude) && (-180.0...180).contains(self.longitude) }
}
