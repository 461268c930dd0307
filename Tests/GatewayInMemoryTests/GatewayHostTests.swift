import GatewayInMemory
import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

@Suite struct GatewayHostTests {
    private static let start = Instant(nanoseconds: 0)

    @Test func `a peer is welcomed, and the first session has the number 1`() throws {
        let drive = try HostDrive()
        guard case .welcome(let welcome)? = drive.vehicle.messages.first else {
            Issue.record("\(drive.vehicle.messages)")
            return
        }
        #expect(welcome.gateway == .unnamed)
        #expect(drive.session == SessionID(1))
        #expect(drive.vehicle.publications == [.startGuidance(HostDrive.trip, generation: 1, .init())])
    }

    @Test func `the same calls give the same bytes, another seed other tokens`() throws {
        func bytes(_ seed: UInt64) throws -> [UInt8] {
            var host = GatewayHost(tokenSeed: seed)
            let id = host.connect(PeerOrigin(), at: Self.start)
            host.receive(Array(Codec.encode(Envelope(.hello(HostPeer.vehicle("car")))).bytes), on: id)
            host.settle(at: Self.start)
            return host.takeOutput(of: id, atMost: .max).bytes
        }
        #expect(try bytes(1) == bytes(1))
        #expect(try bytes(1) != bytes(2))
    }

    @Test func `what arrives byte by byte is read as frames`() throws {
        var host = GatewayHost(tokenSeed: 1)
        var peer = try HostPeer(&host, at: Self.start)
        for byte in Codec.encode(Envelope(.hello(HostPeer.vehicle("car")))).bytes {
            host.receive([byte], on: peer.id)
            host.settle(at: Self.start)
        }
        try peer.read(&host, at: Self.start)
        #expect(peer.messages.count == 1)
    }

    /// As over sockets: what they hold arrives in full, and of what waits behind it only the newest state.
    @Test func `a peer that reads late gets what its sockets hold, and then the newest state`() throws {
        var drive = try HostDrive()
        let names = (1...5_000).map {
            "Road number \($0) with a long name: " + String(repeating: "x", count: 60)
        }
        for name in names { drive.publish(.currentRoadName([name])) }
        #expect(drive.host.outputCount(of: drive.vehicle.id) <= GatewayHost.socketBytes)
        #expect(drive.host.outputCount(of: drive.vehicle.id) > GatewayHost.socketBytes - 65_536)
        let before = drive.vehicle.publications.count
        try drive.vehicle.read(&drive.host, at: drive.now)
        let arrived = drive.vehicle.publications.dropFirst(before)
        #expect(arrived.last == .currentRoadName([names[4_999]]))
        #expect((100..<4_000).contains(arrived.count))
    }

    @Test func `a peer that reads nothing is closed after the slow consumer timeout`() throws {
        var drive = try HostDrive()
        let text = String(repeating: "x", count: 500)
        for id in UInt32(1)...800 {
            drive.publish(.showAlert(NavigationAlert(id: id, titleVariants: [text])))
        }
        try drive.pass(.seconds(29), vehicleReads: false)
        #expect(drive.host.connections.contains(drive.vehicle.id))
        try drive.pass(.seconds(10), vehicleReads: false)
        try drive.vehicle.read(&drive.host, at: drive.now)
        #expect(drive.vehicle.isEnded)
    }

    @Test func `a silent peer is closed after three keepalive intervals, and not before`() throws {
        var host = GatewayHost(tokenSeed: 1)
        var peer = try HostPeer(&host, HostPeer.vehicle("car"), at: Self.start)
        peer.answersPings = false
        var now = Self.start
        while let deadline = host.deadline, !peer.isEnded {
            now = max(now, deadline)
            host.deadlineReached(at: now)
            host.settle(at: now)
            try peer.read(&host, at: now)
        }
        #expect((Duration.seconds(29)...Duration.seconds(31)).contains(now - Self.start))
        #expect(peer.goodbye == .keepaliveTimeout)
    }

