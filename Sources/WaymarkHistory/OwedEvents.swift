internal import WaymarkProtocol

/// The events of a session that an endpoint must get, and has not got yet. State is not counted: only its newest value matters.
struct OwedEvents: Sendable {
    /// What the endpoint wants and was granted.
    private var granted = FeatureSet()
    /// What of it the session has for it.
    private var features = FeatureSet()
    private var hasSlots = false
    private var session = SessionID.none
    /// Numbers that the endpoint has not got, ascending.
    private var owed: [UInt64] = []
    /// The last number of the session that was published or is in the snapshot.
    private var last: UInt64 = 0

    var count: Int { self.owed.count }

    /// The endpoint connects.
    mutating func begin(_ hello: Hello) {
        guard let vehicle = hello.vehicle else { return }
        (self.granted, self.features) = (vehicle.features, vehicle.features)
        self.hasSlots = vehicle.limits.maneuversStoredMax > 0 || vehicle.limits.laneGuidancesStoredMax > 0
    }

    /// Another peer sent or got a frame. Whether the number of events changed.
    mutating func see(_ crossed: CrossedFrame) -> Bool {
        guard case .client = crossed.peer, self.session != .none else { return false }
        switch (crossed.way, crossed.message) {
        case (.toGateway, .publication(let publication)):
            let header = crossed.frame.header
            guard header.session == self.session, header.sequence > self.last else { return false }
            self.last = header.sequence
            guard self.mustGet(publication) else { return false }
            self.owed.append(header.sequence)
            return true
        case (.toPeer, .error(let rejection)):
            guard rejection.session == self.session,
                let place = self.owed.firstIndex(of: rejection.sequence)
            else { return false }
            self.owed.remove(at: place)
            return true
        default: return false
        }
    }

    /// The endpoint got a message; `session` is the one that it holds now.
    mutating func receive(_ envelope: Envelope, session: UInt32) {
        switch envelope.message {
        case .welcome(let welcome):
            for grant in welcome.features where grant.withheld != nil { self.granted.remove(grant.feature) }
            self.features = self.granted
        case .snapshotBegin(let begin):
            self.features = self.granted
            for grant in begin.withheld where grant.withheld != nil { self.features.remove(grant.feature) }
            guard begin.kind == .full else { break }
            self.owed = []
            (self.session, self.last) = (envelope.session, begin.toSequence)
        default:
            guard envelope.session == self.session, envelope.sequence > 0 else { break }
            self.owed.removeAll { $0 == envelope.sequence }
        }
        if session != self.session.rawValue { (self.session, self.owed) = (.none, []) }
    }

    /// Whether this endpoint must get an event. With slots the gateway chooses what it sends.
    private func mustGet(_ publication: Publication) -> Bool {
        guard publication.rule.kind == .event else { return false }
        if self.hasSlots {
            switch publication {
            case .addManeuvers, .addLaneGuidances: return false
            default: break
            }
        }
        return publication.rule.feature.map(self.features.contains) ?? true
    }
}
