internal import ArgumentParser
internal import Foundation
internal import Synchronization
internal import WaymarkRig

/// The files that `waymark test` writes, and the results that are in them.
final class TestOutputs: Sendable {
    private struct State {
        var results: [ScenarioResult] = []
        var groupCount = 0
        var isFinished = false
    }

    private let junit: String?
    private let report: String?
    private let trace: FileHandle?
    private let state = Mutex(State())

    /// Opens the trace, and checks that the others can be written, before anything runs.
    init(junit: String?, report: String?, trace: String?) throws {
        for path in [junit, report, trace].compactMap(\.self) { try Self.write("", path) }
        (self.junit, self.report) = (junit, report)
        self.trace = try trace.map { try FileHandle(forWritingTo: URL(filePath: $0)) }
    }

    var results: [ScenarioResult] { self.state.withLock { $0.results } }
    /// The number of files whose runs are over.
    var groupCount: Int { self.state.withLock { $0.groupCount } }

    /// The runs of a file are over.
    func add(_ group: ScenarioRunner.Group) throws {
        self.state.withLock { state in
            state.results += group.results
            state.groupCount += 1
        }
        for lines in group.traces { try self.trace?.write(contentsOf: Data(lines.utf8)) }
    }

    /// All runs are over, or will not be: writes the files.
    ///
    /// - Returns: false if they were written before.
    @discardableResult func finish() throws -> Bool {
        let results = self.state.withLock { state -> [ScenarioResult]? in
            defer { state.isFinished = true }
            return state.isFinished ? nil : state.results
        }
        guard let results else { return false }
        if let junit { try Self.write(JUnitReport.text(results), junit) }
        if let report { try Self.write(HTMLReport.text(results), report) }
        try self.trace?.close()
        return true
    }

    /// Why this status: what a run found cannot be told.
    private static func write(_ text: String, _ path: String) throws {
        do { try Data(text.utf8).write(to: URL(filePath: path)) } catch {
            Terminal.note("Error: \(path) cannot be written: \(CommandFailure.reason(error))")
            throw ExitCode(2)
        }
    }
}
