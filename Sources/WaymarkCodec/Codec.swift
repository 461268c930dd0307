package import WaymarkProtocol

/// Why a frame's body is not a message.
package enum DecodingError: Error, Sendable, Hashable {
    /// Refused; nothing of it is used. Says which field and why.
    case rejected(Rejection)
    /// The type is not known to this build.
    case unknownType(isSkippable: Bool)
}

/// Messages to bytes and back, through libprotobuf-c.
///
/// Every range that the protos' comments state is enforced when reading. Fields and open enumerations' values that this
/// build does not know are accepted; values survive as `unrecognized`. Closed enumerations with a sensible reading for
/// "something else" say so at their initialisers, the others are refused.
package enum Codec {
    /// What a gateway is given.
    package static let coder = BodyCoder(
        decode: { Codec.publication(of: $0) }, encode: { Codec.encode($0) },
        elementsFitting: { BodyEncoder(keptBytes: arenaBytes).elementsFitting(of: $0, from: $1, $2) },
        restore: { $1.restored(in: $0, isFirst: $2) ?? $0 },
        waypoint: { Codec.waypoint(of: $0) })

    /// Writes a message as a whole frame. To write many, use a ``BodyEncoder``.
    package static func encode(_ envelope: Envelope) -> Frame {
        BodyEncoder(keptBytes: self.arenaBytes).encode(envelope)
    }

    /// A Ping.
    package static func ping(nonce: UInt64) -> Frame {
        self.signOfLife(FrameHeader(type: MessageType.ping.rawValue), nonce)
    }

    /// Whether bytes are one Pong and nothing else, as ``encode(_:)`` and libraries of protobuf write it. One that is written in
    /// another way is for ``decode(_:)``.
    package static func isPong(_ bytes: RawSpan) -> Bool {
        guard bytes.byteCount <= self.pongBytesMax else { return false }
        do throws(FramingError) {
            guard let header = try FrameHeader.read(from: bytes, frameBytesMax: .max), header.type == .pong,
                header.frameByteCount == bytes.byteCount
            else { return false }
        } catch { return false }
        let body = bytes.extracting(droppingFirst: FrameHeader.byteCount)
        guard body.byteCount != 1 else { return false }
        guard body.byteCount > 1 else { return true }
        func byte(_ offset: Int) -> UInt8 { unsafe body.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
        return byte(0) == self.nonceTag && byte(body.byteCount - 1) < 0x80
            && (1..<body.byteCount - 1).allSatisfy { byte($0) >= 0x80 }
    }

    /// A Ping and a Pong have their nonce, a varint, in the same field.
    private static let nonceTag = UInt8(FieldNumber.Ping.nonce << 3)
    /// With a nonce of 63 bits.
    private static let pongBytesMax = FrameHeader.byteCount + 10

    /// Room for the C structures of most messages that are written, and little enough for the heap to have it at hand.
    private static let arenaBytes = 960

    /// A Ping or a Pong: idle connections say nothing else.
    static func signOfLife(_ header: FrameHeader, _ nonce: UInt64) -> Frame {
        var writer = FrameWriter(header, bodyByteCount: self.pongBytesMax - FrameHeader.byteCount)
        writer.number(FieldNumber.Ping.nonce, nonce)
        return writer.frame()
    }

    /// A Ping that asks for times.
    static func ping(_ header: FrameHeader, _ nonce: UInt64, sentNanoseconds: UInt64) -> Frame {
        var writer = FrameWriter(header, bodyByteCount: 22)
        writer.number(FieldNumber.Ping.nonce, nonce)
        writer.present(FieldNumber.Ping.sentNanoseconds, sentNanoseconds)
        return writer.frame()
    }

    /// A Pong with times.
    static func pong(_ header: FrameHeader, _ nonce: UInt64, _ times: PongTimes) -> Frame {
        var writer = FrameWriter(header, bodyByteCount: 33)
        writer.number(FieldNumber.Pong.nonce, nonce)
        writer.present(FieldNumber.Pong.receivedNanoseconds, times.receivedNanoseconds)
        writer.present(FieldNumber.Pong.sentNanoseconds, times.sentNanoseconds)
        return writer.frame()
    }

    /// An Acknowledgement, which each client gets up to twice a second.
    static func acknowledgement(_ header: FrameHeader, _ sequence: UInt64) -> Frame {
        var writer = FrameWriter(header, bodyByteCount: 11)
        writer.number(FieldNumber.Acknowledgement.sequence, sequence)
        return writer.frame()
    }

    /// Reads a whole frame. To read many, use a ``BodyDecoder``.
    package static func decode(_ frame: Frame) throws(DecodingError) -> Envelope {
        try BodyDecoder().decode(frame)
    }

    /// Reads a published frame in full.
    ///
    /// - Returns: nil for a type that this build does not know, and for what is no publication or was not checked before.
    package static func publication(of frame: Frame) -> DecodedPublication? {
        do throws(DecodingError) { return try BodyDecoder().publication(of: frame) } catch {
            return nil  // The reader of the connection has told the sender.
        }
    }

    /// Checks a published frame in full, but reads only what the gateway must know. To read many, use a
    /// ``BodyDecoder``.
    package static func outline(of frame: Frame) throws(DecodingError) -> PublicationOutline {
        try BodyDecoder().outline(of: frame)
    }
}
