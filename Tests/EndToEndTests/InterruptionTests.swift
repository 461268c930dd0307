import FakeGateway
import Foundation
import Testing
import WaymarkClient
import WaymarkCodec
import WaymarkProtocol

/// Commands that are interrupted while they wait for a gateway that says nothing, or has gone. None of these tests has a time: a command that
/// does not end hangs its test. `scripts/measure/signals.py` measures how long it takes.
@Suite(.timeLimit(.minutes(5))) struct InterruptionTests {
    /// A command that connects to a gateway.
    struct Command: Sendable, CustomTestStringConvertible {
        let name: String
        let arguments: [String]
        /// The statuses after SIGINT and SIGTERM.
        var statuses: [Int32] = [130, 143]

        init(_ arguments: String, statuses: [Int32] = [130, 143]) {
            self.arguments = arguments.split(separator: " ").map(String.init)
            self.name = arguments
            self.statuses = statuses
        }

        var testDescription: String { self.name }

        func start(connectedTo path: String, in folder: String) throws -> Program {
            let arguments = self.arguments.map {
                $0 == "ROUTE" ? ProgramTests.route("vaduz-balzers") : $0 == "FOLDER" ? folder : $0
            }
            return try Program("waymark", arguments + ["--connect", "unix:\(path)"])
        }
    }

    private static let commands: [Command] =
        [
            Command("watch", statuses: [0, 143]), Command("watch --json", statuses: [0, 143]),
            Command("simulate stop --client app"), Command("status"), Command("top", statuses: [0, 143]),
            Command("lint --live", statuses: [0, 0]),
            Command("record --to FOLDER", statuses: [0, 143]), Command("cluster --id car --watch"),
            Command("cluster --id car --accept-prompts yes --json"), Command("navigate --route ROUTE"),
            Command("request waypoint 47,9 --id car"), Command("request destination 47,9 --id car"),
            Command("request cancel --id car"),
        ] + servers

    /// Commands that serve a page or metrics until a signal ends them.
    #if Inspector
        private static let servers = [
            Command("inspect --listen 127.0.0.1:0", statuses: [0, 0]),
            Command("exporter --listen 127.0.0.1:0", statuses: [0, 0]),
        ]
    #else
        private static let servers: [Command] = []
    #endif

    private static func withGateway(
        _ body: (_ gateway: FakeGateway, _ folder: String) async throws -> Void
    ) async throws {
        let folder = try RunningDaemon.newFolder()
        let gateway = try await FakeGateway(path: "\(folder)/g")
        try await body(gateway, folder)
        await gateway.close()
        try FileManager.default.removeItem(atPath: folder)
    }

    private static func peer(of gateway: FakeGateway) async throws -> FakeGateway.Peer {
        for await peer in gateway.peers { return peer }
        throw Program.Ended(description: "the gateway is closed")
    }

    @Test(arguments: commands, [SIGINT, SIGTERM])
    func `a command ends although the gateway answers no Hello`(_ command: Command, _ signal: Int32)
        async throws
    {
        try await Self.withGateway { gateway, folder in
            let program = try command.start(connectedTo: gateway.path, in: folder)
            _ = try await Self.peer(of: gateway)
            program.signal(signal)
            #expect(await program.end() == command.statuses[signal == SIGINT ? 0 : 1])
        }
    }

    @Test(arguments: commands, [SIGINT, SIGTERM])
    func `a command ends although the gateway is silent once it has welcomed`(
        _ command: Command, _ signal: Int32
    ) async throws {
        try await Self.withGateway { gateway, folder in
            let program = try command.start(connectedTo: gateway.path, in: folder)
            let peer = try await Self.peer(of: gateway)
            try await peer.welcome()
            _ = await peer.next { $0 }
            program.signal(signal)
            #expect(await program.end() == command.statuses[signal == SIGINT ? 0 : 1])
        }
    }

    @Test(arguments: commands) func `a command ends although the gateway is gone`(_ command: Command)
        async throws
    {
        try await Self.withGateway { gateway, folder in
            let program = try command.start(connectedTo: gateway.path, in: folder)
            let peer = try await Self.peer(of: gateway)
            try await peer.welcome()
            _ = await peer.next { $0 }
            await gateway.close()
            await peer.close()
            program.signal(SIGTERM)
            // A status needs the gateway: it may have failed before.
            #expect([1, command.statuses[1]].contains(await program.end()))
        }
    }

    @Test(arguments: servers, [SIGINT, SIGTERM])
    func `a command that serves ends with success although there is no gateway`(
        _ command: Command, _ signal: Int32
    ) async throws {
        let folder = try RunningDaemon.newFolder()
        let program = try command.start(connectedTo: "\(folder)/none", in: folder)
        // It serves, and has tried to connect: the exporter does so only at the start and when it is asked.
        try await program.line(containing: "127.0.0.1:")
        try await program.errorLine { $0.contains("cannot connect to unix:\(folder)/none") ? $0 : nil }
        program.signal(signal)
        #expect(await program.end() == 0)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `navigate ends although its arrival is never confirmed`(_ signal: Int32) async throws {
        try await Self.withGateway { gateway, folder in
            let navigate = try Program(
                "waymark",
                [
                    "navigate", "--connect", "unix:\(gateway.path)", "--vehicle", "car", "--await-vehicle",
                    "no",
                    "--speed", "10000", "--route", ProgramTests.route("vaduz-balzers"),
                ])
            let peer = try await Self.peer(of: gateway)
            try await peer.welcome()
            let id = await peer.next { envelope -> Identifier? in
                if case .openSession(let open) = envelope.message { open.requestID } else { nil }
            }
            let opened = SessionOpened(requestID: try #require(id), session: SessionID(1), vehicles: [])
            try await peer.send(.sessionOpened(opened))
            _ = await peer.next { envelope -> Bool? in
                if case .publication(.finishGuidance) = envelope.message { true } else { nil }
            }
            navigate.signal(signal)
            #expect(await navigate.end() == 128 + signal)
        }
    }
}
