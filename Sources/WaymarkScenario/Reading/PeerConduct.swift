/// How a simulated peer answers what it is asked.
package enum Reply: String, Sendable, Hashable, CaseIterable {
    case accept, decline
    /// No answer.
    case ignore
}

/// How a peer of a run leaves.
package enum Leaving: String, Sendable, Hashable, CaseIterable {
    case goodbye
    /// As a lost connection. It does not come back by itself.
    case cut
}
