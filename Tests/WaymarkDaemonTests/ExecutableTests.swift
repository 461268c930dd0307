import Foundation
import ListeningSockets
import ProcessIO
import Synchronization
import Testing
import WaymarkProtocol

/// The `waymarkd` that was last built beside the tests.
let executable = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .appending(path: "waymarkd")

/// How long a test waits for a process: one that does not do what it should must not hang the test.
enum Patience {
    static let milliseconds = 120_000

    /// Returns the result of `wait`, which waits for the end of a process, and kills the process when patience is over.
    static func forEnd<Result>(of process: pid_t, _ wait: () -> Result) -> Result {
        let killing = DispatchWorkItem { kill(process, SIGKILL) }
        DispatchQueue.global().asyncAfter(
            deadline: .now() + .milliseconds(self.milliseconds), execute: killing)
        defer { killing.cancel() }
        return wait()
    }
}

/// Reads a file line by line.
final class Lines: Sequence, IteratorProtocol {
    private let file: FileHandle
    private var unread = Data()

    init(_ file: FileHandle) { self.file = file }

    /// nil at the end.
    func next() -> String? {
        while true {
            if let end = self.unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { self.unread = self.unread[(end + 1)...] }
                return String(decoding: self.unread[..<end], as: UTF8.self)
            }
            var poll = pollfd(fd: self.file.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard Glibc.poll(&poll, 1, CInt(Patience.milliseconds)) > 0 else {
                Issue.record("nothing was logged for two minutes, and no end")
                return nil
            }
            let more = self.file.availableData
            if more.isEmpty { return nil }
            self.unread.append(more)
        }
    }
}

/// How a process ended, once it has.
final class ExitBox: Sendable {
    private let exit = Mutex<ChildProcess.Exit?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    func set(_ exit: ChildProcess.Exit) {
        self.exit.withLock { $0 = exit }
        self.ended.signal()
    }

    /// Waits for the end; may be called several times.
    func wait() -> ChildProcess.Exit {
        self.ended.wait()
        self.ended.signal()
        return self.exit.withLock { $0 } ?? .status(0)
    }
}

/// A `waymarkd` process.
final class Run {
    // Why not Foundation's `Process`: it can crash while others are started.
    let process: ChildProcess
    private let lines: Lines
    /// Yields once, when the process ends.
    private let exits: ExitBox

    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        let (errors, exits) = (try ChildProcess.newPipe(), ExitBox())
        defer { close(errors.write) }
        self.lines = Lines(FileHandle(fileDescriptor: errors.read, closeOnDealloc: true))
        self.exits = exits
        let start = ChildProcess.Start(
            words: [executable.path] + arguments,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            errors: errors.write)
        self.process = try ChildProcess(start) { exits.set($0) }
    }

    deinit { self.process.signal(SIGTERM) }

    /// The next line of the log; nil at its end.
    func line() -> String? { self.lines.next() }

    /// Reads lines until one contains `text`; false if none does.
    func says(_ text: String) -> Bool { self.lines.contains { $0.contains(text) } }

    /// The addresses of the next `count` listeners in the log.
    func addresses(_ count: Int) throws -> [ListenAddress] {
        try (0..<count).map { _ in
            while let line = self.line() {
                guard line.hasSuffix("listening"), let match = line.firstMatch(of: /address=(\S+)/) else {
                    continue
                }
                return try ListenAddress(String(match.1))
            }
            throw RawSocket.Failure(call: "listening")
        }
    }

    func status() -> Int32 {
        switch Patience.forEnd(of: self.process.id, { self.exits.wait() }) {
        case .status(let status): status
        case .signal(let signal): 128 + signal
        }
    }
}

