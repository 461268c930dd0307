import Testing
import WaymarkClient
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkScenario

/// What a test can name, and what it is told when it names it wrongly.
@Suite struct RigWordTests {
    @Test func `the names of messages are those of the protocol`() {
        #expect(Rig.MessageName.allCases.map(\.rawValue) == MessageType.allCases.map { "\($0)" })
    }

    /// Every typed key, with a value of its type.
    private static let conditions: [@Sendable (Rig.StateKeys) -> Rig.FieldCondition] = [
        { $0.connected == true }, { $0.resumed != false }, { $0.missed <= 3 }, { $0.shows == .staleOrNone },
        { $0.phase == .active }, { $0.pauseReason != .arrived }, { $0.endReason == "finished" },
        { $0.session > 0 }, { $0.client == "<app>" }, { $0.suspended == false },
        { $0.generation.isBetween(1, and: 3) }, { $0.upcomingManeuvers == [1, 2] },
        { $0.upcomingManeuvers.contains(2) }, { $0.maneuverState == .execute },
        { $0.currentLaneGuidance.isAbsent }, { $0.currentSegment == "~a" },
        { $0.currentRoadName == ["Landstrasse"] }, { $0.currentRoadName.contains("B 3") },
        { $0.timeRemainingColor == .green }, { $0.trip.isAbsent }, { $0.maneuvers.isAbsent },
        { $0.laneGuidances.isAbsent }, { $0.segments.isAbsent }, { $0.previews.isAbsent },
        { $0.maneuverEstimates.isAbsent }, { $0.alert.isAbsent }, { $0.tripEstimates.isAbsent },
        { $0.withheld.isAbsent }, { $0.next.id != 4 }, { $0.next.type == .rightTurn },
        { $0.next.type == .unrecognized(12_345) }, { $0.next.distance < .meters(200) },
        { $0.next.displayed >= .meters(50) }, { $0.next.time > .milliseconds(1_500) },
        { $0.next.time < .seconds(Int64.max) },
        { $0.next.road.matches("^Haupt") }, { $0.next.instruction != "!=x" },
        { $0.next.exitAngle < .degrees(-30) }, { $0.next.junction == .intersection },
        { $0.next.side == .left }, { $0.lanes.count == 4 }, { $0.lanes.highlighted == [4] },
        { $0.lanes.preferred.contains(1) }, { $0.lanes.good == [] }, { $0.lanes.instruction.isAbsent },
        { $0["maneuvers[0].type"] == "rightTurn" }, { $0["next.distance"] < "200m" },
        { $0["next.distance"].isBetween("80m", and: 120) }, { $0["connected"] == true },
        { $0["lanes.highlighted"] == [4] }, { $0["lanes.highlighted"].contains(4) },
        { $0["client"].matches("a") }, { $0["alert.id"].isAbsent }, { $0.speedLimit.isAbsent },
        { $0.nextSpeedLimit.isAbsent }, { $0.selectedPreview.isAbsent }, { $0["speedLimit.value"] == 80 },
        { $0["nextSpeedLimit.distanceMeters"] < "2km" },
    ]

    @Test(arguments: conditions.indices)
    func `every key exists, and takes values of its type`(_ index: Int) throws {
        let condition = Self.conditions[index](Rig.StateKeys())
        #expect(try Rig.conditions([condition], of: .state).elements.count == 1)
    }

    @Test func `every key of a state is a property, or its parts are`() {
        let keys = Set(Self.conditions.map { $0(Rig.StateKeys()).key.prefix { $0 != "." } })
        let names = FieldPath.keysOfState
        #expect(Set(names.map { Substring($0) }).subtracting(keys) == ["extensions", "pauseDescription"])
    }

