import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

@Suite struct MemoryTests {
    /// A road name of about `byteCount` bytes.
    private static func road(_ byteCount: Int) -> Publication {
        .currentRoadName([String(repeating: "x", count: byteCount)])
    }

    private static func maneuvers(_ range: Range<UInt32>) -> Publication {
        let maneuvers = range.map {
            Maneuver(
                id: ManeuverID(rawValue: $0), type: .leftTurn,
                instructionVariants: [String(repeating: "y", count: 400)])
        }
        return .addManeuvers(maneuvers, generation: 1)
    }

    @Test
    func
        `over the memory limit a publication is rejected with its field, and the session continues unchanged`()
        throws
    {
        var world = World { $0.limits.retainedBytesMax = 3_000 }
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.publish(client, session, Self.maneuvers(10..<14))
        let full = world.gateway.memory.total.retained
        world.mail[car] = []
        world.publish(client, session, Self.maneuvers(14..<18))
        guard case .error(let rejection) = world.messages(client).last else {
            Issue.record("it was taken")
            return
        }
        #expect(rejection.code == .limitReached && rejection.field == "maneuvers" && rejection.sequence == 3)
        #expect(world.messages(car).isEmpty && world.gateway.memory.total.retained == full)
        // Nothing of it was applied: the same ids may come again.
        world.publish(client, session, .upcomingManeuvers([ManeuverID(rawValue: 14)], generation: 1))
        #expect(world.errors(client).last == .unknownReference)
        // A new route takes the place of the old one, whatever there was.
        world.publish(client, session, .pauseGuidance(.rerouting, description: []))
        world.publish(client, session, .resumeGuidance(generation: 2, .missedTurn, World.route))
        world.publish(client, session, .finishGuidance)
        #expect(world.messages(car).map(\.type) == [.pauseGuidance, .resumeGuidance, .finishGuidance])
        #expect(world.gateway.memory == MemoryLedger())
    }

    @Test(arguments: ["client", "user", "all"])
    func `sessions are bounded together`(_ together: String) throws {
        var world = World { policy in
            switch together {
            case "client": policy.limits.retainedBytesPerClientMax = 2_500
            case "user": policy.limits.retainedBytesPerUserMax = 2_500
            default: policy.limits.retainedBytesInAllMax = 2_500
            }
        }
        let first = world.arrive(1, World.client("a"))
        let second =
            together == "client"
            ? first : world.arrive(2, World.client("b"), principal: .user(together == "user" ? 1 : 2))
        let one = try world.guided(first, ["one"])
        let two = try world.guided(second, ["two"], request: "two")
        for session in [one, two] {
            world.publish(session == one ? first : second, session, Self.maneuvers(10..<13))
        }
        #expect(world.errors(second) == [.limitReached])
        world.publish(first, one, .finishGuidance)
        world.publish(second, two, Self.maneuvers(10..<13))
        #expect(world.errors(second) == [.limitReached])
    }

    @Test func `small frames count with what surrounds them`() {
        var retained = RetainedState()
        for sequence in UInt64(1)...100 {
            let envelope = Envelope(.publication(.addManeuvers([], generation: 1)), sequence: sequence)
            let outline = PublicationOutline(.addManeuvers, generation: 1, .maneuvers([]))
            let frame = Codec.encode(envelope)
            let expected = retained.byteCount + frame.bytes.count + 128
            #expect(retained.byteCount(afterEvent: frame, outline) == expected)
            retained.apply(event: frame, outline)
            #expect(retained.byteCount == expected)
        }
        #expect(retained.byteCount > 12_800)
        var limits = Outbox.Limits()
        limits.bytesMax = 10_000
        var outbox = Outbox(limits: limits)
        let verdicts = (UInt64(1)...100).map { outbox.append(OutboxTests.frame($0, size: 0), key: nil) }
        #expect(verdicts.count { $0 == .queued } == 10_000 / (24 + 128))
    }

    @Test(arguments: 0..<20) func `what will be retained is what is retained`(_ seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var retained = RetainedState()
        let publications: [Publication] = [
            .startGuidance(World.trip, generation: 1, World.route), Self.maneuvers(1..<3), Self.road(40),
            .upcomingManeuvers([], generation: 1), .maneuverState(.prepare, generation: 1),
            .pauseGuidance(.loading, description: ["a"]), .resumeGuidance(generation: 1, .unknown, nil),
            .resumeGuidance(generation: 2, .unknown, World.route), .dismissAlert(1, .timeout),
            .showAlert(NavigationAlert(id: 1, titleVariants: ["t"])), .finishGuidance,
            .maneuverEstimates(
                ManeuverID(rawValue: 1), TravelEstimates(distanceRemaining: .meters(1)), generation: 1),
        ]
        for sequence in UInt64(1)...200 {
            guard let publication = publications.randomElement(using: &random) else { return }
            let frame = Codec.encode(Envelope(.publication(publication), sequence: sequence))
            if let key = publication.outline.conflationKey {
                let place = retained.location(of: key)
                let expected = retained.byteCount(after: frame.header, at: place)
                retained.apply(frame, key, at: place)
                #expect(retained.byteCount == expected)
            } else {
                let expected = retained.byteCount(afterEvent: frame, publication.outline)
                retained.apply(event: frame, publication.outline)
                #expect(retained.byteCount == expected)
            }
            #expect(retained.byteCount == retained.frames.reduce(0) { $0 + $1.bytes.count + 128 })
            #expect(retained.frames.map(\.header.sequence).max() ?? 0 <= sequence)
        }
    }

