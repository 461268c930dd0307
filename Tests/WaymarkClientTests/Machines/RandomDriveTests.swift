import Testing
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// An app that publishes at random, in any order that the protocol allows, and now and then what it does not allow.
struct RandomApp {
    private var maneuvers: [UInt32] = []
    private var lanes: [UInt32] = []
    private var segments: [String] = []
    private var first: UInt32?
    private var state: ManeuverState?
    private var isPaused = false
    private var isGuiding = false
    private var alert: UInt32?
    private var shares = 0

    /// The next publications, made with a generation that is filled in later.
    mutating func next(_ random: inout SeededRandom) -> [(inout PublishedState) -> Publication] {
        guard self.isGuiding else { return self.start(&random) }
        switch random.number(0...19) {
        case 0: return self.start(&random)
        case 1...2: return self.add(&random)
        case 3...6: return self.setUpcoming(&random)
        case 7...10: return self.setState(&random)
        case 11: return self.pauseOrResume(&random)
        case 12: return self.showOrDismiss(&random)
        case 13:
            let names = (0..<random.number(1...3)).map { "road \($0) \(random.number(0...9))" }
            return [{ _ in .currentRoadName(names) }]
        case 14:
            let estimates = Self.estimates(&random)
            return [{ _ in .tripEstimates(estimates, .orange) }]
        case 15: return self.estimate(&random)
        case 16:
            let lane = self.lanes.randomElement(using: &random).map(LaneGuidanceID.init(rawValue:))
            return [{ .currentLaneGuidance(lane, generation: $0.generation) }]
        case 17:
            guard let segment = self.segments.randomElement(using: &random) else { return [] }
            return [{ .currentRouteSegment(segment, generation: $0.generation) }]
        case 18:
            var changed = trip
            changed.waypoints = (0..<random.number(0...2)).map { _ in place }
            return [{ _ in .updateTrip(changed) }]
        default:
            self.shares += 1
            let id = "share \(self.shares)"
            return [{ _ in .shareDestination(shareID: id, place) }]
        }
    }

    private static func estimates(_ random: inout SeededRandom) -> TravelEstimates {
        TravelEstimates(distanceRemaining: .meters(UInt32(random.number(0...50))))
    }

    private mutating func route(_ random: inout SeededRandom) -> RouteInformation {
        self.maneuvers = (1...UInt32(random.number(1...5))).map { $0 }
        self.lanes = (1...UInt32(random.number(1...2))).map { $0 }
        self.segments = ["s1"]
        self.first = self.maneuvers.randomElement(using: &random)
        self.state = nil
        return RouteInformation(
            maneuvers: self.maneuvers.map { Maneuver(id: ManeuverID(rawValue: $0), type: .leftTurn) },
            laneGuidances: self.lanes.map {
                LaneGuidance(id: LaneGuidanceID(rawValue: $0), lanes: [Lane(angles: [.degrees(0)])])
            },
            segments: [RouteSegment(id: "s1", origin: place, destination: place)],
            upcomingManeuvers: self.first.map { [ManeuverID(rawValue: $0)] } ?? [],
            tripTravelEstimates: Bool.random(using: &random) ? Self.estimates(&random) : nil,
            maneuverTravelEstimates: Bool.random(using: &random) ? Self.estimates(&random) : nil)
    }

    private mutating func start(_ random: inout SeededRandom) -> [(inout PublishedState) -> Publication] {
        let route = self.route(&random)
        self.isGuiding = true
        self.isPaused = false
        self.alert = nil
        return [{ .startGuidance(trip, generation: $0.newGeneration(), route) }]
    }

    private mutating func add(_ random: inout SeededRandom) -> [(inout PublishedState) -> Publication] {
        switch random.number(0...2) {
        case 0:
            let id = UInt32(self.maneuvers.count + 1)
            self.maneuvers.append(id)
            return [
                {
                    .addManeuvers(
                        [Maneuver(id: ManeuverID(rawValue: id), type: .rightTurn)], generation: $0.generation)
                }
            ]
        case 1:
            let id = UInt32(self.lanes.count + 1)
            self.lanes.append(id)
            return [
                {
                    .addLaneGuidances(
                        [
                            LaneGuidance(
                                id: LaneGuidanceID(rawValue: id), lanes: [Lane(angles: [.degrees(0)])])
                        ], generation: $0.generation
                    )
                }
            ]
        default:
            let id = "s\(self.segments.count + 1)"
            self.segments.append(id)
            return [
                {
                    .addRouteSegments(
                        [RouteSegment(id: id, origin: place, destination: place)], generation: $0.generation)
                }
            ]
        }
    }

