package import WaymarkProtocol

/// Sees each event that the gateway handles, before its actions are performed. For the simulation, which checks and disturbs them.
package protocol GatewayTap: AnyObject {
    func processed(
        _ event: Gateway.Event, at now: Instant, before: Gateway, _ gateway: inout Gateway,
        _ actions: inout [Gateway.Action])
}

extension Gateway {
    /// Handles an event, and shows it to `tap`.
    package mutating func handle(
        _ event: Event, seenBy tap: (any GatewayTap)?, at now: Instant, into actions: inout [Action]
    ) {
        guard let tap else { return self.handle(event, at: now, into: &actions) }
        let before = self
        var next: [Action] = []
        self.handle(event, at: now, into: &next)
        tap.processed(event, at: now, before: before, &self, &next)
        actions += next
    }
}
