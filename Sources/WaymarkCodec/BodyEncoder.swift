internal import CProtobufC
package import WaymarkProtocol

/// Writes messages, one after another, with the help of memory that it keeps.
///
/// Held by whoever writes many: in its stride it asks the heap for nothing but the frame. Not for use by two threads at a time.
package final class BodyEncoder {
    private let arena: Arena

    /// An encoder that keeps `keptBytes` bytes, or a usual amount, once it has written something.
    package init(keptBytes: Int? = nil) {
        self.arena = keptBytes.map { Arena(bytesMax: .max, firstChunkBytes: $0) } ?? Arena(bytesMax: .max)
    }

    /// Writes a message as a whole frame.
    ///
    /// Values are written as they are: keeping them within their ranges is up to the caller, the receiver refuses others.
    /// A text with a NUL ends there, a polyline's point that is not on the Earth becomes 0.
    package func encode(_ envelope: Envelope) -> Frame {
        switch envelope.message {
        case .ping(let nonce), .pong(let nonce): return Self.signOfLife(envelope.header, nonce)
        default: break
        }
        defer { self.arena.reset() }
        let wire = unsafe envelope.message.wire(in: self.arena)
        let count = unsafe protobuf_c_message_get_packed_size(wire.base)
        let body = unsafe self.arena.buffer(count)
        _ = unsafe protobuf_c_message_pack(wire.base, body.baseAddress)
        return Frame(header: envelope.header, body: unsafe UnsafeRawBufferPointer(body).bytes)
    }

    /// A Ping or a Pong, by hand: idle connections say nothing else. Both have their nonce in field 1, if it is not 0.
    private static func signOfLife(_ header: FrameHeader, _ nonce: UInt64) -> Frame {
        var body: [UInt8] = []
        var rest = nonce
        if rest > 0 { body.append(1 << 3) }
        while rest > 0 {
            body.append(UInt8(truncatingIfNeeded: rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
            rest >>= 7
        }
        return Frame(header: header, body: body)
    }
}
