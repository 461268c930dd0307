import Glibc
import Logging
import NIOCore
import NIOPosix
import StateCoding
import Synchronization
import Testing
import WaymarkCodec
import WaymarkConnections
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

extension DaemonProcess {
    fileprivate static let goodbye = Goodbye(.shuttingDown, reconnectAfterMilliseconds: 7)

    /// Ends this process and hands its state over to a new one.
    func restart(
        _ limits: TransportLimits = .patient, within timeout: Duration = .seconds(60),
        losing isLost: (HandoverConnection) -> Bool = { _ in false }
    ) async throws -> (next: DaemonProcess, detached: DetachedDriver, adopted: Int?) {
        let detached = try await self.driver.detach(Self.goodbye, within: timeout)
        try await self.end()
        let bytes = try StateCoder.encode(detached.state, format: 1)
        let state = try StateCoder.decode(DriverState.self, from: bytes, format: 1)
        var connections: [(HandoverConnection, CInt, CurrentPolicy)] = []
        for descriptor in detached.descriptors {
            let connection = try #require(state.connections.first { $0.cookie == SocketCookie(descriptor) })
            if isLost(connection) {
                close(descriptor)
            } else {
                connections.append(
                    (
                        connection, descriptor,
                        CurrentPolicy(ListenerPolicy(roles: [.vehicle, .navigation, .observer]))
                    ))
            }
        }
        let next = DaemonProcess(limits)
        let adopted = try await next.driver.adopt(state, connections, .init())
        return (next, detached, adopted)
    }
}