    @Test func `frames kept for resumption are bounded in all, and less of them is a snapshot`() throws {
        var world = World { policy in
            policy.limits.replayBytesMax = 4_000
            policy.limits.replayBytesInAllMax = 6_000
        }
        world.arrive(1, World.endpoint("one"))
        world.arrive(2, World.endpoint("one", "hud") { $0.preferences.distanceUnits = .metric })
        let client = world.arrive(3, World.client("app"))
        let one = try world.guided(client, ["one"])
        let car = world.arrive(4, World.endpoint("two"))
        let two = try world.guided(client, ["two"], request: "two")
        for count in 0..<60 {
            world.publish(client, one, Self.road(100 + count))
            world.publish(client, two, Self.road(100 + count))
            #expect(world.gateway.memory.total.replay <= 6_000)
        }
        world.handle(.departed(car, clean: false))
        let token = world.welcomes[car]?.resumptionToken
        let back = world.arrive(5, World.endpoint("two"), token: token, resume: (two, 20))
        #expect(
            world.messages(back).map(\.type) == [
                .snapshotBegin, .startGuidance, .currentRoadName, .snapshotEnd,
            ])
        for session in [one, two] { world.publish(client, session, .finishGuidance) }
        #expect(world.gateway.memory == MemoryLedger())
    }

    @Test func `a publication that was fitted into several frames is forgotten as a whole`() {
        var ring = ReplayRing(after: 0)
        for sequence in [1, 2, 2, 3] as [UInt64] {
            let frame = PublishedFrames(OutboxTests.frame(sequence), .init(.currentRoadName))
            ring.append(frame, byteCountMax: 400)
        }
        // 162 bytes each: the fourth makes the second go, and with it the third.
        #expect(ring.frames(after: 2)?.map(\.header.sequence) == [3])
        #expect(ring.frames(after: 1) == nil)
    }

    @Test func `nothing that is kept or waits pins what it was read with`() throws {
        var world = World()
        let client = world.arrive(1, World.client("app"))
        world.arrive(2, World.endpoint("car"))
        world.arrive(3, World.endpoint("car", "hud") { $0.limits.currentRoadNameLengthMax = 90 })
        let session = try world.guided(client, ["car"])
        // One small frame in a read of a megabyte.
        let envelope = Envelope(.publication(.currentRoadName(["A 14"])), session: session, sequence: 2)
        let small = Codec.encode(envelope)
        let read = Array(small.bytes) + [UInt8](repeating: 0, count: 1 << 20)
        var frames = PublishedFrames(readInto: read)
        frames.append(read: small.header, at: 0, .init(.currentRoadName))
        var actions: [Gateway.Action] = []
        world.gateway.handle(.published(client, frames), at: world.now, into: &actions)
        let published = actions.flatMap { action -> [Frame] in
            if case .publish(_, let frames) = action { frames.frames.map(\.frame) } else { [] }
        }
        let retained = world.gateway.sessions[session]?.retained.frames ?? []
        #expect(published.count == 2 && retained.count == 2)
        read.withUnsafeBufferPointer { whole in
            for kept in published + retained {
                kept.bytes.withUnsafeBufferPointer { part in
                    let isInside = part.baseAddress.map { start in
                        start >= whole.baseAddress! && start < whole.baseAddress! + whole.count
                    }
                    #expect(isInside == false)
                }
            }
        }
    }

    @Test func `peers and vehicles are bounded, also those that may come back`() {
        var world = World { policy in
            policy.limits.peersMax = 4
            policy.limits.peersPerUserMax = 2
            policy.limits.vehiclesMax = 2
        }
        world.arrive(1, World.client("a"))
        let second = world.arrive(2, World.client("b"))
        world.handle(.departed(second, clean: false))
        world.arrive(3, World.client("c"))
        #expect(world.goodbyes[ConnectionID(3)] == .resourceLimit)
        world.arrive(4, World.client("c"), principal: .user(2))
        world.arrive(5, World.endpoint("car"), principal: .user(2))
        world.arrive(6, World.endpoint("bus"), principal: .user(3))
        #expect(world.goodbyes.count == 2 && world.goodbyes[ConnectionID(6)] == .resourceLimit)
        // Who is known may come back, and one who has gone makes room.
        world.wait(.seconds(31))
        world.arrive(7, World.client("c2"))
        #expect(world.goodbyes[ConnectionID(7)] == nil)
        // One more vehicle fits; the second that a session would wait for does not.
        #expect(world.guide(ConnectionID(1), ["car", "van", "bike"]) != nil)
        guard case .sessionOpened(let opened)? = world.messages(ConnectionID(1)).first else { return }
        #expect(
            opened.vehicles.map(\.standing) == [.joined, .awaited, .refused(.limitReached)])
    }
}
