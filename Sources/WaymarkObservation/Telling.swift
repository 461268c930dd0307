internal import WaymarkCodec
package import WaymarkGateway
package import WaymarkProtocol

// What happens becomes entries.
extension ObservationHub {
    /// Adds what an event led to: first the records that changed, then what happened and what crossed, in order.
    package mutating func see(
        _ event: Gateway.Event, _ actions: ArraySlice<Gateway.Action>, of gateway: inout Gateway,
        at now: Instant
    ) {
        switch event {
        case .arrived(let connection, let hello, _, _, _): self.see(hello, on: connection, gateway, at: now)
        case .seen(let connection, let sighting): self.see(sighting, on: connection, gateway, at: now)
        case .eventRejected(let connection, _, let session, _) where !self.has(connection):
            var told = ObservedEvent(.rejected)
            told.code = ErrorCode.limitReached.rawValue
            self.append(
                told, self.scope(of: connection, session, gateway), on: connection, gateway, at: now)
        default: break
        }
        self.tellChanges(of: &gateway, at: now)
        if case .departed(let connection, let clean) = event, !self.has(connection) {
            var told = ObservedEvent(.departed)
            told.code = clean ? 1 : 0
            self.append(told, self.scope(of: connection, .none, gateway), on: connection, gateway, at: now)
            self.forgetParty(of: connection)
        }
        let crossings = gateway.takeCrossings()
        for crossing in crossings { self.see(crossing.frames, in: crossing, gateway, at: now) }
        for action in actions { self.see(action, crossings, gateway, at: now) }
        self.lastRedacted = nil
    }

    // MARK: Records

    /// Adds the records that changed.
    private mutating func tellChanges(of gateway: inout Gateway, at now: Instant) {
        let changes = gateway.takeChanges()
        guard !changes.isEmpty else { return }
        // In an order that does not depend on hashes, so that the same events lead to the same entries.
        for id in changes.clients.sorted() { self.tell(id, gateway, at: now) }
        for id in changes.sessions.sorted() { self.tell(id, &gateway, at: now) }
        for id in changes.vehicles.sorted() { self.tell(id, &gateway, at: now) }
        let requests = changes.requests.map { ($0, gateway.record(of: $0)) }
            .compactMap { ticket, record in self.told.note(ticket, record).map { ($0, record) } }
        for (key, record) in requests.sorted(by: { $0.0 < $1.0 }) {
            var records = ObservedRecords()
            if let record { records.requests = [record] } else { records.requestsGone = [key] }
            let receivers = self.receivers { $0.wants(key.vehicle, in: gateway) }
            self.append(records, to: receivers, at: now)
        }
    }

    private mutating func tell(_ id: ClientID, _ gateway: Gateway, at now: Instant) {
        let record = gateway.record(of: id)
        guard self.told.note(id, record) else { return }
        var records = ObservedRecords()
        if let record { records.clients = [record] } else { records.clientsGone = [id] }
        self.append(records, to: self.receivers { $0.wants(id) }, at: now)
    }

    private mutating func tell(_ id: SessionID, _ gateway: inout Gateway, at now: Instant) {
        let record = gateway.record(of: id)
        let client = record?.client ?? self.told.sessionClients[id]
        guard self.told.note(id, record) else { return }
        if record?.optedOut.isEmpty == false { self.noteOptOut(of: id) }
        var records = ObservedRecords()
        if let record { records.sessions = [record] } else { records.sessionsGone = [id] }
        let receivers = self.receivers { observation in
            client.map { observation.wants(id, of: $0) } ?? (observation.observe?.wantsState == true)
        }
        self.append(records, to: receivers, at: now)
    }

    private mutating func tell(_ id: VehicleID, _ gateway: inout Gateway, at now: Instant) {
        let record = gateway.record(of: id)
        guard self.told.note(id, record) else { return }
        var records = ObservedRecords()
        if let record { records.vehicles = [record] } else { records.vehiclesGone = [id] }
        let receivers = self.receivers { $0.wants(id, in: gateway) }
        self.append(records, to: receivers, at: now)
    }

