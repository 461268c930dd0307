import Testing
import WaymarkFaults
import WaymarkHistory
import WaymarkProtocol
import WaymarkRig

/// When faults begin, and how much they hold.
@Suite struct FaultTriggerTests {
    private static let roads = (1...5).map { LinkBench.road(UInt64($0)) }
    private static let ping = LinkBench.ping(1)

    @Test func `a fault of frames begins with its frame`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.drop, after: .init(.currentRoadName, count: 2), times: 1))
        bench.send(Self.ping + Self.roads[0] + Self.ping + Self.roads[1] + Self.roads[2])
        #expect(bench.arrived(.toGateway).bytes == Self.ping + Self.roads[0] + Self.ping + Self.roads[2])
    }

    @Test func `a cut comes behind the frame that it waited for, with everything that was delayed before`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.delay(.milliseconds(50))))
        bench.begin(LinkFault(.cut(.finished), after: .init(.currentRoadName, count: 2)))
        bench.send(Self.roads[0] + Self.roads[1] + Self.roads[2])
        bench.pass(.milliseconds(50))
        #expect(bench.arrived(.toGateway).bytes == Self.roads[0] + Self.roads[1])
        #expect(bench.arrived(.toGateway).end == .finished)
        #expect(bench.arrived(.toPeer).end == .finished)
        #expect(bench.frames.map(\.delivery) == [.whole, .whole, .dropped])
    }

    @Test func `a cut at a byte lets only the bytes before it arrive`() {
        for byte in [0, 17, Self.roads[0].count, 100_000] {
            var bench = LinkBench()
            bench.begin(LinkFault(.cut(.reset), after: .init(.currentRoadName), atByte: byte))
            bench.send(Self.ping + Self.roads[0] + Self.roads[1])
            let whole = byte >= Self.roads[0].count
            #expect(bench.arrived(.toGateway).bytes == Self.ping + Self.roads[0].prefix(byte))
            #expect(bench.arrived(.toPeer).end == .reset)
            #expect(bench.frames.map(\.delivery) == [.whole, whole ? .whole : .dropped, .dropped])
        }
    }

    @Test func `at a byte without an event is in the next frame`() {
        var bench = LinkBench()
        bench.send(Self.ping)
        bench.begin(LinkFault(.cut(.finished), atByte: 5))
        #expect(bench.arrived(.toGateway).end == nil)
        bench.send(Self.roads[0])
        #expect(bench.arrived(.toGateway).bytes == Self.ping + Self.roads[0].prefix(5))
        #expect(bench.arrived(.toGateway).end == .finished)
    }

    @Test func `twice, then never`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.cut(.reset), after: .init(.currentRoadName), times: 2))
        for number in 1...4 {
            if number > 1 { bench.open(number) }
            bench.send(Self.ping + Self.roads[0], on: number)
            #expect(bench.arrived(.toGateway, number).end == (number <= 2 ? .reset : nil))
        }
        #expect(!bench.link.hasFaults)
    }

    @Test func `a stall at a byte holds the rest of the frame for its time`() {
        var bench = LinkBench()
        bench.begin(
            LinkFault(
                .stall, ways: [.toGateway], after: .init(.currentRoadName), atByte: 10, for: .seconds(1)))
        bench.send(Self.ping + Self.roads[0] + Self.ping)
        #expect(bench.arrived(.toGateway).bytes == Self.ping + Self.roads[0].prefix(10))
        #expect(!bench.link.mayRead(1, .toGateway))
        bench.pass(.seconds(1))
        #expect(bench.arrived(.toGateway).bytes == Self.ping + Self.roads[0] + Self.ping)
    }

    @Test func `a bit of the byte that is named is flipped`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.corrupt, after: .init(.currentRoadName), atByte: 30, times: 1))
        bench.send(Self.ping + Self.roads[0])
        let arrived = bench.arrived(.toGateway).bytes.suffix(Self.roads[0].count)
        let changed = zip(arrived, Self.roads[0]).enumerated().filter { $1.0 != $1.1 }.map(\.offset)
        #expect(changed == [30])
    }

    @Test func `a half-close at a byte ends the way in the middle of a frame`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.halfClose, ways: [.toPeer], after: .init(.currentRoadName), atByte: 3))
        bench.send(Self.roads[0], .toPeer)
        bench.send(Self.ping)
        #expect(bench.arrived(.toPeer).bytes == Array(Self.roads[0].prefix(3)))
        #expect(bench.arrived(.toPeer).end == .finished)
        #expect(bench.arrived(.toGateway).bytes == Self.ping)
    }

    @Test func `a frame of one way can begin a fault of the other`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.drop, ways: [.toPeer], after: .init(.currentRoadName)))
        bench.send(Self.ping, .toPeer)
        bench.send(Self.roads[0])
        bench.send(Self.ping, .toPeer)
        #expect(bench.arrived(.toGateway).bytes == Self.roads[0])
        #expect(bench.arrived(.toPeer).bytes == Self.ping)
    }

    @Test func `a time counts from the beginning, not from setting the fault`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.drop, after: .init(.currentRoadName), for: .seconds(1)))
        bench.pass(.seconds(5))
        bench.send(Self.roads[0] + Self.ping)
        #expect(bench.arrived(.toGateway).bytes.isEmpty)
        bench.pass(.seconds(1))
        bench.send(Self.ping)
        #expect(bench.arrived(.toGateway).bytes == Self.ping)
    }

    @Test func `a fault whose place is lost with its connection waits for the next frame`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.delay(.seconds(1))))
        bench.begin(LinkFault(.cut(.finished), after: .init(.currentRoadName)))
        bench.send(Self.roads[0])
        bench.handle(.ended(1, .toGateway, .reset))
        bench.open(2)
        bench.send(Self.roads[0], on: 2)
        bench.pass(.seconds(1))
        #expect(bench.arrived(.toGateway, 2).end == .finished)
    }

    @Test func `a connection is not read while too much of it is under way`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.delay(.seconds(1)), ways: [.toGateway]))
        let header = FrameHeader(type: 0x01E1, flags: .skippable)
        let frame = Array(Frame(header: header, body: [UInt8](repeating: 7, count: 1_000_000)).bytes)
        var count = 0
        while bench.link.mayRead(1, .toGateway), count < 100 {
            bench.send(frame)
            count += 1
        }
        #expect(count * frame.count >= LinkFaults.bytesMax)
        #expect(count * frame.count < LinkFaults.bytesMax + frame.count)
        #expect(bench.link.mayRead(1, .toPeer))
        bench.pass(.seconds(1))
        #expect(bench.link.mayRead(1, .toGateway))
        #expect(bench.arrived(.toGateway).bytes.count == count * frame.count)
    }

    @Test func `a piece for each byte of a long frame is made larger`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.slice(bytes: 1)))
        let header = FrameHeader(type: 0x01E1, flags: .skippable)
        bench.send(Array(Frame(header: header, body: [UInt8](repeating: 7, count: 1_000_000)).bytes))
        #expect((4_000...4_200).contains(bench.arrived(.toGateway).reads.count))
    }

    @Test func `more faults than a link keeps replace the oldest`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.drop))
        for _ in 0..<LinkFaults.faultsMax { bench.begin(LinkFault(.slice(bytes: 1_000))) }
        bench.send(Self.ping)
        #expect(bench.arrived(.toGateway).bytes == Self.ping)
    }
}
