import Testing
import WaymarkProtocol
import WaymarkRecording

@testable import WaymarkInspector

@Suite struct RecentHistoryTests {
    private static func road(_ number: Int) -> Publication { .currentRoadName(["road \(number)"]) }

    private static func numbers(_ history: RecentHistory) -> [UInt32] {
        var walk = history.walk(from: history.from)
        var numbers: [UInt32] = []
        while let entry = walk.next() { numbers.append(entry.number) }
        return numbers
    }

    @Test func `the newest entries are kept, within a number of bytes`() throws {
        var gateway = LiveGateway(bytesMax: 20_000, blockBytesMax: 2_000)
        gateway.tellState()
        for number in 0..<500 { gateway.publish(Self.road(number), to: ["car/hud"]) }
        let (history, kept) = (gateway.history, Self.numbers(gateway.history))
        #expect(history.counts.bytes <= 20_000)
        #expect(history.counts.entries == kept.count)
        // Publications, their ways to one endpoint, and the line that says that the state was told.
        #expect(Int(history.counts.dropped) + kept.count == 1_001)
        #expect(kept == Array((1_001 - UInt32(kept.count))...1_000))
        #expect(history.divisionByteCounts.reduce(0, +) == history.counts.bytes)
    }

    @Test func `the state at each entry that is kept equals a replay of everything`() throws {
        var (bounded, whole) = (LiveGateway(bytesMax: 40_000, blockBytesMax: 2_000), LiveGateway())
        for number in 0..<300 {
            if number == 0 || number == 150 {
                bounded.tellState()
                whole.tellState()
            }
            if number.isMultiple(of: 7) {
                bounded.confirm("car/hud", upTo: bounded.sequence)
                whole.confirm("car/hud", upTo: whole.sequence)
            }
            bounded.publish(Self.road(number), to: ["car/hud"])
            whole.publish(Self.road(number), to: ["car/hud"])
        }
        var states: [RecordingTime: ObservedGateway] = [:]
        var walk = whole.history.walk(from: whole.history.from)
        while let entry = walk.next() { states[entry.time] = walk.state.gateway }
        var kept = bounded.history.walk(from: bounded.history.from)
        var (compared, last) = (0, RecordingTime(nanoseconds: 0))
        while let entry = kept.next() {
            guard entry.time > last else { continue }
            last = entry.time
            compared += 1
            let source = try #require(bounded.inspection.sources.first)
            #expect(try source.state(at: entry.time).gateway == states[entry.time])
        }
        #expect(compared > 50)
    }

    @Test func `what is published between the parts of a whole state is in the state`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        gateway.publish(Self.road(1), to: [])
        gateway.beginState()
        gateway.tellRecords()
        gateway.publish(Self.road(2), to: [])
        gateway.endState()
        gateway.publish(.currentRoadName(["road 3"]), to: [])
        let source = try #require(gateway.inspection.sources.first)
        for number in 1...3 {
            let state = try source.state(at: LiveGateway.start + .milliseconds(10 * number + 1))
            let retained = state.gateway.retained[LiveGateway.session]?.frames ?? []
            #expect(retained.map(\.header.sequence) == [UInt64(number)])
        }
    }

    @Test func `what was missed is counted and told`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        gateway.tell(.observationGap(ObservationGap(dropped: 12, nextNumber: 13)))
        #expect(gateway.history.counts.missed == 12)
        let entries = try gateway.ask("entries", ["kind": "dropped"]).objects("entries")
        #expect(entries.count == 1)
        #expect(entries.first?.text("text").contains("12 entries are missing") == true)
    }
}
