#if Inspector
    import Foundation
    import Testing
    import WaymarkClient
    import WaymarkInspector
    import WaymarkInspectorServer
    import WaymarkModel

    @Suite(.timeLimit(.minutes(2))) struct PreviewTests {
        private static let trip = Trip(
            id: "t", origin: Drive.place, destination: Drive.place,
            routeChoices: [RouteChoice(id: 1), RouteChoice(id: 2)], selectedRouteChoice: 1)

        /// Also by an endpoint that connects for it, and does not know the trips yet.
        @Test func `a trip of a preview is selected and started for a vehicle`() async throws {
            let gateway = try await Gateway.start()
            var settings = ActionDesk.Settings()
            settings.address = gateway.address("v")
            let desk = ActionDesk(settings)
            let cluster = try await VehicleEndpoint.connect(
                to: gateway.address("v"), .init(vehicle: "car", endpoint: "cluster"))
            let client = try await NavigationClient.connect(to: gateway.address("n"), .init(id: "app"))
            let session = try await client.openSession(
                vehicles: .vehicles(["car"]),
                onStartTrip: { inquiry, session in
                    guard inquiry.trip == "t", inquiry.routeChoice == 2 else {
                        return .decline(.declinedByUser)
                    }
                    return .accept { try await session.start(Self.trip, route: RouteInformation()) }
                })
            try await session.showPreviews([Self.trip], selected: "t")
            try await session.whenAccepted()
            try await desk.act(
                #"{"vehicle": "car", "action": "selectPreview", "tripID": "t", "routeChoice": 2}"#)
            for await event in await session.events {
                guard case .previewSelected(let vehicle, _, let trip, let choice) = event else { continue }
                #expect(vehicle == "car" && trip == "t" && choice == 2)
                break
            }
            try await desk.act(#"{"vehicle": "car", "action": "startTrip", "tripID": "other"}"#)
            try await until { try await desk.seen().done.first?.outcome == "invalid" }
            // 0 is the selected route, which is the first one as long as the client does not follow.
            try await desk.act(#"{"vehicle": "car", "action": "startTrip", "tripID": "t", "routeChoice": 0}"#)
            try await until { try await desk.seen().done.first?.outcome == "declinedByUser" }
            try await desk.act(#"{"vehicle": "car", "action": "startTrip", "tripID": "t", "routeChoice": 2}"#)
            try await until { try await desk.seen().done.first?.outcome == "accepted" }
            let texts = try await desk.seen().done.map(\.text)
            #expect(texts.first == "asked to start the trip t, route 2")
            #expect(texts.last == "selected the trip t, route 2")
            for await state in await cluster.states where state.phase == .active { break }
            await desk.close()
            await client.close()
            await cluster.close()
            await gateway.stop()
        }

        @Test(arguments: [
            (#"{"vehicle": "car", "action": "startTrip"}"#, "tripID"),
            (#"{"vehicle": "car", "action": "selectPreview", "tripID": ""}"#, "tripID"),
            (#"{"vehicle": "car", "action": "startTrip", "tripID": "t", "routeChoice": -1}"#, "routeChoice"),
        ])
        func `an action without a trip, or with a route that is no number, is refused`(
            _ body: String, _ field: String
        ) async throws {
            let desk = ActionDesk(.init())
            do throws(InspectorError) {
                _ = try await desk.act(Data(body.utf8))
                Issue.record("\(body) is wrong")
            } catch { #expect(error.code == .invalid && error.field == field, "\(error)") }
        }

        @Test func `a hidden trip is not named in what was done`() async throws {
            let gateway = try await Gateway.start()
            var settings = ActionDesk.Settings()
            settings.address = gateway.address("v")
            settings.isRedacted = true
            let desk = ActionDesk(settings)
            try await desk.act(#"{"vehicle": "car", "action": "startTrip", "tripID": "to the doctor"}"#)
            #expect(try await desk.seen().done.first?.text == "asked to start a trip")
            await desk.close()
            await gateway.stop()
        }
    }
#endif
