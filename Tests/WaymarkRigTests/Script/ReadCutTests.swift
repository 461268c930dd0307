import Sweeps
import Testing
import WaymarkHistory
import WaymarkProtocol
import WaymarkRig
import WaymarkScenario

/// By the real clock several frames can arrive in one read. Verdicts do not depend on how bytes are cut into reads.
/// `WAYMARK_SEEDS=1000` tries more scenarios.
@Suite struct ReadCutTests {
    private typealias Crossed = (kind: History.Kind, instant: Instant)

    private static let requests = ["north", "middle", "south"]

    /// A request for a stop, as an action.
    private static func request(_ id: String) -> String {
        "do: { request: { waypoint: [47.0956, 9.5176], id: \(id) } }"
    }

    /// The beginning of a drive with requests, without the entries of its steps. What crosses within 200 ms has one instant, so that one
    /// read can bring it.
    private static let drive: [Crossed] = {
        do {
            let text = """
                route: vaduz-balzers
                speed: 50
                client: { on-waypoint: decline }
                steps:
                \(Self.requests.map { "  - { after: 2s, \(Self.request($0)) }" }.joined(separator: "\n"))
                ended: finished
                """
            let scenario = try ScenarioReader.read(text, file: "drive.scenario.yaml")
            var inputs = ScenarioInputs()
            inputs.routes["vaduz-balzers"] = try Stage.route("vaduz-balzers")
            let slot: Int64 = 200_000_000
            let entries = ScenarioRun.run(scenario, inputs).history.entries.filter { entry in
                if case .step = entry.kind { false } else { true }
            }
            return entries.prefix(400).map { entry in
                let slots = entry.instant.nanoseconds / slot
                return (entry.kind, Instant(nanoseconds: slots * slot))
            }
        } catch {
            Issue.record(error)
            return []
        }
    }()

    private static let seeds = sweptSeeds(100)

    private static let messages = [
        "startGuidance", "currentRoadName", "updateManeuverState", "updateManeuverEstimates",
        "updateTripEstimates",
        "upcomingManeuvers", "currentLaneGuidance", "snapshotEnd", "sessionOpened", "addManeuvers",
        "waypointRequest", "requestOutcome",
    ]
    private static let states = [
        "{ phase: active }", "{ maneuverState: prepare }", "{ maneuverState: continue }", "{ next.id: 2 }",
        "{ next.distance: \"<300m\" }", "{ currentRoadName: null }", "{ shows: fresh }",
    ]

    private static func event(_ random: inout SeededRandom) -> String {
        let peers = ["", ", of: client"]
        return Bool.random(using: &random)
            ? "{ message: \(messages.randomElement(using: &random) ?? "")\(peers.randomElement(using: &random) ?? "") }"
            : "{ state: \(states.randomElement(using: &random) ?? "") }"
    }

    private static func word(_ random: inout SeededRandom) -> String {
        let message = messages.randomElement(using: &random) ?? ""
        let state = states.randomElement(using: &random) ?? ""
        let time = ["200ms", "400ms", "1s", "5s"].randomElement(using: &random) ?? ""
        let outcomes = ["declinedByUser", "accepted"]
        let words = [
            "message: \(message), within: \(time)", "never: { message: \(message) }, for: \(time)",
            "eventually: \(state), within: \(time)", "always: \(state), for: \(time)",
            "never: \(state), for: \(time)", "exactly: { count: 1, message: \(message) }, for: \(time)",
            "gap: { message: \(message), below: 400ms }, for: \(time)",
            "rate: { message: \(message), at-most: 1, per: 400ms }, for: \(time)",
            "rate: { message: \(message), at-least: 1, per: 400ms }, for: \(time)",
            "in-order: [\(self.event(&random)), \(self.event(&random))], within: \(time)",
            "unchanged: [maneuverState, currentRoadName], for: \(time)",
            "holds-what-was-published: true, within: \(time)", "ended: finished, within: \(time)",
            "outcome: \(outcomes.randomElement(using: &random) ?? ""), within: \(time)",
            "sometimes: \(self.event(&random))",
        ]
        return words.randomElement(using: &random) ?? ""
    }

    /// A scenario of steps that wait for events, and of expectations that begin with events.
    private static func scenario(_ random: inout SeededRandom) -> String {
        let steps = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            let repeated = Bool.random(using: &random) ? "when: \(self.event(&random)), " : ""
            let id = Bool.random(using: &random) ? self.requests.randomElement(using: &random) : nil
            return """
                  - when: \(self.event(&random))
                    within: 1min
                    \(id.map(self.request) ?? "")
                    expect: [{ \(self.word(&random)) }, { \(repeated)\(self.word(&random)) }]
                """
        }
        return """
            vehicle: { connects: false }
            client: { connects: false, drives: when-told }
            steps:
            \(steps.joined(separator: "\n"))
            expect: { when: \(self.event(&random)), \(self.word(&random)) }
            """
    }

    /// Without the nearest thing, which may be one that came in the same read.
    private static func text(_ verdict: Verdict) -> String {
        switch verdict {
        case .passed(let instant, let margin):
            "passed at \(instant.nanoseconds), \(margin?.nanoseconds ?? -1) left"
        case .failed(let failure):
            "failed at \(failure.instant.nanoseconds) since \(failure.anchor ?? -1): \(failure.expected)"
        }
    }

    /// Hands the drive to a run over sockets. `size` says how many entries a read brings, if they have one instant.
    private static func verdicts(_ text: String, size: () -> Int) throws -> [String] {
        let scenario = try ScenarioReader.read(text, file: "cut.scenario.yaml")
        var run = try ScenarioRun(scenario, ScenarioInputs(), .real)
        run.begin()
        var (isOver, rest) = (run.proceed(), self.drive[...])
        while !isOver {
            guard let first = rest.first, first.instant <= run.deadline else {
                run.catchUp(to: run.deadline)
                isOver = run.proceed()
                continue
            }
            let read = rest.prefix(size()).prefix { $0.instant == first.instant }
            rest = rest.dropFirst(read.count)
            run.catchUp(to: first.instant) { run in
                for crossed in read { run.history.append(crossed.kind, at: crossed.instant) }
            }
            isOver = run.proceed()
        }
        let (result, history) = run.finish()
        let steps = history.entries.compactMap { entry -> String? in
            if case .step(let step, _) = entry.kind { "step \(step + 1) at \(entry.index)" } else { nil }
        }
        return ["\(result.problem ?? "")"] + steps
            + result.expectations.map { "\($0.text): \(Self.text($0.verdict))" }
    }

    @Test(arguments: Self.seeds)
    func `verdicts are the same however bytes are cut into reads`(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let text = Self.scenario(&random)
        let one = try Self.verdicts(text) { 1 }
        #expect(try Self.verdicts(text) { .max } == one, "all in one read: \(text)")
        #expect(try Self.verdicts(text) { Int.random(in: 1...6, using: &random) } == one, "\(text)")
    }

    @Test(arguments: [MessageType.startGuidance, .waypointRequest])
    func `the drive has reads that bring a step's event and more`(_ type: MessageType) {
        let starts = Self.drive.indices.filter {
            if case .frame(let frame) = Self.drive[$0].kind {
                frame.frame.header.type == type
            } else {
                false
            }
        }
        #expect(
            starts.contains {
                $0 + 1 < Self.drive.count && Self.drive[$0 + 1].instant == Self.drive[$0].instant
            })
    }
}
