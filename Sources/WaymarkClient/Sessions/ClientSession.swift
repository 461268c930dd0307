internal import WaymarkProtocol

/// What a navigation client knows of one of its sessions. A value.
struct ClientSession: Sendable {
    typealias Output = ClientMachine.Output

    /// A destination that is being shared.
    private struct Share: Sendable {
        let id: Identifier
        let call: Int
        var outcomes: [String: RequestResult] = [:]
        /// The vehicles that the gateway has asked: those in the session at the first status. nil: before it.
        var asked: Set<String>?
    }

    /// A request of a vehicle whose outcome is not known yet.
    private struct OpenInquiry: Sendable {
        let id: InquiryID
        let kind: InquiryKind
        /// The connection that it came over was lost. It has ended, and the gateway sends its outcome before any other
        /// message about the vehicle.
        var isOver = false
    }

    /// The kinds of inquiries of a vehicle in the session.
    enum InquiryKind: Sendable {
        case stop
        /// The start of a trip of the previews.
        case start
    }

    let opening: OpenSession
    /// Whether the app answers vehicles that want to stop on the way.
    let answersWaypoints: Bool
    /// Whether the app answers vehicles that want to start a trip of its previews.
    let answersStarts: Bool
    /// nil until the gateway has opened it.
    var id: SessionID?
    var state = PublishedState()
    /// The call that waits until the gateway opens the session for the first time.
    var openingCall: Int?
    /// In the order in which they came.
    private var inquiries: [OpenInquiry] = []
    /// Vehicles that answer a share, or the gateway for them: those that have joined or are awaited.
    private var vehicles: Set<String> = []
    /// In the order in which they were published.
    private var shares: [Share] = []
    private var waiting = WaitingForAcceptance()

    init(_ opening: OpenSession, answersWaypoints: Bool, answersStarts: Bool, openingCall: Int) {
        self.opening = opening
        self.answersWaypoints = answersWaypoints
        self.answersStarts = answersStarts
        self.openingCall = openingCall
    }

    private var key: Identifier { self.opening.requestID }

    /// How the app has ended it; nil while it has not.
    var ownEnd: EndReason? { self.state.ownEnd }

    /// Queues a publication.
    mutating func publish(
        _ publication: Publication, into outputs: inout [Output]
    ) throws(ClientError) {
        let numbered = publication.numbered(&self.state)
        try self.state.publish(numbered)
        self.failLostShares(&outputs)
    }

    /// Removes and returns what to send now; nothing before the gateway has opened the session.
    mutating func dequeuePending(into outputs: inout [Output]) throws(ClientError) -> [Frame] {
        guard let id else { return [] }
        let frames = try self.state.dequeuePending(session: id)
        self.answer(self.waiting.noteSent(self.state), &outputs)
        self.failLostShares(&outputs)
        return frames
    }

    /// The frame that ends the session at the gateway, whatever is queued.
    mutating func giveUp() -> Frame? { self.id.map { self.state.giveUp(session: $0) } }

    /// Applies an event, and tells it.
    mutating func tell(_ event: SessionEvent, into outputs: inout [Output]) {
        switch event {
        case .vehicleChanged(let vehicle, .joined, _), .vehicleChanged(let vehicle, .awaited, _):
            self.vehicles.insert(vehicle)
        case .vehicleChanged(let vehicle, _, _): self.vehicles.remove(vehicle)
        case .shareResult(let vehicle, let share, let result): self.note(result, of: vehicle, share)
        default: break  // Only told.
        }
        outputs.append(.told(event, session: self.key))
        if case .vehicleChanged(let vehicle, let standing, _) = event {
            self.giveUpInquiries(of: vehicle, hasLeft: standing.isLeft, &outputs)
        }
        self.finishShares(&outputs)
    }

    /// The session was opened again at another gateway: vehicles that it does not have there have left.
    mutating func forgetVehicles(except present: Set<String>, into outputs: inout [Output]) {
        for vehicle in self.vehicles.subtracting(present).sorted() {
            self.tell(
                .vehicleChanged(vehicle: vehicle, standing: .left(.vehicleGone), endpoints: []),
                into: &outputs)
        }
    }

