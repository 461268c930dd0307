internal import WaymarkAccess
internal import WaymarkGateway
package import WaymarkObservation
package import WaymarkProtocol

/// What ``GatewayCore`` counts since the gateway's state began.
package struct Tallies: Sendable, Codable {
    /// By role, of event loops of earlier processes.
    var admitted = CodeCounts()
    /// Peers that resumed, of event loops of earlier processes; nil: none.
    var resumed: UInt64?
    /// By close code: peers for which there was no place, and those of event loops of earlier processes.
    var refused = CodeCounts()
    /// By close code, of event loops of earlier processes.
    var closed = CodeCounts()
    /// Entries that hubs dropped which no longer exist.
    var dropped: UInt64 = 0
    /// Of event loops of earlier processes.
    var loops = LoopTotals()
}

// Observers: what they are told, and when.
extension GatewayCore {
    mutating func admit(
        _ id: ConnectionID, _ hello: ObserverHello, _ old: ResumptionToken?, _ principal: Principal,
        _ subject: AccessSubject, _ token: ResumptionToken, at now: Instant
    ) {
        if self.hub == nil {
            self.hub = ObservationHub(of: self.gateway)
            self.setObserved(true)
        }
        switch self.hub?.admit(id, hello, resuming: old, principal, subject, token, in: self.gateway, at: now)
        {
        case .admitted(var welcome, let takenOver):
            if let takenOver {
                let goodbye = Goodbye(.takenOver, reason: "the same observer reconnected with its token")
                self.instruct(takenOver, .session(takenOver, .closeRequested(goodbye)))
            }
            welcome.software = self.software
            welcome.gateway = self.gateway.identity
            self.instruct(id, .session(id, .admitted(welcome)))
        case .refused(let goodbye):
            self.instruct(id, .session(id, .closeRequested(goodbye)))
        case nil: break
        }
    }

    /// Continues with the observers of another process.
    mutating func adopt(_ observation: ObservationState, at now: Instant) {
        self.setObserved(true)
        let (hub, refused) = observation.hub(of: self.gateway, at: now)
        self.hub = hub
        self.refusedObservers = refused
    }

    /// The connections of observers, also of those that the access rules no longer admit.
    package var observers: [ConnectionID] { (self.hub?.connections ?? []) + self.refusedObservers }

    /// The observers for the next process; nil if there are none.
    package var observationState: ObservationState? { self.hub.map { ObservationState($0) } }

    private mutating func setObserved(_ isObserved: Bool) {
        self.gateway.trackChanges(isObserved)
        self.instructAll(.setObserved(isObserved))
    }

    /// Hands an event and what followed from it to the hub.
    mutating func observe(_ event: Gateway.Event, _ actions: ArraySlice<Gateway.Action>, at now: Instant) {
        switch event {
        case .confirmed(let id): self.hub?.confirm(id)
        case .received(let id, .observe(let observe), _): self.hub?.receive(observe, from: id, at: now)
        case .received(let id, .readCounters(let counters), _): self.hub?.read(counters, from: id)
        case .departed(let id, let clean) where self.hub?.has(id) == true:
            // Observers are not told of each other.
            return self.hub?.depart(id, clean: clean, until: now + self.gateway.policy.limits.grace) ?? ()
        case .policyChanged:
            self.refuse(self.hub?.endForbidden(by: self.gateway) ?? [])
        default: break
        }
        self.hub?.see(event, actions, of: &self.gateway, at: now)
    }

    /// Adds to what an observer asks of a client who the observer is, whom the gateway itself does not know.
    func identify(_ event: inout Gateway.Event) {
        guard case .received(let id, .simulateDrive(let asked), _) = event,
            let subject = self.hub?.subject(of: id)
        else { return }
        event = .simulationRequested(id, asked, subject: subject)
    }

    /// Closes observers that the access rules no longer admit.
    private mutating func refuse(_ observers: [ConnectionID]) {
        let goodbye = Goodbye(.rulesChanged, reason: "the access rules have changed")
        for id in observers { self.instruct(id, .session(id, .closeRequested(goodbye))) }
    }

