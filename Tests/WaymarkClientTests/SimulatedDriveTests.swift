import Testing
import WaymarkModel

@testable import WaymarkClient

/// A client that simulates drives, and those that ask it, at a real gateway.
@Suite(.timeLimit(.minutes(10))) struct SimulatedDriveTests {
    @Test func `an endpoint and an observer ask a client, which hears of it in order`() async throws {
        let service = try await Service.start()
        let observer = try await Observer.connect(to: service.observer)
        let (asked, ask) = AsyncStream.makeStream(of: SimulatedDrive.self)
        var navigating = NavigationClient.Configuration(id: "app")
        navigating.onSimulateDrive = { ask.yield($0) }
        let client = try await NavigationClient.connect(to: service.navigation, navigating)
        var rig = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "rig")
        rig.asksForSimulatedDrives = true
        let car = try await VehicleEndpoint.connect(to: service.vehicle, rig)
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        try await session.start(trip, route: route)
        for await state in await car.states where state.phase == .active { break }
        var heard = asked.makeAsyncIterator()
        await car.simulateDrive(.start, speedFactor: 20)
        let first = await heard.next()
        #expect(first?.action == .start && first?.speedFactor == 20)
        #expect(first?.vehicle == "car" && first?.endpoint == "rig")
        try await observer.simulateDrive(.stop, of: "app", vehicle: "car")
        try await observer.simulateDrive(.start, of: "app", speedFactor: 0.5)
        let second = await heard.next()
        #expect(second?.action == .stop && second?.vehicle == "car" && second?.endpoint == nil)
        let third = await heard.next()
        #expect(third?.action == .start && third?.speedFactor == 0.5 && third?.vehicle == nil)
        await client.close()
        await car.close()
        await observer.close()
        await service.stop()
    }

    @Test func `an observer is told why a client cannot be asked`() async throws {
        let service = try await Service.start()
        let observer = try await Observer.connect(to: service.observer)
        // It does not simulate drives.
        let client = try await navigation("app", at: service.navigation)
        for (name, vehicle) in [("app", nil), ("none", nil), ("app", "car")] as [(String, String?)] {
            do throws(ClientError) {
                try await observer.simulateDrive(.start, of: name, vehicle: vehicle)
                Issue.record("\(name) was asked")
            } catch {
                guard case .rejected = error else {
                    Issue.record("\(error)")
                    continue
                }
            }
        }
        await #expect(throws: ClientError.self) {
            try await observer.simulateDrive(.start, of: "not a name")
        }
        await client.close()
        await observer.close()
        await service.stop()
    }
}