    /// The session has ended. Nothing is told of it afterwards.
    mutating func end(_ reason: EndReason, into outputs: inout [Output]) {
        outputs.append(.ended(reason, session: self.key))
        for share in self.shares {
            outputs.append(.shared(call: share.call, .failure(.sessionEnded(reason))))
        }
        self.answer(self.waiting.removeAll(), &outputs, reason.acceptance)
        if let openingCall {
            outputs.append(.returned(call: openingCall, .failure(.sessionEnded(reason))))
        }
    }

    // MARK: Inquiries

    /// A vehicle has sent a request.
    mutating func beginInquiry(_ id: InquiryID, _ kind: InquiryKind) {
        self.inquiries.removeAll { $0.id == id }
        self.inquiries.append(OpenInquiry(id: id, kind: kind))
    }

    /// The number of requests that have no outcome yet.
    var inquiryCount: Int { self.inquiries.count }

    /// Whether the vehicle still waits for an answer.
    func isAsked(_ id: InquiryID) -> Bool { self.inquiries.contains { $0.id == id && !$0.isOver } }

    /// An inquiry has ended: tells it, unless it was told before.
    mutating func end(_ outcome: RequestOutcome, into outputs: inout [Output]) {
        let id = InquiryID(session: self.key, vehicle: outcome.vehicle, request: outcome.requestID)
        guard let index = self.inquiries.firstIndex(where: { $0.id == id }) else { return }
        let kind = self.inquiries.remove(at: index).kind
        let ending = RequestEnding(outcome)
        self.tell(kind.event(of: id.vehicle, ending), into: &outputs)
        outputs.append(.inquiryEnded(id, ending.result))
    }

    /// The connection was lost, which ends every inquiry.
    mutating func loseInquiries() {
        for index in self.inquiries.indices { self.inquiries[index].isOver = true }
    }

    /// The gateway is another one and knows no inquiry.
    mutating func forgetInquiries(into outputs: inout [Output]) {
        self.endInquiries(.gone, &outputs) { _ in true }
    }

    private mutating func giveUpInquiries(
        of vehicle: String, hasLeft: Bool, _ outputs: inout [Output]
    ) {
        self.endInquiries(hasLeft ? .sessionEnded : .gone, &outputs) {
            $0.id.vehicle.rawValue == vehicle && (hasLeft || $0.isOver)
        }
    }

    private mutating func endInquiries(
        _ result: RequestResult, _ outputs: inout [Output], where isOver: (OpenInquiry) -> Bool
    ) {
        for inquiry in self.inquiries where isOver(inquiry) {
            let event = inquiry.kind.event(of: inquiry.id.vehicle, RequestEnding(result))
            outputs.append(.told(event, session: self.key))
            outputs.append(.inquiryEnded(inquiry.id, result))
        }
        self.inquiries.removeAll(where: isOver)
    }

    // MARK: Acceptance

    /// A call waits until the gateway has accepted what is published now.
    mutating func waitUntilAccepted(_ call: Int, into outputs: inout [Output]) {
        self.answer(self.waiting.add(call, self.state), &outputs)
    }

    /// The gateway has accepted or refused everything up to a number.
    mutating func acknowledge(_ sequence: UInt64, into outputs: inout [Output]) {
        self.state.acknowledge(sequence)
        self.answer(self.waiting.noteAcknowledged(self.state), &outputs)
    }

    /// The gateway has the session up to a number.
    mutating func resume(after sequence: UInt64, into outputs: inout [Output]) {
        self.state.resume(after: sequence)
        self.answer(self.waiting.noteLost(self.state), &outputs)
    }

    /// The gateway does not know the session.
    mutating func restart(into outputs: inout [Output]) {
        self.id = nil
        self.state.restart()
        self.answer(self.waiting.noteLost(self.state), &outputs)
    }

    private func answer(
        _ calls: [Int], _ outputs: inout [Output], _ result: Result<Void, ClientError> = .success(())
    ) {
        for call in calls { outputs.append(.returned(call: call, result)) }
    }

    // MARK: Shares

    /// Whether a share of this id is under way.
    func isSharing(_ share: Identifier) -> Bool { self.shares.contains { $0.id == share } }

    /// A call waits for all outcomes of a share that was published.
    mutating func wait(for share: Identifier, _ call: Int, into outputs: inout [Output]) {
        self.shares.append(Share(id: share, call: call))
        self.finishShares(&outputs)
    }

