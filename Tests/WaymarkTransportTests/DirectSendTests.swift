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
    @Test func `sending on a broken pipe raises no signal`() throws {
        let (ours, theirs) = try unixPair()
        defer { close(theirs) }
        close(ours)
        // While this thread blocks the signal, one that is raised stays pending, even if it is ignored.
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

    @Test func `a send returns the bytes that fit without blocking`() throws {
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

@Suite(.timeLimit(.minutes(10))) struct DirectSendTests {
    @Test(arguments: [SocketPeer.Transport.unix, .tcp])
    func `bytes that the socket accepts bypass the channel`(
        _ transport: SocketPeer.Transport
    ) async throws {
        let process = DaemonProcess()
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

    /// The socket accepts a part of nearly every batch, which ends anywhere in a frame.
    @Test(arguments: [CInt(4_608), 9_000, 30_000])
    func `a slow peer gets every byte once, in order, and is then sent to directly again`(
        _ sendBufferBytes: CInt
    ) async throws {
        let process = DaemonProcess()
        let counter = WriteCounter()
        let slow = try await process.vehicle("car", sendBufferBytes: sendBufferBytes, watch: counter)
        let other = try await process.vehicle("other")
        let guide = try await process.guide(["car", "other"])
        var next: UInt64 = 2
        for round in 0..<3 {
            let before = counter.count
            // These fill the channel, and then the outbox.
            for index in 0..<500 { try guide.alert(100 + 97 * index % 400) }
            // The slow peer reads only after every frame was sent or queued.
            _ = try await other.alerts(upTo: guide.sequence)
            #expect(try await slow.alerts(upTo: guide.sequence) == Array(next...guide.sequence))
            #expect(counter.count > before, "round \(round)")
            // The channel is empty now, but may not have reported its last write yet.
            var wasDirect = false
            for _ in 0..<1_000 where !wasDirect {
                let before = counter.count
                try guide.alert()
                #expect(try await slow.alerts(upTo: guide.sequence) == [guide.sequence])
                _ = try await other.alerts(upTo: guide.sequence)
                wasDirect = counter.count == before
            }
            #expect(wasDirect, "round \(round)")
            next = guide.sequence + 1
        }
        try await process.end()
    }

    @Test func `a peer that does not read delays no other, and gets all events and the newest states`()
        async throws
    {
        let process = DaemonProcess()
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

    @Test func `a peer with a broken socket is disconnected without effect on others`() async throws {
        let process = DaemonProcess()
        let broken = try await process.vehicle("broken")
        let other = try await process.vehicle("other")
        let guide = try await process.guide(["broken", "other"])
        // Writing to its socket fails, but reading does not report it.
        shutdown(broken.descriptor, CInt(SHUT_RD))
        for _ in 0..<10 { try guide.alert() }
        let last = guide.sequence
        #expect(try await other.alerts(upTo: last) == Array(2...last))
        // The connection is removed from its loop first, and from the gateway afterwards.
        while try await process.driver.connectionCount() > 2 { await Task.yield() }
        #expect(try await process.driver.census().endpoints == 1)
        try await process.end()
    }

    @Test func `members of an audience keep receiving when a member at any index leaves`() async throws {
        let process = DaemonProcess()
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
