import FakeGateway
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

private let nowhere = Waypoint(center: Coordinate(latitude: 91, longitude: 9))

/// What the gateway would refuse is refused at the call, with the field's name.
@Suite(.timeLimit(.minutes(10))) struct ArgumentTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        let field: String
        let call: @Sendable (VehicleEndpoint) async -> RequestResult?
        var testDescription: String { self.field }

        init(_ field: String, _ call: @escaping @Sendable (VehicleEndpoint) async -> RequestResult?) {
            self.field = field
            self.call = call
        }
    }

    private static let long = String(repeating: "x", count: 1_000)

    private static let calls: [Case] = [
        Case("waypoint.center.latitude") { await $0.requestWaypoint(nowhere) },
        Case("segment_id") { await $0.requestWaypoint(place, segment: Self.long) },
        Case("request_id") { await $0.requestWaypoint(place, requestID: "") },
        Case("request_id") { await $0.requestWaypoint(place, requestID: "a\0b") },
        Case("destination.center.latitude") { await $0.requestDestination(nowhere) },
        Case("destination.name_variants[0]") {
            await $0.requestDestination(
                Waypoint(center: place.center, nameVariants: [Self.long]))
        },
        Case("trip_id") { await $0.startTrip("") },
        Case("trip_id") { await $0.startTrip(Self.long, routeChoice: 2) },
        Case("request_id") { await $0.startTrip("t", requestID: "") },
        Case("trip_id") {
            await $0.selectPreview(trip: "")
            return nil
        },
        Case("request_id") {
            await $0.answerPrompt(Identifier(Self.long), isAccepted: true)
            return nil
        },
        Case("share_id") {
            await $0.answerShare("", isAccepted: true, $0.sessionID)
            return nil
        },
        Case("alert_id") {
            await $0.respondToAlert(0)
            return nil
        },
        Case("action_id") {
            await $0.respondToAlert(1, action: 9)
            return nil
        },
        Case("route_source") {
            await $0.setRouteSource(.unrecognized(.max))
            return nil
        },
        Case("compass") {
            await $0.setCompass(.unrecognized(.max))
            return nil
        },
        Case("name") {
            await $0.sendExtension("tyres", [])
            return nil
        },
        Case("content") {
            await $0.sendExtension("org.example.tyres", [UInt8](repeating: 7, count: 4_097))
            return nil
        },
        Case("direction") {
            await $0.zoom(.unrecognized(0))
            return nil
        },
    ]

    @Test(arguments: 0..<calls.count)
    func `an endpoint says nothing that the gateway would refuse, and tells its program why`(_ index: Int)
        async throws
    {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint()
        let updates = await endpoint.updates
        let check = Self.calls[index]
        #expect([nil, .invalid].contains(await check.call(endpoint)))
        for await update in updates {
            guard case .refused(let field, _) = update.content else { continue }
            #expect(field == check.field)
            break
        }
        await endpoint.setContentStyle(.dark)
        let first = await peer.next { $0.message }
        guard case .vehicleSettings(let settings)? = first else {
            Issue.record("\(check.field) was sent: \(String(describing: first))")
            return
        }
        #expect(settings.compass == nil && settings.contentStyle == .dark)
        await peer.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test(arguments: [
        ("travel_estimates.distance_remaining_meters", TravelEstimates(distanceRemaining: .meters(.max))),
        (
            "travel_estimates.time_remaining_seconds",
            TravelEstimates(distanceRemaining: .meters(1), timeRemaining: .seconds(-1))
        ),
    ])
    func `estimates outside of their range decline the request at once, and an event says why`(
        _ field: String, _ estimates: TravelEstimates
    ) async throws {
        let gateway = try await FakeGateway.start()
        let (client, peer) = try await gateway.client()
        async let opening = client.openSession(
            vehicles: .vehicles(["car"]),
            onWaypoint: { _, _ in .estimates(estimates) { Issue.record("not accepted") } })
        try await peer.open(SessionID(7))
        let session = try await opening
        let events = await session.events
        let car = VehicleID(unchecked: "car")
        try await peer.send(
            .waypointRequest(WaypointRequest(requestID: "r", waypoint: place, vehicle: car)),
            session: SessionID(7))
        let answer = await peer.next {
            if case .requestAnswer(let answer) = $0.message { answer.answer } else { nil }
        }
        #expect(answer == .decline(.invalid))
        for await event in events {
            guard case .rejected(let named, _, _) = event else { continue }
            #expect(named == field)
            break
        }
        await peer.close()
        await client.close()
        await gateway.close()
    }

    @Test(arguments: [
        Duration.zero, .milliseconds(-1), .milliseconds(99), .microseconds(500), .seconds(61),
        .seconds(1 << 40),
    ])
    func `an interval of receipts outside of its range is refused`(_ interval: Duration) async throws {
        let gateway = try await FakeGateway.start()
        let (client, peer) = try await gateway.client()
        await #expect(throws: ClientError.rejected(field: "receipts", reason: "must be 100 to 60000 ms")) {
            _ = try await client.openSession(vehicles: .anyThatAsked, receipts: interval)
        }
        await peer.close()
        await client.close()
        await gateway.close()
    }

    @Test
    func `what a session publishes has no NUL in it, no point that is not on the Earth, no negative time`()
        async throws
    {
        let gateway = try await FakeGateway.start()
        let (client, peer) = try await gateway.client()
        async let opening = client.openSession(vehicles: .vehicles(["car"]))
        try await peer.open(SessionID(7))
        let session = try await opening
        func field(_ call: () async throws -> Void) async -> String? {
            do { try await call() } catch ClientError.rejected(let field, _, _) { return field } catch {}
            return nil
        }
        #expect(await field { try await session.setCurrentRoadName(["A\0B"]) } == "name_variants[0]")
        #expect(await field { _ = try await session.share(place, shareID: "a\0b") } == "share_id")
        #expect(
            await field {
                try await session.updateTripEstimates(
                    TravelEstimates(distanceRemaining: .meters(1), timeRemaining: .seconds(-5)))
            } == "travel_estimates.time_remaining_seconds")
        try await session.start(trip, route: route)
        for far in [Double.nan, .infinity, 1e9, -1e9] {
            let line = [Coordinate(latitude: 47, longitude: 9), Coordinate(latitude: far, longitude: 9)]
            let segment = RouteSegment(id: "s", origin: place, destination: place, coordinates: line)
            #expect(await field { try await session.add([segment]) }?.contains("latitude_e6_deltas") == true)
        }
        await peer.close()
        await client.close()
        await gateway.close()
    }

    /// Why an endpoint does not even try to connect.
    private static func refusal(
        _ change: (inout VehicleEndpoint.Configuration) -> Void
    ) async -> ClientError? {
        var configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "cluster")
        change(&configuration)
        let chosen = configuration
        let result = await Result { () async throws(ClientError) in
            try await VehicleEndpoint.connect(to: .unix(path: "/nowhere"), chosen)
        }
        guard case .failure(let error) = result else { return nil }
        return error
    }

    @Test func `what a peer says of itself is checked before it connects`() async {
        var client = NavigationClient.Configuration(id: "app")
        client.priority = 1_001
        let prioritized = client
        let result = await Result { () async throws(ClientError) in
            try await NavigationClient.connect(to: .unix(path: "/nowhere"), prioritized)
        }
        guard case .failure(.rejected("navigation.priority", _, _)) = result else {
            Issue.record("\(result)")
            return
        }
        guard
            case .rejected("vehicle.preferences.locale", _, _)? = await Self.refusal({ $0.locale = Self.long }
            )
        else {
            Issue.record("a locale of a thousand characters")
            return
        }
    }
}

extension Result where Success: Sendable {
    fileprivate init(_ body: () async throws(Failure) -> Success) async {
        do throws(Failure) { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
