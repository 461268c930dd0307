import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

extension Publication {
    /// The content features of which it has something.
    fileprivate var content: Set<Feature> {
        switch self {
        case .tripPreviews(let trips, _):
            trips.reduce(trips.isEmpty ? [] : [.tripPreviews]) { $0.union($1.content) }
        case .startGuidance(let trip, _, let route): trip.content.union(route.content)
        case .resumeGuidance(_, _, let route): route?.content ?? []
        case .updateTrip(let trip): trip.content
        case .addManeuvers(let maneuvers, _): maneuvers.reduce([.maneuvers]) { $0.union($1.content) }
        case .upcomingManeuvers, .maneuverState, .maneuverEstimates: [.maneuvers]
        case .addLaneGuidances, .currentLaneGuidance: [.laneGuidance]
        case .addRouteSegments(let segments, _): segments.reduce([]) { $0.union($1.content) }
        case .currentRouteSegment: [.routeSegments]
        case .plain(.currentRoadName): [.currentRoadName]
        case .showAlert, .dismissAlert: [.navigationAlerts]
        case .speedLimit: [.speedLimit]
        case .shareDestination(_, let destination, _): destination.content.union([.destinationSharing])
        case .tripEstimates, .pauseGuidance, .finishGuidance, .cancelGuidance, .publishExtension: []
        }
    }
}

extension Waypoint {
    fileprivate var content: Set<Feature> {
        var content: Set<Feature> = self.charge == nil ? [] : [.charge]
        if !self.timeZone.isEmpty || self.utcOffsetMinutes != nil { content.insert(.timeZone) }
        return content
    }
}

extension Trip {
    fileprivate var content: Set<Feature> {
        ([self.origin, self.destination] + self.waypoints).reduce([]) { $0.union($1.content) }
    }
}

extension Maneuver {
    fileprivate var content: Set<Feature> {
        var content: Set<Feature> = [.maneuvers]
        if !self.highwayExitLabel.isEmpty { content.insert(.exitLabels) }
        if self.linkedLaneGuidance != nil { content.insert(.laneGuidance) }
        return content
    }
}

extension RouteSegment {
    fileprivate var content: Set<Feature> {
        var content = self.origin.content.union(self.destination.content).union([.routeSegments])
        if !self.maneuvers.isEmpty || !self.currentManeuvers.isEmpty || self.maneuverTravelEstimates != nil {
            content.insert(.maneuvers)
        }
        if !self.laneGuidances.isEmpty || self.currentLaneGuidance != nil { content.insert(.laneGuidance) }
        if !self.speedLimits.isEmpty { content.insert(.speedLimit) }
        return content
    }
}

extension RouteInformation {
    fileprivate var content: Set<Feature> {
        var content = self.maneuvers.reduce(Set<Feature>()) { $0.union($1.content) }
        content = self.segments.reduce(content) { $0.union($1.content) }
        if !self.upcomingManeuvers.isEmpty || self.maneuverTravelEstimates != nil {
            content.insert(.maneuvers)
        }
        if !self.laneGuidances.isEmpty || self.currentLaneGuidance != nil { content.insert(.laneGuidance) }
        if self.currentSegment != nil { content.insert(.routeSegments) }
        return content
    }
}

/// Why something is withheld, and from when on.
enum Cause: CaseIterable {
    /// The endpoint did not ask for it.
    case notRequested
    /// The operator switched it off, before the peers came or while they are connected.
    case policy, policyChanged
    /// The vehicle's owner never consented, or has come to withdraw it.
    case noConsent, consentWithdrawn
    /// The client's Hello does not have it, or has it no longer when the client comes back.
    case clientDoesNotProvide, clientProvidesLess
    /// UpdateTrip, or another StartGuidance, opts out of it.
    case tripUpdated, tripReplaced
    /// There is no room for the endpoint's profile.
    case noCapacity

    var reason: WithheldReason {
        switch self {
        case .notRequested: .notRequested
        case .policy, .policyChanged: .policy
        case .noConsent, .consentWithdrawn: .noConsent
        case .clientDoesNotProvide, .clientProvidesLess: .clientDoesNotProvide
        case .tripUpdated, .tripReplaced: .tripOptedOut
        case .noCapacity: .noCapacity
        }
    }

