import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// Endpoints that wait for a snapshot that is fitted by steps.
@Suite struct SnapshotStepTests {
    private struct Fixture {
        var world = World()
        let client: ConnectionID
        let session: SessionID
        let late = ConnectionID(9)

        /// A session along a long route, and an endpoint whose snapshot has been begun.
        init(slots: UInt32 = 50) throws {
            self.world.arrive(1, World.endpoint("car"))
            self.client = self.world.arrive(2, World.client("app"))
            self.session = try self.world.guided(self.client, ["car"])
            for first in stride(from: UInt32(10), to: 1_010, by: 100) {
                let maneuvers = (first..<first + 100).map {
                    Maneuver(
                        id: ManeuverID(rawValue: $0), type: .leftTurn,
                        instructionVariants: [String(repeating: "long ", count: 20)])
                }
                self.world.publish(self.client, self.session, .addManeuvers(maneuvers, generation: 1))
            }
            let role = World.endpoint("car", "late") { $0.limits.maneuversStoredMax = slots }
            self.world.begin(
                .arrived(self.late, Hello(role: role), .user(1), token: ResumptionToken(high: 0, low: 77)))
            #expect(self.world.gateway.hasSteps(of: self.late))
            while self.world.gateway.sessions[self.session]?.snapshots.isEmpty == true { self.step() }
            #expect(!self.types.contains(.snapshotBegin))
        }

        var types: [MessageType] { self.world.messages(self.late).map(\.type) }

        mutating func step() { self.world.begin(.stepDue(of: self.late)) }

        mutating func finish() { while self.world.gateway.hasSteps(of: self.late) { self.step() } }

        /// Publishes, and leaves the steps.
        mutating func publish(_ publication: Publication) {
            self.world.sequences[self.session, default: 0] += 1
            let envelope = Envelope(
                .publication(publication), session: self.session,
                sequence: self.world.sequences[self.session] ?? 0)
            self.world.begin(
                .published(self.client, PublishedFrames(Codec.encode(envelope), publication.outline)))
        }
    }

    @Test func `what is published while a snapshot is fitted comes behind it`() throws {
        var fixture = try Fixture()
        let alert = Publication.showAlert(NavigationAlert(id: 1, titleVariants: ["Jam"]))
        fixture.publish(alert)
        fixture.publish(.currentRoadName(["A"]))
        fixture.publish(.dismissAlert(1, .timeout))
        fixture.finish()
        let types = fixture.types
        let end = try #require(types.firstIndex(of: .snapshotEnd))
        #expect(types.contains(.snapshotBegin) && !types[..<end].contains(.showAlert))
        #expect(types[(end + 1)...] == [.showAlert, .currentRoadName, .dismissAlert])
        let numbers = fixture.world.mail[fixture.late, default: []].dropFirst(end).map(\.sequence)
        #expect(numbers == numbers.sorted())
        fixture.publish(.currentRoadName(["B"]))
        fixture.finish()
        #expect(fixture.world.messages(fixture.late).last == .publication(.currentRoadName(["B"])))
    }

    @Test func `a jump while a snapshot is fitted leaves the endpoint with the newest window`() throws {
        var fixture = try Fixture()
        let jump = Publication.upcomingManeuvers([ManeuverID(rawValue: 700)], generation: 1)
        fixture.publish(jump)
        fixture.finish()
        var held: [ManeuverID] = []
        for case .publication(let publication) in fixture.world.messages(fixture.late) {
            switch publication {
            case .startGuidance(_, _, let route): held = route.maneuvers.map(\.id)
            case .addManeuvers(let added, _): held = (held + added.map(\.id)).suffix(50)
            case .upcomingManeuvers(let ids, _): #expect(held.contains(ids[0]))
            default: break  // Needs no slot.
            }
        }
        #expect(held == (700..<750).map { ManeuverID(rawValue: $0) })
        #expect(fixture.world.messages(fixture.late).last == .publication(jump))
    }

    @Test func `a vehicle that cancels while a snapshot is fitted gets nothing of it`() throws {
        var fixture = try Fixture()
        fixture.world.handle(.received(fixture.late, .cancelNavigation(.userStopped), .none))
        fixture.finish()
        #expect(!fixture.types.contains(.snapshotBegin) && !fixture.types.contains(.startGuidance))
        #expect(fixture.types.last == .sessionEnded)
    }

    @Test func `a vehicle that cancels gets nothing that was under way for it`() {
        var world = World()
        let client = world.arrive(2, World.client("app"))
        for index in 0..<64 { world.arrive(UInt64(10 + index), World.endpoint("car-\(index)")) }
        world.guide(client, (0..<64).map { "car-\($0)" })
        world.mail = [:]
        world.begin(.departed(client, clean: false))
        let last = ConnectionID(73)
        #expect(world.messages(last).isEmpty)
        world.handle(.received(last, .cancelNavigation(.userStopped), .none))
        #expect(world.messages(last).map(\.type) == [.sessionEnded])
    }

