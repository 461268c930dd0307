import Testing
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

@Suite struct OutboxTests {
    static func frame(_ sequence: UInt64, size: Int = 10, session: UInt32 = 1) -> Frame {
        Frame(
            header: FrameHeader(type: 0x0108, session: SessionID(session), sequence: sequence),
            body: [UInt8](repeating: 0, count: size))
    }

    static let road = ConflationKey(type: .currentRoadName)

    @Test func `a newer state goes to the end, events stay`() {
        var outbox = Outbox(limits: .init())
        for (sequence, key) in [(UInt64(1), Self.road), (2, nil), (3, Self.road), (4, nil)]
            as [(UInt64, ConflationKey?)]
        {
            #expect(outbox.append(Self.frame(sequence), key: key) == .queued)
        }
        #expect(outbox.take(byteCount: .max).map(\.header.sequence) == [2, 3, 4])
        #expect(outbox.isEmpty && outbox.byteCount == 0 && outbox.conflatedCount == 1)
    }

    @Test func `the end of a maneuver stays in front of the next maneuver`() {
        let (state, upcoming) = (
            ConflationKey(type: .updateManeuverState), ConflationKey(type: .upcomingManeuvers)
        )
        var outbox = Outbox(limits: .init())
        // Ends the first maneuver, the second, its state; the end of the second, the third, and two states of it.
        let keys = [state, upcoming, state, state, upcoming, state, state]
        for (index, key) in keys.enumerated() {
            #expect(outbox.append(Self.frame(UInt64(index + 1)), key: key) == .queued)
        }
        #expect(outbox.take(byteCount: .max).map(\.header.sequence) == [4, 5, 7])
        #expect(outbox.isEmpty && outbox.byteCount == 0 && outbox.conflatedCount == 4)
        // As another process takes it over: what waits is appended again.
        for (index, key) in keys.prefix(3).enumerated() {
            #expect(outbox.append(Self.frame(UInt64(index + 1)), key: key) == .queued)
        }
        var other = Outbox(limits: .init())
        for waiting in outbox.waiting {
            #expect(other.append(waiting.frame, key: waiting.key) == .queued)
        }
        #expect(other == outbox)
        #expect(other.append(Self.frame(4), key: state) == .queued)
        #expect(other.take(byteCount: .max).map(\.header.sequence) == [1, 2, 4])
    }

    @Test func `extension states are conflated by type and key`() {
        let states: [(type: UInt16, key: UInt16)] = [
            (0x01E5, 1), (0x01E5, 2), (0x01E6, 1), (0x01E5, 1), (0x01E6, 1),
        ]
        var outbox = Outbox(limits: .init())
        for (index, state) in states.enumerated() {
            let header = FrameHeader(
                type: state.type, flags: [.skippable, .state], key: state.key, session: SessionID(1),
                sequence: UInt64(index + 1))
            let key = PublicationOutline(unrecognized: header).conflationKey
            #expect(outbox.append(Frame(header: header, body: []), key: key) == .queued)
        }
        #expect(outbox.take(byteCount: .max).map(\.header.sequence) == [2, 4, 5])
        #expect(outbox.conflatedCount == 2)
    }

    @Test func `it is bounded, and a session can be dropped`() {
        var limits = Outbox.Limits()
        limits.bytesMax = 300
        var outbox = Outbox(limits: limits)
        #expect(outbox.append(Self.frame(1, size: 40), key: nil) == .queued)
        #expect(outbox.append(Self.frame(2, size: 40, session: 2), key: nil) == .overflow)
        outbox.purge(SessionID(1))
        #expect(outbox.append(Self.frame(2, size: 40, session: 2), key: nil) == .queued)
        #expect(outbox.take(byteCount: 1).map(\.header.sequence) == [2])
    }

