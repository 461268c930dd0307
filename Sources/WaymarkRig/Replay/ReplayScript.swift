internal import WaymarkCodec
internal import WaymarkHistory
internal import WaymarkModel
internal import WaymarkProtocol

/// What one peer of a recording does, in order.
struct ReplayScript: Sendable {
    /// What must have arrived before a frame is sent, because it had in the recording.
    enum Need: Sendable, Hashable, CustomStringConvertible {
        case transport
        case welcome
        /// The gateway's id of a session of the recording.
        case session(SessionID)
        case request(Identifier, VehicleID?)
        case prompt(Identifier)
        case share(Identifier)
        case alert(UInt32)

        var description: String {
            switch self {
            case .transport: "a connection"
            case .welcome: "Welcome"
            case .session(let id): "the session that is \(id.rawValue) in the recording"
            case .request(let id, let vehicle): "the request \(id)\(vehicle.map { " of \($0)" } ?? "")"
            case .prompt(let id): "Prompt \(id)"
            case .share(let id): "ShareDestination \(id)"
            case .alert(let id): "ShowAlert \(id)"
            }
        }
    }

    enum Action: Sendable {
        /// `leavesOpen`: the connection before it is left to the gateway.
        case connect(leavesOpen: Bool)
        /// Hello, with or without the newest token.
        case hello(Hello, resumes: Bool)
        case send(Frame)
        /// A frame whose content nothing can read.
        case sendUnreadable(FrameHeader)
        case leave
    }

    struct Item: Sendable {
        /// Its place among everything of the recording.
        let order: Int
        /// Since the recording began.
        let instant: Instant
        let action: Action
        var needs: [Need] = []
    }

    private(set) var items: [Item] = []
    /// The sessions of an endpoint, in the order in which it heard of them.
    private(set) var sessions: [SessionID] = []
    /// The sessions that a client opened under each name.
    private(set) var openings: [Identifier: [SessionID]] = [:]
    /// Connections on which the gateway welcomed the peer.
    private(set) var admitted: Set<Int> = []
    /// Connections in which the peer keeps silent.
    private(set) var silent: Set<Int> = []
    /// For each connection, the places in the recording of the frames that it received and that are counted.
    private var received: [[Int]] = []
    private var count = 0
    private var wasSuperseded = false

    /// - Throws: ``ReplayError`` if something that the peer must send is not in the recording.
    init(_ conversation: RecordedConversation, of peer: PeerID) throws(ReplayError) {
        var known: Set<Need> = []
        for connection in conversation.connections where connection.peer == peer {
            if connection.isSilent { self.silent.insert(self.count) }
            if connection.welcome != nil { self.admitted.insert(self.count) }
            self.count += 1
            try self.add(connection, &known)
            self.wasSuperseded = connection.isSuperseded
        }
    }

    private mutating func add(
        _ connection: RecordedConversation.Connection, _ known: inout Set<Need>
    ) throws(ReplayError) {
        known.remove(.welcome)
        self.received.append(
            connection.lines.compactMap { line in
                guard case .received(let crossed) = line.kind, Self.isCounted(crossed) else { return nil }
                return line.order
            })
        var isHelloDue = true
        for line in connection.lines {
            switch line.kind {
            case .received(let crossed): self.learn(crossed, &known)
            case .sent where isHelloDue:
                isHelloDue = false
                self.items.append(
                    Item(
                        order: line.order, instant: line.instant,
                        action: .connect(leavesOpen: self.wasSuperseded)))
                self.items.append(
                    Item(
                        order: line.order, instant: line.instant,
                        action: .hello(connection.hello, resumes: connection.isResumed), needs: [.transport]))
            case .sent(let frame):
                let type = frame.header.type
                if type == .ping || type == .pong { guard connection.isSilent else { continue } }
                let crossed = CrossedFrame(frame, of: connection.peer, .toGateway, sent: line.instant)
                if line.isRedacted, Self.hasPlaces(crossed) {
                    throw .redacted(connection.peer, type?.title ?? "message")
                }
                self.items.append(
                    Item(
                        order: line.order, instant: line.instant, action: .send(frame),
                        needs: Self.needs(of: crossed).filter(known.contains)))
            case .lostFrame(let header):
                self.items.append(
                    Item(
                        order: line.order, instant: line.instant, action: .sendUnreadable(header),
                        needs: [.welcome, .session(header.session)].filter(known.contains)))
            case .left:
                guard !connection.isSuperseded || line.order == connection.lines.last?.order else { continue }
                self.items.append(Item(order: line.order, instant: line.instant, action: .leave))
            }
        }
    }

