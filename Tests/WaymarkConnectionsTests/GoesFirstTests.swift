import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkConnections

/// What overtakes the frames that wait for a peer.
@Suite struct GoesFirstTests {
    private static let audience = AudienceID(1)
    private static let id = ConnectionID(1)

    private static let pong = Envelope(.pong(nonce: 9))
    private static let prompt = Envelope(.promptOver(PromptOver(requestID: "p", outcome: .timedOut)))
    private static let ended = Envelope(
        .sessionEnded(SessionEnded(session: LoopRig.session, reason: .userStopped)))

    private static func send(_ envelope: Envelope) -> Instruction { .send(Self.id, Codec.encode(envelope)) }

    private static func publish(_ sequences: ClosedRange<UInt64>, _ title: String = "Jam") -> Instruction {
        .publish(Self.audience, LoopRig.batch(sequences.map { LoopRig.alert($0, title) }))
    }

    /// An endpoint, or a client, for which alerts 2 and 3 wait behind the first, which its channel has.
    private static func slowPeer(isClient: Bool = false) throws -> (LoopRig, Int) {
        var rig = LoopRig()
        let slot = isClient ? try rig.client(1) : try rig.endpoint(1)
        rig.perform([.join(Self.id, Self.audience)])
        rig.setRoom(0, of: slot)
        rig.perform([Self.publish(1...3)])
        #expect(rig.portions(slot) == LoopRig.bytes([LoopRig.alert(1)]))
        return (rig, slot)
    }

    /// What the peer gets once it reads on.
    private static func rest(_ rig: inout LoopRig, _ slot: Int) -> [UInt8] {
        rig.setRoom(.max, of: slot)
        rig.channelWrote(slot)
        return rig.sent(slot)
    }

    private static let alerts = [LoopRig.alert(2), LoopRig.alert(3)]

