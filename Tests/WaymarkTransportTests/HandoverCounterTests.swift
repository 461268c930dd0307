import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkProtocol
import WaymarkTransport

/// Counters go on where they were when the next process takes over, with connections on two event loops.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HandoverCounterTests {
    /// What a meter is told, and what telling it adds to the bytes that are counted next time.
    private struct Answer {
        let counters: [CounterReport.Counter]
        let sentByteCount: UInt64
        let receivedByteCount: UInt64

        /// By name and label, apart from what `left` names.
        func values(without left: Set<CounterName>) -> [String: UInt64] {
            let names = Set(left.map(\.rawValue))
            let counters = self.counters.filter { !names.contains($0.name) && $0.value != 0 }
            return Dictionary(uniqueKeysWithValues: counters.map { ("\($0.name), \($0.label)", $0.value) })
        }
    }

    private static func ask(_ meter: SocketPeer) async throws -> Answer {
        let question = Codec.encode(Envelope(.readCounters(ReadCounters()))).bytes
        try meter.send(question)
        while let frame = try await meter.receive() {
            guard case .counters(let report) = try Codec.decode(frame).message else { continue }
            return Answer(
                counters: report.counters, sentByteCount: UInt64(frame.bytes.count),
                receivedByteCount: UInt64(question.count))
        }
        throw UnexpectedResult(got: "the end")
    }

    @Test func `a handover keeps every counter, and what follows is added to it`() async throws {
        var policy = Gateway.Policy()
        policy.acknowledgements.frames = 1
        let process = DaemonProcess(policy: policy)
        let meter = try await process.connect()
        _ = try await meter.welcome(
            Hello(role: .observer(ObserverHello(observer: ObserverName(unchecked: "meter")))))
        var endpoints: [SocketPeer] = []
        for index in 0..<6 { endpoints.append(try await process.vehicle("car-\(index)")) }
        let guide = try await process.guide((0..<6).map { "car-\($0)" })
        let namesake = try await process.connect()
        try namesake.send(.hello(Bench.navigationHello("app")))
        while try await namesake.receive() != nil {}
        for _ in 0..<20 { try guide.alert() }
        for endpoint in endpoints { _ = try await endpoint.alerts(upTo: guide.sequence) }
        let before = try await Self.ask(meter)

        let (next, detached, adopted) = try await process.restart()
        #expect(detached.cutCount == 0 && adopted == 8)
        let after = try await Self.ask(meter)
        // The peer that was refused may have been open, or not.
        let own: Set<CounterName> = [.bytesSent, .bytesReceived, .loopMicroseconds, .connections]
        #expect(before.values(without: own) == after.values(without: own))
        #expect(after.counters[.bytesSent] == before.counters[.bytesSent] + before.sentByteCount)
        #expect(
            after.counters[.bytesReceived] == before.counters[.bytesReceived] + after.receivedByteCount)
        #expect(after.counters[.peersRefused, label: CloseCode.idInUse.rawValue] == 1)

        for _ in 0..<20 { try guide.alert() }
        for endpoint in endpoints { _ = try await endpoint.alerts(upTo: guide.sequence) }
        let late = try await next.vehicle("late")
        let end = try await Self.ask(meter)
        for (name, label, growth) in [
            (CounterName.publications, UInt32(MessageType.showAlert.rawValue), UInt64(20)),
            (.deliveries, UInt32(MessageType.showAlert.rawValue), 120), (.connectionsAccepted, 0, 1),
            (.peersAdmitted, RoleNumber.vehicle.rawValue, 1), (.endpointsConnected, 0, 1),
            (.snapshots, 0, 0), (.resumptions, 0, 0), (.publicationsRejected, 0, 0),
        ] {
            let value = end.counters[name, label: label] - after.counters[name, label: label]
            #expect(value == growth, "\(name)")
        }
        withExtendedLifetime((late, namesake)) {}
        try await next.end()
    }
}
