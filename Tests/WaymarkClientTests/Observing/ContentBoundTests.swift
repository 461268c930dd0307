import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// A gateway that tells more than a program may hold.
@Suite struct ContentBoundTests {
    private static func frame(_ session: UInt32, _ text: String, variants: Int = 1) -> [UInt8] {
        let road = Publication.currentRoadName(Array(repeating: text, count: variants))
        return Array(
            Codec.encode(Envelope(.publication(road), session: SessionID(session), sequence: 1)).bytes)
    }

    private static func outline(of frame: Frame) -> PublicationOutline? { try? Codec.outline(of: frame) }

    private static func told(_ session: UInt32, _ frames: [UInt8]) -> Message {
        var told = ObservedFrames(.in, frames)
        told.session = SessionID(session)
        return .observedFrames(told)
    }

    private static func records(_ sessions: ClosedRange<UInt32>) -> ObservedRecords {
        var records = ObservedRecords()
        records.sessions = sessions.map { SessionRecord(SessionID($0), of: ClientID(unchecked: "app")) }
        records.isLast = true
        return records
    }

    /// What is counted is what is there.
    private static func check(_ observed: ObservedGateway) {
        let sum = observed.retained.values.reduce(0) { $0 + $1.byteCount }
        #expect(observed.contentByteCount == sum && sum <= observed.contentBytesMax)
        #expect(observed.sessionsWithoutContent.isDisjoint(with: observed.retained.keys))
    }

    @Test func `the sessions that retain most are kept without their content`() {
        var observed = ObservedGateway(contentBytesMax: 100_000)
        observed.apply(.observedRecords(Self.records(1...1_000)), outline: Self.outline)
        let text = String(repeating: "x", count: 400)
        observed.apply(Self.told(5, Self.frame(5, text, variants: 8)), outline: Self.outline)
        for session in 1...1_000 as ClosedRange<UInt32> where session != 5 {
            observed.apply(Self.told(session, Self.frame(session, text)), outline: Self.outline)
            Self.check(observed)
        }
        #expect(observed.sessionsWithoutContent.contains(SessionID(5)))
        #expect(observed.sessionsWithoutContent.count + observed.retained.count == 1_000)
        #expect(observed.retained.count > 100)

        // What such a session publishes later is no whole content.
        observed.apply(Self.told(5, Self.frame(5, "y")), outline: Self.outline)
        #expect(observed.retained[SessionID(5)] == nil)

        var gone = ObservedRecords()
        gone.sessionsGone = (1...1_000 as ClosedRange<UInt32>).map { SessionID($0) }
        observed.apply(.observedRecords(gone), outline: Self.outline)
        #expect(observed.contentByteCount == 0 && observed.sessionsWithoutContent.isEmpty)
    }

    @Test func `content that is told with the state is bounded, and told again with the next state`() {
        var observed = ObservedGateway(contentBytesMax: 10_000)
        let text = String(repeating: "x", count: 500)
        let begin = ObservationBegin(.full, after: 0, at: Instant(nanoseconds: 0))
        for count in [100, 3] as [UInt32] {
            observed.apply(.observationBegin(begin), outline: Self.outline)
            var records = Self.records(1...count)
            records.retained = (1...count).map { RetainedFrames(SessionID($0), Self.frame($0, text)) }
            observed.apply(.observedRecords(records), outline: Self.outline)
            Self.check(observed)
            #expect(observed.sessionsWithoutContent.isEmpty == (count == 3))
        }
        #expect(observed.retained.count == 3)
    }

    @Test func `a small frame that is kept keeps nothing that was told with it`() throws {
        var observed = ObservedGateway()
        observed.apply(.observedRecords(Self.records(1...1)), outline: Self.outline)
        // A shared destination is not retained.
        let shared = Publication.shareDestination(
            shareID: "s",
            Waypoint(
                center: Coordinate(latitude: 47, longitude: 9),
                nameVariants: Array(repeating: String(repeating: "x", count: 500), count: 8)))
        let frame = Codec.encode(Envelope(.publication(shared), session: SessionID(1), sequence: 1))
        observed.apply(
            Self.told(1, Array(frame.bytes) + Self.frame(1, "road")), outline: Self.outline)
        let kept = try #require(observed.retained[SessionID(1)]?.frames.first)
        // It is at the start of an array of its own.
        #expect(kept.bytes.startIndex == 0 && kept.header.type == .currentRoadName)
    }

    @Test func `parts of counters without an end are left out beyond a bound`() {
        var calls = CounterCalls()
        calls.add(1, ReadCounters())
        var part = CounterReport()
        part.sessions = Array(repeating: SessionMeasure(SessionID(1)), count: 100_000)
        for _ in 0..<50 {
            let isWhole = calls.apply(part) != nil
            #expect(!isWhole)
        }
        part.isLast = true
        let values = calls.apply(part)?.parts.reduce(0) { $0 + $1.sessions.count }
        #expect(values == 1_200_000)
        calls.add(2, ReadCounters())
        let count = calls.apply(part)?.parts.count
        #expect(count == 1)
    }
}
