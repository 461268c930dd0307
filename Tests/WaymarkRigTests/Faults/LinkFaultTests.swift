import Testing
import WaymarkFaults
import WaymarkHistory
import WaymarkProtocol
import WaymarkRig

/// Each kind of fault by itself.
@Suite struct LinkFaultTests {
    private static let (one, two, three) = (LinkBench.ping(1), LinkBench.ping(2), LinkBench.ping(3))

    @Test func `without faults everything arrives at once, in order, with its end`() {
        var bench = LinkBench()
        bench.send(Array(Self.one[..<7]))
        bench.send(Array(Self.one[7...]) + Self.two)
        bench.send(Self.three, .toPeer)
        bench.handle(.ended(1, .toGateway, .finished))
        #expect(bench.arrived(.toGateway).bytes == Self.one + Self.two)
        #expect(bench.arrived(.toGateway).end == .finished)
        #expect(bench.arrived(.toPeer) == .init(bytes: Self.three, reads: [Self.three.count]))
        #expect(bench.frames.map(\.delivery) == [.whole, .whole, .whole])
        #expect(bench.link.deadline == nil)
        #expect(bench.notes.isEmpty)
    }

    @Test func `bytes that are no frame pass as they are, also behind frames and before the end`() {
        var bench = LinkBench()
        bench.send(Self.one + [1, 2, 3])
        bench.send(Self.two)
        #expect(bench.arrived(.toGateway).bytes == Self.one + [1, 2, 3] + Self.two)
        #expect(bench.broken == [1, 2, 3] + Self.two)
        bench.send(Array(Self.one[..<9]), .toPeer)
        bench.handle(.ended(1, .toPeer, .finished))
        #expect(bench.arrived(.toPeer).bytes == Array(Self.one[..<9]))
        #expect(bench.frames.count == 1)
    }

    @Test func `delay makes every frame late, and keeps the order`() {
        var bench = LinkBench()
        let fault = bench.begin(LinkFault(.delay(.milliseconds(200)), ways: [.toGateway]))
        bench.send(Self.one)
        bench.send(Self.two, .toPeer)
        #expect(bench.arrived(.toPeer).bytes == Self.two)
        bench.pass(.milliseconds(199))
        #expect(bench.arrived(.toGateway).bytes.isEmpty)
        bench.clear(fault)
        bench.send(Self.three)
        #expect(bench.arrived(.toGateway).bytes.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.arrived(.toGateway).bytes == Self.one + Self.three)
        #expect(bench.frames.last?.sent == Instant(nanoseconds: 199_000_000))
    }

