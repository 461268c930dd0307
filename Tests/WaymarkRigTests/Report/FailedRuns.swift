import WaymarkHistory
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkScenario

/// Runs that failed, each in its own way, by the name of its golden file.
enum FailedRuns {
    static let all: [(name: String, result: ScenarioResult)] = [
        ("one-value-different", oneValueDifferent), ("never-happened", neverHappened),
        ("violated", violated), ("too-fast", tooFast), ("not-resumed", notResumed),
        ("wrong-outcome", wrongOutcome), ("long-values", longValues), ("hostile-text", hostileText),
        ("long-before", longBefore), ("refused-frame", refusedFrame), ("rain-of-faults", rainOfFaults),
        ("two-endpoints", twoEndpoints), ("nothing-at-all", nothingAtAll), ("two-failures", twoFailures),
        ("lint-only", lintOnly), ("broken", broken),
    ]

    private static func drive(highlighting lane: Int = 4) -> RunSketch {
        var run = RunSketch()
        run.connect(at: 0)
        run.startGuidance(at: 50, highlighting: lane)
        run.publish(.upcomingManeuvers([ManeuverID(rawValue: 4)], generation: 1), at: 50)
        run.publish(.maneuverState(.prepare, generation: 1), at: 50)
        return run
    }

    private static var oneValueDifferent: ScenarioResult {
        var run = self.drive(highlighting: 3)
        let nearest = run.publish(.currentLaneGuidance(LaneGuidanceID(rawValue: 2), generation: 1), at: 100)
        for index in 0..<20 { run.estimate(4, meters: 98 - UInt32(index), at: 250 + Int64(index) * 100) }
        return run.result([
            RunSketch.failed(
                "eventually next.type rightTurn, next.distance <200m, lanes.highlighted [4], within 2 s",
                "of dut/cluster, within 2 s of next.id 4, maneuverState prepare:\nnext.type           rightTurn\nnext.distance       <200m\nlanes.highlighted   [4]",
                line: 9, anchor: 5, at: 2_050,
                nearest: Nearest(
                    index: nearest,
                    differences: [FieldDifference("lanes.highlighted", expected: "[4]", seen: "[3]")]))
        ])
    }

    private static var neverHappened: ScenarioResult {
        let run = self.drive()
        return run.result([
            RunSketch.failed(
                "message showAlert, within 1 s", "showAlert to dut/cluster, within 1 s", line: 12, anchor: 3,
                at: 1_050)
        ])
    }

    private static var violated: ScenarioResult {
        var run = self.drive()
        let fault = run.add(.fault(FaultRecord("kill", of: nil, "killed; refuses for 800 ms")), at: 200)
        run.add(.connection(RunSketch.cluster, .ended(nil)), at: 200)
        let index = run.publish(.maneuverState(.execute, generation: 1), at: 310)
        return run.result([
            RunSketch.failed(
                "never maneuverState execute, for 300 ms",
                "never, for 300 ms:\nmaneuverState       execute", line: 14, anchor: fault, at: 310,
                nearest: Nearest(index: index, differences: []))
        ])
    }

    private static var tooFast: ScenarioResult {
        var run = self.drive()
        for index in 0..<30 { run.estimate(4, meters: 98 - UInt32(index), at: 100 + Int64(index) * 20) }
        let index = run.history.entries.count - 18
        return run.result([
            RunSketch.failed(
                "rate at most 10 per 1 s", "at most 10 publications in 1 s", line: 13,
                at: run.history.entries[index].instant.nanoseconds / 1_000_000,
                nearest: Nearest(
                    index: index,
                    differences: [FieldDifference("count", expected: "at most 10", seen: "11")]))
        ])
    }

