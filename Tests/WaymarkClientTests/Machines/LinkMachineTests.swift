import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// A connection without a clock and without a socket.
@Suite struct LinkMachineTests {
    private static func seconds(_ seconds: Double) -> Instant {
        Instant(nanoseconds: Int64(seconds * 1_000_000_000))
    }

    @Test func `a lost connection is tried again after 0.1, 0.2, 0.4 s`() throws {
        var peer = try DrivenPeer.endpoint()
        peer.open()
        var delays: [Duration] = []
        for _ in 0..<4 {
            let lost = peer.now
            peer.handle(.transportClosed(nil))
            #expect(peer.states.last == .connecting && !peer.isConnecting)
            let deadline = try #require(peer.link.deadline)
            peer.advance(to: Instant(nanoseconds: deadline.nanoseconds - 1))
            #expect(!peer.isConnecting)
            peer.waitForDeadline()
            #expect(peer.isConnecting)
            delays.append(peer.now - lost)
        }
        // Up to a quarter more, and differently long for each seed.
        for (delay, milliseconds) in zip(delays, [100, 200, 400, 800]) {
            #expect(delay >= .milliseconds(milliseconds) && delay < .milliseconds(milliseconds * 5 / 4))
        }
        peer.handle(.transportOpened)
        peer.welcome(isResumed: true)
        #expect(peer.states.last == .connected(resumed: true))
    }

    @Test func `reconnecting peers with different seeds wait differently long`() throws {
        let deadlines = try (UInt64(1)...20).map { seed in
            var peer = try DrivenPeer.endpoint(seed: seed)
            peer.open()
            peer.handle(.transportClosed(nil))
            return peer.link.deadline
        }
        #expect(Set(deadlines).count == 20)
    }

    @Test func `a client that takes small frames reads a message in several frames as one`() throws {
        var peer = try DrivenPeer.client { $0.receiveFrameBytesMax = 4_096 }
        peer.handle(.open)
        peer.handle(.transportOpened)
        guard case .hello(let hello)? = peer.readMessages().first else {
            Issue.record("no Hello")
            return
        }
        #expect(hello.receiveFrameBytesMax == 4_096)
        var welcome = Welcome(resumptionToken: ResumptionToken(high: 1, low: 2))
        (welcome.receiveFrameBytesMax, welcome.sendFrameBytesMax) = (1_048_576, 4_096)
        welcome.sessions = (1...1_000).map {
            ResumedSession(session: SessionID($0), sequence: UInt64($0) << 40, phase: .active)
        }
        let parts = Envelope(.welcome(welcome)).divided(frameBytesMax: 4_096, encode: Codec.encode)
        #expect(parts.count > 2)
        for part in parts {
            #expect(peer.states.last != .connected(resumed: false))
            peer.handle(.received(Array(Codec.encode(part).bytes)))
        }
        #expect(peer.states.last == .connected(resumed: false))
        // All of its sessions are over: the client does not know them.
        #expect(peer.readMessages().count { $0.type == .cancelGuidance } == 1_000)
    }

    @Test func `a client that takes small frames refuses larger ones`() throws {
        var peer = try DrivenPeer.client { $0.receiveFrameBytesMax = 4_096 }
        peer.open()
        let long = Frame(
            header: FrameHeader(type: 0x0021, flags: .skippable), body: [UInt8](repeating: 0, count: 4_073))
        peer.handle(.received(Array(long.bytes)))
        guard case .goodbye(let goodbye)? = peer.readMessages().last else {
            Issue.record("no Goodbye")
            return
        }
        #expect(goodbye.code == .frameTooLarge)
    }

    @Test func `the first attempt fails for good, with the driver's reason`() throws {
        var peer = try DrivenPeer.endpoint()
        peer.handle(.open)
        let error = ClientError.cannotConnect(.unix(path: "/test"), reason: "refused")
        peer.handle(.transportClosed(error))
        #expect(peer.states == [.connecting, .closed(error)])
        #expect(peer.link.isFinished && peer.link.deadline == nil)
    }

    @Test func `a gateway that says nothing is given up after the handshake's time`() throws {
        var peer = try DrivenPeer.client()
        peer.handle(.open)
        peer.handle(.transportOpened)
        #expect(peer.link.deadline == Self.seconds(5))
        peer.waitForDeadline()
        #expect(peer.isHalfClosed)
        // It does not close its side either.
        #expect(peer.link.deadline == Self.seconds(7))
        peer.waitForDeadline()
        #expect(peer.wantsEnd)
        peer.handle(.transportClosed(nil))
        let reason = "what listens there does not answer; it may not be waymarkd"
        #expect(peer.states.last == .closed(.cannotConnect(.unix(path: "/test"), reason: reason)))
    }