    /// What is wrong, and what the test is told.
    private static let errors: [(words: String, wrong: @Sendable (Rig) async throws -> Void)] = [
        ("nxt.type: unknown key nxt of the state", { try $0.watch(.never { $0["nxt.type"] == "uTurn" }) }),
        ("did you mean distance", { try $0.watch(.never { $0["next.distanc"] < "5m" }) }),
        ("did you mean rightTurn", { try $0.watch(.never { $0["next.type"] == "rightTrun" }) }),
        ("next.distance is a distance in metres", { try $0.watch(.never { $0["next.distance"] < "5s" }) }),
        (
            "unknown key maneuverstate",
            {
                try $0.watch(.never(.updateManeuverState) { $0["maneuverstate"] == "prepare" })
            }
        ),
        ("state: must have 1 to 32 conditions", { try $0.watch(.never { _ in }) }),
        ("because: must have 1 to 512 letters", { try $0.watch(.never(.showAlert).because("")) }),
        (
            "within: must be a time from 0 to 8760 h",
            {
                try await $0.expect(.eventually(within: .seconds(-1)) { $0.connected == true })
            }
        ),
        ("per: must be more than nothing", { try $0.watch(.rate(atMost: 1, per: .zero)) }),
        ("rate: needs atMost or atLeast", { try $0.watch(.rate(per: .seconds(1))) }),
        ("where: needs a message", { try $0.watch(.rate(atMost: 1, per: .seconds(1)) { $0["a"] == 1 }) }),
        (
            "occurrence: must be 1 to 1000000",
            { try await $0.run(until: .message(.showAlert).occurrence(0), within: .seconds(1)) }
        ),
        (
            "events.count: must be 2 to 64",
            {
                try await $0.expect(.inOrder(.message(.pauseGuidance), within: .seconds(1)))
            }
        ),
        ("ended: noSession is not one of finished", { try $0.watch(.ended(.noSession)) }),
        ("use watch, or give it a time", { try await $0.expect(.always { $0.connected == true }) }),
        ("expect: needs an expectation", { try await $0.expect() }),
        (
            "client is a client, and has no state",
            {
                let client = try $0.addClient()
                try $0.watch(.never { $0.connected == true }, of: client)
            }
        ),
        (
            "dut has several endpoints",
            {
                try $0.vehicle.addEndpoint("hud")
                try $0.watch(.never { $0.connected == true })
            }
        ),
        (
            "there are 2 vehicles",
            {
                try $0.addVehicle("a")
                try $0.addVehicle("b")
                try $0.watch(.never(.showAlert))
            }
        ),
        (
            "name: there is a dut already",
            {
                try $0.addVehicle()
                try $0.addVehicle()
            }
        ),
        ("name: a b is not a name", { try $0.addVehicle("a b") }),
        ("dut has no hud; it has cluster", { _ = try $0.vehicle.endpoint("hud") }),
        (
            "addVehicle: the run has begun",
            {
                try await $0.run(for: .seconds(1))
                try $0.addVehicle("late")
            }
        ),
        ("position: must be 0 to 100 %", { try await $0.run(to: .percent(101)) }),
        ("position: must be 0 to 1000000000 m", { try await $0.run(to: .meters(.nan)) }),
        ("speed: must be above 0", { try await $0.client.drive(speed: 0) }),
        ("priority: must be -1000 to 1000", { try $0.addClient(priority: 2_000) }),
        (
            "place: must have a latitude",
            {
                try await $0.vehicle.requestStop(at: Coordinate(latitude: 91, longitude: 0))
            }
        ),
        ("alert: must not be 0", { try await $0.vehicle.respondToAlert(0) }),
        ("trip: must have 1 to 128 letters", { try await $0.vehicle.startTrip("") }),
        ("routeChoice: must not be 0", { try await $0.vehicle.selectPreview("a", routeChoice: 0) }),
        ("bytes: must be 1 to 65536", { try await $0.begin(.slice(bytes: 0)) }),
        ("duration: chaos needs one", { try await $0.begin(.chaos(every: .seconds(1))) }),
        ("atByte: delay has none", { try await $0.begin(.delay(by: .seconds(1)), atByte: 3) }),
        ("reason: must have 8 to 512 letters", { try $0.allow(.rateFast, reason: "so") }),
        ("route: nowhere.json cannot be read", { _ in _ = try Rig.Route(contentsOf: "nowhere.json") }),
        ("settings: must have a setting", { try await $0.vehicle.update(.init()) }),
    ]

    @Test(arguments: errors.indices)
    func `a wrong argument is an error that names it`(_ index: Int) async throws {
        let (words, wrong) = Self.errors[index]
        let error = await #expect(throws: RigError.self) {
            try await withRig(route: .vaduzBalzers) { try await wrong($0) }
        }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "none")")
    }

    @Test func `a client without a route, and a peer of another run, are errors`() async throws {
        let none = await #expect(throws: RigError.self) {
            try await withRig { try await $0.run(for: .seconds(1)) }
        }
        #expect(none?.description == "route: client drives at once, and has no route")
        let other = await #expect(throws: RigError.self) {
            try await withRig(route: .vaduzBalzers) { first in
                let car = try first.addVehicle("other")
                try await withRig(route: .vaduzBalzers) { second in
                    try second.watch(.never { $0.connected == true }, of: car)
                }
            }
        }
        #expect(other?.description == "of: other is no peer of this run")
    }
}
