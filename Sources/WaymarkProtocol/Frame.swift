/// The fixed part in front of every body: 24 bytes in network byte order.
///
///     0  'W' 'M'      magic
///     2  1            major version
///     3  flags        ``Flags``
///     4  type         16 bits, ``MessageType``
///     6  key          16 bits, with ``Flags/state``: which of the states of its type; otherwise 0
///     8  body length  32 bits
///     12 session id   32 bits, 0 for none
///     16 sequence     64 bits, 0 if the frame is no publication
///
/// - Source: Docs/protocol.md, "Frame".
@usableFromInline package struct FrameHeader: Sendable, Hashable {
    /// How to treat a frame.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        /// A receiver that does not know the type ignores the frame.
        package static let skippable = Flags(rawValue: 1)
        /// The gateway itself added the frame to the session.
        package static let gateway = Flags(rawValue: 2)
        /// The gateway fitted the content to the receiver's profile.
        package static let fitted = Flags(rawValue: 4)
        /// Of a type that the gateway does not know: only the newest frame of each type and key matters.
        package static let state = Flags(rawValue: 8)
        /// With ``state``: endpoints that join later get the newest frame.
        package static let retained = Flags(rawValue: 16)
        /// The gateway made several frames of one publication or message, and this is not the last of them.
        package static let more = Flags(rawValue: 32)
        /// Flags that only the gateway sets.
        package static let forGateway: Flags = [.gateway, .fitted, .more]
        // Why numbers: a list is made at run time, for each frame.
        /// ``forGateway`` and ``retained``: most publications have none of them.
        @inlinable package static var limited: Flags { Flags(rawValue: 2 | 4 | 16 | 32) }
        /// ``state`` and ``retained``: of types that the gateway does not know.
        @inlinable package static var ofExtensions: Flags { Flags(rawValue: 8 | 16) }
    }

    /// Length of a header in bytes.
    @inlinable package static var byteCount: Int { 24 }
    /// Where the type begins.
    @inlinable package static var typeOffset: Int { 4 }
    private static let keyOffset = 6
    /// Where the length of the body begins.
    fileprivate static let bodyLengthOffset = 8
    /// "WM".
    package static let magic: UInt16 = 0x574D
    /// The major version of the protocol.
    package static let majorVersion: UInt8 = 1

    package var flags: Flags
    /// As on the wire; see ``type``.
    package var rawType: UInt16
    /// Of a frame with ``Flags/state``.
    package var key: UInt16
    @usableFromInline package var bodyLength: UInt32
    package var session: SessionID
    package var sequence: UInt64

    /// The type, if this build knows it.
    package var type: MessageType? { MessageType(rawValue: self.rawType) }

    /// Creates a header.
    package init(
        type: UInt16, flags: Flags = [], key: UInt16 = 0, bodyLength: UInt32 = 0,
        session: SessionID = .none, sequence: UInt64 = 0
    ) {
        self.flags = flags
        self.rawType = type
        self.key = key
        self.bodyLength = bodyLength
        self.session = session
        self.sequence = sequence
    }
}

/// One whole frame as received or as it will be sent, header included.
///
/// Frames that were read together share one array, which lives as long as any of them. To keep a frame for long, keep
/// ``compacted()``.
package struct Frame: Sendable, Hashable {
    package let header: FrameHeader
    /// Header and body.
    package let bytes: ArraySlice<UInt8>

    /// A frame whose header was read from the first 24 bytes of `bytes`.
    package init(header: FrameHeader, bytes: ArraySlice<UInt8>) {
        self.header = header
        self.bytes = bytes
    }

    /// A frame of `body` behind `header`, whose body length is set.
    package init(header: FrameHeader, body: RawSpan) {
        var header = header
        header.bodyLength = UInt32(body.byteCount)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(header.frameByteCount)
        header.write(to: &bytes)
        unsafe body.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        self.init(header: header, bytes: bytes[...])
    }

    /// A frame of a body in an array.
    package init(header: FrameHeader, body: [UInt8]) {
        unsafe self.init(header: header, body: body.span.bytes)
    }

    /// A frame of a body in another collection.
    package init(header: FrameHeader, body: some Collection<UInt8>) {
        self.init(header: header, body: Array(body))
    }

    /// The part behind the header.
    package var body: ArraySlice<UInt8> { self.bytes.dropFirst(FrameHeader.byteCount) }

    /// Whether two whole frames have the same body. Their headers are not compared.
    package static func hasSameBodies(_ frame: RawSpan, _ other: RawSpan) -> Bool {
        guard frame.byteCount == other.byteCount else { return false }
        // Why not `==` of slices: it compares one byte at a time.
        var offset = FrameHeader.byteCount
        while offset + 8 <= frame.byteCount {
            guard frame.bigEndian(at: offset, as: UInt64.self) == other.bigEndian(at: offset, as: UInt64.self)
            else { return false }
            offset += 8
        }
        return (offset..<frame.byteCount).allSatisfy {
            frame.bigEndian(at: $0, as: UInt8.self) == other.bigEndian(at: $0, as: UInt8.self)
        }
    }

    /// The same frame in an array of its own.
    package func compacted() -> Frame { Frame(header: self.header, bytes: Array(self.bytes)[...]) }
}

