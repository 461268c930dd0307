import Foundation
import Testing
import WaymarkClient
import WaymarkHistory
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkRoutes
import WaymarkScenario

/// How a test in Swift runs: when time passes, from where expectations count, and what is judged at the end.
@Suite struct RigTests {
    private static let stop = Coordinate(latitude: 47.0756, longitude: 9.5076)

    private static func failure(_ body: (Rig) async throws -> Void) async -> RigFailure? {
        await #expect(throws: RigFailure.self) {
            try await withRig(route: .vaduzBalzers) { try await body($0) }
        }
    }

    private static func error(_ body: (Rig) async throws -> Void) async -> String? {
        await #expect(throws: RigError.self) {
            try await withRig(route: .vaduzBalzers) { try await body($0) }
        }?.description
    }

    @Test func `without a word about who takes part, the vehicle dut is guided by client`() async throws {
        try await withRig(route: .vaduzBalzers) { rig in
            try await rig.run(to: .meters(100))
            #expect(try rig.vehicle.isConnected)
            #expect(try rig.vehicle.state.client == "client")
            #expect(try rig.client.meters >= 100)
            #expect(rig.time > .seconds(1))
        }
    }

    @Test func `the same calls are the same run, and another seed is another one`() async throws {
        func run(_ seed: UInt64) async throws -> [Duration] {
            try await withRig(route: .vaduzBalzers, seed: seed) { rig in
                var times: [Duration] = []
                let car = try rig.vehicle
                for _ in 0..<3 {
                    try await rig.begin(.cut(), of: car)
                    try await rig.begin(.refuse, of: car, for: .seconds(1))
                    try await rig.expect(.eventually(within: .seconds(10)) { $0.connected == true })
                    times.append(rig.time)
                }
                return times
            }
        }
        let first = try await run(1)
        #expect(try await run(1) == first)
        #expect(try await run(2) != first)
    }

    @Test func `a drive in Swift holds the same as the scenario file that says the same`() async throws {
        let file = """
            route: vaduz-balzers
            client: { on-waypoint: decline }
            steps:
              - at: 2km
                do: { request: { waypoint: [47.0756, 9.5076], name: Charging } }
                expect: { outcome: declinedByUser, within: 500ms }
              - expect: { unchanged: [trip, generation, maneuvers], for: 5s }
            """
        var inputs = ScenarioInputs()
        let route = Repository.scenarios.appending(path: "../routes/vaduz-balzers.json")
        inputs.routes["vaduz-balzers"] = try RouteReader.read([UInt8](Data(contentsOf: route)))
        let scenario = try ScenarioReader.read(file, file: "a.scenario.yaml")
        let (result, history) = ScenarioRun.run(scenario, inputs)
        #expect(result.hasPassed)
        try await withRig(route: .vaduzBalzers) { rig in
            try rig.addClient(onWaypoint: .decline)
            try await rig.run(to: .meters(2_000))
            try await rig.vehicle.requestStop(at: Self.stop, name: "Charging")
            try await rig.expect(.outcome(.declinedByUser, within: .milliseconds(500)))
            try await rig.expect(
                .unchanged(for: .seconds(5)) {
                    $0.trip
                    $0.generation
                    $0.maneuvers
                })
            #expect(try rig.vehicle.state == history.endpoints.first?.moments.last?.state)
            #expect(rig.time == .nanoseconds(result.end.nanoseconds))
        }
    }

    @Test func `an expectation counts from the action right before it, also if its answer is there`()
        async throws
    {
        try await withRig(route: .vaduzBalzers) { rig in
            try rig.addClient(onWaypoint: .decline)
            try await rig.run(to: .meters(500))
            try await rig.vehicle.requestStop(at: Self.stop)
            try await rig.expect(.message(.requestOutcome, within: .seconds(1)))
        }
        _ = await Self.failure { rig in
            try rig.addClient(onWaypoint: .decline)
            try await rig.run(to: .meters(500))
            try await rig.vehicle.requestStop(at: Self.stop)
            try await rig.run(for: .seconds(1))
            try await rig.expect(.message(.requestOutcome, within: .seconds(1)))
        }
    }

    @Test func `a client that waits for it starts guidance on the trip that the vehicle starts`() async throws
    {
        try await withRig(route: .vaduzBalzers) { rig in
            try rig.addClient(waitsFor: .tripRequest)
            try await rig.run(until: .state { $0.phase == .preview }, within: .seconds(5))
            try await rig.vehicle.selectPreview("preview-1")
            try await rig.expect(.message(.selectPreview, within: .seconds(1)))
            try await rig.vehicle.startTrip("preview-1")
            try await rig.expect(
                .outcome(.accepted, within: .seconds(1)),
                .eventually(within: .seconds(2)) { $0.phase == .active })
            #expect(try rig.vehicle.state.trip?.id == "preview-1")
        }
    }

    @Test func `a client that declines to start a trip goes on to show it`() async throws {
        try await withRig(route: .vaduzBalzers) { rig in
            try rig.addClient(waitsFor: .tripRequest, onStartTrip: .decline)
            try await rig.run(until: .state { $0.phase == .preview }, within: .seconds(5))
            try await rig.vehicle.startTrip("preview-1")
            try await rig.expect(.outcome(.declinedByUser, within: .seconds(1)))
            #expect(try rig.vehicle.state.phase == .preview)
        }
    }

    @Test func `expectations of one call count from the same instant, and the first failure ends it`() async {
        let failure = await Self.failure { rig in
            try await rig.run(to: .meters(500))
            let begin = rig.time
            try await rig.expect(
                .always(for: .seconds(3)) { $0.connected == true },
                .eventually(within: .seconds(2)) { $0.phase == .active })
            #expect(rig.time - begin < .milliseconds(3_001))
            try await rig.expect(
                .eventually(within: .seconds(900)) { $0.phase == .ended },
                .never(for: .seconds(900)) { $0.phase == .active })
        }
        #expect(failure?.description.contains("never phase active for 900 s of dut/cluster") == true)
    }

    @Test func `what is watched fails in the call in which it is violated`() async {
        let failure = await Self.failure { rig in
            try rig.watch(.never { $0.next.distance < .meters(50) }.because("A driver needs time."))
            try await rig.run(to: .meters(100))
            try await rig.run(to: .percent(100))
        }
        #expect(failure?.description.contains("because   A driver needs time.") == true)
        #expect(failure?.description.contains("next.distance") == true)
    }

    @Test func `what is watched to the end is judged when the body returns`() async {
        let failure = await Self.failure { rig in
            try rig.watch(.sometimes { $0.next.type == .uTurn })
            try await rig.run(to: .meters(500))
        }
        #expect(failure?.description.contains("sometimes next.type uTurn of dut/cluster") == true)
    }

    @Test func `a failure that the body catches is told once`() async throws {
        try await withRig(route: .vaduzBalzers) { rig in
            try rig.watch(.never(.showAlert))
            try await rig.client.showAlert(1, title: "Ice")
            await #expect(throws: RigFailure.self) { try await rig.run(for: .seconds(1)) }
            try await rig.run(for: .seconds(1))
        }
    }

    @Test func `a place behind the end of the drive is not reached`() async {
        let failure = await Self.failure { try await $0.run(to: .meters(900_000)) }
        #expect(failure?.description.contains("the drive ended after") == true)
    }

    @Test func `an event that does not happen ends the wait`() async {
        let failure = await Self.failure { rig in
            try await rig.run(until: .state { $0.phase == .paused }, within: .seconds(5))
        }
        #expect(failure?.description.contains("its event never happened") == true)
    }

    /// A user who does not answer a question.
    private static func silence(_ rig: Rig) async throws {
        try rig.addVehicle(prompts: .ignore)
        try await rig.run(to: .meters(500))
        try await rig.vehicle.requestStop(at: Self.stop)
        try await rig.expect(.outcome(.timedOut, within: .seconds(120)))
    }

    @Test func `what a lint rule finds fails the test`() async throws {
        let failure = try #require(await Self.failure { try await Self.silence($0) })
        #expect(failure.findings.map(\.rule) == [.promptLate])
        #expect(failure.findings.first?.peer?.description == "dut/cluster")
        #expect(failure.description.contains("LINT-PROMPT-LATE"))
    }

    @Test func `what is allowed with a reason does not fail the test`() async throws {
        try await withRig(route: .vaduzBalzers) { rig in
            try await Self.silence(rig)
            #expect(rig.findings.map(\.rule) == [.promptLate])
            try rig.allow(.promptLate, of: try rig.vehicle, reason: "The user is asleep.")
            #expect(rig.findings.isEmpty)
        }
    }

    @Test func `a test in which nothing runs is an error`() async {
        #expect(
            await Self.error { try $0.watch(.never { $0.suspended == true }) }?.contains("nothing ran")
                == true)
    }

    @Test func `a cancelled test ends`() async {
        let task = Task {
            try await withRig(route: .vaduzBalzers) { rig in
                while true { try await rig.run(for: .milliseconds(1)) }
            }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