    // MARK: What it receives

    /// How many frames a connection had received before a place of the recording.
    func receivedCount(before order: Int, on connection: Int) -> Int {
        guard self.received.indices.contains(connection) else { return 0 }
        return self.received[connection].prefix { $0 < order }.count
    }

    /// Not what comes in another number each time, or when a connection is over.
    static func isCounted(_ crossed: CrossedFrame) -> Bool {
        switch crossed.frame.header.type {
        case .ping, .pong, .acknowledgement, .goodbye: false
        default: true
        }
    }

    // MARK: What a frame needs

    private mutating func learn(_ crossed: CrossedFrame, _ known: inout Set<Need>) {
        switch crossed.message {
        case .sessionOpened(let opened):
            self.openings[opened.requestID, default: []].append(opened.session)
        case .snapshotBegin:
            let session = crossed.frame.header.session
            if !self.sessions.contains(session) { self.sessions.append(session) }
        default: break
        }
        if let need = Self.need(metBy: crossed) { known.insert(need) }
        if case .snapshotBegin? = crossed.message { known.insert(.session(crossed.frame.header.session)) }
        if case .sessionOpened(let opened)? = crossed.message { known.insert(.session(opened.session)) }
    }

    /// What a frame of the gateway is, that later frames need.
    static func need(metBy crossed: CrossedFrame) -> Need? {
        switch crossed.message {
        case .welcome: .welcome
        case .waypointRequest(let request): .request(request.requestID, request.vehicle)
        case .destinationRequest(let request): .request(request.requestID, request.vehicle)
        case .startTripRequest(let request): .request(request.requestID, request.vehicle)
        case .prompt(let prompt): .prompt(prompt.requestID)
        case .publication(.shareDestination(let id, _, _)): .share(Identifier(id))
        case .publication(.showAlert(let alert)): .alert(alert.id)
        default: nil
        }
    }

    private static func needs(of crossed: CrossedFrame) -> [Need] {
        var needs: [Need] = [.welcome]
        if crossed.frame.header.session != .none { needs.append(.session(crossed.frame.header.session)) }
        switch crossed.message {
        case .requestAnswer(let answer): needs.append(.request(answer.requestID, answer.vehicle))
        case .promptAnswer(let answer): needs.append(.prompt(answer.requestID))
        case .destinationShareAnswer(let answer): needs.append(.share(answer.shareID))
        case .alertResponse(let response): needs.append(.alert(response.alert))
        default: break
        }
        return needs
    }

    /// Whether something of a frame may be hidden from observers. What an observer is not told of a connection's own messages does
    /// not matter.
    private static func hasPlaces(_ crossed: CrossedFrame) -> Bool {
        switch crossed.frame.header.type {
        case .hello, .goodbye, .openSession, .receipt, .withdrawRequest, .requestAnswer, .promptAnswer,
            .cancelNavigation, .allowNavigation, .updateRouteSource, .selectPreview, .startTripRequest,
            .vehicleSettings, .zoomCluster, .alertResponse, .destinationShareAnswer, .simulateDrive,
            .destinationShareWanted, .updateRouteFeedback,
            .upcomingManeuvers,
            .currentLaneGuidance,
            .updateManeuverState, .updateTripEstimates, .updateManeuverEstimates, .currentRouteSegment,
            .dismissAlert, .finishGuidance, .cancelGuidance, .ping, .pong:
            false
        default: true
        }
    }
}