    @Test func `a connection sends a Ping in each interval, and is given up after three silent ones`() throws
    {
        var peer = try DrivenPeer.endpoint()
        peer.open(keepalive: 1_000)
        for number in 1...3 as ClosedRange<UInt64> {
            peer.wait(.seconds(1))
            #expect(peer.readMessages() == [.ping(nonce: number)])
            peer.hear(.pong(nonce: number))
        }
        peer.wait(.milliseconds(3_500))
        #expect(peer.isHalfClosed)
        peer.wait(.seconds(2))
        #expect(peer.wantsEnd)
        peer.handle(.transportClosed(nil))
        peer.wait(.milliseconds(125))
        #expect(peer.isConnecting)
    }

    @Test func `a frame that takes five intervals to arrive is no silence`() throws {
        var peer = try DrivenPeer.endpoint()
        peer.open(keepalive: 1_000)
        let bytes = Array(Codec.encode(Envelope(.ping(nonce: 99))).bytes)
        for byte in bytes.prefix(6) {
            peer.wait(.milliseconds(800))
            peer.handle(.received([byte]))
        }
        peer.wait(.milliseconds(800))
        #expect(peer.states.last == .connected(resumed: false) && !peer.isHalfClosed)
        peer.handle(.received(Array(bytes.dropFirst(6))))
        #expect(peer.readMessages().last == .pong(nonce: 99))
        // The bytes that have arrived count for three intervals.
        peer.wait(.seconds(4))
        #expect(peer.isHalfClosed)
    }

    /// The types of what a peer that was welcomed before sends on another connection: until the Welcome, and behind it.
    private static func resume<Machine>(
        _ peer: inout DrivenPeer<Machine>, _ body: (inout DrivenPeer<Machine>) throws -> Void
    ) rethrows -> [[MessageType]] {
        peer.open(keepalive: 1_000)
        peer.handle(.transportClosed(nil))
        try body(&peer)
        peer.waitForDeadline()
        peer.handle(.transportOpened)
        #expect(peer.link.peer.hello().resumptionToken != nil)
        peer.wait(.milliseconds(4_900))
        let before = peer.readMessages().map(\.type)
        peer.welcome(isResumed: true)
        return [before, peer.readMessages().map(\.type)]
    }

    @Test func `a peer with a token sends nothing behind its Hello before the Welcome`() throws {
        var endpoint = try DrivenPeer.endpoint()
        let ofEndpoint = Self.resume(&endpoint) { peer in
            peer.use { endpoint, outputs in
                endpoint.requestDestination(place, call: 1, into: &outputs)
                endpoint.update(DisplaySettings(compass: .enabled), into: &outputs)
            }
        }
        #expect(ofEndpoint == [[.hello], [.destinationRequest, .vehicleSettings]])
        var client = try DrivenPeer.client()
        let ofClient = try Self.resume(&client) { _ = try $0.openSession() }
        #expect(ofClient == [[.hello], [.openSession]])
        var observer = try DrivenPeer.observer()
        let ofObserver = Self.resume(&observer) { _ in }
        #expect(ofObserver == [[.hello], [.observe]])
    }

    @Test func `an early deadline changes nothing`() throws {
        var peer = try DrivenPeer.endpoint()
        peer.open(keepalive: 1_000)
        let deadline = peer.link.deadline
        for _ in 0..<10 { peer.handle(.deadlineReached) }
        #expect(peer.link.deadline == deadline && peer.read().isEmpty)
        peer.handle(.transportClosed(nil))
        for _ in 0..<10 { peer.handle(.deadlineReached) }
        #expect(!peer.isConnecting)
    }

