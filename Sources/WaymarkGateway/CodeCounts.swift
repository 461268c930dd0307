internal import WaymarkProtocol

/// Counts by a code, as of close codes, outcomes and message types. Codes that this build does not know share one place.
package struct CodeCounts: Sendable {
    private static let countMax = 32
    private var counts = InlineArray<32, UInt64>(repeating: 0)

    package init() {}

    package mutating func add(_ count: UInt64 = 1, of code: UInt32) {
        self.counts[Int(min(code, 31))] &+= count
    }

    package mutating func add(_ other: Self) {
        for place in 0..<Self.countMax { self.counts[place] &+= other.counts[place] }
    }

    package var total: UInt64 { (0..<Self.countMax).reduce(0) { $0 &+ self.counts[$1] } }

    /// The counts that are not 0.
    package var all: [(code: UInt32, count: UInt64)] {
        (0..<Self.countMax).compactMap { self.counts[$0] == 0 ? nil : (UInt32($0), self.counts[$0]) }
    }
}

// Publications.
extension CodeCounts {
    /// The place of extensions, whose number is far from those of other publications.
    private static let extensionPlace: UInt32 = 30

    package mutating func add(_ count: UInt64 = 1, ofType rawType: UInt16) {
        let isExtension = rawType == MessageType.publishExtension.rawValue
        let code = UInt32(rawType & 0xFF)
        // A later type whose number ends so is one that this build does not know.
        let other = code == Self.extensionPlace ? .max : code
        self.add(count, of: isExtension ? Self.extensionPlace : other)
    }

    /// The counts that are not 0, by message type; 0 for all types that this build does not know.
    package var byType: [(type: UInt16, count: UInt64)] {
        var (known, unknown): ([(type: UInt16, count: UInt64)], UInt64) = ([], 0)
        for (code, count) in self.all {
            let type =
                code == Self.extensionPlace
                ? MessageType.publishExtension.rawValue : MessageType.published.lowerBound + UInt16(code)
            if MessageType(rawValue: type) == nil { unknown &+= count } else { known.append((type, count)) }
        }
        return unknown == 0 ? known : known + [(0, unknown)]
    }
}

extension CodeCounts: Hashable {
    package static func == (lhs: Self, rhs: Self) -> Bool {
        (0..<Self.countMax).allSatisfy { lhs.counts[$0] == rhs.counts[$0] }
    }

    package func hash(into hasher: inout Hasher) {
        for place in 0..<Self.countMax { hasher.combine(self.counts[place]) }
    }
}

extension CodeCounts: Codable {
    package func encode(to encoder: any Encoder) throws {
        try (0..<Self.countMax).map { self.counts[$0] }.encode(to: encoder)
    }

    package init(from decoder: any Decoder) throws {
        for (place, count) in try [UInt64](from: decoder).prefix(Self.countMax).enumerated() {
            self.counts[place] = count
        }
    }
}
