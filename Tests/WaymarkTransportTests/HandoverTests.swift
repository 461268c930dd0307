import Glibc
import Logging
import NIOCore
import NIOPosix
import StateCoding
import Synchronization
import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

/// A process of the daemon, as far as its connections go.
private struct Process {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let driver: GatewayDriver

    init(_ limits: TransportLimits = .patient, policy: Gateway.Policy = .init()) {
        self.driver = GatewayDriver(
            loops: self.group.makeIterator().map { $0 as any EventLoop }, policy: policy, limits: limits,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            clock: { Instant(nanoseconds: Int64(NIODeadline.now().uptimeNanoseconds)) })
    }

    func connect(overTCP: Bool = false) async throws -> SocketPeer {
        try await SocketPeer.connect(to: self.driver, on: self.group.next(), overTCP: overTCP)
    }

    func vehicle(_ id: String, overTCP: Bool = false) async throws -> SocketPeer {
        let peer = try await self.connect(overTCP: overTCP)
        try peer.send(.hello(Bench.vehicleHello(id)))
        _ = try await peer.await { if case .welcome = $0 { true } else { nil } }
        return peer
    }

    /// A client with a session for `vehicles`, in which guidance has started.
    func guide(_ vehicles: [String]) async throws -> Guide {
        let peer = try await self.connect()
        try peer.send(.hello(Bench.navigationHello("app")))
        _ = try await peer.await { if case .welcome = $0 { true } else { nil } }
        let ids = vehicles.map { VehicleID(unchecked: $0) }
        try peer.send(.openSession(OpenSession(requestID: "r", vehicles: .vehicles(ids))))
        let session = try await peer.await { message -> SessionID? in
            if case .sessionOpened(let opened) = message { opened.session } else { nil }
        }
        let guide = Guide(peer: peer, session: session)
        try guide.publish(.startGuidance(trip, generation: 1, .init()))
        return guide
    }

    /// Ends this process, and starts the next one with what it leaves.
    func restart(
        _ limits: TransportLimits = .patient, within timeout: Duration = .seconds(5),
        losing isLost: (ConnectionState) -> Bool = { _ in false }
    ) async throws -> (next: Process, detached: DetachedDriver, adopted: Int?) {
        let detached = try await self.driver.detach(Goodbye(.shuttingDown), within: timeout)
        try await self.group.shutdownGracefully()
        let bytes = try StateCoder.encode(detached.state, format: 1)
        let state = try StateCoder.decode(DriverState.self, from: bytes, format: 1)
        var connections: [(ConnectionState, CInt, ListenerRules)] = []
        for descriptor in detached.descriptors {
            let connection = try #require(state.connections.first { $0.cookie == SocketCookie(descriptor) })
            if isLost(connection) {
                close(descriptor)
            } else {
                connections.append(
                    (connection, descriptor, ListenerRules(ListenerPolicy(roles: [.vehicle, .navigation]))))
            }
        }
        let next = Process(limits)
        let adopted = try await next.driver.adopt(state, connections, .init())
        return (next, detached, adopted)
    }
}

extension TransportLimits {
    /// For a machine that is busy with other tests.
    fileprivate static let patient = {
        var limits = TransportLimits()
        limits.connection.handshakeTimeout = .seconds(60)
        limits.connection.keepalive = .seconds(60)
        return limits
    }()
}

/// A navigation client, which numbers what it publishes.
private final class Guide: Sendable {
    let session: SessionID
    private let state: Mutex<(peer: SocketPeer, sequence: UInt64)>

    init(peer: sending SocketPeer, session: SessionID) {
        self.session = session
        self.state = Mutex((peer, 0))
    }

    var sequence: UInt64 { self.state.withLock { $0.sequence } }

    func publish(_ publication: Publication) throws { try self.send(self.next(publication).bytes) }

    /// The next frame of the session, for ``send(_:)``.
    func next(_ publication: Publication) -> Frame {
        self.state.withLock { state in
            state.sequence += 1
            return Codec.encode(
                Envelope(.publication(publication), session: self.session, sequence: state.sequence))
        }
    }

    func send(_ bytes: ArraySlice<UInt8>) throws { try self.state.withLock { try $0.peer.send(bytes) } }

    /// Publishes an event with a text of `byteCount` bytes.
    func alert(_ byteCount: Int = 8) throws { try self.publish(Self.alert(byteCount)) }

    static func alert(_ byteCount: Int = 8) -> Publication {
        .showAlert(NavigationAlert(id: 1, titleVariants: [String(repeating: "x", count: byteCount)]))
    }
}

/// Goes to another task, once nobody else uses it.
private struct Kept: @unchecked Sendable {
    let peer: SocketPeer
    init(_ peer: SocketPeer) { self.peer = peer }
}

