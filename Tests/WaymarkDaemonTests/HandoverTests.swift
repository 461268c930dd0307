import Foundation
import Systemd
import Testing
import WaymarkClient
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

/// The built `waymarkd`, whose next process has a reason not to go on with everything.
@Suite(.timeLimit(.minutes(10)), .enabled(if: FileManager.default.isExecutableFile(atPath: executable.path)))
struct HandoverTests {
    /// What becomes of a state between two processes.
    enum Damage: CaseIterable {
        case otherFormat, oneByte, cutShort, unsealed

        var reason: String {
            switch self {
            case .otherFormat: "written in format \(GatewayState.format + 1)"
            case .oneByte: "damaged"
            case .cutShort: "not whole"
            case .unsealed: "it is not sealed"
            }
        }

        /// A parcel with the same sockets and this done to the state; `parcel` is empty then.
        func done(to parcel: CInt) throws -> CInt {
            let descriptors = try Parcel.unpack(parcel)
            defer { for descriptor in descriptors { close(descriptor) } }
            let memory = try self.memory(try #require(try SealedMemory.read(descriptors[0])))
            defer { close(memory) }
            return try Parcel.pack([memory] + descriptors.dropFirst())
        }

        private func memory(_ state: [UInt8]) throws -> CInt {
            var state = state
            switch self {
            case .otherFormat: state[4] += 1
            case .oneByte: state[state.count / 2] ^= 1
            case .cutShort: state.removeLast()
            case .unsealed:
                let file = try #require(tmpfile())
                defer { fclose(file) }
                let memory = dup(fileno(file))
                #expect(write(memory, state, state.count) == state.count)
                return memory
            }
            return try SealedMemory.make(state, name: "damaged")
        }
    }

    @Test(arguments: Damage.allCases)
    func `a state that cannot be read is refused with a warning, and everybody comes back`(
        _ damage: Damage
    ) async throws {
        let folder = try Folder()
        let manager = try StoringManager()
        let unit = try UnitSocket("a", .unix(path: folder.path("a")))
        let settings = try folder.configuration(
            "listeners: [{socket: a, roles: [vehicle, navigation]}]")
        let first = try ActivatedRun([unit], settings, under: manager)
        let address = ServiceAddress.unix(path: folder.path("a"))
        let (endpoint, states, connections) = try await Self.endpoint("early", at: address)
        let client = try await NavigationClient.connect(to: address, .init(id: "app"))
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
        let trip = Trip(id: "t", origin: place, destination: place)
        let maneuvers = (1...3).map { Maneuver(id: ManeuverID(rawValue: $0), type: .leftTurn) }
        try await session.start(trip, route: RouteInformation(maneuvers: maneuvers))
        try await session.setCurrentRoadName(["before"])
        for await state in states where state.currentRoadName == ["before"] { break }

        let left = try manager.end(first)
        defer { close(left) }
        let damaged = try damage.done(to: left)
        defer { close(damaged) }
        let next = try ActivatedRun([unit], settings, under: manager, continuing: damaged)
        let warning = try #require(
            next.lines.first { $0.contains("cannot go on with what the process before") })
        #expect(warning.contains(" warning ") && warning.contains(damage.reason))

        try await session.setCurrentRoadName(["after"])
        var held = VehicleState()
        for await state in states where state.currentRoadName == ["after"] && state.sequence > 0 {
            held = state
            break
        }
        #expect(held.trip == trip && held.maneuvers == maneuvers && held.phase == .active)
        // It has come back, to a gateway that did not know it.
        for await state in connections where state == .connected(resumed: false) { break }
        let (late, lateStates, _) = try await Self.endpoint("late", at: address)
        for await state in lateStates where state.currentRoadName == ["after"] && state.sequence > 0 {
            #expect(state == held)
            break
        }
        for endpoint in [endpoint, late] { await endpoint.close() }
        await client.close()
        kill(next.identifier, SIGTERM)
        #expect(next.status() == 0)
    }

