import Glibc
import NIOCore
import NIOPosix
import Synchronization
import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

@Suite struct BareSocketTests {
    @Test func `a broken pipe is no signal`() throws {
        let (ours, theirs) = try unixPair()
        defer { close(theirs) }
        close(ours)
        // Of this thread: while it is blocked, a signal for it stays pending, even one that is ignored.
        var pipe = sigset_t()
        var before = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        #expect(BareSocket(descriptor: theirs).send([1, 2, 3].span.bytes) == 0)
        var pending = sigset_t()
        sigpending(&pending)
        #expect(sigismember(&pending, SIGPIPE) == 0)
    }

    @Test func `what does not fit is left, without waiting`() throws {
        let (ours, theirs) = try unixPair()
        defer {
            close(ours)
            close(theirs)
        }
        let socket = BareSocket(descriptor: theirs)
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }
        let count = socket.send(bytes.span.bytes)
        #expect((1..<bytes.count).contains(count))
        #expect(socket.send(bytes.span.bytes) == 0)
        var received = [UInt8](repeating: 0, count: bytes.count)
        #expect(recv(ours, &received, received.count, Int32(MSG_WAITALL | MSG_DONTWAIT)) == count)
        #expect(received.prefix(count) == bytes.prefix(count))
    }
}

@Suite(.timeLimit(.minutes(10))) struct StraightTests {
    @Test(arguments: [SocketPeer.Transport.unix, .tcp])
    func `what the kernel takes does not pass through the channel`(
        _ transport: SocketPeer.Transport
    ) async throws {
        let process = Process()
        let counter = WriteCounter()
        let endpoint = try await process.vehicle("car", over: transport, watch: counter)
        let guide = try await process.guide(["car"])
        for _ in 0..<100 {
            try guide.alert()
            #expect(try await endpoint.alerts(upTo: guide.sequence) == [guide.sequence])
        }
        #expect(counter.count == 0)
        try await process.end()
    }

    /// The socket takes a part of nearly every span, wherever that ends.
    @Test(arguments: [CInt(4_608), 9_000, 30_000])
    func `a peer that is slow gets every byte once, in order, and then straight again`(
        _ sendBufferBytes: CInt
    ) async throws {
        let process = Process()
        let counter = WriteCounter()
        let slow = try await process.vehicle("car", sendBufferBytes: sendBufferBytes, watch: counter)
        let other = try await process.vehicle("other")
        let guide = try await process.guide(["car", "other"])
        var next: UInt64 = 2
        for round in 0..<3 {
            let before = counter.count
            // Into the channel, and for a part into the outbox.
            for index in 0..<500 { try guide.alert(100 + 97 * index % 400) }
            // Nobody reads before all of it was sent, or had to wait.
            _ = try await other.alerts(upTo: guide.sequence)
            #expect(try await slow.alerts(upTo: guide.sequence) == Array(next...guide.sequence))
            #expect(counter.count > before, "round \(round)")
            // Behind the bytes of the last span the channel has nothing; now and then it has to hear of it first.
            var wasStraight = false
            for _ in 0..<1_000 where !wasStraight {
                let before = counter.count
                try guide.alert()
                #expect(try await slow.alerts(upTo: guide.sequence) == [guide.sequence])
                _ = try await other.alerts(upTo: guide.sequence)
                wasStraight = counter.count == before
            }
            #expect(wasStraight, "round \(round)")
            next = guide.sequence + 1
        }
        try await process.end()
    }

    @Test func `one that does not read keeps nobody waiting, and gets the events and the newest states`()
        async throws
    {
        let process = Process()
        let stalled = try await process.vehicle("stalled", sendBufferBytes: 4_608)
        let others = [try await process.vehicle("a"), try await process.vehicle("b")]
        let guide = try await process.guide(["stalled", "a", "b"])
        for number in 0..<1_000 {
            try guide.publish(.currentRoadName(["\(number) " + String(repeating: "x", count: 300)]))
            if number % 100 == 99 { try guide.alert() }
        }
        let last = guide.sequence
        let expected = (1...10).map { UInt64(1 + 101 * $0) }
        for other in others { #expect(try await other.alerts(upTo: last) == expected) }
        var sequences: [UInt64] = []
        while sequences.last != last {
            sequences.append(try #require(try await stalled.receive()).header.sequence)
        }
        let published = sequences.filter { $0 > 1 }
        #expect(published == Set(published).sorted(), "in order, each once")
        #expect(Set(expected).isSubset(of: published))
        #expect(published.count < 1_000, "states were skipped")
        try await process.end()
    }

    @Test func `a peer that takes nothing more is closed, and nobody else notices`() async throws {
        let process = Process()
        let broken = try await process.vehicle("broken")
        let other = try await process.vehicle("other")
        let guide = try await process.guide(["broken", "other"])
        // Its socket is broken for who writes to it, and nothing tells who reads.
        shutdown(broken.descriptor, CInt(SHUT_RD))
        for _ in 0..<10 { try guide.alert() }
        let last = guide.sequence
        #expect(try await other.alerts(upTo: last) == Array(2...last))
        // It leaves its loop and then the gateway, each behind the other.
        while try await process.driver.connectionCount() > 2 { await Task.yield() }
        #expect(try await process.driver.census().endpoints == 1)
        try await process.end()
    }

    @Test func `who leaves an audience, from whichever place, takes nothing from the others`() async throws {
        let process = Process()
        let names = (0..<8).map { "car-\($0)" }
        var endpoints: [String: SocketPeer] = [:]
        for name in names { endpoints[name] = try await process.vehicle(name) }
        let guide = try await process.guide(names)
        for leaving in [7, 0, 3, 5, 1] {
            try guide.alert()
            let last = guide.sequence
            for endpoint in endpoints.values { #expect(try await endpoint.alerts(upTo: last) == [last]) }
            try endpoints[names[leaving]]?.send(.goodbye(Goodbye(.normal)))
            endpoints[names[leaving]] = nil
            while try await process.driver.connectionCount() > endpoints.count + 1 { await Task.yield() }
        }
        try guide.alert()
        let last = guide.sequence
        #expect(endpoints.count == 3)
        for endpoint in endpoints.values { #expect(try await endpoint.alerts(upTo: last) == [last]) }
        try await process.end()
    }
}
