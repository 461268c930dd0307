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

    /// The number of maneuvers, lane guidances or segments that a publication adds, from an index on, and that take at most so many bytes in
    /// its frame, and the bytes that these take; none of other publications.
    func elementsFitting(
        of publication: Publication, from first: Int, _ byteCountMax: Int
    ) -> (count: Int, byteCount: Int) {
        switch publication {
        case .addManeuvers(let all, _):
            self.fitting(all[first...], byteCountMax) { .addManeuvers([$0], generation: 0) }
        case .addLaneGuidances(let all, _):
            self.fitting(all[first...], byteCountMax) { .addLaneGuidances([$0], generation: 0) }
        case .addRouteSegments(let all, _):
            self.fitting(all[first...], byteCountMax) { .addRouteSegments([$0], generation: 0) }
        default: (0, 0)
        }
    }

    /// `single`: the publication that adds an element alone, whose body has the element and nothing else.
    private func fitting<Element>(
        _ elements: ArraySlice<Element>, _ byteCountMax: Int, as single: (Element) -> Publication
    ) -> (count: Int, byteCount: Int) {
        var (count, byteCount) = (0, 0)
        for element in elements {
            let next = byteCount + self.bodyByteCount(single(element))
            guard next <= byteCountMax else { break }
            (count, byteCount) = (count + 1, next)
        }
        return (count, byteCount)
    }

    private func bodyByteCount(_ publication: Publication) -> Int {
        defer { self.arena.reset() }
        return unsafe protobuf_c_message_get_packed_size(publication.wire(in: self.arena).base)
    }
}