    private func receivers(_ isReceiver: (Observation) -> Bool) -> ObservationSet {
        var receivers: ObservationSet = []
        for place in self.observations.indices {
            if let observation = self.observations[place], isReceiver(observation) {
                receivers.formUnion(ObservationSet(place))
            }
        }
        return receivers
    }

    private mutating func append(_ records: ObservedRecords, to receivers: ObservationSet, at now: Instant) {
        guard !receivers.isEmpty else { return }
        var records = records
        records.instant = now
        self.append(
            ObservationRing.Entry(
                type: .observedRecords, body: self.body(.observedRecords(records)), receivers: receivers))
    }

    /// The body of a message that has no number yet.
    private func body(_ message: Message) -> ArraySlice<UInt8> { self.encoder.encode(Envelope(message)).body }

    // MARK: Connections

    /// What concerns the peer of a connection.
    private mutating func scope(
        of connection: ConnectionID, _ session: SessionID, _ gateway: Gateway
    ) -> Scope {
        let party = gateway.party(connection) ?? self.parties[connection]
        if let party { self.parties[connection] = party }
        var scope = Scope(session: session)
        switch party {
        case .vehicle(let vehicle):
            scope.vehicles = [vehicle]
            if session == .none { scope.session = gateway.session(of: vehicle) ?? .none }
            scope.client = gateway.client(of: scope.session)
        case .client(let client):
            scope.client = client
            scope.isOfClient = true
        case nil: scope.isOfClient = true
        }
        return scope
    }

    private mutating func see(
        _ hello: Hello, on connection: ConnectionID, _ gateway: Gateway, at now: Instant
    ) {
        var hello = hello
        (hello.credential, hello.resumptionToken) = ([], nil)
        switch hello.role {
        case .vehicle(let vehicle): self.parties[connection] = .vehicle(vehicle.vehicle)
        case .navigation(let navigation): self.parties[connection] = .client(navigation.client)
        case .observer: return
        }
        let frame = self.encoder.encode(Envelope(.hello(hello)))
        self.append(.in, frame.bytes, frame.header, on: connection, gateway, at: now)
    }

    private mutating func see(
        _ sighting: Gateway.Sighting, on connection: ConnectionID, _ gateway: Gateway, at now: Instant
    ) {
        guard !self.has(connection) else { return }
        switch sighting {
        case .received(let frame):
            self.append(
                .in, frame.bytes, frame.header, on: connection, about: Self.vehicle(answeredBy: frame),
                gateway, at: now)
        case .rejected(let rejection):
            var told = ObservedEvent(.rejected)
            told.code = rejection.code.rawValue
            let scope = self.scope(of: connection, rejection.session, gateway)
            self.append(told, scope, on: connection, gateway, at: now)
        case .sent(let message): self.see(message, sentOn: connection, gateway, at: now)
        }
    }

    private mutating func see(
        _ message: Message, sentOn connection: ConnectionID, _ gateway: Gateway, at now: Instant
    ) {
        var message = message
        var told: ObservedEvent?
        switch message {
        case .ping, .pong: return
        case .welcome(var welcome):
            welcome.resumptionToken = ResumptionToken(high: 0, low: 0)
            message = .welcome(welcome)
        case .goodbye(let goodbye):
            told = ObservedEvent(.closing)
            told?.code = goodbye.code.rawValue
        default: break
        }
        if let told {
            let scope = self.scope(of: connection, .none, gateway)
            self.append(told, scope, on: connection, gateway, at: now)
        }
        let frame = self.encoder.encode(Envelope(message))
        self.append(.out, frame.bytes, frame.header, on: connection, gateway, at: now)
    }

    // MARK: Actions

