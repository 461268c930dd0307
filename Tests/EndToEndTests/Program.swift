import Foundation
import ProcessIO
import Synchronization
import Testing

/// A program in a separate process, whose input and output are lines.
final class Program: Sendable {
    /// A program ended before it printed the expected line.
    struct Ended: Error, CustomStringConvertible {
        let description: String
    }

    private let name: String
    private let process: ChildProcess
    private let input: FileHandle
    private let output = LineLog()
    private let errorOutput = LineLog()
    /// ``until(_:)`` has skipped the lines of the output before this one.
    private let next = Mutex(0)
    /// Yields once, when the process ends.
    private let exits: AsyncStream<Int32>

    /// Starts one of the project's own programs.
    convenience init(_ name: String, _ arguments: [String]) throws {
        try self.init(command: [Self.folder.appending(path: name).path] + arguments)
    }

    /// Starts any program, without a terminal.
    init(command: [String]) throws {
        self.name = command.joined(separator: " ")
        let (exits, exit) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(1))
        self.exits = exits
        // Foundation's `Process` can crash while others are started.
        let (input, output, errors) = try (
            ChildProcess.newPipe(), ChildProcess.newPipe(), ChildProcess.newPipe()
        )
        defer { for end in [input.read, output.write, errors.write] { close(end) } }
        self.input = FileHandle(fileDescriptor: input.write, closeOnDealloc: true)
        let ends = [output, errors].map { FileHandle(fileDescriptor: $0.read, closeOnDealloc: true) }
        let start = ChildProcess.Start(
            words: ["/usr/bin/env"] + command, input: input.read, output: output.write, errors: errors.write)
        self.process = try ChildProcess(start) {
            switch $0 {
            case .status(let status): exit.yield(status)
            case .signal(let signal): exit.yield(128 + signal)
            }
            exit.finish()
        }
        self.output.follow(ends[0])
        self.errorOutput.follow(ends[1])
    }

    deinit { self.process.signal(SIGKILL) }

    /// The folder of the program that runs the tests.
    static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    var identifier: Int32 { self.process.id }

    /// The output so far.
    var lines: [String] { self.output.lines }

    /// The lines on standard error so far.
    var errorLines: [String] { self.errorOutput.lines }

    /// Waits for the end of standard error.
    func errorsEnd() async { await self.errorOutput.end() }

    func signal(_ number: Int32) { kill(self.identifier, number) }

    /// Writes a line to its standard input.
    func tell(_ command: String) throws {
        try self.input.write(contentsOf: Data("\(command)\n".utf8))
    }

    /// Waits for the end of the program and of its output; returns the exit status, or 128 plus the signal number.
    @discardableResult
    func end() async -> Int32 {
        for await status in self.exits {
            await self.output.end()
            return status
        }
        return -1
    }

    /// Waits for any line on standard output for which `found` returns a value.
    @discardableResult
    func line(_ found: @escaping @Sendable (String) -> String?) async throws -> String {
        try await self.first(in: self.output, from: 0, found).value
    }

    /// Waits for any line on standard output that contains `text`.
    @discardableResult
    func line(containing text: String) async throws -> String {
        try await self.line { $0.contains(text) ? $0 : nil }
    }

    /// Waits for the next line on standard output that contains `text`, and skips the lines before it.
    @discardableResult
    func until(_ text: String) async throws -> String {
        let start = self.next.withLock { $0 }
        let found = try await self.first(in: self.output, from: start) { $0.contains(text) ? $0 : nil }
        self.next.withLock { $0 = found.index + 1 }
        return found.value
    }

    /// Waits for any line on standard error for which `found` returns a value.
    @discardableResult
    func errorLine(_ found: @escaping @Sendable (String) -> String?) async throws -> String {
        try await self.first(in: self.errorOutput, from: 0, found).value
    }

    private func first(
        in log: LineLog, from start: Int, _ found: @escaping @Sendable (String) -> String?
    ) async throws -> LineLog.Found {
        if let line = await log.first(from: start, found) { return line }
        let lines = (self.output.lines.suffix(5) + self.errorOutput.lines.suffix(10)).map { $0.prefix(300) }
        throw Ended(
            description: "\(self.name) ended before what was waited for\n\(lines.joined(separator: "\n"))")
    }
}

/// The lines of one stream, and the tasks that wait for one.
private final class LineLog: Sendable {
    struct Found: Sendable {
        let index: Int
        let value: String
    }

    private struct Waiting {
        let number: Int
        var start: Int
        let found: @Sendable (String) -> String?
        let continuation: CheckedContinuation<Found?, Never>
    }

    private struct State {
        var lines: [String] = []
        var isOver = false
        var waiting: [Waiting] = []
        var waitCount = 0

        func first(from start: Int, _ found: (String) -> String?) -> Found? {
            for index in start..<max(start, self.lines.count) {
                if let value = found(self.lines[index]) { return Found(index: index, value: value) }
            }
            return nil
        }
    }

    private let state = Mutex(State())

    var lines: [String] { self.state.withLock { $0.lines } }

    /// Reads on a separate thread, which blocks while the program prints nothing.
    func follow(_ handle: FileHandle) {
        Thread.detachNewThread {
            var partial = Data()
            while case let data = handle.availableData, !data.isEmpty {
                partial.append(data)
                var lines: [String] = []
                while let end = partial.firstIndex(of: 0x0A) {
                    lines.append(String(decoding: partial[..<end], as: UTF8.self))
                    partial = Data(partial[(end + 1)...])
                }
                self.take(lines, isOver: false)
            }
            self.take([], isOver: true)
        }
    }

    /// The first value that `found` returns for a line from `start` on; nil if the stream ends first or the task is cancelled.
    func first(from start: Int, _ found: @escaping @Sendable (String) -> String?) async -> Found? {
        let number = self.state.withLock { state in
            state.waitCount += 1
            return state.waitCount
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isDone, line) = self.state.withLock { state -> (Bool, Found?) in
                    if let line = state.first(from: start, found) { return (true, line) }
                    if state.isOver || Task.isCancelled { return (true, nil) }
                    state.waiting.append(
                        Waiting(
                            number: number, start: max(start, state.lines.count), found: found,
                            continuation: continuation))
                    return (false, nil)
                }
                if isDone { continuation.resume(returning: line) }
            }
        } onCancel: {
            let waiting = self.state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
            }
            waiting?.continuation.resume(returning: nil)
        }
    }

    /// Waits for the end of the stream.
    func end() async { _ = await self.first(from: .max) { _ in nil } }

    private func take(_ lines: [String], isOver: Bool) {
        let ready = self.state.withLock { state -> [(Found?, CheckedContinuation<Found?, Never>)] in
            state.lines += lines
            state.isOver = isOver
            var ready: [(Found?, CheckedContinuation<Found?, Never>)] = []
            var waiting: [Waiting] = []
            for var waiter in state.waiting {
                let line = state.first(from: waiter.start, waiter.found)
                if line != nil || isOver {
                    ready.append((line, waiter.continuation))
                } else {
                    waiter.start = max(waiter.start, state.lines.count)
                    waiting.append(waiter)
                }
            }
            state.waiting = waiting
            return ready
        }
        for (line, continuation) in ready { continuation.resume(returning: line) }
    }
}
