package import WaymarkProtocol

/// The one machine behind all connections: who is there, sessions, arbitration, requests, retained state.
package struct Gateway: Sendable, Hashable {
    package private(set) var counters = Counters()
    package private(set) var policy: Policy
    private let coder: Coder

    /// Creates an empty gateway. `firstSession` should be random, so that ids of an earlier process match nothing.
    package init(policy: Policy, coder: Coder, firstSession: SessionID) {
        self.policy = policy
        self.coder = coder
    }

    /// Advances the gateway by one event and appends what the driver must do, in order.
    package mutating func handle(_ event: Event, at now: Instant, into actions: inout [Action]) {}
}
