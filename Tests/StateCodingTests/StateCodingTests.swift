import StateCoding
import Testing

/// Contains every kind of value that a state may contain.
private struct Sample: Codable, Hashable {
    enum Choice: Codable, Hashable {
        case nothing
        case number(Int)
        case named(text: String, other: UInt8?)
    }

    enum Raw: UInt32, Codable { case one = 1, two }

    struct Key: Codable, Hashable { var text: String }

    var yes = true
    var small: Int8 = -128
    var large: Int64 = .min
    var count: UInt64 = .max
    var share = -0.25
    var text = "ä\u{0}b"
    var bytes: [UInt8] = Array(250...255)
    var choices: [Choice] = [
        .nothing, .number(-3), .named(text: "x", other: nil), .named(text: "", other: 4),
    ]
    var raw = Raw.two
    var absent: Int?
    var present: Int? = 0
    var elements: [Int?] = [1, nil, 3]
    var empty: [Key] = []
    var places: [Key: [Choice]] = [Key(text: "a"): [], Key(text: "b"): [.nothing]]
    var set: Set<String> = ["one", "two"]
    var range: ClosedRange<UInt32> = 3...9
    var duration = Duration.milliseconds(1_250)
}

private func bytes(_ value: some Encodable, format: UInt32 = 7) throws -> [UInt8] {
    try StateCoder.encode(value, format: format)
}

@Suite struct StateCodingTests {
    @Test func `a decoded value equals the encoded one`() throws {
        let sample = Sample()
        #expect(try StateCoder.decode(Sample.self, from: bytes(sample), format: 7) == sample)
        #expect(try StateCoder.decode([Sample].self, from: bytes([Sample]()), format: 7) == [])
    }

    @Test func `byte arrays are encoded compactly, and each name is written once`() throws {
        let frames = Array(
            repeating: ["payload": [UInt8](repeating: 7, count: 1_000)].values.map(\.self), count: 50)
        #expect(try bytes(frames).count < 50 * 1_010)
        let keys = Array(repeating: Sample.Key(text: "k"), count: 100)
        #expect(try bytes(keys).count < 100 * 6 + 40)
    }

    @Test func `a different format is rejected`() throws {
        let written = try bytes(Sample(), format: 8)
        #expect(throws: StateError.otherFormat(8)) {
            try StateCoder.decode(Sample.self, from: written, format: 7)
        }
    }

    @Test func `truncated bytes are rejected at every length`() throws {
        let written = try bytes(Sample())
        for count in written.indices {
            let error = #expect(throws: StateError.self) {
                try StateCoder.decode(Sample.self, from: Array(written[..<count]), format: 7)
            }
            #expect(error == (count < 24 ? .notAState : .wrongLength))
        }
        #expect(throws: StateError.wrongLength) {
            try StateCoder.decode(Sample.self, from: written + [0], format: 7)
        }
    }

    @Test func `every changed bit is detected`() throws {
        let written = try bytes(Sample())
        for index in written.indices {
            for bit in [0, 3, 7] {
                var changed = written
                changed[index] ^= 1 << bit
                #expect(throws: StateError.self) {
                    try StateCoder.decode(Sample.self, from: changed, format: 7)
                }
            }
        }
    }

    @Test func `hostile content with a correct checksum never crashes the decoder`() throws {
        let body = Array(try bytes(Sample()).dropFirst(24))
        var refused = 0
        for index in body.indices {
            for value: UInt8 in [0, 1, 0x3F, 0x40, 0x47, 0x80, 0xFF] {
                var changed = body
                changed[index] = value
                do { _ = try StateCoder.decode(Sample.self, from: sealed(changed), format: 7) } catch {
                    refused += 1
                }
            }
            #expect(throws: StateError.self, "a part of a value is not a whole one") {
                try StateCoder.decode(Sample.self, from: sealed(Array(body[..<index])), format: 7)
            }
        }
        #expect(refused > body.count)
    }

    @Test func `a length beyond the end allocates no memory`() {
        for length: [UInt8] in [[0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [UInt8](repeating: 0xFF, count: 9) + [1]] {
            #expect(throws: StateError.wrongLength) {
                try StateCoder.decode([UInt8].self, from: sealed([0x47] + length), format: 7)
            }
        }
    }

    @Test func `a changed type is rejected`() throws {
        struct Before: Codable { var first: UInt32 = 1, second = "x" }
        struct Renamed: Codable { var first: UInt32, other: String }
        struct Swapped: Codable { var second: String, first: UInt32 }
        struct Signed: Codable { var first: Int32, second: String }
        struct Shorter: Codable { var first: UInt32 }
        struct Longer: Codable { var first: UInt32, second: String, third: Bool }
        struct Narrower: Codable { var first: [UInt8], second: String }
        let written = try bytes(Before())
        #expect(isRefused(Renamed.self, written))
        #expect(isRefused(Swapped.self, written))
        #expect(isRefused(Signed.self, written))
        #expect(isRefused(Shorter.self, written))
        #expect(isRefused(Longer.self, written))
        #expect(isRefused(Narrower.self, written))
        #expect(!isRefused(Before.self, written))
    }

    @Test func `a number that does not fit is rejected`() throws {
        let written = try bytes(300 as UInt32)
        #expect(try StateCoder.decode(UInt32.self, from: written, format: 7) == 300)
        #expect(throws: StateError.self) { try StateCoder.decode(UInt8.self, from: written, format: 7) }
    }
}

private func isRefused<Value: Decodable>(_ type: Value.Type, _ written: [UInt8]) -> Bool {
    do {
        _ = try StateCoder.decode(type, from: written, format: 7)
        return false
    } catch {
        guard case .otherShape = error else { return false }
        return true
    }
}

/// `body` with a valid header.
private func sealed(_ body: [UInt8]) -> [UInt8] {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for start in stride(from: 0, to: body.count, by: 8) {
        let word = body[start..<min(start + 8, body.count)].reversed().reduce(UInt64(0)) {
            $0 << 8 | UInt64($1)
        }
        hash = (hash ^ word) &* 0x100_0000_01B3
    }
    let numbers = [UInt64(0x5453_4D57) | 7 << 32, UInt64(body.count), hash]
    return numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } } + body
}
