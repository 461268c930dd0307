import ArgumentParser
import Foundation
import Synchronization
import Testing
import WaymarkGuidance
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkRoutes
import WaymarkScenario

@testable import WaymarkCommandLine

/// Scenarios that ship, with good and with broken clients.
@Suite(.timeLimit(.minutes(10))) struct ScenarioTests {
    private static func ready(_ name: String) throws -> ScenarioFiles.Ready {
        let files = ScenarioFiles([Resources.scenarioPath("\(name).scenario.yaml")])
        #expect(files.errors == [])
        return try #require(files.ready.first)
    }

    /// Runs a scenario that ships; its text may be changed before.
    private static func run(
        _ name: String, replacing old: String = "", with new: String = "",
        _ mutate: (@Sendable (GuideMachine.Action) -> [GuideMachine.Action])? = nil
    ) throws -> ScenarioResult {
        var ready = try self.ready(name)
        if !old.isEmpty {
            let path = Resources.scenarioPath("\(name).scenario.yaml")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try #require(text.contains(old))
            let changed = text.replacingOccurrences(of: old, with: new)
            ready = .init(
                scenario: try ScenarioReader.read(changed, file: "\(name).scenario.yaml"),
                inputs: ready.inputs)
        }
        var mutations = RunMutations()
        if let mutate { mutations.client = { action, _ in mutate(action) } }
        return ScenarioRun.run(ready.scenario, ready.inputs, mutations: mutations).result
    }

    /// The explanations of all that failed.
    private static func failures(_ result: ScenarioResult) -> [String] {
        #expect(result.problem == nil)
        return result.expectations.filter { !$0.hasPassed }.map { $0.explanation.joined(separator: "\n") }
    }

    private static func findings(_ result: ScenarioResult) -> [String] {
        result.lints.flatMap { lint in lint.findings.map { "\(lint.rule) \($0.text)" } }
    }

    @Test(arguments: Resources.scenarioNames)
    func `every scenario that ships passes with the client that ships`(_ file: String) throws {
        let result = try Self.run(String(file.dropLast(ScenarioFiles.suffix.count)))
        #expect(Self.failures(result) == [])
        #expect(Self.findings(result) == [])
        #expect(result.hasPassed)
        // So that they also pass by the real clock, on a busy machine.
        for expectation in result.expectations {
            guard case .passed(_, let margin?) = expectation.verdict, let window = expectation.window else {
                continue
            }
            #expect(margin * 2 >= window, "\(expectation.text) leaves \(margin)")
        }
    }

    @Test func `the gallery has at least 25 scenarios, each with a sentence about it`() {
        let gallery = ScenarioFiles([ScenarioFiles.gallery])
        #expect(gallery.errors == [])
        #expect(gallery.ready.count == Resources.scenarioNames.count)
        #expect(gallery.ready.count >= 25)
        #expect(gallery.ready.allSatisfy { $0.scenario.about?.hasSuffix(".") == true })
    }

    @Test func `the page on testing has a row for each scenario of the gallery`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "Docs/testing.md"), encoding: .utf8)
        let rows = ScenarioFiles([ScenarioFiles.gallery]).ready.map { ready in
            let name = ready.scenario.file.dropFirst(ScenarioFiles.gallery.count + 1)
                .dropLast(ScenarioFiles.suffix.count)
            return "| `\(name)` | \(ready.scenario.about ?? "") |\n"
        }
        #expect(rows.filter { !page.contains($0) } == [])
        #expect(page.matches(of: /(?m)^\| `[a-z0-9-]+` \| [A-Z].*\.? \|$/).count == rows.count)
    }

    @Test func `a scenario of the gallery is named with or without its suffix`() {
        let names = [
            "\(ScenarioFiles.gallery)/declined-stop", "\(ScenarioFiles.gallery)/declined-stop.scenario.yaml",
        ]
        #expect(ScenarioFiles(names).ready.map(\.scenario.about).count == 2)
        let unknown = ScenarioFiles(["\(ScenarioFiles.gallery)/declined"])
        #expect(
            unknown.errors == [
                "@gallery has no declined (waymark test --list @gallery prints what it has); did you mean declined-stop?"
            ])
    }

    // MARK: right-turn-lanes

    @Test func `a client that highlights another lane is told the lane that was shown`() throws {
        let result = try Self.run("right-turn-lanes") { action in
            guard case .publish(.startGuidance(let trip, let generation, var route)) = action else {
                return [action]
            }
            for index in route.laneGuidances.indices {
                let lanes = route.laneGuidances[index].lanes
                guard lanes.count == 4, lanes[3].highlightedAngle != nil else { continue }
                route.laneGuidances[index].lanes[3].highlightedAngle = nil
                route.laneGuidances[index].lanes[3].status = .notGood
                route.laneGuidances[index].lanes[2].status = .preferred
                route.laneGuidances[index].lanes[2].highlightedAngle = lanes[2].angles.first
            }
            return [.publish(.startGuidance(trip, generation: generation, route))]
        }
        let failures = Self.failures(result)
        #expect(failures.count == 1)
        #expect(
            failures.first?.contains("lanes.highlighted   [3]             expected [4]") == true,
            "\(failures)")
    }

    @Test func `a client that publishes too often is told how often`() throws {
        // At every step of the drive, so 20 times a second.
        let count = Mutex(0)
        let result = try Self.run("right-turn-lanes") { action in
            guard case .changed(.position(_, bearing: _)) = action else { return [action] }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return [action, .publish(.currentRoadName(["Ring \(number)"]))]
        }
        let failures = Self.failures(result)
        #expect(failures.count == 1)
        #expect(failures.first?.contains("at most 10") == true, "\(failures)")
    }

    @Test func `a client that cancels at the end has not finished`() throws {
        let result = try Self.run("right-turn-lanes") { action in
            if case .publish(.finishGuidance) = action { return [.publish(.cancelGuidance)] }
            return [action]
        }
        let failures = Self.failures(result)
        #expect(failures.count == 1)
        #expect(failures.first?.contains("cancelledByClient") == true, "\(failures)")
    }

    // MARK: declined-stop

    @Test func `a client that accepts the stop fails by the outcome`() throws {
        let result = try Self.run(
            "declined-stop", replacing: "on-waypoint: decline", with: "on-waypoint: accept")
        let failures = Self.failures(result)
        #expect(failures.first?.contains("declinedByUser") == true, "\(failures)")
        #expect(failures.first?.contains("accepted") == true)
    }

    @Test func `a client that declines and changes the trip nevertheless is told what it changed`() throws {
        let count = Mutex(0)
        let result = try Self.run("declined-stop") { action in
            guard case .changed(.position(_, bearing: _)) = action else { return [action] }
            let number = count.withLock { count in
                count += 1
                return count
            }
            // Every two seconds another trip, so also behind the second kilometre, where the vehicle asks.
            guard number % 40 == 0 else { return [action] }
            let stop = Waypoint(
                center: Coordinate(latitude: 47.0756, longitude: 9.5076), nameVariants: ["Stop \(number)"])
            return [
                action,
                .publish(.updateTrip(Trip(id: "trip-1", origin: stop, destination: stop, waypoints: [stop]))),
            ]
        }
        let failures = Self.failures(result)
        #expect(failures.count == 1)
        #expect(failures.first?.contains("  trip") == true, "\(failures)")
    }

    // MARK: gateway-dies

    @Test func `a client that says execute after the gateway died fails, whatever the distance`() throws {
        let result = try Self.run("gateway-dies", replacing: "for: 300ms", with: "for: 300s") { action in
            if case .publish(.maneuverState(.prepare, let generation)) = action {
                return [.publish(.maneuverState(.execute, generation: generation))]
            }
            return [action]
        }
        let failures = Self.failures(result)
        #expect(failures.first?.contains("maneuverState") == true, "\(failures)")
        #expect(failures.first?.contains("execute") == true)
    }

    @Test func `an endpoint that is refused for longer than its window does not resume in time`() throws {
        let result = try Self.run(
            "gateway-dies", replacing: "kind: refuse, for: 5s", with: "kind: refuse, for: 20s")
        let failures = Self.failures(result)
        #expect(failures.count == 1)
        #expect(
            failures.first?.contains("resumed             false           expected true") == true,
            "\(failures)")
    }

    @Test func `a client that never drives fails at the first step`() throws {
        let result = try Self.run("gateway-dies", replacing: "at: 3km", with: "at: 3000km")
        let failures = Self.failures(result)
        #expect(failures.count == 1)
        #expect(failures.first?.contains("the drive ended after") == true, "\(failures)")
        #expect(result.unreachedCount == 4)
    }

    // MARK: Allowances

    @Test func `a finding fails the scenario unless it is allowed with a reason`() throws {
        let mutate: @Sendable (GuideMachine.Action) -> [GuideMachine.Action] = { action in
            guard case .publish(.startGuidance(let trip, let generation, var route)) = action else {
                return [action]
            }
            for index in route.maneuvers.indices {
                route.maneuvers[index].instructionVariants = ["Left", "Turn to the left"]
            }
            return [.publish(.startGuidance(trip, generation: generation, route))]
        }
        let result = try Self.run("declined-stop", mutate)
        #expect(Self.failures(result) == [])
        #expect(!result.hasPassed)
        #expect(Self.findings(result).first?.hasPrefix("LINT-TEXT-ORDER") == true)
        for peer in ["", "of: client, "] {
            let allowed = try Self.run(
                "declined-stop", replacing: "route: vaduz",
                with: "allow: [{ lint: LINT-TEXT-ORDER, \(peer)reason: this app is old }]\nroute: vaduz",
                mutate)
            #expect(allowed.hasPassed)
        }
        let other = try Self.run(
            "declined-stop", replacing: "route: vaduz",
            with: "allow: [{ lint: LINT-TEXT-ORDER, of: dut, reason: this app is old }]\nroute: vaduz", mutate
        )
        #expect(!other.hasPassed)
    }

    // MARK: Files and seeds

    @Test func `every error of every file is found before anything runs`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "scenarios-\(UInt32.random(in: 0 ... .max))")
        let inner = folder.appending(path: "inner")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let texts = [
            "a.scenario.yaml": "route: nowhere\nended: finished\nspede: 2\n",
            "b.scenario.yaml": "client: { command: [x, '{vehicle}'] }\nended: finished\n",
            "inner/c.scenario.yaml":
                "route: vaduz-balzers\nended: finished\nallow: [{ lint: LINT-NO-RULE, reason: because of it }]\n",
            "inner/d.scenario.yaml": "route: vaduz-balzers\nsteps: [{ do: { requst: {} } }]\n",
            "e.yaml": "not a scenario",
        ]
        for (name, text) in texts {
            try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
        }
        let files = ScenarioFiles([folder.path, "\(folder.path)/missing"])
        #expect(files.ready.isEmpty)
        #expect(files.errors.count == 6)
        let found = [
            "a.scenario.yaml:1:8: the route \(folder.path)/nowhere cannot be read",
            "a.scenario.yaml:3:1: unknown key spede in the scenario; did you mean speed?",
            "b.scenario.yaml:1:20: {vehicle} is unknown here",
            "inner/c.scenario.yaml:3:9: LINT-NO-RULE is no lint rule",
            "inner/d.scenario.yaml:2:17: unknown key requst",
            "missing cannot be read",
        ]
        for text in found { #expect(files.errors.contains { $0.contains(text) }, "\(text): \(files.errors)") }
    }

    @Test func `a seed is a number, or two with two points between`() {
        #expect(SeedRange(argument: "7") == SeedRange(first: 7, last: 7))
        #expect(SeedRange(argument: "1..3")?.seeds == 1...3)
        for text in ["", "1.3", "3..1", "1...3", "-1", "1..", "9007199254740992", "a"] {
            #expect(SeedRange(argument: text) == nil, "\(text)")
        }
    }

    @Test func `what is expected sometimes passes if it passed with any seed`() throws {
        var result = ScenarioResult(file: "a")
        let place = try Self.ready("declined-stop").scenario.steps[0].location
        let failure = Failure("x", anchor: nil, at: result.end, nearest: nil)
        var sometimes = ReportedExpectation("sometimes", at: place, .failed(failure))
        sometimes.isForAnySeed = true
        result.expectations = [ReportedExpectation("always", at: place, .failed(failure)), sometimes]
        var passed = result
        passed.expectations[1].verdict = .passed(at: result.end, margin: nil)
        var group = ScenarioRunner.Group(results: [result, passed])
        group.merge()
        #expect(group.results.map { $0.expectations.map(\.hasPassed) } == [[false, true], [false, true]])
        // Of a failure with every seed, one tells.
        group = ScenarioRunner.Group(results: [result, result])
        group.merge()
        #expect(group.results.map { $0.expectations.map(\.hasPassed) } == [[false, false], [false, true]])
    }

    @Test func `results come in the order of the files, however many run at a time`() async throws {
        let ready = try Resources.scenarioNames.map {
            try Self.ready(String($0.dropLast(ScenarioFiles.suffix.count)))
        }
        var files: [String] = []
        let recordings = try TestRecordings(ready.map(\.scenario.file), folder: nil, isOff: true)
        let runner = ScenarioRunner(
            ready, SeedRange(first: 3, last: 4), jobs: 4, withTrace: false, recordings)
        for await group in runner.start().groups {
            #expect(group.results.map(\.seed) == [3, 4])
            #expect(group.results.filter { !$0.hasPassed }.isEmpty)
            files += group.results.prefix(1).map(\.file)
        }
        #expect(files == ready.map(\.scenario.file))
    }
}
