import Testing
import WaymarkGateway
import WaymarkModel
import WaymarkObservation
import WaymarkProtocol

/// Questions for counters, and observers that go before they are answered; and what observers missed.
@Suite struct QuestionTests {
    private static var question: ReadCounters {
        var read = ReadCounters()
        read.wantsConnections = true
        return read
    }

    private static func reports(_ world: ObservedWorld, _ id: ConnectionID) -> [CounterReport] {
        (world.told[id] ?? []).compactMap { if case .counters(let report) = $0 { report } else { nil } }
    }

    @Test func `an observer that resumes is told nothing of the answer that it was being told`() throws {
        var world = ObservedWorld()
        let observer = world.watch(50)
        let token = try #require(world.welcomes[observer]).resumptionToken
        let connections = (1...10_000).map { number in
            var measure = ConnectionMeasure(ConnectionID(UInt64(number)))
            measure.inputBytes = 5_000
            return measure
        }
        world.measures = Measures(counters: [.init(.requests, 7)], connections: connections)
        world.stalled = [observer]
        world.hub.noteRoom(for: observer)
        let parts = world.read(Self.question, observer)
        #expect(!parts.isEmpty && !parts.contains { $0.isLast })
        world.hub.read(Self.question, from: observer)
        world.hub.depart(observer, clean: false, until: world.now + .seconds(30))
        let again = ConnectionID(60)
        _ = world.observer(60, resuming: token)
        let last = world.numbers(observer).last ?? 0
        world.observe(60) { $0.afterNumber = last }
        #expect(Self.reports(world, again).isEmpty && !world.hub.isMeasuringDue)
        let answer = world.read(Self.question, again)
        #expect(answer.flatMap(\.connections) == connections)
        #expect(answer.filter { !$0.counters.isEmpty }.count == 1)
    }

    @Test
    func `a question that came during a measurement is due although the one that is measured for has gone`()
        throws
    {
        var world = ObservedWorld()
        let (first, second) = (world.watch(50), world.watch(51))
        world.hub.read(Self.question, from: first)
        #expect(world.hub.isMeasuringDue)
        let needsConnections = world.hub.beginMeasuring()
        #expect(needsConnections == true && !world.hub.isMeasuringDue)
        world.hub.read(ReadCounters(), from: second)
        world.hub.depart(first, clean: true, until: world.now)
        world.hub.endMeasuring()
        #expect(!world.hub.isDue && world.hub.isMeasuringDue)
        let begins = world.hub.beginMeasuring()
        world.hub.endMeasuring()
        world.tell()
        #expect(begins == false && Self.reports(world, second).count == 1)
        #expect(!world.hub.isMeasuringDue)
    }

    @Test
    func `entries that were told and lost with the connection are counted once, however often it is cut`()
        throws
    {
        var world = ObservedWorld { $0.limits.observationBytesMax = 16_384 }
        world.vehicle(1, "car")
        let client = world.client(2, "app")
        let session = try world.open(client, ["car"])
        world.publish(client, session, .startGuidance(trip(), generation: 1, .init()))
        var number = 0
        func publish(_ count: Int) {
            for _ in 0..<count {
                number += 1
                world.publish(client, session, .currentRoadName(["road \(number)"]))
            }
        }
        func gap(_ id: UInt64) -> UInt64 {
            world.told[ConnectionID(id), default: []].reduce(0) {
                if case .observationGap(let gap) = $1 { $0 + gap.dropped } else { $0 }
            }
        }
        world.watch(50) { $0.wantsState = false }
        var token = try #require(world.welcomes[ConnectionID(50)]).resumptionToken
        let first = world.numbers(ConnectionID(50)).last ?? 0
        // What it was told is lost, each time; from the second time on also a gap.
        for id in UInt64(51)...53 {
            publish(200)
            world.hub.depart(ConnectionID(id - 1), clean: false, until: world.now + .seconds(30))
            publish(20)
            _ = world.observer(id, resuming: token)
            token = try #require(world.welcomes[ConnectionID(id)]).resumptionToken
            world.observe(id) {
                $0.wantsState = false
                $0.afterNumber = first
            }
            #expect(gap(id) > 0)
            #expect(world.hub.droppedCount == gap(id), "\(id)")
            let last = try #require(world.numbers(ConnectionID(id)).last)
            let told = UInt64(world.numbers(ConnectionID(id)).count)
            #expect(last - first == gap(id) + told)
        }
    }
}
