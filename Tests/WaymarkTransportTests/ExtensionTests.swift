import Testing
import WaymarkCodec
import WaymarkProtocol
import WaymarkTransport

@Suite(.timeLimit(.minutes(10))) struct ExtensionTests {
    @Test func `an unknown state reaches a late joiner once over a real socket, also after a restart`()
        async throws
    {
        var process = DaemonProcess()
        let early = try await process.vehicle("car")
        let guide = try await process.guide(["car"])
        for value in UInt8(1)...3 {
            try guide.publish(unknown: 0x01E5, key: 7, [value])
            try guide.publish(unknown: 0x01E5, key: 8, [10 + value])
        }
        let last = guide.sequence
        let seen = try await early.unknown(upTo: last)
        #expect(seen.map { Array($0.body) } == [[1], [11], [2], [12], [3], [13]])
        let late = try await process.connect()
        _ = try await late.welcome(Bench.vehicleHello("car", "late"))
        #expect(try await late.unknown(upTo: last) == Array(seen.suffix(2)))

        (process, _, _) = try await process.restart()
        let later = try await process.connect()
        _ = try await later.welcome(Bench.vehicleHello("car", "later"))
        #expect(try await later.unknown(upTo: last) == Array(seen.suffix(2)))
        try guide.publish(unknown: 0x01E5, key: 8, [99])
        for endpoint in [early, late, later] {
            #expect(try await endpoint.unknown(upTo: last + 1).map { Array($0.body) } == [[99]])
        }
        try await process.end()
    }
}

extension Guide {
    /// Publishes a state of a type that the gateway does not know, which it shall retain.
    fileprivate func publish(unknown type: UInt16, key: UInt16, _ body: [UInt8]) throws {
        let header = FrameHeader(
            type: type, flags: [.skippable, .state, .retained], key: key, session: self.session,
            sequence: self.nextSequence())
        try self.send(Frame(header: header, body: body).bytes)
    }
}

extension SocketPeer {
    /// The frames of unknown types up to number `last`. Other frames are skipped.
    fileprivate func unknown(upTo last: UInt64) async throws -> [Frame] {
        var frames: [Frame] = []
        while frames.last?.header.sequence != last {
            guard let frame = try await self.receive() else { throw UnexpectedResult(got: "the end") }
            if frame.header.type == nil { frames.append(frame) }
        }
        return frames
    }
}
