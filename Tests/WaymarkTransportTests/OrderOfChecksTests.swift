import NIOCore
import NIOEmbedded
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

/// The order of checks in Docs/protocol.md, tested on the real handler: type and state, role, size, body.
@Suite(.timeLimit(.minutes(10))) struct OrderOfChecksTests {
    enum State: CaseIterable {
        case connected, client, endpoint
        /// An endpoint whose Hello is not answered: what follows is checked after the Welcome.
        case waiting
    }

    /// The effect of a frame.
    enum End: Equatable {
        /// The connection stays open.
        case open(refused: Bool)
        case closed(CloseCode)
        /// The gateway closes without a Goodbye, because the peer sent one.
        case left
    }

    /// The types that a peer of each role may send, apart from publications.
    static let clients: Set<MessageType> = [.openSession, .requestAnswer]
    static let endpoints: Set<MessageType> = [
        .receipt, .waypointRequest, .destinationRequest, .withdrawRequest, .promptAnswer, .cancelNavigation,
        .allowNavigation, .updateRouteSource, .vehicleSettings, .zoomCluster, .alertResponse,
        .destinationShareAnswer, .vehicleExtension, .selectPreview, .startTripRequest, .simulateDrive,
        .destinationShareWanted, .updateRouteFeedback,
    ]
    static let peers: Set<MessageType> = [.ping, .pong, .goodbye]

    static func isAllowed(_ type: MessageType, in state: State) -> Bool {
        switch state {
        case .connected: type == .hello || type == .goodbye
        case .client:
            Self.peers.contains(type) || Self.clients.contains(type)
                || MessageType.published.contains(type.rawValue)
        case .endpoint, .waiting: Self.peers.contains(type) || Self.endpoints.contains(type)
        }
    }

    static func expected(_ type: MessageType, in state: State, isGood: Bool) -> End {
        guard Self.isAllowed(type, in: state) else { return .closed(.unexpectedMessage) }
        guard isGood else {
            return state == .connected ? .closed(.handshakeInvalid) : .open(refused: true)
        }
        return type == .goodbye ? .left : .open(refused: false)
    }

    /// Sends a frame in a state, and returns its effect.
    static func end(of frame: [UInt8], in state: State) throws -> End {
        let bench = Bench()
        let peer: Peer
        switch state {
        case .connected: peer = try bench.connect()
        case .waiting: peer = try bench.connect()
        case .client:
            peer = try bench.connect()
            try peer.send(.hello(Bench.navigationHello("app")))
        case .endpoint: peer = try bench.vehicle("car")
        }
        _ = try peer.receive()
        // In the same read as the Hello, before the Welcome.
        let hello = Array(Codec.encode(Envelope(.hello(Bench.vehicleHello("car")))).bytes)
        try peer.send(state == .waiting ? hello + frame : frame)
        // Then input that waits has its turn.
        bench.loop.advanceTime(by: .milliseconds(1))
        let answers = try peer.receive().map(\.message)
        if case .goodbye(let goodbye)? = answers.last { return .closed(goodbye.code) }
        if peer.isOutputClosed { return .left }
        let codes = answers.compactMap { if case .error(let rejection) = $0 { rejection.code } else { nil } }
        return .open(refused: codes.contains(.malformed))
    }

    static func frame(
        _ type: UInt16, _ body: [UInt8], flags: FrameHeader.Flags = []
    ) -> [UInt8] {
        Array(Frame(header: FrameHeader(type: type, flags: flags, sequence: 1), body: body).bytes)
    }

    static let badBody: [UInt8] = [0xFF, 0xFF, 0xFF]

    /// A valid message of each type that a peer may send.
    static let good: [MessageType: Message] = {
        let (id, route) = (ManeuverID(rawValue: 1), RouteInformation())
        let publications: [Publication] = [
            .tripPreviews([], selected: ""), .startGuidance(trip, generation: 1, route), .updateTrip(trip),
            .addManeuvers([], generation: 1), .addLaneGuidances([], generation: 1),
            .addRouteSegments([], generation: 1), .upcomingManeuvers([], generation: 1),
            .currentLaneGuidance(nil, generation: 1), .currentRoadName([]),
            .maneuverState(.continue, generation: 1), .tripEstimates(estimates, .default),
            .speedLimit(SpeedLimit(80, .kilometersPerHour), next: nil),
            .maneuverEstimates(id, estimates, generation: 1), .currentRouteSegment("s", generation: 1),
            .pauseGuidance(.arrived, description: []), .resumeGuidance(generation: 1, .unknown, nil),
            .showAlert(NavigationAlert(id: 1, titleVariants: ["x"])), .dismissAlert(1, .timeout),
            .shareDestination(shareID: "s", waypoint), .finishGuidance, .cancelGuidance,
            .publishExtension(PublishedExtension(name: tyres, content: [])),
        ]
        let vehicle = VehicleID(unchecked: "car")
        let messages: [Message] = [
            .hello(Bench.vehicleHello("car")), .goodbye(Goodbye(.normal)), .ping(nonce: 1), .pong(nonce: 1),
            .openSession(OpenSession(requestID: "r", vehicles: .vehicles([vehicle]))),
            .requestAnswer(RequestAnswer(requestID: "r", vehicle: vehicle, answer: .accept)),
            .receipt(Receipt(receivedSequence: 0, shownSequence: 0)),
            .waypointRequest(WaypointRequest(requestID: "w", waypoint: waypoint)),
            .destinationRequest(DestinationRequest(requestID: "d", destination: waypoint)),
            .withdrawRequest(WithdrawRequest(requestID: "w")),
            .promptAnswer(PromptAnswer(requestID: "w", isAccepted: true)), .cancelNavigation(.userStopped),
            .allowNavigation, .updateRouteSource(UpdateRouteSource(routeSource: .vehicle)),
            .vehicleSettings(VehicleSettings()), .zoomCluster(ZoomCluster(direction: .in)),
            .alertResponse(AlertResponse(alert: 1, response: .dismissed(.timeout))),
            .destinationShareAnswer(DestinationShareAnswer(shareID: "s", outcome: .accepted)),
            .vehicleExtension(VehicleExtension(name: tyres, content: [])),
            .selectPreview(SelectPreview(trip: "t")),
            .startTripRequest(StartTripRequest(requestID: "s", trip: "t")),
            .simulateDrive(SimulateDrive(.start)),
            .destinationShareWanted(DestinationShareWanted()),
            .updateRouteFeedback(UpdateRouteFeedback(RouteFeedback(generation: 1))),
        ]
        return Dictionary(
            uniqueKeysWithValues: (messages + publications.map { .publication($0) }).map { ($0.type, $0) })
    }()
    static let tyres = ExtensionName(unchecked: "org.example.tyres")
    static let estimates = TravelEstimates(distanceRemaining: .meters(1), timeRemaining: .seconds(1))

    @Test(arguments: MessageType.allCases)
    func `state and role are checked before the body`(_ type: MessageType) throws {
        for state in State.allCases {
            let good = Self.good[type].map { Array(Codec.encode(Envelope($0, sequence: 1)).bytes) }
            #expect(good != nil || State.allCases.allSatisfy { !Self.isAllowed(type, in: $0) })
            let goodEnd = try Self.end(of: good ?? Self.frame(type.rawValue, []), in: state)
            #expect(goodEnd == Self.expected(type, in: state, isGood: true), "\(type) in \(state)")
            let badEnd = try Self.end(of: Self.frame(type.rawValue, Self.badBody), in: state)
            #expect(badEnd == Self.expected(type, in: state, isGood: false), "bad \(type) in \(state)")
        }
    }

    @Test(arguments: MessageType.allCases)
    func `state and role are checked before the size`(_ type: MessageType) throws {
        for state in State.allCases {
            let long = BadBytesTests.header(type: type.rawValue, length: 1 << 20)
            let code: CloseCode = Self.isAllowed(type, in: state) ? .frameTooLarge : .unexpectedMessage
            #expect(try Self.end(of: long, in: state) == .closed(code), "\(type) in \(state)")
        }
    }

    @Test(arguments: [UInt16(0x00EE), 0x01FE, 0x02EE, 0x0EEE])
    func `an unknown type is ignored in an active session if it is skippable`(_ type: UInt16) throws {
        for state in State.allCases {
            let isActive = state != .connected
            for body in [[], Self.badBody] {
                let skippable = Self.frame(type, body, flags: .skippable)
                #expect(
                    try Self.end(of: skippable, in: state)
                        == (isActive ? .open(refused: false) : .closed(.unexpectedMessage)),
                    "\(type) in \(state)")
                let other = try Self.end(of: Self.frame(type, body), in: state)
                #expect(other == .closed(.unknownMessageType), "\(type) in \(state)")
            }
        }
    }

    @Test func `only rejected bodies count towards TOO_MANY_ERRORS`() throws {
        let bench = Bench { $0.connection.errorsMax = 3 }
        let (client, session) = try bench.guide(["car"])
        // Rejections for the session, the number and the state do not count.
        for _ in 0..<20 {
            let road = Message.publication(.currentRoadName(["x"]))
            try client.send(road, session: SessionID(session.rawValue + 1), sequence: 1)
            try client.send(road, session: session, sequence: 9)
        }
        try client.send(
            .publication(.dismissAlert(1, .timeout)), session: session, sequence: 1)
        let codes = try client.receive().map { envelope -> ErrorCode? in
            if case .error(let rejection) = envelope.message { rejection.code } else { nil }
        }
        #expect(Set(codes) == [.unknownSession, .sequenceGap, .wrongState] && codes.count == 41)
        for _ in 0..<3 { try client.send(Self.frame(0x0108, Self.badBody)) }
        #expect(try client.receive().map(\.message.type) == [.error, .error, .error])
        // The count restarts after its time window.
        bench.loop.advanceTime(by: .milliseconds(10_100))
        _ = try client.receive()
        for _ in 0..<3 { try client.send(Self.frame(0x0108, Self.badBody)) }
        #expect(try client.receive().map(\.message.type) == [.error, .error, .error])
        try client.send(Self.frame(0x0108, Self.badBody))
        #expect(try client.receive().map(\.message.type) == [.error, .goodbye])
    }

    @Test func `a rejected body consumes its sequence number if it is the next one`() throws {
        let bench = Bench()
        let (client, session) = try bench.guide(["car"])
        func refusal(_ sequence: UInt64) throws -> ErrorCode? {
            let header = FrameHeader(type: 0x0108, session: session, sequence: sequence)
            try client.send(Array(Frame(header: header, body: Self.badBody).bytes))
            return try Self.onlyError(client)
        }
        func publish(_ sequence: UInt64) throws -> ErrorCode? {
            try client.send(
                .publication(.tripPreviews([], selected: "")), session: session, sequence: sequence)
            return try Self.onlyError(client)
        }
        #expect(try refusal(1) == .malformed)
        #expect(try publish(1) == .sequenceGap)
        // A number out of order is not consumed, even if the body is rejected.
        #expect(try refusal(7) == .malformed)
        #expect(try publish(8) == .sequenceGap)
        #expect(try publish(2) == nil)
        #expect(try refusal(1) == .malformed)
        #expect(try publish(3) == nil)
    }

    private static func onlyError(_ peer: Peer) throws -> ErrorCode? {
        for case .error(let rejection) in try peer.receive().map(\.message) { return rejection.code }
        return nil
    }

    @Test
    func `the header's number and a client's session id are ignored in messages that are not publications`()
        throws
    {
        let bench = Bench()
        let client = try bench.connect()
        try client.send(.hello(Bench.navigationHello("app")))
        _ = try client.receive()
        let opening = OpenSession(requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "car")]))
        try client.send(.openSession(opening), session: SessionID(77), sequence: 5)
        try client.send(.ping(nonce: 1), session: SessionID(77), sequence: 5)
        #expect(try client.receive().map(\.message.type) == [.sessionOpened, .pong])
        let vehicle = try bench.vehicle("car")
        try vehicle.send(.ping(nonce: 1), session: SessionID(77), sequence: 5)
        try vehicle.send(.cancelNavigation(.ownNavigationStarted), sequence: 5)
        #expect(try vehicle.receive().map(\.message.type) == [.pong, .sessionEnded])
    }
}
