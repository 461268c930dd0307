package import WaymarkProtocol

/// Counts of publications by their type. Types that this build does not know may share a place.
package struct TypeCounts: Sendable {
    private static let countMax = 32
    private var counts = InlineArray<32, UInt64>(repeating: 0)

    package init() {}

    package mutating func add(_ count: UInt64, of rawType: UInt16) {
        let place = min(Int(rawType & 0xFF), Self.countMax - 1)
        self.counts[place] &+= count
    }

    package mutating func add(_ other: TypeCounts) {
        for place in 0..<Self.countMax { self.counts[place] &+= other.counts[place] }
    }

    package var total: UInt64 { (0..<Self.countMax).reduce(0) { $0 &+ self.counts[$1] } }

    /// The counts that are not 0. The type is nil for all that this build does not know together.
    package var all: [(type: MessageType?, count: UInt64)] {
        var (known, unknown): ([(type: MessageType?, count: UInt64)], UInt64) = ([], 0)
        let first = MessageType.published.lowerBound
        for place in 0..<Self.countMax where self.counts[place] > 0 {
            if let type = MessageType(rawValue: first + UInt16(place)) {
                known.append((type, self.counts[place]))
            } else {
                unknown &+= self.counts[place]
            }
        }
        return unknown == 0 ? known : known + [(nil, unknown)]
    }
}

extension TypeCounts: Hashable {
    package static func == (lhs: Self, rhs: Self) -> Bool {
        (0..<Self.countMax).allSatisfy { lhs.counts[$0] == rhs.counts[$0] }
    }

    package func hash(into hasher: inout Hasher) {
        for place in 0..<Self.countMax { hasher.combine(self.counts[place]) }
    }
}

extension TypeCounts: Codable {
    package func encode(to encoder: any Encoder) throws {
        try (0..<Self.countMax).map { self.counts[$0] }.encode(to: encoder)
    }

    package init(from decoder: any Decoder) throws {
        for (place, count) in try [UInt64](from: decoder).prefix(Self.countMax).enumerated() {
            self.counts[place] = count
        }
    }
}
