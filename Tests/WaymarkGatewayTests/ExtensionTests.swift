import StateCoding
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

extension World {
    static let state: FrameHeader.Flags = [.skippable, .state]
    static let retained: FrameHeader.Flags = [.skippable, .state, .retained]

    /// Publishes a frame of a type that this build does not know, as the codec reads it.
    mutating func publish(
        _ client: ConnectionID, _ session: SessionID, unknown type: UInt16 = 0x01E5, key: UInt16 = 0,
        _ flags: FrameHeader.Flags, _ body: [UInt8]
    ) throws {
        self.sequences[session, default: 0] += 1
        let header = FrameHeader(
            type: type, flags: flags, key: key, session: session, sequence: self.sequences[session] ?? 0)
        let frame = Frame(header: header, body: body)
        self.handle(.published(client, PublishedFrames(frame, try Codec.outline(of: frame))))
    }

    /// The frames of unknown types that an endpoint was sent.
    func unknown(_ id: ConnectionID) -> [Frame] {
        (self.frames[id] ?? []).filter { $0.header.type == nil }
    }

    func bodies(_ id: ConnectionID) -> [[UInt8]] { self.unknown(id).map { Array($0.body) } }

    /// Hands the gateway over to another process.
    mutating func handOver() throws {
        let bytes = try StateCoder.encode(GatewayState(self.gateway), format: GatewayState.format)
        let state = try StateCoder.decode(GatewayState.self, from: bytes, format: GatewayState.format)
        let next = try #require(state.gateway(policy: self.gateway.policy, coder: Codec.coder))
        #expect(next == self.gateway)
        self.gateway = next
    }
}

/// Publications of types that the gateway does not know, which their client calls states.
@Suite struct ExtensionTests {
    /// An endpoint without limits, one with few slots, and one whose units change frames.
    private static let endpoints: [@Sendable (inout VehicleHello) -> Void] = [
        { _ in }, { $0.limits.maneuversStoredMax = 2 }, { $0.preferences.distanceUnits = .imperialFeet },
    ]

    @Test(arguments: endpoints.indices, [false, true])
    func `a late joiner gets the newest value of an unknown state once`(
        _ kind: Int, _ isHandedOver: Bool
    ) throws {
        var world = World()
        let early = world.arrive(1, World.endpoint("car", "cluster", Self.endpoints[kind]))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        for value in UInt8(1)...3 {
            try world.publish(client, session, key: 7, World.retained, [value])
            try world.publish(client, session, key: 8, World.retained, [10 + value])
            world.publish(client, session, .currentRoadName(["\(value)"]))
        }
        #expect(world.errors(client).isEmpty)
        #expect(world.bodies(early) == [[1], [11], [2], [12], [3], [13]])
        if isHandedOver { try world.handOver() }
        let late = world.arrive(3, World.endpoint("car", "late", Self.endpoints[kind]))
        #expect(world.unknown(late) == Array(world.unknown(early).suffix(2)))
        #expect(world.messages(late).last == .snapshotEnd)
        // Behind the snapshot as before.
        try world.publish(client, session, key: 7, World.retained, [4])
        #expect(world.bodies(late) == [[3], [13], [4]])
        #expect(world.unknown(late).last == world.unknown(early).last)
    }

    @Test func `a state that is not retained reaches connected endpoints and removes the kept one`() throws {
        var world = World()
        let early = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        let before = world.gateway.sessions[session]?.kept.retained
        try world.publish(client, session, .skippable, [1])
        try world.publish(client, session, key: 1, World.state, [2])
        try world.publish(client, session, key: 2, World.retained, [3])
        // With the same bytes, too: those who join later must not get it.
        try world.publish(client, session, key: 2, World.state, [3])
        #expect(world.bodies(early) == [[1], [2], [3], [3]])
        #expect(world.gateway.sessions[session]?.kept.retained == before)
        let late = world.arrive(3, World.endpoint("car", "late"))
        #expect(world.bodies(late).isEmpty)
    }

    @Test func `the same value is not sent again`() throws {
        var world = World()
        let early = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        for _ in 0..<2 {
            try world.publish(client, session, key: 1, World.retained, [1])
            try world.publish(client, session, key: 2, World.retained, [1])
            try world.publish(client, session, unknown: 0x01E6, key: 1, World.retained, [1])
        }
        #expect(world.unknown(early).map(\.header.key) == [1, 2, 1])
        #expect(world.gateway.counters.framesUnchanged == 3)
        #expect(world.errors(client).isEmpty)
    }

    @Test func `the 65th pair of type and key is rejected and uses its number up`() throws {
        var world = World()
        let early = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        for pair in UInt16(0)..<64 {
            let flags = pair % 3 == 0 ? World.state : World.retained
            try world.publish(
                client, session, unknown: 0x01E4 + pair % 2, key: pair / 2, flags, [UInt8(pair)])
        }
        #expect(world.errors(client).isEmpty)
        try world.handOver()
        try world.publish(client, session, unknown: 0x01E2, World.state, [64])
        guard case .error(let rejection)? = world.messages(client).last else {
            Issue.record("no error")
            return
        }
        #expect(rejection.code == .limitReached && rejection.field == "key")
        #expect(rejection.messageType == 0x01E2 && rejection.sequence == 66)
        try world.publish(client, session, unknown: 0x01E5, key: 0, World.retained, [99])
        #expect(world.bodies(early).last == [99])
        // Events need no key, and StartGuidance makes room.
        try world.publish(client, session, unknown: 0x01E2, .skippable, [1])
        world.publish(client, session, .startGuidance(World.trip, generation: 2, World.route))
        try world.publish(client, session, unknown: 0x01E2, World.state, [2])
        #expect(world.errors(client).count == 1)
    }

