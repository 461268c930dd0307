internal import WaymarkAccess
package import WaymarkGateway
package import WaymarkProtocol

/// The observers of a gateway for the next process of the daemon: all but the ring. What they were not told from it is dropped.
package struct ObservationState: Codable, Sendable {
    private struct Observer: Codable, Sendable {
        let hello: ObserverHello
        let principal: Principal
        let subject: AccessSubject
        let tokens: ResumptionTokens
        let connection: ConnectionID?
        let end: Instant
        let observe: Observe?
        let mayContinue: Bool
        /// It was told the whole present state, also of what the access rules hide.
        let isComplete: Bool
        let number: UInt64
        let stateNumber: UInt64
        let dropped: UInt64
        /// nil: none that matters.
        let gaps: ToldGaps?
        let asked: ReadCounters?
    }

    private let observers: [Observer]
    private let requests: [RequestTicket: RequestKey]

    package init(_ hub: ObservationHub) {
        self.requests = hub.told.openRequests
        self.observers = hub.observations.indices.compactMap { place in
            hub.observations[place].map { observation in
                Observer(
                    hello: observation.hello, principal: observation.principal, subject: observation.subject,
                    tokens: observation.tokens, connection: observation.connection, end: observation.end,
                    observe: observation.observe, mayContinue: observation.mayContinue,
                    isComplete: observation.walk == nil && observation.begin == nil && !observation.isLimited,
                    number: observation.number, stateNumber: observation.stateNumber,
                    dropped: observation.dropped + hub.waitingCount(of: place), gaps: observation.gaps,
                    asked: observation.unanswered)
            }
        }
    }

    /// The hub for a gateway that notes its changes. Observers whom the access rules limit begin again.
    ///
    /// - Returns: Also the connections of observers that the access rules no longer admit.
    package func hub(of gateway: Gateway, at now: Instant) -> (hub: ObservationHub, refused: [ConnectionID]) {
        var hub = ObservationHub(of: gateway)
        hub.told.adopt(self.requests)
        var refused: [ConnectionID] = []
        for stored in self.observers {
            let grant = gateway.grant(ofObserver: stored.subject)
            guard gateway.policy.access.admission(grant).isAllowed else {
                if let connection = stored.connection { refused.append(connection) }
                continue
            }
            var observation = Observation(
                hello: stored.hello, principal: stored.principal, subject: stored.subject, grant: grant,
                scope: gateway.scope(ofObserver: grant), tokens: stored.tokens)
            (observation.connection, observation.end) = (stored.connection, stored.end)
            (observation.observe, observation.mayContinue) = (stored.observe, stored.mayContinue)
            (observation.number, observation.dropped) = (stored.number, stored.dropped)
            observation.gaps = stored.gaps ?? ToldGaps()
            observation.asked = stored.asked
            observation.stateNumber = stored.stateNumber
            if let observe = stored.observe, !stored.isComplete || observation.isLimited {
                observation.begin = ObservationBegin(.full, after: stored.number, at: now)
                observation.walk = observe.wantsState ? .vehicles(after: nil) : nil
            }
            hub.add(observation)
        }
        return (hub, refused)
    }
}
