import FakeGateway
import Foundation
import FoundationNetworking
import Testing
import WaymarkClient
import WaymarkProtocol

/// `--connect`, `--wait` and `--key-file` of every command that has them.
@Suite(.timeLimit(.minutes(5))) struct ConnectionOptionTests {
    private static let commands = [
        "watch --wait 600 --key-file KEY --connect ADDRESS",
        "status --wait 600 --key-file KEY --connect ADDRESS",
        "simulate start --client app --wait 600 --key-file KEY --connect ADDRESS",
        "top --once --wait 600 --key-file KEY --connect ADDRESS",
        "lint --live --wait 600 --key-file KEY --connect ADDRESS",
        "record --to FOLDER --wait 600 --key-file KEY --connect ADDRESS",
        "cluster --id car --watch --wait 600 --key-file KEY --connect ADDRESS",
        "navigate --route ROUTE --wait 600 --key-file KEY --connect ADDRESS",
        "request waypoint 47,9 --id car --wait 600 --key-file KEY --connect ADDRESS",
        "request destination 47,9 --id car --wait 600 --key-file KEY --connect ADDRESS",
        "request allow --id car --wait 600 --key-file KEY --connect ADDRESS",
        "request cancel --id car --wait 600 --key-file KEY --connect ADDRESS",
        "request route-source inactive --id car --wait 600 --key-file KEY --connect ADDRESS",
        "request share-accept --id car --wait 600 --key-file KEY --connect ADDRESS",
    ]

    /// These have no `--wait`: they always wait.
    private static let patientCommands = [
        "exporter --listen 127.0.0.1:0 --key-file KEY --connect ADDRESS",
        "inspect --listen 127.0.0.1:0 --key-file KEY --connect ADDRESS",
    ]

    private static func start(_ command: String, in folder: String) throws -> Program {
        let key = "\(folder)/key"
        try Data("a key of 16 bytes\n".utf8).write(to: URL(filePath: key))
        chmod(key, 0o600)
        let words = command.split(separator: " ").map { word in
            switch word {
            case "KEY": key
            case "ADDRESS": "unix:\(folder)/g"
            case "FOLDER": folder
            case "ROUTE": ProgramTests.route("vaduz-balzers")
            default: String(word)
            }
        }
        return try Program("waymark", words)
    }

    /// The first peer of a gateway.
    private static func peer(of gateway: FakeGateway) async throws -> FakeGateway.Peer {
        for await peer in gateway.peers { return peer }
        throw Program.Ended(description: "the gateway is closed")
    }

    @Test(arguments: commands)
    func `a command waits for a gateway that comes later, shows it its key, and goes on`(_ command: String)
        async throws
    {
        let folder = try RunningDaemon.newFolder()
        let program = try Self.start(command, in: folder)
        try await program.errorLine { $0.contains("waiting up to 600 seconds: cannot connect") ? $0 : nil }
        let gateway = try await FakeGateway(path: "\(folder)/g")
        let peer = try await Self.peer(of: gateway)
        #expect(peer.hello.credential == Credential(Array("a key of 16 bytes".utf8)))
        try await peer.welcome()
        // What it says next shows that it has not ended.
        let isMore = await peer.next { $0.message.type != .pong ? true : nil }
        #expect(isMore == true || command.hasPrefix("cluster") || command.hasPrefix("request"))
        program.signal(SIGTERM)
        await program.end()
        await gateway.close()
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test(arguments: patientCommands)
    func `a command without --wait says that there is no gateway, and shows its key to one that comes`(
        _ command: String
    ) async throws {
        let folder = try RunningDaemon.newFolder()
        let program = try Self.start(command, in: folder)
        try await program.errorLine { $0.contains("cannot connect to unix:\(folder)/g") ? $0 : nil }
        let gateway = try await FakeGateway(path: "\(folder)/g")
        let location = try await program.line { line in
            line.firstMatch(of: /127\.0\.0\.1:\d+/).map { String($0.0) }
        }
        // The exporter connects when it is asked, but not at once after it has failed.
        let metrics = try #require(URL(string: "http://\(location)/metrics"))
        let asking = Task {
            // Until it is gone.
            while (try? await URLSession.shared.data(from: metrics)) != nil {}
        }
        let peer = try await Self.peer(of: gateway)
        #expect(peer.hello.credential == Credential(Array("a key of 16 bytes".utf8)))
        program.signal(SIGTERM)
        #expect(await program.end() == 0)
        await asking.value
        await gateway.close()
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `a recorder that waited records once the gateway is there`() async throws {
        let folder = try RunningDaemon.newFolder()
        let record = try Program(
            "waymark", ["record", "--to", folder, "--wait", "600", "--connect", "unix:\(folder)/w"])
        try await record.errorLine { $0.contains("waiting up to 600 seconds") ? $0 : nil }
        let daemon = try await RunningDaemon.observed(in: folder)
        try await record.line(containing: "recording to \(folder)/waymark-")
        let cluster = try daemon.waymark("cluster", "--id", "car")
        try await cluster.line(containing: "connected")
        cluster.signal(SIGTERM)
        await cluster.end()
        record.signal(SIGINT)
        #expect(await record.end() == 0)
        #expect(record.lines.last?.hasPrefix("recorded ") == true)
        #expect(record.lines.last?.contains("recorded 0 frames") == false)
        try await daemon.stop()
    }

    @Test func `a wait that ends has the reason`() async throws {
        let folder = try RunningDaemon.newFolder()
        let watch = try Program("waymark", ["watch", "--wait", "0.3", "--connect", "unix:\(folder)/w"])
        #expect(await watch.end() == 1)
        try await watch.errorLine { $0.hasPrefix("Error: cannot connect to unix:\(folder)/w") ? $0 : nil }
        try FileManager.default.removeItem(atPath: folder)
    }
}
