import Testing
import WaymarkClient
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// What is as large as Docs/protocol.md, "Limits", allows.
private enum Largest {
    static func text(_ byteCount: Int) -> String { String(repeating: "x", count: byteCount) }

    static let variants = (0..<ProtocolConstants.textVariantsMax).map { text(512 - $0) }
    static let identifier = text(ProtocolConstants.identifierBytesMax)
    static let coordinate = Coordinate(latitude: -89.123456, longitude: -179.123456, altitude: 99_999.5)

    static let estimates = TravelEstimates(
        distanceRemaining: .meters(ProtocolConstants.distanceMetersMax),
        timeRemaining: .seconds(Int(ProtocolConstants.timeSecondsMax)),
        distanceRemainingToDisplay: DisplayDistance(
            valueTenths: ProtocolConstants.displayValueTenthsMax,
            unit: DistanceUnit(rawValue: UInt32(Int32.max))))

    static let waypoint = {
        var waypoint = Waypoint(center: coordinate)
        waypoint.locationThreshold = .meters(ProtocolConstants.locationThresholdMetersMax)
        (waypoint.nameVariants, waypoint.addressVariants) = (variants, variants)
        waypoint.entryPoints = Array(repeating: coordinate, count: ProtocolConstants.entryPointsMax)
        waypoint.timeZone = text(ProtocolConstants.shortTextBytesMax)
        waypoint.utcOffsetMinutes = -840
        waypoint.stopKind = StopKind(rawValue: UInt32(Int32.max))
        waypoint.charge = ChargeStop(
            arrivalBatteryPerMille: 1_000, departureBatteryPerMille: 1_000,
            connector: ChargeConnector(rawValue: UInt32(Int32.max)),
            powerWatts: ProtocolConstants.powerWattsMax,
            chargingTime: .seconds(Int(ProtocolConstants.chargingTimeSecondsMax)))
        waypoint.id = identifier
        return waypoint
    }()

    static func trip(_ id: String = identifier) -> Trip {
        var trip = Trip(id: id, origin: waypoint, destination: waypoint)
        trip.waypoints = Array(repeating: waypoint, count: ProtocolConstants.waypointsMax)
        trip.routeChoices = (0..<UInt32(ProtocolConstants.routeChoicesMax)).map {
            RouteChoice(
                id: UInt32.max - $0, summaryVariants: variants, additionalInformationVariants: variants,
                selectionSummaryVariants: variants, travelEstimates: estimates)
        }
        trip.selectedRouteChoice = .max
        trip.isDestinationShareable = true
        trip.routeSegmentsAvailable = true
        trip.travelEstimates = estimates
        return trip
    }

    static let maneuverIDs = (0..<4_096).map { ManeuverID(rawValue: .max - $0) }
    static let laneGuidanceIDs = (0..<4_096).map { LaneGuidanceID(rawValue: .max - $0) }

    static func maneuver(_ id: ManeuverID) -> Maneuver {
        var maneuver = Maneuver(id: id, type: ManeuverType(rawValue: UInt32(Int32.max)))
        maneuver.junctionType = JunctionType(rawValue: UInt32(Int32.max))
        maneuver.trafficSide = TrafficSide(rawValue: UInt32(Int32.max))
        maneuver.instructionVariants = variants
        maneuver.roadFollowingManeuverVariants = variants
        maneuver.highwayExitLabel = text(ProtocolConstants.shortTextBytesMax)
        maneuver.junctionExitAngle = .degrees(-180)
        maneuver.junctionElementAngles = (0..<ProtocolConstants.anglesMax).map { .degrees(-179 + $0) }
        maneuver.linkedLaneGuidance = LaneGuidanceID(rawValue: .max)
        maneuver.initialTravelEstimates = estimates
        maneuver.roundaboutExitNumber = 255
        maneuver.isIntermediateWaypoint = true
        maneuver.notification = NotificationStyle(rawValue: UInt32(Int32.max))
        return maneuver
    }

    static func laneGuidance(_ id: LaneGuidanceID) -> LaneGuidance {
        let lane = Lane(
            angles: (0..<ProtocolConstants.laneAnglesMax).map { .degrees(-180 + $0) },
            highlightedAngle: .degrees(-180), status: LaneStatus(rawValue: UInt32(Int32.max)))
        return LaneGuidance(
            id: id, lanes: Array(repeating: lane, count: ProtocolConstants.lanesMax),
            instructionVariants: variants)
    }