    @Test func `what a peer sent before it closed is processed`() throws {
        var drive = try HostDrive()
        drive.client.publish(.currentRoadName(["Last"]), in: drive.session, to: &drive.host)
        drive.host.peerClosed(drive.client.id)
        drive.host.settle(at: drive.now)
        try drive.vehicle.read(&drive.host, at: drive.now)
        #expect(drive.vehicle.publications.last == .currentRoadName(["Last"]))
        #expect(drive.vehicle.messages.contains { if case .sessionSuspended = $0 { true } else { false } })
        try drive.client.read(&drive.host, at: drive.now)
        #expect(drive.client.isEnded)
        #expect(drive.host.connections == [drive.vehicle.id])
    }

    @Test func `a reset connection is forgotten, with everything under way`() throws {
        var drive = try HostDrive()
        drive.client.publish(.currentRoadName(["Lost"]), in: drive.session, to: &drive.host)
        drive.host.reset(drive.client.id, at: drive.now)
        drive.host.settle(at: drive.now)
        try drive.vehicle.read(&drive.host, at: drive.now)
        #expect(!drive.vehicle.publications.contains(.currentRoadName(["Lost"])))
        #expect(drive.host.connections == [drive.vehicle.id])
    }

    @Test func `a peer that is gone is forgotten once what it sent is processed`() throws {
        var drive = try HostDrive()
        drive.client.publish(.currentRoadName(["Last"]), in: drive.session, to: &drive.host)
        drive.host.abandon(drive.client.id, at: drive.now)
        #expect(drive.host.connections.count == 2)
        drive.host.settle(at: drive.now)
        try drive.vehicle.read(&drive.host, at: drive.now)
        #expect(drive.vehicle.publications.last == .currentRoadName(["Last"]))
        #expect(drive.host.connections == [drive.vehicle.id])
    }

    @Test func `a peer on another loop is served, and stays there over a restart`() throws {
        var host = GatewayHost(tokenSeed: 1, loopCount: 2)
        let id = host.connect(PeerOrigin(), to: 1, at: Self.start)
        host.receive(Array(Codec.encode(Envelope(.hello(HostPeer.vehicle("car")))).bytes), on: id)
        host.settle(at: Self.start)
        #expect(host.takeOutput(of: id, atMost: .max).bytes.count > 0)
        try host.restart(at: Self.start)
        #expect(host.place(of: id)?.loop == 1)
        host.receive(Array(Codec.encode(Envelope(.ping(nonce: 7))).bytes), on: id)
        host.settle(at: Self.start)
        let pong = Array(Codec.encode(Envelope(.pong(nonce: 7))).bytes)
        #expect(host.takeOutput(of: id, atMost: .max).bytes == pong)
    }

    @Test func `a peer that leaves is answered by the end of the connection`() throws {
        var drive = try HostDrive()
        drive.vehicle.send(.goodbye(Goodbye(.normal)), to: &drive.host)
        drive.host.settle(at: drive.now)
        try drive.vehicle.read(&drive.host, at: drive.now)
        #expect(drive.vehicle.isEnded)
        drive.host.peerClosed(drive.vehicle.id)
        drive.host.settle(at: drive.now)
        #expect(drive.host.connections == [drive.client.id])
    }

    @Test func `a peer that does not close after the Goodbye is dropped by the drain timeout`() throws {
        var drive = try HostDrive()
        drive.vehicle.send(.goodbye(Goodbye(.normal)), to: &drive.host)
        drive.host.settle(at: drive.now)
        try drive.vehicle.read(&drive.host, at: drive.now)
        try drive.pass(ConnectionLimits().drainTimeout, vehicleReads: false)
        #expect(drive.host.connections == [drive.client.id])
    }

