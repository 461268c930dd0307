import Glibc
import ProcessIO
import Testing

@Suite(.timeLimit(.minutes(10))) struct ChildProcessTests {
    /// Starts a process, and returns it with its end.
    private static func start(_ words: String...) throws -> (ChildProcess, AsyncStream<ChildProcess.Exit>) {
        let (exits, exit) = AsyncStream.makeStream(of: ChildProcess.Exit.self)
        let process = try ChildProcess(.init(words: words)) {
            exit.yield($0)
            exit.finish()
        }
        return (process, exits)
    }

    private static func end(_ exits: AsyncStream<ChildProcess.Exit>) async -> ChildProcess.Exit? {
        for await exit in exits { return exit }
        return nil
    }

    @Test func `a process tells how it ended`() async throws {
        let (_, ended) = try Self.start("sh", "-c", "exit 7")
        #expect(await Self.end(ended) == .status(7))
        let (process, killed) = try Self.start("sleep", "1000")
        process.signal(SIGTERM)
        #expect(await Self.end(killed) == .signal(SIGTERM))
        #expect(process.hasEnded)
    }

    @Test func `errors and output can go different ways`() async throws {
        let (output, errors) = (try ChildProcess.newPipe(), try ChildProcess.newPipe())
        let (exits, exit) = AsyncStream.makeStream(of: ChildProcess.Exit.self)
        let words = ["sh", "-c", "echo to $WHERE; echo aside >&2"]
        _ = try ChildProcess(
            .init(words: words, environment: ["WHERE": "output"], output: output.write, errors: errors.write)
        ) {
            exit.yield($0)
            exit.finish()
        }
        for end in [output.write, errors.write] { close(end) }
        #expect(await Self.end(exits) == .status(0))
        #expect(Self.content(output.read) == "to output\n")
        #expect(Self.content(errors.read) == "aside\n")
    }

    /// What is in a pipe whose other end is closed; closes this one.
    private static func content(_ descriptor: CInt) -> String {
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        return String(decoding: bytes[..<read(descriptor, &bytes, bytes.count)], as: UTF8.self)
    }

    /// Starts a shell that ends at once, and leaves a process that answers a line. Returns what that process answers.
    private static func answerOfLeftProcess(leavesProcesses: Bool) async throws -> String {
        let (input, output) = (try ChildProcess.newPipe(), try ChildProcess.newPipe())
        let (exits, exit) = AsyncStream.makeStream(of: ChildProcess.Exit.self)
        let script = #"exec 3<&0; { read -r line <&3; echo "heard $line"; } &"#
        _ = try ChildProcess(
            .init(
                words: ["sh", "-c", script], input: input.read, output: output.write,
                leavesProcesses: leavesProcesses)
        ) {
            exit.yield($0)
            exit.finish()
        }
        close(output.write)
        #expect(await Self.end(exits) == .status(0))
        let line = Array("it\n".utf8)
        #expect(write(input.write, line, line.count) == line.count)
        for end in [input.read, input.write] { close(end) }
        return Self.content(output.read)
    }

    @Test func `what a process has started ends with it, unless it may outlive it`() async throws {
        #expect(try await Self.answerOfLeftProcess(leavesProcesses: false) == "")
        #expect(try await Self.answerOfLeftProcess(leavesProcesses: true) == "heard it\n")
    }

    @Test func `without an output, what a process writes is lost`() async throws {
        let errors = try ChildProcess.newPipe()
        let (exits, exit) = AsyncStream.makeStream(of: ChildProcess.Exit.self)
        let script = "[ /proc/self/fd/1 -ef /dev/null ] && echo lost >&2; echo output"
        _ = try ChildProcess(.init(words: ["sh", "-c", script], errors: errors.write)) {
            exit.yield($0)
            exit.finish()
        }
        close(errors.write)
        #expect(await Self.end(exits) == .status(0))
        #expect(Self.content(errors.read) == "lost\n")
    }

    @Test func `a program that is not there is named`() {
        let failure = #expect(throws: ChildProcess.Failure.self) { try Self.start("/nowhere/x") }
        #expect(failure?.description.hasPrefix("/nowhere/x cannot be started: ") == true)
    }
}
