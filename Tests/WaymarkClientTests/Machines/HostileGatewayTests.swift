import Foundation
import RandomMessages
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// No number, text or order of messages stops a peer's machine. `WAYMARK_SEEDS=1000` searches longer.
@Suite struct HostileGatewayTests {
    private static let session = SessionID(7)

    // MARK: The largest numbers

    @Test func `a session that the gateway has up to the largest number is kept`() throws {
        var peer = try DrivenPeer.client()
        peer.open()
        let session = try peer.openSession()
        peer.hear(.sessionOpened(SessionOpened(requestID: session, session: Self.session, vehicles: [])))
        try peer.publish(.startGuidance(trip, generation: 0, route), in: session)
        _ = peer.read()
        peer.handle(.transportClosed(nil))
        peer.waitForDeadline()
        peer.handle(.transportOpened)
        let orphan = ResumedSession(session: SessionID(9), sequence: .max, phase: .active)
        let lying = ResumedSession(session: Self.session, sequence: .max, phase: .active)
        peer.welcome(isResumed: true, sessions: [lying, orphan])
        try peer.publish(.currentRoadName(["A"]), in: session)
        let sent = peer.read().filter { MessageType.published.contains($0.header.rawType) }
        #expect(sent.contains { $0.header.session == SessionID(9) })
        #expect(sent.contains { $0.header.type == .currentRoadName })
        #expect(sent.allSatisfy { $0.header.sequence == .max })
    }

