import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

/// Clients that take small frames.
@Suite struct ClientSizeTests {
    private static func byteCount(_ envelope: Envelope) -> Int { Codec.encode(envelope).bytes.count }

    private static func client(_ name: String, _ frameBytesMax: UInt32) -> Hello.Role {
        var hello = NavigationHello(client: ClientID(unchecked: name), features: Set(Feature.allCases))
        hello.receiveFrameBytesMax = frameBytesMax
        return .navigation(hello)
    }

    /// The messages that a client reads of what it is sent.
    private static func joined(_ mail: [Envelope]) throws -> [Message] {
        var partial = PartialMessage()
        return try mail.compactMap { try partial.add($0, byteCount: self.byteCount($0))?.message }
    }

    /// A place whose request has more than 8 KiB.
    private static let place: Waypoint = {
        var place = World.place
        place.nameVariants = (0..<8).map { String(repeating: "n", count: 500 + $0) }
        place.addressVariants = (0..<8).map { String(repeating: "a", count: 500 + $0) }
        return place
    }()

    /// Two worlds, each with a client: the first one takes small frames, the second one any.
    private static func worlds(
        _ change: (inout Gateway.Policy) -> Void = { _ in }
    ) -> [(World, ConnectionID)] {
        [UInt32(4_096), 0].map { frameBytesMax in
            var world = World(change)
            let app = world.arrive(2, self.client("app", frameBytesMax))
            return (world, app)
        }
    }

    @Test func `a client is told of a session with many vehicles in frames that it takes`() throws {
        let names = (0..<200).map { "a-vehicle-with-a-rather-long-name-\($0)" }
        var told: [[Message]] = []
        for (world, app) in Self.worlds() {
            var world = world
            for number in 0..<20 {
                world.arrive(UInt64(100 + number), World.endpoint(names[number]))
            }
            let ids = names.map { VehicleID(unchecked: $0) }
            let opening = OpenSession(requestID: "r", vehicles: .vehicles(ids))
            world.handle(.received(app, .openSession(opening), .none))
            let mail = world.mail[app] ?? []
            if told.isEmpty {
                #expect(mail.allSatisfy { Self.byteCount($0) <= 4_096 })
                #expect(mail.contains { $0.flags == .more && $0.message.type == .sessionOpened })
            } else {
                #expect(mail.allSatisfy { $0.flags.isEmpty })
            }
            told.append(try Self.joined(mail))
        }
        #expect(told[0] == told[1])
    }

    @Test func `a vehicle with many endpoints is told in frames that the client takes`() throws {
        let count = 40
        var told: [[Message]] = []
        for (world, app) in Self.worlds({ $0.limits.endpointsPerVehicleMax = count }) {
            var world = world
            let ids = [VehicleID(unchecked: "car")]
            world.handle(
                .received(app, .openSession(OpenSession(requestID: "r", vehicles: .vehicles(ids))), .none))
            for number in 0..<count {
                let name = "endpoint-\(number)-" + String(repeating: "x", count: 40)
                world.arrive(
                    UInt64(100 + number),
                    World.endpoint("car", name) {
                        $0.features = []
                        $0.preferences.locale = "de-LI-x-a-locale-of-thirty-bytes"
                    })
            }
            let mail = world.mail[app] ?? []
            if told.isEmpty {
                #expect(mail.allSatisfy { Self.byteCount($0) <= 4_096 })
                #expect(mail.contains { $0.flags == .more && $0.message.type == .vehicleChanged })
            }
            let read = try Self.joined(mail)
            guard case .vehicleChanged(let status) = read.last else {
                Issue.record("\(String(describing: read.last))")
                return
            }
            #expect(status.endpoints.count == count)
            told.append(read)
        }
        #expect(told[0] == told[1])
    }

    @Test func `a request comes with one name if the client takes small frames, and whole if not`() throws {
        for (isSmall, (start, app)) in zip([true, false], Self.worlds()) {
            var world = start
            let car = world.arrive(1, World.endpoint("car"))
            let session = try world.guided(app, ["car"])
            world.mail[app] = []
            let request = WaypointRequest(requestID: "stop", waypoint: Self.place)
            world.receive(.waypointRequest(request), from: car)
            let envelope = try #require(world.mail[app]?.first { $0.message.type == .waypointRequest })
            guard case .waypointRequest(let forwarded) = envelope.message else { return }
            #expect(envelope.session == session)
            #expect(forwarded.vehicle == VehicleID(unchecked: "car"))
            #expect(forwarded.requestID == "stop")
            if isSmall {
                #expect(envelope.flags == .fitted)
                #expect(Self.byteCount(envelope) <= 4_096)
                #expect(forwarded.waypoint.nameVariants == [Self.place.nameVariants[0]])
            } else {
                #expect(envelope.flags == [])
                #expect(forwarded.waypoint == Self.place)
            }
        }
    }

    @Test func `a request for a drive comes in a frame that the client takes`() throws {
        let (start, app) = Self.worlds()[0]
        var world = start
        let car = world.arrive(1, World.endpoint("car"))
        world.receive(
            .destinationRequest(DestinationRequest(requestID: "drive", destination: Self.place)), from: car)
        let envelope = try #require(world.mail[app]?.first { $0.message.type == .destinationRequest })
        #expect(Self.byteCount(envelope) <= 4_096)
        #expect(envelope.flags == .fitted && envelope.session == .none)
    }
}
