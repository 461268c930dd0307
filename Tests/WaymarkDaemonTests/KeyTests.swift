import Foundation
import ListeningSockets
import ProcessIO
import Testing
import WaymarkConfiguration
import WaymarkDaemon
import WaymarkProtocol
import WaymarkTransport

@Suite(.timeLimit(.minutes(10))) struct KeyTests {
    private static let listener = """
        listeners:
          - address: unix:FOLDER/socket
            roles: [vehicle, navigation]
            keys:
              - {name: fleet, key-file: fleet.key}
              - {name: phones, key-file: FOLDER/phones.key}
        """

    static func write(_ folder: Folder, _ name: String, _ text: String, mode: Int = 0o640) throws {
        try Data(text.utf8).write(to: URL(filePath: folder.path(name)))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path(name))
    }

    /// Settings in a file in the folder, with `FOLDER` replaced by its path.
    private static func source(_ folder: Folder, _ text: String = Self.listener) throws -> SettingsSource {
        try Self.write(folder, "f.yaml", text.replacing("FOLDER", with: folder.path))
        return SettingsSource(file: folder.path("f.yaml"))
    }

    /// A key that is long enough, and another one for each letter.
    private static func secret(_ letter: String) -> String { String(repeating: letter, count: 16) }

    private static func welcomed(
        _ daemon: Daemon, _ vehicle: String, key: String
    ) throws -> RawSocket { try RawSocket.welcomed(daemon.addresses[0], Self.hello(vehicle, key: key)) }

    static func hello(_ vehicle: String, key: String) -> Message {
        var hello = Hello(
            role: .vehicle(
                VehicleHello(
                    vehicle: VehicleID(unchecked: vehicle), endpoint: EndpointName(unchecked: "cluster"),
                    features: [])))
        hello.credential = Credential(Array(key.utf8))
        return .hello(hello)
    }

    @Test func `a reload closes exactly the connections whose key was removed or replaced`() async throws {
        let folder = try Folder()
        try Self.write(folder, "fleet.key", "the old secret key\n")
        try Self.write(folder, "phones.key", "the key of phones")
        var daemon = try await Daemon.start(
            try Self.source(folder).read(), logger: LogRecorder().logger)
        let fleet = try Self.welcomed(daemon, "bus", key: "the old secret key")
        let phone = try Self.welcomed(daemon, "phone", key: "the key of phones")
        let wrong = try RawSocket(daemon.addresses[0])
        try wrong.send(Self.hello("car", key: "the new secret key"))
        #expect(try wrong.goodbye()?.code == .notAuthenticated)

        // While a key is replaced, both are valid.
        try Self.write(folder, "fleet-new.key", "the new secret key\r\n")
        let rotating = Self.listener + "\n      - {name: fleet, key-file: fleet-new.key}\n"
        try await daemon.reload(try Self.source(folder, rotating).read())
        let next = try Self.welcomed(daemon, "tram", key: "the new secret key")
        #expect(try fleet.isAnswered() && phone.isAnswered())

        // The old key's file gets other content.
        try Self.write(folder, "fleet.key", "the newest secret key")
        try await daemon.reload(try Self.source(folder, rotating).read())
        #expect(try fleet.goodbye()?.code == .rulesChanged)
        #expect(try next.isAnswered() && phone.isAnswered())

        // Another key is removed.
        let removed = rotating.replacing("      - {name: phones, key-file: FOLDER/phones.key}\n", with: "")
        try await daemon.reload(try Self.source(folder, removed).read())
        #expect(try phone.goodbye()?.code == .rulesChanged)
        #expect(try next.isAnswered())
        await daemon.shutdown()
    }

    @Test func `keys of one name are one user, and others are not`() async throws {
        let folder = try Folder()
        for name in ["a", "b", "c"] { try Self.write(folder, name, Self.secret(name)) }
        let source = try Self.source(
            folder,
            """
            listeners:
              - address: tcp:127.0.0.1:0
                roles: [vehicle]
                keys: [{name: one, key-file: a}, {name: one, key-file: b}, {name: two, key-file: c}]
            """)
        let daemon = try await Daemon.start(try source.read(), logger: LogRecorder().logger)
        _ = try Self.welcomed(daemon, "bus", key: Self.secret("a"))
        for (key, code) in [("b", CloseCode?.none), ("c", .idInUse)] {
            let peer = try RawSocket(daemon.addresses[0])
            guard case .hello(var hello) = Self.hello("bus", key: Self.secret(key)),
                case .vehicle(var vehicle) = hello.role
            else { return }
            vehicle.endpoint = EndpointName(unchecked: "hud-\(key)")
            hello.role = .vehicle(vehicle)
            try peer.send(.hello(hello))
            if let code {
                #expect(try peer.goodbye()?.code == code)
            } else {
                #expect(try peer.receive()?.type == .welcome)
            }
        }
        await daemon.shutdown()
    }

    static let unusable: [(content: String?, reason: String)] = [
        (nil, "no such file or directory"), ("", "it is empty"), ("\n", "it is empty"),
        ("\r\n", "it is empty"),
        (String(repeating: "k", count: 15), "a key has 16 to 256 bytes, this one 15"),
        (String(repeating: "k", count: 257), "a key has 16 to 256 bytes, this one 257"),
        (String(repeating: "k", count: 2_000_000), "it is larger than 1 MiB"),
    ]

    @Test(arguments: unusable.indices)
    func `an unusable key file is an error that names the file and the reason`(_ index: Int) throws {
        let folder = try Folder()
        let (content, reason) = Self.unusable[index]
        try Self.write(folder, "phones.key", "the key of phones")
        if let content { try Self.write(folder, "fleet.key", content) }
        let source = try Self.source(folder)
        let error = try #require(throws: SettingsError.self) { try source.read() }
        #expect("\(error)" == "\(folder.path("f.yaml")):5:9: cannot use the key file fleet.key: \(reason)")
    }

    @Test func `a folder and a credential without its folder are errors`() throws {
        let folder = try Folder()
        for (file, reason) in [
            ("/", "it is a folder, not a file"),
            (
                "$CREDENTIALS_DIRECTORY/fleet",
                "CREDENTIALS_DIRECTORY is not set; the service manager sets it for its services"
            ),
        ] {
            let text = Self.listener.replacing("fleet.key", with: file)
            let error = try #require(throws: SettingsError.self) { try Self.source(folder, text).read() }
            #expect("\(error)".hasSuffix("cannot use the key file \(file): \(reason)"), "\(error)")
        }
    }

    @Test func `a key file that every user can read is an error; the shortest and longest keys are valid`()
        throws
    {
        let folder = try Folder()
        try Self.write(folder, "fleet.key", String(repeating: "k", count: 256) + "\n")
        try Self.write(folder, "phones.key", String(repeating: "k", count: 16))
        try Daemon.check(try Self.source(folder).read())
        try Self.write(folder, "phones.key", String(repeating: "k", count: 16), mode: 0o644)
        let error = try #require(throws: SettingsError.self) { try Self.source(folder).read() }
        #expect("\(error)".hasSuffix("phones.key: every user can read it; run chmod o-r"), "\(error)")
    }

    @Test func `two entries with the same key are an error`() throws {
        let folder = try Folder()
        try Self.write(folder, "fleet.key", "the same secret key")
        try Self.write(folder, "phones.key", "the same secret key\n")
        let settings = try Self.source(folder).read()
        let error = try #require(throws: DaemonError.self) { try Daemon.check(settings) }
        #expect("\(error)".hasSuffix("the key phones is the same as the key fleet"))
    }

    @Test func `settings whose key files were not read are an error`() throws {
        let settings = try Configuration.read(Self.listener, file: "f")
        #expect(throws: DaemonError.self) { try Daemon.check(settings) }
    }
}

