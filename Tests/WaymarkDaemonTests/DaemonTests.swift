import Foundation
import ListeningSockets
import NIOCore
import NIOPosix
import ProcessIO
import Testing
import WaymarkAccess
import WaymarkCodec
import WaymarkConfiguration
import WaymarkDaemon
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

@Suite(.timeLimit(.minutes(10))) struct IdentityTests {
    private static func identity(_ change: (inout Settings) -> Void = { _ in }) async throws
        -> GatewayIdentity
    {
        let folder = try Folder()
        let daemon = try await folder.daemon(change)
        let peer = try RawSocket(daemon.addresses[0])
        try peer.send(endpointHello("cluster"))
        let message = try peer.receive()
        await daemon.shutdown()
        guard case .welcome(let welcome)? = message else { throw NotWelcome() }
        return welcome.gateway
    }

    private struct NotWelcome: Error {}

    @Test func `Welcome has the instance of the settings, and a later epoch after each start`() async throws {
        let name = try #require(GatewayName("depot-3"))
        let first = try await Self.identity { $0.instance = name }
        let second = try await Self.identity { $0.instance = name }
        #expect(first.instance == name && second.instance == name)
        #expect(first.epoch < second.epoch)
    }

    @Test func `an epoch is higher than every one before, also if the clock was set back`() throws {
        let folder = try Folder()
        let times: [UInt64] = [1_000, 400, 400, 5_000, 1]
        let epochs = times.map { EpochFile(folder: folder.path).next(at: $0) }
        #expect(epochs.map(\.epoch) == [1_000, 1_001, 1_002, 5_000, 5_001])
        #expect(epochs.allSatisfy { $0.problem == nil })
        // A state that another process handed over began later, by its clock.
        try EpochFile(folder: folder.path).keep(9_000)
        try EpochFile(folder: folder.path).keep(8_000)
        #expect(EpochFile(folder: folder.path).next(at: 1).epoch == 9_001)
    }

    @Test func `an epoch that cannot be kept is the time, and the problem is told`() throws {
        let missing = EpochFile(folder: "/nonexistent").next(at: 7)
        #expect(missing.epoch == 7)
        #expect(missing.problem?.description == "cannot write /nonexistent/epoch: no such file or directory")
        let folder = try Folder()
        for damaged in ["", "x\n", "1 2\n", "\(UInt64.max)\n"] {
            try Data(damaged.utf8).write(to: URL(filePath: folder.path("epoch")))
            let epoch = EpochFile(folder: folder.path).next(at: 7)
            #expect(epoch.epoch == 7)
            #expect(epoch.problem?.description == "\(folder.path("epoch")) is no epoch", "\(damaged)")
            // The damaged file was replaced.
            let next = EpochFile(folder: folder.path).next(at: 7)
            #expect(next.epoch == 8 && next.problem == nil)
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: executable.path)))
    func `a daemon with a name has a higher epoch although its clock was set back`() throws {
        let folder = try Folder()
        // Of the year 2286. A clock that is right is set back by centuries then.
        let before: UInt64 = 9_999_999_999_999
        try Data("\(before)\n".utf8).write(to: URL(filePath: folder.path("epoch")))
        let starts: [(name: String, expected: UInt64?)] = [
            ("instance: depot-3", before + 1), ("", nil), ("instance: depot-3", before + 2),
        ]
        for (name, expected) in starts {
            let arguments = try folder.configuration(
                "\(name)\nlisteners: [{address: 'unix:\(folder.path("v"))', roles: [vehicle]}]")
            let run = try Run(arguments, environment: ["STATE_DIRECTORY": folder.path])
            let peer = try RawSocket(run.addresses(1)[0])
            try peer.send(vehicleHello)
            guard case .welcome(let welcome)? = try peer.receive() else { throw NotWelcome() }
            if let expected {
                #expect(welcome.gateway.epoch == expected)
            } else {
                #expect(welcome.gateway.epoch < before)
            }
            run.process.signal(SIGTERM)
            peer.close()
            #expect(run.status() == 0)
        }
    }

    @Test func `a gateway without a name draws one`() async throws {
        let names = [try await Self.identity(), try await Self.identity()].map(\.instance.rawValue)
        for name in names { #expect(name.contains(/^[0-9a-f]{32}$/), "\(name)") }
        #expect(names[0] != names[1])
    }
}