@Suite(.timeLimit(.minutes(10)), .enabled(if: FileManager.default.isExecutableFile(atPath: executable.path)))
struct ExecutableTests {
    @Test func `it logs its addresses, admits peers, and exits with 0 when it is stopped`() throws {
        let folder = try Folder()
        let path = folder.path("config.yaml")
        try Data("times:\n  drain: 300ms\n  goodbye: 60s\n".utf8).write(to: URL(filePath: path))
        let run = try Run([
            "--config", path, "--vehicle-listen", "tcp:127.0.0.1:0", "--navigation-listen",
            "unix:\(folder.path("n"))",
        ])
        let addresses = try run.addresses(2)
        let stuck = try RawSocket(addresses[0])
        try stuck.send(vehicleHello)
        #expect(try stuck.receive()?.type == .welcome)
        let client = try RawSocket(addresses[1])
        try client.send(navigationHello)
        #expect(try client.receive()?.type == .welcome)
        let garbage = try RawSocket(addresses[0])
        try garbage.send([0, 0, 0])
        #expect(try garbage.goodbye()?.code == .badMagic)
        #expect(run.says("code=badMagic"))
        run.process.signal(SIGTERM)
        #expect(try stuck.goodbye()?.code == .shuttingDown)
        #expect(run.status() == 0)
        #expect(run.says("closing their connections"))
        #expect(run.says("stopped"))
        #expect(folder.status("n") == nil)
    }

    @Test func `the log says who can connect to each listener`() throws {
        let folder = try Folder()
        let path = folder.path("config.yaml")
        let listeners = [
            ("unix:\(folder.path("own"))", "", "user \(geteuid())"),
            ("unix:\(folder.path("shared"))", "mode: 0660", "user \(geteuid()), group \(getegid())"),
            ("unix:\(folder.path("open"))", "mode: 0666", "every user of this machine"),
            ("tcp:127.0.0.1:0", "", "every user of this machine"),
            ("tcp:127.0.0.1:0", "key: a long secret key", "every user of this machine, with a key"),
        ]
        let rows = listeners.map { "  - {address: '\($0.0)', roles: [vehicle], \($0.1)}\n" }
        try Data("listeners:\n\(rows.joined())".utf8).write(to: URL(filePath: path))
        chmod(path, 0o600)
        let run = try Run(["--config", path])
        for (address, _, peers) in listeners {
            while let line = run.line() {
                guard line.hasSuffix("listening") else { continue }
                #expect(
                    line.contains(peers) && (peers.contains("key") || !line.contains("key")),
                    "\(address): \(line)")
                break
            }
        }
        run.process.signal(SIGTERM)
        #expect(run.status() == 0)
    }

    @Test func `a second daemon on the same socket fails with a message, and a killed one is replaced`()
        throws
    {
        let folder = try Folder()
        let arguments = ["--vehicle-listen", "unix:\(folder.path("v"))"]
        let first = try Run(arguments)
        _ = try first.addresses(1)
        let second = try Run(arguments)
        #expect(second.says("another process listens on unix:\(folder.path("v")) already"))
        #expect(second.status() == 1)
        kill(first.process.id, SIGKILL)
        _ = first.status()
        let third = try Run(arguments)
        let peer = try RawSocket(third.addresses(1)[0])
        try peer.send(vehicleHello)
        #expect(try peer.receive()?.type == .welcome)
        third.process.signal(SIGINT)
        #expect(third.status() == 0)
    }

    @Test func `the exit status of a check tells whether the settings are valid`() throws {
        let folder = try Folder()
        let path = folder.path("config.yaml")
        let checks: [(text: String, status: Int32, line: String?)] = [
            ("threads: 2\n", 0, nil),
            ("threads: 0\n", 78, "waymarkd: \(path):1:10: threads must be an integer, 1 to 64"),
            // A start accepts it, but a reload does not.
            ("", 78, "waymarkd: \(path) has no settings; "),
            ("# threads: 2\n", 78, "waymarkd: \(path) has no settings; "),
            (
                "listeners:\n  - address: tcp:x\n    roles: [vehicle]\n", 78,
                "waymarkd: \(path):2:5: tcp:x: invalid address"
            ),
        ]
        for (text, status, line) in checks {
            try Data(text.utf8).write(to: URL(filePath: path))
            let run = try Run(
                ["--check-config", "--config", path], environment: ["XDG_RUNTIME_DIR": folder.path])
            #expect(run.status() == status)
            if let line { #expect(run.line()?.hasPrefix(line) == true) }
        }
        #expect(folder.status("waymark") == nil)
        let missing = try Run(["--config", folder.path("missing")])
        #expect(missing.says("cannot read"))
        #expect(missing.status() == 1)
    }

    @Test func `a folder that other users can write to is refused`() throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(
            atPath: folder.path("waymark"), withIntermediateDirectories: false)
        chmod(folder.path("waymark"), 0o777)
        let run = try Run([], environment: ["XDG_RUNTIME_DIR": folder.path])
        #expect(run.says("other users can write to it"))
        #expect(run.status() == 1)
    }
}