extension Frame: Codable {
    /// Writes its bytes.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Array(self.bytes))
    }

    /// Reads a whole frame, of any length.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let bytes = try container.decode([UInt8].self)
        let header = try unsafe FrameHeader.read(from: bytes.span.bytes, frameBytesMax: .max)
        guard let header, header.frameByteCount == bytes.count else {
            throw Swift.DecodingError.dataCorruptedError(in: container, debugDescription: "not one frame")
        }
        self.init(header: header, bytes: bytes[...])
    }
}

/// Why bytes are not a frame. Each closes the connection: there is no way to find the next frame.
package enum FramingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The first two bytes are not "WM".
    case badMagic
    /// The major version is not 1.
    case unsupportedVersion(UInt8)
    /// The frame of this header is longer than agreed, header included.
    indirect case tooLarge(FrameHeader, max: UInt32)

    /// The code to close with.
    package var closeCode: CloseCode {
        switch self {
        case .badMagic: .badMagic
        case .unsupportedVersion: .unsupportedVersion
        case .tooLarge: .frameTooLarge
        }
    }

    package var description: String {
        switch self {
        case .badMagic: "a frame begins with WM"
        case .unsupportedVersion(let version): "major version \(version) is not known"
        case .tooLarge(let header, let max):
            "a frame of \(header.frameByteCount) bytes, where \(max) are allowed"
        }
    }
}

extension FrameHeader {
    /// Reads the header at the start of `bytes`.
    ///
    /// Checks magic and version as soon as their bytes have arrived, and the length before the body arrives.
    ///
    /// `frameBytesMax` is the agreed maximum, header included.
    ///
    /// - Returns: nil while there are too few bytes.
    /// - Throws: ``FramingError``; the stream cannot be read further.
    package static func read(
        from bytes: RawSpan, frameBytesMax: UInt32
    ) throws(FramingError) -> FrameHeader? {
        let count = bytes.byteCount
        guard count >= 2 else {
            let first = count == 0 ? UInt8(Self.magic >> 8) : bytes.bigEndian(at: 0, as: UInt8.self)
            guard first == Self.magic >> 8 else { throw .badMagic }
            return nil
        }
        guard bytes.bigEndian(at: 0, as: UInt16.self) == Self.magic else { throw .badMagic }
        guard count >= 3 else { return nil }
        let version = bytes.bigEndian(at: 2, as: UInt8.self)
        guard version == Self.majorVersion else { throw .unsupportedVersion(version) }
        guard count >= Self.byteCount else { return nil }
        let header = FrameHeader(bytes)
        guard header.frameByteCount <= Int(frameBytesMax) else {
            throw .tooLarge(header, max: frameBytesMax)
        }
        return header
    }

    /// Reads the header at `start` in bytes that are known to be frames.
    package init(at start: Int, of bytes: [UInt8]) {
        unsafe self.init(bytes.span.bytes.extracting(start..<start + Self.byteCount))
    }

    /// Reads the header at `start` in bytes that are known to be frames.
    package init(at start: Int, of bytes: UnsafeRawBufferPointer) {
        unsafe self.init(bytes.bytes.extracting(start..<start + Self.byteCount))
    }

    /// Sets the body length of the header at `start`.
    package static func setBodyLength(_ length: Int, at start: Int, in bytes: inout [UInt8]) {
        for offset in 0..<4 {
            bytes[start + Self.bodyLengthOffset + offset] = UInt8(
                truncatingIfNeeded: length >> (24 - 8 * offset))
        }
    }

    /// Reads the fields of a complete header.
    private init(_ bytes: RawSpan) {
        self.init(
            type: bytes.bigEndian(at: Self.typeOffset, as: UInt16.self),
            flags: Flags(rawValue: bytes.bigEndian(at: 3, as: UInt8.self)),
            key: bytes.bigEndian(at: Self.keyOffset, as: UInt16.self),
            bodyLength: bytes.bigEndian(at: Self.bodyLengthOffset, as: UInt32.self),
            session: SessionID(bytes.bigEndian(at: 12, as: UInt32.self)),
            sequence: bytes.bigEndian(at: 16, as: UInt64.self))
    }

    /// Sets the length of the body that was written behind this header, in the bytes as well.
    package mutating func setBodyLength(in bytes: inout [UInt8]) {
        self.bodyLength = UInt32(bytes.count - Self.byteCount)
        for offset in 0..<4 {
            bytes[Self.bodyLengthOffset + offset] = UInt8(
                truncatingIfNeeded: self.bodyLength >> (24 - 8 * UInt32(offset)))
        }
    }

    /// Appends the 24 bytes of this header.
    package func write(to bytes: inout [UInt8]) {
        let first =
            UInt64(Self.magic) << 48 | UInt64(Self.majorVersion) << 40 | UInt64(self.flags.rawValue) << 32
            | UInt64(self.rawType) << 16 | UInt64(self.key)
        let second = UInt64(self.bodyLength) << 32 | UInt64(self.session.rawValue)
        let words = (first.bigEndian, second.bigEndian, self.sequence.bigEndian)
        unsafe withUnsafeBytes(of: words) { unsafe bytes.append(contentsOf: $0) }
    }

    /// The length of the frame in bytes, header included.
    @inlinable package var frameByteCount: Int { Self.byteCount + Int(self.bodyLength) }
}

extension RawSpan {
    fileprivate func bigEndian<Number: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as type: Number.Type
    ) -> Number {
        Number(bigEndian: unsafe self.unsafeLoadUnaligned(fromByteOffset: offset, as: type))
    }
}
