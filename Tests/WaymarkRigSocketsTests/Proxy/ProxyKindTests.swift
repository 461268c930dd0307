import Foundation
import ListeningSockets
import Testing
import WaymarkClient
import WaymarkProtocol
import WaymarkRigSockets
import WaymarkTransport

/// What each kind of fault looks like at both ends, over real sockets.
@Suite(.timeLimit(.minutes(5))) struct ProxyKindTests {
    private static let hello = Frames.client()
    private static let roads = (1...5).map { Frames.road(UInt64($0)) }
    /// The first connection at the gateway.
    private static let gateway = 1_001

    /// A proxy with a fault, and a peer whose Hello has arrived unless a fault of it keeps it back.
    private static func bench(_ fault: String) async throws -> (ProxyBench, Int) {
        let bench = try await ProxyBench([fault])
        return (bench, await bench.peer())
    }

    private static let afterRoad = "after: { message: currentRoadName, count: 2 }"

    @Test func `without a fault both ends see the same bytes, and an end is an end`() async throws {
        let bench = try await ProxyBench()
        let peer = await bench.peer()
        let sent = Self.roads.flatMap(\.self)
        await bench.ends.send(sent, on: peer)
        #expect(await bench.ends.bytes(Self.hello.count + sent.count, on: Self.gateway) == Self.hello + sent)
        await bench.ends.send(Frames.ping(1), on: Self.gateway)
        #expect(await bench.ends.bytes(24, on: peer) == Frames.ping(1))
        await bench.ends.endWriting(peer)
        #expect(await bench.ends.until(Self.gateway) { $0.hasEnded }.closed == nil)
        await bench.ends.endWriting(Self.gateway)
        #expect(await bench.ends.until(peer) { $0.closed != nil }.hasEnded)
        await bench.ended()
        #expect(bench.endings == [.closedByPeer])
        #expect(bench.faults == [])
        await bench.stop()
    }

    @Test func `a reset of one end is a reset at the other`() async throws {
        let bench = try await ProxyBench()
        let peer = await bench.peer()
        await bench.ends.bytes(Self.hello.count, on: Self.gateway)
        await bench.ends.reset(peer)
        #expect(await bench.ends.until(Self.gateway) { $0.closed != nil }.wasReset)
        await bench.ended()
        #expect(bench.endings == [.resetByPeer])
        await bench.stop()
    }

    @Test func `cut with rst sends exactly the bytes before it, and then a reset to both`() async throws {
        let (bench, peer) = try await Self.bench("{ link: app, kind: cut, at-byte: 17, \(Self.afterRoad) }")
        await bench.ends.send(Self.roads.flatMap(\.self), on: peer)
        let seen = await bench.ends.until(Self.gateway) { $0.closed != nil }
        #expect(seen.bytes == Self.hello + Self.roads[0] + Self.roads[1].prefix(17))
        #expect(seen.wasReset)
        #expect(await bench.ends.until(peer) { $0.closed != nil }.wasReset)
        await bench.ended()
        #expect(bench.endings == [.byFault])
        #expect(bench.faults == ["cut"])
        await bench.stop()
    }

    @Test func `cut with fin ends both ways behind what was sent`() async throws {
        let (bench, peer) = try await Self.bench("{ link: app, kind: cut, with: fin, \(Self.afterRoad) }")
        await bench.ends.send(Self.roads[0] + Self.roads[1], on: peer)
        let seen = await bench.ends.until(Self.gateway) { $0.hasEnded }
        #expect(seen.bytes == Self.hello + Self.roads[0] + Self.roads[1])
        #expect(await bench.ends.until(peer) { $0.hasEnded }.closed == nil)
        await bench.stop()
    }

    @Test func `half-close ends one way, and the other one lives`() async throws {
        let (bench, peer) = try await Self.bench(
            "{ link: app, kind: half-close, towards: gateway, \(Self.afterRoad) }")
        await bench.ends.send(Self.roads.flatMap(\.self), on: peer)
        let seen = await bench.ends.until(Self.gateway) { $0.hasEnded }
        #expect(seen.bytes == Self.hello + Self.roads[0] + Self.roads[1])
        await bench.ends.send(Frames.ping(7), on: Self.gateway)
        #expect(await bench.ends.bytes(24, on: peer) == Frames.ping(7))
        await bench.ends.endWriting(Self.gateway)
        #expect(await bench.ends.until(peer) { $0.hasEnded }.hasEnded)
        await bench.stop()
    }

    @Test func `stall stops reading, so that the sender's buffers fill, and loses nothing`() async throws {
        let bench = try await ProxyBench(["{ name: s, link: app, kind: stall, towards: gateway }"])
        let peer = await bench.peer()
        let blocks = (1...400).map { Frames.road(UInt64($0), text: String(repeating: "x", count: 60_000)) }
        for block in blocks { await bench.ends.send(block, on: peer) }
        await bench.ends.until(peer) { $0.isFull }
        #expect(await bench.ends.state(Self.gateway).bytes.isEmpty)
        try await bench.server.clear("s")
        let sent = Self.hello + blocks.flatMap(\.self)
        #expect(await bench.ends.bytes(sent.count, on: Self.gateway) == sent)
        await bench.stop()
    }

    @Test func `refuse of all resets a connection before it says anything`() async throws {
        let bench = try await ProxyBench(["{ name: r, link: '*', kind: refuse }"])
        let peer = await bench.ends.connect(to: bench.address)
        #expect(await bench.ends.until(peer) { $0.closed != nil }.wasReset)
        await bench.ended()
        #expect(bench.endings == [.refused])
        #expect(await bench.ends.state(Self.gateway).isOpen == false)
        try await bench.server.clear("r")
        _ = await bench.peer()
        #expect(await bench.ends.bytes(Self.hello.count, on: Self.gateway) == Self.hello)
        await bench.stop()
    }

    @Test func `refuse of one peer resets it behind its Hello, so many times, and no other`() async throws {
        let bench = try await ProxyBench(["{ link: dut/cluster, kind: refuse, times: 2 }"])
        _ = await bench.peer(Self.hello)
        for _ in 1...2 {
            let refused = await bench.peer(Frames.endpoint())
            #expect(await bench.ends.until(refused) { $0.closed != nil }.wasReset)
        }
        let admitted = await bench.peer(Frames.endpoint())
        await bench.ends.send(Frames.ping(1), on: admitted)
        await bench.until {
            if case .connected(let connection) = $0 { connection.number == 4 } else { false }
        }
        #expect(await bench.ends.state(admitted).closed == nil)
        #expect(bench.faults == ["refuse", "refuse"])
        await bench.stop()
    }

    @Test func `blackhole reads everything and delivers nothing, not even the end`() async throws {
        let (bench, peer) = try await Self.bench("{ link: app, kind: blackhole, \(Self.afterRoad) }")
        await bench.ends.send(Self.roads.flatMap(\.self), on: peer)
        await bench.until { if case .fault = $0 { true } else { false } }
        await bench.ends.send(Frames.ping(1), on: Self.gateway)
        await bench.ends.endWriting(Self.gateway)
        // An answer to this means that all before it was processed.
        await bench.ends.endWriting(peer)
        let seen = await bench.ends.until(Self.gateway) { $0.hasEnded || $0.closed != nil }
        #expect(seen.bytes == Self.hello + Self.roads[0])
        #expect(await bench.ends.state(peer).bytes.isEmpty)
        await bench.stop()
    }

    @Test func `drop takes frames out of the stream`() async throws {
        let (bench, peer) = try await Self.bench("{ link: app, kind: drop, times: 2, \(Self.afterRoad) }")
        await bench.ends.send(Self.roads.flatMap(\.self), on: peer)
        let left = Self.hello + Self.roads[0] + Self.roads[3] + Self.roads[4]
        #expect(await bench.ends.bytes(left.count, on: Self.gateway) == left)
        #expect(bench.faults == ["drop", "drop"])
        await bench.stop()
    }

    @Test func `duplicate sends a frame twice`() async throws {
        let (bench, peer) = try await Self.bench(
            "{ link: app, kind: duplicate, times: 1, \(Self.afterRoad) }")
        await bench.ends.send(Self.roads[0] + Self.roads[1] + Self.roads[2], on: peer)
        let all = Self.hello + Self.roads[0] + Self.roads[1] + Self.roads[1] + Self.roads[2]
        #expect(await bench.ends.bytes(all.count, on: Self.gateway) == all)
        await bench.stop()
    }

    @Test func `reorder exchanges two frames`() async throws {
        let (bench, peer) = try await Self.bench("{ link: app, kind: reorder, times: 1, \(Self.afterRoad) }")
        await bench.ends.send(Self.roads.flatMap(\.self), on: peer)
        let all = Self.hello + [0, 2, 1, 3, 4].flatMap { Self.roads[$0] }
        #expect(await bench.ends.bytes(all.count, on: Self.gateway) == all)
        await bench.stop()
    }

    @Test func `corrupt flips one bit of the byte that is named`() async throws {
        let (bench, peer) = try await Self.bench(
            "{ link: app, kind: corrupt, times: 1, at-byte: 30, \(Self.afterRoad) }")
        await bench.ends.send(Self.roads.flatMap(\.self), on: peer)
        let sent = Self.hello + Self.roads.flatMap(\.self)
        let arrived = await bench.ends.bytes(sent.count, on: Self.gateway)
        let changed = zip(arrived, sent).enumerated().filter { $0.element.0 != $0.element.1 }
        #expect(changed.map(\.offset) == [Self.hello.count + Self.roads[0].count + 30])
        #expect(changed.allSatisfy { ($0.element.0 ^ $0.element.1).nonzeroBitCount == 1 })
        await bench.stop()
    }

    @Test(arguments: [
        "{ link: app, kind: delay, by: 30ms }", "{ link: app, kind: jitter, by: 30ms }",
        "{ link: app, kind: throttle, bytes-per-second: 20000 }", "{ link: app, kind: slice, bytes: 7 }",
    ])
    func `slow lines lose nothing, and keep the order`(_ fault: String) async throws {
        let (bench, peer) = try await Self.bench(fault)
        let sent = Self.hello + Self.roads.flatMap(\.self)
        await bench.ends.send(Self.roads.flatMap(\.self), on: peer)
        #expect(await bench.ends.bytes(sent.count, on: Self.gateway) == sent)
        #expect(bench.faults.count == 1)
        await bench.stop()
    }

    @Test func `a delayed frame is not early`() async throws {
        let (bench, peer) = try await Self.bench("{ link: app, kind: delay, by: 80ms, towards: gateway }")
        let start = ContinuousClock.now
        await bench.ends.send(Self.roads[0], on: peer)
        await bench.ends.bytes(Self.hello.count + Self.roads[0].count, on: Self.gateway)
        #expect(ContinuousClock.now - start >= .milliseconds(80))
        await bench.stop()
    }

    @Test func `chaos begins faults of its kinds until its time is over`() async throws {
        let (bench, peer) = try await Self.bench(
            "{ link: app, kind: chaos, every: 5ms, kinds: [drop, duplicate], for: 8760h }")
        var sequence: UInt64 = 0
        while bench.faults.count < 4 {
            sequence += 1
            await bench.ends.send(Frames.road(sequence), on: peer)
            await Task.yield()
        }
        #expect(bench.faults.first == "chaos")
        #expect(Set(bench.faults.dropFirst()).isSubset(of: ["drop", "duplicate"]))
        await bench.stop()
    }

    @Test func `Unix sockets on both sides see the end of a cut connection`() async throws {
        let folder = try RunFolder()
        defer { folder.remove() }
        let bench = try await ProxyBench(
            ["{ link: app, kind: cut, \(Self.afterRoad) }"], listen: .unix(path: folder.file("p")),
            gateway: .unix(path: folder.file("g")))
        let peer = await bench.peer()
        await bench.ends.send(Self.roads.flatMap(\.self), on: peer)
        let seen = await bench.ends.until(Self.gateway) { $0.closed != nil || $0.hasEnded }
        #expect(seen.bytes == Self.hello + Self.roads[0] + Self.roads[1])
        _ = await bench.ends.until(peer) { $0.closed != nil || $0.hasEnded }
        await bench.stop()
        #expect(!FileManager.default.fileExists(atPath: folder.file("p")))
    }
}
