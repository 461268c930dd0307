/// A set of features as a bit mask. Why not a `Set`: every endpoint has several, and this one takes four bytes.
package struct FeatureSet: Sendable, Hashable {
    /// A bit for each feature, at its number.
    private var bits: UInt32 = 0

    package init() {}

    /// The features of a sequence.
    package init(_ features: some Sequence<Feature>) { for feature in features { self.insert(feature) } }

    package var isEmpty: Bool { self.bits == 0 }

    package func contains(_ feature: Feature) -> Bool { self.bits & Self.bit(feature) != 0 }

    package mutating func insert(_ feature: Feature) { self.bits |= Self.bit(feature) }

    package mutating func remove(_ feature: Feature) { self.bits &= ~Self.bit(feature) }

    /// The features that are in either set.
    package func union(_ other: FeatureSet) -> FeatureSet {
        var union = self
        union.bits |= other.bits
        return union
    }

    package mutating func formUnion(_ other: FeatureSet) { self.bits |= other.bits }

    /// The features that are not in a sequence.
    package func subtracting(_ features: some Sequence<Feature>) -> FeatureSet {
        var rest = self
        for feature in features { rest.remove(feature) }
        return rest
    }

    private static func bit(_ feature: Feature) -> UInt32 { 1 << feature.rawValue }
}

extension FeatureSet: ExpressibleByArrayLiteral {
    package init(arrayLiteral features: Feature...) { self.init(features) }
}

extension FeatureSet: Sequence {
    /// Goes through the features by their numbers.
    package struct Iterator: IteratorProtocol {
        fileprivate var bits: UInt32

        package mutating func next() -> Feature? {
            guard self.bits != 0 else { return nil }
            let number = UInt32(self.bits.trailingZeroBitCount)
            self.bits &= self.bits - 1
            return Feature(rawValue: number)
        }
    }

    package func makeIterator() -> Iterator { Iterator(bits: self.bits) }
}

extension FeatureSet: Codable {
    /// Writes a list of features.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for feature in self { try container.encode(feature) }
    }

    /// Reads a list of features.
    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { self.insert(try container.decode(Feature.self)) }
    }
}
