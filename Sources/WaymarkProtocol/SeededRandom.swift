/// A reproducible random number generator (SplitMix64): the seed determines the whole run.
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { self.state = seed }

    package mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var z = self.state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// True with a probability of 1 in `times`.
    package mutating func once(in times: Int) -> Bool { self.number(0...times - 1) == 0 }

    /// A number in the range.
    package mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    /// One of the elements; nil if there are none.
    package mutating func pick<Elements: Collection>(_ elements: Elements) -> Elements.Element? {
        elements.randomElement(using: &self)
    }

    /// The elements that remain if each is left out with a probability of 1 in `times`.
    package mutating func thin<Element: Hashable>(_ elements: [Element], leaveOutOnceIn times: Int) -> Set<
        Element
    > {
        Set(elements.filter { _ in !self.once(in: times) })
    }
}