@Suite(.serialized) struct HandoverTests {
    @Test func `in the middle of a drive every endpoint gets every frame once, in order`() async throws {
        var process = Process()
        var endpoints: [SocketPeer] = []
        for index in 0..<20 {
            endpoints.append(try await process.vehicle("car-\(index)", overTCP: index.isMultiple(of: 2)))
        }
        let guide = try await process.guide((0..<20).map { "car-\($0)" })
        let isOver = Atomic(false)
        // Publishing waits while nobody reads: it has a thread of its own.
        async let driving: Void = NIOThreadPool.singleton.runIfActive {
            while !isOver.load(ordering: .relaxed) {
                try guide.alert()
                // Nobody reads yet, and a TCP socket holds some 1 600 of them.
                usleep(guide.sequence < 1_000 ? 200 : 20_000)
            }
        }
        for _ in 0..<5 {
            let (next, detached, adopted) = try await process.restart()
            #expect(detached.cutCount == 0)
            #expect(adopted == 21)
            process = next
        }
        isOver.store(true, ordering: .relaxed)
        try await driving
        let last = guide.sequence
        #expect(last > 5)
        for endpoint in endpoints { #expect(try await endpoint.alerts(upTo: last) == Array(2...last)) }
        try await process.group.shutdownGracefully()
    }

    @Test func `a frame that is half read is read to its end by the next process`() async throws {
        let process = Process()
        let endpoint = try await process.vehicle("car")
        let guide = try await process.guide(["car"])
        let frame = guide.next(Guide.alert())
        let behind = guide.next(Guide.alert())
        try guide.send(frame.bytes.prefix(30))
        let (next, detached, _) = try await process.restart()
        #expect(detached.state.connections.count == 2)
        try guide.send(frame.bytes.dropFirst(30) + behind.bytes)
        #expect(try await endpoint.alerts(upTo: 3) == [2, 3])
        let census = try await next.driver.census()
        #expect(census.endpoints == 1 && census.clients == 1 && census.sessions == 1)
        try await next.group.shutdownGracefully()
    }

    @Test func `what waits for a peer that is slow goes along`() async throws {
        let process = Process()
        let endpoint = try await process.vehicle("car")
        let guide = try await process.guide(["car"])
        // More than a socket and a channel hold.
        for _ in 0..<4_000 { try guide.alert(200) }
        let last = guide.sequence + 1
        let received = Mutex<[UInt64]>([])
        // Only now it reads, and only what was on its way before.
        let first = try await endpoint.alerts(upTo: 200)
        let reading = Task.detached { [endpoint = Kept(endpoint)] in
            let rest = try await endpoint.peer.alerts(upTo: last)
            received.withLock { $0 = rest }
        }
        let (next, detached, adopted) = try await process.restart()
        #expect(detached.cutCount == 0)
        #expect(adopted == 2)
        try guide.alert()
        try await reading.value
        #expect(first + received.withLock { $0 } == Array(2...last))
        try await next.group.shutdownGracefully()
    }

    @Test func `a peer that does not take what is half-written is cut and keeps its place`() async throws {
        let process = Process()
        let stuck = try await process.vehicle("car")
        let guide = try await process.guide(["car"])
        // More than a socket holds.
        for _ in 0..<4_000 { try guide.alert(200) }
        let (next, detached, adopted) = try await process.restart(within: .milliseconds(100))
        #expect(detached.cutCount == 1)
        #expect(adopted == 1)
        let census = try await next.driver.census()
        #expect(census.endpoints == 0 && census.clients == 1 && census.sessions == 1)
        // It gets whole frames, a part of one, and then the end.
        let alerts = try await stuck.alerts(upTo: guide.sequence, orEnd: true)
        #expect(!alerts.isEmpty && alerts.last != guide.sequence)
        try await next.group.shutdownGracefully()
    }

    @Test func `a deadline is the same in the next process`() async throws {
        var limits = TransportLimits.patient
        limits.connection.handshakeTimeout = .milliseconds(400)
        let process = Process(limits)
        let began = ContinuousClock.now
        let silent = try await process.connect()
        // The next process would allow more.
        let (next, _, _) = try await process.restart()
        let goodbye = try await silent.await { message -> Goodbye? in
            if case .goodbye(let goodbye) = message { goodbye } else { nil }
        }
        #expect(goodbye.code == .handshakeTimeout)
        #expect(ContinuousClock.now - began >= .milliseconds(400))
        #expect(try await silent.receive() == nil)
        try await next.group.shutdownGracefully()
    }

    @Test func `keepalive goes on`() async throws {
        let process = Process()
        let peer = try await process.connect()
        var hello = Bench.vehicleHello("car")
        hello.keepaliveMilliseconds = 1_000
        try peer.send(.hello(hello))
        let (next, _, _) = try await process.restart()
        _ = try await peer.await { if case .ping = $0 { true } else { nil } }
        try await next.group.shutdownGracefully()
    }

    @Test func `who goes while nobody looks is noticed`() async throws {
        let process = Process()
        let guide = try await process.guide(["car", "bus"])
        var endpoint: SocketPeer? = try await process.vehicle("car")
        let stays = try await process.vehicle("bus")
        let detached = try await process.driver.detach(Goodbye(.shuttingDown), within: .seconds(5))
        try await process.group.shutdownGracefully()
        endpoint = nil
        let next = Process()
        let connections = detached.descriptors.compactMap { descriptor in
            detached.state.connections.first { $0.cookie == SocketCookie(descriptor) }
                .map { ($0, descriptor, ListenerRules(ListenerPolicy(roles: [.vehicle, .navigation]))) }
        }
        _ = try await next.driver.adopt(detached.state, connections, .init())
        try guide.alert()
        #expect(try await stays.alerts(upTo: 2) == [2])
        // What the gateway heard of the alert, it heard after that of the end.
        #expect(try await next.driver.census().endpoints == 1)
        #expect(endpoint == nil)
        try await next.group.shutdownGracefully()
    }

    @Test func `a connection whose socket is lost keeps its place for its grace time`() async throws {
        let process = Process()
        let endpoint = try await process.vehicle("car")
        let guide = try await process.guide(["car"])
        let lost = ConnectionID(1)
        let (next, detached, adopted) = try await process.restart(losing: { $0.id == lost })
        #expect(detached.state.connections.count == 2)
        #expect(adopted == 1)
        #expect(try await endpoint.alerts(upTo: 2, orEnd: true).isEmpty)
        try guide.alert()
        let census = try await next.driver.census()
        #expect(census.endpoints == 0 && census.clients == 1 && census.sessions == 1)
        try await next.group.shutdownGracefully()
    }
}
