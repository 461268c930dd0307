import WaymarkModel

extension JSONNode {
    /// The points of this line: a polyline, a GeoJSON line, or an array of its positions.
    ///
    /// - Parameters:
    ///   - units: Units per degree that a polyline is expected to have, the most likely first.
    ///   - evidence: What the answer says about the line.
    ///   - book: Gets a notice about each repair.
    /// - Returns: The points; nil for a value of another kind, and for a line without points.
    /// - Throws: `.invalid` for a polyline that cannot be read, and for positions none of which is on the Earth.
    func line(
        units: [Double], evidence: LineEvidence, _ book: inout NoticeBook
    ) throws(RouteReadingError) -> [Coordinate]? {
        if let text = self.string {
            guard !text.isEmpty else { return nil }
            do throws(PolylineFault) {
                let reading = try PolylineReading(text, units: units, evidence: evidence)
                for notice in reading.notices { book.add(self.path, notice) }
                return reading.points.isEmpty ? nil : reading.points
            } catch {
                throw .invalid(path: self.path.description, reason: "\(error)")
            }
        }
        guard let positions = self["coordinates"]?.elements ?? self.elements, !positions.isEmpty else {
            return nil
        }
        if let type = self["type"], let name = type.string, name != "LineString", name != "MultiLineString" {
            book.add(type.path, "\"\(name.prefix(64))\" is read as a line")
        }
        // A line that crosses 180 degrees may have been cut there into several.
        let isCut = positions[0].elements?.first?.elements != nil
        let all = isCut ? positions.flatMap { $0.elements ?? [] } : positions
        return try Self.points(all, &book)
    }

    /// The places of `positions`. One that is off the Earth is replaced by its neighbour, so that indices into the line stay right.
    private static func points(
        _ positions: [JSONNode], _ book: inout NoticeBook
    ) throws(RouteReadingError) -> [Coordinate]? {
        let read = positions.map { Coordinate(lonLat: $0) }
        guard var last = read.lazy.compactMap(\.self).first else {
            guard let first = positions.first else { return nil }
            throw .invalid(path: "\(first.path)", reason: "not a position on the Earth")
        }
        var points: [Coordinate] = []
        for (point, position) in zip(read, positions) {
            if point == nil {
                book.add(position.path, "not a position on the Earth; the one beside it is taken")
            }
            last = point ?? last
            points.append(last)
        }
        return points
    }
}
