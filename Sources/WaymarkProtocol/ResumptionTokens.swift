/// The tokens with which a peer may resume: that of its last Welcome, and the one that its Hello used, as long as that Welcome may be lost.
package struct ResumptionTokens: Sendable, Hashable, Codable {
    /// The worth of a Hello's token.
    package enum Verdict: Sendable, Hashable {
        /// There is none, or it is not valid.
        case invalid
        /// The last Welcome had it: the peer has read that.
        case newest
        /// The Hello before the last Welcome had it: the Welcome may be lost.
        case spare
        /// The same, on a connection that was accepted before that of the last Welcome: the peer has left it.
        case late

        package var resumes: Bool { self == .newest || self == .spare }
    }

    private struct Spare: Defaultable {
        /// nil: there is none.
        var token: ResumptionToken?
        /// The connection on which the newer token was sent.
        var connection = ConnectionID(0)
    }

    private let newest: ResumptionToken
    @BoxedIfCustom private var spare = Spare()

    /// The tokens after a Welcome with `fresh` on `connection`. `used`: the Hello's token, if the peer was resumed.
    package init(
        _ fresh: ResumptionToken, resuming used: ResumptionToken? = nil, on connection: ConnectionID
    ) {
        self.newest = fresh
        if let used { self.spare = Spare(token: used, connection: connection) }
    }

    /// Decides what `token` is worth in a Hello on `connection`.
    package func verdict(on token: ResumptionToken?, from connection: ConnectionID) -> Verdict {
        guard let token else { return .invalid }
        if token == self.newest { return .newest }
        let spare = self.spare
        guard token == spare.token else { return .invalid }
        return connection < spare.connection ? .late : .spare
    }

    /// Ends the older token: the peer has read its last Welcome.
    package mutating func endSpare() { self.spare = Spare() }
}
