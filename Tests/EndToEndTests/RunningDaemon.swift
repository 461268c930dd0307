import Foundation
import Testing

/// A `waymarkd` process with its own sockets.
struct RunningDaemon {
    let folder: String
    let program: Program
    /// From the daemon's log.
    let tcp: String

    var vehicle: String { "unix:\(self.folder)/v" }
    var navigation: String { "unix:\(self.folder)/n" }
    var observer: String { "unix:\(self.folder)/o" }

    /// Of a daemon that ``observed(_:in:)`` has started.
    var watched: String { "unix:\(self.folder)/w" }

    /// The same, with a listener for observers, who see what `observe` says.
    static func observed(_ observe: String = "content", in folder: String? = nil) async throws
        -> RunningDaemon
    {
        let folder = try folder ?? Self.newFolder()
        let file = "\(folder)/observed.yaml"
        let listener =
            "listeners: [{ address: 'unix:\(folder)/w', roles: [observer], observe: \(observe) }]\n"
        try (Self.patience + listener).write(toFile: file, atomically: true, encoding: .utf8)
        return try await Self.start(["--config", file], in: folder)
    }

    /// Starts a daemon, and returns when it listens. The default configuration has long timeouts, for busy machines.
    static func start(_ arguments: [String] = [], in folder: String? = nil) async throws -> RunningDaemon {
        let folder = try folder ?? Self.newFolder()
        var arguments = arguments
        if !arguments.contains("--config") {
            let file = "\(folder)/patient.yaml"
            try Self.patience.write(toFile: file, atomically: true, encoding: .utf8)
            arguments += ["--config", file]
        }
        let program = try Program(
            "waymarkd",
            [
                "--vehicle-listen", "unix:\(folder)/v", "--navigation-listen", "unix:\(folder)/n",
                "--vehicle-listen", "tcp:127.0.0.1:0", "--observer-listen", "unix:\(folder)/o",
            ] + arguments)
        // The listeners are logged in order, when all are open.
        let tcp = try await program.errorLine { line in
            line.firstMatch(of: /tcp:127\.0\.0\.1:\d+/).map { String($0.0) }
        }
        return RunningDaemon(folder: folder, program: program, tcp: tcp)
    }

    /// Settings for a busy machine.
    static let patience = "times: { handshake: 600s, keepalive: 600s }\n"

    static func newFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "we-\(UInt32.random(in: 0 ... .max))"
        ).path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return folder
    }

    /// Stops the daemon, which must exit with status 0.
    func stop() async throws {
        self.program.signal(SIGTERM)
        #expect(await self.program.end() == 0)
        try FileManager.default.removeItem(atPath: self.folder)
    }

    /// Starts `waymark`, connected to this daemon. By default a cluster accepts all prompts.
    func waymark(_ arguments: String...) throws -> Program {
        let address =
            switch arguments.first {
            case "navigate": self.navigation
            case "watch", "status", "lint", "record", "simulate": self.watched
            default: self.vehicle
            }
        var arguments = arguments
        if arguments.first == "cluster",
            Set(arguments).isDisjoint(with: ["--watch", "--accept-prompts", "--commands"])
        {
            arguments += ["--accept-prompts", "yes"]
        }
        return try Program("waymark", arguments + ["--connect", address])
    }
}