    static let speedLimit = SpeedLimit(
        ProtocolConstants.speedLimitValueMax, SpeedUnit(rawValue: UInt32(Int32.max)),
        kind: SpeedLimitKind(rawValue: UInt32(Int32.max)), sign: SpeedLimitSign(rawValue: UInt32(Int32.max)))

    /// With `count` points that are far from each other.
    static func segment(_ id: String, points count: Int) -> RouteSegment {
        var segment = RouteSegment(id: id, origin: waypoint, destination: waypoint)
        segment.coordinates = (0..<count).map {
            Coordinate(latitude: $0 % 2 == 0 ? -90 : 90, longitude: $0 % 2 == 0 ? -180 : 180)
        }
        (segment.maneuvers, segment.laneGuidances) = (maneuverIDs, laneGuidanceIDs)
        segment.currentManeuvers = Array(maneuverIDs.prefix(ProtocolConstants.upcomingManeuversMax))
        segment.currentLaneGuidance = laneGuidanceIDs[0]
        (segment.tripTravelEstimates, segment.maneuverTravelEstimates) = (estimates, estimates)
        segment.speedLimits = (0..<ProtocolConstants.speedLimitsMax).map {
            SpeedLimitSpan(from: .max - UInt32(ProtocolConstants.speedLimitsMax - $0), speedLimit)
        }
        return segment
    }

    static let alert = NavigationAlert(
        id: .max, titleVariants: variants, subtitleVariants: variants,
        actions: [
            AlertAction(id: 1, titleVariants: variants), AlertAction(id: 2, titleVariants: variants),
        ], notification: NotificationStyle(rawValue: UInt32(Int32.max)),
        priority: AlertPriority(rawValue: UInt32(Int32.max)))

    /// Of each type one that is as large as it may be, in an order that a session allows.
    static var publications: [Publication] {
        let generation = UInt32.max
        let route = RouteInformation(
            maneuvers: maneuverIDs.prefix(64).map(maneuver),
            laneGuidances: laneGuidanceIDs.prefix(64).map(laneGuidance),
            upcomingManeuvers: Array(maneuverIDs.prefix(64)), currentLaneGuidance: laneGuidanceIDs[0],
            tripTravelEstimates: estimates, maneuverTravelEstimates: estimates)
        return [
            .tripPreviews(
                (0..<12).map { trip(text(127) + String($0, radix: 16)) }, selected: text(127) + "7"),
            .startGuidance(trip(), generation: generation, route),
            .addManeuvers(maneuverIDs[64..<128].map(maneuver), generation: generation),
            .addManeuvers(
                maneuverIDs[128...].map { Maneuver(id: $0, type: .leftTurn) }, generation: generation),
            .addLaneGuidances(
                laneGuidanceIDs[64...].map { LaneGuidance(id: $0, lanes: [Lane(angles: [], status: .good)]) },
                generation: generation),
            .addRouteSegments([segment(identifier, points: 60_000)], generation: generation),
            .addRouteSegments(
                [segment(text(126), points: 0), segment(text(127), points: 1)], generation: generation),
            .updateTrip(trip()),
            .upcomingManeuvers(Array(maneuverIDs.suffix(64)), generation: generation),
            .currentLaneGuidance(laneGuidanceIDs[1], generation: generation),
            .currentRoadName(variants),
            .maneuverState(.execute, generation: generation),
            .tripEstimates(estimates, TimeRemainingColor(rawValue: UInt32(Int32.max))),
            .maneuverEstimates(maneuverIDs[0], estimates, generation: generation),
            .currentRouteSegment(identifier, generation: generation),
            .speedLimit(
                speedLimit,
                next: SpeedLimitAhead(
                    speedLimit, in: .meters(ProtocolConstants.distanceMetersMax),
                    distanceToDisplay: estimates.distanceRemainingToDisplay)),
            .showAlert(alert),
            .shareDestination(shareID: text(64), waypoint),
            .dismissAlert(.max, .timeout),
            .pauseGuidance(PauseReason(rawValue: UInt32(Int32.max)), description: variants),
            .resumeGuidance(generation: generation, .unknown, nil),
        ]
    }
}

