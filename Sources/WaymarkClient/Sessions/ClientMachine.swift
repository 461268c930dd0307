internal import WaymarkCodec
package import WaymarkModel
package import WaymarkProtocol

/// A navigation client without its connection and without its handlers: holds its sessions, and knows which calls wait for what.
///
/// A call is a number that its maker chooses, and never chooses again. Each call gets exactly one answer. A session is named by the
/// id of the request that opened it, which stays the same when the gateway is another one.
package struct ClientMachine: PeerMachine {
    package enum Output: Sendable {
        /// The answer to ``open(_:receipts:answersWaypoints:answersStarts:call:)`` or ``waitUntilAccepted(_:call:into:)``.
        case returned(call: Int, Result<Void, ClientError>)
        /// The answer to ``share(_:id:in:call:into:)``.
        case shared(call: Int, Result<[String: RequestResult], ClientError>)
        case told(SessionEvent, session: Identifier)
        /// Nothing is told of this session afterwards.
        case ended(EndReason, session: Identifier)
        /// The call that opens this session failed, so there never was one.
        case notOpened(session: Identifier)
        /// Answered by ``answer(_:_:into:)``.
        case asked(WaypointInquiry, InquiryID)
        /// Answered by ``answer(_:_:into:)`` as well, with `accept` or `decline`.
        case askedToStart(StartTripInquiry, InquiryID)
        /// The result of an inquiry. If it is ``RequestResult/accepted``, the app makes the stop that it has offered, or starts the trip.
        case inquiryEnded(InquiryID, RequestResult)
        /// Answered by ``answerDestination(_:_:)``.
        case askedForDestination(DestinationInquiry, DestinationInquiryID)
        /// The request has an outcome, or another client is asked. A lost connection ends requests too, and is not told here.
        case destinationInquiryEnded(DestinationInquiryID)
        case askedToSimulate(SimulatedDrive)
        case log(PeerNote)
    }

    private let firstHello: NavigationHello
    private let displayName: String
    private let credential: [UInt8]
    private var token: ResumptionToken?
    var connection = ConnectionState.connecting
    var sessions: [Identifier: ClientSession] = [:]
    /// The keys of `sessions`, oldest first.
    private(set) var order: [Identifier] = []
    private var nextSession = 0
    /// Answers, and requests to open sessions, that are not sent yet. Each request with the session that it opens.
    private var control: [(frame: Frame, opening: Identifier?)] = []
    /// The bytes of `control` without requests to open sessions.
    package private(set) var owedByteCount = 0
    /// Sessions that the gateway has opened for calls that were abandoned.
    private var orphans: [ResumedSession] = []
    private var frameBytesMax = Int(ConnectionLimits().frameBytesMax)
    /// Features that the operator withholds from this client.
    private var withheld: FeatureSet = []
    private var withheldExtensions: Set<ExtensionName> = []

    /// - Throws: ``ClientError/rejected(field:reason:limit:)`` for a setting outside of its range.
    package init(
        _ hello: NavigationHello, displayName: String = "", credential: [UInt8] = []
    ) throws(ClientError) {
        self.firstHello = hello
        self.displayName = displayName
        self.credential = credential
        try Codec.check(.hello(self.hello()))
    }

    package func hello() -> Hello {
        var hello = Hello(role: .navigation(self.firstHello))
        hello.displayName = self.displayName
        hello.credential = Credential(self.credential)
        hello.resumptionToken = self.token
        return hello
    }

    /// Whether the app answers vehicles that ask for a drive.
    var answersDestinations: Bool { self.firstHello.features.contains(.destinationRequests) }

    /// Always nil: the gateway ends what takes too long.
    package var deadline: Instant? { nil }

    package mutating func deadlineReached(at now: Instant, into outputs: inout [Output]) {}

    package mutating func handle(_ event: PeerEvent, at now: Instant, into outputs: inout [Output]) {
        switch event {
        case .state(let state): self.change(state, &outputs)
        case .welcomed(let welcome, let frameBytesMax): self.welcomed(welcome, frameBytesMax, &outputs)
        case .received(let envelope): self.received(envelope, &outputs)
        case .skipped: break
        }
    }

    package mutating func dequeueOutgoing(into outputs: inout [Output]) -> [Frame] {
        var frames = self.control.map { $0.frame }
        self.forgetControl()
        for key in self.order {
            do throws(ClientError) {
                frames += try self.sessions[key]?.dequeuePending(into: &outputs) ?? []
            } catch {
                // Only after a reconnect to a gateway that accepts smaller frames than the one before.
                if let frame = self.sessions[key]?.giveUp() { frames.append(frame) }
                self.end(key, .notRestored(field: "", reason: "\(error)"), &outputs)
            }
        }
        return frames
    }

    // MARK: The connection

    private mutating func change(_ state: ConnectionState, _ outputs: inout [Output]) {
        self.connection = state
        guard case .closed(let error) = state else { return }
        for key in self.order {
            // The app has closed the client before the gateway confirmed the session's end.
            let isOver = error == .closed && self.sessions[key]?.state.hasSentEnd == true
            let reason = isOver ? self.sessions[key]?.ownEnd : nil
            self.end(key, reason ?? .connectionClosed(error), &outputs)
        }
    }

    /// Resumes every session that the gateway still has, and opens or ends the others.
    private mutating func welcomed(
        _ welcome: Welcome, _ frameBytesMax: Int, _ outputs: inout [Output]
    ) {
        self.token = welcome.resumptionToken
        self.frameBytesMax = frameBytesMax
        self.withheld = FeatureSet(welcome.features.filter { $0.withheld == .policy }.map(\.feature))
        self.withheldExtensions = Set(self.firstHello.extensions).subtracting(welcome.extensions)
        // Sessions are opened again below. The requests that queued answers are for ended with the lost connection.
        self.forgetControl()
        self.orphans = welcome.sessions.filter { $0.phase != .ended && self.key(of: $0.session) == nil }
        for key in self.order {
            self.sessions[key]?.state.frameBytesMax = frameBytesMax
            self.sessions[key]?.loseInquiries()
            defer {
                self.sessions[key]?.state.withheld = self.withheld
                self.sessions[key]?.state.withheldExtensions = self.withheldExtensions
            }
            guard let session = self.sessions[key] else { continue }
            guard let id = session.id else {
                self.send(Envelope(.openSession(session.opening)))
                continue
            }
            if let found = welcome.sessions.first(where: { $0.session == id }) {
                self.resume(key, found, &outputs)
            } else if welcome.isResumed {
                // The gateway knows this client, so it has ended the session; the message about it was lost.
                self.end(key, .endedWhileAway, &outputs)
            } else {
                self.restart(key, session, &outputs)
            }
        }
        self.endOrphans()
    }

    private mutating func resume(_ key: Identifier, _ found: ResumedSession, _ outputs: inout [Output]) {
        guard found.phase != .ended else { return self.end(key, EndReason(found.endReason), &outputs) }
        self.log(.info, "session resumed", key, &outputs)
        self.sessions[key]?.resume(after: found.sequence, into: &outputs)
        self.sessions[key]?.failSentShares(into: &outputs)
    }

    private mutating func restart(_ key: Identifier, _ session: ClientSession, _ outputs: inout [Output]) {
        if let reason = session.ownEnd { return self.end(key, reason, &outputs) }
        self.log(.notice, "the gateway was restarted; opening the session again", key, &outputs)
        self.sessions[key]?.restart(into: &outputs)
        self.sessions[key]?.failSentShares(into: &outputs)
        self.sessions[key]?.forgetInquiries(into: &outputs)
        self.send(Envelope(.openSession(session.opening)))
    }

    // MARK: Sessions

    /// Opens a session; see ``NavigationClient/openSession(vehicles:receipts:onWaypoint:onStartTrip:)``. Unless the app answers waypoints, vehicles that want
    /// to stop on the way are declined; unless it answers starts, those that want to start a trip.
    ///
    /// - Returns: The session's name.
    /// - Throws: What is wrong with the arguments, or why the connection is closed; the call gets no answer then.
    package mutating func open(
        _ vehicles: SessionVehicles, receipts: Duration? = nil, answersWaypoints: Bool = false,
        answersStarts: Bool = false, call: Int
    ) throws(ClientError) -> Identifier {
        let selection = try VehicleSelection(vehicles)
        if case .closed(let error) = self.connection { throw error }
        self.nextSession += 1
        let key: Identifier = "session-\(self.nextSession)"
        let opening = OpenSession(
            requestID: key, vehicles: selection, receiptsEveryMilliseconds: try Self.interval(receipts))
        try Codec.check(.openSession(opening))
        var session = ClientSession(
            opening, answersWaypoints: answersWaypoints, answersStarts: answersStarts, openingCall: call)
        session.state.frameBytesMax = self.frameBytesMax
        session.state.withheld = self.withheld
        session.state.withheldExtensions = self.withheldExtensions
        self.sessions[key] = session
        self.order.append(key)
        self.send(Envelope(.openSession(opening)))
        return key
    }

    /// 0 for no receipts.
    private static func interval(_ receipts: Duration?) throws(ClientError) -> UInt32 {
        guard let receipts else { return 0 }
        let range = ProtocolConstants.receiptsMilliseconds
        guard let milliseconds = UInt32(exactly: receipts.milliseconds), range.contains(milliseconds) else {
            throw .rejected(
                field: "receipts", reason: "must be \(range.lowerBound) to \(range.upperBound) ms")
        }
        return milliseconds
    }

    /// The app no longer waits for a call. A session is not opened then, or ends at once; a share that is not sent yet is not sent.
    package mutating func abandon(call: Int, into outputs: inout [Output]) {
        guard let key = self.order.first(where: { self.sessions[$0]?.openingCall == call }) else {
            for key in self.order { self.sessions[key]?.abandon(call: call, into: &outputs) }
            return
        }
        self.forget(key, &outputs)
        self.control.removeAll { $0.opening == key }
        outputs.append(.returned(call: call, .failure(.cancelled)))
        self.endOrphans()
    }

    /// Queues a publication of a session. The machine sets its generation.
    ///
    /// - Throws: As the functions of ``NavigationSession`` do.
    package mutating func publish(
        _ publication: Publication, in key: Identifier, into outputs: inout [Output]
    ) throws(ClientError) {
        guard self.sessions[key] != nil else { throw .sessionEnded(.unrecognized) }
        if case .publishExtension(let published) = publication {
            guard self.firstHello.extensions.contains(published.name) else {
                throw .rejected(
                    field: "name", reason: "\(published.name) is not in the extensions of the configuration")
            }
        }
        try self.sessions[key]?.publish(publication, into: &outputs)
    }

    /// Shares a destination; answered when all outcomes are known.
    ///
    /// - Throws: Why it is not shared; the call gets no answer then.
    package mutating func share(
        _ destination: Waypoint, ofTrip trip: String = "", id: String, in key: Identifier, call: Int,
        into outputs: inout [Output]
    ) throws(ClientError) {
        let share = Identifier(id)
        guard self.sessions[key]?.isSharing(share) != true else {
            throw .invalid("the share \(share) is under way; give every share an id of its own")
        }
        try self.publish(.shareDestination(shareID: id, destination, trip: trip), in: key, into: &outputs)
        guard self.sessions[key]?.state.waitingShares.contains(share) == true else {
            throw .interrupted("too much waited to be sent; share the destination again")
        }
        self.sessions[key]?.wait(for: share, call, into: &outputs)
    }

    /// Waits until the gateway has accepted what was published in a session.
    package mutating func waitUntilAccepted(
        _ key: Identifier, call: Int, into outputs: inout [Output]
    ) {
        guard self.sessions[key] != nil else {
            return outputs.append(.returned(call: call, .failure(.sessionEnded(.unrecognized))))
        }
        self.sessions[key]?.waitUntilAccepted(call, into: &outputs)
    }

    /// Everything that was published in a session has been sent, and the gateway has it.
    package func isAccepted(_ key: Identifier) -> Bool {
        guard let state = self.sessions[key]?.state else { return false }
        return state.isAllSent && state.acknowledged == state.sequence
    }

    // MARK: For the messages of the gateway

    /// The name of the session with this id on the wire.
    func key(of session: SessionID) -> Identifier? { self.order.first { self.sessions[$0]?.id == session } }

    mutating func send(_ envelope: Envelope) {
        let frame = Codec.encode(envelope)
        guard case .openSession(let opening) = envelope.message else {
            self.owedByteCount += frame.bytes.count
            return self.control.append((frame, nil))
        }
        self.control.append((frame, opening.requestID))
    }

    private mutating func forgetControl() { (self.control, self.owedByteCount) = ([], 0) }

    /// The number of requests of vehicles that wait for an answer, or for their outcome.
    var inquiryCount: Int { self.sessions.values.reduce(0) { $0 + $1.inquiryCount } }

    /// Ends a session that the gateway has opened for a call that was abandoned.
    mutating func endOrphan(_ session: SessionID, after sequence: UInt64) {
        self.send(
            Envelope(.publication(.cancelGuidance), session: session, sequence: sequence.addingSaturating(1)))
    }

    /// Ends the orphans once no session is being opened: until then one of them may be a session that is opened again.
    mutating func endOrphans() {
        guard !self.sessions.values.contains(where: { $0.id == nil }) else { return }
        for orphan in self.orphans where self.key(of: orphan.session) == nil {
            self.endOrphan(orphan.session, after: orphan.sequence)
        }
        self.orphans = []
    }

    /// Removes a session that was never open.
    mutating func forget(_ key: Identifier, _ outputs: inout [Output]) {
        self.sessions[key] = nil
        self.order.removeAll { $0 == key }
        outputs.append(.notOpened(session: key))
    }

    mutating func end(_ key: Identifier, _ reason: EndReason, _ outputs: inout [Output]) {
        guard var session = self.sessions[key] else { return }
        self.log(
            .info, "session ended", key, &outputs, [.init(key: PeerLogKey.reason, text: "\(reason)")])
        self.sessions[key] = nil
        self.order.removeAll { $0 == key }
        session.end(reason, into: &outputs)
    }

    /// Tells an event of a session, and logs what the app has not asked for.
    mutating func tell(_ event: SessionEvent, _ key: Identifier, _ outputs: inout [Output]) {
        if case .rejected(let field, let reason, _) = event, self.sessions[key] != nil {
            self.log(
                .warning, "the gateway refused a publication", key, &outputs,
                [.init(key: PeerLogKey.field, text: field), .init(key: PeerLogKey.reason, text: reason)])
        }
        self.sessions[key]?.tell(event, into: &outputs)
    }

    func log(
        _ level: PeerNote.Level, _ text: String, _ key: Identifier, _ outputs: inout [Output],
        _ values: [PeerNote.Value] = []
    ) { outputs.append(.log(PeerNote(level, text, [self.label(of: key)] + values))) }

    /// What a line about a session has of it.
    func label(of key: Identifier) -> PeerNote.Value {
        .init(key: PeerLogKey.session, text: "\((self.sessions[key]?.id ?? .none).rawValue)")
    }
}

extension VehicleSelection {
    /// - Throws: ``ClientError/invalid(_:)`` naming the id that is not allowed.
    fileprivate init(_ vehicles: SessionVehicles) throws(ClientError) {
        guard case .vehicles(let names) = vehicles else {
            self = .anyThatAsked
            return
        }
        var ids: [VehicleID] = []
        for name in names {
            guard let id = VehicleID(name) else {
                throw .invalid("the vehicle id \(name) must be 1 to 64 of A-Z a-z 0-9 . _ : -")
            }
            ids.append(id)
        }
        self = .vehicles(ids)
    }
}
