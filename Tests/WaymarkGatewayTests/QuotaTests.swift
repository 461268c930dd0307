import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// What one user takes leaves room for others.
@Suite struct QuotaTests {
    private static func opening(_ request: Identifier, _ vehicles: [String]) -> Message {
        .openSession(
            OpenSession(requestID: request, vehicles: .vehicles(vehicles.map { VehicleID(unchecked: $0) })))
    }

    @Test func `a user may await only a part of the vehicles, and gets the rest back when sessions end`() {
        var world = World {
            $0.limits.vehiclesAwaitedMax = 6
            $0.limits.vehiclesAwaitedPerUserMax = 4
        }
        let (mine, other) = (
            world.arrive(1, World.client("a")), world.arrive(2, World.client("b"), principal: .user(2))
        )
        world.receive(Self.opening("1", ["a1", "a2", "a3"]), from: mine)
        world.receive(Self.opening("2", ["a4", "a5"]), from: mine)
        guard case .sessionOpened(let opened) = world.messages(mine).last else {
            Issue.record("no session")
            return
        }
        #expect(opened.vehicles.map(\.standing) == [.awaited, .refused(.limitReached)])
        world.receive(Self.opening("3", ["a6"]), from: mine)
        #expect(world.errors(mine) == [.limitReached])
        world.receive(Self.opening("1", ["b1", "b2"]), from: other)
        #expect(world.opened(other, "1") != nil)
        // A vehicle that comes is no longer awaited.
        world.arrive(3, World.endpoint("a1"))
        world.handle(.departed(other, clean: true))
        world.receive(Self.opening("3", ["a6"]), from: mine)
        #expect(world.opened(mine, "3") != nil)
    }

    @Test func `a user has only a part of the vehicles and of the sessions`() {
        var world = World {
            $0.limits.vehiclesPerUserMax = 2
            $0.limits.sessionsPerUserMax = 2
        }
        for index in 1...3 { world.arrive(UInt64(index), World.endpoint("car-\(index)")) }
        #expect(world.goodbyes == [ConnectionID(3): .resourceLimit])
        world.arrive(4, World.endpoint("car-3"), principal: .user(2))
        let clients = (5...7).map { world.arrive($0, World.client("app-\($0)"), principal: .user(3)) }
        for (index, client) in clients.enumerated() { world.guide(client, ["car-\(index + 1)"]) }
        #expect(world.errors(clients[2]) == [.limitReached])
        // Another user's client still gets one, and the first user again after a session has ended.
        let other = world.arrive(8, World.client("other"), principal: .user(4))
        #expect(world.guide(other, ["car-3"]) != nil)
        world.handle(.departed(other, clean: true))
        world.handle(.departed(clients[0], clean: true))
        #expect(world.guide(clients[2], ["car-3"], request: "again") != nil)
    }

    @Test func `a rejection names the limit that was reached, and its value`() throws {
        func last(_ world: World, _ id: ConnectionID) -> Rejection? {
            if case .error(let rejection) = world.messages(id).last { rejection } else { nil }
        }
        var world = World {
            $0.limits.vehiclesAwaitedPerUserMax = 1
            $0.limits.sessionsPerClientMax = 2
            $0.limits.peersPerUserMax = 3
            $0.limits.endpointsPerVehicleMax = 1
            $0.limits.sharesOpenMax = 1
        }
        let client = world.arrive(1, World.client("app"))
        world.receive(Self.opening("1", ["a1"]), from: client)
        world.receive(Self.opening("2", ["a2"]), from: client)
        #expect(last(world, client)?.limit == ReachedLimit("vehicles_awaited_per_user_max", 1))
        world.arrive(2, World.endpoint("car"))
        let session = try world.guided(client, ["car"], request: "2")
        world.receive(Self.opening("3", ["car"]), from: client)
        #expect(last(world, client)?.limit == ReachedLimit("sessions_per_client_max", 2))
        var trip = World.trip
        trip.isDestinationShareable = true
        world.publish(client, session, .updateTrip(trip))
        for share in ["one", "two"] {
            world.publish(client, session, .shareDestination(shareID: share, World.place))
        }
        #expect(last(world, client)?.limit == ReachedLimit("shares_open_max", 1))
        #expect(last(world, client)?.retryAfterMilliseconds == 10_000)
        let second = world.arrive(3, World.endpoint("car", "second"))
        #expect(world.limits[second] == ReachedLimit("endpoints_per_vehicle_max", 1))
        world.arrive(4, World.endpoint("bus"))
        let late = world.arrive(5, World.endpoint("van"))
        #expect(world.limits[late] == ReachedLimit("peers_per_user_max", 3))
    }