    private static var notResumed: ScenarioResult {
        var run = self.drive()
        let cut = run.add(.step(1, "fault: link dut, cut with rst"), at: 500)
        run.add(.fault(FaultRecord("cut", of: RunSketch.cluster, "cut with rst")), at: 500)
        run.add(.connection(RunSketch.cluster, .ended(nil)), at: 500)
        for wait in [100, 300, 700] {
            run.add(.connection(RunSketch.cluster, .connecting), at: 500 + Int64(wait))
            run.add(.connection(RunSketch.cluster, .refused("connection refused")), at: 500 + Int64(wait))
        }
        run.connect(at: 2_000)
        var judged = RunSketch.failed(
            "eventually resumed true, missed 0, within 16 s",
            "of dut/cluster, within 16 s of step 2:\nresumed             true\nmissed              0",
            line: 20,
            anchor: cut, at: 16_500,
            nearest: Nearest(
                index: run.history.entries.count - 1,
                differences: [
                    FieldDifference("resumed", expected: "true", seen: "false"),
                    FieldDifference("missed", expected: "0", seen: "3"),
                ]))
        judged.step = "the connection is lost for five seconds, and is slow afterwards"
        judged.because = "A tunnel must not cost the driver the next turn."
        return run.result([judged], at: 20_000)
    }

    private static var wrongOutcome: ScenarioResult {
        var run = self.drive()
        let stop = Waypoint(
            center: Coordinate(latitude: 47.0756, longitude: 9.5076), nameVariants: ["Charging"])
        let request = run.receive(
            .waypointRequest(WaypointRequest(requestID: "stop-1", waypoint: stop)), at: 900)
        let vehicle = VehicleID(unchecked: "dut")
        let outcome = run.send(
            .requestOutcome(RequestOutcome(requestID: "stop-1", vehicle: vehicle, outcome: .accepted)),
            at: 1_000)
        return run.result([
            RunSketch.failed(
                "outcome declinedByUser, within 500 ms", "outcome declinedByUser, within 500 ms", line: 8,
                anchor: request, at: 1_000,
                nearest: Nearest(
                    index: outcome,
                    differences: [FieldDifference("outcome", expected: "declinedByUser", seen: "accepted")]))
        ])
    }

    private static var longValues: ScenarioResult {
        var run = self.drive()
        let index = run.publish(.currentRoadName([String(repeating: "Langer Weg ", count: 12)]), at: 80)
        return run.result([
            RunSketch.failed(
                "holds what was published, within 3 s", "holds what was published, within 3 s", line: 30,
                at: 3_000,
                nearest: Nearest(
                    index: index,
                    differences: [
                        FieldDifference(
                            "currentRoadName", expected: "[\"Langer Weg nach Hause\"]",
                            seen: "[\"\(String(repeating: "Langer Weg ", count: 12))\"]"),
                        FieldDifference(
                            "maneuvers[0].junctionElementAngles[15]",
                            expected: "[-150, -120, -90, -60, -30, 0, 30, 60, 90, 120, 150]",
                            seen: "[-150, -120, -90, -60, -30, 0, 30, 60, 90, 120]"),
                    ]))
        ])
    }

    private static var hostileText: ScenarioResult {
        var run = self.drive()
        let index = run.publish(
            .currentRoadName(["\u{1B}[31mred\u{7} & <b>名古屋高速道路都心環状線の長い名前の道路です</b>"]), at: 80)
        run.add(.log(RunSketch.client, "\u{1B}]0;title\u{7}a line\nof two"), at: 90)
        return run.result([
            RunSketch.failed(
                "eventually currentRoadName [x]", "within 1 s:\ncurrentRoadName     [\"\u{1B}[2Jx\"]",
                line: 31,
                at: 1_000,
                nearest: Nearest(
                    index: index,
                    differences: [
                        FieldDifference(
                            "currentRoadName", expected: "[\"\u{1B}[2Jx\"]",
                            seen: "[\"\u{1B}[31mred 名古屋高速道路\"]")
                    ]))
        ])
    }

