import Foundation
import ListeningSockets
import Testing
import WaymarkConfiguration
import WaymarkGateway
import WaymarkProtocol
import WaymarkTransport

@testable import WaymarkDaemon

/// Matches inherited sockets with the listeners of the settings.
@Suite struct ListenerPlanTests {
    @Test func `a socket belongs to the listener with its name, otherwise to the one with its address`()
        throws
    {
        let folder = try Folder()
        let sockets = [
            try UnitSocket("cars", .tcp(host: "127.0.0.1", port: 0)),
            try UnitSocket("other", .unix(path: folder.path("n"))),
            try UnitSocket("cars", .unix(path: folder.path("v"))),
        ]
        var settings = Settings()
        settings.listeners = [
            .init(address: "unix:\(folder.path("n"))", roles: [.navigation]),
            .init(address: "unix:\(folder.path("own"))", roles: [.vehicle, .navigation]),
            .init(address: "tcp:0.0.0.0:1", socket: "cars", roles: [.vehicle]),
        ]
        settings.listeners[0].mode = 0o666
        settings.listeners[2].key = "secret"
        let inherited = UnitSocket.inherited(sockets)
        let plans = try ListenerPlan.all(of: settings, inheriting: inherited)
        let descriptors = inherited.sockets.map(\.descriptor)
        #expect(
            plans.map(\.address) == [
                sockets[1].address, .unix(path: folder.path("own")), sockets[0].address, sockets[2].address,
            ])
        #expect(
            plans.map(\.descriptor) == [descriptors[1], nil, descriptors[0], descriptors[2]])
        #expect(
            plans.map(\.policy.roles) == [[.navigation], [.vehicle, .navigation], [.vehicle], [.vehicle]])
        // Peers with the same key count as the same user on every socket.
        let key = ListenerKey(name: "cars", Array("secret".utf8))
        #expect(plans.map(\.policy.keys) == [[], [], [key], [key]])
    }

    @Test func `without settings the socket names of the package are used`() throws {
        let folder = try Folder()
        let vehicle = try UnitSocket("waymarkd-vehicle", .unix(path: folder.path("v")))
        let plans = try ListenerPlan.all(of: Settings(), inheriting: UnitSocket.inherited([vehicle]))
        #expect(plans.map(\.address) == [.unix(path: folder.path("v"))])
        #expect(plans.map(\.policy.roles) == [[.vehicle]])
        let stray = try UnitSocket("elsewhere", .unix(path: folder.path("e")))
        let inherited = UnitSocket.inherited([vehicle, stray])
        #expect(throws: DaemonError.self) { try ListenerPlan.all(of: Settings(), inheriting: inherited) }
        #expect(try ListenerPlan.all(of: Settings(), inheriting: .none).count == 4)
    }

    @Test func `observers see content by default where only the daemon's user can connect`() throws {
        let folder = try Folder()
        func visibility(_ address: String, _ observe: Visibility? = nil) throws -> Visibility? {
            var settings = Settings()
            settings.listeners = [.init(address: address, roles: [.observer])]
            settings.listeners[0].visibility = observe
            return try ListenerPlan.all(of: settings, inheriting: .none).first?.policy.visibility
        }
        func make(_ name: String, _ mode: Int) throws -> String {
            let path = folder.path(name)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            chmod(path, mode_t(mode))
            return "unix:\(path)/o"
        }
        chmod(folder.path, 0o755)
        #expect(try visibility(make("own", 0o700)) == .content)
        #expect(try visibility(make("own", 0o700), .state) == .state)
        #expect(try visibility(make("group", 0o750)) == .state)
        #expect(try visibility(make("all", 0o755)) == .state)
        #expect(try visibility("tcp:127.0.0.1:0") == .state)
        #expect(try visibility("unix:\(folder.path)/missing/o") == .state)
        // What is above decides too.
        _ = try make("own/inner", 0o755)
        #expect(try visibility("unix:\(folder.path)/own/inner/o") == .content)
        // Not the name counts, but where it leads.
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("own/link"), withDestinationPath: folder.path("all"))
        #expect(try visibility("unix:\(folder.path)/own/link/o") == .state)
        chmod(folder.path, 0o700)
    }

    @Test func `settings that are older than the package's socket for observers let observers connect`()
        throws
    {
        let folder = try Folder()
        let vehicle = try UnitSocket("waymarkd-vehicle", .unix(path: folder.path("v")))
        let observe = try UnitSocket("waymarkd-observe", .unix(path: folder.path("o")))
        var settings = Settings()
        settings.listeners = [.init(socket: "waymarkd-vehicle", roles: [.vehicle])]
        let plans = try ListenerPlan.all(of: settings, inheriting: UnitSocket.inherited([vehicle, observe]))
        #expect(plans.map(\.address) == [vehicle.address, observe.address])
        #expect(plans.map(\.policy.roles) == [[.vehicle], [.observer]])
        // Their folder is open to one user alone.
        #expect(plans.map(\.policy.visibility) == [.content, .content])
        // Other settings for the socket stay as they are, and without it nothing is added.
        settings.listeners.append(.init(address: "unix:\(folder.path("o"))", roles: [.navigation]))
        #expect(
            try ListenerPlan.all(of: settings, inheriting: UnitSocket.inherited([vehicle, observe]))
                .map(\.policy.roles) == [[.vehicle], [.navigation]])
        settings.listeners[1] = .init(socket: "waymarkd-observe", roles: [.vehicle])
        #expect(
            try ListenerPlan.all(of: settings, inheriting: UnitSocket.inherited([vehicle, observe]))
                .map(\.policy.roles) == [[.vehicle], [.vehicle]])
        settings.listeners.removeLast()
        #expect(
            try ListenerPlan.all(of: settings, inheriting: UnitSocket.inherited([vehicle])).map(\.address)
                == [vehicle.address])
    }

    /// FOLDER stands for the test's folder, PORT for the port of the socket, N for its descriptor.
    static let wrong: [(name: String, address: String, listeners: String, expected: String)] = [
        (
            "cars", "unix:FOLDER/v", "- socket: trucks\n    address: unix:/a\n    roles: [vehicle]",
            "inherited descriptor N (cars, unix:FOLDER/v) matches no listener in the settings"
        ),
        (
            "cars", "tcp:[::]:0", "- socket: cars\n    roles: [vehicle]",
            "f:2:5: cars: tcp:[::]:PORT can be reached from other machines; give the listener a key, "
                + "or set allow-anyone: true"
        ),
        (
            "cars", "unix:FOLDER/v",
            "- socket: cars\n    roles: [vehicle]\n  - address: unix:FOLDER/v\n    roles: [navigation]",
            "f:4:5: unix:FOLDER/v: conflicts with the listener on unix:FOLDER/v"
        ),
        (
            "cars", "unix:FOLDER/v",
            "- socket: cars\n    roles: [vehicle]\n  - socket: trucks\n    roles: [navigation]",
            "f:4:5: trucks: the service manager passed no socket with this name, "
                + "and the listener has no address"
        ),
    ]

    @Test(arguments: wrong.indices)
    func `a mismatch between sockets and listeners is an error`(_ index: Int) throws {
        let folder = try Folder()
        let wrong = Self.wrong[index]
        func filled(_ text: String) -> String { text.replacing("FOLDER", with: folder.path) }
        let socket = try UnitSocket(wrong.name, ListenAddress(filled(wrong.address)))
        let settings = try Configuration.read("listeners:\n  \(filled(wrong.listeners))\n", file: "f")
        let inherited = UnitSocket.inherited([socket])
        var expected = filled(wrong.expected).replacing("N (", with: "\(inherited.sockets[0].descriptor) (")
        if case .tcp(_, let port) = socket.address { expected.replace("PORT", with: "\(port)") }
        let error = try #require(throws: DaemonError.self) {
            try ListenerPlan.all(of: settings, inheriting: inherited)
        }
        #expect("\(error)" == expected)
        // A check without the sockets cannot find this.
        try Daemon.check(settings)
    }

    @Test func `a check finds errors that do not depend on inherited sockets`() throws {
        for (listeners, expected) in [
            (
                "- socket: a\n    roles: [vehicle]\n  - socket: a\n    roles: [navigation]",
                "f:4:5: a: another listener already has the socket name a"
            ),
            (
                "- socket: a\n    roles: [vehicle]\n    mode: 0660",
                "f:2:5: a: mode and group apply only to Unix sockets that the daemon opens"
            ),
        ] {
            let settings = try Configuration.read("listeners:\n  \(listeners)\n", file: "f")
            let error = #expect(throws: DaemonError.self) { try Daemon.check(settings) }
            #expect(error?.description == expected)
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct IdleExitTests {
    /// Settings with one listener for the inherited socket `a`, and the shortest idle time.
    private static var settings: Settings {
        var settings = Settings()
        settings.listeners = [.init(socket: "a", roles: [.vehicle])]
        settings.idleExit = .nanoseconds(1)
        settings.policy.limits.grace = .zero
        settings.connectionsMax = 100
        // A peer that other tests keep from answering must not be closed, because its daemon would be idle then.
        settings.connection.handshakeTimeout = .seconds(600)
        settings.connection.keepalive = .seconds(600)
        return settings
    }

    @Test(arguments: [1, 3])
    func `no connection is lost between two daemons`(_ threads: Int) async throws {
        let folder = try Folder()
        let unit = try UnitSocket("a", .unix(path: folder.path("v")))
        let address = unit.address
        let (results, result) = AsyncStream.makeStream(of: MessageType?.self)
        let left = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            for number in 0..<300 {
                // Every 30th peer connects after a daemon has exited, the others while one may be about to exit.
                let patience = DispatchTime.now() + .milliseconds(Patience.milliseconds)
                if number % 30 == 0, left.wait(timeout: patience) == .timedOut { break }
                let peer = try? RawSocket(address)
                try? peer?.send(endpointHello("e\(number)"))
                let type = (try? peer?.receive())?.type
                result.yield(type)
                guard type == .welcome else { break }
            }
            result.finish()
        }
        let daemons = Task {
            var count = 0
            var settings = Self.settings
            settings.threads = threads
            while !Task.isCancelled {
                let daemon = try await Daemon.start(
                    settings, inheriting: UnitSocket.inherited([unit]), logger: LogRecorder().logger)
                await daemon.waitUntilIdle()
                await daemon.shutdown()
                left.signal()
                count += 1
            }
            return count
        }
        var count = 0
        for await type in results {
            #expect(type == .welcome)
            count += 1
        }
        #expect(count == 300)
        daemons.cancel()
        #expect(try await daemons.value >= 10)
    }

    @Test func `a daemon that opened a listener itself does not exit when idle, and warns`() async throws {
        let folder = try Folder()
        var settings = Self.settings
        settings.listeners.append(.init(address: "unix:\(folder.path("own"))", roles: [.vehicle]))
        let log = LogRecorder()
        let unit = try UnitSocket("a", .unix(path: folder.path("v")))
        let daemon = try await Daemon.start(
            settings, inheriting: UnitSocket.inherited([unit]), logger: log.logger)
        #expect(
            log.warnings == ["ignoring times.idle-exit, because the daemon opened a listener itself"])
        let waiting = Task { await daemon.waitUntilIdle() }
        for address in daemon.addresses {
            let peer = try RawSocket(address)
            try peer.send(vehicleHello)
            #expect(try peer.receive()?.type == .welcome)
        }
        waiting.cancel()
        await waiting.value
        await daemon.shutdown()
        #expect(folder.status("own") == nil)
        #expect(folder.status("v") != nil)
    }

    @Test
    func
        `a daemon that opens a listener at a reload no longer exits when idle, and inherited sockets stay open`()
        async throws
    {
        let folder = try Folder()
        let unit = try UnitSocket("a", .unix(path: folder.path("v")))
        var daemon = try await Daemon.start(
            Self.settings, inheriting: UnitSocket.inherited([unit]), logger: LogRecorder().logger)
        var peer: RawSocket? = try RawSocket(daemon.addresses[0])
        try peer?.send(vehicleHello)
        #expect(try peer?.receive()?.type == .welcome)
        let started = daemon
        let waiting = Task { await started.waitUntilIdle() }
        var settings = Self.settings
        settings.listeners.append(.init(address: "unix:\(folder.path("own"))", roles: [.vehicle]))
        try await daemon.reload(settings)
        #expect(daemon.addresses.count == 2)
        try peer?.send(.ping(nonce: 1))
        #expect(try peer?.receive() == .pong(nonce: 1))
        peer = nil
        for address in daemon.addresses {
            let next = try RawSocket(address)
            try next.send(vehicleHello)
            #expect(try next.receive()?.type == .welcome)
        }
        waiting.cancel()
        await waiting.value
        await daemon.shutdown()
    }

    @Test func `a daemon that a reload has begun for is not idle until the reload has ended`() async throws {
        let folder = try Folder()
        let unit = try UnitSocket("a", .unix(path: folder.path("v")))
        let daemon = try await Daemon.start(
            Self.settings, inheriting: UnitSocket.inherited([unit]), logger: LogRecorder().logger)
        await daemon.waitUntilIdle()
        #expect(try await daemon.driver.isIdle())
        // The question is asked once more behind the wait: a reload may have begun in between.
        daemon.suspendIdleExit()
        #expect(try await !daemon.driver.isIdle())
        daemon.resumeIdleExit()
        #expect(try await daemon.driver.isIdle())
        await daemon.shutdown()
    }

    @Test func `a daemon still exits when idle after a reload that failed`() async throws {
        let folder = try Folder()
        try Data("mine".utf8).write(to: URL(filePath: folder.path("file")))
        let unit = try UnitSocket("a", .unix(path: folder.path("v")))
        var daemon = try await Daemon.start(
            Self.settings, inheriting: UnitSocket.inherited([unit]), logger: LogRecorder().logger)
        var settings = Self.settings
        settings.listeners.append(.init(address: "unix:\(folder.path("file"))", roles: [.vehicle]))
        await #expect(throws: DaemonError.self) { try await daemon.reload(settings) }
        await daemon.waitUntilIdle()
        #expect(try await daemon.driver.isIdle())
        await daemon.shutdown()
    }
}

