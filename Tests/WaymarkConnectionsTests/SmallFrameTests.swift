import Testing
import WaymarkCodec
import WaymarkConnections
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

/// What the connection itself sends a peer that takes small frames.
@Suite struct SmallFrameTests {
    /// The envelopes that the socket of a connection was sent, and the bytes of the longest.
    private static func read(_ rig: LoopRig, _ slot: Int) throws -> (envelopes: [Envelope], longest: Int) {
        var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.frameBytes.upperBound)
        splitter.append(rig.sent(slot))
        var (envelopes, longest) = ([Envelope](), 0)
        while let frame = try splitter.next() {
            envelopes.append(try Codec.decode(frame))
            longest = max(longest, frame.bytes.count)
        }
        return (envelopes, longest)
    }

    @Test(arguments: [UInt32(0), 4_096])
    func `a Welcome with many sessions comes in frames that the client takes`(
        _ frameBytesMax: UInt32
    ) throws {
        var hello = NavigationHello(client: ClientID(unchecked: "app"), features: Set(Feature.allCases))
        hello.receiveFrameBytesMax = frameBytesMax
        var rig = LoopRig()
        let slot = rig.newcomer(1)
        rig.receive(slot, LoopRig.bytes([Envelope(.hello(Hello(role: .navigation(hello))))]))
        var welcome = LoopRig.welcome(1)
        welcome.isResumed = true
        welcome.features = Feature.allCases.map { FeatureGrant($0) }
        welcome.sessions = (1...1_000).map {
            ResumedSession(session: SessionID($0), sequence: UInt64($0) << 20, phase: .active)
        }
        rig.handle(.admitted(welcome), on: slot)
        rig.work()
        let (envelopes, longest) = try Self.read(rig, slot)
        #expect((longest <= 4_096) == (frameBytesMax > 0))
        #expect((envelopes.count > 1) == (frameBytesMax > 0))
        #expect(envelopes.dropLast().allSatisfy { $0.flags == .more })
        var partial = PartialMessage()
        let messages = try envelopes.compactMap { try partial.add($0, byteCount: 1)?.message }
        guard messages.count == 1, case .welcome(let read) = messages[0] else {
            Issue.record("\(messages.count) messages")
            return
        }
        #expect(read.sessions == welcome.sessions)
        #expect(read.features == welcome.features)
        #expect(read.sendFrameBytesMax == (frameBytesMax > 0 ? frameBytesMax : 16_777_216))
        // The next client gets its own Welcome, not a part of this one.
        let other = rig.newcomer(2)
        rig.receive(other, LoopRig.hello(2, .navigation))
        rig.admit(other, 2)
        rig.work()
        let (others, _) = try Self.read(rig, other)
        #expect(others.count == 1 && others[0].flags.isEmpty)
    }
}