    @Test func `an endpoint gets a Pong and a Prompt before the frames of its session that wait`() throws {
        var (rig, slot) = try Self.slowPeer()
        rig.perform([Self.send(Self.prompt)])
        rig.receive(slot, LoopRig.bytes([Envelope(.ping(nonce: 9))]))
        rig.perform([Self.publish(4...4)])
        #expect(
            Self.rest(&rig, slot)
                == LoopRig.bytes([Self.prompt, Self.pong] + Self.alerts + [LoopRig.alert(4)]))
        #expect(rig.core.waitingByteCount == 0)
    }

    @Test func `an endpoint gets the outcome of a request before the frames of its session, too`() throws {
        let car = VehicleID(unchecked: "v1")
        let outcome = Envelope(
            .requestOutcome(RequestOutcome(requestID: "r", vehicle: car, outcome: .accepted)))
        var (rig, slot) = try Self.slowPeer()
        rig.perform([.relay(Self.id, Codec.encode(outcome), .outcome(car, "r"))])
        #expect(Self.rest(&rig, slot) == LoopRig.bytes([outcome] + Self.alerts))
    }

    @Test
    func `a client gets nothing of a request that ends while it waits, and the gateway hears of no event`()
        throws
    {
        let car = VehicleID(unchecked: "v1")
        let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
        let request = Envelope(
            .destinationRequest(DestinationRequest(requestID: "r", destination: place, vehicle: car)))
        let outcome = Envelope(
            .requestOutcome(RequestOutcome(requestID: "r", vehicle: car, outcome: .withdrawn)))
        var (rig, slot) = try Self.slowPeer(isClient: true)
        _ = rig.take()
        rig.perform([
            .relay(Self.id, Codec.encode(request), .request(car, "r")),
            .relay(Self.id, Codec.encode(outcome), .outcome(car, "r")),
        ])
        for case .submit in rig.take() { Issue.record("something was submitted") }
        #expect(Self.rest(&rig, slot) == LoopRig.bytes(Self.alerts))
    }

    @Test func `the gateway hears of each event beyond a share, and its endpoint pays for that`() throws {
        let path = EndpointPath(vehicle: VehicleID(unchecked: "v2"), endpoint: EndpointName(unchecked: "e"))
        let sender = ConnectionID(2)
        let zoom = Envelope(.zoomCluster(ZoomCluster(direction: .in, source: path)), session: LoopRig.session)
        var (rig, slot) = try Self.slowPeer(isClient: true)
        _ = rig.take()
        let instruction = Instruction.relay(Self.id, Codec.encode(zoom), .event(path, sender))
        rig.perform(Array(repeating: instruction, count: 20))
        var events: [Gateway.Event] = []
        for case .submit(let submitted, let id, let cost, _) in rig.take() {
            #expect(id == sender && cost == GatewayCore.unreadCost)
            events += submitted
        }
        #expect(
            events
                == Array(
                    repeating: .eventRejected(sender, .zoomCluster, LoopRig.session, .count(16)), count: 4))
        #expect(Self.rest(&rig, slot) == LoopRig.bytes(Self.alerts + Array(repeating: zoom, count: 16)))
    }

    @Test func `a client gets a Pong first, and everything else in its order`() throws {
        var (rig, slot) = try Self.slowPeer(isClient: true)
        rig.perform([Self.send(Self.prompt), Self.send(Self.ended)])
        rig.receive(slot, LoopRig.bytes([Envelope(.ping(nonce: 9))]))
        #expect(
            Self.rest(&rig, slot) == LoopRig.bytes([Self.pong] + Self.alerts + [Self.prompt, Self.ended]))
    }

    @Test func `of the Acknowledgements of a session the last one waits, behind the Errors before it`()
        throws
    {
        func acknowledged(_ sequence: UInt64, _ session: UInt32) -> Envelope {
            Envelope(.acknowledgement(sequence: sequence), session: SessionID(session))
        }
        let error = Envelope(.error(Rejection(.outOfRange, reason: "too far")), session: SessionID(1))
        var (rig, slot) = try Self.slowPeer(isClient: true)
        for sequence in 1...1_000 as ClosedRange<UInt64> {
            rig.perform([
                Self.send(acknowledged(64 * sequence, 1)), Self.send(acknowledged(sequence, 2)),
            ])
        }
        rig.perform([Self.send(error), Self.send(acknowledged(64_001, 1))])
        let last = [acknowledged(1_000, 2), error, acknowledged(64_001, 1)]
        #expect(Self.rest(&rig, slot) == LoopRig.bytes(Self.alerts + last))
    }

    @Test func `SessionEnded goes before the frames of other sessions, and after the Prompts before it`()
        throws
    {
        var (rig, slot) = try Self.slowPeer()
        let other = Envelope(.sessionRestored, session: SessionID(8))
        rig.perform([
            Self.send(Self.prompt), Self.send(other), .purge(Self.id, LoopRig.session), Self.send(Self.ended),
            Self.send(Self.prompt),
        ])
        #expect(
            Self.rest(&rig, slot) == LoopRig.bytes([Self.prompt, Self.ended, Self.prompt, other]))
    }

    @Test func `with the end of no session all that waits of sessions is dropped`() throws {
        var (rig, slot) = try Self.slowPeer()
        let none = Envelope(.sessionEnded(SessionEnded(session: .none, reason: .userStopped)))
        rig.perform([
            Self.send(Envelope(.sessionRestored, session: SessionID(8))), Self.send(Self.prompt),
            .purge(Self.id, .none), Self.send(none),
        ])
        #expect(Self.rest(&rig, slot) == LoopRig.bytes([Self.prompt, none]))
    }

    @Test func `nothing follows the Goodbye of a gateway that shuts down`() throws {
        var (rig, slot) = try Self.slowPeer()
        rig.handle(.drainRequested(Goodbye(.shuttingDown)), on: slot)
        rig.receive(slot, LoopRig.bytes([Envelope(.ping(nonce: 9))]))
        #expect(
            Self.rest(&rig, slot) == LoopRig.bytes(Self.alerts + [Envelope(.goodbye(Goodbye(.shuttingDown)))])
        )
    }

    /// Every frame is longer than a portion.
    @Test func `a Pong waits for one frame at most`() throws {
        var rig = LoopRig(portionBytes: 64)
        let slot = try rig.endpoint(1)
        rig.perform([.join(Self.id, Self.audience)])
        rig.setRoom(0, of: slot)
        let title = String(repeating: "x", count: 300)
        rig.perform([Self.publish(1...3, title)])
        rig.receive(slot, LoopRig.bytes([Envelope(.ping(nonce: 9))]))
        var arrived: [UInt8] = []
        for _ in 0..<100 {
            arrived += rig.portions(slot)
            rig.channelWrote(slot)
        }
        let alerts = (1...3).map { LoopRig.alert($0, title) }
        #expect(arrived == LoopRig.bytes([alerts[0], Self.pong, alerts[1], alerts[2]]))
    }

    @Test func `the portions of an endpoint are no longer than its frames, but at least 4 096 bytes`() {
        for (frameBytesMax, portionBytes) in [(0, 32_768), (65_536, 32_768), (8_192, 8_192), (4_096, 4_096)] {
            var output = Output(limits: Outbox.Limits(), portionBytes: 32_768)
            output.limitPortions(to: UInt32(frameBytesMax))
            #expect(output.portionBytes == portionBytes)
            output.limitPortions(to: 16_384)
            #expect(output.portionBytes == min(portionBytes, 16_384))
        }
    }

    @Test func `what goes first goes first in the next process, too`() throws {
        var (rig, slot) = try Self.slowPeer()
        rig.change { core, now, send, actions in core.suspend(slot, at: now, send, into: &actions) }
        rig.channelWrote(slot)
        rig.perform([Self.send(Self.prompt)])
        let state = rig.core.detach(slot)
        let detached = try #require(state)
        var next = LoopRig()
        var adopted = -1
        next.change { core, now, send, actions in
            adopted = core.adopt(
                detached, payer: Payer(rawValue: 1), outbox: Outbox.Limits(), at: now, into: &actions)
            core.open(adopted, LoopRig.socket(adopted), at: now, into: &actions)
        }
        next.perform([Self.publish(4...4), Self.send(Self.prompt)])
        next.change { core, now, send, actions in
            let continues = core.resume(adopted, at: now, send, into: &actions)
            #expect(continues)
        }
        #expect(
            next.sent(adopted)
                == LoopRig.bytes([Self.prompt, Self.prompt] + Self.alerts + [LoopRig.alert(4)]))
    }
}
