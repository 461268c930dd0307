extension Answer {
    /// A part of what a vehicle was told over time.
    struct Lanes: Encodable {
        let from: Double
        let to: Double
        let bands: [Band]
        let curves: [Curve]
        /// Entries of columns that have too many were left out.
        let sampled: Bool
        /// There is more: it is asked for with `after`.
        let truncated: Bool
        /// The place of the last entry that the part knows of; the next part, and what happens later, come after it.
        let last: String
    }

    /// A word that holds until the next one of its lane; empty for none. A part begins with what holds.
    struct Band: Encodable {
        let lane: String
        var endpoint: String?
        let at: Double
        let text: String
    }

    struct Curve: Encodable {
        let name: String
        var endpoint: String?
        /// Seconds and value, at most three in each column: the lowest, the highest and the last. The rate has one at the beginning of each
        /// column; where two parts have the same column, their sum is its rate.
        let points: [[Double]]
    }
}
