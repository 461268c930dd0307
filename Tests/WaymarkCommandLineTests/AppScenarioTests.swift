import RigMutants
import Testing
import WaymarkRig
import WaymarkScenario

@testable import WaymarkCommandLine

/// The scenarios that say whether an app would pass a review: each of the rules that they quote is broken by one client.
@Suite struct AppScenarioTests {
    private static let scenarios = [
        "app-would-pass-carplay", "app-would-pass-nf-4", "app-would-pass-nf-5", "app-would-pass-nf-7",
    ]

    private static func run(_ name: String, _ mutations: RunMutations = RunMutations()) throws
        -> ScenarioResult
    {
        let ready = try #require(ScenarioFiles(["\(ScenarioFiles.gallery)/\(name)"]).ready.first)
        return ScenarioRun.run(ready.scenario, ready.inputs, mutations: mutations).result
    }

    @Test(arguments: scenarios)
    func `the rig's own client would pass`(_ name: String) throws {
        let result = try Self.run(name)
        #expect(result.hasPassed, "\(result.expectations.filter { !$0.hasPassed }.map(\.text))")
    }

    @Test(arguments: Mutant.ofApps.indices)
    func `a client that breaks a rule fails the scenario that quotes it, by an expectation`(_ index: Int)
        throws
    {
        let mutant = Mutant.ofApps[index]
        let name = try #require(mutant.first.first)
        let result = try Self.run(name, mutant.mutations)
        #expect(result.problem == nil)
        #expect(result.expectations.contains { !$0.hasPassed }, "\(mutant)")
    }

    @Test func `each scenario of a review has a client that it refuses`() {
        #expect(Set(Mutant.ofApps.flatMap(\.first)) == Set(Self.scenarios))
    }
}
