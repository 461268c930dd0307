internal import ArgumentParser
internal import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkTexts

/// Counts what the demo did, and checks that it did everything that it should.
actor DemoReport {
    private var maneuvers: Set<ManeuverID> = []
    private var generations: Set<UInt32> = []
    private var frames = 0
    private var endReason: EndReason?
    private var holdsStop = false
    private var outcome: RequestEnding?
    private var reroutes = 0
    private var failures: [String] = []

    func count(_ update: VehicleUpdate) {
        self.frames += 1
        if update.state.generation > 0 { self.generations.insert(update.state.generation) }
        if let next = update.state.upcomingManeuvers.first { self.maneuvers.insert(next) }
        if update.state.trip?.waypoints.isEmpty == false { self.holdsStop = true }
        if case .ended(let reason) = update.state.phase { self.endReason = reason }
    }

    /// Whether the drive has come to its end, as it should or otherwise.
    var hasEnded: Bool { self.endReason != nil }

    func setOutcome(_ outcome: RequestEnding) { self.outcome = outcome }
    func setReroutes(_ count: Int) { self.reroutes = count }
    func fail(_ reason: String) { self.failures.append(reason) }

    /// Prints the summary.
    ///
    /// - Throws: A failing exit status if something expected did not happen.
    func conclude(expectsDetour: Bool, isJSON: Bool) throws {
        self.check(expectsDetour: expectsDetour)
        if isJSON {
            Terminal.line(
                JSON.line(
                    [
                        "kind": "summary", "messages": self.frames, "maneuvers": self.maneuvers.count,
                        "generations": self.generations.count, "end": self.endReason?.word ?? "",
                        "failures": self.failures, "waypoint": self.outcome.map { "\($0.result)" } ?? "",
                    ], at: Date()))
        } else {
            Terminal.line("")
            Terminal.line("demo: \(self.summary)")
            for failure in self.failures { Terminal.note("demo failed: \(failure)") }
        }
        if !self.failures.isEmpty { throw ExitCode.failure }
    }

    private func check(expectsDetour: Bool) {
        let wanted: RequestResult = expectsDetour ? .accepted : .notSupported
        if self.outcome?.result != wanted {
            self.fail("the charging stop: \(self.outcome?.explanation ?? "there was no answer")")
        }
        if self.reroutes != (expectsDetour ? 1 : 0) { self.fail("there were \(self.reroutes) new routes") }
        if expectsDetour, !self.holdsStop { self.fail("the cluster never held the charging stop") }
        if self.endReason != .finished {
            self.fail("the drive ended otherwise: \(self.end)")
        }
        if self.maneuvers.isEmpty { self.fail("the cluster saw no maneuver") }
    }

    private var end: String { self.endReason.map { "\($0)" } ?? "" }

    private var summary: String {
        "\(GuidanceText.counted(self.frames, "message")) and \(GuidanceText.counted(self.maneuvers.count, "maneuver")) shown, "
            + "on \(GuidanceText.counted(self.generations.count, "route"))\n"
            + "demo: the charging stop: \(self.outcome?.explanation ?? "no answer"); "
            + "the drive: \(self.end)"
    }
}
