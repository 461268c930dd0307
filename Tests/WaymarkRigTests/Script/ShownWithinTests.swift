import Testing
import WaymarkRig
import WaymarkScenario

/// `shown-within`: how long content takes to the display.
@Suite struct ShownWithinTests {
    /// The result of a drive with a link of 50 milliseconds each way, and a display that takes 20.
    private static func run(
        _ expectation: String, vehicle: String = "shows-after: 20ms", client: String = "receipts: 1s"
    ) throws -> ScenarioResult {
        let text = """
            route: vaduz-balzers
            vehicle: { \(vehicle) }
            client: { \(client) }
            faults: [{ link: dut, kind: delay, by: 50ms }]
            steps: [{ at: 1km, expect: { \(expectation), for: 30s } }]
            """
        let scenario = try ScenarioReader.read(text, file: "shown.scenario.yaml")
        var inputs = ScenarioInputs()
        inputs.routes["vaduz-balzers"] = try Stage.route("vaduz-balzers")
        let result = ScenarioRun.run(scenario, inputs).result
        #expect(result.problem == nil)
        return result
    }

    @Test func `delays are those of the link and the display`() throws {
        #expect(try Self.run("shown-within: 71ms").hasPassed)
        let late = try Self.run("shown-within: 69ms")
        #expect(!late.hasPassed)
        let lines = late.expectations.flatMap(\.explanation)
        #expect(lines.contains { $0.contains("within 0.069 s") }, "\(lines)")
    }

    @Test func `nothing was shown in time if no delay was measured`() throws {
        #expect(!(try Self.run("shown-within: 10s", vehicle: "ready: true")).hasPassed)
        #expect(!(try Self.run("shown-within: 10s", client: "waits-for: joined")).hasPassed)
    }

    @Test func `a drive in Swift measures the same`() async throws {
        try await withRig(route: .vaduzBalzers) { rig in
            try rig.addVehicle(showsAfter: .milliseconds(20))
            try rig.addClient(receipts: .seconds(1))
            try await rig.run(to: .meters(500))
            try await rig.expect(.shownWithin(.milliseconds(25), for: .seconds(30)))
        }
        await #expect(throws: RigError.self) {
            try await withRig(route: .vaduzBalzers) { rig in try rig.addClient(receipts: .milliseconds(99)) }
        }
    }

    @Test func `a client shows nothing`() {
        #expect(throws: ScenarioErrors.self) {
            try ScenarioReader.read(
                "route: a\nexpect: { of: client, shown-within: 1s }", file: "client.scenario.yaml")
        }
    }
}