    @Test(arguments: UInt64(0)..<50)
    func `what goes first overtakes all that waits, in its own order`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var outbox = Outbox(limits: .init())
        var (first, others): ([Frame], [Frame]) = ([], [])
        for sequence in UInt64(1)...300 {
            let isFirst = random.number(0...3) == 0
            let frame = Self.frame(sequence, size: random.number(0...40), session: isFirst ? 0 : 1)
            if isFirst {
                #expect(outbox.append(urgent: frame) == .queued)
                first.append(frame)
            } else {
                #expect(outbox.append(frame, key: nil) == .queued)
                others.append(frame)
            }
            if random.number(0...7) == 0 {
                let taken = outbox.take(byteCount: random.number(0...400))
                #expect(taken == Array((first + others).prefix(taken.count)) && !taken.isEmpty)
                let count = min(taken.count, first.count)
                first.removeFirst(count)
                others.removeFirst(taken.count - count)
            }
            #expect(outbox.isEmpty == (first + others).isEmpty)
            #expect(outbox.byteCount == (first + others).reduce(0) { $0 + $1.bytes.count + 128 })
        }
        #expect(outbox.waiting.map(\.frame) == first + others)
        outbox.purge(SessionID(1))
        #expect(outbox.take(byteCount: .max) == first)
        #expect(outbox.isEmpty && outbox.byteCount == 0)
    }

    @Test func `what goes first is bounded as well`() {
        var limits = Outbox.Limits()
        limits.bytesMax = 300
        var outbox = Outbox(limits: limits)
        #expect(outbox.append(urgent: Self.frame(0, size: 40)) == .queued)
        #expect(outbox.append(urgent: Self.frame(0, size: 40)) == .overflow)
        #expect(outbox.append(Self.frame(1, size: 40), key: nil) == .overflow)
        #expect(outbox.append(urgent: Self.frame(0, size: 0)) == .overflow)
    }

    @Test func `shares of a session can be dropped alone`() {
        var outbox = Outbox(limits: .init())
        let types: [(MessageType, UInt32)] = [
            (.shareDestination, 1), (.pauseGuidance, 1), (.shareDestination, 2), (.shareDestination, 1),
        ]
        for (index, (type, session)) in types.enumerated() {
            let header = FrameHeader(
                type: type.rawValue, session: SessionID(session), sequence: UInt64(index + 1))
            #expect(outbox.append(Frame(header: header, body: []), key: nil) == .queued)
        }
        outbox.purge(SessionID(1), only: .shareDestination)
        #expect(outbox.take(byteCount: .max).map(\.header.sequence) == [2, 3])
        #expect(outbox.isEmpty && outbox.byteCount == 0)
    }

    @Test(arguments: 0..<100)
    func `whatever is read when, events come in order and the last values win`(_ seed: Int) {
        var generator = SeededRandom(seed: UInt64(seed))
        var outbox = Outbox(limits: .init())
        var events: [UInt64] = []
        var newest: [UInt32: UInt64] = [:]
        var seenEvents: [UInt64] = []
        var seen: [UInt32: UInt64] = [:]
        var last: UInt64 = 0
        func take(_ count: Int, _ outbox: inout Outbox) {
            for frame in outbox.take(byteCount: count) {
                #expect(frame.header.sequence > last)
                last = frame.header.sequence
                let item = UInt32(frame.header.rawType)
                if item == 0 { seenEvents.append(last) } else { seen[item] = last }
            }
        }
        for sequence in UInt64(1)...500 {
            let item = UInt32.random(in: 0...4, using: &generator)
            let frame = Frame(
                header: FrameHeader(type: UInt16(item), session: SessionID(1), sequence: sequence), body: [])
            let key = item == 0 ? nil : ConflationKey(type: .updateManeuverEstimates, item: item)
            #expect(outbox.append(frame, key: key) == .queued)
            if item == 0 { events.append(sequence) } else { newest[item] = sequence }
            if Int.random(in: 0..<10, using: &generator) == 0 {
                take(Int.random(in: 1...400, using: &generator), &outbox)
            }
        }
        take(.max, &outbox)
        #expect(seenEvents == events)
        #expect(seen == newest)
    }
}
