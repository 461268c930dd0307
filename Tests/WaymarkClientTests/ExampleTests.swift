import Foundation
import Testing
import WaymarkDaemon

/// A program that takes commands and says lines.
actor Program {
    struct Ended: Error { let name: String, wanted: String, said: [String] }

    private let name: String
    private let process = Process()
    private let input = Pipe()
    private var said: [String] = []
    private var rest = ""
    private var next = 0
    private var hasEnded = false
    private var waiting: CheckedContinuation<Void, Never>?

    init(_ command: [String]) throws {
        self.name = command.joined(separator: " ")
        let output = Pipe()
        self.process.executableURL = URL(filePath: "/usr/bin/env")
        self.process.arguments = command
        self.process.standardInput = self.input
        self.process.standardOutput = output
        let (stream, feed) = AsyncStream.makeStream(of: Data.self)
        try self.process.run()
        // A thread of its own may block: reading and waiting take as long as the program lives.
        Thread.detachNewThread { [process] in
            while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
                feed.yield(data)
            }
            process.waitUntilExit()
            feed.finish()
        }
        Task {
            for await data in stream { await self.take(data) }
            await self.finish()
        }
    }

    private func take(_ data: Data) {
        var lines = (self.rest + String(decoding: data, as: UTF8.self)).split(
            separator: "\n", omittingEmptySubsequences: false)
        self.rest = String(lines.removeLast())
        self.said += lines.map(String.init)
        self.waiting?.resume()
        self.waiting = nil
    }

    private func finish() {
        self.hasEnded = true
        self.waiting?.resume()
        self.waiting = nil
    }

    func tell(_ command: String) throws {
        try self.input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
    }

    /// The next line that contains `text`; those before it are passed over.
    @discardableResult
    func until(_ text: String) async throws -> String {
        while true {
            while self.next < self.said.count {
                defer { self.next += 1 }
                if self.said[self.next].contains(text) { return self.said[self.next] }
            }
            guard !self.hasEnded else { throw Ended(name: self.name, wanted: text, said: self.said) }
            await withCheckedContinuation { self.waiting = $0 }
        }
    }

    /// Ends it, and returns its exit status and what it said.
    func quit() async throws -> (status: Int32, said: [String]) {
        try self.tell("quit")
        return (await self.end(), self.said)
    }

    /// Waits for its end, and returns its exit status.
    func end() async -> Int32 {
        while !self.hasEnded { await withCheckedContinuation { self.waiting = $0 } }
        return self.process.terminationStatus
    }
}

/// The examples in Docs/examples, as their readers would run them.
enum Example: String, CaseIterable, CustomTestStringConvertible {
    case python, c

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Docs/examples").path

    var testDescription: String { self.rawValue }

    /// Whether this machine has what the example needs.
    var isAvailable: Bool {
        switch self {
        case .python: Self.succeeds("python3 -c 'import select, socket'")
        case .c: Self.succeeds("command -v cc && pkg-config --exists libprotobuf-c")
        }
    }

    /// The command that runs `cluster` or `navigate`, made in `folder`.
    func command(_ program: String, _ folder: String) async throws -> [String] {
        switch self {
        case .python: return ["python3", "-B", "\(Self.folder)/\(program).py"]
        case .c:
            // Built by the lines in the source's own comment, but into another folder.
            let source = try String(contentsOfFile: "\(Self.folder)/\(program).c", encoding: .utf8)
            let build = source.split(separator: "\n").prefix { $0.hasPrefix("//") }
                .filter { $0.contains("cc -o") || $0.contains("wire=") }
                .map {
                    $0.dropFirst(2).replacing(
                        "-o \(program)", with: "-Wall -Wextra -Werror -o \(folder)/\(program)")
                }
            try #require(build.count == 2)
            let script = "cd '\(Self.folder)'\n" + build.joined(separator: "\n")
            try #require(await Program(["sh", "-ec", script]).end() == 0)
            return ["\(folder)/\(program)"]
        }
    }