/// The built `waymarkd`.
@Suite(.timeLimit(.minutes(10)), .enabled(if: FileManager.default.isExecutableFile(atPath: executable.path)))
struct AccessExecutableTests {
    private static let rules = """
        listeners:
          - address: unix:FOLDER/socket
            roles: [vehicle, navigation]
            keys: [{name: fleet, key-file: $CREDENTIALS_DIRECTORY/fleet, roles: [vehicle], vehicles: [bus-*]}]
        rules:
          - allow: navigation
            user: root
            vehicles: [bus-*]
            clients: [phone-*]
            priority: 5
          - {allow: vehicle, key: fleet}
          - {refuse: [vehicle, navigation], group: root, vehicles: car}
        """

    @Test(arguments: [
        (
            "user=root guide bus-7 as=phone-1 priority=9", Int32(0),
            "allowed: user root (0) may guide bus-7 as phone-1, with priority 5 instead of 9"
        ),
        ("user=0 guide bus-7 as=app", 1, "refused: user 0 may not guide bus-7 as app"),
        ("key=fleet be bus-7", 0, "allowed: key fleet may be bus-7"),
        ("key=fleet be car", 1, "refused: key fleet may not be car"),
        ("key=fleet guide bus-7", 1, "refused: key fleet may not guide bus-7"),
        ("group=root be car", 1, "refused: group root (0) may not be car"),
        ("user=root observe car", 1, "refused: user root (0) may not observe car"),
        ("guide bus-7", 1, "refused: a peer without user and key may not guide bus-7"),
        ("user=root drive bus-7", 64, "there is no verb"), ("user=root guide", 64, "there is no vehicle"),
        ("user=no-such-user be car", 64, "there is no user no-such-user"),
        ("key=other be car", 64, "no listener has a key named other"),
        ("be c%r", 64, "c%r is not a vehicle id"),
        ("be car as=x", 64, "belongs to \"guide\""),
        ("simulate car priority=1", 64, "belongs to \"guide\""),
        ("user=0 simulate car as=app", 1, "refused: user 0 may not simulate car"),
        ("colour=red be car", 64, "\"colour=\" is not understood"),
        ("user=0 user=1 be car", 64, "user= is given twice"), ("guide car priority=many", 64, "an integer"),
    ])
    func `a question is answered with the rule that decides`(
        _ question: String, _ status: Int32, _ expected: String
    ) throws {
        let folder = try Folder()
        try KeyTests.write(folder, "fleet", "the key of the fleet")
        let file = try folder.configuration(Self.rules.replacing("FOLDER", with: folder.path))
        let (found, text) = try Self.run(
            ["--check-config", "--explain", question] + file, ["CREDENTIALS_DIRECTORY": folder.path])
        #expect(text.contains(expected), "\(question): \(text)")
        #expect(found == .status(status))
    }

