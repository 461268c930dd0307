extension Answer {
    /// A part of what a vehicle was told over time.
    struct Lanes: Encodable {
        let from: Double
        let to: Double
        let bands: [Band]
        let curves: [Curve]
        /// Publications in each column of the time.
        let publications: [Int]
        let truncated: Bool
        /// The place where the next part begins.
        var next: String?
    }

    /// A word that holds until the next one of its lane; empty for none.
    struct Band: Encodable {
        let lane: String
        let at: Double
        let text: String
    }

    struct Curve: Encodable {
        let name: String
        /// Seconds and value, at most two in each column: the lowest and the highest.
        let points: [[Double]]
    }
}
