internal import Dispatch
internal import Foundation
internal import Glibc
internal import ProcessIO
internal import Synchronization
internal import WaymarkHistory

/// A program under test, as a process.
final class ProgramUnderTest: Sendable {
    /// What is kept of its output.
    private static let linesMax = 10_000
    private static let lineBytesMax = 4_096
    /// How long its output may last beyond its end, in seconds.
    private static let outputMax = 2.0

    let peer: PeerID
    private let process: ChildProcess
    private let guardian: Guardian
    /// Its standard input, which has no line, and ends with the run.
    private let input: CInt
    private let exits: AsyncStream<Void>

    /// Starts it. Both closures are called on other threads.
    ///
    /// - Throws: Why it cannot be started.
    init(
        _ peer: PeerID, _ words: [String], in folder: String, _ guardian: Guardian,
        onLine: @escaping @Sendable (String) -> Void,
        onExit: @escaping @Sendable (ChildProcess.Exit) -> Void
    ) throws(ChildProcess.Failure) {
        let input = try ChildProcess.newPipe()
        let output = try ChildProcess.newPipe()
        defer {
            _ = close(input.read)
            _ = close(output.write)
        }
        let (exits, exit) = AsyncStream.makeStream(of: Void.self)
        let outputEnd = DispatchSemaphore(value: 0)
        (self.peer, self.guardian, self.input, self.exits) = (peer, guardian, input.write, exits)
        self.process = try ChildProcess(
            .init(
                words: ["/bin/sh", "-c", "cd -- \"$0\" && exec \"$@\"", folder] + words, input: input.read,
                output: output.write)
        ) { status in
            // What it printed comes before its end. Bounded, because a process that it has left behind may keep the output open.
            _ = outputEnd.wait(timeout: .now() + Self.outputMax)
            onExit(status)
            exit.finish()
        }
        guardian.watch(self.process)
        Thread.detachNewThread {
            Self.read(output.read, onLine)
            outputEnd.signal()
        }
    }

    deinit { _ = close(self.input) }

    /// Hands out lines until the output ends, and reads on when there were too many.
    private static func read(_ descriptor: CInt, _ onLine: (String) -> Void) {
        defer { _ = close(descriptor) }
        var (piece, line) = ([UInt8](repeating: 0, count: 65_536), [UInt8]())
        var count = 0
        func end() {
            count += 1
            if count <= Self.linesMax {
                onLine(TerminalText.printable(String(decoding: line, as: UTF8.self)))
            }
            line = []
        }
        while true {
            let read = unsafe piece.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            guard read > 0 || (read < 0 && errno == EINTR) else { break }
            for byte in piece.prefix(max(0, read)) {
                if byte == UInt8(ascii: "\n") {
                    end()
                } else if line.count < Self.lineBytesMax {
                    line.append(byte)
                }
            }
        }
        if !line.isEmpty { end() }
    }

    /// Ends it: SIGTERM, and SIGKILL when that took too long.
    func end() async {
        self.process.signal(SIGTERM)
        let force = Task { [process] in
            do { try await Task.sleep(for: PrivateDaemon.endMax) } catch { return }
            process.signal(SIGKILL)
        }
        for await _ in self.exits {}
        force.cancel()
        self.guardian.forget(self.process)
    }
}