    @Test func `jitter delays each frame by another time up to its measure`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.jitter(.milliseconds(100))))
        var late: Set<Int64> = []
        for nonce in UInt64(1)...20 {
            bench.send(LinkBench.ping(nonce))
            let sent = bench.now
            while bench.arrived(.toGateway).reads.count < nonce, let deadline = bench.link.deadline {
                bench.pass(deadline - bench.now)
            }
            late.insert((bench.now - sent).milliseconds)
        }
        #expect(bench.arrived(.toGateway).bytes == (1...20).flatMap { LinkBench.ping($0) })
        #expect(late.count > 10)
        #expect(late.allSatisfy { (0...100).contains($0) })
    }

    @Test func `throttle lets so many bytes arrive in a second`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.throttle(bytesPerSecond: 100), ways: [.toGateway]))
        let bytes = (1...20).flatMap { LinkBench.ping($0) }
        bench.send(bytes)
        for second in 1...3 {
            bench.pass(.seconds(1))
            #expect((95 * second...100 * second).contains(bench.arrived(.toGateway).bytes.count))
        }
        bench.pass(.seconds(10))
        #expect(bench.arrived(.toGateway).bytes == bytes)
    }

    @Test func `slice divides frames into reads`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.slice(bytes: 10)))
        bench.send(Self.one)
        #expect(bench.arrived(.toGateway).bytes == Self.one)
        #expect(bench.arrived(.toGateway).reads.dropLast().allSatisfy { $0 == 10 })
        #expect(bench.arrived(.toGateway).reads.count == (Self.one.count + 9) / 10)
    }

    @Test func `slices are apart in time, so that sockets do not join them`() {
        var bench = LinkBench(pieceGap: .milliseconds(1))
        bench.begin(LinkFault(.slice(bytes: 10)))
        bench.send(Self.one)
        for count in 1...(Self.one.count + 9) / 10 {
            #expect(bench.arrived(.toGateway).reads.count == count)
            bench.pass(.milliseconds(1))
        }
        #expect(bench.arrived(.toGateway).bytes == Self.one)
    }

    @Test func `stall stops reading, and everything arrives when it is over`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.stall, ways: [.toGateway], for: .seconds(2)))
        #expect(!bench.link.mayRead(1, .toGateway))
        #expect(bench.link.mayRead(1, .toPeer))
        bench.send(Self.one)
        bench.pass(.milliseconds(1_999))
        #expect(bench.arrived(.toGateway).bytes.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.arrived(.toGateway).bytes == Self.one)
        #expect(bench.link.mayRead(1, .toGateway))
    }

    @Test func `cut with a reset ends both ways and loses what is under way, once`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.delay(.seconds(1))))
        bench.send(Self.one)
        bench.begin(LinkFault(.cut(.reset)))
        for way in Way.allCases { #expect(bench.arrived(way) == .init(end: .reset)) }
        #expect(bench.frames.map(\.delivery) == [.dropped])
        #expect(bench.notes.map(\.kind) == ["delay", "cut"])
        bench.open(2)
        bench.send(Self.two, on: 2)
        bench.pass(.seconds(1))
        #expect(bench.arrived(.toGateway, 2).bytes == Self.two)
    }

    @Test func `cut without a reset lets arrive what was sent before`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.delay(.seconds(1))))
        bench.send(Self.one)
        bench.begin(LinkFault(.cut(.finished)))
        bench.send(Self.two)
        bench.pass(.seconds(1))
        #expect(bench.arrived(.toGateway).bytes == Self.one)
        for way in Way.allCases { #expect(bench.arrived(way).end == .finished) }
    }

    @Test func `drop loses frames, as often as it is told`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.drop, ways: [.toGateway], times: 2))
        bench.send(Self.one + Self.two + Self.three)
        bench.send(Self.one, .toPeer)
        #expect(bench.arrived(.toGateway).bytes == Self.three)
        #expect(bench.arrived(.toPeer).bytes == Self.one)
        #expect(bench.frames.map(\.delivery) == [.dropped, .dropped, .whole, .whole])
        #expect(bench.notes.map(\.kind) == ["drop", "drop"])
    }

    @Test func `duplicate lets a frame arrive twice`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.duplicate, times: 1))
        bench.send(Self.one + Self.two)
        #expect(bench.arrived(.toGateway).bytes == Self.one + Self.one + Self.two)
        #expect(bench.frames.count == 3)
    }

    @Test func `reorder lets two frames change places`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.reorder, times: 1))
        bench.send(Self.one + Self.two + Self.three)
        #expect(bench.arrived(.toGateway).bytes == Self.two + Self.one + Self.three)
    }

    @Test func `a frame behind which none follows waits a second to change places`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.reorder, times: 1))
        bench.send(Self.one)
        bench.pass(.milliseconds(999))
        #expect(bench.arrived(.toGateway).bytes.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.arrived(.toGateway).bytes == Self.one)
    }

    @Test func `corrupt flips one bit of each frame`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.corrupt, times: 2))
        bench.send(Self.one + Self.two + Self.three)
        let sent = Self.one + Self.two + Self.three
        let flipped = zip(bench.arrived(.toGateway).bytes, sent).map { ($0 ^ $1).nonzeroBitCount }
        #expect(flipped.count == sent.count)
        #expect(flipped.reduce(0, +) == 2)
        #expect(flipped.suffix(Self.three.count).allSatisfy { $0 == 0 })
        #expect(bench.frames.map(\.delivery) == [.corrupted, .corrupted, .whole])
    }

    @Test func `half-close ends one way, the other continues`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.halfClose, ways: [.toGateway]))
        bench.send(Self.one)
        bench.send(Self.two, .toPeer)
        #expect(bench.arrived(.toGateway) == .init(end: .finished))
        #expect(bench.arrived(.toPeer) == .init(bytes: Self.two, reads: [Self.two.count]))
    }

    @Test func `refuse closes connections as they open, until it is over`() {
        var bench = LinkBench(isOpen: false)
        bench.begin(LinkFault(.refuse, for: .milliseconds(800)))
        bench.open(1)
        bench.pass(.milliseconds(799))
        bench.open(2)
        bench.pass(.milliseconds(1))
        bench.open(3)
        #expect(bench.refused == [1, 2])
        bench.send(Self.one, on: 3)
        #expect(bench.arrived(.toGateway, 3).bytes == Self.one)
    }

    @Test func `blackhole reads everything, and nothing arrives`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.blackhole, for: .seconds(3)))
        #expect(bench.link.mayRead(1, .toGateway))
        bench.send(Self.one + Self.two)
        bench.handle(.ended(1, .toPeer, .finished))
        #expect(bench.arrived(.toPeer) == .init())
        bench.pass(.seconds(3))
        bench.send(Self.three)
        #expect(bench.arrived(.toGateway).bytes == Self.three)
        #expect(bench.arrived(.toPeer).end == .finished)
        #expect(bench.frames.map(\.delivery) == [.dropped, .dropped, .whole])
    }

    @Test func `the end of what both have closed passes a blackhole`() {
        var bench = LinkBench()
        bench.begin(LinkFault(.blackhole))
        for way in Way.allCases { bench.handle(.ended(1, way, .finished)) }
        for way in Way.allCases { #expect(bench.arrived(way).end == .finished) }
    }

    @Test func `chaos begins faults of its kinds, as its seed says`() {
        func notes(_ seed: UInt64) -> [FaultRecord] {
            var bench = LinkBench(seed: seed)
            bench.begin(
                LinkFault(.chaos(every: .milliseconds(100), [.drop, .duplicate, .delay]), for: .seconds(10)))
            for nonce in UInt64(1)...100 {
                bench.send(LinkBench.ping(nonce))
                bench.pass(.milliseconds(100))
            }
            bench.pass(.seconds(10))
            #expect(!bench.link.hasFaults)
            return bench.notes
        }
        #expect(notes(1) == notes(1))
        #expect(notes(1) != notes(2))
        #expect(Set(notes(1).map(\.kind)) == ["chaos", "drop", "duplicate", "delay"])
        #expect((40...250).contains(notes(1).count))
    }

    @Test func `a storm of all kinds never makes a whole frame of parts of others`() {
        for seed in UInt64(0)..<100 {
            var bench = LinkBench(seed: seed)
            bench.begin(
                LinkFault(
                    .chaos(every: .milliseconds(50), LinkFault.Name.single.filter { $0 != .corrupt }),
                    for: .seconds(20)))
            var sent: [Int: [UInt8]] = [:]
            var number = 1
            for nonce in UInt64(1)...200 {
                if bench.arrived(.toGateway, number).end != nil || bench.refused.contains(number) {
                    number += 1
                    bench.open(number)
                }
                if bench.link.mayRead(number, .toGateway) {
                    sent[number, default: []] += LinkBench.ping(nonce)
                    bench.send(LinkBench.ping(nonce), on: number)
                }
                bench.pass(.milliseconds(100))
            }
            bench.pass(.seconds(60))
            for number in 1...number {
                var splitter = FrameSplitter(frameBytesMax: .max)
                splitter.append(bench.arrived(.toGateway, number).bytes)
                #expect(throws: Never.self) { while try splitter.next() != nil {} }
            }
            #expect(bench.broken.isEmpty)
        }
    }
}
