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
    /// Writes a message as a whole frame. Whoever writes many holds a ``BodyEncoder``.
    package static func encode(_ envelope: Envelope) -> Frame {
        BodyEncoder(keptBytes: self.arenaBytes).encode(envelope)
    }

    /// Room for the C structures of most messages that are written, and little enough for the heap to have it at hand.
    private static let arenaBytes = 960

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
