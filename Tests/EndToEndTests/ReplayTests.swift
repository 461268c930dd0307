import Foundation
import Testing

/// `waymark replay --against` a `waymarkd` of its own.
@Suite(.timeLimit(.minutes(5))) struct ReplayTests {
    /// With the times that recorded gateways have, which a Welcome says.
    private static func daemon() async throws -> RunningDaemon {
        let folder = try RunningDaemon.newFolder()
        let file = "\(folder)/usual.yaml"
        try "{}\n".write(toFile: file, atomically: true, encoding: .utf8)
        return try await RunningDaemon.start(["--config", file], in: folder)
    }

    /// Runs a scenario that ships; returns its recording.
    private static func recording(_ name: String, in folder: String) async throws -> String {
        let (status, lines) = try await self.run(
            "test", "@gallery/\(name)", "--recordings", "\(folder)/rec")
        #expect(status == 0, "\(lines)")
        return "\(folder)/rec/\(name)/seed-1.mcap"
    }

    private static func run(_ arguments: String...) async throws -> (status: Int32, lines: [String]) {
        let program = try Program("waymark", arguments)
        return (await program.end(), program.lines)
    }

    /// Why not faster: the gateway's own times must not matter.
    @Test(arguments: [
        ("drive-asked-by-the-vehicle", "1"), ("client-waits-for-the-display", "1"), ("short-texts", "20"),
        ("many-vehicles", "20"),
    ]) func `a recording replays equal over sockets`(_ name: String, _ speed: String) async throws {
        let daemon = try await Self.daemon()
        let file = try await Self.recording(name, in: daemon.folder)
        let replay = try await Self.run(
            "replay", file, "--compare", "--speed", speed, "--against", daemon.vehicle, "--against",
            daemon.navigation)
        #expect(replay.status == 0, "\(replay.lines.joined(separator: "\n"))")
        #expect(replay.lines.contains { $0.hasPrefix("compared ") && $0.contains(": equal") })
        #expect(replay.lines.contains { $0.contains("(real, ") })
        #expect(replay.lines.allSatisfy { $0.count <= 80 })
        try await daemon.stop()
    }

    @Test func `the two sides of a recording meet when they are replayed by two programs`() async throws {
        let daemon = try await Self.daemon()
        let file = try await Self.recording("drive-asked-by-the-vehicle", in: daemon.folder)
        let client = try Program(
            "waymark", ["replay", file, "--as", "client", "--against", daemon.navigation])
        let vehicle = try Program(
            "waymark", ["replay", file, "--as", "vehicle", "--against", daemon.vehicle])
        // The client answers the vehicle's request; without it, it would say that it had waited in vain.
        #expect(await client.end() == 0, "\(client.lines)")
        #expect(await vehicle.end() == 0, "\(vehicle.lines)")
        #expect(client.lines.contains { $0.hasPrefix("replayed 1 peer, ") })
        #expect(vehicle.lines.contains { $0.hasPrefix("replayed 1 peer, ") })
        try await daemon.stop()
    }

    @Test func `a difference is told, and a gateway that is not there`() async throws {
        // The Welcome says other times than the recorded one.
        let daemon = try await RunningDaemon.start()
        let file = try await Self.recording("drive-asked-by-the-vehicle", in: daemon.folder)
        let replay = try await Self.run(
            "replay", file, "--compare", "--against", daemon.vehicle, "--against", daemon.navigation)
        #expect(replay.status == 1)
        #expect(replay.lines.contains { $0.contains("keepaliveMilliseconds") })
        let gone = try await Self.run("replay", file, "--against", "unix:\(daemon.folder)/gone")
        #expect(gone.status == 2)
        for wrong in [["--as", "vehicle"], ["--speed", "2"], ["--key-file", "key"]] {
            let program = try Program("waymark", ["replay", file] + wrong)
            #expect(await program.end() == 64)
        }
        try await daemon.stop()
    }

    @Test func `a gateway that refuses the key is told with its code, and the replay ends`() async throws {
        let folder = try RunningDaemon.newFolder()
        let config = "\(folder)/key.yaml"
        let listener =
            "listeners: [{ address: 'unix:\(folder)/k', roles: [vehicle, navigation], key: a long secret key }]\n"
        try (RunningDaemon.patience + listener).write(toFile: config, atomically: true, encoding: .utf8)
        chmod(config, 0o600)
        let daemon = try await RunningDaemon.start(["--config", config], in: folder)
        let file = try await Self.recording("drive-asked-by-the-vehicle", in: folder)
        try "wrong\n".write(toFile: "\(folder)/wrong", atomically: true, encoding: .utf8)
        try "a long secret key\n".write(toFile: "\(folder)/right", atomically: true, encoding: .utf8)
        for key in [[], ["--key-file", "\(folder)/wrong"]] {
            let replay = try Program("waymark", ["replay", file, "--against", "unix:\(folder)/k"] + key)
            let refusal = try await replay.errorLine { $0.contains("the gateway refused") ? $0 : nil }
            #expect(refusal.contains("notAuthenticated: credential: this listener needs its pre-shared key"))
            #expect(await replay.end() == 2)
        }
        let right = ["--key-file", "\(folder)/right", "--speed", "20"]
        let replay = try Program("waymark", ["replay", file, "--against", "unix:\(folder)/k"] + right)
        #expect(await replay.end() == 0, "\(replay.lines)")
        try await daemon.stop()
    }

    @Test func `a scenario with replayed peers has the same verdict by the real clock`() async throws {
        let folder = try RunningDaemon.newFolder()
        let file = try await Self.recording("drive-asked-by-the-vehicle", in: folder)
        let scenario = "\(folder)/again.scenario.yaml"
        #expect(try await Self.run("replay", file, "--to-scenario", scenario).status == 0)
        for clock in ["virtual", "real"] {
            let test = try await Self.run("test", scenario, "--clock", clock, "--no-recordings")
            #expect(test.status == 0, "\(test.lines.joined(separator: "\n"))")
        }
        try FileManager.default.removeItem(atPath: folder)
    }
}
