internal import Foundation
internal import WaymarkRig
internal import WaymarkRigSockets
internal import WaymarkScenario

/// Runs scenarios, several at a time, and hands out their results in the order of the files.
struct ScenarioRunner {
    /// All runs of one file.
    struct Group: Sendable {
        /// In the order of the seeds.
        var results: [ScenarioResult] = []
        /// Each of a run, in the same order; empty unless they were asked for.
        var traces: [String] = []

        /// What is expected sometimes passes if it did with any seed.
        mutating func merge() {
            guard self.results.count > 1, let first = self.results.first else { return }
            for index in first.expectations.indices where first.expectations[index].isForAnySeed {
                let passed = self.results.first {
                    $0.expectations.indices.contains(index) && $0.expectations[index].hasPassed
                }
                guard let verdict = passed?.expectations[index].verdict else {
                    // One failure says it all.
                    for place in self.results.indices.dropFirst()
                    where self.results[place].expectations.indices.contains(index) {
                        self.results[place].expectations[index].verdict = .passed(
                            at: self.results[place].end, margin: nil)
                    }
                    continue
                }
                for place in self.results.indices
                where self.results[place].expectations.indices.contains(index) {
                    self.results[place].expectations[index].verdict = verdict
                }
            }
        }
    }

    private struct Job: Sendable {
        let file: Int
        let place: Int
        let seed: UInt64
    }

    private let ready: [ScenarioFiles.Ready]
    private let seeds: SeedRange?
    private let jobs: Int
    private let realRuns: RealRun.Options
    private let withTrace: Bool
    private let recordings: TestRecordings

    /// Runs by the real clock mostly wait.
    private static let realJobsPerProcessor = 4

    init(
        _ ready: [ScenarioFiles.Ready], _ seeds: SeedRange?, jobs: Int?,
        _ realRuns: RealRun.Options = .init(),
        withTrace: Bool, _ recordings: TestRecordings
    ) {
        (self.ready, self.seeds, self.realRuns, self.withTrace) = (ready, seeds, realRuns, withTrace)
        self.recordings = recordings
        let processors = max(1, ProcessInfo.processInfo.activeProcessorCount)
        let isReal = ready.allSatisfy { $0.clock == .real }
        let most = isReal ? processors * Self.realJobsPerProcessor : processors
        // Vehicles and clients of all scenarios have the same names, for which one gateway has room once.
        self.jobs = jobs ?? (realRuns.against == nil ? most : 1)
    }

    /// Hands out one group for each file, in their order, as soon as its runs and those of the files before are over. `stop` ends it early.
    func start() -> (groups: AsyncStream<Group>, stop: @Sendable () -> Void) {
        let (groups, continuation) = AsyncStream.makeStream(of: Group.self)
        let work = Task {
            await self.run { continuation.yield($0) }
            continuation.finish()
        }
        continuation.onTermination = { _ in work.cancel() }
        return (groups, { continuation.finish() })
    }

    /// What takes as long as a drive is told to a person who waits for it.
    private static func noteBegin(of scenario: Scenario, seed: UInt64) {
        guard Terminal.isErrorInteractive else { return }
        Terminal.note("running \(scenario.file) by the real clock, seed \(seed)")
    }

    private func seeds(of scenario: Scenario) -> SeedRange {
        self.seeds ?? SeedRange(first: scenario.seed, last: scenario.seed)
    }

    private func run(_ hand: (Group) -> Void) async {
        typealias Output = (job: Job, result: ScenarioResult, trace: String)
        var counts = self.ready.map { Int(self.seeds(of: $0.scenario).count) }
        var outputs: [Int: [Output]] = [:]
        var next = 0
        await withTaskGroup(of: Output.self) { group in
            var running = 0
            func collect() async {
                guard let output = await group.next() else { return }
                running -= 1
                outputs[output.job.file, default: []].append(output)
                counts[output.job.file] -= 1
                while next < counts.count, counts[next] == 0 {
                    let ordered = (outputs.removeValue(forKey: next) ?? []).sorted {
                        $0.job.place < $1.job.place
                    }
                    var whole = Group(results: ordered.map(\.result))
                    if self.withTrace { whole.traces = ordered.map(\.trace) }
                    whole.merge()
                    hand(whole)
                    next += 1
                }
            }
            for (file, ready) in self.ready.enumerated() {
                for (place, seed) in self.seeds(of: ready.scenario).seeds.enumerated() {
                    if running >= self.jobs { await collect() }
                    guard !Task.isCancelled else { break }
                    running += 1
                    let job = Job(file: file, place: place, seed: seed)
                    let (withTrace, realRuns, recordings) = (self.withTrace, self.realRuns, self.recordings)
                    group.addTask {
                        if ready.clock == .real { Self.noteBegin(of: ready.scenario, seed: job.seed) }
                        var (result, history) =
                            switch ready.clock {
                            case .virtual: ScenarioRun.run(ready.scenario, ready.inputs, seed: job.seed)
                            case .real:
                                await RealRun.run(ready.scenario, ready.inputs, seed: job.seed, realRuns)
                            }
                        recordings.add(
                            history, to: &result, file: job.file, isFirst: job.place == 0, ready.inputs)
                        return (job, result, withTrace ? RunTrace.lines(history, of: result) : "")
                    }
                }
            }
            while running > 0 { await collect() }
        }
    }
}
