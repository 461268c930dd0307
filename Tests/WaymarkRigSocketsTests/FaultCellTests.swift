import FaultCells
import Foundation
import Sweeps
import Testing
import WaymarkHistory
import WaymarkProtocol
import WaymarkRig
import WaymarkScenario
import WaymarkTexts

@testable import WaymarkRigSockets

/// Cells of the fault matrix over sockets, each with a `waymarkd` of its own, judged as in virtual time.
@Suite(.timeLimit(.minutes(30))) struct FaultCellTests {
    /// So many at a time: they mostly wait.
    private static let runsMax = 50
    /// A cell is run at most so often.
    private static let triesMax = 3
    /// The rig measures how late its own timers are. If it is more than this, the machine stood still, and what is wrong may be its fault.
    private static let latenessMax = Duration.seconds(1)

    /// A `SweepPart` of the chosen 100 cells, else those whose description contains this; nil: some that are quick.
    private static let wanted = ProcessInfo.processInfo.environment["WAYMARK_CELLS_REAL"]
    /// How long quick cells last after their last act.
    private static let quickRest = Duration.seconds(2)

    private struct Try: Sendable {
        let cell: FaultCell
        var number = 1
    }

    /// A run of a cell.
    private struct Verdict: Sendable {
        let tried: Try
        let outcome: FaultOutcome
        let problems: [String]

        /// It says nothing about the cell: its fault did not happen, since its frame came too late for the scene or not at all, or what is
        /// wrong may come from a machine that stood still.
        var isVoid: Bool {
            let cell = self.tried.cell
            let isLate = self.outcome.result.latenessMax > FaultCellTests.latenessMax
            return !self.problems.isEmpty && isLate || cell.mayHappen && !cell.isCovered(self.outcome.history)
        }

        /// How late the rig was, and whether the fault happened.
        var summary: String {
            let cell = self.tried.cell
            let fault = cell.isCovered(self.outcome.history) ? "" : ", and the fault did not happen"
            let lateness = "the rig was at most \(self.outcome.result.latenessMax.milliseconds) ms late"
            return "\(cell), \(cell.scene), run \(self.tried.number): \(lateness)\(fault)"
        }

        /// The same, and everything that happened.
        var explanation: String {
            let entries = self.outcome.history.entries.map { entry in
                let text = EntryText(entry, in: self.outcome.history)
                return "\(entry.instant.nanoseconds / 1_000_000) ms  \(text.subject)  \(text.text)"
            }
            return ([self.summary] + entries).joined(separator: "\n")
        }
    }

    @Test func `cells come to rest over sockets too, and every verdict is explained`() async throws {
        let matrix = try FaultMatrix.read()
        let cells =
            SweepPart(text: Self.wanted)?.cases(of: matrix.chosen)
            ?? Self.wanted.map { text in matrix.cells.filter { "\($0)".contains(text) } } ?? matrix.quick
        var coverage = FaultCoverage()
        var voidCount = 0
        try await Self.run(cells) { verdict in
            if verdict.isVoid, verdict.tried.number < Self.triesMax {
                voidCount += 1
                print("again: \(verdict.summary): \(verdict.problems)")
                return false
            }
            #expect(verdict.problems == [], "\(verdict.explanation)")
            coverage.add(verdict.tried.cell, verdict.outcome.history)
            return true
        }
        for line in coverage.lines("fault matrix over sockets", of: matrix) { print(line) }
        print("fault matrix over sockets: \(voidCount) runs said nothing, and were repeated")
        #expect(coverage.missed == [])
        #expect(!cells.isEmpty)
    }

    /// Runs cells beside each other. Those of which `isDecided` is false of a run are run again.
    private static func run(_ cells: [FaultCell], _ isDecided: (Verdict) -> Bool) async throws {
        // Long scenes first, so that the last ones to run are short.
        var waiting = cells.sorted { $0.scene.time < $1.scene.time }.map { Try(cell: $0) }
        try await withThrowingTaskGroup(of: Verdict.self) { group in
            var running = 0
            while true {
                while running < self.runsMax, let next = waiting.popLast() {
                    running += 1
                    // One after the other: daemons that start take the processors from the runs before them.
                    let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
                    group.addTask {
                        defer { continuation.finish() }
                        return try await Self.run(next) { continuation.finish() }
                    }
                    for await _ in begun {}
                }
                guard let verdict = try await group.next() else { break }
                running -= 1
                if !isDecided(verdict) {
                    waiting.insert(
                        Try(cell: verdict.tried.cell, number: verdict.tried.number + 1), at: 0)
                }
            }
        }
    }

    private static func run(_ tried: Try, onBegun: @escaping @Sendable () -> Void) async throws -> Verdict {
        let rest = self.wanted == nil ? self.quickRest : FaultScene.rest
        let play = try tried.cell.play(rest: rest, onBegun: onBegun)
        let (result, history) = await RealRun.run(
            play.scenario, play.inputs, RealRunTests.options, mutations: play.mutations, code: play.code)
        let outcome = play.outcome(result, history)
        return Verdict(tried: tried, outcome: outcome, problems: tried.cell.problems(outcome))
    }
}
