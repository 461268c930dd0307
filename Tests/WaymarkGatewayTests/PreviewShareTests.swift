import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// Destinations that are shared before guidance, and those that a vehicle wants.
@Suite struct PreviewShareTests {
    private static func trip(_ id: String, isShareable: Bool = true) -> Trip {
        var trip = Trip(id: id, origin: World.place, destination: World.place)
        trip.isDestinationShareable = isShareable
        return trip
    }

    /// A session in phase preview with a vehicle and its client.
    private struct Stage {
        var world: World
        let car: ConnectionID
        let client: ConnectionID
        let session: SessionID

        init(client role: Hello.Role = World.client("app")) throws {
            var world = World()
            let car = world.arrive(1, World.endpoint("car") { $0.reportsIgnored = true })
            let client = world.arrive(2, role)
            let opening = OpenSession(requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "car")]))
            world.handle(.received(client, .openSession(opening), .none))
            let session = try #require(world.opened(client, "r"))
            (self.world, self.car, self.client, self.session) = (world, car, client, session)
        }

        mutating func preview(_ trips: [Trip]) {
            self.world.publish(self.client, self.session, .tripPreviews(trips, selected: ""))
        }

        mutating func share(_ id: String, of trip: String) {
            self.world.publish(
                self.client, self.session, .shareDestination(shareID: id, World.place, trip: trip))
        }

        /// The codes and fields of the errors that a connection was sent.
        func errors(_ id: ConnectionID) -> [String] {
            self.world.messages(id).compactMap {
                guard case .error(let rejection) = $0 else { return nil }
                return rejection.field.isEmpty ? "\(rejection.code)" : "\(rejection.code) \(rejection.field)"
            }
        }

        /// The ids of the shares that the vehicle was sent.
        var shared: [String] {
            self.world.messages(self.car).compactMap {
                if case .publication(.shareDestination(let id, _, _)) = $0 { id } else { nil }
            }
        }

        var wanted: [DestinationShareWanted] {
            self.world.messages(self.client).compactMap {
                if case .destinationShareWanted(let wanted) = $0 { wanted } else { nil }
            }
        }
    }

    @Test func `before guidance a share names a trip of the newest previews that may be shared`() throws {
        var stage = try Stage()
        stage.share("early", of: "a")
        stage.preview([Self.trip("a"), Self.trip("b", isShareable: false)])
        stage.share("unnamed", of: "")
        stage.share("b", of: "b")
        stage.share("a", of: "a")
        stage.preview([Self.trip("c")])
        stage.share("old", of: "a")
        #expect(
            stage.errors(stage.client)
                == ["unknownReference trip_id", "missing trip_id", "wrongState", "unknownReference trip_id"])
        #expect(stage.shared == ["a"])
    }

    @Test func `while guided a share names the trip that is driven, or none`() throws {
        var stage = try Stage()
        stage.preview([Self.trip("a"), Self.trip("t")])
        stage.world.publish(
            stage.client, stage.session, .startGuidance(Self.trip("t"), generation: 1, World.route))
        for (id, trip) in [("other", "a"), ("driven", "t"), ("unnamed", "")] { stage.share(id, of: trip) }
        stage.world.publish(stage.client, stage.session, .updateTrip(Self.trip("u")))
        for (id, trip) in [("before", "t"), ("now", "u")] { stage.share(id, of: trip) }
        #expect(stage.errors(stage.client) == ["unknownReference trip_id", "unknownReference trip_id"])
        #expect(stage.shared == ["driven", "unnamed", "now"])
    }

    @Test func `previews that are shown while guided cannot be shared`() throws {
        var stage = try Stage()
        stage.world.publish(
            stage.client, stage.session, .startGuidance(Self.trip("t"), generation: 1, World.route))
        stage.preview([Self.trip("a")])
        stage.share("a", of: "a")
        #expect(stage.errors(stage.client) == ["unknownReference trip_id"])
    }

    @Test(arguments: [[], [PreviewShareTests.trip("a", isShareable: false)], [PreviewShareTests.trip("b")]])
    func `a share that waits is dropped when its preview is no longer shared`(_ trips: [Trip]) throws {
        var stage = try Stage()
        stage.preview([Self.trip("a")])
        stage.share("a", of: "a")
        let previews = Publication.tripPreviews(trips, selected: "")
        let number = (stage.world.sequences[stage.session] ?? 0) + 1
        let frame = Codec.encode(
            Envelope(.publication(previews), session: stage.session, sequence: number))
        var actions: [Gateway.Action] = []
        stage.world.gateway.handle(
            .published(stage.client, PublishedFrames(frame, previews.outline)), at: stage.world.now,
            into: &actions)
        #expect(actions.contains(.purgeShares(stage.car, stage.session)))
    }

    @Test(arguments: [true, false])
    func `guidance of a trip that is not shared drops a share that waits`(_ isShareable: Bool) throws {
        var stage = try Stage()
        stage.preview([Self.trip("a")])
        stage.share("a", of: "a")
        stage.world.publish(
            stage.client, stage.session,
            .startGuidance(Self.trip("a", isShareable: isShareable), generation: 1, World.route))
        let session = try #require(stage.world.gateway.sessions[stage.session])
        #expect(session.mayQueueShares == isShareable)
        // An endpoint that resumes gets a snapshot, not the share.
        #expect((session.replay.frames(after: 0) != nil) == isShareable)
    }

    @Test func `a share that waits stays while its preview is shared`() throws {
        var stage = try Stage()
        stage.preview([Self.trip("a")])
        stage.share("a", of: "a")
        stage.preview([Self.trip("b"), Self.trip("a")])
        let mayQueueShares = stage.world.gateway.sessions[stage.session]?.mayQueueShares
        #expect(mayQueueShares == true)
    }

    @Test func `a client is told that a destination is wanted, of a trip that there is`() throws {
        var stage = try Stage()
        stage.preview([Self.trip("a", isShareable: false)])
        for trip: Identifier in ["a", "b", ""] {
            stage.world.receive(
                .destinationShareWanted(DestinationShareWanted(trip: trip)), from: stage.car)
        }
        stage.world.publish(
            stage.client, stage.session, .startGuidance(Self.trip("t"), generation: 1, World.route))
        for trip: Identifier in ["a", "t", ""] {
            stage.world.receive(
                .destinationShareWanted(DestinationShareWanted(trip: trip)), from: stage.car)
        }
        let path = EndpointPath(
            vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "cluster"))
        #expect(
            stage.wanted
                == ["a", "t", ""].map { DestinationShareWanted(trip: Identifier($0), source: path) })
        #expect(
            stage.errors(stage.car)
                == Array(repeating: "unknownReference trip_id", count: 3))
    }

    @Test func `a client that shares no destinations is not told that one is wanted`() throws {
        var stage = try Stage(client: World.client("app", without: [.destinationSharing]))
        stage.preview([Self.trip("a")])
        stage.world.receive(.destinationShareWanted(DestinationShareWanted(trip: "a")), from: stage.car)
        #expect(stage.wanted.isEmpty && stage.errors(stage.car) == ["ignored"])
    }

    @Test func `an endpoint without the feature wants no destination`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car") { $0.features.remove(.destinationSharing) })
        let client = world.arrive(2, World.client("app"))
        _ = try world.guided(client, ["car"])
        world.receive(.destinationShareWanted(DestinationShareWanted()), from: car)
        #expect(world.errors(car) == [.notGranted])
    }
}
