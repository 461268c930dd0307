import Foundation
import Simulation
import Sweeps
import Testing

/// The seeds to run, see ``sweptSeeds(_:from:)``.
let seeds = sweptSeeds(200)

/// The seed whose whole trace is printed.
let shownSeed = ProcessInfo.processInfo.environment["WAYMARK_SEED"].flatMap { UInt64($0) }

@Suite struct SimulationTests {
    @Test(arguments: seeds) func `all promises hold on a bad network`(_ seed: UInt64) {
        var network = SimulatedNetwork(seed: seed)
        network.run()
        guard let violation = network.violations.first else { return self.show(seed) }
        // The same run again, with its trace.
        var again = SimulatedNetwork(seed: seed, isTraced: true)
        again.run()
        let tail = again.trace.suffix(shownSeed == nil ? 40 : .max).joined(separator: "\n")
        Issue.record("seed \(seed): \(violation)\n\(tail)\nWAYMARK_SEED=\(seed) prints the whole trace")
    }

    private func show(_ seed: UInt64) {
        guard seed == shownSeed else { return }
        var network = SimulatedNetwork(seed: seed, isTraced: true)
        network.run()
        // Written unbuffered, so that no other output is mixed in.
        let text = network.trace.joined(separator: "\n") + "\n"
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    @Test(.enabled(if: shownSeed == nil)) func `a seed replays exactly`() {
        for seed in UInt64(0)..<5 {
            var first = SimulatedNetwork(seed: seed, isTraced: true)
            var second = SimulatedNetwork(seed: seed, isTraced: true)
            first.run()
            second.run()
            #expect(first.trace.count > 100)
            #expect(first.trace == second.trace)
        }
    }

    @Test(.enabled(if: shownSeed == nil)) func `every expected happening occurs in some seed`() {
        var missing = Happening.expected
        for seed in UInt64(0)..<150 where !missing.isEmpty {
            var network = SimulatedNetwork(seed: seed)
            network.run()
            missing.subtract(network.happenings)
        }
        #expect(missing.isEmpty)
    }

    @Test(.enabled(if: shownSeed == nil), arguments: InjectedFault.allCases)
    func `an injected fault is detected`(_ fault: InjectedFault) {
        var others: [Promise: Int] = [:]
        for seed in UInt64(0)..<100 {
            var network = SimulatedNetwork(seed: seed, fault: fault)
            network.run()
            for violation in network.violations { others[violation.promise, default: 0] += 1 }
            if network.violations.contains(where: { $0.promise == fault.promise }) {
                return
            }
        }
        Issue.record(
            """
            \(fault) breaks promise \(fault.promise.rawValue), but no check detects it; detected are \(others)
            """)
    }

    @Test func `every promise has an injected fault that breaks it`() {
        #expect(Set(InjectedFault.allCases.map(\.promise)) == Set(Promise.allCases))
    }
}
