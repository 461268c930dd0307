import Testing
import WaymarkModel
import WaymarkProtocol
import WaymarkRoutes

@Suite struct PolylineTests {
    /// - Source: the example of the format's own documentation.
    private static let documented = "_p~iF~ps|U_ulLnnqC_mqNvxq`@"
    private static let points = [
        Coordinate(latitude: 38.5, longitude: -120.2), Coordinate(latitude: 40.7, longitude: -120.95),
        Coordinate(latitude: 43.252, longitude: -126.453),
    ]

    @Test func `the documented example is decoded and encoded`() throws {
        #expect(try Polyline.decode(Self.documented, .five) == Self.points)
        #expect(Polyline.encode(Self.points, .five) == Self.documented)
    }

    @Test func `a text with six digits is decoded to a tenth of five digits`() throws {
        // From Valhalla's answer for Vaduz: its first maneuver is at 9.521522, 47.141047.
        let line = try Polyline.decode("mjg|xAcvcdQqAzJDhA", .six)
        #expect(line.first == Coordinate(latitude: 47.141047, longitude: 9.521522))
        #expect(line.count == 3)
        #expect(Polyline.encode(line, .six) == "mjg|xAcvcdQqAzJDhA")
    }

    @Test(arguments: Polyline.Precision.allCases)
    func `random lines survive encoding and decoding`(_ precision: Polyline.Precision) throws {
        var random = SeededRandom(seed: 7)
        for _ in 0..<200 {
            let units = precision == .five ? 1e5 : 1e6
            let line = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                Coordinate(
                    latitude: (Double.random(in: -90...90, using: &random) * units).rounded() / units,
                    longitude: (Double.random(in: -180...180, using: &random) * units).rounded() / units)
            }
            #expect(try Polyline.decode(Polyline.encode(line, precision), precision) == line)
        }
    }

    @Test func `an empty text has no points`() throws { #expect(try Polyline.decode("", .six) == []) }

    @Test func `each error in a text is reported as such`() {
        #expect(throws: Polyline.Mistake.truncated) { try Polyline.decode("_p~iF", .five) }
        #expect(throws: Polyline.Mistake.truncated) { try Polyline.decode("_p~iF~ps|", .five) }
        #expect(throws: Polyline.Mistake.character(offset: 2)) { try Polyline.decode("_p iF~ps|U", .five) }
        #expect(throws: Polyline.Mistake.character(offset: 0)) { try Polyline.decode("\u{7F}", .five) }
        #expect(throws: Polyline.Mistake.range(point: 0)) { try Polyline.decode("~~~~~~~~~~~~~?", .five) }
        #expect(throws: Polyline.Mistake.range(point: 0)) {
            try Polyline.decode(Polyline.encode([Coordinate(latitude: 91, longitude: 0)], .five), .five)
        }
    }
}