    @Test func `a vehicle that cancels gets nothing that is fitted because its other endpoint moves`() throws
    {
        var world = World()
        let client = world.arrive(2, World.client("app"))
        let names = (0..<64).map { "car-\($0)" }
        for (index, name) in names.enumerated() { world.arrive(UInt64(100 + index), World.endpoint(name)) }
        let fitted = world.arrive(
            9,
            World.endpoint("car-63", "fitted") {
                $0.features.remove(.routeSegments)
                $0.limits.maneuverInstructionLengthMax = 90
            })
        var trip = World.trip
        trip.routeSegmentsAvailable = true
        let session = try world.guided(client, names)
        var route = World.route
        route.segments = [RouteSegment(id: "s", origin: World.place, destination: World.place)]
        world.publish(client, session, .startGuidance(trip, generation: 2, route))
        world.wait(.seconds(2))
        // So much that the rest is fitted in steps.
        let maneuvers = (10..<1_000).map {
            Maneuver(
                id: ManeuverID(rawValue: $0), type: .leftTurn,
                instructionVariants: [String(repeating: "long ", count: 20)])
        }
        func begin(_ publication: Publication) {
            world.sequences[session, default: 0] += 1
            let envelope = Envelope(
                .publication(publication), session: session, sequence: world.sequences[session] ?? 0)
            world.begin(.published(client, PublishedFrames(Codec.encode(envelope), publication.outline)))
        }
        world.mail[fitted] = []
        begin(.addManeuvers(maneuvers, generation: 2))
        while world.messages(fitted).isEmpty { world.begin(.stepDue(of: client)) }
        #expect(world.gateway.sessions[session]?.hasUnfitted == true)
        trip.routeSegmentsAvailable = false
        begin(.updateTrip(trip))
        #expect(world.gateway.tourCount == 1)
        world.mail[fitted] = []
        world.handle(.received(fitted, .cancelNavigation(.userStopped), session))
        #expect(world.messages(fitted).map(\.type) == [.sessionEnded])
    }

    @Test func `an endpoint that waits for its snapshot is told that the session is over`() throws {
        for publication in [Publication.finishGuidance, .cancelGuidance] {
            var fixture = try Fixture()
            fixture.publish(publication)
            while fixture.world.gateway.hasSteps(of: fixture.client) {
                fixture.world.begin(.stepDue(of: fixture.client))
            }
            fixture.finish()
            #expect(fixture.types.last == .sessionEnded || fixture.types.last == publication.type)
            #expect(
                fixture.types.count { $0 == .snapshotBegin } == fixture.types.count { $0 == .snapshotEnd })
            #expect(fixture.world.gateway.sessions.isEmpty && fixture.world.gateway.endedSessions.isEmpty)
        }
    }

    @Test func `a snapshot says that the client has gone meanwhile`() throws {
        var fixture = try Fixture()
        fixture.world.handle(.departed(fixture.client, clean: false))
        fixture.finish()
        #expect(!fixture.types.contains(.sessionSuspended))
        let begins = fixture.world.messages(fixture.late).compactMap {
            if case .snapshotBegin(let begin) = $0 { begin } else { nil }
        }
        #expect(begins.map(\.isSuspended) == [true])
    }

    @Test func `an endpoint that is cut off while it waits comes back to the whole state`() throws {
        var fixture = try Fixture()
        fixture.world.handle(.departed(fixture.late, clean: false))
        let token = ResumptionToken(high: 0, low: 77)
        let role = World.endpoint("car", "late") { $0.limits.maneuversStoredMax = 50 }
        let back = fixture.world.arrive(10, role, token: token, resume: (fixture.session, 3))
        let types = fixture.world.messages(back).map(\.type)
        #expect(types.first == .snapshotBegin && types.last == .snapshotEnd)
        #expect(types.contains(.startGuidance))
        fixture.finish()
        #expect(!fixture.types.contains(.snapshotBegin))
    }

    @Test func `an endpoint whose features change while it waits gets one snapshot, without them`() throws {
        var fixture = try Fixture()
        var policy = fixture.world.gateway.policy
        policy.withheldFeatures = [.maneuvers]
        fixture.world.begin(.policyChanged(policy))
        fixture.finish()
        while fixture.world.gateway.hasSteps(of: nil) { fixture.world.begin(.stepDue(of: nil)) }
        #expect(fixture.types.count { $0 == .snapshotBegin } == 1)
        #expect(!fixture.types.contains(.addManeuvers))
        #expect(fixture.types.last == .snapshotEnd)
    }

    @Test func `endpoints of several profiles that wait get their snapshots one after the other`() throws {
        var fixture = try Fixture()
        for index in 0..<8 {
            let role = World.endpoint("car", "e\(index)") {
                $0.limits.maneuversStoredMax = UInt32(40 + index % 3)
            }
            fixture.world.begin(
                .arrived(
                    ConnectionID(UInt64(20 + index)), Hello(role: role), .user(1),
                    token: ResumptionToken(high: 5, low: UInt64(index))))
        }
        fixture.publish(.currentRoadName(["A"]))
        fixture.finish()
        for cause in [fixture.client] + (20..<28).map({ ConnectionID($0) }) {
            while fixture.world.gateway.hasSteps(of: cause) { fixture.world.begin(.stepDue(of: cause)) }
        }
        #expect(!fixture.world.gateway.hasSteps)
        for index in 0..<8 {
            let types = fixture.world.messages(ConnectionID(UInt64(20 + index))).map(\.type)
            #expect(types.count { $0 == .snapshotEnd } == 1 && types.count { $0 == .currentRoadName } == 1)
        }
    }
}
