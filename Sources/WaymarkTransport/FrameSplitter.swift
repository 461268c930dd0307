package import WaymarkProtocol

/// Cuts a stream of bytes into frames. Frames of one read share its array.
package struct FrameSplitter: Sendable {
    /// The agreed largest frame, header included.
    package var frameBytesMax: UInt32
    private var bytes: [UInt8] = []
    private var offset = 0

    package init(frameBytesMax: UInt32) { self.frameBytesMax = frameBytesMax }

    /// Takes what was read. Nothing is kept of what was cut off before.
    package mutating func append(_ read: [UInt8]) {
        if self.offset == self.bytes.count {
            self.bytes = read
        } else if self.offset == 0 {
            self.bytes.append(contentsOf: read)
        } else {
            self.bytes = Array(self.bytes[self.offset...]) + read
        }
        self.offset = 0
    }

    /// The next whole frame; nil while there is none.
    ///
    /// - Throws: ``FramingError`` as soon as the bytes that are there cannot become a frame.
    package mutating func next() throws(FramingError) -> Frame? {
        let rest = self.bytes[self.offset...]
        guard
            let header = try unsafe FrameHeader.read(
                from: rest.span.bytes, frameBytesMax: self.frameBytesMax),
            rest.count >= header.frameByteCount
        else { return nil }
        self.offset += header.frameByteCount
        return Frame(header: header, bytes: rest.prefix(header.frameByteCount))
    }
}