    /// Sends what observers have room for. Ends to observe once there are no observers.
    mutating func tellObservers(at now: Instant) {
        self.refuse(self.refusedObservers)
        self.refusedObservers = []
        self.hub?.forgetExpired(at: now)
        guard self.hub?.isEmpty == false else {
            self.tallies.dropped += self.hub?.droppedCount ?? 0
            self.hub = nil
            return self.setObserved(false)
        }
        self.beginMeasuring(at: now)
        self.pace.advance(to: now)
        guard self.hub?.isDue == true, self.pace.begin(much: self.hub?.fillsPortion == true) else { return }
        // Why not for each portion: the counters are long, and hardly ever asked for.
        let isAnswering = self.hub?.isAnswering == true
        let measures =
            self.hub?.needsMeasures == true ? self.measures : Measures(counters: [], connections: [])
        let portions = self.hub?.takePortions(of: &self.gateway, measures: { measures }, at: now) ?? []
        for portion in portions {
            self.instruct(portion.connection, .tell(portion.connection, portion.frames))
        }
        // Those that wait for more get it as soon as there is room.
        if !portions.isEmpty, portions.allSatisfy(\.isLast) { self.pace.rest(from: now) }
        if isAnswering, self.hub?.isAnswering == false { self.measure = LoopMeasure() }
    }

    /// Everything that is counted, apart from what costs a look at every session.
    private var measures: Measures {
        mutating get {
            let kept = self.gateway.keptBytes
            var all = self.tallies.counters(with: self.measure)
            all += self.gateway.counters.all + self.gateway.census.all
            all += [
                Counter(.entriesDropped, self.tallies.dropped + (self.hub?.droppedCount ?? 0)),
                Counter(.observersConnected, UInt64(self.hub?.connectedCount ?? 0)),
                Counter(.observationBytes, UInt64(self.hub?.byteCount ?? 0)),
                Counter(.retainedBytes, UInt64(kept.retained)), Counter(.replayBytes, UInt64(kept.replay)),
                Counter(.requestBytes, UInt64(self.gateway.requestByteCount)),
                Counter(.loopMicroseconds, UInt64(clamping: self.loopTime.nanoseconds / 1_000)),
            ]
            return Measures(counters: all, connections: self.measure.connections)
        }
    }

    /// From now on, observers are told everything at once. Plan a run, if one is due.
    package mutating func tellAtOnce() { self.pace = ObserverPace(interval: .zero) }

    /// The connection of an observer has room. Plan a run, if one is due.
    package mutating func noteRoom(forObserver id: ConnectionID) { self.hub?.noteRoom(for: id) }

    // MARK: Counters

    private typealias Counter = CounterReport.Counter

    /// What event loops are measuring.
    struct Measurement: Sendable {
        /// Loops that have not answered.
        var missing: Int
        let begin: Instant
        var measure = LoopMeasure()
    }

    /// For the next process. `totals`: what the event loops of this one counted.
    package func tallies(with totals: LoopTotals) -> Tallies {
        var tallies = self.tallies
        tallies.add(totals)
        if let hub = self.hub { tallies.dropped &+= hub.droppedCount &+ hub.waitingCount }
        return tallies
    }

    /// A connection was refused when it was accepted, so no event loop knows it.
    package mutating func countRefused(_ goodbye: Goodbye) {
        self.tallies.refused.add(of: goodbye.code.rawValue)
    }

    /// Lets event loops measure, if observers ask for counters. One measurement at a time: what is asked meanwhile waits for the next.
    private mutating func beginMeasuring(at now: Instant) {
        guard self.measurement == nil, let withConnections = self.hub?.beginMeasuring() else { return }
        self.measurement = Measurement(missing: self.loopCount, begin: now)
        self.instructAll(.measure(withConnections: withConnections))
    }