    @Test func `whom the settings of today do not allow gets a Goodbye, and the rest goes on`() throws {
        let folder = try Folder()
        let manager = try StoringManager()
        let unit = try UnitSocket("a", .unix(path: folder.path("a")))
        let before = try folder.configuration(
            """
            listeners:
              - {socket: a, roles: [vehicle, navigation]}
              - {address: "unix:\(folder.path("b"))", roles: [vehicle, navigation]}
              - {address: "unix:\(folder.path("gone"))", roles: [vehicle]}
            """)
        let first = try ActivatedRun([unit], before, under: manager)
        // Whoever is welcome at the one that was handed over may be before the others are there.
        try #require(first.says(folder.path("gone")))
        let stays = try RawSocket.welcomed(unit.address, endpointHello("cluster", of: "car"))
        let other = try RawSocket.welcomed(.unix(path: folder.path("b")), endpointHello("cluster", of: "van"))
        let roleless = try RawSocket.welcomed(unit.address, navigationHello)
        // Has been accepted once the next one is welcome.
        let silent = try RawSocket(.unix(path: folder.path("gone")))
        let listenerless = try RawSocket.welcomed(
            .unix(path: folder.path("gone")), endpointHello("cluster", of: "bus"))
        let left = try manager.end(first)
        defer { close(left) }
        // As many connections as there are would not be taken any more.
        let after = try folder.configuration(
            """
            listeners:
              - {socket: a, roles: [vehicle]}
              - {address: "unix:\(folder.path("b"))", roles: [vehicle, navigation]}
            limits: {connections: 2}
            """)
        let next = try ActivatedRun([unit], after, under: manager, continuing: left)
        #expect(try roleless.goodbye()?.code == .roleNotAllowed)
        for peer in [listenerless, silent] { #expect(try peer.goodbye()?.code == .shuttingDown) }
        for peer in [listenerless, silent, roleless] { peer.close() }
        #expect(folder.status("gone") == nil)
        let wentOn = try #require(next.lines.first { $0.contains("went on with the connections") })
        #expect(wentOn.contains("count=2 ") && wentOn.contains("limit=5"))
        for peer in [stays, other] {
            #expect(try peer.isAnswered())
        }
        kill(next.identifier, SIGTERM)
        for peer in [stays, other] { #expect(try peer.goodbye()?.code == .shuttingDown) }
        for peer in [stays, other] { peer.close() }
        #expect(next.status() == 0)
    }

    @Test func `a user who may not guide any more gets a Goodbye, and its vehicle stays`() throws {
        let folder = try Folder()
        let manager = try StoringManager()
        let unit = try UnitSocket("a", .unix(path: folder.path("a")))
        let listeners = "listeners: [{socket: a, roles: [vehicle, navigation]}]"
        let first = try ActivatedRun([unit], folder.configuration(listeners), under: manager)
        let vehicle = try RawSocket.welcomed(unit.address, vehicleHello)
        let client = try RawSocket.welcomed(unit.address, navigationHello)
        let left = try manager.end(first)
        defer { close(left) }
        let after = try folder.configuration(
            "\(listeners)\nlimits: {connections: 1}\nnavigation-users: [\(getuid() + 1)]")
        let next = try ActivatedRun([unit], after, under: manager, continuing: left)
        #expect(try client.goodbye()?.code == .notAuthorized)
        // There is one connection more than may come.
        let late = try RawSocket(unit.address)
        #expect(try late.goodbye()?.code == .tooManyConnections)
        #expect(try vehicle.isAnswered())
        kill(next.identifier, SIGKILL)
    }

    /// An endpoint of the vehicle `car`; what it holds, from change to change, and how its connection is.
    private static func endpoint(
        _ name: String, at address: ServiceAddress
    ) async throws -> (VehicleEndpoint, AsyncStream<VehicleState>, AsyncStream<WaymarkClient.ConnectionState>)
    {
        let (states, state) = AsyncStream.makeStream(of: VehicleState.self)
        let (connections, connection) = AsyncStream.makeStream(of: WaymarkClient.ConnectionState.self)
        var configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: name)
        configuration.onEveryUpdate = { state.yield($0.state) }
        let endpoint = try await VehicleEndpoint.connect(to: address, configuration)
        let feed = await endpoint.connectionStates
        Task { for await state in feed { connection.yield(state) } }
        return (endpoint, states, connections)
    }
}
