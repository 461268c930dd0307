internal import WaymarkHistory
internal import WaymarkModel
internal import WaymarkProtocol

/// LINT-REQUEST-REROUTE.
struct RequestRerouteRule: LintRule {
    /// How long a client may compute.
    private static let rerouteTime = Duration.seconds(15)
    /// The number of requests that are followed at once, of all vehicles.
    private static let openMax = 4_096

    private struct Open {
        let session: SessionID
        /// When the client agreed by itself.
        var agreed: Instant?
    }

    private struct Waiting {
        let client: PeerID
        let request: Identifier
        let deadline: Instant
        let entry: Int
    }

    private var open: [RequestKey: Open] = [:]
    private var waiting: [SessionID: Waiting] = [:]
    private var rerouted: [SessionID: Instant] = [:]

    var deadline: Instant? { self.waiting.values.lazy.map(\.deadline).min() }

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        switch step {
        case .published(let session, _, let publication): self.see(publication, session, context)
        case .ended(let session, _):
            self.waiting[session] = nil
            self.rerouted[session] = nil
            self.open = self.open.filter { $0.value.session != session }
        case .message(.client, .toPeer, .waypointRequest(let request), let header):
            guard let vehicle = request.vehicle, self.open.count < Self.openMax else { return }
            let key = RequestKey(vehicle: vehicle, requestID: request.requestID)
            self.open[key] = Open(session: header.session)
        case .message(.client, .toGateway, .requestAnswer(let answer), _):
            guard answer.answer == .accept else { return }
            let key = RequestKey(vehicle: answer.vehicle, requestID: answer.requestID)
            self.open[key]?.agreed = context.instant
        case .message(let client, .toPeer, .requestOutcome(let outcome), _):
            guard case .client = client else { return }
            self.see(outcome, client, context)
        case .connection(let client, .ended):
            self.waiting = self.waiting.filter { $0.value.client != client }
        default: break
        }
    }

    private mutating func see(_ publication: Publication, _ session: SessionID, _ context: LintContext) {
        switch publication {
        case .startGuidance, .resumeGuidance(_, _, .some):
            self.waiting[session] = nil
            self.rerouted[session] = context.instant
        case .finishGuidance, .cancelGuidance: self.waiting[session] = nil
        default: break
        }
    }

    private mutating func see(_ outcome: RequestOutcome, _ client: PeerID, _ context: LintContext) {
        let key = RequestKey(vehicle: outcome.vehicle, requestID: outcome.requestID)
        guard let request = self.open.removeValue(forKey: key), outcome.outcome == .accepted else { return }
        // A client that agrees by itself need not wait for the outcome.
        if let agreed = request.agreed, let rerouted = self.rerouted[request.session], rerouted >= agreed {
            return
        }
        self.waiting[request.session] = Waiting(
            client: client, request: outcome.requestID, deadline: context.instant + Self.rerouteTime,
            entry: context.entry)
    }

    mutating func deadlineReached(_ world: LintWorld, _ context: inout LintContext) {
        for (session, waiting) in self.waiting.sorted(by: { $0.key < $1.key })
        where waiting.deadline <= context.instant {
            self.waiting[session] = nil
            context.find(
                .requestReroute, waiting.client, session, values: [("request", waiting.request.rawValue)],
                entry: waiting.entry,
                "the stop \(waiting.request) was accepted, and no new route came within 15 s")
        }
    }
}

/// LINT-CANCEL-IGNORED.
struct CancelIgnoredRule: LintRule {
    /// How long a client may not know that its session has ended.
    private static let lateMax = Duration.seconds(1)
    /// How long a vehicle that ended guidance is left alone.
    private static let quietTime = Duration.seconds(30)

    private struct Cancelled {
        let client: PeerID
        let instant: Instant
    }