    private mutating func note(_ result: RequestResult?, of vehicle: String, _ shareID: String) {
        let id = Identifier(shareID)
        guard let index = self.shares.firstIndex(where: { $0.id == id }) else { return }
        if self.shares[index].asked == nil { self.shares[index].asked = self.vehicles }
        if let result { self.shares[index].outcomes[vehicle] = result }
    }

    /// The app no longer waits for a call. A share that is not sent yet is not sent.
    mutating func abandon(call: Int, into outputs: inout [Output]) {
        if self.waiting.remove(call) { self.answer([call], &outputs, .failure(.cancelled)) }
        guard let share = self.shares.first(where: { $0.call == call }) else { return }  // It has returned.
        self.state.dropShare(share.id)
        self.failShare(share.id, .cancelled, into: &outputs)
    }

    /// Ends the call that waits for a share.
    mutating func failShare(_ share: Identifier, _ error: ClientError, into outputs: inout [Output]) {
        guard let index = self.shares.firstIndex(where: { $0.id == share }) else { return }
        outputs.append(.shared(call: self.shares.remove(at: index).call, .failure(error)))
    }

    private mutating func failLostShares(_ outputs: inout [Output]) {
        for share in self.state.dequeueLostShares() {
            self.failShare(
                share, .interrupted("too much waited to be sent; share the destination again"),
                into: &outputs)
        }
    }

    /// The connection was lost, and outcomes with it. Shares that are not sent yet stay queued.
    mutating func failSentShares(into outputs: inout [Output]) {
        let waiting = Set(self.state.waitingShares)
        for share in self.shares where !waiting.contains(share.id) {
            self.failShare(
                share.id, .interrupted("the connection was lost before all vehicles had answered"),
                into: &outputs)
        }
    }

    /// A share has ended once every vehicle that was asked and is still in the session has answered.
    private mutating func finishShares(_ outputs: inout [Output]) {
        guard !self.shares.isEmpty else { return }
        let vehicles = self.vehicles
        func isOver(_ share: Share) -> Bool {
            vehicles.intersection(share.asked ?? vehicles).isSubset(of: share.outcomes.keys)
        }
        for share in self.shares where isOver(share) {
            outputs.append(.shared(call: share.call, .success(share.outcomes)))
        }
        self.shares.removeAll(where: isOver)
    }
}

extension Publication {
    /// With the generation that it must have in a session: a new one with a route, else that of the route.
    fileprivate func numbered(_ state: inout PublishedState) -> Publication {
        switch self {
        case .startGuidance(let trip, _, let route):
            .startGuidance(trip, generation: state.newGeneration(), route)
        case .resumeGuidance(_, let reason, let route):
            .resumeGuidance(
                generation: route == nil ? state.generation : state.newGeneration(), reason, route)
        case .addManeuvers(let added, _): .addManeuvers(added, generation: state.generation)
        case .addLaneGuidances(let added, _): .addLaneGuidances(added, generation: state.generation)
        case .addRouteSegments(let added, _): .addRouteSegments(added, generation: state.generation)
        case .upcomingManeuvers(let ids, _): .upcomingManeuvers(ids, generation: state.generation)
        case .currentLaneGuidance(let id, _): .currentLaneGuidance(id, generation: state.generation)
        case .maneuverState(let maneuver, _): .maneuverState(maneuver, generation: state.generation)
        case .maneuverEstimates(let id, let estimates, _):
            .maneuverEstimates(id, estimates, generation: state.generation)
        case .currentRouteSegment(let id, _): .currentRouteSegment(id, generation: state.generation)
        case .tripPreviews, .updateTrip, .tripEstimates, .pauseGuidance, .showAlert, .dismissAlert,
            .shareDestination, .speedLimit, .finishGuidance, .cancelGuidance, .plain, .publishExtension:
            self
        }
    }
}

extension ClientSession.InquiryKind {
    /// The event that tells how a request of this kind ended.
    fileprivate func event(of vehicle: VehicleID, _ ending: RequestEnding) -> SessionEvent {
        switch self {
        case .stop: .waypointResult(vehicle: vehicle.rawValue, ending)
        case .start: .startTripResult(vehicle: vehicle.rawValue, ending)
        }
    }
}

extension SessionEvent.Standing {
    fileprivate var isLeft: Bool { if case .left = self { true } else { false } }
}