    /// What it can withhold.
    var features: [Feature] {
        switch self {
        case .notRequested, .policy, .policyChanged, .clientDoesNotProvide, .clientProvidesLess, .noCapacity:
            Profile.contentFeatures
        case .noConsent, .consentWithdrawn: [.routeSegments]
        case .tripUpdated, .tripReplaced: [.routeSegments, .destinationSharing]
        }
    }
}

/// A drive that has something of every feature, with one feature withheld.
struct WithheldRun {
    let feature: Feature
    let cause: Cause
    let client = ConnectionID(1)
    var world: World
    var session = SessionID.none
    var trip: Trip

    init(_ feature: Feature, _ cause: Cause) {
        self.feature = feature
        self.cause = cause
        self.world = World { policy in
            if cause == .policy { policy.withheldFeatures = [feature] }
            if cause == .noConsent { policy.routeSharingVehicles = [] }
            if cause == .noCapacity { policy.limits.profilesPerSessionMax = 1 }
        }
        var place = World.place
        place.timeZone = "Europe/Vaduz"
        place.utcOffsetMinutes = 60
        place.charge = ChargeStop(powerWatts: 50_000)
        self.trip = Trip(
            id: "t", origin: place, destination: place, isDestinationShareable: true,
            routeSegmentsAvailable: true)
    }

    /// Endpoints of one vehicle: what each takes otherwise.
    static let endpoints: [(name: String, change: @Sendable (inout VehicleHello) -> Void)] = [
        ("all", { _ in }),
        ("short", { $0.limits.currentRoadNameLengthMax = 4 }),
        ("slots", { ($0.limits.maneuversStoredMax, $0.limits.laneGuidancesStoredMax) = (1, 1) }),
        ("miles", { $0.preferences.distanceUnits = .imperialFeet }),
    ]

    func role(_ name: String, _ change: (inout VehicleHello) -> Void) -> Hello.Role {
        World.endpoint("car", name) {
            change(&$0)
            if self.cause == .notRequested { $0.features.remove(self.feature) }
        }
    }

    mutating func begin() {
        if self.cause == .noCapacity {
            // Takes the only place there is.
            self.world.arrive(2, World.endpoint("other") { $0.limits.alertTextLengthMax = 3 })
        }
        let lacks: Set<Feature> = self.cause == .clientDoesNotProvide ? [self.feature] : []
        self.world.arrive(1, World.client("app", without: lacks))
        let ids = ["other", "car"].map { VehicleID(unchecked: $0) }
        self.world.receive(
            .openSession(OpenSession(requestID: "r", vehicles: .vehicles(ids))), from: self.client)
        self.session = self.world.opened(self.client, "r") ?? .none
    }

    /// Publishes something of every feature, as far as the client is granted it.
    mutating func drive(generation: UInt32) {
        let ids = (1...3).map { ManeuverID(rawValue: $0) }
        let lane = LaneGuidanceID(rawValue: 1)
        var route = RouteInformation(
            maneuvers: ids.map {
                Maneuver(
                    id: $0, type: .leftTurn, instructionVariants: ["Turn left", "Left"],
                    highwayExitLabel: "12A", linkedLaneGuidance: lane)
            }, laneGuidances: [LaneGuidance(id: lane, lanes: [Lane(angles: [.degrees(0)])])],
            segments: [self.segment("s1", ids, lane)], currentSegment: "s1", upcomingManeuvers: ids,
            currentLaneGuidance: lane,
            maneuverTravelEstimates: TravelEstimates(distanceRemaining: .meters(300)))
        let refused = self.refusedFeatures
        if refused.contains(.maneuvers) {
            (route.maneuvers, route.upcomingManeuvers, route.maneuverTravelEstimates) = ([], [], nil)
        }
        if refused.contains(.laneGuidance) { (route.laneGuidances, route.currentLaneGuidance) = ([], nil) }
        if !refused.isDisjoint(with: [.maneuvers, .laneGuidance]) {
            for index in route.maneuvers.indices { route.maneuvers[index].linkedLaneGuidance = nil }
            let isWithoutManeuvers = refused.contains(.maneuvers)
            route.segments = [
                self.segment("s1", isWithoutManeuvers ? [] : ids, isWithoutManeuvers ? lane : nil)
            ]
        }
        if refused.contains(.routeSegments) || !self.trip.routeSegmentsAvailable {
            (route.segments, route.currentSegment) = ([], nil)
        }
        self.publish(.tripPreviews([self.trip], selected: ""))
        self.publish(.startGuidance(self.trip, generation: generation, route))
        self.publish(.tripPreviews([self.trip], selected: ""))
        self.publish(.currentRoadName(["Long Lane", "L1"]))
        if !refused.contains(.speedLimit) { self.publish(.speedLimit(.unlimited, next: nil)) }
        self.publish(.showAlert(NavigationAlert(id: generation, titleVariants: ["Traffic jam", "Jam"])))
        if !refused.contains(.maneuvers) {
            self.publish(.maneuverState(.prepare, generation: generation))
            self.publish(.upcomingManeuvers(Array(ids.dropFirst()), generation: generation))
            self.publish(
                .maneuverEstimates(
                    ids[1], TravelEstimates(distanceRemaining: .meters(90)), generation: generation))
        }
        if !refused.contains(.laneGuidance) {
            self.publish(.currentLaneGuidance(lane, generation: generation))
        }
        if self.trip.routeSegmentsAvailable, !refused.contains(.routeSegments) {
            self.publish(.addRouteSegments([self.segment("s2", [], nil)], generation: generation))
            self.publish(.currentRouteSegment("s2", generation: generation))
        }
        if self.trip.isDestinationShareable {
            self.publish(.shareDestination(shareID: "share-\(generation)", self.trip.destination))
        }
    }

