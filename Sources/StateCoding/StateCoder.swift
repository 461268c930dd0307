/// Why bytes are not a state that this build can go on with. Whoever asks for it does without.
package enum StateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// They do not begin as a state does.
    case notAState
    /// Another format than this build's.
    case otherFormat(UInt32)
    /// Cut short, or with more behind the end.
    case wrongLength
    /// Not what was written.
    case wrongChecksum
    /// Whole, but not of the shape that this build's types have.
    case otherShape(String)

    package var description: String {
        switch self {
        case .notAState: "not a state"
        case .otherFormat(let format): "written in format \(format)"
        case .wrongLength: "not whole"
        case .wrongChecksum: "damaged"
        case .otherShape(let reason): "of another shape: \(reason)"
        }
    }
}

/// Turns values into bytes for the next process of the same program, and back.
///
///     0  "WMST"       magic
///     4  format       32 bits
///     8  length       64 bits, of what follows the checksum
///     16 checksum     64 bits, FNV-1a over what follows, in words of 64 bits
///     24 the value
///
/// Numbers here are little-endian. What a value is written as says the name of every member (once, then by a number) and
/// the kind of every primitive, and reading compares all of it: a type that was changed without a new format is refused,
/// not misread. What kept its name and kind but has another meaning needs a new format.
package enum StateCoder {
    static let magic: UInt32 = 0x5453_4D57
    static let headerByteCount = 24

    /// Writes `value` as of `format`.
    ///
    /// - Throws: What its `encode(to:)` throws.
    package static func encode(_ value: some Encodable, format: UInt32) throws -> [UInt8] {
        let encoder = StateEncoder()
        encoder.bytes = [UInt8](repeating: 0, count: Self.headerByteCount)
        try encoder.write(value)
        var bytes = encoder.bytes
        let body = bytes[Self.headerByteCount...]
        let header: [UInt8] =
            Self.littleEndian(Self.magic) + Self.littleEndian(format)
            + Self.littleEndian(UInt64(body.count)) + Self.littleEndian(Self.checksum(of: body))
        bytes.replaceSubrange(..<Self.headerByteCount, with: header)
        return bytes
    }

    /// Reads what ``encode(_:format:)`` wrote. Hostile bytes are refused at a cost of no more than their length.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8], format: UInt32
    ) throws(StateError) -> Value {
        guard bytes.count >= Self.headerByteCount, Self.number(UInt32.self, in: bytes, at: 0) == Self.magic
        else { throw .notAState }
        let found = Self.number(UInt32.self, in: bytes, at: 4)
        guard found == format else { throw .otherFormat(found) }
        let body = bytes[Self.headerByteCount...]
        guard Self.number(UInt64.self, in: bytes, at: 8) == UInt64(body.count) else { throw .wrongLength }
        guard Self.number(UInt64.self, in: bytes, at: 16) == Self.checksum(of: body) else {
            throw .wrongChecksum
        }
        let decoder = StateDecoder(bytes, from: Self.headerByteCount)
        do {
            let value = try decoder.read(type)
            guard decoder.isAtEnd else { throw StateError.wrongLength }
            return value
        } catch let error as StateError {
            throw error
        } catch {
            throw .otherShape("\(error)")
        }
    }

    static func checksum(of bytes: ArraySlice<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let end = min(index + 8, bytes.endIndex)
            var word: UInt64 = 0
            for byte in bytes[index..<end].reversed() { word = word << 8 | UInt64(byte) }
            hash = (hash ^ word) &* 0x100_0000_01B3
            index = end
        }
        return hash
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<(number.bitWidth / 8)).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func number<Number: FixedWidthInteger>(
        _ type: Number.Type, in bytes: [UInt8], at offset: Int
    ) -> Number {
        bytes[offset..<(offset + Number.bitWidth / 8)].reversed().reduce(0) { $0 << 8 | Number($1) }
    }
}

/// What a primitive is marked with. The next member of a struct begins with its name's number, which has no mark.
enum StateMark: UInt8 {
    case none = 0x40
    case no
    case yes
    case unsigned
    case signed
    case float
    case text
    case bytes
}

/// What every value with members, or elements, ends with.
let stateEnd: UInt8 = 0
/// What every element begins with.
let stateElement: UInt8 = 1
