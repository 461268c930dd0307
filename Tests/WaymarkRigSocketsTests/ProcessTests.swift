import Foundation
import Glibc
import Testing

@testable import WaymarkRigSockets

@Suite(.timeLimit(.minutes(10))) struct ProcessTests {
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

    @Test func `a program that is not there is named`() {
        let failure = #expect(throws: ChildProcess.Failure.self) { try Self.start("/nowhere/x") }
        #expect(failure?.description.hasPrefix("/nowhere/x cannot be started: ") == true)
    }

    @Test func `processes end and the folder goes with their guardian, also without being told`() async throws
    {
        let folder = try RunFolder()
        var guardian: Guardian? = try Guardian(folder)
        let (process, exits) = try Self.start("sh", "-c", "sleep 1000 & sleep 1000")
        guardian?.watch(process)
        let (forgotten, other) = try Self.start("sleep", "1000")
        guardian?.watch(forgotten)
        guardian?.forget(forgotten)
        // As when the rig is killed: its end of the pipe closes.
        guardian = nil
        #expect(await Self.end(exits) == .signal(SIGKILL))
        while FileManager.default.fileExists(atPath: folder.path) { await Task.yield() }
        #expect(!forgotten.hasEnded)
        forgotten.signal(SIGKILL)
        #expect(await Self.end(other) == .signal(SIGKILL))
    }
}