/// The built `waymarkd` with inherited sockets, as in sd_listen_fds(3).
@Suite(.timeLimit(.minutes(10)), .enabled(if: FileManager.default.isExecutableFile(atPath: executable.path)))
struct ActivationTests {
    /// Settings with the inherited sockets `waymarkd-vehicle` for vehicles, and a listener for navigation clients that the
    /// daemon opens.
    private static func settings(in folder: Folder) throws -> [String] {
        try folder.configuration(
            """
            listeners:
              - socket: waymarkd-vehicle
                roles: [vehicle]
              - address: unix:\(folder.path("n"))
                roles: [navigation]
            """)
    }

    @Test func `peers connect through every kind of inherited socket, and the sockets stay open`() throws {
        let folder = try Folder()
        let units = [
            try UnitSocket("waymarkd-vehicle", .tcp(host: "127.0.0.1", port: 0)),
            try UnitSocket("waymarkd-vehicle", .tcp(host: "::1", port: 0)),
            try UnitSocket("waymarkd-vehicle", .unix(path: folder.path("v"))),
        ]
        // A peer that connects before the daemon starts is served as well.
        let early = try RawSocket(units[2].address)
        try early.send(vehicleHello)
        let run = try ActivatedRun(units, Self.settings(in: folder))
        #expect(try early.receive()?.type == .welcome)
        for (number, unit) in units.enumerated() {
            let peer = try RawSocket(unit.address)
            try peer.send(endpointHello("cluster", of: "car-\(number)"))
            #expect(try peer.receive()?.type == .welcome)
            let client = try RawSocket(unit.address)
            try client.send(navigationHello)
            #expect(try client.goodbye()?.code == .roleNotAllowed)
        }
        let client = try RawSocket(.unix(path: folder.path("n")))
        try client.send(navigationHello)
        #expect(try client.receive()?.type == .welcome)
        kill(run.identifier, SIGTERM)
        #expect(run.status() == 0)
        #expect(folder.status("n") == nil)
        #expect(folder.status("v") != nil)
        for unit in units { _ = try RawSocket(unit.address) }
    }