    private func segment(_ id: String, _ maneuvers: [ManeuverID], _ lane: LaneGuidanceID?) -> RouteSegment {
        RouteSegment(
            id: id, origin: self.trip.origin, destination: self.trip.destination, maneuvers: maneuvers,
            laneGuidances: lane.map { [$0] } ?? [], currentManeuvers: maneuvers,
            currentLaneGuidance: lane,
            speedLimits: self.refusedFeatures.contains(.speedLimit)
                ? [] : [SpeedLimitSpan(from: 0, SpeedLimit(80, .kilometersPerHour))])
    }

    /// What the gateway refuses of the client.
    private var refusedFeatures: Set<Feature> {
        switch self.cause {
        case .policy, .clientDoesNotProvide:
            [.laneGuidance, .maneuvers, .routeSegments, .speedLimit].contains(self.feature)
                ? [self.feature] : []
        case .notRequested, .policyChanged, .noConsent, .consentWithdrawn, .clientProvidesLess, .tripUpdated,
            .tripReplaced, .noCapacity:
            []
        }
    }

    mutating func publish(_ publication: Publication) {
        self.world.publish(self.client, self.session, publication)
    }

    /// From here on the feature is withheld.
    mutating func withhold() {
        var policy = self.world.gateway.policy
        switch self.cause {
        case .tripUpdated:
            self.optOut()
            self.publish(.updateTrip(self.trip))
        case .tripReplaced:
            self.optOut()
            self.drive(generation: 2)
        case .policyChanged:
            policy.withheldFeatures = [self.feature]
            self.world.handle(.policyChanged(policy))
        case .consentWithdrawn:
            policy.routeSharingVehicles = []
            self.world.handle(.policyChanged(policy))
        case .clientProvidesLess:
            let token = self.world.welcomes[self.client]?.resumptionToken
            self.world.handle(.departed(self.client, clean: false))
            self.world.arrive(1, World.client("app", without: [self.feature]), token: token)
        case .notRequested, .policy, .noConsent, .clientDoesNotProvide, .noCapacity: break
        }
    }

    private mutating func optOut() {
        if self.feature == .routeSegments { self.trip.routeSegmentsAvailable = false }
        if self.feature == .destinationSharing { self.trip.isDestinationShareable = false }
    }

    /// What the newest SnapshotBegin of an endpoint says, and what came after it.
    func last(_ connection: ConnectionID) -> (begin: SnapshotBegin?, publications: [Publication]) {
        var (begin, publications): (SnapshotBegin?, [Publication]) = (nil, [])
        for message in self.world.messages(connection) {
            switch message {
            case .snapshotBegin(let newer): (begin, publications) = (newer, [])
            case .publication(let publication): publications.append(publication)
            default: break
            }
        }
        return (begin, publications)
    }
}

@Suite struct WithheldTests {
    private static let cases = Cause.allCases.flatMap { cause in cause.features.map { (cause, $0) } }

