package import ArgumentParser
internal import Foundation
internal import ProcessIO
internal import WaymarkClient
internal import WaymarkConfiguration
internal import WaymarkRig
internal import WaymarkRigSockets
internal import WaymarkRoutes
internal import WaymarkScenario
internal import WaymarkTexts

package struct Test: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Run scenarios: drives with faults and expectations.",
        usage: "waymark test FILES ... [<options>]",
        discussion: """
            Each scenario runs in virtual time, in this process, with a gateway, vehicles and clients of its own. The \
            same seed gives the same run, to the byte. A scenario with programs under test runs by the real clock: over \
            sockets, with a waymarkd of its own. A scenario that passed is two lines; of one that failed, everything is \
            printed that explains it, and its recording is in .waymark/NAME/seed-N.mcap.

            The exit status is 0 if all passed, 1 if one failed, 2 if one could not be run, 5 if there was none.
            """)

    /// A run of many seeds keeps what it found of each.
    private static let seedsMax: UInt64 = 100_000

    @Argument(
        help:
            "Scenario files, or folders with *.scenario.yaml in them; @gallery stands for the scenarios that ship.",
        completion: .file(extensions: ["yaml"]))
    var files: [String] = []
    @Option(help: "Write the results as JUnit XML to this file.", completion: .file(extensions: ["xml"]))
    var junit: String?
    @Option(
        help: "Write a report as one HTML file, without scripts, to this file.",
        completion: .file(extensions: ["html"]))
    var report: String?
    @Option(
        help: "Write every frame and event of each run, as one JSON object per line, to this file.",
        completion: .file(extensions: ["jsonl"]))
    var trace: String?
    @Option(
        help: "Write the recordings of all runs to this folder, not only those of runs that failed.",
        completion: .directory)
    var recordings: String?
    @Flag(help: "Write no recordings, also of runs that failed.") var noRecordings = false
    @Option(
        name: .shortAndLong,
        help:
            "How many scenarios run at the same time; without it as many as there are processors, four times as many by the real clock, and one with --against."
    )
    var jobs: Int?
    @Option(
        help:
            "virtual or real: one process without sockets, or sockets and a waymarkd. Without it, virtual where no program, --against or --daemon takes part."
    )
    var clock: RunClock?
    @Option(
        help: ArgumentHelp(
            "Run against this gateway, by the real clock. Given twice: that of vehicles, then that of clients.",
            valueName: "address"),
        transform: serviceAddress)
    var against: [ServiceAddress] = []
    @Option(
        help: ArgumentHelp(
            "An app takes the place of the first client: something else starts it, and it connects to this address, where the rig listens.",
            valueName: "tcp:host:port"),
        transform: serviceAddress)
    var app: ServiceAddress?
    @Option(
        help: "The waymarkd of the scenarios, by the real clock; without it the one of this program.",
        completion: .file())
    var daemon: String?
    @Option(
        help:
            "A seed, or several as FIRST..LAST, in place of the scenario's. What a scenario expects sometimes may happen with any of them."
    )
    var seed: SeedRange?
    @Flag(help: "Only list the scenarios, and what they expect.") var list = false
    @Flag(help: "Print one JSON object per scenario, see Docs/cluster-json.md.") var json = false
    @Option(
        name: .customLong("init"),
        help:
            "Only print a first scenario for this route: one that ships, or a file with an engine's answer.",
        completion: .file(extensions: ["json"]))
    var route: String?
    @Flag(help: "Only print the JSON Schema of scenario files.") var schema = false

    package init() {}

    package func validate() throws {
        if let jobs, !(1...1_024).contains(jobs) { throw ValidationError("--jobs must be 1 to 1024") }
        if let seed, seed.count > Self.seedsMax {
            throw ValidationError("--seed may have at most \(Self.seedsMax) seeds")
        }
        if self.clock == .virtual, !self.against.isEmpty || self.daemon != nil {
            throw ValidationError("--against and --daemon need --clock real")
        }
        if let app {
            guard case .tcp = app else { throw ValidationError("--app must be tcp:HOST:PORT") }
            if self.clock == .virtual { throw ValidationError("--app needs --clock real") }
            if let jobs, jobs > 1 { throw ValidationError("--app and --jobs exclude each other") }
        }
        if self.against.count > 2 { throw ValidationError("--against may be given at most twice") }
        if !self.against.isEmpty, self.daemon != nil {
            throw ValidationError("--against and --daemon exclude each other")
        }
        if let daemon, !FileManager.default.isExecutableFile(atPath: daemon) {
            throw ValidationError("--daemon: \(daemon) is not a program")
        }
        if self.recordings != nil, self.noRecordings {
            throw ValidationError("either --recordings or --no-recordings")
        }
        if self.recordings?.isEmpty == true { throw ValidationError("--recordings needs a folder") }
        if self.files.isEmpty, self.route == nil, !self.schema {
            throw ValidationError("name a scenario file or a folder, or @gallery")
        }
    }

    package func run() async throws {
        if self.schema { return Terminal.write(try Resources.scenarioSchema()) }
        if let route { return Terminal.write(try Self.firstScenario(for: route)) }
        let files = ScenarioFiles(
            self.files, clock: self.clock ?? (self.runsElsewhere ? .real : nil),
            isAgainstOthers: !self.against.isEmpty, app: self.appAddress)
        guard files.errors.isEmpty else {
            Terminal.notes(files.errors.map { "Error: \($0)" }.joined(separator: "\n"))
            throw ExitCode(2)
        }
        guard !files.ready.isEmpty else {
            Terminal.note("Error: \(self.files.joined(separator: " ")) has no *\(ScenarioFiles.suffix)")
            throw ExitCode(5)
        }
        if self.list { return self.printList(files.ready.map(\.scenario)) }
        try await self.runAll(files.ready)
    }

    private static func firstScenario(for route: String) throws -> String {
        let answer =
            Resources.routeNames.contains(route)
            ? try readAnswer(Resources.route(route), name: route) : try readAnswer(route, nil)
        // Editors complete what the schema has.
        let schema = "# yaml-language-server: $schema=\(Resources.scenarioSchemaPath)\n"
        do throws(FirstScenario.Failure) {
            return schema + (try FirstScenario.text(answer, named: route))
        } catch {
            throw CommandFailure("\(error)")
        }
    }

    private func printList(_ scenarios: [Scenario]) {
        for scenario in scenarios {
            if self.json {
                Terminal.line(ResultJSON.line(listing: scenario))
                continue
            }
            for line in Terminal.wrapped("\(scenario.file): \(scenario.about ?? "")", columns: 80) {
                Terminal.line(line)
            }
            for expected in scenario.listing {
                let place = "\(expected.location.line):\(expected.location.column)"
                for line in Terminal.wrapped("  \(place)  \(expected.text)", columns: 80, hanging: 8) {
                    Terminal.line(line)
                }
            }
        }
    }

    // MARK: Running

    /// The gateway is not the one in this program.
    private var runsElsewhere: Bool { !self.against.isEmpty || self.daemon != nil }

    private var appAddress: Scenario.Address? {
        guard case .tcp(let host, let port)? = self.app else { return nil }
        return Scenario.Address(host: host, port: port)
    }

    private var realRuns: RealRun.Options {
        var options = RealRun.Options(against: self.against)
        options.daemon = self.daemon.map { URL(filePath: $0).path }
        return options
    }

    private func runAll(_ ready: [ScenarioFiles.Ready]) async throws {
        let start = ContinuousClock.now
        let outputs = try TestOutputs(junit: self.junit, report: self.report, trace: self.trace)
        let recordings = try TestRecordings(
            ready.map(\.scenario.file), folder: self.recordings, isOff: self.noRecordings)
        let runner = ScenarioRunner(
            ready, self.seed, jobs: self.app == nil ? self.jobs : 1, self.realRuns,
            withTrace: self.trace != nil, recordings)
        let (groups, stop) = runner.start()
        let whole = GuidanceText.counted(ready.count, "scenario")
        // The results of what is over are written, although there will be no others.
        let lastStep: @Sendable () -> Void = {
            do { guard try outputs.finish() else { return } } catch { /* The file was named. */  }
            Terminal.note("interrupted: \(outputs.groupCount) of \(whole) ran to the end")
        }
        try await interruptible(stop, lastStep: lastStep) {
            for await group in groups {
                self.print(group)
                try outputs.add(group)
            }
            guard outputs.groupCount == ready.count else { return lastStep() }
            try outputs.finish()
        }
        let results = outputs.results
        if !self.json { Terminal.line(self.summary(results, ContinuousClock.now - start)) }
        if results.contains(where: { $0.problem != nil }) { throw ExitCode(2) }
        if recordings.areAsked, results.contains(where: { $0.recordingProblem != nil }) { throw ExitCode(2) }
        if !results.allSatisfy(\.hasPassed) { throw ExitCode(1) }
    }

    /// Of many seeds, each that failed, and how many passed.
    private func print(_ group: ScenarioRunner.Group) {
        // The report of a failed run says it; without a recording a verdict is still a verdict.
        for result in group.results where self.json || result.hasPassed {
            if let problem = result.recordingProblem { Terminal.note("Error: \(problem)") }
        }
        if self.json {
            for result in group.results { Terminal.line(ResultJSON.line(result)) }
            return
        }
        let isOne = group.results.count == 1
        for result in group.results where isOne || !result.hasPassed {
            for line in ScenarioText(result, trace: self.trace).lines { Terminal.line(line) }
        }
        guard !isOne, let first = group.results.first else { return }
        let passed = group.results.count(where: \.hasPassed)
        for line in Terminal.wrapped(
            "passed  \(first.file) with \(passed) of \(GuidanceText.counted(group.results.count, "seed"))",
            columns: 80,
            hanging: 8)
        {
            Terminal.line(line)
        }
    }

    private func summary(_ results: [ScenarioResult], _ time: Duration) -> String {
        let hundredths = time.components.seconds * 100 + time.components.attoseconds / 10_000_000_000_000_000
        let fraction = hundredths % 100
        return "\(ScenarioText.summary(results)) "
            + "(\(ScenarioText.clocks(results)), \(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) s)"
    }
}

extension RunClock: ExpressibleByArgument {}

/// A seed, or several in a row.
struct SeedRange: Sendable, Hashable, ExpressibleByArgument {
    let first: UInt64
    let last: UInt64

    /// The largest seed that a scenario may name.
    private static let seedMax: UInt64 = 9_007_199_254_740_991

    init(first: UInt64, last: UInt64) { (self.first, self.last) = (first, last) }

    /// `N`, or `N..M` with N not above M.
    init?(argument: String) {
        let parts = argument.split(separator: ".", omittingEmptySubsequences: false)
        let isRange = parts.count == 3 && parts[1].isEmpty
        guard isRange || parts.count == 1, let first = UInt64(parts[0]),
            let last = UInt64(parts[parts.count - 1]),
            first <= last, last <= Self.seedMax
        else { return nil }
        (self.first, self.last) = (first, last)
    }

    var count: UInt64 { self.last - self.first + 1 }
    var seeds: ClosedRange<UInt64> { self.first...self.last }
}