    private mutating func setUpcoming(_ random: inout SeededRandom) -> [(inout PublishedState) -> Publication]
    {
        let start = random.number(0...self.maneuvers.count - 1)
        let ids = self.maneuvers[start...].prefix(random.number(1...3)).map(ManeuverID.init(rawValue:))
        var publications: [(inout PublishedState) -> Publication] = [
            { .upcomingManeuvers(ids, generation: $0.generation) }
        ]
        if ids.first?.rawValue != self.first {
            self.first = ids.first?.rawValue
            self.state = nil
            publications += self.setState(&random)
        }
        return publications
    }

    private mutating func setState(_ random: inout SeededRandom) -> [(inout PublishedState) -> Publication] {
        let allowed = ManeuverState.allKnown.filter {
            ManeuverCycle.allows($0, after: self.state) && (!self.isPaused || $0 == .continue)
        }
        guard let next = allowed.randomElement(using: &random) else { return [] }
        self.state = next
        return [{ .maneuverState(next, generation: $0.generation) }]
    }

    private mutating func pauseOrResume(_ random: inout SeededRandom) -> [(inout PublishedState) ->
        Publication]
    {
        self.isPaused.toggle()
        self.state = nil
        if self.isPaused { return [{ _ in .pauseGuidance(.rerouting, description: ["New route"]) }] }
        guard Bool.random(using: &random) else {
            return [{ .resumeGuidance(generation: $0.generation, .unknown, nil) }]
        }
        let route = self.route(&random)
        return [
            { .resumeGuidance(generation: $0.newGeneration(), .missedTurn, route) },
            { _ in .tripEstimates(TravelEstimates(distanceRemaining: .meters(5)), .red) },
        ]
    }

    private mutating func showOrDismiss(_ random: inout SeededRandom) -> [(inout PublishedState) ->
        Publication]
    {
        if let alert {
            self.alert = nil
            return [{ _ in .dismissAlert(alert, .timeout) }]
        }
        let alert = UInt32(random.number(1...9))
        self.alert = alert
        return [{ _ in .showAlert(NavigationAlert(id: alert, titleVariants: ["Ice"])) }]
    }

    private mutating func estimate(_ random: inout SeededRandom) -> [(inout PublishedState) -> Publication] {
        guard let id = self.maneuvers.randomElement(using: &random) else { return [] }
        let estimates = Self.estimates(&random)
        return [{ .maneuverEstimates(ManeuverID(rawValue: id), estimates, generation: $0.generation) }]
    }
}

extension VehicleState {
    /// Without what a new session or a restated route may number differently.
    var content: VehicleState {
        var content = self
        content.session = 0
        content.sequence = 0
        content.generation = 0
        content.client = ""
        return content
    }
}

/// One at a time: tests that wait for time to pass run beside them.
@Suite(.serialized) struct RandomDriveTests {
    @Test(arguments: UInt64(0)..<40)
    func `after any cut, resumption or restart the vehicle holds what was published`(
        _ seed: UInt64
    ) async throws {
        var random = SeededRandom(seed: seed)
        var limits = PublishedState.Limits()
        if seed % 3 == 0 { limits.recentBytesMax = 400 }
        if seed % 5 == 0 { limits.queueBytesMax = 800 }
        var app = RandomApp()
        var stormy = MachineWorld(limits, gatewayLimits: { $0.sharesOpenMax = 1_000 })
        var calm = MachineWorld(gatewayLimits: { $0.sharesOpenMax = 1_000 })
        for step in 0..<120 {
            await Task.yield()  // Others run at the same time.
            for publication in app.next(&random) {
                try calm.publish(publication)
                try calm.settle()
                try stormy.publish(publication)
            }
            switch random.number(0...11) {
            case 0...2: try stormy.send()
            case 3:
                try stormy.send(arriving: random.number(0...3))
                stormy.cutApp()
            case 4: stormy.cutApp()
            case 5...6: stormy.read(random.number(0...5))
            case 7: stormy.cutCluster()
            case 8: if random.number(0...4) == 0 { stormy.restart() }
            default: break  // It keeps publishing.
            }
            guard step % 10 == 9 else { continue }
            try stormy.settle()
            #expect(stormy.held.state.content == calm.held.state.content, "step \(step)")
            guard stormy.held.state.content == calm.held.state.content else { return }
        }
        #expect(stormy.refusals == [])
        #expect(calm.refusals == [])
    }
}