    @Test func `frames may arrive byte by byte`() throws {
        var whole = try DrivenPeer.endpoint()
        whole.open()
        var cut = whole
        var begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))
        begin.toSequence = 1
        let messages: [(Message, UInt64)] = [
            (.snapshotBegin(begin), 0), (.publication(.startGuidance(trip, generation: 1, route)), 1),
            (.snapshotEnd, 0), (.ping(nonce: 4), 0), (.publication(.currentRoadName(["A"])), 2),
        ]
        let session = SessionID(3)
        var bytes: [UInt8] = []
        for (message, sequence) in messages {
            bytes += Codec.encode(Envelope(message, session: session, sequence: sequence)).bytes
        }
        whole.handle(.received(bytes))
        for byte in bytes { cut.handle(.received([byte])) }
        #expect(whole.link.peer.state.currentRoadName == ["A"])
        #expect(cut.link.peer.state == whole.link.peer.state)
        #expect(cut.outputs.count == whole.outputs.count)
        #expect(cut.readMessages() == [.pong(nonce: 4)] && whole.readMessages() == [.pong(nonce: 4)])
    }

    @Test func `while a write is under way, newer states replace older ones`() throws {
        var peer = try DrivenPeer.client()
        peer.open()
        let session = try peer.openSession()
        peer.hear(.sessionOpened(SessionOpened(requestID: session, session: SessionID(7), vehicles: [])))
        try peer.publish(.startGuidance(trip, generation: 0, route), in: session)
        _ = peer.read()
        peer.isFast = false
        for number in 1...50 { try peer.publish(.currentRoadName(["road \(number)"]), in: session) }
        #expect(peer.readMessages() == [.publication(.currentRoadName(["road 1"]))])
        peer.handle(.wrote)
        #expect(peer.readMessages() == [.publication(.currentRoadName(["road 50"]))])
        peer.handle(.wrote)
        #expect(peer.readMessages().isEmpty)
    }

    @Test func `closing writes what is queued, then Goodbye, and waits for the gateway`() throws {
        var peer = try DrivenPeer.endpoint()
        peer.open()
        peer.isFast = false
        peer.use { endpoint, outputs in endpoint.zoom(.in, into: &outputs) }
        peer.use { endpoint, outputs in endpoint.requestDestination(place, call: 1, into: &outputs) }
        peer.handle(.close)
        #expect(peer.readMessages().map(\.type) == [.zoomCluster])
        peer.handle(.wrote)
        #expect(peer.readMessages().map(\.type) == [.destinationRequest])
        peer.handle(.wrote)
        #expect(peer.readMessages() == [.goodbye(Goodbye(.normal))])
        #expect(!peer.isHalfClosed)
        peer.handle(.wrote)
        #expect(peer.isHalfClosed && !peer.link.isFinished)
        peer.handle(.transportClosed(nil))
        #expect(peer.states.last == .closed(.closed))
        #expect(peer.results == [1: [.gone]])
    }

    @Test func `closing ends after two seconds if the gateway neither reads nor closes`() throws {
        var peer = try DrivenPeer.endpoint()
        peer.open()
        peer.isFast = false
        peer.use { endpoint, outputs in endpoint.zoom(.in, into: &outputs) }
        peer.handle(.close)
        peer.wait(.milliseconds(1_999))
        #expect(!peer.link.isFinished)
        peer.wait(.milliseconds(1))
        #expect(peer.states.last == .closed(.closed) && peer.wantsEnd)
    }

    @Test func `a peer that is closed while it connects, or waits, ends at once`() throws {
        var connecting = try DrivenPeer.endpoint()
        connecting.handle(.open)
        connecting.handle(.close)
        #expect(connecting.states.last == .closed(.closed))
        // A transport that was opened too late is closed.
        connecting.handle(.transportOpened)
        #expect(connecting.wantsEnd)

        var waiting = try DrivenPeer.client()
        waiting.open()
        waiting.handle(.transportClosed(nil))
        waiting.handle(.close)
        #expect(waiting.states.last == .closed(.closed) && waiting.link.deadline == nil)
    }

    @Test func `a Goodbye that says when to come back is obeyed, and one that forbids it ends the peer`()
        throws
    {
        var peer = try DrivenPeer.client()
        peer.open()
        peer.hear(.goodbye(Goodbye(.shuttingDown, reconnectAfterMilliseconds: 3_000)))
        peer.handle(.transportClosed(nil))
        peer.wait(.milliseconds(2_999))
        #expect(!peer.isConnecting)
        peer.wait(.milliseconds(1))
        #expect(peer.isConnecting)
        peer.handle(.transportOpened)
        peer.welcome()
        peer.hear(.goodbye(Goodbye(.takenOver, reason: "elsewhere")))
        peer.handle(.transportClosed(nil))
        #expect(peer.states.last == .closed(.refused(reason: "elsewhere")))
    }

    @Test
    func `a refusal that may be lifted is tried again after ten minutes, or ends a peer that does not wait`()
        throws
    {
        for (delay, expected) in [(Duration.seconds(600), 600), (.seconds(1), 600), (.seconds(900), 900)] {
            var peer = try DrivenPeer.client { $0.reconnection.refusalDelay = delay }
            peer.open()
            peer.hear(.goodbye(Goodbye(.notAuthorized, reason: "not now")))
            peer.handle(.transportClosed(nil))
            peer.wait(.seconds(expected) - .milliseconds(1))
            #expect(!peer.isConnecting)
            peer.wait(.seconds(expected / 4) + .milliseconds(1))
            #expect(peer.isConnecting)
        }
        var peer = try DrivenPeer.client { $0.reconnection.refusalDelay = nil }
        peer.open()
        peer.hear(.goodbye(Goodbye(.notAuthorized, reason: "not now")))
        peer.handle(.transportClosed(nil))
        #expect(peer.states.last == .closed(.refused(reason: "not now", retryAfter: .seconds(600))))
    }

    @Test func `a first attempt that is refused ends the peer with the reason`() throws {
        var peer = try DrivenPeer.client { $0.reconnection.firstAttemptsMax = 9 }
        peer.handle(.open)
        peer.handle(.transportOpened)
        peer.hear(.goodbye(Goodbye(.roleNotAllowed, reason: "not here")))
        peer.handle(.transportClosed(nil))
        #expect(peer.states.last == .closed(.refused(reason: "not here", retryAfter: .seconds(600))))
    }
}