    /// An event loop has measured. Plan a run, if one is due.
    package mutating func note(_ measure: LoopMeasure, at now: Instant) {
        guard var measurement = self.measurement else { return }
        measurement.missing -= 1
        measurement.measure.add(measure)
        self.measurement = measurement.missing > 0 ? measurement : nil
        guard measurement.missing == 0 else { return }
        self.measure = measurement.measure
        self.loopTime = now - measurement.begin
        self.hub?.endMeasuring()
    }
}

extension Tallies {
    fileprivate mutating func add(_ totals: LoopTotals) {
        self.loops.add(totals)
        self.admitted.add(totals.admitted)
        self.resumed = (self.resumed ?? 0) &+ totals.resumed
        self.refused.add(totals.refused)
        self.closed.add(totals.closed)
    }

    fileprivate func counters(with measure: LoopMeasure) -> [CounterReport.Counter] {
        typealias Counter = CounterReport.Counter
        var tallies = self
        tallies.add(measure.totals)
        let loops = tallies.loops
        var all = tallies.admitted.all.map { Counter(.peersAdmitted, label: $0.code, $0.count) }
        all += tallies.refused.all.map { Counter(.peersRefused, label: $0.code, $0.count) }
        all += tallies.closed.all.map { Counter(.peersClosed, label: $0.code, $0.count) }
        return all + [
            Counter(.resumptions, tallies.resumed ?? 0), Counter(.connectionsAccepted, loops.accepted),
            Counter(.bytesReceived, loops.received),
            Counter(.bytesSent, loops.sent), Counter(.conflated, loops.conflated),
            Counter(.connections, UInt64(measure.connectionCount)),
            Counter(.waitingBytes, UInt64(measure.waitingBytes)),
            Counter(.inputBytes, UInt64(measure.inputBytes)),
        ]
    }
}

extension Gateway.Counters {
    fileprivate var all: [CounterReport.Counter] {
        typealias Counter = CounterReport.Counter
        var all = self.framesPublished.byType.map { Counter(.publications, label: UInt32($0.type), $0.count) }
        all += self.deliveries.byType.map { Counter(.deliveries, label: UInt32($0.type), $0.count) }
        all += self.sessionsEnded.all.map { Counter(.sessionsEnded, label: $0.code, $0.count) }
        all += self.requestsEnded.all.map { Counter(.requestsEnded, label: $0.code, $0.count) }
        all += self.requestTimes.all.map { Counter(.requestTimes, label: $0.bound, $0.count) }
        all += self.featuresWithheld.all.map { Counter(.featuresWithheld, label: $0.code, $0.count) }
        let (received, shown) = (self.receivedDelays, self.shownDelays)
        all += received?.all.map { Counter(.receivedDelays, label: $0.bound, $0.count) } ?? []
        all += shown?.all.map { Counter(.shownDelays, label: $0.bound, $0.count) } ?? []
        return all + [
            Counter(.publicationsUnchanged, self.framesUnchanged),
            Counter(.publicationsRejected, self.framesRejected),
            Counter(.sessionsOpened, self.sessionsOpened), Counter(.requests, self.requestsRouted),
            Counter(.snapshots, self.snapshotsSent),
            Counter(.acknowledgements, self.acknowledgements),
            Counter(.requestMicroseconds, self.requestTimes.microseconds),
            Counter(.receivedDelayMicroseconds, received?.totalMicroseconds ?? 0),
            Counter(.shownDelayMicroseconds, shown?.totalMicroseconds ?? 0),
        ]
    }
}

extension Gateway.Census {
    fileprivate var all: [CounterReport.Counter] {
        typealias Counter = CounterReport.Counter
        return [
            Counter(.vehiclesConnected, UInt64(self.vehicles)),
            Counter(.endpointsConnected, UInt64(self.endpoints)),
            Counter(.clientsConnected, UInt64(self.clients)), Counter(.sessions, UInt64(self.sessions)),
            Counter(.requestsOpen, UInt64(self.requests)),
        ]
    }
}
