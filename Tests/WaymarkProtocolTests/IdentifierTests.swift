import Foundation
import Testing
import WaymarkModel
import WaymarkProtocol

/// Ids that Unicode calls canonically equivalent are different ids.
@Suite struct IdentifierTests {
    /// All of them the same text for Swift.
    static let equivalent = ["\u{212B}\u{323}", "\u{C5}\u{323}", "A\u{30A}\u{323}", "A\u{323}\u{30A}"]

    @Test func `ids are equal, hashed and ordered by their bytes`() {
        #expect(Set(Self.equivalent).count == 1)
        let ids = Self.equivalent.map { Identifier($0) }
        #expect(Set(ids).count == 4 && Set(ids.map(\.hashValue)).count == 4)
        for (text, id) in zip(Self.equivalent, ids) {
            #expect(id == Identifier(String(decoding: Array(text.utf8), as: UTF8.self)))
        }
        let texts =
            Self.equivalent + [
                "", "a", "aa", "b", "\u{FF5E}", "\u{10400}", String(repeating: "x", count: 64),
            ]
        for first in texts {
            for second in texts {
                let (left, right) = (Array(first.utf8), Array(second.utf8))
                #expect((Identifier(first) == Identifier(second)) == (left == right))
                #expect(
                    (Identifier(first) < Identifier(second)) == left.lexicographicallyPrecedes(right))
            }
        }
    }

    @Test func `every byte of an id counts, however long it is`() {
        for count in 1...40 {
            let bytes = [UInt8](repeating: 0x61, count: count)
            let id = Identifier(String(decoding: bytes, as: UTF8.self))
            #expect(id == Identifier(String(decoding: bytes, as: UTF8.self)))
            #expect(id != Identifier(String(decoding: bytes + [0x61], as: UTF8.self)))
            for index in bytes.indices {
                var other = bytes
                other[index] = 0x62
                #expect(id != Identifier(String(decoding: other, as: UTF8.self)), "\(count), \(index)")
            }
        }
    }

    @Test func `an id is coded as its text`() throws {
        for text in Self.equivalent {
            let id = Identifier(text)
            let coded = try JSONEncoder().encode(id)
            #expect(coded == (try JSONEncoder().encode(text)))
            #expect(try JSONDecoder().decode(Identifier.self, from: coded) == id)
        }
    }

    @Test func `a route has equivalent ids of segments side by side, and each is another reference`() throws {
        let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
        func add(_ ids: some Sequence<String>) -> Publication {
            .addRouteSegments(
                ids.map { RouteSegment(id: $0, origin: place, destination: place) }, generation: 1)
        }
        var content = RouteContent()
        try content.apply(add(Self.equivalent.prefix(2)).outline, limits: .none)
        try content.apply(add([Self.equivalent[2]]).outline, limits: .none)
        for (index, id) in Self.equivalent.enumerated() {
            let current = Publication.currentRouteSegment(id, generation: 1).outline
            if index < 3 {
                try content.apply(current, limits: .none)
            } else {
                #expect(throws: Rejection.self) { try content.apply(current, limits: .none) }
            }
        }
        #expect(throws: Rejection.self) {
            try content.apply(add([Self.equivalent[1]]).outline, limits: .none)
        }
    }
}