    @Test func `the profiles of one user withhold nothing from the endpoints of another`() throws {
        var world = World { $0.limits.profilesPerSessionMax = 2 }
        let client = world.arrive(1, World.client("app"))
        let session = try world.guided(client, ["bus", "car"])
        let odd: [ConnectionID] = (0..<4).map { index in
            world.arrive(
                UInt64(10 + index),
                World.endpoint("bus", "e\(index)") { $0.limits.currentRoadNameLengthMax = UInt32(4 + index) },
                principal: .user(2))
        }
        let honest = world.arrive(20, World.endpoint("car"), principal: .user(3))
        world.publish(client, session, .currentRoadName(["Lane"]))
        let heard = (odd + [honest]).map { id in world.messages(id).contains { $0.type == .currentRoadName } }
        #expect(heard == [true, true, false, false, true])
        // Room that a user's endpoint leaves is for that user's others.
        world.handle(.departed(honest, clean: true))
        world.publish(client, session, .currentRoadName(["Road"]))
        #expect(!world.messages(odd[2]).contains { $0.type == .currentRoadName })
        world.handle(.departed(odd[0], clean: true))
        #expect(world.messages(odd[2]).contains { $0.type == .currentRoadName })
    }

    @Test func `large requests of one user's vehicles take only a part of the memory`() {
        var world = World {
            $0.limits.requestBytesPerUserMax = 2_000
            $0.limits.requestBytesInAllMax = 5_000
        }
        world.arrive(1, World.client("app"))
        var place = World.place
        place.nameVariants = [String(repeating: "n", count: 500), String(repeating: "n", count: 400)]
        let cars: [ConnectionID] = (0..<3).map { index in
            world.arrive(
                UInt64(10 + index), World.endpoint("car-\(index)"), principal: .user(UInt32(index / 2)))
        }
        for car in cars {
            for id: Identifier in ["a", "b"] {
                world.receive(
                    .destinationRequest(DestinationRequest(requestID: id, destination: place)), from: car)
            }
        }
        #expect(cars.map { world.outcomes($0) } == [[], [.busy, .busy], []])
        // Small ones are always taken, and large ones again after others have ended.
        world.receive(
            .destinationRequest(DestinationRequest(requestID: "c", destination: World.place)), from: cars[1])
        world.receive(.withdrawRequest(WithdrawRequest(requestID: "a")), from: cars[0])
        world.receive(
            .destinationRequest(DestinationRequest(requestID: "d", destination: place)), from: cars[1])
        #expect(world.outcomes(cars[1]) == [.busy, .busy])
        world.handle(.departed(cars[0], clean: true))
        world.handle(.departed(cars[1], clean: true))
        world.handle(.departed(cars[2], clean: true))
        #expect(world.gateway.index.requestBytes == UserCount())
    }

    @Test func `recent frames of one user leave room for those of others`() throws {
        var world = World {
            $0.limits.replayBytesPerUserMax = 2_000
            $0.limits.replayBytesInAllMax = 4_000
        }
        var sessions: [(ConnectionID, SessionID)] = []
        for index in 0..<3 {
            let user = Principal.user(UInt32(index / 2))
            let client = world.arrive(UInt64(index + 1), World.client("app-\(index)"), principal: user)
            sessions.append((client, try world.guided(client, ["car-\(index)"])))
        }
        for (client, session) in sessions {
            for number in 0..<20 { world.publish(client, session, .currentRoadName(["Road \(number)"])) }
        }
        let kept = sessions.compactMap { world.gateway.sessions[$0.1]?.replay.byteCount }
        #expect(kept[0] + kept[1] <= 2_000 && kept[0] > 1_500 && kept[2] > 1_500)
        for (client, _) in sessions { world.handle(.departed(client, clean: true)) }
        #expect(world.gateway.memory == MemoryLedger())
    }
}