    private mutating func see(
        _ action: Gateway.Action, _ crossings: [Crossing], _ gateway: Gateway, at now: Instant
    ) {
        switch action {
        // An admission is told before what follows from it in the same step. Its Welcome is told when the connection has sent it.
        case .admit(let connection, let welcome):
            self.append(
                ObservedEvent(welcome.isResumed ? .resumed : .admitted),
                self.scope(of: connection, .none, gateway), on: connection, gateway, at: now)
        case .publish(let audience, let frames):
            let crossing = crossings.last { $0.frames.session == frames.session }
            self.see(frames, to: audience, crossing?.audience, gateway, at: now)
        // Pings are not told.
        case .send(_, let envelope) where envelope.message.type == .ping: break
        case .send(let connection, let envelope):
            let frame = self.encoder.encode(envelope)
            var vehicle: VehicleID?
            switch envelope.message {
            case .requestOutcome(let outcome): vehicle = outcome.vehicle
            case .waypointRequest(let request): vehicle = request.vehicle
            case .destinationRequest(let request): vehicle = request.vehicle
            case .startTripRequest(let request): vehicle = request.vehicle
            case .simulateDrive(let asked): vehicle = asked.vehicle
            default: break  // About the vehicle of its connection or session.
            }
            self.append(
                .out, frame.bytes, frame.header, on: connection, about: vehicle, gateway, at: now)
        case .forward(let connection, let request, let vehicle, let session):
            let frame = Codec.frame(of: request, from: vehicle, session: session)
            self.append(
                .out, frame.bytes, frame.header, on: connection, about: vehicle, gateway, at: now)
        case .sendFrames(let connection, let frames):
            for frame in frames {
                self.append(.out, frame.bytes, frame.header, on: connection, gateway, at: now)
            }
        case .note(let note): self.append(note.observed, note.scope, on: nil, gateway, at: now)
        case .observe, .refuse, .close, .join, .leave, .purge, .purgeShares, .arm: break
        }
    }

    /// Publications of a client.
    private mutating func see(
        _ frames: PublishedFrames, in crossing: Crossing, _ gateway: Gateway, at now: Instant
    ) {
        guard frames.isOneMessage else {
            for frame in frames.single { self.see(frame, in: crossing, gateway, at: now) }
            return
        }
        guard let session = frames.session else { return }
        var told = ObservedFrames(.in, [])
        let isRejected = crossing.isRejected
        (told.connection, told.session, told.isRejected) = (crossing.connection, session, isRejected)
        var scope = Scope(session: session)
        (scope.client, scope.audience) = (crossing.audience.client, crossing.audience)
        let isSensitive = isRejected || frames.containsHeader { $0.isSensitive }
        let isShared = !isSensitive || (!isRejected && crossing.audience.sharesEverything)
        self.append(
            told, frames.bytes, scope, isSensitive: isSensitive, isShared: isShared, gateway, at: now)
    }

    /// Publications to an audience, as they are.
    private mutating func see(
        _ frames: PublishedFrames, to audience: AudienceID, _ members: CrossingAudience?, _ gateway: Gateway,
        at now: Instant
    ) {
        guard frames.isOneMessage else {
            for frame in frames.single { self.see(frame, to: audience, members, gateway, at: now) }
            return
        }
        guard let session = frames.session else { return }
        var told = ObservedFrames(.out, [])
        (told.audience, told.session) = (audience.rawValue, session)
        var scope = Scope(session: session)
        (scope.client, scope.audience) = (members?.client ?? gateway.client(of: session), members)
        self.append(
            told, frames.bytes, scope, isSensitive: frames.containsHeader { $0.isSensitive }, isShared: true,
            gateway, at: now)
    }

    /// A frame of one connection. `vehicle`: whose request it is about.
    private mutating func append(
        _ direction: ObservedFrames.Direction, _ bytes: ArraySlice<UInt8>, _ header: FrameHeader,
        on connection: ConnectionID, about vehicle: VehicleID? = nil, _ gateway: Gateway, at now: Instant
    ) {
        guard !self.has(connection) else { return }
        var told = ObservedFrames(direction, [])
        (told.connection, told.session) = (connection, header.session)
        var scope = self.scope(of: connection, header.session, gateway)
        if let vehicle, scope.isOfClient, header.session == .none {
            scope.vehicles = [vehicle]
            scope.session = gateway.session(of: vehicle) ?? .none
        }
        self.append(
            told, bytes, scope, isSensitive: header.isSensitive, isShared: true, gateway, at: now)
    }

    /// The vehicle whose request a client answers; nil if the frame is no answer.
    private static func vehicle(answeredBy frame: Frame) -> VehicleID? {
        guard frame.header.rawType == MessageType.requestAnswer.rawValue,
            case .requestAnswer(let answer)? = (try? Codec.decode(frame))?.message
        else { return nil }
        return answer.vehicle
    }

