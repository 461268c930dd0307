import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// A gateway that asks without end makes no peer hold more than Docs/client.md says.
@Suite struct GatewayFloodTests {
    private static let session = SessionID(7)
    private static let car = VehicleID(unchecked: "car")

    /// One message many times, as one read.
    private static func read(_ message: Message, _ count: Int) -> [UInt8] {
        let frame = Codec.encode(Envelope(message))
        var bytes: [UInt8] = []
        for _ in 0..<count { bytes += frame.bytes }
        return bytes
    }

    // MARK: Pongs

    /// The gateway pings a million times and reads nothing.
    private static func flood<Machine>(_ peer: inout DrivenPeer<Machine>) {
        peer.isFast = false
        let read = self.read(.ping(nonce: 7), 1_000)
        var heldMax = 0
        for _ in 0..<1_000 {
            peer.handle(.received(read))
            heldMax = max(heldMax, peer.link.heldByteCount)
        }
        // The rest of the read in which the connection was cut is there until the transport has ended.
        #expect(heldMax <= PeerBounds.owedBytesMax + 4 * read.count)
        let written = peer.readMessages()
        #expect(peer.wantsEnd && written == [.pong(nonce: 7)])
        peer.handle(.transportClosed(nil))
        let note = peer.notes.last
        let reason = note?.values.first { $0.key == PeerLogKey.reason }?.text
        #expect(note?.text == "connection lost, reconnecting")
        #expect(reason?.hasPrefix("the gateway reads nothing: ") == true)
        #expect(peer.link.heldByteCount == 0)
        peer.waitForDeadline()
        #expect(peer.isConnecting)
        peer.isFast = true
        peer.handle(.transportOpened)
        peer.welcome(isResumed: true)
        #expect(peer.states.last == .connected(resumed: true))
    }

    @Test func `an endpoint cuts a gateway that pings a million times and reads nothing`() throws {
        var peer = try DrivenPeer.endpoint()
        peer.open()
        Self.flood(&peer)
    }

    @Test func `a client cuts a gateway that pings a million times and reads nothing`() throws {
        var peer = try DrivenPeer.client()
        peer.open()
        Self.flood(&peer)
    }

    @Test func `an observer cuts a gateway that pings a million times and reads nothing`() throws {
        var peer = try DrivenPeer.observer()
        peer.open()
        Self.flood(&peer)
    }

    @Test func `a gateway that reads late gets every Pong`() throws {
        var peer = try DrivenPeer.client()
        peer.open()
        peer.isFast = false
        let count = PeerBounds.owedBytesMax / Codec.encode(Envelope(.pong(nonce: 7))).bytes.count
        // The first one is being written.
        peer.handle(.received(Self.read(.ping(nonce: 7), count + 1)))
        #expect(!peer.wantsEnd && peer.link.owedByteCount <= PeerBounds.owedBytesMax)
        peer.handle(.wrote)
        let written = peer.readMessages()
        #expect(written.count == count + 1 && peer.link.owedByteCount == 0)
    }

    @Test func `what arrives after the end of the peer session is not kept`() throws {
        var peer = try DrivenPeer.endpoint()
        peer.open()
        peer.hear(.goodbye(Goodbye(.shuttingDown)))
        let read = Self.read(.ping(nonce: 7), 1_000)
        for _ in 0..<1_000 { peer.handle(.received(read)) }
        #expect(peer.link.heldByteCount < read.count)
    }

    // MARK: Questions

    private static func request(_ number: Int) -> Message {
        .waypointRequest(
            WaypointRequest(requestID: Identifier("r\(number)"), waypoint: place, vehicle: Self.car))
    }

    private static func guide(answersWaypoints: Bool) throws -> DrivenPeer<ClientMachine> {
        var peer = try DrivenPeer.client()
        peer.open()
        let session = try peer.openSession(answersWaypoints: answersWaypoints)
        peer.hear(.sessionOpened(SessionOpened(requestID: session, session: Self.session, vehicles: [])))
        _ = peer.read()
        return peer
    }

    @Test func `a client cuts a gateway that asks and reads no answer`() throws {
        var peer = try Self.guide(answersWaypoints: false)
        peer.isFast = false
        var owedMax = 0
        for number in 0..<20_000 where !peer.wantsEnd {
            peer.hear(Self.request(number), session: Self.session)
            owedMax = max(owedMax, peer.link.owedByteCount)
        }
        // The last answer is counted when it waits.
        #expect(peer.wantsEnd && owedMax < PeerBounds.owedBytesMax + 256)
        peer.handle(.transportClosed(nil))
        peer.waitForDeadline()
        peer.isFast = true
        peer.handle(.transportOpened)
        peer.welcome(isResumed: true)
        #expect(peer.link.owedByteCount == 0 && !peer.wantsEnd)
    }

    @Test func `a client asks its app 4 096 questions at a time, and declines further ones as busy`() throws {
        var peer = try Self.guide(answersWaypoints: true)
        for number in 0..<5_000 { peer.hear(Self.request(number), session: Self.session) }
        #expect(Self.askedCount(peer.takeOutputs()) == PeerBounds.inquiriesMax)
        let declined = peer.readMessages()
        #expect(declined.count == 5_000 - PeerBounds.inquiriesMax)
        let last = RequestAnswer(requestID: "r4999", vehicle: Self.car, answer: .decline(.busy))
        #expect(declined.last == .requestAnswer(last))
        let outcome = RequestOutcome(requestID: "r0", vehicle: Self.car, outcome: .timedOut)
        peer.hear(.requestOutcome(outcome), session: Self.session)
        for number in 5_000..<5_010 { peer.hear(Self.request(number), session: Self.session) }
        #expect(Self.askedCount(peer.takeOutputs()) == 1)
    }

    private static func askedCount(_ outputs: [ClientMachine.Output]) -> Int {
        outputs.count { output in if case .asked = output { true } else { false } }
    }

    private static func askedCount(_ outputs: [EndpointMachine.Output]) -> Int {
        outputs.count { output in if case .ask = output { true } else { false } }
    }

    private static func prompt(_ number: Int) -> Message {
        .prompt(
            Prompt(
                requestID: Identifier("p\(number)"), waypoint: place,
                travelEstimates: TravelEstimates(distanceRemaining: .meters(1)),
                deadlineMilliseconds: 60_000))
    }

    @Test func `an endpoint asks its user 1 024 questions at a time`() throws {
        var peer = try DrivenPeer.endpoint()
        peer.open(keepalive: 600_000)
        for number in 0..<2_000 { peer.hear(Self.prompt(number)) }
        #expect(Self.askedCount(peer.takeOutputs()) == PeerBounds.promptsMax)
        peer.wait(.seconds(60))
        peer.hear(Self.prompt(2_000))
        #expect(Self.askedCount(peer.takeOutputs()) == 1)
    }
}
