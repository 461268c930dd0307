import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// Fields that this build does not know, in frames that are fitted.
@Suite struct UnknownFieldTests {
    /// Field 200 with one byte.
    private static func unknown(_ value: UInt8) -> [UInt8] { [0xC2, 0x0C, 1, value] }

    private static func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
        precondition(content.count < 16_384)
        let count =
            content.count < 128
            ? [UInt8(content.count)] : [UInt8(content.count & 127 | 128), UInt8(content.count >> 7)]
        return [number << 3 | 2] + count + content
    }

    /// A maneuver with an unknown field that is its id.
    private static func maneuver(_ id: UInt8) -> [UInt8] {
        [0x08, id, 0x10, 1] + Self.unknown(id)
    }

    private static let trip: [UInt8] = {
        let frame = Codec.encode(Envelope(.publication(.updateTrip(World.trip))))
        return Array(frame.body.dropFirst(2))
    }()

    private static func upcoming(_ ids: [UInt8]) -> [UInt8] { [0x08, 1] + Self.field(2, ids) }

    private struct Drive {
        var world: World
        let client: ConnectionID
        let session: SessionID

        init(
            _ change: (inout Gateway.Policy) -> Void = { _ in }, _ endpoints: (inout VehicleHello) -> Void...
        ) throws {
            self.world = World(change)
            for (index, change) in endpoints.enumerated() {
                self.world.arrive(UInt64(index + 1), World.endpoint("car", "e\(index)", change))
            }
            self.client = self.world.arrive(100, World.client("app"))
            let open = OpenSession(requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "car")]))
            self.world.handle(.received(self.client, .openSession(open), .none))
            self.session = try #require(self.world.opened(self.client, "r"))
        }

        mutating func publish(_ type: MessageType, _ body: [UInt8]) throws {
            self.world.sequences[self.session, default: 0] += 1
            let header = FrameHeader(
                type: type.rawValue, session: self.session,
                sequence: self.world.sequences[self.session] ?? 0)
            let frame = Frame(header: header, body: body)
            self.world.handle(.published(self.client, PublishedFrames(frame, try Codec.outline(of: frame))))
            #expect(self.world.errors(self.client).isEmpty)
        }

        /// Starts along a route with five maneuvers and unknown fields in all messages.
        mutating func start(_ maneuvers: [UInt8] = [1, 2, 3, 4, 5]) throws {
            let route = maneuvers.flatMap { field(1, maneuver($0)) } + field(5, [1]) + unknown(101)
            try self.publish(
                .startGuidance,
                field(1, UnknownFieldTests.trip + unknown(102)) + [0x10, 1] + field(3, route) + unknown(103))
        }

        /// The unknown fields of the frames that an endpoint got since the last call.
        mutating func take(_ id: UInt64) -> [(type: MessageType?, unknown: UnknownFields?)] {
            defer { self.world.frames[ConnectionID(id)] = [] }
            return (self.world.frames[ConnectionID(id)] ?? []).map {
                ($0.header.type, Codec.coder.decode($0)?.unknown)
            }
        }

        /// The maneuvers with their own unknown fields that an endpoint got since the last call.
        mutating func takeManeuvers(_ id: UInt64) -> [UInt32] {
            self.take(id).flatMap { frame in
                (frame.unknown?.parts ?? [:]).compactMap { part, bytes in
                    guard case .maneuver(let id) = part, bytes == unknown(UInt8(id.rawValue)) else {
                        return nil
                    }
                    return id.rawValue
                }
            }.sorted()
        }
    }

    @Test func `a maneuver that enters the window later has its unknown fields`() throws {
        var drive = try Drive({ _ in }, { $0.limits.maneuversStoredMax = 2 })
        try drive.start()
        let start = try #require(drive.take(1).last)
        #expect(start.type == .startGuidance)
        #expect(
            Set(start.unknown?.parts.keys.map(\.self) ?? []) == [
                .maneuver(.init(rawValue: 1)), .maneuver(.init(rawValue: 2)),
            ])
        // Those of the body, the trip and the route.
        for value in UInt8(101)...103 { #expect(start.unknown?.body.contains(value) == true) }
        try drive.publish(.upcomingManeuvers, Self.upcoming([2, 3]) + Self.unknown(104))
        let move = drive.take(1)
        #expect(move.map(\.type) == [.addManeuvers, .upcomingManeuvers])
        #expect(move[0].unknown?.parts == [.maneuver(.init(rawValue: 3)): Self.unknown(3)])
        #expect(move[0].unknown?.body == [] && move[1].unknown?.body == Self.unknown(104))
        try drive.publish(.addManeuvers, [0x08, 1] + Self.field(2, Self.maneuver(6)))
        #expect(drive.take(1).isEmpty)
        try drive.world.handOver()
        try drive.publish(.upcomingManeuvers, Self.upcoming([5, 6]))
        #expect(drive.takeManeuvers(1) == [5, 6])
        // Late joiners get the same.
        drive.world.arrive(9, World.endpoint("car", "late") { $0.limits.maneuversStoredMax = 2 })
        #expect(drive.takeManeuvers(9) == [5, 6])
    }

    @Test func `a new route forgets the unknown fields of the old one`() throws {
        var drive = try Drive({ _ in }, { $0.limits.maneuversStoredMax = 1 })
        try drive.start()
        let route = [UInt8(1), 2].flatMap { Self.field(1, [0x08, $0, 0x10, 1]) }
        try drive.publish(.startGuidance, Self.field(1, Self.trip) + [0x10, 2] + Self.field(3, route))
        _ = drive.take(1)
        try drive.publish(.upcomingManeuvers, [0x08, 2] + Self.field(2, [2]))
        #expect(drive.take(1).allSatisfy { $0.unknown == nil })
    }

    @Test func `estimates of a maneuver that enters the window have the newest unknown fields`() throws {
        var drive = try Drive({ _ in }, { $0.limits.maneuversStoredMax = 1 })
        try drive.start()
        func update(_ id: UInt8, _ unknown: [UInt8]) throws {
            let estimates = Self.field(3, [0x08, 9] + unknown)
            try drive.publish(.updateManeuverEstimates, [0x08, 1, 0x10, id] + estimates + unknown)
        }
        for id in UInt8(2)...3 { try update(id, Self.unknown(id)) }
        try update(3, [])
        _ = drive.take(1)
        try drive.publish(.upcomingManeuvers, Self.upcoming([2]))
        let second = drive.take(1).filter { $0.type == .updateManeuverEstimates }
        #expect(second.map { $0.unknown?.body } == [Self.field(3, Self.unknown(2)) + Self.unknown(2)])
        try drive.publish(.upcomingManeuvers, Self.upcoming([3]))
        let third = drive.take(1).filter { $0.type == .updateManeuverEstimates }
        #expect(third.count == 1 && third[0].unknown == nil)
    }

    @Test func `what is fitted by texts and units keeps unknown fields`() throws {
        var drive = try Drive(
            { _ in },
            {
                $0.limits.currentRoadNameLengthMax = 3
                $0.limits.destinationNameLengthMax = 2
                $0.preferences.distanceUnits = .imperialFeet
            })
        try drive.start()
        #expect(drive.takeManeuvers(1) == [1, 2, 3, 4, 5])
        let road = Self.field(1, Array("A long road".utf8)) + Self.unknown(1)
        try drive.publish(.currentRoadName, road)
        try drive.publish(.updateTrip, Self.field(1, Self.trip + Self.unknown(2)) + Self.unknown(3))
        let estimates = Self.field(1, [0x08, 9] + Self.unknown(4))
        try drive.publish(.updateTripEstimates, estimates)
        let bodies = drive.take(1).map { $0.unknown?.body }
        #expect(
            bodies == [
                Self.unknown(1), Self.field(1, Self.unknown(2)) + Self.unknown(3),
                Self.field(1, Self.unknown(4)),
            ])
    }

    @Test(arguments: [UInt32(0), 50])
    func `a route that is divided keeps all unknown fields, those of the body once`(_ slots: UInt32) throws {
        var drive = try Drive(
            { $0.limits.frameBytesMax = 4_096 },
            {
                $0.limits.maneuversStoredMax = slots
                $0.limits.maneuverInstructionLengthMax = 150
            })
        let words = Self.field(5, [UInt8](repeating: 0x61, count: 200))
        let route: [UInt8] = (UInt8(1)...50).flatMap { Self.field(1, Self.maneuver($0) + words) }
        let (low, high) = (route.count % 128 + 128, route.count / 128)
        let length = [UInt8(low), UInt8(high)]
        var body: [UInt8] = Self.field(1, Self.trip) + [0x10, 1, 0x1A]
        body += length
        body += route
        body += Self.unknown(9)
        try drive.publish(.startGuidance, body)
        let frames = drive.world.frames[ConnectionID(1)] ?? []
        #expect(frames.count > 3 && frames.allSatisfy { $0.bytes.count <= 4_096 })
        let parts = drive.take(1)
        #expect(parts.filter { $0.unknown?.body == Self.unknown(9) }.map(\.type) == [.startGuidance])
        #expect(Set(parts.flatMap { $0.unknown?.parts.keys.map(\.self) ?? [] }).count == 50)
    }

    @Test func `a frame that would be too long with its unknown fields comes without them`() throws {
        var drive = try Drive({ $0.limits.frameBytesMax = 4_096 }, { $0.limits.currentRoadNameLengthMax = 3 })
        try drive.start()
        _ = drive.take(1)
        let long = [0xC2, 0x0C, 0x90, 0x4E] + [UInt8](repeating: 1, count: 10_000)
        try drive.publish(.currentRoadName, Self.field(1, Array("A long road".utf8)) + long)
        let frames = drive.take(1)
        #expect(frames.map(\.type) == [.currentRoadName])
        #expect(frames.allSatisfy { $0.unknown == nil })
    }
}
