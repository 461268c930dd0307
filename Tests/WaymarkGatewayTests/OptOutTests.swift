import OrderedCollections
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// A trip that opts out of its segments by UpdateTrip while it is driven.
@Suite struct OptOutTests {
    private static let segments = ["s1", "s2"].map {
        RouteSegment(id: $0, origin: World.place, destination: World.place)
    }

    private static func trip(_ isSharing: Bool) -> Trip {
        var trip = World.trip
        trip.routeSegmentsAvailable = isSharing
        return trip
    }

    private static let route = RouteInformation(segments: [segments[0]], currentSegment: "s1")

    private static func started() throws -> (world: World, session: SessionID) {
        var world = World()
        world.arrive(1, World.client("app"))
        world.arrive(2, World.endpoint("car"))
        world.arrive(3, World.endpoint("car", "none") { $0.features.remove(.routeSegments) })
        let opening = OpenSession(requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "car")]))
        world.receive(.openSession(opening), from: ConnectionID(1))
        let session = try #require(world.opened(ConnectionID(1), "r"))
        world.publish(
            ConnectionID(1), session, .startGuidance(Self.trip(true), generation: 1, Self.route))
        world.publish(ConnectionID(1), session, .addRouteSegments([Self.segments[1]], generation: 1))
        for id in UInt64(1)...3 { world.mail[ConnectionID(id)] = [] }
        return (world, session)
    }

    @Test
    func `who is there gets a snapshot without segments, and one with them when the trip opts in again`()
        throws
    {
        var (world, session) = try Self.started()
        let (client, car, none) = (ConnectionID(1), ConnectionID(2), ConnectionID(3))
        world.publish(client, session, .updateTrip(Self.trip(false)))
        world.publish(client, session, .currentRouteSegment("s2", generation: 1))
        #expect(
            world.messages(car).map(\.type)
                == [.updateTrip, .snapshotBegin, .startGuidance, .updateTrip, .snapshotEnd])
        #expect(
            world.messages(car).contains(
                .publication(.startGuidance(Self.trip(true), generation: 1, RouteInformation()))))
        #expect(world.messages(none).map(\.type) == [.updateTrip])
        let told = world.messages(client).compactMap { message in
            if case .vehicleChanged(let status) = message { status.endpoints.first?.withheld } else { nil }
        }
        #expect(told.last?.first { $0.feature == .routeSegments }?.withheld == .tripOptedOut)
        world.mail[car] = []
        world.publish(client, session, .updateTrip(Self.trip(true)))
        #expect(world.messages(car).map(\.type) == [.updateTrip])
        world.wait(.seconds(1))
        #expect(
            world.messages(car).map(\.type) == [
                .updateTrip, .snapshotBegin, .startGuidance, .addRouteSegments, .currentRouteSegment,
                .updateTrip, .snapshotEnd,
            ])
        #expect(
            world.messages(car).contains(
                .publication(.startGuidance(Self.trip(true), generation: 1, Self.route))))
        #expect(world.messages(none).map(\.type) == [.updateTrip, .updateTrip])
    }

    @Test func `what is read together with the opt-out is withheld too, and what waits is dropped`() throws {
        var (world, session) = try Self.started()
        var frames = PublishedFrames()
        var number = try #require(world.sequences[session])
        for publication in [
            .currentRouteSegment("s2", generation: 1), .updateTrip(Self.trip(false)),
            .currentRouteSegment("s1", generation: 1), .currentRoadName(["Lane"]),
        ] as [Publication] {
            number += 1
            let envelope = Envelope(.publication(publication), session: session, sequence: number)
            frames.append(copyOf: Codec.encode(envelope), publication.outline)
        }
        var actions: [Gateway.Action] = []
        world.gateway.handle(.published(ConnectionID(1), frames), at: world.now, into: &actions)
        #expect(actions.contains(.purge(ConnectionID(2), session)))
        #expect(!actions.contains(.purge(ConnectionID(3), session)))
        let begun = actions.firstIndex {
            if case .send(_, let envelope) = $0 { envelope.message.type == .snapshotBegin } else { false }
        }
        for action in actions[try #require(begun)...] {
            guard case .publish(_, let frames) = action else { continue }
            #expect(!frames.frames.contains { $0.frame.header.type == .currentRouteSegment })
        }
        #expect(
            world.gateway.sessions[session]?.retained.frames.map(\.header.sequence).max() == number)
    }

    @Test func `segments of a route before are withheld too, until the trip opts in or another drive begins`()
        throws
    {
        var (world, session) = try Self.started()
        let (client, car) = (ConnectionID(1), ConnectionID(2))
        world.publish(client, session, .updateTrip(Self.trip(false)))
        world.publish(client, session, .pauseGuidance(.rerouting, description: []))
        world.publish(
            client, session, .resumeGuidance(generation: 2, .missedTurn, RouteInformation()))
        let late = world.arrive(4, World.endpoint("car", "late"))
        #expect(
            world.messages(late).contains(
                .publication(.startGuidance(Self.trip(true), generation: 1, RouteInformation()))))
        world.publish(client, session, .addRouteSegments([Self.segments[0]], generation: 2))
        #expect(world.errors(client) == [.inconsistent])
        world.publish(client, session, .updateTrip(Self.trip(true)))
        world.wait(.seconds(1))
        world.publish(client, session, .addRouteSegments([Self.segments[0]], generation: 2))
        #expect(
            world.messages(car).last
                == .publication(.addRouteSegments([Self.segments[0]], generation: 2)))
    }
    @Test func `a drive that shares nothing costs no fitting`() throws {
        var (world, session) = try Self.started()
        let client = ConnectionID(1)
        world.publish(client, session, .updateTrip(Self.trip(false)))
        #expect(world.gateway.sessions[session]?.audiences[Profile()] == nil)
        world.publish(
            client, session, .startGuidance(Self.trip(false), generation: 2, RouteInformation()))
        world.wait(.seconds(1))
        #expect(world.gateway.sessions[session]?.audiences[Profile()]?.memberCount == 1)
    }

    @Test
    func `a thousand toggles in one batch bring an endpoint two snapshots, the last as the trip is now`()
        throws
    {
        for isSharing in [true, false] {
            var (world, session) = try Self.started()
            let (client, car) = (ConnectionID(1), ConnectionID(2))
            var frames = PublishedFrames()
            for toggle in 1...1_000 {
                world.sequences[session, default: 0] += 1
                let publication = Publication.updateTrip(Self.trip(toggle.isMultiple(of: 2) == isSharing))
                let envelope = Envelope(
                    .publication(publication), session: session, sequence: world.sequences[session] ?? 0)
                frames.append(copyOf: Codec.encode(envelope), publication.outline)
            }
            world.handle(.published(client, frames))
            #expect(world.messages(car).count { $0.type == .snapshotBegin } == 1)
            #expect(world.messages(client).count { $0.type == .vehicleChanged } == 1)
            // Segments that come before the opt-in takes effect come with its snapshot.
            let added = RouteSegment(id: "s3", origin: World.place, destination: World.place)
            if isSharing {
                world.publish(client, session, .addRouteSegments([added], generation: 1))
            }
            world.wait(.milliseconds(999))
            #expect(world.messages(car).count { $0.type == .snapshotBegin } == 1)
            #expect(!world.messages(car).contains { $0.type == .addRouteSegments })
            world.wait(.milliseconds(1))
            #expect(world.messages(car).count { $0.type == .snapshotBegin } == (isSharing ? 2 : 1))
            #expect(
                world.messages(car).contains(.publication(.addRouteSegments([added], generation: 1)))
                    == isSharing)
            #expect(world.errors(client).isEmpty)
        }
    }

    @Test func `a trip that opts out where nothing is retained is all that is sent`() throws {
        var world = World()
        let client = world.arrive(1, World.client("app"))
        let car = world.arrive(2, World.endpoint("car"))
        let session = try world.guided(client, ["car"])
        (world.mail[car], world.mail[client]) = ([], [])
        let start = Publication.startGuidance(Self.trip(false), generation: 2, RouteInformation())
        world.publish(client, session, start)
        world.publish(client, session, .updateTrip(Self.trip(true)))
        world.publish(client, session, .updateTrip(Self.trip(false)))
        world.wait(.seconds(1))
        #expect(world.messages(car).map(\.type) == [.startGuidance, .updateTrip, .updateTrip])
        #expect(world.messages(client).map(\.type) == [.acknowledgement])
    }

    @Test func `a destination that waits for an endpoint is dropped when the trip no longer shares it`()
        throws
    {
        var (world, session) = try Self.started()
        let client = ConnectionID(1)
        var trip = Self.trip(true)
        trip.isDestinationShareable = true
        var actions: [Gateway.Action] = []
        func publish(_ publication: Publication) {
            world.sequences[session, default: 0] += 1
            let frame = Codec.encode(
                Envelope(
                    .publication(publication), session: session, sequence: world.sequences[session] ?? 0))
            actions = []
            world.gateway.handle(
                .published(client, PublishedFrames(frame, publication.outline)), at: world.now,
                into: &actions)
        }
        publish(.updateTrip(trip))
        publish(.shareDestination(shareID: "a", World.place))
        trip.isDestinationShareable = false
        publish(.updateTrip(trip))
        #expect(actions.contains(.purgeShares(ConnectionID(2), session)))
        #expect(actions.contains(.purgeShares(ConnectionID(3), session)))
        #expect(!actions.contains(.purge(ConnectionID(2), session)))
        // Only what was shared since is looked for.
        trip.isDestinationShareable = true
        publish(.updateTrip(trip))
        trip.isDestinationShareable = false
        publish(.updateTrip(trip))
        #expect(!actions.contains(.purgeShares(ConnectionID(2), session)))
        // Also while the opt-in has yet to be told.
        trip.isDestinationShareable = true
        publish(.updateTrip(trip))
        publish(.shareDestination(shareID: "b", World.place))
        trip.isDestinationShareable = false
        publish(.updateTrip(trip))
        #expect(actions.contains(.purgeShares(ConnectionID(2), session)))
    }
}
