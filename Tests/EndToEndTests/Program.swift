import Foundation
import Synchronization
import Testing

/// One of the project's programs, running as a process of its own.
final class Program: Sendable {
    /// Why a program did not do what was waited for.
    struct Ended: Error, CustomStringConvertible {
        let description: String
    }

    private let name: String
    private let process: Process
    private let output = LineLog()
    private let errorOutput = LineLog()
    /// Yields once, when the process is over.
    private let exits: AsyncStream<Int32>

    /// Starts `name` with `arguments`; it has no terminal.
    init(_ name: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        self.name = name
        self.process = Process()
        self.process.executableURL = Self.folder.appending(path: name)
        self.process.arguments = arguments
        self.process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let (output, errors) = (Pipe(), Pipe())
        self.process.standardInput = FileHandle.nullDevice
        self.process.standardOutput = output
        self.process.standardError = errors
        let (exits, exit) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(1))
        self.exits = exits
        self.process.terminationHandler = {
            exit.yield($0.terminationReason == .exit ? $0.terminationStatus : 128 + $0.terminationStatus)
            exit.finish()
        }
        self.output.follow(output.fileHandleForReading)
        self.errorOutput.follow(errors.fileHandleForReading)
        try self.process.run()
    }

    deinit { if self.process.isRunning { kill(self.process.processIdentifier, SIGKILL) } }

    /// Beside the program that runs the tests.
    private static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    var identifier: Int32 { self.process.processIdentifier }
    /// What was printed so far.
    var lines: [String] { self.output.lines }

    func signal(_ number: Int32) { kill(self.identifier, number) }

    /// Waits for the end; returns the exit status, or 128 and the signal's number.
    @discardableResult
    func end() async -> Int32 {
        for await status in self.exits { return status }
        return -1
    }

    /// Waits for a line on standard output of which `found` makes something.
    @discardableResult
    func line(_ found: @escaping @Sendable (String) -> String?) async throws -> String {
        if let line = await self.output.first(found) { return line }
        throw self.ended
    }

    /// Waits for a line on standard output that contains `text`.
    @discardableResult
    func line(containing text: String) async throws -> String {
        try await self.line { $0.contains(text) ? $0 : nil }
    }

    /// Waits for a line on standard error of which `found` makes something.
    @discardableResult
    func errorLine(_ found: @escaping @Sendable (String) -> String?) async throws -> String {
        if let line = await self.errorOutput.first(found) { return line }
        throw self.ended
    }

    private var ended: Ended {
        let lines =
            self.output.lines.suffix(5).map { String($0.prefix(300)) } + self.errorOutput.lines.suffix(10)
        return Ended(
            description: "\(self.name) ended before what was waited for\n\(lines.joined(separator: "\n"))")
    }
}

/// The lines of one stream, and those who wait for one.
private final class LineLog: Sendable {
    private struct Waiting {
        let found: @Sendable (String) -> String?
        let continuation: CheckedContinuation<String?, Never>
    }

    private struct State {
        var lines: [String] = []
        var partial = Data()
        var isOver = false
        var waiting: [Waiting] = []
    }

    private let state = Mutex(State())

    var lines: [String] { self.state.withLock { $0.lines } }

    func follow(_ handle: FileHandle) {
        handle.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            self.take(data)
        }
    }

    /// What `found` makes of the first line that it accepts, now or later; nil if the stream ends without one.
    func first(_ found: @escaping @Sendable (String) -> String?) async -> String? {
        await withCheckedContinuation { continuation in
            let now: String?? = self.state.withLock { state in
                if let line = state.lines.lazy.compactMap(found).first { return .some(line) }
                if state.isOver { return .some(nil) }
                state.waiting.append(Waiting(found: found, continuation: continuation))
                return nil
            }
            if let now { continuation.resume(returning: now) }
        }
    }

    private func take(_ bytes: Data) {
        let ready = self.state.withLock { state -> [(String?, CheckedContinuation<String?, Never>)] in
            if bytes.isEmpty { state.isOver = true }
            var added: [String] = []
            state.partial.append(bytes)
            while let end = state.partial.firstIndex(of: 0x0A) {
                added.append(String(decoding: state.partial[..<end], as: UTF8.self))
                state.partial = Data(state.partial[(end + 1)...])
            }
            state.lines += added
            var ready: [(String?, CheckedContinuation<String?, Never>)] = []
            state.waiting.removeAll { waiting in
                let found = added.lazy.compactMap(waiting.found).first
                guard found != nil || state.isOver else { return false }
                ready.append((found, waiting.continuation))
                return true
            }
            return ready
        }
        for (found, continuation) in ready { continuation.resume(returning: found) }
    }
}

/// A `waymarkd` on sockets of its own.
struct RunningDaemon {
    let folder: String
    let program: Program
    /// As the daemon logged it.
    let tcp: String

    var vehicle: String { "unix:\(self.folder)/v" }
    var navigation: String { "unix:\(self.folder)/n" }

    /// Starts one; returns when it listens.
    static func start(_ arguments: [String] = [], in folder: String? = nil) async throws -> RunningDaemon {
        let folder = try folder ?? Self.newFolder()
        let program = try Program(
            "waymarkd",
            [
                "--vehicle-listen", "unix:\(folder)/v", "--navigation-listen", "unix:\(folder)/n",
                "--vehicle-listen", "tcp:127.0.0.1:0",
            ] + arguments)
        // The listeners are logged in their order, when all of them are open.
        let tcp = try await program.errorLine { line in
            line.firstMatch(of: /tcp:127\.0\.0\.1:\d+/).map { String($0.0) }
        }
        return RunningDaemon(folder: folder, program: program, tcp: tcp)
    }

    static func newFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "we-\(UInt32.random(in: 0 ... .max))"
        ).path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return folder
    }

    /// Asks the daemon to end; it must do so with status 0.
    func stop() async throws {
        self.program.signal(SIGTERM)
        #expect(await self.program.end() == 0)
        try FileManager.default.removeItem(atPath: self.folder)
    }

    func waymark(_ arguments: String...) throws -> Program {
        let isNavigation = arguments.first == "navigate"
        return try Program(
            "waymark", arguments + ["--connect", isNavigation ? self.navigation : self.vehicle])
    }
}
