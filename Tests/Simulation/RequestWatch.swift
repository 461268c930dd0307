internal import WaymarkGateway
internal import WaymarkProtocol

/// Follows every request through the gateway: which clients it asks, the user's first answer, and the outcome.
struct RequestWatch {
    private struct Key: Hashable {
        let vehicle: VehicleID
        let id: Identifier
    }

    private struct Course {
        let isDestination: Bool
        /// The start of a trip of the previews.
        let isStart: Bool
        /// The endpoint that sent it first.
        let source: EndpointName
        /// Clients that were asked, in order.
        var asked: [ClientID] = []
        /// Endpoints that show the prompt.
        var prompted: Set<ConnectionID> = []
        /// The outcome that the first answer to a prompt requires.
        var answer: Outcome?
        var outcome: Outcome?
    }

    /// Violations that were not yet collected.
    var violations: [(Promise, String)] = []
    private var courses: [Key: Course] = [:]
    /// The requests of each vehicle that have ended, in order, of which the gateway keeps the outcome (REQ-ASK-04).
    private var kept: [VehicleID: [Key]] = [:]
    /// Requests whose outcome the gateway keeps no longer, and whose endpoints were not told yet: one that came again would be a new one.
    private var dropped: [Key] = []
    /// Two requests of one vehicle were open whose ids Unicode calls equivalent.
    private(set) var hasSeenTwins = false
    /// Vehicles that the gateway forgets with the current event.
    private var forgotten: Set<VehicleID> = []

    /// The gateway has forgotten a vehicle and may process the same requests again. This takes effect after the current event: one
    /// event may reach several deadlines, and that of a request may come before that of its vehicle.
    mutating func forget(_ vehicle: VehicleID) { self.forgotten.insert(vehicle) }

    mutating func leave(_ connection: ConnectionID) {
        for key in self.courses.keys { self.courses[key]?.prompted.remove(connection) }
    }

    func isAcceptedDestination(_ outcome: RequestOutcome) -> Bool {
        let course = self.courses[Key(vehicle: outcome.vehicle, id: outcome.requestID)]
        return outcome.outcome == .accepted && course?.isDestination == true
    }

    /// Requests that have not ended.
    var open: [String] {
        self.courses.filter { $0.value.outcome == nil }.map { "\($0.key.vehicle) \($0.key.id)" }.sorted()
    }

    // MARK: From peers

    mutating func see(_ message: Message, from connection: ConnectionID, _ identity: Watch.Identity) {
        guard case .endpoint(let path, _) = identity, case .promptAnswer(let answer) = message else { return }
        let key = Key(vehicle: path.vehicle, id: answer.requestID)
        guard let course = self.courses[key], course.outcome == nil, course.answer == nil,
            !course.prompted.isEmpty
        else { return }
        self.courses[key]?.answer = answer.isAccepted ? .accepted : .declinedByUser
    }

    mutating func see(_ request: ReceivedRequest, from identity: Watch.Identity) {
        guard case .endpoint(let path, mayRequest: true) = identity else { return }
        let key = Key(vehicle: path.vehicle, id: request.requestID)
        guard self.courses[key] == nil else { return }
        self.courses[key] = Course(
            isDestination: request.kind == .destination, isStart: request.type == .startTripRequest,
            source: path.endpoint)
        if let twin = EquivalentIDs.twin(of: key.id),
            let other = self.courses[Key(vehicle: key.vehicle, id: twin)], other.outcome == nil
        {
            self.hasSeenTwins = true
        }
    }

    // MARK: To peers

    mutating func see(
        _ message: Message, to connection: ConnectionID, _ present: [ConnectionID: Watch.Identity]
    ) {
        switch message {
        case .prompt(let prompt):
            guard case .endpoint(let path, _) = present[connection] else { return }
            let key = Key(vehicle: path.vehicle, id: prompt.requestID)
            self.courses[key]?.prompted.insert(connection)
        case .promptOver(let over):
            guard case .endpoint(let path, _) = present[connection] else { return }
            self.courses[Key(vehicle: path.vehicle, id: over.requestID)]?.prompted.remove(connection)
        case .requestOutcome(let outcome):
            guard case .endpoint = present[connection] else { return }
            self.end(Key(vehicle: outcome.vehicle, id: outcome.requestID), outcome.outcome)
        default: break  // Not about requests.
        }
    }

    mutating func see(
        _ request: ReceivedRequest, of vehicle: VehicleID, to connection: ConnectionID,
        _ present: [ConnectionID: Watch.Identity], _ access: AccessWatch
    ) {
        self.ask(Key(vehicle: vehicle, id: request.requestID), connection, present, access)
    }