    /// Checks that an endpoint is told that the feature is withheld, and why, and has had nothing of it since.
    private func check(_ run: WithheldRun, _ connection: ConnectionID, _ who: String) {
        let (begin, publications) = run.last(connection)
        if let begin {
            let grant = begin.withheld.first { $0.feature == run.feature }
            #expect(grant?.withheld == run.cause.reason, "\(who)")
        }
        let withheld = Set(begin?.withheld.map(\.feature) ?? []).union([run.feature])
        for publication in publications {
            #expect(publication.content.isDisjoint(with: withheld), "\(who): \(publication.type)")
        }
    }

    @Test(arguments: Self.cases)
    func
        `nothing of what is withheld reaches who is there, comes back or joins late, whatever it is fitted to`(
            _ cause: Cause, _ feature: Feature
        ) throws
    {
        var run = WithheldRun(feature, cause)
        var next: UInt64 = 10
        for (name, change) in WithheldRun.endpoints {
            run.world.arrive(next, run.role(name, change))
            run.world.arrive(next + 1, run.role("away-" + name, change))
            next += 10
        }
        run.begin()
        #expect(run.session != .none)
        run.drive(generation: 1)
        // They have seen all that was shared so far, or nothing of it.
        let seen = try #require(run.world.sequences[run.session])
        for index in WithheldRun.endpoints.indices {
            run.world.handle(.departed(ConnectionID(UInt64(index + 1) * 10 + 1), clean: false))
        }
        for index in WithheldRun.endpoints.indices {
            run.world.mail[ConnectionID(UInt64(index + 1) * 10)] = []
        }
        run.withhold()
        for (index, (name, change)) in WithheldRun.endpoints.enumerated() {
            let first = UInt64(index + 1) * 10
            let token = run.world.welcomes[ConnectionID(first + 1)]?.resumptionToken
            let saw = index.isMultiple(of: 2) ? seen : 1
            let back = run.world.arrive(
                first + 2, run.role("away-" + name, change), token: token, resume: (run.session, saw))
            let late = run.world.arrive(first + 3, run.role("late-" + name, change))
            #expect(run.last(back).begin != nil && run.last(late).begin != nil)
            self.check(run, back, "back, \(name)")
            self.check(run, late, "late, \(name)")
            self.check(run, ConnectionID(first), "there, \(name)")
        }
        // And nothing of what is published from then on.
        if cause != .clientProvidesLess { run.drive(generation: 3) }
        for (index, (name, _)) in WithheldRun.endpoints.enumerated() {
            let first = UInt64(index + 1) * 10
            for id in [first, first + 2, first + 3] { self.check(run, ConnectionID(id), "later, \(name)") }
        }
    }

    @Test func `a reason that changes is told, without frames`() throws {
        var world = World()
        let client = world.arrive(1, World.client("app"))
        let car = world.arrive(2, World.endpoint("car") { $0.features.remove(.currentRoadName) })
        _ = try world.guided(client, ["car"])
        (world.mail[car], world.mail[client]) = ([], [])
        var policy = world.gateway.policy
        policy.withheldFeatures = [.currentRoadName]
        world.handle(.policyChanged(policy))
        #expect(world.messages(car).map(\.type) == [.snapshotBegin, .snapshotEnd])
        #expect(world.messages(client).map(\.type) == [.vehicleChanged])
        guard case .snapshotBegin(let begin)? = world.messages(car).first else { return }
        #expect(begin.kind == .missed && begin.fromSequence == begin.toSequence)
        #expect(begin.withheld.contains(FeatureGrant(.currentRoadName, withheld: .policy)))
        // The same settings once more change nothing.
        (world.mail[car], world.mail[client]) = ([], [])
        world.handle(.policyChanged(policy))
        #expect(world.messages(car).isEmpty && world.messages(client).isEmpty)
    }

    @Test func `each reason of each feature is another one, and a trip's is none`() {
        var seen: Set<WithheldReasons> = []
        for feature in Profile.contentFeatures {
            for reason in WithheldReason.allCases {
                let reasons = WithheldReasons([FeatureGrant(feature, withheld: reason)])
                #expect((reasons == WithheldReasons()) == (reason == .tripOptedOut))
                seen.insert(reasons)
            }
        }
        #expect(seen.count == Profile.contentFeatures.count * (WithheldReason.allCases.count - 1) + 1)
    }
}