    @Test
    func
        `an inherited descriptor that is not a listening stream socket with a file or port is refused by name`()
        throws
    {
        let folder = try Folder()
        let path = ListenAddress.unix(path: folder.path("v"))
        for (unit, reason) in [
            (
                try UnitSocket(
                    "waymarkd-vehicle", .tcp(host: "127.0.0.1", port: 0), type: SOCK_DGRAM, isListening: false
                ),
                "(waymarkd-vehicle) is not a listening stream socket, TCP or Unix"
            ),
            (
                try UnitSocket("waymarkd-vehicle", .tcp(host: "::1", port: 0), isListening: false),
                "(waymarkd-vehicle) is not a listening stream socket, TCP or Unix"
            ),
            (try UnitSocket("waymarkd-vehicle", nil), "(waymarkd-vehicle) is a Unix socket without a file"),
            (
                try UnitSocket("telephone", path),
                "(telephone, \(path)) matches no listener in the settings"
            ),
        ] {
            let run = try ActivatedRun([unit], Self.settings(in: folder))
            #expect(run.says("inherited descriptor 3 \(reason)"))
            #expect(run.status() == 78)
        }
    }

    @Test func `it exits when it is idle, and the next process serves the next connection`() throws {
        let folder = try Folder()
        let unit = try UnitSocket("waymarkd-vehicle", .unix(path: folder.path("v")))
        let arguments = try folder.configuration("times: { grace: 0s, idle-exit: 50ms }")
        for _ in 0..<2 {
            let peer = try RawSocket(unit.address)
            try peer.send(vehicleHello)
            let run = try ActivatedRun([unit], arguments)
            #expect(try peer.receive()?.type == .welcome)
            peer.close()
            #expect(run.says("idle, exiting until the next connection"))
            #expect(run.status() == 0)
        }
    }
}