    /// A waypoint request goes to one client; a destination request to the first in rank of the clients that may guide the vehicle and
    /// were not asked yet.
    private mutating func ask(
        _ key: Key, _ connection: ConnectionID, _ present: [ConnectionID: Watch.Identity],
        _ access: AccessWatch
    ) {
        guard let course = self.courses[key], case .client(let id, let asked, _) = present[connection]
        else { return self.report("\(key.id) is forwarded, but no endpoint sent it") }
        self.courses[key]?.asked.append(id)
        if course.outcome != nil { self.report("\(key.id) is forwarded after it ended") }
        if course.isStart { self.checkStart(key) }
        guard course.isDestination else {
            if !course.asked.isEmpty { self.report("\(key.id) is forwarded twice") }
            return
        }
        if course.asked.contains(id) { self.report("\(key.id) is forwarded twice to \(id)") }
        // A change of the rules has not reached all clients, and those that it has not reached are not asked.
        guard !access.isChanging, let rank = access.priority(id, asking: asked, for: key.vehicle) else {
            return
        }
        for case .client(let other, let otherAsked, handlesDestinations: true) in present.values
        where !course.asked.contains(other) && other != id {
            guard let otherRank = access.priority(other, asking: otherAsked, for: key.vehicle) else {
                continue
            }
            if otherRank > rank
                || (otherRank == rank && (otherAsked > asked || (otherAsked == asked && other < id)))
            {
                self.report("\(key.id) is forwarded to \(id) before \(other)")
            }
        }
    }

    /// A request has ended, which its vehicle may learn later: when it comes back.
    mutating func seeEnd(_ id: Identifier, of vehicle: VehicleID, _ outcome: Outcome) {
        let key = Key(vehicle: vehicle, id: id)
        // Otherwise its vehicle is already forgotten here.
        if self.courses[key] != nil { self.end(key, outcome) }
    }

    /// Of two starts of a vehicle the first wins: a client is not asked for another one before that has ended.
    private mutating func checkStart(_ key: Key) {
        let others = self.courses.filter {
            $0.key.vehicle == key.vehicle && $0.key != key && $0.value.isStart && !$0.value.asked.isEmpty
                && $0.value.outcome == nil
        }
        if !others.isEmpty { self.report("\(key.id) is forwarded while another start is open") }
    }

    private mutating func end(_ key: Key, _ outcome: Outcome) {
        guard let course = self.courses[key] else {
            return self.report("\(key.id) ends, but no endpoint sent it")
        }
        if let known = course.outcome, known != outcome {
            self.report("\(key.id) ended as \(known) and as \(outcome)")
        }
        if let answer = course.answer, outcome != answer {
            self.report("\(key.id) ended as \(outcome), but the user's first answer requires \(answer)")
        }
        self.courses[key]?.outcome = outcome
        if course.outcome == nil { self.keep(key) }
    }

    /// Forgets a request that has ended when the gateway does: the oldest of the endpoint that has most. When it comes again, it is a
    /// new one.
    private mutating func keep(_ key: Key) {
        var kept = self.kept[key.vehicle] ?? []
        kept.append(key)
        if kept.count > GatewayLimits().outcomesKeptMax {
            let sources = kept.map { self.courses[$0]?.source }
            let counts = sources.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            let most = counts.values.max()
            // Of two endpoints with equally many, the one whose first has waited longer.
            let index = sources.firstIndex { counts[$0] == most } ?? 0
            let oldest = kept.remove(at: index)
            self.courses[oldest] = nil
            self.dropped.append(oldest)
        }
        self.kept[key.vehicle] = kept
    }

    /// The requests that the gateway has forgotten since the last call.
    mutating func takeDropped() -> [(vehicle: VehicleID, id: Identifier)] {
        defer { self.dropped = [] }
        return self.dropped.map { ($0.vehicle, $0.id) }
    }

    private mutating func report(_ text: String) { self.violations.append((.oneOutcome, text)) }

    /// Checks what must hold after each event. `isBehind`: deadlines have passed that the gateway has not handled.
    mutating func check(isBehind: Bool) {
        if !isBehind {
            for key in self.courses.keys where self.forgotten.contains(key.vehicle) {
                self.courses[key] = nil
            }
            for vehicle in self.forgotten { self.kept[vehicle] = nil }
            self.forgotten = []
        }
        for (key, course) in self.courses where course.outcome != nil && !course.prompted.isEmpty {
            self.report("\(key.id) has ended, but its prompt is still shown")
        }
    }
}