    private static var longBefore: ScenarioResult {
        var run = self.drive()
        for index in 0..<40 { run.estimate(4, meters: 98 - UInt32(index), at: 100 + Int64(index) * 100) }
        let nearest = run.publish(.maneuverState(.execute, generation: 1), at: 4_200)
        return run.result(
            [
                RunSketch.failed(
                    "in order maneuverState execute, finishGuidance, within 10 s",
                    "in order, within 10 s:\n1. updateManeuverState where maneuverState execute\n2. finishGuidance",
                    line: 33, anchor: 5, at: 10_050,
                    nearest: Nearest(
                        index: nearest,
                        differences: [FieldDifference("2.", expected: "finishGuidance", seen: "nothing")]))
            ], at: 11_000)
    }

    private static var refusedFrame: ScenarioResult {
        var run = self.drive()
        let frame = Frame(
            header: FrameHeader(type: MessageType.addManeuvers.rawValue), body: [0x0A, 0x02, 0x08])
        let index = run.add(
            .frame(CrossedFrame(frame, of: RunSketch.client, .toGateway, sent: RunSketch.instant(400))),
            at: 400)
        run.send(
            .error(Rejection(.malformed, field: "", reason: "the body is cut off")), to: RunSketch.client,
            at: 401)
        return run.result([
            RunSketch.failed(
                "never error", "never error", line: 35, at: 401,
                nearest: Nearest(index: index + 1, differences: []), of: [RunSketch.client])
        ])
    }

    private static var rainOfFaults: ScenarioResult {
        var run = self.drive()
        run.add(.fault(FaultRecord("drop", of: RunSketch.cluster, "a frame to the peer")), at: 100)
        run.publish(.maneuverState(.execute, generation: 1), at: 100, .dropped)
        run.publish(.currentRoadName(["Weg"]), at: 120, .corrupted)
        let index = run.add(.broken(RunSketch.cluster, .toPeer, [1, 2, 3]), at: 130)
        run.add(.connection(RunSketch.cluster, .ended(.badMagic)), at: 130)
        run.add(.connection(RunSketch.cluster, .connecting), at: 230)
        run.connect(resumed: true, at: 240)
        return run.result([
            RunSketch.failed(
                "always connected true", "always, for 1 s:\nconnected           true", line: 36, anchor: 4,
                at: 130,
                nearest: Nearest(
                    index: index + 1,
                    differences: [FieldDifference("connected", expected: "true", seen: "false")]))
        ])
    }

    private static var twoEndpoints: ScenarioResult {
        var run = RunSketch([RunSketch.cluster, RunSketch.hud])
        run.connect(at: 0)
        run.connect(RunSketch.hud, at: 20)
        run.startGuidance(at: 50)
        let index = run.publish(.finishGuidance, to: RunSketch.hud, at: 2_000)
        return run.result([
            RunSketch.failed(
                "exactly 2 finishGuidance", "exactly 2 finishGuidance", line: 37, at: 3_000,
                nearest: Nearest(
                    index: index, differences: [FieldDifference("count", expected: "2", seen: "1")]), of: [])
        ])
    }

    private static var nothingAtAll: ScenarioResult {
        RunSketch().result([
            RunSketch.failed(
                "its event never happened", "next.id 9, within 5 s", line: 38, at: 5_000)
        ])
    }

    private static var twoFailures: ScenarioResult {
        let (first, second) = (self.violated, self.neverHappened)
        var result = first
        result.expectations += second.expectations
        result.expectations.append(
            ReportedExpectation(
                "rate at most 10 per 1 s", at: second.expectations[0].location,
                .passed(at: result.end, margin: nil)))
        result.file = "it's/two failures.scenario.yaml"
        return result
    }

    private static var lintOnly: ScenarioResult {
        var result = self.drive().result([])
        result.lints[0].findings = (0..<7).map { index in
            ReportedLint.Finding(
                "lane 4 of lane guidance 2 is preferred, and has no highlighted angle", of: RunSketch.client,
                at: RunSketch.instant(100 + index * 10), index: 4)
        }
        return result
    }

    private static var broken: ScenarioResult {
        let run = self.drive()
        var result = run.result([])
        result.problem = "The history is full after 3.000 s. at-most limits how long a scenario takes."
        result.explain(by: run.history)
        return result
    }
}
