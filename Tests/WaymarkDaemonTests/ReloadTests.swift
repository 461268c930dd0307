import Foundation
import ListeningSockets
import Logging
import Synchronization
import Systemd
import Testing
import WaymarkAccess
import WaymarkConfiguration
import WaymarkDaemon
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

@Suite(.timeLimit(.minutes(10))) struct ReloadTests {
    @Test func `a reload opens and closes listeners without disturbing the peers of the others`() async throws
    {
        let folder = try Folder()
        let log = LogRecorder()
        var daemon = try await folder.daemon(logger: log.logger)
        let staying = try RawSocket.welcomed(daemon.addresses[0], vehicleHello)
        let leaving = try RawSocket.welcomed(daemon.addresses[1], otherVehicleHello)
        try await daemon.reload(
            folder.settings {
                $0.listeners[1] = .init(address: "unix:\(folder.path("new"))", roles: [.navigation])
            })
        #expect(daemon.addresses == [.unix(path: folder.path("socket")), .unix(path: folder.path("new"))])
        #expect(try staying.isAnswered())
        #expect(try leaving.goodbye()?.code == .shuttingDown)
        _ = try RawSocket.welcomed(daemon.addresses[1], navigationHello)
        // A second reload reverts it.
        try await daemon.reload(folder.settings())
        #expect(folder.status("new") == nil)
        #expect(try staying.isAnswered())
        _ = try RawSocket.welcomed(daemon.addresses[1], otherVehicleHello)
        await daemon.shutdown()
    }

    @Test func `peers that the new settings do not allow get a Goodbye immediately`() async throws {
        let folder = try Folder()
        var daemon = try await folder.daemon { $0.listeners[0].key = "old" }
        let keyless = try RawSocket.welcomed(daemon.addresses[1], otherVehicleHello)
        let keyed = try RawSocket(daemon.addresses[0])
        try keyed.send(.hello(navigation(credential: "old")))
        #expect(try keyed.receive()?.type == .welcome)
        try await daemon.reload(folder.settings { $0.listeners[0].key = "new" })
        #expect(try keyed.goodbye()?.code == .rulesChanged)
        let second = try RawSocket(daemon.addresses[0])
        try second.send(.hello(navigation("second", credential: "new")))
        #expect(try second.receive()?.type == .welcome)
        // The same for a user and for a role that are no longer allowed.
        try await daemon.reload(
            folder.settings {
                $0.listeners[0].key = "new"
                var clients = AccessRule(allow: true, [.navigation], origin: AccessOrigin(file: "f", line: 1))
                clients.subjects = .users([UInt32(getuid()) + 1])
                let vehicles = AccessRule(allow: true, [.vehicle], origin: AccessOrigin(file: "f", line: 2))
                $0.policy.access = AccessPolicy(rules: [clients, vehicles])
            })
        #expect(try second.goodbye()?.code == .rulesChanged)
        #expect(try keyless.isAnswered())
        try await daemon.reload(folder.settings { $0.listeners[1].roles = [.navigation] })
        #expect(try keyless.goodbye()?.code == .roleNotAllowed)
        await daemon.shutdown()
    }

    @Test func `a Hello after a reload is checked against the new policy, even on an older connection`()
        async throws
    {
        let folder = try Folder()
        var daemon = try await folder.daemon()
        let early = try RawSocket(daemon.addresses[0])
        _ = try await daemon.census()
        try await daemon.reload(folder.settings { $0.listeners[0].roles = [.vehicle] })
        _ = try await daemon.census()
        try early.send(navigationHello)
        #expect(try early.goodbye()?.code == .roleNotAllowed)
        await daemon.shutdown()
    }

    @Test func `new limits and policies apply after a reload`() async throws {
        let folder = try Folder()
        let log = LogRecorder()
        var daemon = try await folder.daemon(logger: log.logger)
        let first = try RawSocket.welcomed(daemon.addresses[0], vehicleHello)
        try await daemon.reload(
            folder.settings {
                $0.connectionsMax = 1
                $0.policy.withheldFeatures = [.currentRoadName]
                $0.threads = 2
                $0.listeners[0].mode = 0o666
            })
        let refused = try RawSocket(daemon.addresses[0])
        #expect(try refused.goodbye()?.code == .tooManyConnections)
        #expect(try first.isAnswered())
        #expect(log.warnings.contains("some changed settings need a restart, ignoring them until then"))
        #expect(folder.status("socket").map { $0.st_mode & 0o777 } == 0o600)
        try await daemon.reload(folder.settings { $0.policy.withheldFeatures = [.currentRoadName] })
        let second = try RawSocket(daemon.addresses[0])
        try second.send(otherVehicleHello)
        guard case .welcome(let welcome)? = try second.receive() else {
            Issue.record("not welcome")
            return
        }
        #expect(
            welcome.features.first { $0.feature == .currentRoadName }
                == FeatureGrant(.currentRoadName, withheld: .policy))
        await daemon.shutdown()
    }

    @Test func `invalid settings or a listener that cannot be opened change nothing`() async throws {
        let folder = try Folder()
        var daemon = try await folder.daemon()
        let before = daemon.addresses
        let peer = try RawSocket.welcomed(before[1], vehicleHello)
        try Data("mine".utf8).write(to: URL(filePath: folder.path("file")))
        let wrong: [Settings.Listener] = [
            .init(address: "tcp:0.0.0.0:0", roles: [.vehicle]),
            .init(address: "unix:\(folder.path("file"))", roles: [.vehicle]),
        ]
        for listener in wrong {
            await #expect(throws: DaemonError.self) {
                try await daemon.reload(
                    folder.settings {
                        $0.listeners = [
                            .init(address: "unix:\(folder.path("new"))", roles: [.vehicle]), listener,
                        ]
                        $0.connectionsMax = 1
                    })
            }
            #expect(daemon.addresses == before)
            #expect(folder.status("new") == nil)
        }
        #expect(try peer.isAnswered())
        _ = try RawSocket.welcomed(before[0], navigationHello)
        await daemon.shutdown()
    }

    @Test func `a source rereads the file, and the command line overrides it`() throws {
        let folder = try Folder()
        let path = folder.path("waymarkd.yaml")
        let source = SettingsSource(
            file: path, listeners: [.init(address: "unix:/v", roles: [.vehicle])], logLevel: "error")
        #expect(throws: SettingsError.self) { try source.read() }
        try Data("log-level: debug\nthreads: 2\n".utf8).write(to: URL(filePath: path))
        var settings = try source.read()
        #expect(settings.logLevel == "error" && settings.threads == 2 && settings.listeners.count == 1)
        try Data("threads: 3\n".utf8).write(to: URL(filePath: path))
        settings = try source.read()
        #expect(settings.threads == 3)
        try Data("\nthreads: 0\n".utf8).write(to: URL(filePath: path))
        let error = #expect(throws: SettingsError.self) { try source.read() }
        #expect(error?.description.hasPrefix("\(path):2:10: threads must be") == true)
    }

    @Test(arguments: ["", "\n\n", "# log-level: debug\n", "{}\n"])
    func `a reload of a file without settings is refused, a start with it is not`(_ text: String) async throws
    {
        let folder = try Folder()
        let path = folder.path("waymarkd.yaml")
        let source = SettingsSource(file: path)
        try Data(text.utf8).write(to: URL(filePath: path))
        _ = try source.read()
        await #expect(throws: SettingsError.empty(file: path)) { try await source.readAgain() }
        try Data("threads: 3\n".utf8).write(to: URL(filePath: path))
        #expect(try await source.readAgain().threads == 3)
    }

    @Test func `settings and keys in a pipe without a writer are refused at once`() async throws {
        let folder = try Folder()
        let (pipe, file) = (folder.path("pipe"), folder.path("waymarkd.yaml"))
        #expect(mkfifo(pipe, 0o600) == 0)
        await #expect(throws: SettingsError.unreadable(file: pipe, reason: "it is not a regular file")) {
            try await SettingsSource(file: pipe).readAgain()
        }
        let listener =
            "listeners:\n  - address: unix:/a\n    roles: [vehicle]\n    keys:\n      - name: k\n        key-file: pipe\n"
        try Data(listener.utf8).write(to: URL(filePath: file))
        let error = await #expect(throws: SettingsError.self) {
            try await SettingsSource(file: file).readAgain()
        }
        #expect(error?.description.contains("it is not a regular file") == true)
    }

    @Test func `the log follows its threshold`() {
        let sent = Mutex<[String]>([])
        let threshold = LogThreshold(.warning)
        let logger = Logger(label: "test") { label in
            let journal = JournalLogHandler(label: label, level: .critical) { fields in
                sent.withLock { $0 += fields.filter { $0.name == "MESSAGE" }.map(\.value) }
            }
            return ThresholdLogHandler(journal, threshold: threshold)
        }
        logger.info("one")
        threshold.set(.info)
        logger.info("two")
        logger.debug("three")
        #expect(sent.withLock { $0 } == ["two"])
    }
}

private let otherVehicleHello = Message.hello(
    Hello(
        role: .vehicle(
            VehicleHello(
                vehicle: VehicleID(unchecked: "bus"), endpoint: EndpointName(unchecked: "cluster"),
                features: [.currentRoadName]))))

/// A navigation client's, with a key.
private func navigation(_ client: String = "app", credential: String) -> Hello {
    var hello = Hello(role: .navigation(NavigationHello(client: ClientID(unchecked: client), features: [])))
    hello.credential = Credential(Array(credential.utf8))
    return hello
}
