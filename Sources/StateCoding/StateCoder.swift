/// Why bytes cannot be decoded as a state of this build. The caller then starts without the state.
package enum StateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The magic number is missing.
    case notAState
    /// The format differs from this build's.
    case otherFormat(UInt32)
    /// The bytes are truncated, or extra bytes follow the value.
    case wrongLength
    /// The bytes were changed after they were written.
    case wrongChecksum
    /// The bytes are intact, but do not match this build's types.
    case otherShape(String)

    package var description: String {
        switch self {
        case .notAState: "not a state"
        case .otherFormat(let format): "written in format \(format)"
        case .wrongLength: "truncated, or followed by extra bytes"
        case .wrongChecksum: "damaged"
        case .otherShape(let reason): "does not match this build's types: \(reason)"
        }
    }
}

/// Encodes values for the next process of the same program, and decodes them there.
///
///     0  "WMST"       magic
///     4  format       32 bits
///     8  length       64 bits, of the value in bytes
///     16 checksum     64 bits, FNV-1a over the value, in words of 64 bits
///     24 the value
///
/// The numbers of the header are little-endian. The encoded value contains the name of every member (in full the first time, then
/// as a number) and the kind of every primitive, and the decoder compares all of them. A type that changed without a new format
/// is therefore rejected, not misread. A member that keeps its name and kind but changes its meaning needs a new format.
package enum StateCoder {
    static let magic: UInt32 = 0x5453_4D57
    static let headerByteCount = 24

    /// Encodes `value` and labels it with `format`.
    ///
    /// - Throws: Any error of the value's `encode(to:)`.
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

    /// Decodes the bytes of ``encode(_:format:)``. Time and memory are bounded by their length, also for hostile bytes.
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

/// The byte before each primitive. A member's name number has no such byte.
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

/// The byte after the last member or element of a value.
let stateEnd: UInt8 = 0
/// The byte before each element.
let stateElement: UInt8 = 1