    @Test func `an endpoint resumes a session of the largest number, and confirms that number`() throws {
        var peer = try DrivenPeer.endpoint()
        peer.open()
        var begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))
        (begin.toSequence, begin.receiptsEveryMilliseconds) = (.max, 1_000)
        peer.hear(.snapshotBegin(begin), session: Self.session)
        peer.hear(.snapshotEnd, session: Self.session)
        let now = peer.now
        peer.use { endpoint, _ in endpoint.markShown(.max, at: now) }
        peer.wait(.seconds(2))
        let receipt = Receipt(
            receivedSequence: .max, shownSequence: .max, receivedNanoseconds: now.stamp,
            shownNanoseconds: now.stamp)
        #expect(peer.readMessages().contains(.receipt(receipt)))
        peer.handle(.transportClosed(nil))
        peer.waitForDeadline()
        peer.handle(.transportOpened)
        guard case .hello(let hello)? = peer.readMessages().first else {
            Issue.record("no Hello")
            return
        }
        #expect(hello.resumeSequence == .max)
    }

    @Test func `gaps of any size are counted, and the observer resumes behind them`() throws {
        var peer = try DrivenPeer.observer()
        peer.open()
        for _ in 0..<2 { peer.hear(.observationGap(ObservationGap(dropped: .max, nextNumber: .max))) }
        peer.handle(.transportClosed(nil))
        peer.waitForDeadline()
        peer.handle(.transportOpened)
        peer.welcome(isResumed: true)
        let observes = peer.readMessages().compactMap { message in
            if case .observe(let observe) = message { observe.afterNumber } else { nil }
        }
        #expect(observes == [.max])
    }

    // MARK: Anything

    @Test(arguments: hostileSeeds(6)) func `an endpoint survives whatever a gateway says`(
        _ seed: UInt64
    ) throws {
        var gateway = HostileGateway(seed: seed, HostileGateway.ofSessions + [.ping])
        var peer = try DrivenPeer.endpoint(seed: seed)
        peer.open()
        for call in 0..<1_000 {
            Self.say(&gateway, to: &peer)
            switch gateway.random.next() % 16 {
            case 0:
                peer.use { endpoint, outputs in endpoint.requestDestination(place, call: call, into: &outputs)
                }
            case 1:
                peer.use { endpoint, outputs in endpoint.requestWaypoint(place, call: call, into: &outputs) }
            case 2:
                let now = peer.now
                peer.use { endpoint, _ in
                    endpoint.markShown(gateway.random.number(0...UInt64.max), at: now)
                }
            case 3:
                peer.use { endpoint, outputs in
                    endpoint.cancelNavigation(.userStopped, call: call, into: &outputs)
                }
            case 4:
                peer.use { endpoint, outputs in endpoint.respondToAlert(.max, action: .max, into: &outputs) }
            default: Self.answerAll(&peer)
            }
        }
    }

    private static func answerAll(_ peer: inout DrivenPeer<EndpointMachine>) {
        for output in peer.takeOutputs() {
            switch output {
            case .ask(let prompt):
                peer.use { endpoint, outputs in
                    endpoint.answerPrompt(Identifier(prompt.id), isAccepted: true, into: &outputs)
                }
            case .offer(let share, _, let session):
                peer.use { endpoint, outputs in
                    endpoint.answerShare(share, isAccepted: true, session, into: &outputs)
                }
            case .told(let update): _ = update.state.age()
            case .refused, .requestEnded, .guidanceEnded, .stopAsking, .log: break
            }
        }
    }

    @Test(arguments: hostileSeeds(6)) func `a client survives whatever a gateway says`(_ seed: UInt64) throws
    {
        var gateway = HostileGateway(seed: seed, HostileGateway.ofSessions + [.ping])
        var peer = try DrivenPeer.client(seed: seed)
        peer.open()
        for call in 0..<1_000 {
            Self.say(&gateway, to: &peer)
            let order = peer.link.peer.order
            if order.count < 3 {
                _ = try? peer.openSession(
                    answersWaypoints: gateway.random.flag(), answersStarts: gateway.random.flag(), call: call)
            }
            guard let session = order.last else { continue }
            switch gateway.random.next() % 8 {
            case 0: try? peer.publish(.startGuidance(trip, generation: 0, route), in: session)
            case 1: try? peer.publish(.currentRoadName([gateway.random.name()]), in: session)
            case 2:
                peer.use { client, outputs in client.waitUntilAccepted(session, call: call, into: &outputs) }
            case 3:
                try? peer.use { (client, outputs) throws(ClientError) in
                    try client.share(place, id: "s\(call)", in: session, call: call, into: &outputs)
                }
            default: Self.answerAll(&peer)
            }
        }
    }

    private static func answerAll(_ peer: inout DrivenPeer<ClientMachine>) {
        for output in peer.takeOutputs() {
            switch output {
            case .asked(_, let id):
                peer.use { client, outputs in
                    let estimates = TravelEstimates(distanceRemaining: .meters(9))
                    client.answer(id, .estimates(estimates), into: &outputs)
                }
            case .askedToStart(_, let id): peer.use { $0.answer(id, .accept, into: &$1) }
            case .askedForDestination(_, let id):
                peer.use { client, _ in client.answerDestination(id, .accept) }
            case .returned, .shared, .told, .ended, .notOpened, .inquiryEnded, .destinationInquiryEnded,
                .askedToSimulate, .log:
                break
            }
        }
    }

    @Test(arguments: hostileSeeds(6)) func `an observer survives whatever a gateway says`(
        _ seed: UInt64
    ) throws {
        var gateway = HostileGateway(seed: seed, HostileGateway.ofObservers + [.ping, .error])
        var peer = try DrivenPeer.observer()
        peer.open()
        var observed = ObservedGateway()
        var peers = ObservedPeers()
        var clock = GatewayClock()
        let gatewayOf = GatewaySnapshot.Gateway(
            instance: "g", start: .distantPast, software: "", showsContent: true)
        for call in 0..<1_000 {
            Self.say(&gateway, to: &peer)
            if call % 50 == 0 {
                peer.use { observer, _ in observer.readCounters(ReadCounters(), call: call) }
            }
            for output in peer.takeOutputs() {
                guard case .received(let envelope) = output else { continue }
                switch envelope.message {
                case .observationBegin(let begin): clock.set(begin.instant, arrived: .distantPast)
                case .observedRecords(let records): peers.apply(records, observed)
                case .observedEvent(let event): _ = GatewayEvent(event, peer: "")
                case .counters(let report):
                    clock.correct(report.instant, arrived: .distantFuture)
                    if let (_, parts) = peer.use({ observer, _ in observer.apply(report) }) {
                        let counters = GatewayCounters(parts, clock, peers)
                        for counter in GatewayCounter.allCases { _ = counters[counter] }
                    }
                default: break
                }
                observed.apply(envelope.message) { frame in try? Codec.outline(of: frame) }
                _ = GatewaySnapshot(gatewayOf, observed, clock)
            }
        }
    }

    /// One frame; now and then the connection is lost.
    private static func say<Machine>(_ gateway: inout HostileGateway, to peer: inout DrivenPeer<Machine>) {
        peer.handle(.received(gateway.next()))
        peer.wait(.milliseconds(gateway.random.number(0...10_000)))
        _ = peer.read()
        guard gateway.random.next() % 50 == 0 || peer.wantsEnd || !peer.isConnected else { return }
        if peer.isConnected { peer.handle(.transportClosed(nil)) }
        while !peer.isConnecting, peer.link.deadline != nil { peer.waitForDeadline() }
        peer.handle(.transportOpened)
        peer.hear(.welcome(gateway.welcome()))
    }
}
