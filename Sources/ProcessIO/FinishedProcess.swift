internal import Foundation
internal import Glibc
internal import Synchronization

/// A program that ran to its end, and what it printed.
package struct FinishedProcess: Sendable {
    package let exit: ChildProcess.Exit
    /// Its standard output and standard error, as they came.
    package let text: String

    /// Runs a program to its end. It can read nothing.
    ///
    /// - Parameters:
    ///   - words: The program and its arguments. A name without a slash is looked for in PATH.
    ///   - environment: The variables of its environment that this process has not, or has with other values.
    /// - Throws: ``ChildProcess/Failure``, which names the program.
    package init(_ words: [String], environment: [String: String] = [:]) throws(ChildProcess.Failure) {
        let pipe = try ChildProcess.newPipe()
        let end = FileHandle(fileDescriptor: pipe.read, closeOnDealloc: true)
        let (exit, ended) = (Exit(), DispatchSemaphore(value: 0))
        try Self.start(words, environment, pipe.write) {
            exit.set($0)
            ended.signal()
        }
        var output = Data()
        while case let more = end.availableData, !more.isEmpty { output += more }
        ended.wait()
        self.exit = exit.value
        self.text = String(decoding: output, as: UTF8.self)
    }

    /// Starts it, and leaves the end of the pipe that it writes to it alone.
    private static func start(
        _ words: [String], _ environment: [String: String], _ output: CInt,
        onExit: @escaping @Sendable (ChildProcess.Exit) -> Void
    ) throws(ChildProcess.Failure) {
        defer { close(output) }
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let start = ChildProcess.Start(words: words, environment: variables, output: output)
        _ = try ChildProcess(start, onExit: onExit)
    }

    private final class Exit: Sendable {
        private let exit = Mutex(ChildProcess.Exit.status(0))
        var value: ChildProcess.Exit { self.exit.withLock { $0 } }
        func set(_ exit: ChildProcess.Exit) { self.exit.withLock { $0 = exit } }
    }
}
