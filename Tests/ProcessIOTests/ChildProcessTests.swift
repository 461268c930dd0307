import Glibc
import ProcessIO
import Testing

@Suite(.timeLimit(.minutes(10))) struct ChildProcessTests {
    /// Starts a process, and returns it with its end.
    private static func start(_ words: String...) throws -> (ChildProcess, AsyncStream<ChildProcess.Exit>) {
        let (exits, exit) = AsyncStream.makeStream(of: ChildProcess.Exit.self)
        let null = open("/dev/null", O_WRONLY)
        defer { close(null) }
        let process = try ChildProcess(.init(words: words, output: null)) {
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

    @Test func `a program that is not there is named`() {
        let failure = #expect(throws: ChildProcess.Failure.self) { try Self.start("/nowhere/x") }
        #expect(failure?.description.hasPrefix("/nowhere/x cannot be started: ") == true)
    }
}
