import FakeGateway
import NIOCore
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// What one message or one connection that is lost must not leave behind for ever.
@Suite(.timeLimit(.minutes(10))) struct LostStateTests {
    private func guided(
        _ gateway: FakeGateway, _ vehicles: SessionVehicles = .anyThatAsked
    ) async throws -> (NavigationClient, NavigationSession, FakeGateway.Peer) {
        let (client, peer) = try await gateway.client()
        async let opening = client.openSession(vehicles: vehicles)
        try await peer.open(
            SessionID(7), vehicles: [VehicleStatus(vehicle: VehicleID(unchecked: "car"), standing: .joined)])
        let session = try await opening
        try await session.start(trip, route: route)
        _ = await peer.next { $0.sequence == 1 ? true : nil }
        return (client, session, peer)
    }

    @Test func `a share does not wait for a vehicle that joined after it`() async throws {
        let gateway = try await FakeGateway.start()
        let (client, session, peer) = try await self.guided(gateway)
        let share = Task { try await session.share(place, shareID: "s") }
        _ = await peer.next { $0.message.type == .shareDestination ? true : nil }
        let car = VehicleID(unchecked: "car")
        let statuses: [Message] = [
            .destinationShareStatus(.init(shareID: "s", vehicle: car, stage: .willShare)),
            .vehicleChanged(VehicleStatus(vehicle: VehicleID(unchecked: "bus"), standing: .joined)),
            .destinationShareStatus(.init(shareID: "s", vehicle: car, stage: .didShare)),
        ]
        for status in statuses { try await peer.send(status, session: SessionID(7)) }
        #expect(try await share.value == ["car": .accepted])
        await peer.close()
        await client.close()
        await gateway.close()
    }

    @Test func `a vehicle that a new gateway does not have in the session has left it`() async throws {
        let gateway = try await FakeGateway.start()
        let (client, session, peer) = try await self.guided(gateway)
        await peer.close()
        let back = try #require(await gateway.next())
        try await back.welcome()
        let events = await session.events
        try await back.open(SessionID(8))
        for await event in events {
            if event == .vehicleChanged(vehicle: "car", standing: .left(.vehicleGone), endpoints: []) {
                break
            }
        }
        // So no task waits for its answer.
        #expect(try await session.share(place, shareID: "s").isEmpty)
        await back.close()
        await client.close()
        await gateway.close()
    }

    @Test func `a prompt that comes again after a loss is not asked twice, and ends in time`() async throws {
        let gateway = try await FakeGateway.start()
        let (asked, ask) = AsyncStream.makeStream(of: String.self)
        let (cancelled, tell) = AsyncStream.makeStream(of: Void.self)
        let (endpoint, peer) = try await gateway.endpoint {
            $0.onPrompt = { prompt in
                ask.yield(prompt.id)
                if prompt.id == "last" { return true }
                let (never, hold) = AsyncStream.makeStream(of: Void.self)
                for await _ in never {}
                hold.finish()
                tell.finish()
                return true
            }
        }
        func prompt(_ id: Identifier, _ milliseconds: UInt32) -> Message {
            .prompt(
                Prompt(
                    requestID: id, waypoint: place,
                    travelEstimates: TravelEstimates(distanceRemaining: .meters(1)),
                    deadlineMilliseconds: milliseconds))
        }
        try await peer.send(prompt("p", 60_000))
        var ids: [String] = []
        for await id in asked {
            ids.append(id)
            break
        }
        await peer.close()
        let back = try #require(await gateway.next())
        try await back.welcome(isResumed: true)
        // The time that is left; the gateway's word that it is over gets lost.
        try await back.send(prompt("p", 1))
        for await _ in cancelled {}
        try await back.send(prompt("last", 60_000))
        let answer = await back.next {
            if case .promptAnswer(let answer) = $0.message { answer.requestID } else { nil }
        }
        #expect(answer == "last")
        for await id in asked {
            ids.append(id)
            break
        }
        #expect(ids == ["p", "last"])
        await back.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test func `withdrawing a request that the gateway never had returns at once`() async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint()
        let request = Task { await endpoint.requestDestination(place, requestID: "r") }
        _ = await peer.next { $0.message.type == .destinationRequest ? true : nil }
        var rejection = Rejection(.notGranted, reason: "prompts were not granted")
        rejection.messageType = MessageType.promptAnswer.rawValue
        rejection.requestID = "r"
        // About an answer to a prompt of the same request, which stays open.
        try await peer.send(.error(rejection))
        await endpoint.withdrawRequest("r")
        _ = await peer.next { $0.message.type == .withdrawRequest ? true : nil }
        rejection = Rejection(.unknownReference, field: "request_id", reason: "there is no such request")
        rejection.messageType = MessageType.withdrawRequest.rawValue
        rejection.requestID = "r"
        try await peer.send(.error(rejection))
        #expect(await request.value == .withdrawn)
        await peer.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test func `a call that waits over two lost connections learns that its request is gone`() async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint()
        let request = Task { await endpoint.requestDestination(place, requestID: "r") }
        _ = await peer.next { $0.message.type == .destinationRequest ? true : nil }
        await peer.close()
        let back = try #require(await gateway.next())
        try await back.welcome(isResumed: true)
        _ = await back.next { $0.message.type == .destinationRequest ? true : nil }
        await back.close()
        let new = try #require(await gateway.next())
        try await new.welcome()
        #expect(await request.value == .gone)
        await endpoint.setCompass(.enabled)
        #expect(await new.messages(upTo: .vehicleSettings).isEmpty)
        await new.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test func `closing ends also if the gateway does not read`() async throws {
        let gateway = try await FakeGateway.start()
        let (client, session, peer) = try await self.guided(gateway)
        try await peer.channel.setOption(.autoRead, value: false).get()
        let long = String(repeating: "x", count: 500)
        for round in 1...100 as ClosedRange<UInt32> {
            let maneuvers = (0..<80).map {
                Maneuver(
                    id: ManeuverID(rawValue: round * 100 + $0), type: .leftTurn, instructionVariants: [long])
            }
            try await session.add(maneuvers)
        }
        await client.close()
        await peer.close()
        await gateway.close()
    }
}
