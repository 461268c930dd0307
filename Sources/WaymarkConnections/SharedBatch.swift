package import WaymarkGateway
package import WaymarkProtocol

/// Frames for one audience, encoded once: all its endpoints are sent the same bytes.
package struct SharedBatch: Sendable {
    /// A frame and, for a state, the key that a newer value replaces it by.
    package typealias Part = (frame: Frame, key: ConflationKey?)

    /// The connection that published them; 0 for none.
    let cause: ConnectionID
    private var batches: [PublishedFrames] = []
    /// Empty while ``batches`` has only one element, whose bytes are the batch's then.
    private var joined: [UInt8] = []
    private var parts: [Part]?

    package init(of cause: ConnectionID? = nil) { self.cause = cause ?? ConnectionID(0) }

    /// All frames, as they are sent.
    package var bytes: ArraySlice<UInt8> {
        self.batches.count == 1 ? self.batches[0].bytes : self.joined[...]
    }

    package mutating func append(_ frames: PublishedFrames) {
        if self.batches.count == 1 { self.joined += self.batches[0].bytes }
        if !self.batches.isEmpty { self.joined += frames.bytes }
        self.batches.append(frames)
        self.parts = nil
    }

    /// The frames, each in bytes of its own. Made once, and shared by all connections that must queue them.
    package mutating func frames() -> [Part] {
        if let parts { return parts }
        let parts = self.batches.flatMap(\.frames)
        self.parts = parts
        return parts
    }
}