    private static func succeeds(_ script: String) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-ec", script]
        process.standardOutput = FileHandle.nullDevice
        do { try process.run() } catch { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}

@Suite(.timeLimit(.minutes(2))) struct ExampleTests {
    static let available = Example.allCases.filter(\.isAvailable)

    @Test func `examples that cannot be run here are named`() {
        for example in Example.allCases where !Self.available.contains(example) {
            print("notice: the examples in \(example) are not tested, their tools are not installed")
        }
    }

    // Each language in each role, and with the other one where there are both.
    @Test(arguments: zip(available, available.reversed()))
    func `a cluster and a navigation client understand each other`(_ cluster: Example, _ client: Example)
        async throws
    {
        let service = try await Service.start()
        let clusterCommand =
            try await cluster.command("cluster", service.folder) + ["unix:\(service.folder)/v", "car"]
        let clientCommand =
            try await client.command("navigate", service.folder) + ["unix:\(service.folder)/n", "car"]
        let drive = Drive(
            cluster: try Program(clusterCommand), headUp: clusterCommand + ["head-up"],
            client: try Program(clientCommand))
        try await drive.begin()
        try await drive.insertWaypoint()
        try await drive.loseConnections()
        try await drive.cancel()
        try await drive.requestDestination()
        for program in [drive.cluster, drive.client] {
            let (status, said) = try await program.quit()
            #expect(status == 0)
            #expect(!said.contains { $0.hasPrefix("unknown command") || $0.hasPrefix("goodbye") })
        }
        await service.stop()
    }

    /// One drive, step by step.
    struct Drive {
        let cluster: Program
        let headUp: [String]
        let client: Program

        func begin() async throws {
            try await self.cluster.until("connected")
            try await self.client.until("connected")
            try await self.client.tell("start")
            try await self.client.until("session opened, standing 1")
            try await self.cluster.until("snapshot full from")
            let line = try await self.cluster.until("Main street")
            #expect(
                line.hasSuffix(
                    "Turn right in 500 m, continue, 2 maneuvers, 2 lanes, 1 segments with 3 points"))
        }

        /// A second endpoint comes late, shows the same, and answers for the vehicle's user.
        func insertWaypoint() async throws {
            try await self.client.tell("step")
            let early = try await self.cluster.until("400 m, initial")
            let other = try Program(self.headUp)
            #expect(try await other.until("shows") == early)
            try await self.cluster.tell("waypoint 47.139 9.523")
            try await self.client.until("asked for waypoint request-1 by car")
            try await self.cluster.until("prompt request-1: A place, then 1500 m to go")
            try await other.until("prompt request-1")
            try await other.tell("yes")
            for program in [self.cluster, other, self.client] {
                try await program.until("outcome 1 of request-1")
            }
            for program in [self.cluster, other] { try await program.until("generation 2") }
            #expect(try await other.quit().status == 0)
        }

        func loseConnections() async throws {
            try await self.cluster.tell("cut")
            try await self.cluster.until("resumed")
            try await self.cluster.until("snapshot missed")
            try await self.client.tell("step")
            try await self.cluster.until("400 m, initial")
            try await self.client.tell("cut")
            try await self.client.until("resumed")
            try await self.cluster.until("suspended")
            try await self.cluster.until("restored")
            try await self.client.tell("step")
            try await self.cluster.until("150 m, prepare")
            try await self.client.tell("pause")
            try await self.cluster.until("paused")
            try await self.client.tell("resume")
            try await self.cluster.until("150 m, continue")
        }

        func cancel() async throws {
            try await self.cluster.tell("cancel")
            try await self.cluster.until("ended 4")
            try await self.cluster.until("shows nothing")
            try await self.client.until("ended 4")
        }

        /// The vehicle navigates by itself and refuses a client, but takes the one that it asks.
        func requestDestination() async throws {
            try await self.cluster.tell("own")
            try await self.cluster.until("ended 3")
            try await self.client.tell("start")
            try await self.client.until("error 12")
            try await self.cluster.tell("destination 47.1 9.5")
            try await self.client.until("asked for destination request-2 by car")
            try await self.client.until("outcome 1 of request-2")
            try await self.cluster.until("outcome 1 of request-2")
            try await self.cluster.until("Main street")
            try await self.client.tell("finish")
            try await self.cluster.until("finished")
            try await self.client.until("ended 1")
        }
    }
}
