import Foundation
import Testing
import WaymarkSimulation

/// Seeds to run: `WAYMARK_SEEDS` of them, else a few; or the one of `WAYMARK_SEED`, to see it again.
let seeds: [UInt64] = {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["WAYMARK_SEED"].flatMap({ UInt64($0) }) { return [seed] }
    return Array(0..<(environment["WAYMARK_SEEDS"].flatMap { UInt64($0) } ?? 200))
}()

@Suite struct SimulationTests {
    @Test func `what was promised holds over a bad network`() {
        for seed in seeds {
            var network = SimulatedNetwork(seed: seed)
            network.run(steps: 400)
            #expect(network.violations.isEmpty, "seed \(seed)")
        }
    }
}
