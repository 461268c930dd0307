import RandomMessages
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// Lines are checked many differences at a time; what is said of them is what reading one by one says.
@Suite struct LineTests {
    /// One code for what the frame is refused for, and where; nil if it is taken.
    private func refusal(_ frame: Frame, _ decoder: BodyDecoder) throws -> (field: String, code: ErrorCode)? {
        let outline = Result { () throws(DecodingError) in try decoder.outline(of: frame) }
        switch Result(catching: { () throws(DecodingError) in try decoder.decode(frame).message }) {
        case .success(let message):
            guard case .publication(let publication) = message else { return ("", .wrongState) }
            #expect(outline == .success(publication.outline))
            return nil
        case .failure(let error):
            #expect(outline == .failure(error))
            guard case .rejected(let rejection) = error else { return ("", .wrongState) }
            let start = "segments[0].coordinates."
            #expect(rejection.field.hasPrefix(start))
            return (String(rejection.field.dropFirst(start.count)), rejection.code)
        }
    }

    private func compare(_ latitudes: [UInt8], _ longitudes: [UInt8], _ decoder: BodyDecoder) throws -> Bool {
        let frame = SlowLine.frame(latitudes: latitudes, longitudes: longitudes)
        let expected = SlowLine.refusal(latitudes: latitudes, longitudes: longitudes)
        let refusal = try self.refusal(frame, decoder)
        #expect(refusal?.field == expected?.field)
        #expect(refusal?.code == expected?.code)
        return refusal == nil
    }

    /// How long differences are: often of one and two bytes, as on roads, mixed or not, and now and then longer.
    private static let mixtures: [ClosedRange<Int64>] = [
        -64...63, -8_192...8_191, -70...70, -9_000...9_000, -300_000...300_000,
    ]

    @Test(arguments: mixtures)
    func `a line is refused where reading its points one by one refuses it`(_ range: ClosedRange<Int64>)
        throws
    {
        let decoder = BodyDecoder()
        var random = RandomValues(seed: UInt64(range.upperBound))
        var taken = 0
        for _ in 0..<150 {
            let count = Int.random(in: 0...400, using: &random)
            // Near the end of what is valid, on either side, or far from it.
            let starts: [Int64] = [0, 0, 89_900_000, -89_990_000, 89_600_000]
            var lists: [[UInt8]] = []
            for scale: Int64 in [1, 2] {
                var line = [random.pick(starts) * scale]
                for _ in 0..<count { line.append(.random(in: range, using: &random)) }
                lists.append(WireWriter.body { for value in line { $0.varint(WireWriter.zigzag(value)) } })
            }
            if try self.compare(lists[0], lists[1], decoder) { taken += 1 }
        }
        #expect(taken > 10)
    }

    @Test func `a line whose bytes were changed is refused where reading them one by one refuses it`() throws
    {
        let decoder = BodyDecoder()
        var random = RandomValues(seed: 7)
        let whole = WireWriter.body { for index in 0..<150 { $0.varint(UInt64(index * 37 % 5_000)) } }
        var refused = 0
        for _ in 0..<600 {
            var bytes = whole
            let index = random.number(0...bytes.count - 1)
            switch random.next() % 3 {
            case 0: bytes[index] |= 0x80
            case 1: bytes.removeLast(bytes.count - index)
            default:
                bytes.replaceSubrange(
                    index..<index, with: [UInt8](repeating: 0xFF, count: Int(random.next() % 12)))
            }
            if try !self.compare(bytes, whole, decoder) { refused += 1 }
            if try !self.compare(whole, bytes, decoder) { refused += 1 }
        }
        #expect(refused > 100)
    }

    @Test func `a line may come in pieces, packed or not`() throws {
        func body(_ write: (inout WireWriter) -> Void) -> Frame {
            Frame(
                .addRouteSegments,
                body: WireWriter.body {
                    $0.message(2) { segment in
                        segment.text(1, "s")
                        segment.message(2) { $0.message(1) { _ in } }
                        segment.message(3) { $0.message(1) { _ in } }
                        segment.message(4, write)
                    }
                })
        }
        let far = WireWriter.zigzag(89_999_000)
        let steps = [UInt64](repeating: 2, count: 999)
        let fits = body {
            $0.packed(1, [far])
            $0.packed(2, [0] + steps)
            $0.packed(1, Array(steps.dropLast()))
            $0.number(1, 2)
        }
        guard case .publication(.addRouteSegments(let segments, _)) = try Codec.decode(fits).message else {
            Issue.record("another message came back")
            return
        }
        #expect(segments[0].coordinates.count == 1_000)
        #expect(segments[0].coordinates.last == Coordinate(latitude: 89.999999, longitude: 0.000999))
        // One more step leads over the pole, and one more beyond.
        let over = body {
            $0.packed(1, [far] + steps)
            $0.number(1, 2)
            $0.number(1, 2)
        }
        let refusal = try self.refusal(over, BodyDecoder())
        #expect(refusal?.field == "latitude_e6_deltas[1001]")
        #expect(refusal?.code == .outOfRange)
    }

    @Test func `a line has as many points as it may`() throws {
        let decoder = BodyDecoder()
        let most = [UInt8](repeating: 0, count: 262_144)
        #expect(try self.refusal(SlowLine.frame(latitudes: most, longitudes: most), decoder) == nil)
        let refusal = try self.refusal(
            SlowLine.frame(latitudes: most + [0], longitudes: most + [0]), decoder)
        #expect(refusal?.field == "latitude_e6_deltas[262144]")
        #expect(refusal?.code == .outOfRange)
    }
}
