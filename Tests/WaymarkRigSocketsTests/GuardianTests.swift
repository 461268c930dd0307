import Foundation
import Glibc
import ProcessIO
import Testing

@testable import WaymarkRigSockets

@Suite(.timeLimit(.minutes(10))) struct GuardianTests {
    /// Starts a process that runs until it is ended, and returns it with its end.
    private static func start(_ words: String...) throws -> (ChildProcess, AsyncStream<ChildProcess.Exit>) {
        let (exits, exit) = AsyncStream.makeStream(of: ChildProcess.Exit.self)
        let process = try ChildProcess(.init(words: words)) {
            exit.yield($0)
            exit.finish()
        }
        return (process, exits)
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
        #expect(await exits.first { _ in true } == .signal(SIGKILL))
        while FileManager.default.fileExists(atPath: folder.path) { await Task.yield() }
        #expect(!forgotten.hasEnded)
        forgotten.signal(SIGKILL)
        #expect(await other.first { _ in true } == .signal(SIGKILL))
    }
}