    // MARK: Entries

    /// Adds an event for those who want it. Those to whom the access rules hide vehicles are not told which ones it is about.
    private mutating func append(
        _ event: ObservedEvent, _ scope: Scope, on connection: ConnectionID?, _ gateway: Gateway,
        at now: Instant
    ) {
        var (receivers, redactedFor): (ObservationSet, ObservationSet) = ([], [])
        for place in self.observations.indices {
            guard self.wants(place, \.events, scope, gateway),
                let kinds = self.observations[place]?.observe?.kinds,
                kinds.isEmpty || kinds.contains(event.kind)
            else { continue }
            receivers.formUnion(ObservationSet(place))
            let isLimited = self.observations[place]?.isLimited == true
            if isLimited, scope.vehicles.count > 1 { redactedFor.formUnion(ObservationSet(place)) }
        }
        guard !receivers.isEmpty else { return }
        var event = event
        event.instant = now
        event.connection = connection
        event.vehicles = scope.vehicles
        event.client = scope.client
        event.session = scope.session
        var entry = ObservationRing.Entry(
            type: .observedEvent, body: self.body(.observedEvent(event)), receivers: receivers)
        if !redactedFor.isEmpty {
            event.vehicles = []
            entry.redacted = self.body(.observedEvent(event))
            entry.redactedFor = redactedFor
        }
        self.append(entry)
    }

    /// Adds frames for those who want them. `isShared`: those who may see content see these.
    private mutating func append(
        _ told: ObservedFrames, _ bytes: ArraySlice<UInt8>, _ scope: Scope, isSensitive: Bool, isShared: Bool,
        _ gateway: Gateway, at now: Instant
    ) {
        var (receivers, redactedFor): (ObservationSet, ObservationSet) = ([], [])
        for place in self.observations.indices {
            guard self.wants(place, \.frames, scope, gateway) else { continue }
            let visibility = self.observations.wish(at: place).visibility
            receivers.formUnion(ObservationSet(place))
            if visibility == .state || (visibility == .content && !isShared) {
                redactedFor.formUnion(ObservationSet(place))
            }
        }
        guard !receivers.isEmpty else { return }
        var told = told
        told.instant = now
        // If all get the redacted form, the other is not kept.
        let isPlainWanted = redactedFor != receivers
        var entry = ObservationRing.Entry(
            type: .observedFrames, body: isPlainWanted ? Codec.entry(told, bytes) : [], receivers: receivers)
        if !redactedFor.isEmpty {
            told.isRedacted = true
            entry.redacted = Codec.entry(told, self.redacted(bytes)[...])
            entry.redactedFor = redactedFor
        }
        if isSensitive { entry.sensitiveSession = scope.session }
        self.append(entry)
    }

    /// Whether an observer wants events or frames, and they concern it.
    private mutating func wants(
        _ place: Int, _ kind: KeyPath<ObservationTable.Wish, Bool>, _ scope: Scope, _ gateway: Gateway
    ) -> Bool {
        let wish = self.observations.wish(at: place)
        guard wish[keyPath: kind] else { return false }
        return wish.isUnlimited || self.observations[place]?.concerns(scope, in: gateway) == true
    }

    /// Frames without places. Most leave the gateway as they came.
    private mutating func redacted(_ frames: ArraySlice<UInt8>) -> [UInt8] {
        if let last = self.lastRedacted, last.frames == frames { return last.redacted }
        let redacted = Codec.redacted(frames)
        self.lastRedacted = (frames, redacted)
        return redacted
    }
}

extension FrameHeader {
    /// It may have what a trip or a vehicle's owner does not share.
    fileprivate var isSensitive: Bool {
        // Why not by the type: this is asked for each frame, and finding the type takes longer.
        let type = self.rawType
        return type == MessageType.startGuidance.rawValue || type == MessageType.resumeGuidance.rawValue
            || type == MessageType.addRouteSegments.rawValue || type == MessageType.shareDestination.rawValue
    }
}

extension PublishedFrames {
    /// They are told together: unless they are long.
    fileprivate var isOneMessage: Bool {
        self.count == 1 || self.bytes.count <= ObservationHub.togetherBytesMax
    }
}
