import Foundation
import Testing
import WaymarkRig
import WaymarkScenario

/// Tests/RigCases/near.scenario.yaml: maneuver 4 is expected to be a left turn, and is a right turn.
@Suite struct NearScenarioTests {
    @Test func `the explanation of a failure names the values that differ, and not those that are right`()
        throws
    {
        let file = Repository.root.appending(path: "Tests/RigCases/near.scenario.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        let scenario = try ScenarioReader.read(text, file: "near.scenario.yaml")
        var inputs = ScenarioInputs()
        inputs.routes["heidelberg-lanes"] = try Stage.route("heidelberg-lanes")
        let result = ScenarioRun.run(scenario, inputs).result
        #expect(result.problem == nil)
        #expect(!result.hasPassed)
        let failed = result.expectations.filter { !$0.hasPassed }
        #expect(failed.count == 1)
        // What was expected is in the lines before the nearest moment.
        let lines = try #require(failed.first?.explanation)
        let nearest = lines.drop { !$0.hasPrefix("  nearest ") }
        #expect(nearest.first?.hasSuffix("; 1 value is different") == true)
        let difference = try #require(nearest.first { $0.contains("next.type") })
        #expect(difference.contains("rightTurn") && difference.hasSuffix("expected leftTurn"))
        #expect(!nearest.contains { $0.contains("next.id") })
    }
}
