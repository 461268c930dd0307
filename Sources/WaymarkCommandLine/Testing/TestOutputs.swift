internal import ArgumentParser
internal import ProcessIO
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
    private let trace: (path: String, file: WrittenFile)?
    private let state = Mutex(State())

    /// Opens the trace, and checks that the others can be written, before anything runs.
    init(junit: String?, report: String?, trace: String?) throws {
        for path in [junit, report].compactMap(\.self) { try Self.write("", path) }
        (self.junit, self.report) = (junit, report)
        if let trace {
            let file = try Self.writing(trace) { () throws(WriteError) in try WrittenFile(trace) }
            self.trace = (path: trace, file: file)
        } else {
            self.trace = nil
        }
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
        guard let trace = self.trace else { return }
        for lines in group.traces {
            try Self.writing(trace.path) { () throws(WriteError) in
                try trace.file.append(Array(lines.utf8))
            }
        }
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
        if let trace = self.trace {
            try Self.writing(trace.path) { () throws(WriteError) in try trace.file.close() }
        }
        return true
    }

    private static func write(_ text: String, _ path: String) throws {
        try self.writing(path) { () throws(WriteError) in
            try WrittenFile.write(Array(text.utf8), to: path)
        }
    }

    /// Names a file that cannot be written, and ends with status 2: what a run found cannot be told.
    private static func writing<Result>(
        _ path: String, _ body: () throws(WriteError) -> Result
    ) throws -> Result {
        do throws(WriteError) { return try body() } catch {
            Terminal.note("Error: \(path) cannot be written: \(error)")
            throw ExitCode(2)
        }
    }
}
