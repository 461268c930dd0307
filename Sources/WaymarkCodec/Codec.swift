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
        Frame(header: envelope.header, body: Packer.pack(envelope.message))
    }

    /// Reads a frame in full.
    package static func decode(_ frame: Frame) throws(DecodingError) -> Envelope {
        guard let type = frame.header.type else {
            throw .unknownType(isSkippable: frame.header.flags.contains(.skippable))
        }
        do throws(Rejection) {
            let message = try read(type, frame.body)
            return Envelope(
                message, session: frame.header.session, sequence: frame.header.sequence,
                flags: frame.header.flags)
        } catch {
            throw .rejected(error.of(frame.header))
        }
    }

    /// Checks a published frame in full and returns what the gateway must know of it.
    package static func outline(of frame: Frame) throws(DecodingError) -> PublicationOutline {
        guard case .publication(let publication) = try self.decode(frame).message else {
            throw .rejected(
                Rejection(.wrongRole, reason: "is not a message that clients publish").of(frame.header))
        }
        return publication.outline
    }
}
