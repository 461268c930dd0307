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
    }

    private let newest: ResumptionToken
    /// The connection on which the newest token was sent.
    private let connection: ConnectionID
    @BoxedIfCustom private var spare = Spare()

    /// The tokens after a Welcome with `fresh` on `connection`. `used`: the Hello's token, if the peer was resumed.
    package init(
        _ fresh: ResumptionToken, resuming used: ResumptionToken? = nil, on connection: ConnectionID
    ) {
        self.newest = fresh
        self.connection = connection
        if let used { self.spare = Spare(token: used) }
    }

    /// Decides what `token` is worth in a Hello on `connection`.
    package func verdict(on token: ResumptionToken?, from connection: ConnectionID) -> Verdict {
        guard let token else { return .invalid }
        if token == self.newest { return .newest }
        guard token == self.spare.token else { return .invalid }
        return self.hasLeft(connection) ? .late : .spare
    }

    /// Whether the peer got its last Welcome on a connection that was accepted after this one. What arrives on this one without the newest
    /// token is late, also when the later connection has been cut since.
    package func hasLeft(_ connection: ConnectionID) -> Bool { connection < self.connection }

    /// Whether the older token is kept: the last Welcome, and all that followed it, may be lost.
    package var hasSpare: Bool { self.spare.token != nil }

    /// Ends the older token: the peer has read its last Welcome.
    package mutating func endSpare() { self.spare = Spare() }
}
