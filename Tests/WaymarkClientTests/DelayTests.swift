import Testing
import WaymarkClient

/// How long publications take to a display over sockets, by the real clock.
@Suite(.timeLimit(.minutes(5))) struct DelayTests {
    @Test func `a display that takes 20 milliseconds is measured to take them`() async throws {
        let service = try await Service.start()
        let configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "cluster")
        let cluster = try await VehicleEndpoint.connect(to: service.vehicle, configuration)
        let updates = await cluster.updates
        let display = Task {
            for await update in updates {
                try await Task.sleep(for: .milliseconds(20))
                await cluster.markShown(update.sequence)
            }
        }
        let client = try await navigation("app", at: service.navigation)
        let session = try await client.openSession(
            vehicles: .vehicles(["car"]), receipts: .milliseconds(100))
        let events = await session.events
        try await session.start(trip, route: route)
        let road = Task {
            for number in 1...10_000 {
                try await session.setCurrentRoadName(["road \(number)"])
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        var (received, shown): ([Duration], [Duration]) = ([], [])
        for await case .received(_, let receipts) in events {
            received += receipts.compactMap(\.receivedDelay)
            shown += receipts.compactMap(\.shownDelay)
            if received.count >= 10, shown.count >= 10 { break }
        }
        road.cancel()
        display.cancel()
        // A busy machine makes it longer, and the clocks are compared less exactly; another clock would be off by hours.
        let median = shown.sorted()[shown.count / 2]
        #expect((Duration.milliseconds(10)...Duration.seconds(10)).contains(median), "\(shown)")
        #expect(received.allSatisfy { $0 < .seconds(10) }, "\(received)")
        await client.close()
        await cluster.close()
        await service.stop()
    }
}
