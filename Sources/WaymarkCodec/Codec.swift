package import WaymarkProtocol

/// Why a frame's body is not a message.
package enum DecodingError: Error, Sendable, Hashable {
    /// Refused; nothing of it is used. Says which field and why.
    case rejected(Rejection)
    /// The type is not known to this build.
    case unknownType(isSkippable: Bool)
}

/// Messages to bytes and back.
package enum Codec {
    /// Writes a message as a whole frame.
    package static func encode(_ envelope: Envelope) -> Frame {
        Frame(header: envelope.header, body: [])
    }

    /// Reads a frame in full.
    package static func decode(_ frame: Frame) throws(DecodingError) -> Envelope {
        throw .unknownType(isSkippable: false)
    }

    /// Checks a published frame in full, but reads only what the gateway must know.
    package static func outline(of frame: Frame) throws(DecodingError) -> PublicationOutline {
        throw .unknownType(isSkippable: false)
    }
}