    @Test func `a restart with a handover is not noticed by peers`() throws {
        var drive = try HostDrive()
        let ping = Array(Codec.encode(Envelope(.ping(nonce: 7))).bytes)
        // In the middle of a frame.
        drive.host.receive(Array(ping[..<10]), on: drive.vehicle.id)
        drive.host.settle(at: drive.now)
        try drive.host.restart(at: drive.now)
        drive.host.receive(Array(ping[10...]), on: drive.vehicle.id)
        drive.publish(.currentRoadName(["After"]))
        try drive.vehicle.read(&drive.host, at: drive.now)
        #expect(drive.vehicle.messages.contains(.pong(nonce: 7)))
        #expect(drive.vehicle.publications.last == .currentRoadName(["After"]))
        #expect(!drive.vehicle.isEnded)
        try drive.pass(.seconds(120))
        #expect(!drive.vehicle.isEnded)
        #expect(drive.host.connections == [drive.vehicle.id, drive.client.id])
    }

    @Test func `an observer is told at once after a quiet time, and then at intervals`() throws {
        var drive = try HostDrive()
        var observer = try Self.observer(of: &drive)
        #expect(try Self.told(&observer, &drive) == 0)
        try drive.pass(.milliseconds(10))
        drive.publish(.currentRoadName(["First"]))
        #expect(try Self.told(&observer, &drive) == 2)
        for name in ["Second", "Third"] {
            drive.now = drive.now + .milliseconds(2)
            drive.publish(.currentRoadName([name]))
            #expect(try Self.told(&observer, &drive) == 0)
        }
        try drive.pass(.milliseconds(6))
        #expect(try Self.told(&observer, &drive) == 4)
        try drive.pass(.milliseconds(10))
        drive.publish(.currentRoadName(["Fourth"]))
        #expect(try Self.told(&observer, &drive) == 2)
    }

    @Test func `an observer does not wait for what fills a message`() throws {
        var drive = try HostDrive()
        var observer = try Self.observer(of: &drive)
        _ = try Self.told(&observer, &drive)
        let name = String(repeating: "x", count: 200)
        for number in 0..<200 { drive.publish(.currentRoadName(["\(number) \(name)"])) }
        let told = try Self.told(&observer, &drive)
        #expect((200..<400).contains(told))
        try drive.pass(.milliseconds(10))
        let rest = try Self.told(&observer, &drive)
        // Acknowledgements cross, too.
        #expect((400...410).contains(told + rest))
    }

    @Test func `an observer misses nothing that happened before a restart`() throws {
        var drive = try HostDrive()
        var observer = try Self.observer(of: &drive)
        _ = try Self.told(&observer, &drive)
        for name in ["First", "Second"] { drive.publish(.currentRoadName([name])) }
        try drive.host.restart(at: drive.now)
        #expect(try Self.told(&observer, &drive) == 4)
        #expect(!observer.messages.contains { if case .observationGap = $0 { true } else { false } })
    }

    @Test func `an observer is answered after another one has left during a rest`() throws {
        var drive = try HostDrive()
        let gone = try Self.observer(of: &drive)
        drive.publish(.currentRoadName(["First"]))
        drive.host.reset(gone.id, at: drive.now)
        try drive.pass(.milliseconds(10))
        let hello = Hello(role: .observer(ObserverHello(observer: ObserverName(unchecked: "meter"))))
        var meter = try HostPeer(&drive.host, hello, at: drive.now)
        meter.send(.readCounters(ReadCounters()), to: &drive.host)
        drive.host.settle(at: drive.now)
        try meter.read(&drive.host, at: drive.now)
        #expect(meter.messages.contains { if case .counters = $0 { true } else { false } })
    }

    private static func observer(of drive: inout HostDrive) throws -> HostPeer {
        let hello = Hello(role: .observer(ObserverHello(observer: ObserverName(unchecked: "rig"))))
        let observer = try HostPeer(&drive.host, hello, at: drive.now)
        var observe = Observe()
        (observe.wantsState, observe.wantsEvents, observe.wantsFrames) = (true, true, true)
        observer.send(.observe(observe), to: &drive.host)
        drive.host.settle(at: drive.now)
        return observer
    }

    /// Of how many frames an observer was told since the last call: a publication crosses twice.
    private static func told(_ observer: inout HostPeer, _ drive: inout HostDrive) throws -> Int {
        let before = observer.messages.count
        try observer.read(&drive.host, at: drive.now)
        return observer.messages.dropFirst(before).count {
            if case .observedFrames = $0 { true } else { false }
        }
    }
}
