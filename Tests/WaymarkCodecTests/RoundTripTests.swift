import RandomMessages
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

private func isPong(_ bytes: some Sequence<UInt8>) -> Bool { Codec.isPong(Array(bytes).span.bytes) }

@Suite struct RoundTripTests {
    private static let seedsPerType: UInt64 = 60

    @Test(arguments: MessageType.allCases)
    func `what is written is what is read`(_ type: MessageType) throws {
        let decoder = BodyDecoder()
        for seed in 0..<Self.seedsPerType {
            var random = RandomValues(seed: seed << 16 | UInt64(type.rawValue))
            let envelope = random.envelope(type)
            let frame = Codec.encode(envelope)
            #expect(frame.header.type == type)
            #expect(Int(frame.header.bodyLength) == frame.body.count)
            #expect(try decoder.decode(frame) == envelope, "seed \(seed)")
        }
    }

    @Test func `an encoder that has written others writes the same`() {
        let encoder = BodyEncoder(keptBytes: 64)
        for seed in 0..<Self.seedsPerType {
            var random = RandomValues(seed: seed)
            for type in MessageType.allCases {
                let envelope = random.envelope(type)
                #expect(encoder.encode(envelope) == Codec.encode(envelope), "\(type), seed \(seed)")
            }
        }
    }

    @Test(arguments: MessageType.allCases.filter { MessageType.published.contains($0.rawValue) })
    func `the outline of the bytes is the outline of the value`(_ type: MessageType) throws {
        let decoder = BodyDecoder()
        for seed in 0..<Self.seedsPerType {
            var random = RandomValues(seed: seed << 16 | UInt64(type.rawValue))
            let envelope = random.envelope(type)
            guard case .publication(let publication) = envelope.message else {
                Issue.record("\(type) is not a publication")
                continue
            }
            #expect(
                try decoder.outline(of: Codec.encode(envelope)) == publication.outline, "seed \(seed)")
        }
    }

    @Test func `a Pong is known by its bytes, and nothing else is taken for one`() throws {
        for shift in 0..<64 {
            let nonce = UInt64.max >> UInt64(shift)
            for nonce in [0, nonce, nonce &- 1] {
                let pong = Array(Codec.encode(Envelope(.pong(nonce: nonce))).bytes)
                // The longest is left to the decoder.
                #expect(isPong(pong) == (nonce < 1 << 63), "\(nonce)")
                #expect(!isPong(pong + [0]))
                #expect(!isPong(pong.dropLast()))
                #expect(!isPong(Codec.ping(nonce: nonce).bytes))
            }
        }
        let bodies: [[UInt8]] = [
            [], [8], [8, 0x80], [8, 1, 1], [9, 1], [0x80, 1], [8, 0x80, 0], [16, 1], [8, 0x80, 0x80],
        ]
        for body in bodies {
            let frame = Frame(.pong, body: body)
            let isRead = (try? Codec.decode(frame).message.type) == .pong
            #expect(!isPong(frame.bytes) || isRead, "\(body)")
        }
    }

    @Test func `a Ping is written as any message is`() {
        for nonce in [0, 1, 127, 128, UInt64.max] {
            #expect(Codec.ping(nonce: nonce) == Codec.encode(Envelope(.ping(nonce: nonce))))
        }
    }

    @Test func `what is remembered for a crowd is what would be written`() {
        let encoder = CachingEncoder()
        let types: [MessageType] = [.welcome, .snapshotBegin, .snapshotEnd, .pong]
        var random = RandomValues(seed: 3)
        var crowd = (0..<12).map { random.envelope(types[$0 % types.count]) }
        for turn in 0..<200 {
            let index = turn * 7 % crowd.count
            if case .welcome(var welcome) = crowd[index].message {
                // As for the next of the crowd, now and then with another promise.
                welcome.resumptionToken = ResumptionToken(
                    high: UInt64(turn + 1) &* 0x9E37_79B9_7F4A_7C15, low: .max)
                if turn % 5 == 0 { welcome.isResumed.toggle() }
                crowd[index].message = .welcome(welcome)
            } else if turn % 3 == 0 {
                crowd[index].sequence &+= 1
            }
            for _ in 0..<2 { #expect(encoder.encode(crowd[index]) == Codec.encode(crowd[index])) }
        }
    }

    @Test func `a body is read wherever it lies in the bytes that were received`() throws {
        var random = RandomValues(seed: 1)
        let first = random.envelope(.startGuidance)
        let second = random.envelope(.addManeuvers)
        let bytes = Array(Codec.encode(first).bytes) + Array(Codec.encode(second).bytes)
        let start = Codec.encode(first).bytes.count
        let frame = Frame(header: Codec.encode(second).header, bytes: bytes[start...])
        #expect(try Codec.decode(frame) == second)
    }

    @Test func `an angle of 180 degrees is read as -180 degrees`() throws {
        let maneuvers = Frame(
            .addManeuvers,
            body: WireWriter.body {
                $0.number(1, 1)
                $0.message(2) {
                    $0.number(1, 4)
                    $0.signed(8, 180)
                    $0.packed(9, [WireWriter.zigzag(0), WireWriter.zigzag(179)])
                }
            })
        guard case .publication(.addManeuvers(let read, _)) = try Codec.decode(maneuvers).message else {
            Issue.record("another message came back")
            return
        }
        #expect(read[0].junctionExitAngle == .degrees(-180))
        #expect(read[0].junctionElementAngles == [.degrees(0), .degrees(179)])
        let lanes = Frame(
            .addLaneGuidances,
            body: WireWriter.body {
                $0.number(1, 1)
                $0.message(2) {
                    $0.number(1, 4)
                    $0.message(2) {
                        $0.packed(1, [WireWriter.zigzag(-180)])
                        $0.signed(2, 180)
                        $0.number(3, 1)
                    }
                }
            })
        guard case .publication(.addLaneGuidances(let guidances, _)) = try Codec.decode(lanes).message else {
            Issue.record("another message came back")
            return
        }
        #expect(guidances[0].lanes[0].highlightedAngle == .degrees(-180))
    }

    @Test func `a long line is as precise at its end as at its start`() throws {
        let points = (0..<100_000).map { index in
            Coordinate(latitude: 47.0 + Double(index) / 3e6, longitude: 9.0 - Double(index) / 7e6)
        }
        var random = RandomValues(seed: 2)
        var segment = random.segment("long")
        segment.coordinates = points
        let envelope = Envelope(.publication(.addRouteSegments([segment], generation: 1)))
        guard
            case .publication(.addRouteSegments(let read, _)) = try Codec.decode(Codec.encode(envelope))
                .message
        else {
            Issue.record("another message came back")
            return
        }
        for (before, after) in zip(points, read[0].coordinates) {
            #expect(abs(before.latitude - after.latitude) <= 0.51e-6)
            #expect(abs(before.longitude - after.longitude) <= 0.51e-6)
        }
        #expect(read[0].coordinates.count == points.count)
    }
}
