internal import WaymarkProtocol

/// One direction of a connection: bytes in order, read in pieces of any size, until it ends.
struct BytePipe {
    private var bytes: [UInt8] = []
    private var offset = 0
    /// The writer has closed, or the connection was cut.
    private(set) var isEnded = false

    /// The number of bytes in transit.
    var count: Int { self.bytes.count - self.offset }
    /// All bytes were read, and no more follow.
    var isAtEnd: Bool { self.isEnded && self.count == 0 }

    /// Appends bytes; after the end they are lost.
    mutating func write(_ written: some Collection<UInt8>) {
        guard !self.isEnded else { return }
        self.bytes += written
    }

    /// Removes and returns at most `countMax` bytes.
    mutating func read(_ countMax: Int) -> [UInt8] {
        let count = min(countMax, self.count)
        let read = Array(self.bytes[self.offset..<self.offset + count])
        self.offset += count
        if self.offset == self.bytes.count {
            self.bytes.removeAll(keepingCapacity: true)
            self.offset = 0
        }
        return read
    }

    /// The writer closes: bytes in transit still arrive.
    mutating func end() { self.isEnded = true }

    /// The connection breaks: only the first `count` bytes in transit still arrive.
    mutating func cut(keeping count: Int) {
        self.bytes.removeLast(self.count - min(count, self.count))
        self.isEnded = true
    }
}

/// Splits a byte stream into frames, by their headers alone.
struct FrameAssembler {
    /// The agreed largest frame, header included.
    var frameBytesMax: UInt32
    private var bytes: [UInt8] = []

    init(frameBytesMax: UInt32) { self.frameBytesMax = frameBytesMax }

    /// A frame has arrived in part.
    var isInMidFrame: Bool { !self.bytes.isEmpty }

    mutating func append(_ read: [UInt8]) { self.bytes += read }

    /// The next complete frame; nil while there is none.
    ///
    /// - Throws: ``FramingError`` as soon as the bytes cannot be the beginning of a frame.
    mutating func next() throws(FramingError) -> Frame? {
        let header = try unsafe FrameHeader.read(
            from: self.bytes.span.bytes, frameBytesMax: self.frameBytesMax)
        guard let header, self.bytes.count >= header.frameByteCount else { return nil }
        let frame = Frame(header: header, bytes: Array(self.bytes[..<header.frameByteCount])[...])
        self.bytes.removeFirst(header.frameByteCount)
        return frame
    }
}
