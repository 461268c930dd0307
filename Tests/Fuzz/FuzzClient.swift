// libFuzzer target: a gateway says anything to an endpoint, a client or an observer, whose app answers and calls. scripts/fuzz.sh builds and
// runs it.
//
// Input: a byte that chooses the peer, then events: a byte that chooses one, followed by a frame if the gateway says it.
import Foundation
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// libFuzzer calls it with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var bytes = Array(UnsafeBufferPointer(start: start, count: count))[...]
    let peer = bytes.popFirst() ?? 0
    do {
        switch peer % 3 {
        case 0: run(try DrivenPeer.endpoint(), bytes, callEndpoint, answer)
        case 1: run(try DrivenPeer.client(), bytes, callClient, answer)
        default:
            var reader = ObserverReader()
            run(try DrivenPeer.observer(), bytes, callObserver) { reader.read(&$0) }
        }
    } catch { preconditionFailure("the configurations are right: \(error)") }
    return 0
}

private let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))

/// Applies the events of an input. `call` does what the app does by itself, `answer` what it does with what it has learnt.
private func run<Machine>(
    _ peer: DrivenPeer<Machine>, _ input: ArraySlice<UInt8>,
    _ call: (inout DrivenPeer<Machine>, UInt8) -> Void, _ answer: (inout DrivenPeer<Machine>) -> Void
) {
    var (peer, bytes) = (peer, input)
    var (writes, isWriting) = (0, false)
    peer.open()
    while let choice = bytes.popFirst() {
        switch choice {
        case 0..<48: call(&peer, choice)
        case 48..<80: peer.wait(.milliseconds(Int64(choice - 47) * 500))
        case 80..<88: if peer.isConnected { peer.handle(.transportClosed(nil)) }
        case 88..<96:
            while !peer.isConnecting, !peer.isConnected, peer.link.deadline != nil { peer.waitForDeadline() }
            guard peer.isConnecting else { return }
            peer.handle(.transportOpened)
            peer.welcome(isResumed: choice % 2 == 0)
        case 96..<104:
            peer.isFast.toggle()
            if peer.isFast, isWriting { peer.handle(.wrote) }
        case 104..<112: peer.handle(.close)
        default: peer.handle(.received(takeFrame(&bytes)))
        }
        isWriting = !peer.isFast && (isWriting || peer.writes.count > writes)
        writes = peer.writes.count
        answer(&peer)
        _ = peer.read()
    }
}

/// Removes and returns a frame, or all that follows if that is none.
private func takeFrame(_ bytes: inout ArraySlice<UInt8>) -> [UInt8] {
    var count = bytes.count
    do throws(FramingError) {
        if let header = try FrameHeader.read(from: bytes.span.bytes, frameBytesMax: 1 << 16) {
            count = min(count, header.frameByteCount)
        }
    } catch { /* The peer finds that, too. */  }
    defer { bytes = bytes.dropFirst(count) }
    return Array(bytes.prefix(count))
}

// MARK: Apps

private func callEndpoint(_ peer: inout DrivenPeer<EndpointMachine>, _ choice: UInt8) {
    let now = peer.now
    peer.use { endpoint, outputs in
        switch choice % 6 {
        case 0: endpoint.requestDestination(place, call: Int(choice), into: &outputs)
        case 1: endpoint.requestWaypoint(place, call: Int(choice), into: &outputs)
        case 2: endpoint.markShown(UInt64(choice), at: now)
        case 3: endpoint.markShown(.max, at: now)
        case 4: endpoint.cancelNavigation(.userStopped, call: Int(choice), into: &outputs)
        default: endpoint.respondToAlert(.max, action: .max, into: &outputs)
        }
    }
}

private func answer(_ peer: inout DrivenPeer<EndpointMachine>) {
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

private func callClient(_ peer: inout DrivenPeer<ClientMachine>, _ choice: UInt8) {
    guard let session = peer.link.peer.order.last, choice % 6 != 0 else {
        if peer.link.peer.order.count < 3 {
            _ = try? peer.openSession(
                answersWaypoints: choice % 4 == 0, answersStarts: choice % 8 < 4, call: Int(choice))
        }
        return
    }
    switch choice % 6 {
    case 1:
        let trip = Trip(id: "t", origin: place, destination: place)
        try? peer.publish(.startGuidance(trip, generation: 0, RouteInformation()), in: session)
    case 2: try? peer.publish(.currentRoadName(["road"]), in: session)
    case 3: try? peer.publish(choice % 4 == 0 ? .finishGuidance : .cancelGuidance, in: session)
    case 4:
        peer.use { client, outputs in
            client.waitUntilAccepted(session, call: Int(choice), into: &outputs)
        }
    default:
        try? peer.use { (client, outputs) throws(ClientError) in
            try client.share(place, id: "s\(choice)", in: session, call: Int(choice), into: &outputs)
        }
    }
}

private func answer(_ peer: inout DrivenPeer<ClientMachine>) {
    for output in peer.takeOutputs() {
        switch output {
        case .asked(_, let id):
            peer.use { client, outputs in
                client.answer(id, .estimates(TravelEstimates(distanceRemaining: .meters(9))), into: &outputs)
            }
        case .askedToStart(_, let id):
            peer.use { client, outputs in client.answer(id, .accept, into: &outputs) }
        case .askedForDestination(_, let id):
            peer.use { client, _ in client.answerDestination(id, .accept) }
        case .returned, .shared, .told, .ended, .notOpened, .inquiryEnded, .destinationInquiryEnded,
            .askedToSimulate, .log:
            break
        }
    }
}

private func callObserver(_ peer: inout DrivenPeer<ObserverMachine>, _ choice: UInt8) {
    peer.use { observer, _ in observer.readCounters(ReadCounters(), call: Int(choice)) }
}

/// A program that reads what an observer is told.
private struct ObserverReader {
    private var observed = ObservedGateway()
    private var peers = ObservedPeers()
    private var clock = GatewayClock()

    mutating func read(_ peer: inout DrivenPeer<ObserverMachine>) {
        let gateway = GatewaySnapshot.Gateway(
            instance: "g", start: .distantPast, software: "", showsContent: true)
        for output in peer.takeOutputs() {
            guard case .received(let envelope) = output else { continue }
            switch envelope.message {
            case .observationBegin(let begin): self.clock.set(begin.instant, arrived: .distantPast)
            case .observedRecords(let records): self.peers.apply(records, self.observed)
            case .observedEvent(let event): _ = GatewayEvent(event, peer: "")
            case .counters(let report):
                self.clock.correct(report.instant, arrived: .distantFuture)
                if let (_, parts) = peer.use({ observer, _ in observer.apply(report) }) {
                    let counters = GatewayCounters(parts, self.clock, self.peers)
                    for counter in GatewayCounter.allCases { _ = counters[counter] }
                }
            default: break
            }
            self.observed.apply(envelope.message) { frame in try? Codec.outline(of: frame) }
            _ = GatewaySnapshot(gateway, self.observed, self.clock)
        }
    }
}
