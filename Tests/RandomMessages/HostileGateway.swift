internal import Sweeps
internal import WaymarkCodec
package import WaymarkProtocol

/// The seeds that a search with hostile messages runs, see ``sweptSeeds(_:from:)``.
package func hostileSeeds(_ count: UInt64) -> [UInt64] { sweptSeeds(count, from: 1) }

/// A gateway that says anything: valid messages with numbers at the ends of their ranges, in any order, and damaged ones.
package struct HostileGateway: Sendable {
    package var random: RandomValues
    private let types: [MessageType]

    /// `types`: what it says, each about as often as the others.
    package init(seed: UInt64, _ types: [MessageType]) {
        self.random = RandomValues(seed: seed)
        self.types = types
    }

    /// The types that a gateway sends to a peer of any role, without those that begin or end a connection.
    package static let ofSessions: [MessageType] = MessageType.allCases.filter {
        ![.hello, .welcome, .goodbye].contains($0) && !Self.ofObservers.contains($0)
    }

    /// What a gateway tells observers.
    package static let ofObservers: [MessageType] = [
        .observationBegin, .observedRecords, .observedEvent, .observedFrames, .observationGap, .counters,
    ]

    /// The bytes of the next frame. Its header is right, so that the connection stays.
    package mutating func next() -> [UInt8] {
        var envelope = self.random.envelope(self.random.pick(self.types))
        envelope.session = SessionID(self.random.pick([0, 1, 2, 3, 7, .max]))
        self.tune(&envelope.message)
        let frame = Codec.encode(envelope)
        guard self.random.next() % 4 == 0, frame.bytes.count > FrameHeader.byteCount else {
            return Array(frame.bytes)
        }
        var bytes = Array(frame.bytes)
        for _ in 0...self.random.next() % 3 {
            let index = self.random.number(FrameHeader.byteCount...bytes.count - 1)
            bytes[index] = self.random.flag() ? UInt8(truncatingIfNeeded: self.random.next()) : 0xFF
        }
        return bytes
    }

    /// Makes messages fit each other more often than chance does.
    private mutating func tune(_ message: inout Message) {
        switch message {
        case .sessionOpened(var opened):
            opened.requestID = "session-\(self.random.number(1...3))"
            opened.session = SessionID(self.random.number(1...3))
            message = .sessionOpened(opened)
        case .observedRecords(var records):
            records.sessions = records.sessions.map { record in
                var record = record
                record.session = SessionID(self.random.number(1...3))
                return record
            }
            records.retained = self.random.list(0...3) {
                RetainedFrames(SessionID($0.number(1...3)), $0.frames())
            }
            message = .observedRecords(records)
        case .observedFrames(var told):
            told.frames = self.random.frames()
            told.session = SessionID(self.random.number(1...3))
            message = .observedFrames(told)
        case .counters(var report):
            report.counters = report.counters.map { counter in
                CounterReport.Counter(
                    name: self.random.number(1...80), label: self.random.number(0...UInt32.max), counter.value
                )
            }
            message = .counters(report)
        default: break
        }
    }

    /// A Welcome whose sessions have numbers at the ends of their range.
    package mutating func welcome() -> Welcome {
        guard case .welcome(var welcome) = self.random.envelope(.welcome).message else {
            preconditionFailure("another message was made")
        }
        welcome.sessions = (1...3).map { id in
            ResumedSession(
                session: SessionID(id), sequence: self.random.number(0...UInt64.max),
                phase: self.random.pick([.preview, .active, .paused]), endReason: nil)
        }
        (welcome.receiveFrameBytesMax, welcome.sendFrameBytesMax) = (1_048_576, 16_777_216)
        welcome.visibility = .content
        return welcome
    }
}

extension RandomValues {
    /// Whole frames of publications and requests, one behind the other.
    fileprivate mutating func frames() -> [UInt8] {
        self.list(0...3) { random in
            var envelope = random.envelope(random.pick(HostileGateway.ofSessions))
            envelope.session = SessionID(random.number(1...3))
            return Array(Codec.encode(envelope).bytes)
        }.flatMap { $0 }
    }
}
