import Foundation
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// An observer beside real peers of a real gateway.
@Suite(.timeLimit(.minutes(10))) struct ObservedDriveTests {
    /// Reads until `pick` picks.
    private func first<Value>(
        of updates: Feed<GatewayUpdate>, _ pick: (GatewayUpdate) -> Value?
    ) async -> Value? {
        for await update in updates { if let value = pick(update) { return value } }
        return nil
    }

    @Test func `a drive is told from its beginning to its end`() async throws {
        let service = try await Service.start()
        var configuration = Observer.Configuration()
        configuration.includesFrames = true
        let observer = try await Observer.connect(to: service.observer, configuration)
        let updates = await observer.updates
        let (car, witness) = try await Witness.endpoint("cluster", at: service.vehicle)
        let client = try await navigation("app", at: service.navigation)
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        try await session.start(trip, route: route)
        await witness.wait { $0.phase == .active }
        let started = await self.first(of: updates) { update -> ObservedFrame? in
            guard case .frame(let frame) = update.content, frame.name == "startGuidance" else { return nil }
            return frame
        }
        #expect(started?.way == .from("app"))
        #expect(started?.vehicles == [VehicleID(unchecked: "car")])
        guard case .guidanceStarted(let told, let information)? = started?.content else {
            Issue.record("\(String(describing: started))")
            return
        }
        #expect(told == trip)
        #expect(information.maneuvers == route.maneuvers)
        let sent = await self.first(of: updates) { update -> ObservedFrame? in
            guard case .frame(let frame) = update.content, case .to = frame.way, frame.sequence == 1 else {
                return nil
            }
            return frame
        }
        #expect(sent?.way == .to(["car/cluster"]))
        let state = await observer.state
        #expect(state.gateway.showsContent)
        #expect(state.vehicle("car")?.session == state.sessions.first?.id)
        #expect(state.sessions.map(\.phase) == [.active])
        #expect(state.clients.map(\.id) == ["app"])
        #expect(state.retainedFrames(of: state.sessions[0].id).map(\.name).contains("startGuidance"))
        let counters = try await observer.counters(withMeasures: true)
        #expect(Set(counters.connections.map(\.peer)).isSubset(of: ["app", "car/cluster"]))
        #expect(counters.sessions.map(\.id) == state.sessions.map(\.id))
        #expect(counters.sessions[0].sequence >= 1 && counters.sessions[0].age != nil)
        #expect(counters[.publications] >= 1)
        #expect(counters[.sessions] == 1)
        #expect(counters[.observersConnected] == 1)
        try await session.finish()
        let end = await self.first(of: updates) { update -> GatewayEvent? in
            guard case .event(let event) = update.content, event.kind == .sessionEnded else { return nil }
            return event
        }
        #expect(end?.codeName == "finished")
        #expect(end?.vehicles == ["car"])
        await client.close()
        await car.close()
        await observer.close()
        await service.stop()
    }

    @Test func `an observer without the state is told only what it asks for`() async throws {
        let service = try await Service.start()
        var configuration = Observer.Configuration()
        (configuration.includesState, configuration.includesEvents) = (false, false)
        let observer = try await Observer.connect(to: service.observer, configuration)
        let client = try await navigation("app", at: service.navigation)
        let counters = try await observer.counters()
        #expect(counters[.clientsConnected] == 1)
        let state = await observer.state
        #expect(!state.gateway.instance.isEmpty && !state.gateway.software.isEmpty)
        #expect(state.clients.isEmpty)
        await client.close()
        await observer.close()
        await service.stop()
    }

    @Test func `an observer is connected again after a cut and misses nothing`() async throws {
        let service = try await Service.start()
        var configuration = Observer.Configuration()
        configuration.reconnection = quick
        let observer = try await Observer.connect(to: service.observer, configuration)
        let updates = await observer.updates
        #expect(await self.admitted(updates) == "")
        let (bus, _) = try await Witness.endpoint("cluster", at: service.vehicle, vehicle: "bus")
        #expect(await self.admitted(updates) == "bus/cluster")
        await observer.cut()
        let (car, _) = try await Witness.endpoint("cluster", at: service.vehicle)
        #expect(await self.admitted(updates) == "car/cluster")
        #expect(await observer.state.vehicles.map(\.id) == ["bus", "car"])
        await bus.close()
        await car.close()
        await observer.close()
        await service.stop()
    }

    /// The next peer that was admitted; empty if the state is told before, or updates are missing.
    private func admitted(_ updates: Feed<GatewayUpdate>) async -> String? {
        let peer = await self.first(of: updates) { update -> String? in
            switch update.content {
            case .event(let event): event.kind == .admitted ? event.peer : nil
            case .synchronized, .dropped, .missed: ""
            case .frame: nil
            }
        }
        return peer
    }

    @Test func `a listener without the role refuses an observer for good`() async throws {
        let service = try await Service.start()
        await #expect(
            throws: ClientError.refused(
                reason: "this listener does not accept the role observer", retryAfter: .seconds(600))
        ) {
            try await Observer.connect(to: service.vehicle)
        }
        await service.stop()
    }

    @Test func `withObserver closes the observer when its body throws`() async throws {
        struct Failure: Error {}
        let service = try await Service.start()
        let (observers, found) = AsyncStream.makeStream(of: Observer.self)
        await #expect(throws: Failure.self) {
            try await withObserver(to: service.observer) { observer in
                found.yield(observer)
                throw Failure()
            }
        }
        for await observer in observers {
            await #expect(throws: ClientError.closed) { try await observer.counters() }
            break
        }
        await service.stop()
    }
}
