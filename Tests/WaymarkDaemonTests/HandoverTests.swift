import Foundation
import ListeningSockets
import Systemd
import Testing
import WaymarkClient
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

/// Restarts of the built `waymarkd` in which the next process cannot take over everything.
@Suite(.timeLimit(.minutes(10)), .enabled(if: FileManager.default.isExecutableFile(atPath: executable.path)))
struct HandoverTests {
    /// How the state is damaged between two processes.
    enum Damage: CaseIterable {
        case olderFormat, newerFormat, oneByte, cutShort, unsealed

        var reason: String {
            switch self {
            case .olderFormat: "written in format \(GatewayState.format - 1)"
            case .newerFormat: "written in format \(GatewayState.format + 1)"
            case .oneByte: "damaged"
            case .cutShort: "truncated, or followed by extra bytes"
            case .unsealed: "its memory is not sealed"
            }
        }

        /// A parcel with the same sockets and the damaged state. Empties `parcel`.
        func apply(to parcel: CInt) throws -> CInt {
            let descriptors = try Parcel.unpack(parcel)
            defer { for descriptor in descriptors { close(descriptor) } }
            let memory = try self.memory(try #require(try SealedMemory.read(descriptors[0])))
            defer { close(memory) }
            return try Parcel.pack([memory] + descriptors.dropFirst())
        }

        private func memory(_ state: [UInt8]) throws -> CInt {
            var state = state
            switch self {
            case .olderFormat: state[4] -= 1
            case .newerFormat: state[4] += 1
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
    func `an unreadable state is refused with a warning, and all peers reconnect`(
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

        let parcel = try manager.end(first)
        defer { close(parcel) }
        let damaged = try damage.apply(to: parcel)
        defer { close(damaged) }
        let next = try ActivatedRun([unit], settings, under: manager, continuing: damaged)
        let warning = try #require(
            next.lines.first { $0.contains("cannot take over connections from the previous process") })
        #expect(warning.contains(" warning ") && warning.contains(damage.reason))

        try await session.setCurrentRoadName(["after"])
        var held = VehicleState()
        for await state in states where state.currentRoadName == ["after"] && state.sequence > 0 {
            held = state
            break
        }
        #expect(held.trip == trip && held.maneuvers == maneuvers && held.phase == .active)
        // The endpoint reconnected to a gateway that did not know it.
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

    @Test func `peers that the new settings do not allow get a Goodbye, and the others stay connected`()
        throws
    {
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
        // Peers of the inherited socket may be admitted before the other listeners are open.
        try #require(first.says(folder.path("gone")))
        let stays = try RawSocket.welcomed(unit.address, endpointHello("cluster", of: "car"))
        let other = try RawSocket.welcomed(.unix(path: folder.path("b")), endpointHello("cluster", of: "van"))
        let roleless = try RawSocket.welcomed(unit.address, navigationHello)
        // It has been accepted when the next peer is admitted.
        let silent = try RawSocket(.unix(path: folder.path("gone")))
        let listenerless = try RawSocket.welcomed(
            .unix(path: folder.path("gone")), endpointHello("cluster", of: "bus"))
        let parcel = try manager.end(first)
        defer { close(parcel) }
        // The new limit is lower than the number of connections.
        let after = try folder.configuration(
            """
            listeners:
              - {socket: a, roles: [vehicle]}
              - {address: "unix:\(folder.path("b"))", roles: [vehicle, navigation]}
            limits: {connections: 2}
            """)
        let next = try ActivatedRun([unit], after, under: manager, continuing: parcel)
        #expect(try roleless.goodbye()?.code == .roleNotAllowed)
        for peer in [listenerless, silent] { #expect(try peer.goodbye()?.code == .shuttingDown) }
        for peer in [listenerless, silent, roleless] { peer.close() }
        #expect(folder.status("gone") == nil)
        let tookOver = try #require(next.lines.first { $0.contains("took over connections") })
        #expect(tookOver.contains("count=2 ") && tookOver.contains("limit=5"))
        for peer in [stays, other] {
            #expect(try peer.isAnswered())
        }
        kill(next.identifier, SIGTERM)
        for peer in [stays, other] { #expect(try peer.goodbye()?.code == .shuttingDown) }
        for peer in [stays, other] { peer.close() }
        #expect(next.status() == 0)
    }

    @Test func `a client whose user is no longer allowed gets a Goodbye, and its vehicle stays connected`()
        throws
    {
        let folder = try Folder()
        let manager = try StoringManager()
        let unit = try UnitSocket("a", .unix(path: folder.path("a")))
        let listeners = "listeners: [{socket: a, roles: [vehicle, navigation]}]"
        let first = try ActivatedRun([unit], folder.configuration(listeners), under: manager)
        let vehicle = try RawSocket.welcomed(unit.address, vehicleHello)
        let client = try RawSocket.welcomed(unit.address, navigationHello)
        let parcel = try manager.end(first)
        defer { close(parcel) }
        let after = try folder.configuration(
            """
            \(listeners)
            limits: {connections: 1}
            rules: [{allow: navigation, user: \(getuid() + 1)}, {allow: vehicle}]
            """)
        let next = try ActivatedRun([unit], after, under: manager, continuing: parcel)
        #expect(try client.goodbye()?.code == .rulesChanged)
        // The connection limit is already reached.
        let late = try RawSocket(unit.address)
        #expect(try late.goodbye()?.code == .tooManyConnections)
        #expect(try vehicle.isAnswered())
        kill(next.identifier, SIGKILL)
    }

    /// Connects an endpoint of the vehicle `car`; returns it with its states and connection states.
    private static func endpoint(
        _ name: String, at address: ServiceAddress
    ) async throws -> (VehicleEndpoint, AsyncStream<VehicleState>, AsyncStream<ConnectionState>) {
        let (states, state) = AsyncStream.makeStream(of: VehicleState.self)
        let (connections, connection) = AsyncStream.makeStream(of: ConnectionState.self)
        var configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: name)
        configuration.onEveryUpdate = { state.yield($0.state) }
        let endpoint = try await VehicleEndpoint.connect(to: address, configuration)
        let feed = await endpoint.connectionStates
        Task { for await state in feed { connection.yield(state) } }
        return (endpoint, states, connections)
    }
}