/// Endpoints that take small frames.
@Suite struct SizeTests {
    private static func small(_ frameBytesMax: UInt32 = 4_096, _ name: String = "cluster") -> Hello.Role {
        World.endpoint("car", name) { $0.receiveFrameBytesMax = frameBytesMax }
    }

    private static func byteCount(_ envelope: Envelope) -> Int { Codec.encode(envelope).bytes.count }

    /// Whether all frames of a publication but its last have MORE.
    private static func areGrouped(_ envelopes: [Envelope]) -> Bool {
        zip(envelopes, envelopes.dropFirst() + [Envelope(.snapshotEnd)]).allSatisfy { envelope, next in
            guard case .publication = envelope.message else { return true }
            let isSame: Bool
            if case .publication = next.message {
                isSame = envelope.sequence == next.sequence
            } else {
                isSame = false
            }
            return envelope.flags.contains(.more) == isSame
        }
    }

    private static func open(_ world: inout World, _ frameBytesMax: UInt32 = 4_096) throws -> SessionID {
        world.arrive(1, self.small(frameBytesMax))
        let app = world.arrive(2, World.client("app"))
        let opening = OpenSession(requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "car")]))
        world.handle(.received(app, .openSession(opening), .none))
        return try #require(world.opened(app, "r"))
    }

    @Test func `every message at the page's limits fits into 4 096 bytes after the steps`() throws {
        var world = World {
            ($0.limits.frameBytesMax, $0.limits.retainedBytesMax) = (16_777_216, 67_108_864)
        }
        let car = ConnectionID(1)
        let session = try Self.open(&world)
        for publication in Largest.publications {
            world.mail[car] = []
            world.publish(ConnectionID(2), session, publication)
            #expect(world.errors(ConnectionID(2)).isEmpty)
            let received = world.mail[car, default: []]
            #expect(received.contains { $0.message.type == publication.type }, "\(publication.type)")
            #expect(received.allSatisfy { Self.byteCount($0) <= 4_096 }, "\(publication.type)")
            #expect(Self.areGrouped(received), "\(publication.type)")
        }
        let late = world.arrive(3, Self.small(4_096, "late"))
        #expect(world.mail[late, default: []].allSatisfy { Self.byteCount($0) <= 4_096 })
        #expect(world.messages(late).last == .snapshotEnd)
    }

    @Test func `what the gateway sends itself fits into 4 096 bytes`() throws {
        let (name, display, text) = (Largest.text(64), Largest.text(128), Largest.text(512))
        var begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: name))
        (begin.clientDisplayName, begin.receiptsEveryMilliseconds) = (display, 60_000)
        begin.withheld = Feature.allCases.map { FeatureGrant($0, withheld: .policy) }
        var welcome = Welcome(resumptionToken: ResumptionToken(high: .max, low: .max))
        welcome.features = Feature.allCases.map { FeatureGrant($0, withheld: .policy) }
        (welcome.software, welcome.receiveFrameBytesMax, welcome.keepaliveMilliseconds) = (
            display, .max, .max
        )
        let rejection = Rejection(.outOfRange, field: text, reason: text)
        var goodbye = Goodbye(.shuttingDown, reason: Largest.text(256))
        goodbye.reconnectAfterMilliseconds = .max
        let outcome = RequestOutcome(
            requestID: Identifier(name), vehicle: VehicleID(unchecked: name), outcome: .accepted,
            client: ClientID(unchecked: name), previewFollows: true, cause: .clientAnswered,
            endpoint: EndpointName(unchecked: name))
        for message in [
            .snapshotBegin(begin), .welcome(welcome), .error(rejection), .goodbye(goodbye),
            .requestOutcome(outcome),
            .promptOver(PromptOver(requestID: Identifier(name), outcome: .accepted)),
        ] as [Message] {
            #expect(Self.byteCount(Envelope(message)) <= 4_096)
        }
    }

    @Test func `a prompt comes with one name, and without details if that is still too long`() throws {
        var world = World()
        let session = try Self.open(&world)
        let (car, app) = (ConnectionID(1), ConnectionID(2))
        let large = world.arrive(3, World.endpoint("car", "large"))
        world.publish(app, session, .startGuidance(World.trip, generation: 1, World.route))
        let request = WaypointRequest(requestID: Identifier(Largest.text(64)), waypoint: Largest.waypoint)
        world.receive(.waypointRequest(request), from: car)
        let answer = RequestAnswer(
            requestID: request.requestID, vehicle: VehicleID(unchecked: "car"),
            answer: .estimates(Largest.estimates))
        world.handle(.received(app, .requestAnswer(answer), session))
        func prompt(_ id: ConnectionID) -> (Envelope, Prompt)? {
            for envelope in world.mail[id] ?? [] {
                if case .prompt(let prompt) = envelope.message { return (envelope, prompt) }
            }
            return nil
        }
        #expect(prompt(large)?.1.waypoint == Largest.waypoint)
        let (envelope, short) = try #require(prompt(car))
        #expect(Self.byteCount(envelope) <= 4_096)
        #expect(envelope.flags == .fitted)
        #expect(short.waypoint.nameVariants == [Largest.variants[0]])
        #expect(short.waypoint.entryPoints.count == 16)
    }

    @Test func `texts are kept as far as they fit: all, the first variant, the shortest`() throws {
        for (count, expected) in [(3, 3), (8, 1)] {
            var world = World()
            let session = try Self.open(&world)
            let variants = (0..<count).map { Largest.text(512 - $0) }
            world.publish(ConnectionID(2), session, .startGuidance(World.trip, generation: 1, World.route))
            world.mail[ConnectionID(1)] = []
            world.publish(ConnectionID(2), session, .currentRoadName(variants))
            #expect(
                world.messages(ConnectionID(1)) == [
                    .publication(.currentRoadName(Array(variants.prefix(expected))))
                ])
        }
        var trip = World.trip
        var stop = World.place
        stop.nameVariants = [Largest.text(200), "x"]
        trip.waypoints = Array(repeating: stop, count: 30)
        var world = World()
        let session = try Self.open(&world)
        world.publish(ConnectionID(2), session, .startGuidance(trip, generation: 1, World.route))
        guard
            case .publication(.startGuidance(let short, _, let route)) = world.messages(ConnectionID(1))
                .first(where: { $0.type == .startGuidance })
        else {
            Issue.record("no guidance")
            return
        }
        #expect(short.waypoints.map(\.nameVariants) == Array(repeating: ["x"], count: 30))
        #expect(route.maneuvers.isEmpty)
        #expect(world.messages(ConnectionID(1)).contains { $0.type == .addManeuvers })
    }

    @Test func `a line is thinned to nearly as many points as fit`() throws {
        var world = World()
        let session = try Self.open(&world)
        var trip = World.trip
        trip.routeSegmentsAvailable = true
        world.publish(ConnectionID(2), session, .startGuidance(trip, generation: 1, World.route))
        var random = SeededRandom(seed: 1)
        var segment = RouteSegment(id: "s", origin: World.place, destination: World.place)
        segment.coordinates = (0..<20_000).map {
            Coordinate(
                latitude: Double(random.number(46_000_000...47_000_000)) / 1e6,
                longitude: 9 + Double($0) / 1e6)
        }
        world.publish(ConnectionID(2), session, .addRouteSegments([segment], generation: 1))
        let envelope = try #require(world.mail[ConnectionID(1)]?.last)
        guard case .publication(.addRouteSegments(let thinned, _)) = envelope.message else {
            Issue.record("no segment")
            return
        }
        #expect(3_600...4_096 ~= Self.byteCount(envelope))
        #expect(thinned[0].coordinates == Profile.thin(segment.coordinates, to: thinned[0].coordinates.count))
    }

    @Test func `a frame of an unknown type that is too long is not sent`() throws {
        var world = World()
        let session = try Self.open(&world)
        world.publish(ConnectionID(2), session, .startGuidance(World.trip, generation: 1, World.route))
        world.mail[ConnectionID(1)] = []
        for (number, count) in [
            (UInt64(2), 4_096 - FrameHeader.byteCount), (3, 4_097 - FrameHeader.byteCount),
        ] {
            let header = FrameHeader(
                type: 0x01E1, flags: .skippable, session: session, sequence: number)
            let frame = Frame(header: header, body: [UInt8](repeating: 0, count: count))
            var actions: [Gateway.Action] = []
            world.gateway.handle(
                .published(ConnectionID(2), PublishedFrames(frame, PublicationOutline(unrecognized: header))),
                at: Instant(nanoseconds: 0), into: &actions)
            let isSent = actions.contains { if case .publish = $0 { true } else { false } }
            #expect(isSent == (number == 2))
        }
    }

    @Test func `an endpoint without room for its profile gets no longer frames either`() throws {
        var world = World { $0.limits.profilesPerSessionMax = 1 }
        let session = try Self.open(&world)
        let second = world.arrive(
            3,
            World.endpoint("car", "hud") {
                $0.receiveFrameBytesMax = 4_096
                $0.preferences.distanceUnits = .metric
            })
        world.publish(
            ConnectionID(2), session, .startGuidance(Largest.trip(), generation: 1, World.route))
        #expect(world.messages(second).contains { $0.type == .startGuidance })
        #expect(world.mail[second, default: []].allSatisfy { Self.byteCount($0) <= 4_096 })
    }

    @Test func `sizes of frames are rounded down to powers of two, so that endpoints share their bytes`() {
        func profile(_ frameBytesMax: UInt32) -> Profile {
            Profile(frameBytesMax: frameBytesMax)
        }
        #expect(profile(4_096) == profile(8_191))
        #expect(profile(8_191).frameBytesMax == 4_096)
        #expect(profile(8_192).frameBytesMax == 8_192)
        #expect(profile(16_777_215).frameBytesMax == 8_388_608)
        #expect(profile(16_777_216).isIdentity)
        #expect(profile(0).isIdentity)
        #expect(!profile(4_096).isBare && profile(4_096).bare.isBare)
        #expect(profile(4_096).bare.frameBytesMax == 4_096)
    }

    @Test(arguments: 0..<40) func `no frame is longer than the limit, whatever is published`(_ seed: Int)
        throws
    {
        var random = SeededRandom(seed: UInt64(seed))
        let frameBytesMax = UInt32(random.number(4_096...20_000))
        var world = World()
        let session = try Self.open(&world, frameBytesMax)
        var maneuverCount: UInt32 = 0
        func variants() -> [String] {
            (0..<random.number(0...8)).map { _ in Largest.text(random.number(0...512)) }
        }
        func place() -> Waypoint {
            var place = World.place
            (place.nameVariants, place.addressVariants) = (variants(), variants())
            place.entryPoints = Array(repeating: Largest.coordinate, count: random.number(0...16))
            return place
        }
        func trip() -> Trip {
            var trip = Trip(id: "t", origin: place(), destination: place())
            trip.waypoints = (0..<random.number(0...64)).map { _ in place() }
            trip.routeSegmentsAvailable = true
            return trip
        }
        func maneuvers() -> [Maneuver] {
            (0..<random.number(1...60)).map { _ in
                maneuverCount += 1
                return Maneuver(
                    id: ManeuverID(rawValue: maneuverCount), type: .leftTurn,
                    instructionVariants: variants())
            }
        }
        world.publish(
            ConnectionID(2), session,
            .startGuidance(trip(), generation: 1, RouteInformation(maneuvers: maneuvers())))
        for number in 0..<40 {
            let publication: Publication
            switch random.number(0...5) {
            case 0: publication = .updateTrip(trip())
            case 1: publication = .addManeuvers(maneuvers(), generation: 1)
            case 2:
                var segment = RouteSegment(id: "s\(number)", origin: place(), destination: place())
                segment.coordinates = (0..<random.number(0...3_000)).map {
                    Coordinate(
                        latitude: Double(random.number(46_000...47_000)) / 1e3, longitude: Double($0) / 1e4)
                }
                publication = .addRouteSegments([segment], generation: 1)
            case 3: publication = .currentRoadName(variants())
            case 4:
                var previewed = trip()
                previewed.id = "p\(number)"
                publication = .tripPreviews([trip(), previewed], selected: previewed.id)
            default: publication = .pauseGuidance(.loading, description: variants())
            }
            world.publish(ConnectionID(2), session, publication)
        }
        #expect(world.errors(ConnectionID(2)).isEmpty)
        let received = world.mail[ConnectionID(1), default: []]
        #expect(received.allSatisfy { Self.byteCount($0) <= Int(frameBytesMax) })
        #expect(Self.areGrouped(received))
        let late = world.arrive(3, Self.small(frameBytesMax, "late"))
        #expect(world.mail[late, default: []].allSatisfy { Self.byteCount($0) <= Int(frameBytesMax) })
    }

    @Test func `a route of 800 KB reaches an endpoint of 4 KiB, and is driven to its end`() throws {
        var world = World()
        let session = try Self.open(&world)
        let (car, app) = (ConnectionID(1), ConnectionID(2))
        var trip = World.trip
        trip.routeSegmentsAvailable = true
        var route = RouteInformation()
        route.maneuvers = (1...2_400).map {
            Maneuver(
                id: ManeuverID(rawValue: $0), type: .leftTurn,
                instructionVariants: [Largest.text(250), "turn \($0)"])
        }
        route.segments = (0..<10).map { index in
            var segment = RouteSegment(id: "s\(index)", origin: World.place, destination: World.place)
            segment.coordinates = (0..<4_000).map {
                Coordinate(latitude: 47 + Double($0 % 7) / 1_000, longitude: 9 + Double($0) / 1_000)
            }
            segment.maneuvers = route.maneuvers[index * 240..<(index + 1) * 240].map(\.id)
            return segment
        }
        route.upcomingManeuvers = [ManeuverID(rawValue: 1)]
        let start = Publication.startGuidance(trip, generation: 1, route)
        let whole = Envelope(.publication(start), session: session, sequence: 1)
        #expect(800_000...1_048_576 ~= Self.byteCount(whole))
        world.publish(app, session, start)
        for maneuver in route.maneuvers.dropFirst() where maneuver.id.rawValue % 100 == 0 {
            let estimates = TravelEstimates(distanceRemaining: .meters(100))
            world.publish(app, session, .upcomingManeuvers([maneuver.id], generation: 1))
            world.publish(app, session, .maneuverEstimates(maneuver.id, estimates, generation: 1))
        }
        let late = world.arrive(3, Self.small(4_096, "late"))
        world.publish(app, session, .upcomingManeuvers([ManeuverID(rawValue: 2_400)], generation: 1))
        var states: [VehicleState] = []
        for endpoint in [car, late] {
            var state = VehicleState()
            for envelope in world.mail[endpoint, default: []] {
                #expect(Self.byteCount(envelope) <= 4_096)
                state.apply(envelope)
            }
            #expect(state.maneuvers == route.maneuvers)
            #expect(state.segments.map(\.id) == route.segments.map(\.id))
            #expect(state.segments.map(\.maneuvers) == route.segments.map(\.maneuvers))
            #expect(state.segments.allSatisfy { $0.coordinates.count > 500 })
            #expect(state.upcomingManeuvers == [ManeuverID(rawValue: 2_400)])
            #expect(state.isComplete)
            states.append(state)
        }
        #expect(states[0] == states[1])
        world.publish(app, session, .finishGuidance)
        #expect(world.messages(car).last == .publication(.finishGuidance))
    }

    @Test func `an endpoint that lost the connection within a group gets all of it again`() throws {
        var world = World()
        let session = try Self.open(&world)
        world.publish(ConnectionID(2), session, .startGuidance(World.trip, generation: 1, World.route))
        let maneuvers = (10..<60).map {
            Maneuver(
                id: ManeuverID(rawValue: $0), type: .leftTurn, instructionVariants: [Largest.text(200)])
        }
        world.publish(ConnectionID(2), session, .addManeuvers(maneuvers, generation: 1))
        let group = world.mail[ConnectionID(1), default: []].filter {
            $0.sequence == 2 && $0.flags.contains(.fitted)
        }
        #expect(group.count > 2)
        let token = try #require(world.welcomes[ConnectionID(1)]?.resumptionToken)
        world.handle(.departed(ConnectionID(1), clean: false))
        let back = world.arrive(4, Self.small(), token: token, resume: (session, 2))
        let again = world.mail[back, default: []].filter { $0.flags.contains(.fitted) }
        #expect(again == group)
    }
}
