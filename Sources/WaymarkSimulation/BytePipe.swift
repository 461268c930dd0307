internal import WaymarkProtocol

/// One direction of a connection: bytes in order, read in pieces of any size, until it ends.
struct BytePipe {
    private var bytes: [UInt8] = []
    private var offset = 0
    /// Nothing is written any more.
    private(set) var isEnded = false

    /// Bytes under way.
    var count: Int { self.bytes.count - self.offset }
    /// Everything was read, and nothing more comes.
    var isAtEnd: Bool { self.isEnded && self.count == 0 }

    /// Puts bytes behind those under way; after the end they are lost.
    mutating func write(_ written: some Collection<UInt8>) {
        guard !self.isEnded else { return }
        self.bytes += written
    }

    /// Takes at most `countMax` bytes.
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

    /// The writer has closed: what is under way still arrives.
    mutating func end() { self.isEnded = true }

    /// The connection breaks: of what is under way only the first `count` bytes still arrive.
    mutating func cut(keeping count: Int) {
        self.bytes.removeLast(self.count - min(count, self.count))
        self.isEnded = true
    }
}

/// Cuts what was read into frames, by the header alone.
struct FrameAssembler {
    /// The agreed largest frame, header included.
    var frameBytesMax: UInt32
    private var bytes: [UInt8] = []

    init(frameBytesMax: UInt32) { self.frameBytesMax = frameBytesMax }

    /// A part of a frame is there.
    var isInMidFrame: Bool { !self.bytes.isEmpty }

    mutating func append(_ read: [UInt8]) { self.bytes += read }

    /// The next whole frame; nil while there is none.
    ///
    /// - Throws: ``FramingError`` as soon as the bytes that are there cannot become a frame.
    mutating func next() throws(FramingError) -> Frame? {
        let header = try unsafe FrameHeader.read(
            from: self.bytes.span.bytes, frameBytesMax: self.frameBytesMax)
        guard let header, self.bytes.count >= header.frameByteCount else { return nil }
        let frame = Frame(header: header, bytes: Array(self.bytes[..<header.frameByteCount])[...])
        self.bytes.removeFirst(header.frameByteCount)
        return frame
    }
}
