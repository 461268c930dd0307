internal import CProtobufC
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
    /// Writes a message as a whole frame.
    ///
    /// Values are written as they are: keeping them within their ranges is up to the caller, the receiver refuses others.
    /// A text with a NUL ends there, a polyline's point that is not on the Earth becomes 0.
    package static func encode(_ envelope: Envelope) -> Frame {
        let arena = Arena(bytesMax: .max)
        return withExtendedLifetime(arena) {
            let wire = unsafe envelope.message.wire(in: arena)
            let count = unsafe protobuf_c_message_get_packed_size(wire.base)
            let body = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
                guard let start = buffer.baseAddress else { return }
                written = unsafe protobuf_c_message_pack(wire.base, start)
            }
            return Frame(header: envelope.header, body: body)
        }
    }

    /// Reads a frame in full. Whoever reads many holds a ``BodyDecoder``.
    package static func decode(_ frame: Frame) throws(DecodingError) -> Envelope {
        try BodyDecoder().decode(frame)
    }

    /// Reads a published frame in full.
    ///
    /// - Returns: nil for a type that this build does not know, and for what is no publication or was not checked before.
    package static func publication(of frame: Frame) -> Publication? {
        do throws(DecodingError) {
            guard case .publication(let publication) = try self.decode(frame).message else { return nil }
            return publication
        } catch { return nil }  // Whoever took the frame in has told its sender.
    }

    /// Checks a published frame in full, but reads only what the gateway must know. Whoever reads many holds a
    /// ``BodyDecoder``.
    package static func outline(of frame: Frame) throws(DecodingError) -> PublicationOutline {
        try BodyDecoder().outline(of: frame)
    }
}
