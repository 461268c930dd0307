internal import CProtobufC
package import WaymarkProtocol

/// Writes messages, one after another, and reuses its memory.
///
/// Once warm it allocates nothing but the frame. Not for use by two threads at a time.
package final class BodyEncoder {
    private let arena: Arena

    /// An encoder that keeps `keptBytes` bytes, or a usual amount, once it has written something.
    package init(keptBytes: Int? = nil) {
        self.arena = keptBytes.map { Arena(bytesMax: .max, firstChunkBytes: $0) } ?? Arena(bytesMax: .max)
    }

    /// Writes a message as a whole frame.
    ///
    /// Values are written as they are: keeping them within their ranges is up to the caller, the receiver refuses others.
    /// A text with a NUL, a point of a line that is not on the Earth and a negative time become what every receiver refuses.
    package func encode(_ envelope: Envelope) -> Frame {
        if let frame = envelope.message.shortFrame(envelope.header) { return frame }
        defer { self.arena.reset() }
        let wire = unsafe envelope.message.wire(in: self.arena)
        let count = unsafe protobuf_c_message_get_packed_size(wire.base)
        let body = unsafe self.arena.buffer(count)
        _ = unsafe protobuf_c_message_pack(wire.base, body.baseAddress)
        return Frame(header: envelope.header, body: unsafe UnsafeRawBufferPointer(body).bytes)
    }
}
