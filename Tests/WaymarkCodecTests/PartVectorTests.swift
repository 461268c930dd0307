import Testing
import WaymarkCodec
import WaymarkProtocol

/// Protos/vectors/parts.jsonl: messages that come in several frames.
@Suite struct PartVectorTests {
    struct Parts: Decodable {
        let name: String
        let frames: [String]
        let session_id: UInt32
        let hex: String
    }

    @Test func `messages in several frames are read as one`() throws {
        let vectors = try Vector.read("parts.jsonl", as: Parts.self)
        #expect(vectors.count >= 8)
        for vector in vectors {
            var splitter = FrameSplitter(frameBytesMax: 4_096)
            for hex in vector.frames { splitter.append(try Vector.bytes(hex)) }
            var partial = PartialMessage()
            var read: [Envelope] = []
            while let frame = try splitter.next() {
                let envelope = try Codec.decode(frame)
                if let whole = try partial.add(envelope, byteCount: frame.bytes.count) { read.append(whole) }
            }
            let messages = read.filter { $0.message.type != .ping }
            #expect(messages.count == 1, "\(vector.name)")
            for whole in messages {
                #expect(whole.session.rawValue == vector.session_id, "\(vector.name)")
                #expect(whole.flags.isEmpty, "\(vector.name)")
                let body = try Vector.bytes(vector.hex)
                let header = FrameHeader(type: whole.message.type.rawValue, session: whole.session)
                let expected = try Codec.decode(Frame(header: header, body: body))
                #expect(whole.message == expected.message, "\(vector.name)")
            }
        }
    }
}