    @Test func `StartGuidance removes extension states, a new route does not`() throws {
        var world = World()
        world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        let before = world.gateway.sessions[session]?.kept.retained
        try world.publish(client, session, World.retained, [1])
        world.publish(client, session, .pauseGuidance(.rerouting, description: []))
        world.publish(client, session, .resumeGuidance(generation: 2, .missedTurn, World.route))
        let late = world.arrive(3, World.endpoint("car", "late"))
        #expect(world.bodies(late) == [[1]])
        world.publish(client, session, .startGuidance(World.trip, generation: 3, World.route))
        let later = world.arrive(4, World.endpoint("car", "later"))
        #expect(world.bodies(later).isEmpty)
        #expect(world.errors(client).isEmpty)
        #expect(world.gateway.sessions[session]?.kept.retained == before)
    }

    @Test func `an endpoint that resumes gets the states that it missed`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        try world.publish(client, session, key: 1, World.retained, [1])
        let token = world.welcomes[car]?.resumptionToken
        world.handle(.departed(car, clean: false))
        try world.publish(client, session, key: 2, World.retained, [2])
        try world.handOver()
        let back = world.arrive(3, World.endpoint("car"), token: token, resume: (session, 2))
        #expect(world.bodies(back) == [[2]])
    }

    @Test func `a client that resumes still has its states and its keys`() throws {
        var world = World()
        world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        for key in UInt16(0)..<64 { try world.publish(client, session, key: key, World.retained, [1]) }
        let token = world.welcomes[client]?.resumptionToken
        world.handle(.departed(client, clean: false))
        let back = world.arrive(3, World.client("app"), token: token)
        let late = world.arrive(4, World.endpoint("car", "late"))
        #expect(world.unknown(late).count == 64)
        try world.publish(back, session, key: 64, World.state, [1])
        #expect(world.errors(back) == [.limitReached])
    }

    @Test func `RETAINED needs STATE`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        try world.publish(client, session, [.skippable, .retained], [1])
        try world.publish(client, SessionID(session.rawValue + 1), [.skippable, .retained], [1])
        #expect(world.errors(client) == [.outOfRange, .outOfRange])
        #expect(world.bodies(car).isEmpty)
        // The number was used up.
        try world.publish(client, session, World.retained, [2])
        #expect(world.bodies(car) == [[2]])
    }

    @Test func `of a type that the gateway knows the flags and the key change nothing`() throws {
        var world = World()
        let plain = world.arrive(1, World.endpoint("car"))
        let fitted = world.arrive(
            2, World.endpoint("car", "fitted") { $0.limits.currentRoadNameLengthMax = 3 })
        let client = world.arrive(3, World.client("app"))
        let session = try world.guided(client, ["car"])
        for flags: FrameHeader.Flags in [.state, .retained, World.retained] {
            world.sequences[session, default: 0] += 1
            var header = FrameHeader(
                type: MessageType.currentRoadName.rawValue, flags: flags, key: 9, session: session,
                sequence: world.sequences[session] ?? 0)
            let body = Codec.encode(Envelope(.publication(.currentRoadName(["Road \(flags.rawValue)"])))).body
            header.bodyLength = UInt32(body.count)
            let frame = Frame(header: header, body: body)
            world.handle(.published(client, PublishedFrames(frame, try Codec.outline(of: frame))))
            #expect(world.mail[plain]?.last?.flags == flags)
            // A fitted frame says nothing of them.
            #expect(world.mail[fitted]?.last?.flags == flags.intersection(.skippable).union(.fitted))
        }
        #expect(world.errors(client).isEmpty)
        let late = world.arrive(4, World.endpoint("car", "late"))
        #expect(world.messages(late).count { $0.type == .currentRoadName } == 1)
    }

    @Test func `a state that is published while a snapshot is fitted comes behind it`() throws {
        var world = World()
        world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        try world.publish(client, session, key: 1, World.retained, [1])
        try world.publish(client, session, key: 2, World.retained, [2])
        for first in stride(from: UInt32(10), to: 1_010, by: 100) {
            let maneuvers = (first..<first + 100).map {
                Maneuver(
                    id: ManeuverID(rawValue: $0), type: .leftTurn,
                    instructionVariants: [String(repeating: "long ", count: 20)])
            }
            world.publish(client, session, .addManeuvers(maneuvers, generation: 1))
        }
        let late = ConnectionID(9)
        let role = World.endpoint("car", "late") { $0.limits.maneuversStoredMax = 50 }
        world.begin(.arrived(late, Hello(role: role), .user(1), token: ResumptionToken(high: 0, low: 77)))
        while world.gateway.sessions[session]?.snapshots.isEmpty == true {
            world.begin(.stepDue(of: late))
        }
        try #require(world.gateway.hasSteps(of: late))
        try world.publish(client, session, key: 1, World.retained, [3])
        while world.gateway.hasSteps(of: late) { world.begin(.stepDue(of: late)) }
        #expect(world.bodies(late) == [[1], [2], [3]])
    }
}
