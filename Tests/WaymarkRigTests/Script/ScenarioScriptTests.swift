import Testing
import WaymarkHistory
import WaymarkProtocol
import WaymarkScenario

@Suite struct ScenarioScriptTests {
    typealias Progress = ScenarioScript.Progress
    typealias Order = ScenarioScript.Order

    private static let undecided = ScenarioScript.Decisions(isStepDecided: false, isEndDecided: false)
    private static let decided = ScenarioScript.Decisions(isStepDecided: true, isEndDecided: true)

    private static func script(_ text: String) throws -> ScenarioScript {
        ScenarioScript(try ScenarioReader.read("route: vaduz-balzers\n\(text)", file: "a.scenario.yaml"))
    }

    private static func instant(_ seconds: Double) -> Instant {
        Instant(nanoseconds: Int64(seconds * 1_000_000_000))
    }

    private static func driven(_ meters: Double) -> Progress {
        var progress = Progress()
        progress.beganAt = self.instant(1)
        progress.meters = meters
        progress.routeMeters = 1_000
        return progress
    }

    @Test(arguments: [("500m", 499.0, 500.0), ("0.5km", 499, 500), ("50%", 499, 500)])
    func `a step begins when the drive is there`(_ position: String, _ before: Double, _ there: Double) throws
    {
        var script = try Self.script("steps: [{ at: \(position), fault: { gateway: stop } }]")
        let history = History()
        let now = Self.instant(2)
        #expect(script.advance(at: now, Progress(), Self.undecided, in: history) == nil)
        #expect(script.advance(at: now, Self.driven(before), Self.undecided, in: history) == nil)
        #expect(script.advance(at: now, Self.driven(there), Self.undecided, in: history) == .begin(step: 0))
        #expect(script.actedStep == 0)
    }

    @Test func `a step at a time of the drive has a deadline once the drive has begun`() throws {
        var script = try Self.script("steps: [{ at: 10s, fault: { gateway: stop } }]")
        let history = History()
        #expect(script.advance(at: Self.instant(1), Progress(), Self.undecided, in: history) == nil)
        #expect(script.deadline == nil)
        #expect(script.advance(at: Self.instant(1), Self.driven(0), Self.undecided, in: history) == nil)
        #expect(script.deadline == Self.instant(11))
        #expect(
            script.advance(at: Self.instant(11), Self.driven(9), Self.undecided, in: history)
                == .begin(step: 0))
    }

    @Test func `a step whose place the drive does not reach fails, and no later one begins`() throws {
        var script = try Self.script(
            "steps: [{ at: 2km, fault: { gateway: stop } }, { after: 1s, fault: { gateway: stop } }]")
        var progress = Self.driven(900)
        progress.isOver = true
        let history = History()
        #expect(
            script.advance(at: Self.instant(5), progress, Self.undecided, in: history)
                == .fail(step: 0, .driveEndedBefore))
        #expect(script.isOver)
        #expect(script.advance(at: Self.instant(9), progress, Self.decided, in: history) == nil)
    }

    @Test func `a step begins when the one before is decided, and waits from then`() throws {
        var script = try Self.script(
            "steps: [{ fault: { gateway: stop } }, { after: 2s, fault: { gateway: stop } }]")
        let (history, progress) = (History(), Self.driven(0))
        #expect(
            script.advance(at: Self.instant(0), progress, Self.undecided, in: history) == .begin(step: 0))
        #expect(script.advance(at: Self.instant(1), progress, Self.undecided, in: history) == nil)
        #expect(script.advance(at: Self.instant(3), progress, Self.decided, in: history) == nil)
        #expect(script.deadline == Self.instant(5))
        #expect(script.advance(at: Self.instant(4.999), progress, Self.undecided, in: history) == nil)
        #expect(
            script.advance(at: Self.instant(5), progress, Self.undecided, in: history) == .begin(step: 1))
        #expect(script.advance(at: Self.instant(6), progress, Self.decided, in: history) == .end)
    }

    @Test func `a step begins with its event, or fails when its time is over`() throws {
        let text =
            "steps: [{ when: { message: finishGuidance, count: 2 }, within: 5s, fault: { gateway: stop } }]"
        var script = try Self.script(text)
        let progress = Self.driven(0)
        var run = RunSketch()
        run.connect(at: 100)
        #expect(script.advance(at: Self.instant(0), progress, Self.undecided, in: run.history) == nil)
        #expect(script.deadline == Self.instant(5))
        var late = script
        for number in 1...2 {
            run.publish(.finishGuidance, at: Int64(1_000 * number))
            script.see(run.history.entries[run.history.entries.count - 1], in: run.history)
            let order = script.advance(
                at: Self.instant(Double(number)), progress, Self.undecided, in: run.history)
            #expect(order == (number == 2 ? .begin(step: 0) : nil))
        }
        #expect(
            late.advance(at: Self.instant(5), progress, Self.undecided, in: run.history)
                == .fail(step: 0, .eventNeverHappened))
    }

    @Test func `without an ending the scenario is over with its last step, or with the drive`() throws {
        var script = try Self.script("expect: { rate: { at-most: 5, per: 1s } }")
        let history = History()
        #expect(script.advance(at: Self.instant(1), Self.driven(5), Self.decided, in: history) == nil)
        var progress = Self.driven(1_000)
        progress.isOver = true
        #expect(script.advance(at: Self.instant(2), progress, Self.decided, in: history) == nil)
        #expect(script.deadline == Self.instant(3))
        #expect(script.advance(at: Self.instant(3), progress, Self.decided, in: history) == .end)
    }

    @Test func `with an ending the scenario is over when that is decided, or ten seconds after the drive`()
        throws
    {
        var script = try Self.script("ended: finished")
        var late = script
        let history = History()
        #expect(script.advance(at: Self.instant(1), Self.driven(5), Self.undecided, in: history) == nil)
        #expect(script.advance(at: Self.instant(2), Self.driven(5), Self.decided, in: history) == .end)
        var progress = Self.driven(1_000)
        progress.isOver = true
        #expect(late.advance(at: Self.instant(2), progress, Self.undecided, in: history) == nil)
        #expect(late.deadline == Self.instant(12))
        #expect(late.advance(at: Self.instant(12), progress, Self.undecided, in: history) == .end)
    }

    @Test func `a scenario that takes too long fails at the step that has not begun`() throws {
        var script = try Self.script("steps: [{ at: 2km, fault: { gateway: stop } }]")
        #expect(script.end() == .fail(step: 0, .tookTooLong))
        #expect(script.end() == nil)
        var acted = try Self.script("steps: [{ fault: { gateway: stop } }]")
        #expect(
            acted.advance(at: Self.instant(0), Progress(), Self.undecided, in: History()) == .begin(step: 0))
        #expect(acted.end() == .end)
    }
}

extension ScenarioScript {
    /// After the newest entry.
    fileprivate mutating func advance(
        at now: Instant, _ progress: Progress, _ decisions: Decisions, in history: History
    ) -> Order? {
        self.advance(at: now, progress, decisions, after: history.entries.count - 1, in: history)
    }
}
