import ListeningSockets
import Logging
import NIOCore
import NIOEmbedded
import Testing
import WaymarkAccess
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

@Suite(.timeLimit(.minutes(10))) struct HandshakeTests {
    @Test func `a peer that sends nothing gets a Goodbye after the handshake timeout`() throws {
        let bench = Bench { $0.connection.handshakeTimeout = .seconds(5) }
        let peer = try bench.connect()
        bench.loop.advanceTime(by: .milliseconds(4_999))
        #expect(try peer.receive().isEmpty)
        #expect(!peer.isOutputClosed)
        bench.loop.advanceTime(by: .milliseconds(1))
        #expect(try peer.goodbye()?.code == .handshakeTimeout)
        #expect(peer.isOutputClosed)
    }

    @Test func `a partial Hello does not stop the handshake timeout`() throws {
        let bench = Bench()
        let peer = try bench.connect()
        let hello = Codec.encode(Envelope(.hello(Bench.vehicleHello("car")))).bytes
        try peer.send(Array(hello.dropLast()))
        bench.loop.advanceTime(by: .seconds(5))
        #expect(try peer.goodbye()?.code == .handshakeTimeout)
    }

    @Test func `a role that the listener does not allow is refused`() throws {
        let peer = try Bench().connect(.init(roles: [.navigation]))
        try peer.send(.hello(Bench.vehicleHello("car")))
        #expect(try peer.goodbye()?.code == .roleNotAllowed)
        #expect(peer.isOutputClosed)
    }

    @Test func `only users that a rule allows may be navigation clients`() throws {
        let policy = ListenerPolicy(roles: [.vehicle, .navigation])
        let origin = AccessOrigin(file: "f", line: 1)
        var clients = AccessRule(allow: true, [.navigation], origin: origin)
        clients.subjects = .users([33])
        var rules = Gateway.Policy()
        rules.access = AccessPolicy(rules: [clients, AccessRule(allow: true, [.vehicle], origin: origin)])
        let sources: [(PeerSource, CloseCode?)] = [
            (.user(33), nil), (.user(34), .notAuthorized), (.host("127.0.0.1"), .notAuthorized),
            (.unknown, .notAuthorized),
        ]
        for (source, code) in sources {
            let bench = Bench(policy: rules)
            let client = try bench.connect(from: source, policy)
            try client.send(.hello(Bench.navigationHello("app")))
            #expect(try client.goodbye()?.code == code, "\(source)")
            let vehicle = try bench.connect(from: source, policy)
            try vehicle.send(.hello(Bench.vehicleHello("car")))
            #expect(try vehicle.goodbye() == nil, "\(source)")
            #expect(vehicle.isOpen)
        }
    }

    @Test func `a peer without the listener's key is refused`() throws {
        var policy = ListenerPolicy(roles: [.vehicle])
        policy.keys = ["other", "secret", "third"].map { ListenerKey(name: $0, Array($0.utf8)) }
        for (credential, code) in [
            ("secret", nil), ("other", nil), ("third", nil), ("secreu", CloseCode.notAuthenticated),
            ("secre", .notAuthenticated),
            ("", .notAuthenticated),
        ] {
            let peer = try Bench().connect(from: .host("10.0.0.1"), policy)
            var hello = Bench.vehicleHello("car")
            hello.credential = Credential(Array(credential.utf8))
            try peer.send(.hello(hello))
            #expect(try peer.goodbye()?.code == code, "\(credential)")
        }
    }

    @Test func `connections are limited in total and per user`() throws {
        let bench = Bench {
            $0.connections.connectionsMax = 3
            $0.connections.connectionsPerUserMax = 2
        }
        let first = try bench.connect(from: .user(1))
        let second = try bench.connect(from: .user(1))
        let third = try bench.connect(from: .user(1))
        let goodbye = try third.goodbye()
        #expect(goodbye?.code == .tooManyConnections)
        #expect(goodbye?.limit == ReachedLimit("connections_per_user_max", 2))
        #expect(third.isOutputClosed)
        let fourth = try bench.connect(from: .user(2))
        #expect(try bench.connect(from: .user(2)).goodbye()?.code == .tooManyConnections)
        for peer in [first, second, fourth] { #expect(try peer.receive().isEmpty) }
        try first.close()
        let fifth = try bench.connect(from: .user(1))
        #expect(try fifth.receive().isEmpty)
        #expect(fifth.isOpen)
    }

    @Test func `a refused peer that does not leave is closed after the drain time`() throws {
        let bench = Bench {
            $0.connections.connectionsMax = 0
            $0.connection.drainTimeout = .seconds(2)
        }
        let peer = try bench.connect()
        try peer.send(Array(repeating: 0xFF, count: 100_000))
        bench.loop.advanceTime(by: .milliseconds(1_999))
        #expect(peer.isOpen)
        bench.loop.advanceTime(by: .milliseconds(1))
        #expect(!peer.isOpen)
    }

    @Test func `above the limit of refusals a connection is closed without a Goodbye`() throws {
        let bench = Bench {
            $0.connections.connectionsMax = 0
            $0.refusalsMax = 2
        }
        let refused = try [bench.connect(), bench.connect()]
        #expect(throws: (any Error).self) { try bench.connect() }
        for peer in refused { #expect(try peer.goodbye()?.code == .tooManyConnections) }
        bench.loop.advanceTime(by: .seconds(2))
        bench.loop.run()
        #expect(try bench.connect().goodbye()?.code == .tooManyConnections)
    }
}

@Suite(.timeLimit(.minutes(10))) struct BadBytesTests {
    /// Bytes that a stranger sends, and the close code that it gets.
    static let garbage: [(name: String, bytes: [UInt8], code: CloseCode)] = [
        ("another protocol", Array("GET / HTTP/1.1\r\n\r\n".utf8), .badMagic),
        ("zeroes", Array(repeating: 0, count: 1_000), .badMagic),
        ("another major version", [0x57, 0x4D, 2], .unsupportedVersion),
        ("a frame that is too long", header(type: 1, length: 1 << 20), .frameTooLarge),
        ("the longest length", header(type: 1, length: .max), .frameTooLarge),
        ("an unknown type", header(type: 0x0EEE, length: 0), .unknownMessageType),
        ("an unknown skippable type", header(type: 0x0EEE, length: 0, flags: 1), .unexpectedMessage),
        ("a publication", header(type: 0x0108, length: 0), .unexpectedMessage),
        ("an unknown publication", header(type: 0x01FE, length: 0), .unknownMessageType),
        (
            "an unknown skippable publication", header(type: 0x01FE, length: 0, flags: 1),
            .unexpectedMessage
        ),
        ("an empty Hello", header(type: 1, length: 0), .handshakeInvalid),
        ("a Hello that is not protobuf", header(type: 1, length: 3) + [0xFF, 0xFF, 0xFF], .handshakeInvalid),
        (
            "a Hello in bad UTF-8", header(type: 1, length: 5) + [0x22, 3, 0xFF, 0xFE, 0xFD],
            .handshakeInvalid
        ),
        ("a Ping", header(type: 4, length: 0), .unexpectedMessage),
    ]

    static func header(type: UInt16, length: UInt32, flags: UInt8 = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        FrameHeader(type: type, flags: .init(rawValue: flags), bodyLength: length).write(to: &bytes)
        return bytes
    }

    @Test(arguments: garbage.indices)
    func `garbage is answered with the right close code and does not affect other peers`(_ index: Int) throws
    {
        let (name, bytes, code) = Self.garbage[index]
        let bench = Bench()
        let vehicle = try bench.vehicle("car")
        let (client, session) = try bench.guide(["car"])
        for piece in [bytes.count, 1, 7] {
            let stranger = try bench.connect(from: .user(2_000))
            for start in stride(from: 0, to: bytes.count, by: piece) {
                try stranger.send(Array(bytes[start..<min(start + piece, bytes.count)]))
            }
            try stranger.send(Array(repeating: 0x57, count: 10_000))
            #expect(try stranger.goodbye()?.code == code, "\(name) by \(piece)")
            #expect(stranger.isOutputClosed)
        }
        try client.send(
            .publication(.tripPreviews([], selected: "")), session: session, sequence: 1)
        #expect(
            try vehicle.receive().contains { $0.message == .publication(.tripPreviews([], selected: "")) })
    }

    @Test func `a publication from a vehicle is refused`() throws {
        let bench = Bench()
        let vehicle = try bench.vehicle("car")
        try vehicle.send(Self.header(type: 0x0108, length: 0))
        #expect(try vehicle.goodbye()?.code == .unexpectedMessage)
    }

    @Test func `an unknown publication reaches vehicles unchanged`() throws {
        let bench = Bench()
        let vehicle = try bench.vehicle("car")
        let (client, session) = try bench.guide(["car"])
        try client.startGuidance(session)
        _ = try vehicle.receive()
        let frame = Frame(
            header: FrameHeader(type: 0x01FE, flags: .skippable, session: session, sequence: 2),
            body: [1, 2, 3])
        try client.send(Array(frame.bytes))
        #expect(try vehicle.receiveFrames() == [frame])
        #expect(try client.receive().isEmpty)
    }

    @Test
    func `a rejected publication gets an error, consumes its number, and counts towards TOO_MANY_ERRORS`()
        throws
    {
        let bench = Bench { $0.connection.errorsMax = 1 }
        let (client, session) = try bench.guide(["car"])
        let bad = Frame(
            header: FrameHeader(type: 0x0108, session: session, sequence: 1), body: [0xFF, 0xFF])
        try client.send(Array(bad.bytes))
        let answers = try client.receive().map(\.message)
        guard case .error(let rejection)? = answers.first, answers.count == 1 else {
            throw UnexpectedResult(got: "\(answers)")
        }
        #expect(rejection.sequence == 1)
        // Number 1 is consumed: 2 is next.
        try client.send(.publication(.tripPreviews([], selected: "")), session: session, sequence: 2)
        #expect(try client.receive().isEmpty)
        try client.send(Array(bad.bytes) + Array(bad.bytes) + Array(bad.bytes))
        let last = try client.receive().map(\.message)
        guard case .error? = last.first, case .goodbye(let goodbye)? = last.last, last.count == 2 else {
            throw UnexpectedResult(got: "\(last)")
        }
        #expect(goodbye.code == .tooManyErrors)
    }

    @Test func `a frame over the agreed length is refused by its header`() throws {
        let bench = Bench { $0.connection.frameBytesMax = 8_192 }
        let vehicle = try bench.vehicle("car")
        // Longer than a Hello may be, exactly as long as agreed.
        try vehicle.send(Self.header(type: 0x0EEE, length: 8_192 - 24, flags: 1))
        try vehicle.send(Array(repeating: 0, count: 8_192 - 24))
        #expect(try vehicle.receive().isEmpty)
        #expect(!vehicle.isOutputClosed)
        try vehicle.send(Self.header(type: 4, length: 8_192 - 24 + 1))
        let goodbye = try vehicle.goodbye()
        #expect(goodbye?.code == .frameTooLarge)
        #expect(goodbye?.limit == ReachedLimit("frame_bytes_max", 8_192))
    }
}

let waypoint = Waypoint(center: Coordinate(latitude: 47, longitude: 9), nameVariants: ["Here"])
let trip = Trip(id: "t", origin: waypoint, destination: waypoint)

@Suite(.timeLimit(.minutes(10))) struct EndingTests {
    @Test func `after a Goodbye input is discarded until the peer closes or the drain timeout passes`() throws
    {
        let bench = Bench { $0.connection.drainTimeout = .seconds(2) }
        let peer = try bench.connect()
        try peer.send(Array(repeating: 0, count: 100))
        #expect(try peer.goodbye()?.code == .badMagic)
        #expect(peer.isOutputClosed)
        #expect(peer.isOpen, "closed at once: the Goodbye would be lost")
        for _ in 0..<10 { try peer.send(Array(repeating: 1, count: 100_000)) }
        #expect(try peer.receive().isEmpty)
        bench.loop.advanceTime(by: .milliseconds(1_999))
        #expect(peer.isOpen)
        bench.loop.advanceTime(by: .milliseconds(1))
        #expect(!peer.isOpen)
    }

    @Test func `a peer that stops answering is disconnected`() throws {
        let bench = Bench()
        let silent = try bench.vehicle("silent", keepaliveMilliseconds: 1_000)
        let alive = try bench.vehicle("alive", keepaliveMilliseconds: 1_000)
        for second in 1...3 {
            bench.loop.advanceTime(by: .seconds(1))
            for case .ping(let nonce, _) in try alive.receive().map(\.message) {
                try alive.send(.pong(nonce: nonce))
            }
            #expect(silent.isOutputClosed == (second == 3))
        }
        #expect(try silent.receive().map(\.message.type) == [.ping, .ping, .goodbye])
        #expect(!alive.isOutputClosed)
    }

    @Test func `a slow reader is disconnected and does not delay other peers`() throws {
        let bench = Bench { $0.outbox.slowConsumerTimeout = .seconds(30) }
        let slow = try bench.vehicle("car", endpoint: "slow")
        let quick = try bench.vehicle("car", endpoint: "quick")
        let (client, session) = try bench.guide(["car"])
        try client.startGuidance(session)
        for peer in [slow, quick] { _ = try peer.receive() }
        slow.setReading(false)
        for number in UInt64(2)...50 {
            try client.send(.publication(.currentRoadName(["\(number)"])), session: session, sequence: number)
        }
        #expect(try quick.roadNames() == (2...50).map { "\($0)" })
        #expect(try slow.receive().isEmpty)
        // It reads again: after the frame that was in transit it gets only the newest value.
        slow.setReading(true)
        #expect(try slow.roadNames() == ["2", "50"])
        slow.setReading(false)
        bench.loop.advanceTime(by: .seconds(10))
        try client.send(.publication(.currentRoadName(["51"])), session: session, sequence: 51)
        for _ in 0..<30 {
            #expect(!slow.isOutputClosed)
            bench.loop.advanceTime(by: .seconds(1))
            for peer in [slow, quick, client] { try peer.send(.ping(nonce: 1)) }
        }
        slow.setReading(true)
        #expect(try slow.goodbye()?.code == .slowConsumer)
        #expect(slow.isOutputClosed)
        #expect(try quick.roadNames() == ["51"])
        #expect(!quick.isOutputClosed)
    }

    @Test func `an endpoint is disconnected when too many bytes wait for it`() throws {
        let bench = Bench { $0.outbox.bytesMax = 65_536 }
        let slow = try bench.vehicle("car")
        let (client, session) = try bench.guide(["car"])
        slow.setReading(false)
        let maneuver = Maneuver(
            id: ManeuverID(rawValue: 1), type: .leftTurn,
            instructionVariants: [String(repeating: "x", count: 500)])
        try client.startGuidance(session)
        var sequence: UInt64 = 2
        while bench.log.lines(.warning).isEmpty, sequence < 1_000 {
            var next = maneuver
            next.id = ManeuverID(rawValue: UInt32(sequence))
            try client.send(
                .publication(.addManeuvers([next], generation: 1)), session: session, sequence: sequence)
            sequence += 1
        }
        slow.setReading(true)
        #expect(try slow.goodbye()?.code == .slowConsumer)
        #expect((100...200).contains(sequence), "closed at \(sequence)")
    }

    @Test func `waiting frames of a cancelled session are dropped`() throws {
        let bench = Bench()
        let slow = try bench.vehicle("car", endpoint: "slow")
        let other = try bench.vehicle("car", endpoint: "other")
        let (client, session) = try bench.guide(["car"])
        try client.startGuidance(session)
        _ = try slow.receive()
        slow.setReading(false)
        for (sequence, name) in zip(UInt64(2)..., ["in transit", "dropped"]) {
            try client.send(.publication(.currentRoadName([name])), session: session, sequence: sequence)
        }
        try other.send(.cancelNavigation(.userStopped))
        try client.send(.publication(.currentRoadName(["never"])), session: session, sequence: 4)
        slow.setReading(true)
        let after = try slow.receive()
        #expect(after.map(\.message.type) == [.currentRoadName, .sessionEnded])
        #expect(after.first?.message == .publication(.currentRoadName(["in transit"])))
    }

    @Test
    func `draining sends a Goodbye, refuses new peers with it, and ends when all connections are closed`()
        throws
    {
        let bench = Bench()
        let vehicle = try bench.vehicle("car")
        let stranger = try bench.connect()
        let goodbye = Goodbye(.shuttingDown, reason: "down", reconnectAfterMilliseconds: 1_000)
        let drained = bench.driver.drain(goodbye, within: .seconds(5))
        bench.loop.run()
        for peer in [vehicle, stranger] { #expect(try peer.goodbye() == goodbye) }
        let late = try bench.connect()
        #expect(try late.goodbye() == goodbye)
        let cutCount = NIOLoopBoundBox<Int?>(nil, eventLoop: bench.loop)
        drained.whenSuccess { cutCount.value = $0 }
        try vehicle.close()
        #expect(cutCount.value == nil)
        try stranger.close()
        #expect(cutCount.value == 0)
    }

    @Test func `a connection that is not yet on its loop is drained too`() throws {
        let (gatewayLoop, loop) = (EmbeddedEventLoop(), EmbeddedEventLoop())
        let driver = GatewayDriver(
            loops: [gatewayLoop, loop], policy: .init(), limits: .init(), logger: LogRecorder().logger,
            clock: { Instant(nanoseconds: 0) })
        let peer = Peer(loop)
        let origin = ConnectionOrigin(address: .unix(path: "/listener"), policy: .init(roles: [.vehicle]))
        _ = driver.accept(peer.channel, through: origin, from: .unknown)
        let drained = driver.drain(Goodbye(.shuttingDown), within: .seconds(5))
        gatewayLoop.run()
        loop.run()
        try peer.channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait()
        #expect(try peer.goodbye()?.code == .shuttingDown)
        try peer.close()
        gatewayLoop.run()
        #expect(try drained.wait() == 0)
    }

    @Test func `draining ends after its timeout even if a peer stays connected`() throws {
        let bench = Bench { $0.connection.drainTimeout = .seconds(60) }
        let stuck = try bench.vehicle("car")
        stuck.setReading(false)
        let drained = bench.driver.drain(Goodbye(.shuttingDown), within: .seconds(5))
        let cutCount = NIOLoopBoundBox<Int?>(nil, eventLoop: bench.loop)
        drained.whenSuccess { cutCount.value = $0 }
        bench.loop.advanceTime(by: .milliseconds(4_999))
        #expect(cutCount.value == nil)
        bench.loop.advanceTime(by: .milliseconds(1))
        bench.loop.run()
        #expect(cutCount.value == 1)
        #expect(!stuck.isOpen)
    }

    @Test func `a peer is read only as fast as the gateway processes its batches, until its session ends`()
        throws
    {
        let bench = Bench()
        let (client, session) = try bench.guide(["car"])
        let frame = Codec.encode(
            Envelope(.publication(.tripPreviews([], selected: "")), session: session, sequence: 9))
        // The first batch of a tick is processed immediately.
        for _ in 0..<5 { try client.channel.writeInbound(ByteBuffer(bytes: frame.bytes)) }
        let before = client.readCount
        client.channel.read()
        #expect(client.readCount == before, "four batches are queued")
        bench.loop.run()
        #expect(client.readCount == before + 1)
        for _ in 0..<5 { try client.channel.writeInbound(ByteBuffer(bytes: frame.bytes)) }
        client.channel.read()
        #expect(client.readCount == before + 1)
        try client.channel.writeInbound(ByteBuffer(bytes: [0, 0]))
        #expect(client.readCount == before + 2, "remaining input is read and discarded")
    }

    @Test func `members of an audience keep receiving when others leave it`() throws {
        let bench = Bench()
        let staying = try bench.vehicle("car", endpoint: "staying")
        let (client, session) = try bench.guide(["car"])
        try client.startGuidance(session)
        for number in UInt64(2)...20 {
            let leaving = try bench.vehicle("car", endpoint: "e\(number)")
            try client.send(.publication(.currentRoadName(["\(number)"])), session: session, sequence: number)
            #expect(try leaving.roadNames() == ["\(number)"])
            try leaving.send(.goodbye(Goodbye(.normal)))
            try leaving.close()
        }
        #expect(try staying.roadNames() == (2...20).map { "\($0)" })
    }
}
