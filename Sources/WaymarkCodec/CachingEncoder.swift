package import WaymarkProtocol

/// Writes messages as ``Codec`` does, and caches frames that many peers get: the Welcome, apart from its token, and SnapshotBegin.
///
/// Not for use by two threads at a time.
package final class CachingEncoder {
    /// How many SnapshotBegin frames are cached: they differ by session and profile.
    private static let beginningsMax = 8

    private let encoder = BodyEncoder()
    private var welcome: (message: Welcome, bytes: [UInt8], tokenStart: Int)?
    private var beginnings: [(envelope: Envelope, frame: Frame)] = []
    private var oldest = 0

    package init() {}

    /// Writes a message as a whole frame; the same as ``Codec/encode(_:)``.
    package func encode(_ envelope: Envelope) -> Frame {
        switch envelope.message {
        case .welcome(let welcome): self.encode(welcome, envelope)
        case .snapshotBegin: self.encodeBeginning(envelope)
        case .snapshotEnd: Frame(header: envelope.header, body: [])
        case _: self.encoder.encode(envelope)
        }
    }

    private func encode(_ welcome: Welcome, _ envelope: Envelope) -> Frame {
        var remembered = welcome
        if let (message, bytes, tokenStart) = self.welcome {
            remembered.resumptionToken = message.resumptionToken
            if remembered == message {
                var bytes = bytes
                let token = welcome.resumptionToken.bytes
                bytes.replaceSubrange(tokenStart..<tokenStart + token.count, with: token)
                var header = envelope.header
                header.bodyLength = UInt32(bytes.count - FrameHeader.byteCount)
                return Frame(header: header, bytes: bytes[...])
            }
        }
        let frame = self.encoder.encode(envelope)
        let bytes = Array(frame.bytes)
        self.welcome = bytes.start(of: welcome.resumptionToken.bytes).map { (welcome, bytes, $0) }
        return frame
    }

    private func encodeBeginning(_ envelope: Envelope) -> Frame {
        if let known = self.beginnings.first(where: { $0.envelope == envelope }) { return known.frame }
        let frame = self.encoder.encode(envelope)
        if self.beginnings.count < Self.beginningsMax {
            self.beginnings.append((envelope, frame))
        } else {
            self.beginnings[self.oldest] = (envelope, frame)
            self.oldest = (self.oldest + 1) % Self.beginningsMax
        }
        return frame
    }
}

extension [UInt8] {
    /// Where `part`, which is random and so occurs once, begins; nil if it does not occur.
    fileprivate func start(of part: [UInt8]) -> Int? {
        guard self.count >= part.count else { return nil }
        return (0...self.count - part.count).first { self[$0..<$0 + part.count].elementsEqual(part) }
    }
}