    @Test func `an answer names the file and line of the rule, and why the rules before it do not apply`()
        throws
    {
        let folder = try Folder()
        try KeyTests.write(folder, "fleet", "the key of the fleet")
        let file = try folder.configuration(Self.rules.replacing("FOLDER", with: folder.path))
        let (_, text) = try Self.run(
            ["--check-config", "--explain", "group=0 be car"] + file, ["CREDENTIALS_DIRECTORY": folder.path])
        let path = folder.path("config.yaml")
        #expect(
            text.split(separator: "\n") == [
                "refused: group 0 may not be car",
                "the rule at \(path):12 decides: refuse vehicle navigation, group root, vehicles car",
                "  not \(path):6 (allow navigation, user root, vehicles bus-*, clients phone-*, priority 5): "
                    + "it does not name the role vehicle",
                "  not \(path):11 (allow vehicle, key fleet): it is about others",
            ])
    }

    @Test func `the log says once that there are no rules`() throws {
        let folder = try Folder()
        let listeners = "listeners: [{address: 'unix:\(folder.path("s"))', roles: [vehicle, navigation]}]"
        let open = try Run(try folder.configuration(listeners))
        #expect(open.says("no access rules"))
        open.process.signal(SIGTERM)
        #expect(!open.says("no access rules"))
        let closed = try Run(try folder.configuration("\(listeners)\nrules: [{allow: vehicle}]"))
        var lines = ""
        while !lines.contains("listening"), let line = closed.line() { lines += line }
        closed.process.signal(SIGTERM)
        #expect(!lines.contains("no access rules"))
        #expect(!closed.says("no access rules"))
    }

    @Test func `a reload on SIGHUP ends what the new rules refuse, and the log names the rule`() throws {
        let folder = try Folder()
        let listeners = "listeners: [{address: 'unix:\(folder.path("s"))', roles: [vehicle, navigation]}]"
        let run = try Run(
            ["--reload-on-hangup"] + folder.configuration(listeners), environment: ["NOTIFY_SOCKET": ""])
        let address = try run.addresses(1)[0]
        let car = try RawSocket.welcomed(address, endpointHello("cluster", of: "car"))
        let bus = try RawSocket.welcomed(address, endpointHello("cluster", of: "bus"))
        let client = try RawSocket.welcomed(address, navigationHello)
        let ids = ["car", "bus"].map { VehicleID(unchecked: $0) }
        try client.send(.openSession(OpenSession(requestID: "r", vehicles: .vehicles(ids))))
        guard case .sessionOpened(let opened)? = try client.receive() else {
            Issue.record("no session")
            return
        }
        _ = try folder.configuration(
            """
            \(listeners)
            rules:
              - {refuse: vehicle, vehicles: bus}
              - {allow: vehicle, user: \(getuid())}
              - {refuse: navigation, vehicles: car}
              - {allow: navigation}
            """)
        kill(run.process.id, SIGHUP)
        #expect(try bus.codeAtEnd() == .rulesChanged)
        let file = folder.path("config.yaml")
        #expect(run.says("rule=\(file):3"))
        #expect(run.says("rule=\(file):5"))
        #expect(try car.isEnded(opened.session))
        bus.close()
        // A new Hello and a new session are compared with the same rules.
        let late = try RawSocket(address)
        try late.send(endpointHello("hud", of: "bus"))
        #expect(try late.goodbye()?.code == .notAuthorized)
        try client.send(.openSession(OpenSession(requestID: "s", vehicles: .vehicles([ids[0]]))))
        while let message = try client.receive() {
            guard case .error(let rejection) = message else { continue }
            #expect(rejection.code == .notAuthorized)
            break
        }
        #expect(try car.isAnswered())
        run.process.signal(SIGTERM)
        for peer in [car, client] { peer.close() }
        #expect(run.status() == 0)
    }

    @Test func `a restart closes the connections whose key was replaced meanwhile`() throws {
        let folder = try Folder()
        let manager = try StoringManager()
        let unit = try UnitSocket("a", .tcp(host: "127.0.0.1", port: 0))
        let settings = try folder.configuration(
            """
            listeners:
              - socket: a
                roles: [vehicle]
                keys: [{name: fleet, key-file: fleet}, {name: phones, key-file: phones}]
            """)
        try KeyTests.write(folder, "fleet", "the old secret key")
        try KeyTests.write(folder, "phones", "the key of phones")
        let first = try ActivatedRun([unit], settings, under: manager)
        let fleet = try RawSocket.welcomed(unit.address, KeyTests.hello("bus", key: "the old secret key"))
        let phone = try RawSocket.welcomed(unit.address, KeyTests.hello("car", key: "the key of phones"))
        let parcel = try manager.end(first)
        defer { close(parcel) }
        try KeyTests.write(folder, "fleet", "the new secret key")
        let next = try ActivatedRun([unit], settings, under: manager, continuing: parcel)
        #expect(try fleet.goodbye()?.code == .rulesChanged)
        #expect(try phone.isAnswered())
        fleet.close()
        _ = try RawSocket.welcomed(unit.address, KeyTests.hello("tram", key: "the new secret key"))
        kill(next.identifier, SIGKILL)
    }

    @Test func `a question needs a check`() throws {
        #expect(try Self.run(["--explain", "user=root be car"], [:]).exit == .status(64))
    }

    /// Runs the daemon to its end; returns its status and what it printed.
    private static func run(
        _ arguments: [String], _ environment: [String: String]
    ) throws -> (exit: ChildProcess.Exit, text: String) {
        let process = try FinishedProcess([executable.path] + arguments, environment: environment)
        return (process.exit, process.text)
    }
}

extension RawSocket {
    /// Reads up to the Goodbye.
    fileprivate func codeAtEnd() throws -> CloseCode? {
        while let message = try self.receive() {
            if case .goodbye(let goodbye) = message { return goodbye.code }
        }
        return nil
    }

    /// Reads up to the end of a session for the reason NOT_AUTHORIZED.
    fileprivate func isEnded(_ session: SessionID) throws -> Bool {
        while let message = try self.receive() {
            if case .sessionEnded(let ended) = message {
                return ended.session == session && ended.reason == .notAuthorized
            }
        }
        return false
    }
}
