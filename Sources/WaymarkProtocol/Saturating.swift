/// Sums of numbers that a peer, a file or a clock said.
///
/// Such a number may be as large as its type allows, and a sum that its type cannot hold stops the program. These sums stay at the end of
/// the range instead. `Tests/HouseRulesTests` finds fields of the wire that are added or subtracted without them.
extension FixedWidthInteger {
    /// The sum, or the largest or smallest number if that is nearer to it.
    package func addingSaturating(_ other: Self) -> Self {
        let (sum, hasOverflow) = self.addingReportingOverflow(other)
        return hasOverflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the largest or smallest number if that is nearer to it; 0 for unsigned numbers of which the second is larger.
    package func subtractingSaturating(_ other: Self) -> Self {
        let (difference, hasOverflow) = self.subtractingReportingOverflow(other)
        return hasOverflow ? (other < 0 ? .max : .min) : difference
    }

    /// The product, or the largest or smallest number if that is nearer to it.
    package func multipliedSaturating(by other: Self) -> Self {
        let (product, hasOverflow) = self.multipliedReportingOverflow(by: other)
        return hasOverflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }

    /// Adds `other`, and stays at the end of the range.
    package mutating func addSaturating(_ other: Self) { self = self.addingSaturating(other) }
}

extension Int64 {
    /// The whole part of a number, or the largest or smallest one if that is nearer to it; 0 for what is no number.
    package init(saturating value: Double) {
        self = Self(exactly: value.rounded(.towardZero)) ?? (value.isNaN ? 0 : value < 0 ? .min : .max)
    }
}
