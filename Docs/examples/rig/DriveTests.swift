import Testing
import WaymarkRig

/// The scenarios `right-turn-lanes`, `declined-stop` and `gateway-dies` of the gallery, as Swift.
@Suite struct DriveTests {
    @Test func `the lanes of a right turn are shown before it`() async throws {
        try await withRig(route: .heidelbergLanes, startAt: .meters(600)) { rig in
            try rig.watch(
                .eventually(within: .seconds(2)) {
                    $0.next.type == .rightTurn
                    $0.next.distance < .meters(200)
                    $0.lanes.highlighted == [4]
                }
                .when(
                    .state {
                        $0.next.id == 4
                        $0.maneuverState == .prepare
                    })
            )
            try rig.watch(.rate(atMost: 10, per: .seconds(1)))
            try rig.watch(.ended(.finished), of: try rig.client)
            try await rig.runToEnd()
        }
    }

    @Test func `a stop that the client declines changes nothing on the display`() async throws {
        try await withRig(route: .vaduzBalzers) { rig in
            let car = try rig.addVehicle("car")
            try rig.addClient("app", onWaypoint: .decline)
            try await rig.run(to: .meters(2_000))
            try await car.requestStop(at: .init(latitude: 47.0756, longitude: 9.5076), name: "Charging")
            try await rig.expect(.outcome(.declinedByUser, within: .milliseconds(500)))
            try await rig.expect(
                .unchanged(for: .seconds(5)) {
                    $0.trip
                    $0.generation
                    $0.maneuvers
                })
        }
    }

    @Test func `the gateway dies, and later a connection is lost`() async throws {
        try await withRig(route: .vaduzBalzers) { rig in
            let car = try rig.vehicle
            try await rig.run(to: .meters(3_000))
            try await rig.killGateway(for: .milliseconds(800))
            try await rig.expect(
                .eventually(within: .milliseconds(300)) { $0.shows == .staleOrNone },
                .never(for: .milliseconds(300)) { $0.maneuverState == .execute })
            try await rig.expect(.holdsWhatWasPublished(within: .seconds(3)))

            try await rig.run(to: .meters(5_000))
            try await rig.begin(.cut(), of: car)
            try await rig.begin(.refuse, of: car, for: .seconds(5))
            try await rig.begin(.delay(by: .milliseconds(200)), of: car)
            try await rig.expect(
                .eventually(within: .seconds(16)) {
                    $0.resumed == true
                    $0.missed == 0
                })
        }
    }
}

/// What a scenario file cannot say.
@Suite struct ProgrammedDriveTests {
    @Test(arguments: [Rig.WaypointReply.accept, .decline], [1, 2])
    func `a stop is part of the trip if it was accepted`(_ reply: Rig.WaypointReply, _ seed: Int) async throws
    {
        try await withRig(route: .vaduzBalzers, seed: UInt64(seed)) { rig in
            try rig.addClient(onWaypoint: reply)
            let car = try rig.vehicle
            try await rig.run(to: .meters(1_000))
            let before = car.state.trip?.waypoints.count ?? 0
            try await car.requestStop(at: .init(latitude: 47.1098, longitude: 9.5254), name: "Triesen")
            if reply == .accept {
                try await rig.expect(.outcome(.accepted, within: .seconds(5)))
                try await rig.expect(.message(.resumeGuidance, within: .seconds(5)))
                #expect(car.state.trip?.waypoints.count == before + 1)
            } else {
                try await rig.expect(.outcome(.declinedByUser, within: .seconds(5)))
                #expect(car.state.trip?.waypoints.count == before)
            }
        }
    }

    @Test func `every kind of display shows the same next maneuver`() async throws {
        try await withRig(route: .singaporeLeftHand) { rig in
            let car = try rig.addVehicle("car", profile: .leftHandTraffic)
            let mirror = try car.addEndpoint("head-up", profile: .twoManeuvers)
            try await rig.run(to: .percent(30))
            let next = try #require(try car.endpoint("cluster").state.nextManeuver)
            try await rig.expect(
                .eventually(within: .seconds(1)) {
                    $0.next.id == Int(next.id.rawValue)
                    $0.next.side == .left
                    $0["next.displayed"] > "0yd"
                }, of: mirror)
        }
    }
}

/// Scenario files as tests of this suite.
@Suite struct FileTests {
    @Test(arguments: try ScenarioFile.all(in: "Docs/examples/rig"))
    func `every scenario in this folder passes`(_ scenario: ScenarioFile) async throws {
        try await scenario.run()
    }
}
