internal import ArgumentParser
internal import Foundation
internal import WaymarkRig

/// The files that `waymark test` writes.
struct TestOutputs {
    private let junit: String?
    private let report: String?
    private let trace: FileHandle?

    /// Opens the trace, and checks that the others can be written, before anything runs.
    init(junit: String?, report: String?, trace: String?) throws {
        for path in [junit, report, trace].compactMap(\.self) { try Self.write("", path) }
        (self.junit, self.report) = (junit, report)
        self.trace = try trace.map { try FileHandle(forWritingTo: URL(filePath: $0)) }
    }

    /// The runs of a file are over.
    func add(_ group: ScenarioRunner.Group) throws {
        for lines in group.traces { try self.trace?.write(contentsOf: Data(lines.utf8)) }
    }

    /// All runs are over.
    func finish(_ results: [ScenarioResult]) throws {
        if let junit { try Self.write(JUnitReport.text(results), junit) }
        if let report { try Self.write(HTMLReport.text(results), report) }
        try self.trace?.close()
    }

    /// Why this status: what a run found cannot be told.
    private static func write(_ text: String, _ path: String) throws {
        do { try Data(text.utf8).write(to: URL(filePath: path)) } catch {
            Terminal.note("Error: \(path) cannot be written: \(CommandFailure.reason(error))")
            throw ExitCode(2)
        }
    }
}