@Suite(.timeLimit(.minutes(10))) struct GoodbyeTests {
    /// More than the socket buffers of both ends can hold.
    static let flood = [UInt8](repeating: 0, count: 16_000_000)

    @Test(arguments: [0, 1])
    func `a Goodbye arrives while the peer still sends`(_ listener: Int) async throws {
        let folder = try Folder()
        let daemon = try await folder.daemon { $0.connection.drainTimeout = .seconds(15) }
        let peer = try RawSocket(daemon.addresses[listener])
        try peer.send(Self.flood)
        #expect(try peer.goodbye()?.code == .badMagic)
        await daemon.shutdown()
    }

    @Test(arguments: [0, 1])
    func `a refusal's Goodbye arrives while the peer still sends`(_ listener: Int) async throws {
        let folder = try Folder()
        let daemon = try await folder.daemon {
            $0.connectionsMax = 0
            $0.connection.drainTimeout = .seconds(15)
        }
        let peer = try RawSocket(daemon.addresses[listener])
        try peer.send(Self.flood)
        #expect(try peer.goodbye()?.code == .tooManyConnections)
        await daemon.shutdown()
    }

    @Test func `a shutdown ends in time even if peers do not disconnect`() async throws {
        let folder = try Folder()
        let log = LogRecorder()
        let daemon = try await folder.daemon(logger: log.logger) {
            $0.drainTimeout = .milliseconds(300)
            $0.connection.drainTimeout = .seconds(600)
        }
        // One peer sends nothing, the other stays connected. When the second is admitted, the first has been accepted.
        let silent = try RawSocket(daemon.addresses[0])
        let staying = try RawSocket(daemon.addresses[0])
        try staying.send(vehicleHello)
        guard case .welcome? = try staying.receive() else {
            Issue.record("not welcome")
            return
        }
        let time = await ContinuousClock().measure { await daemon.shutdown() }
        #expect(time < .seconds(300), "the shutdown waited for the time limits of connections")
        #expect(log.warnings == ["some peers did not disconnect in time, closing their connections"])
        for peer in [staying, silent] { #expect(try peer.goodbye()?.code == .shuttingDown) }
    }

    @Test func `a rule admits clients by the user id or a group id of the peer`() async throws {
        let folder = try Folder()
        for (subjects, isWelcome) in [
            (AccessRule.Subjects.users([UInt32(getuid())]), true), (.users([UInt32(getuid()) + 1]), false),
            (.groups([UInt32(getgid())]), true), (.groups([4_000_000_000]), false),
        ] {
            let daemon = try await folder.daemon {
                var rule = AccessRule(allow: true, [.navigation], origin: AccessOrigin(file: "f", line: 1))
                rule.subjects = subjects
                $0.policy.access = AccessPolicy(rules: [rule])
            }
            let peer = try RawSocket(daemon.addresses[0])
            try peer.send(navigationHello)
            switch try peer.receive() {
            case .welcome: #expect(isWelcome)
            case .goodbye(let goodbye): #expect(!isWelcome && goodbye.code == .notAuthorized)
            case let other: Issue.record("got \(String(describing: other))")
            }
            await daemon.shutdown()
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct LoopsTests {
    @Test func `endpoints on several loops receive the same frames in the same order`() async throws {
        let folder = try Folder()
        let daemon = try await folder.daemon { $0.threads = 4 }
        let endpoints = try (0..<12).map { number in
            let endpoint = try RawSocket(daemon.addresses[0])
            let hello = VehicleHello(
                vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "e\(number)"),
                features: [.currentRoadName])
            try endpoint.send(.hello(Hello(role: .vehicle(hello))))
            #expect(try endpoint.receive()?.type == .welcome)
            return endpoint
        }
        let client = try RawSocket(daemon.addresses[0])
        try client.send(navigationHello)
        #expect(try client.receive()?.type == .welcome)
        let vehicles = VehicleSelection.vehicles([VehicleID(unchecked: "car")])
        try client.send(.openSession(OpenSession(requestID: "r", vehicles: vehicles)))
        guard case .sessionOpened(let opened)? = try client.receive() else {
            Issue.record("no session")
            return
        }
        let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
        let publications: [Publication] =
            [.startGuidance(Trip(id: "t", origin: place, destination: place), generation: 1, .init())]
            + (1...500).map { .currentRoadName(["\($0)"]) }
        for (index, publication) in publications.enumerated() {
            let envelope = Envelope(
                .publication(publication), session: opened.session, sequence: UInt64(index) + 1)
            try client.send(Array(Codec.encode(envelope).bytes))
        }
        for endpoint in endpoints {
            var seen: [Int] = []
            while seen.last != 500, let message = try endpoint.receive() {
                if case .publication(.plain(.currentRoadName(let names))) = message {
                    seen += names.compactMap { Int($0) }
                }
            }
            #expect(seen.last == 500)
            #expect(seen == seen.sorted())
        }
        await daemon.shutdown()
    }
}

@Suite(.timeLimit(.minutes(10))) struct SocketFileTests {
    @Test func `a second daemon on the same socket fails, and the first one still serves`() async throws {
        let folder = try Folder()
        let first = try await folder.daemon()
        await #expect(throws: DaemonError.listener(.inUse(.unix(path: folder.path("socket"))))) {
            _ = try await folder.daemon()
        }
        let peer = try RawSocket(first.addresses[0])
        try peer.send(vehicleHello)
        #expect(try peer.receive()?.type == .welcome)
        await first.shutdown()
        #expect(folder.status("socket") == nil)
    }

    @Test func `the socket file of a killed daemon is replaced`() async throws {
        let folder = try Folder()
        _ = try RawSocket(boundTo: folder.path("socket"))
        #expect(folder.status("socket") != nil)
        let daemon = try await folder.daemon()
        let peer = try RawSocket(daemon.addresses[0])
        try peer.send(vehicleHello)
        #expect(try peer.receive()?.type == .welcome)
        await daemon.shutdown()
    }

    @Test func `a file that is not a socket is not replaced`() async throws {
        let folder = try Folder()
        let path = folder.path("socket")
        try Data("mine".utf8).write(to: URL(filePath: path))
        await #expect(throws: DaemonError.listener(.notASocket(path: path))) { _ = try await folder.daemon() }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    }

    @Test func `a datagram socket is not replaced`() async throws {
        let folder = try Folder()
        let other = try RawSocket(boundTo: folder.path("socket"), type: SOCK_DGRAM)
        let before = try #require(folder.status("socket"))
        await #expect(throws: DaemonError.self) { _ = try await folder.daemon() }
        #expect(folder.status("socket")?.st_ino == before.st_ino)
        withExtendedLifetime(other) {}
    }

    @Test func `a shutdown does not remove another daemon's socket file`() async throws {
        let folder = try Folder()
        let first = try await folder.daemon()
        unlink(folder.path("socket"))
        let second = try await folder.daemon()
        await first.shutdown()
        let peer = try RawSocket(second.addresses[0])
        try peer.send(vehicleHello)
        #expect(try peer.receive()?.type == .welcome)
        await second.shutdown()
    }

    @Test(arguments: [(nil, UInt32(0o600)), (0o666, 0o666), (0o660, 0o660)])
    func `the file has the mode of the settings`(_ mode: UInt32?, _ expected: UInt32) async throws {
        let folder = try Folder()
        let daemon = try await folder.daemon {
            $0.listeners[0].mode = mode
            $0.listeners[0].group = "\(getgid())"
        }
        let status = try #require(folder.status("socket"))
        #expect(status.st_mode & 0o777 == expected)
        #expect(status.st_gid == getgid())
        await daemon.shutdown()
    }

    @Test func `a listener adopts a listening socket, and does not remove its file`() async throws {
        let folder = try Folder()
        let inherited = try RawSocket(boundTo: folder.path("socket"))
        listen(inherited.descriptor, 5)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let driver = GatewayDriver(
            loops: [group.next()], policy: .init(), limits: .init(), logger: LogRecorder().logger,
            clock: { Instant(nanoseconds: 0) })
        let listener = try await Listener.adopt(
            copyOf: inherited.descriptor, currentPolicy: CurrentPolicy(ListenerPolicy(roles: [.vehicle])),
            driver: driver, group: group
        )
        #expect(listener.address == .unix(path: folder.path("socket")))
        let peer = try RawSocket(listener.address)
        try peer.send(vehicleHello)
        #expect(try peer.receive()?.type == .welcome)
        await listener.close()
        #expect(folder.status("socket") != nil)
        try await group.shutdownGracefully()
        await #expect(throws: ListenerError.self) {
            _ = try await Listener.adopt(
                copyOf: open("/dev/null", O_RDONLY), currentPolicy: CurrentPolicy(ListenerPolicy(roles: [])),
                driver: driver,
                group: .singletonMultiThreadedEventLoopGroup)
        }
    }

    @Test func `localhost is accepted if it resolves to a loopback address`() async throws {
        let folder = try Folder()
        let daemon = try await folder.daemon { $0.listeners[1].address = "tcp:localhost:0" }
        #expect(daemon.addresses[1].isLocal)
        await daemon.shutdown()
    }

    @Test func `if one listener cannot be opened, none stays open`() async throws {
        let folder = try Folder()
        await #expect(throws: DaemonError.self) {
            _ = try await folder.daemon { $0.listeners[1].address = "unix:\(folder.path("nowhere/socket"))" }
        }
        #expect(folder.status("socket") == nil)
    }
}

@Suite struct DescriptorTests {
    @Test func `with few descriptors a user gets its share, and silent connections a part of that`() {
        var limits = ConnectionLedger.Limits()
        limits.connectionsMax = 1_000
        Daemon.divide(&limits, Settings())
        #expect(limits.connectionsPerUserMax == 600)
        #expect(limits.handshakesPerUserMax == 150)
        #expect(limits.handshakesMax == 500)
    }

    @Test func `connections never need more descriptors than the limit allows`() {
        for limit in [0, 20, 64, 256, 1_024, 20_000, .max] {
            let (connections, refusals) = DescriptorLimit.share(limit, connectionsMax: 20_000, loops: 8)
            #expect((1...20_000).contains(connections))
            if limit > 64 { #expect(connections + refusals <= limit - 32 - 8 * 3) }
        }
        #expect(DescriptorLimit.share(1 << 20, connectionsMax: 20_000, loops: 64) == (20_000, 256))
    }
}
