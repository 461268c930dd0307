import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol
import WaymarkRecording

@testable import WaymarkInspector

/// A gateway whose sessions publish more than the inspector may hold.
@Suite struct ContentBoundTests {
    @Test func `content beyond the bound is left out, and the answers say so`() throws {
        var gateway = LiveGateway(contentBytesMax: 1_000)
        gateway.tellState()
        gateway.publish(.currentRoadName(["road"]), to: [])
        var totals = try gateway.ask("overview").object("totals")
        #expect(totals["sessionsWithoutContent"] as? Int == nil)

        let text = String(repeating: "x", count: 500)
        gateway.publish(.currentRoadName([text, text, text]), to: [])
        totals = try gateway.ask("overview").object("totals")
        #expect(totals["sessionsWithoutContent"] as? Int == 1)
        let vehicle = try gateway.ask("vehicle", ["id": "car"])
        #expect(vehicle.object("session")["withoutContent"] as? Bool == true)
        let sources = try gateway.ask("sources").objects("sources")
        let kept = try #require(sources.first).object("kept")
        #expect(kept["sessionsWithoutContent"] as? Int == 1 && kept["contentBytes"] as? Int == 0)
        #expect(kept["contentBytesMax"] as? Int == 1_000)

        // It is there again with the next state, and in the history all the time.
        let entries = try gateway.ask("entries", ["kind": "frame"]).objects("entries")
        #expect(entries.count == 2)
        gateway.tellState()
        gateway.publish(.currentRoadName(["road"]), to: [])
        totals = try gateway.ask("overview").object("totals")
        #expect(totals["sessionsWithoutContent"] as? Int == nil)
    }

    @Test func `decoded content is remembered up to a number of bytes`() throws {
        var history = RecentHistory(at: LiveGateway.start)
        let begin = ObservationBegin(.full, after: 0, at: Instant(nanoseconds: 0))
        history.apply(.observationBegin(begin), at: LiveGateway.start)
        var records = ObservedRecords()
        for number in 1...200 as ClosedRange<UInt32> {
            let session = SessionID(number)
            records.sessions.append(SessionRecord(session, of: ClientID(unchecked: "app")))
            let road = Publication.currentRoadName([String(repeating: "x", count: 400)])
            let frame = Codec.encode(Envelope(.publication(road), session: session, sequence: 1))
            records.retained.append(RetainedFrames(session, Array(frame.bytes)))
        }
        records.isLast = true
        history.apply(.observedRecords(records), at: LiveGateway.start)
        let source = InspectedSource("live", name: "test", .recent(history), isRedacted: false)
        var cache = ContentCache(bytesMax: 10_000)
        for record in records.sessions + records.sessions.reversed() {
            let content = cache.content(of: record, history.state, source)
            #expect(content.publications.count == 1 && cache.byteCount <= 10_000)
        }
        #expect(cache.byteCount > 5_000)
    }
}