/// Moves a peer to another task. Only that task uses the peer from then on.
private struct Moved: @unchecked Sendable {
    let peer: SocketPeer
    init(_ peer: SocketPeer) { self.peer = peer }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct HandoverTests {
    @Test func `in the middle of a drive every endpoint gets every frame once, in order`() async throws {
        var process = DaemonProcess()
        var endpoints: [SocketPeer] = []
        for index in 0..<20 {
            endpoints.append(
                try await process.vehicle("car-\(index)", over: index.isMultiple(of: 2) ? .tcp : .unix))
        }
        let guide = try await process.guide((0..<20).map { "car-\($0)" })
        for _ in 0..<5 {
            let first = guide.sequence + 1
            // Some frames have reached the gateway, some are in transit, some are sent while it restarts. Together they fit into a
            // socket's buffer.
            try await guide.alerts(Self.burst)
            async let driving: Void = guide.alerts(Self.burst)
            let (next, detached, adopted) = try await process.restart()
            #expect(detached.cutCount == 0)
            #expect(adopted == 21)
            process = next
            try await driving
            let last = guide.sequence
            for endpoint in endpoints {
                #expect(try await endpoint.alerts(upTo: last) == Array(first...last))
            }
        }
        try await process.end()
    }

    private static let burst = 40

    @Test func `the next process continues spent tokens and counts connections`() async throws {
        var limits = TransportLimits.patient
        limits.failures.burst = 1
        limits.failures.perMinute = 1
        limits.failureDelay = .zero
        limits.connections.connectionsPerUserMax = 3
        let process = DaemonProcess(limits)
        let first = try await process.vehicle("car-1")
        let second = try await process.connect()
        let third = try await process.vehicle("car-3")
        #expect(process.driver.charge(.user(1_000)))
        let (next, _, adopted) = try await process.restart(limits)
        #expect(adopted == 3)
        // The bucket has no token yet, and the user no place.
        #expect(!next.driver.charge(.user(1_000)))
        #expect(next.driver.charge(.user(1_001)))
        // A refused connection gets its Goodbye.
        limits.failures.burst = 100
        let (last, _, _) = try await next.restart(limits)
        await #expect(throws: (any Error).self) { try await last.vehicle("car-4") }
        withExtendedLifetime((first, second, third)) {}
        try await last.end()
    }

    @Test func `an observer keeps its place`() async throws {
        let process = DaemonProcess()
        let observer = try await process.connect()
        _ = try await observer.welcome(
            Hello(role: .observer(ObserverHello(observer: ObserverName(unchecked: "watcher")))))
        var observe = Observe()
        (observe.wantsState, observe.wantsEvents) = (true, true)
        try observer.send(.observe(observe))
        func number(ofRecordWith vehicle: String) async throws -> UInt64 {
            try await observer.await {
                guard case .observedRecords(let records) = $0,
                    records.vehicles.contains(where: { $0.vehicle.rawValue == vehicle })
                else { return nil }
                return records.number
            }
        }
        try await observer.await {
            if case .observedRecords(let records) = $0, records.isLast { () } else { nil }
        }
        let before = try await process.vehicle("before")
        let last = try await number(ofRecordWith: "before")
        let (next, _, adopted) = try await process.restart()
        #expect(adopted == 2)
        let after = try await next.vehicle("after")
        let following = try await number(ofRecordWith: "after")
        // The event that the vehicle was admitted may lie between them; a gap or a new beginning would have been an error.
        #expect(last < following && following <= last + 3, "\(last), \(following)")
        withExtendedLifetime((before, after)) {}
        try await next.end()
    }

    @Test func `a frame that was read in part is completed by the next process`() async throws {
        let process = DaemonProcess()
        let endpoint = try await process.vehicle("car")
        let guide = try await process.guide(["car"])
        let frame = guide.next(Guide.alert())
        let following = guide.next(Guide.alert())
        try guide.send(frame.bytes.prefix(30))
        let (next, detached, _) = try await process.restart()
        #expect(detached.state.connections.count == 2)
        try guide.send(frame.bytes.dropFirst(30) + following.bytes)
        #expect(try await endpoint.alerts(upTo: 3) == [2, 3])
        let census = try await next.driver.census()
        #expect(census.endpoints == 1 && census.clients == 1 && census.sessions == 1)
        try await next.end()
    }

    @Test func `frames that wait for a slow peer are handed over`() async throws {
        let process = DaemonProcess()
        let endpoint = try await process.vehicle("car")
        let guide = try await process.guide(["car"])
        // More than a socket and a channel can buffer.
        for _ in 0..<4_000 { try guide.alert(200) }
        let last = guide.sequence + 1
        let received = Mutex<[UInt64]>([])
        // The peer starts to read only now, and first only the frames in the socket.
        let first = try await endpoint.alerts(upTo: 200)
        let reading = Task.detached { [endpoint = Moved(endpoint)] in
            let rest = try await endpoint.peer.alerts(upTo: last)
            received.withLock { $0 = rest }
        }
        let (next, detached, adopted) = try await process.restart()
        #expect(detached.cutCount == 0)
        #expect(adopted == 2)
        try guide.alert()
        try await reading.value
        #expect(first + received.withLock { $0 } == Array(2...last))
        try await next.end()
    }

    @Test func `a peer that does not read a partly written frame is disconnected and its session is kept`()
        async throws
    {
        let process = DaemonProcess()
        let stuck = try await process.vehicle("car")
        let guide = try await process.guide(["car"])
        // More than a socket can buffer.
        for _ in 0..<4_000 { try guide.alert(200) }
        let (next, detached, adopted) = try await process.restart(within: .milliseconds(100))
        #expect(detached.cutCount == 1)
        #expect(adopted == 1)
        let census = try await next.driver.census()
        #expect(census.endpoints == 0 && census.clients == 1 && census.sessions == 1)
        // It receives complete frames, part of one, and then the end of the stream.
        let alerts = try await stuck.alerts(upTo: guide.sequence, orEnd: true)
        #expect(!alerts.isEmpty && alerts.last != guide.sequence)
        try await next.end()
    }

    @Test func `a deadline is kept by the next process`() async throws {
        var limits = TransportLimits.patient
        limits.connection.handshakeTimeout = .milliseconds(400)
        let process = DaemonProcess(limits)
        let began = ContinuousClock.now
        let silent = try await process.connect()
        // The next process has a longer timeout.
        let (next, _, _) = try await process.restart()
        let goodbye = try await silent.await { message -> Goodbye? in
            if case .goodbye(let goodbye) = message { goodbye } else { nil }
        }
        #expect(goodbye.code == .handshakeTimeout)
        #expect(ContinuousClock.now - began >= .milliseconds(400))
        #expect(try await silent.receive() == nil)
        try await next.end()
    }

    @Test func `the next process continues the keepalive`() async throws {
        let process = DaemonProcess()
        let peer = try await process.connect()
        var hello = Bench.vehicleHello("car")
        hello.keepaliveMilliseconds = 1_000
        try peer.send(.hello(hello))
        let (next, _, _) = try await process.restart()
        _ = try await peer.await { if case .ping = $0 { true } else { nil } }
        try await next.end()
    }

    @Test func `a peer that disconnects during the handover is reported as departed`() async throws {
        let process = DaemonProcess()
        let guide = try await process.guide(["car", "bus"])
        var endpoint: SocketPeer? = try await process.vehicle("car")
        let stays = try await process.vehicle("bus")
        let detached = try await process.driver.detach(DaemonProcess.goodbye, within: .seconds(60))
        try await process.end()
        endpoint = nil
        let next = DaemonProcess()
        let connections = detached.descriptors.compactMap { descriptor in
            detached.state.connections.first { $0.cookie == SocketCookie(descriptor) }
                .map { ($0, descriptor, CurrentPolicy(ListenerPolicy(roles: [.vehicle, .navigation]))) }
        }
        _ = try await next.driver.adopt(detached.state, connections, .init())
        try guide.alert()
        #expect(try await stays.alerts(upTo: 2) == [2])
        // The gateway processed the disconnection before the alert.
        #expect(try await next.driver.census().endpoints == 1)
        #expect(endpoint == nil)
        try await next.end()
    }

    @Test func `a connection that cannot be handed over gets a Goodbye and resumes with its token`()
        async throws
    {
        var limits = TransportLimits.patient
        // This transport cannot be half-closed, so the peer does not see the end of the output.
        limits.connection.drainTimeout = .milliseconds(100)
        let process = DaemonProcess(limits)
        let endpoint = try await process.connect(over: .unportable)
        let welcome = try await endpoint.welcome(Bench.vehicleHello("car"))
        let stays = try await process.vehicle("bus")
        let guide = try await process.guide(["car", "bus"])
        try guide.alert()
        #expect(try await endpoint.alerts(upTo: 2) == [2])
        let (next, detached, adopted) = try await process.restart()
        #expect(detached.cutCount == 0)
        #expect(adopted == 2)
        let goodbye = try await endpoint.await { if case .goodbye(let goodbye) = $0 { goodbye } else { nil } }
        #expect(goodbye == DaemonProcess.goodbye)
        #expect(try await endpoint.receive() == nil)
        try guide.alert()
        #expect(try await stays.alerts(upTo: 3) == [2, 3])
        let again = try await next.connect()
        var hello = Bench.vehicleHello("car")
        hello.resumptionToken = welcome.resumptionToken
        let resumed = try await again.welcome(hello)
        #expect(resumed.isResumed && resumed.gateway == welcome.gateway)
        try guide.alert()
        #expect(try await again.alerts(upTo: 4).last == 4)
        try await next.end()
    }

    @Test func `an endpoint whose socket is lost can resume within the grace time`() async throws {
        let process = DaemonProcess()
        let endpoint = try await process.vehicle("car")
        let guide = try await process.guide(["car"])
        let lost = ConnectionID(1)
        let (next, detached, adopted) = try await process.restart(losing: { $0.connection.id == lost })
        #expect(detached.state.connections.count == 2)
        #expect(adopted == 1)
        #expect(try await endpoint.alerts(upTo: 2, orEnd: true).isEmpty)
        try guide.alert()
        let census = try await next.driver.census()
        #expect(census.endpoints == 0 && census.clients == 1 && census.sessions == 1)
        try await next.end()
    }
}