    /// Sessions that continued, each told once.
    private var told: Set<SessionID> = []
    /// The client that guided a vehicle last.
    private var guides: [VehicleID: PeerID] = [:]
    private var cancelled: [VehicleID: Cancelled] = [:]

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        switch step {
        case .misplaced(let session, let client), .malformed(let session, let client, _, _):
            self.judge(session, client, world, &context)
        case .message(let client, .toPeer, .sessionOpened(let opened), _):
            self.told.remove(opened.session)
            for status in opened.vehicles where status.standing == .joined {
                self.guides[status.vehicle] = client
            }
        case .message(let client, .toPeer, .vehicleChanged(let status), _):
            if status.standing == .joined { self.guides[status.vehicle] = client }
        case .message(.endpoint(let vehicle, _), .toGateway, let message, _):
            self.see(message, of: vehicle, context)
        case .message(let client, .toGateway, .openSession(let opening), _):
            self.judge(opening, client, &context)
        default: break
        }
    }

    private mutating func see(_ message: Message, of vehicle: VehicleID, _ context: LintContext) {
        switch message {
        case .cancelNavigation:
            self.cancelled[vehicle] = self.guides[vehicle].map {
                Cancelled(client: $0, instant: context.instant)
            }
        case .allowNavigation, .destinationRequest, .hello: self.cancelled[vehicle] = nil
        default: break
        }
    }

    private mutating func judge(
        _ session: SessionID, _ client: PeerID, _ world: LintWorld, _ context: inout LintContext
    ) {
        guard let end = world.end(of: session), context.instant - end > Self.lateMax,
            self.told.insert(session).inserted
        else { return }
        context.find(
            .cancelIgnored, client, session,
            "\(client) publishes in session \(session.rawValue), which ended "
                + "\((context.instant - end).milliseconds) ms before")
    }

    private func judge(_ opening: OpenSession, _ client: PeerID, _ context: inout LintContext) {
        guard case .vehicles(let vehicles) = opening.vehicles else { return }
        for vehicle in vehicles {
            guard let cancelled = self.cancelled[vehicle], cancelled.client == client,
                context.instant - cancelled.instant < Self.quietTime
            else { continue }
            context.find(
                .cancelIgnored, client, .none, field: "vehicles.vehicle_ids",
                values: [("vehicle", vehicle.rawValue)],
                "\(client) opens a session for \(vehicle), which ended guidance "
                    + "\((context.instant - cancelled.instant).milliseconds / 1_000) s before")
        }
    }
}

/// LINT-CLIENT-REJECTED and LINT-VEHICLE-REJECTED.
struct RejectedRule: LintRule {
    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        guard case .message(let peer, .toPeer, .error(let error), _) = step, error.code != .ignored,
            !world.isDisturbed(peer)
        else { return }
        // LINT-PREVIEW-UNKNOWN finds it if the previews were not replaced just before.
        if error.code == .unknownReference, error.messageType == MessageType.selectPreview.rawValue { return }
        if case .client = peer {
            guard MessageType.published.contains(error.messageType), !Self.isExpected(error, world),
                LintID(error) == nil
            else { return }
        }
        let type = MessageType(rawValue: error.messageType)
        let other = "message \(error.messageType)"
        let number = error.sequence > 0 ? " \(error.sequence)" : ""
        let reason = [error.field, error.reason].filter { !$0.isEmpty }.joined(separator: " ")
        context.find(
            peer.vehicle == nil ? .clientRejected : .vehicleRejected, peer, error.session, field: error.field,
            values: [("message", type.map { "\($0)" } ?? other), ("code", "\(error.code)")],
            "\(type?.title ?? other)\(number) was rejected, \(error.code)\(reason.isEmpty ? "" : ": \(reason)")"
        )
    }

    /// Of a session that has just ended; LINT-CANCEL-IGNORED finds a client that continues.
    private static func isExpected(_ error: Rejection, _ world: LintWorld) -> Bool {
        error.code == .unknownSession && world.end(of: error.session) != nil
    }
}
