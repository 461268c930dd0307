/// Cuts a stream of bytes into frames.
///
/// Keeps at most a part of one frame and the last read. A frame of ``next()`` keeps at most twice its own bytes alive, however much
/// was read with it. After an error the stream cannot be read further, and nothing of it is kept.
package struct FrameSplitter: Sendable {
    /// The agreed largest frame, header included.
    package var frameBytesMax: UInt32
    /// The index in ``read`` at which the next frame starts.
    @Narrow package private(set) var offset = 0
    /// The bytes that were read; those before ``offset`` were handed out.
    private var bytes: [UInt8] = []
    private var failure: FramingError?

    package init(frameBytesMax: UInt32) { self.frameBytesMax = frameBytesMax }

    /// Bytes of memory that are kept for an incomplete frame.
    package var byteCapacity: Int { self.bytes.capacity }

    /// Whether the next byte begins a frame.
    package var isEmpty: Bool { self.offset == self.bytes.count && self.failure == nil }

    /// The bytes that were read and not handed out. Once ``next()`` has returned nil: none, or a part of a frame.
    package var rest: [UInt8] { Array(self.bytes[self.offset...]) }

    /// Appends a read.
    package mutating func append(_ read: RawSpan) {
        guard self.failure == nil else { return }
        self.forgetHandedOut()
        unsafe read.withUnsafeBytes { unsafe self.bytes.append(contentsOf: $0) }
    }

    /// Appends a read that may contain a secret: where earlier bytes are moved to larger memory, the old one is wiped.
    package mutating func appendSecret(_ read: RawSpan) {
        let byteCount = self.bytes.count + read.byteCount
        if byteCount > self.bytes.capacity, !self.bytes.isEmpty {
            var larger: [UInt8] = []
            larger.reserveCapacity(max(byteCount, 2 * self.bytes.capacity))
            larger += self.bytes
            self.wipeRest()
            self.bytes = larger
        }
        self.append(read)
    }

    /// Wipes the frame that ``next()`` returned last, also in the read that it was cut from. The frame, and whatever shares its
    /// memory, must not be read afterwards.
    package func wipe(_ frame: Frame) {
        Wiping.wipeShared(frame.bytes)
        let start = self.offset - frame.bytes.count
        if start >= 0 { Wiping.wipeShared(self.bytes[start..<self.offset]) }
    }

    /// Wipes the bytes that were not handed out. Nothing more can be read.
    package mutating func wipeRest() {
        let offset = self.offset
        // Wipes a copy if the memory is shared, and leaves what others hold.
        unsafe self.bytes.withUnsafeMutableBytes {
            unsafe Wiping.wipe(UnsafeMutableRawBufferPointer(rebasing: $0[offset...]))
        }
    }

    /// Appends a read that is in an array.
    package mutating func append(_ read: [UInt8]) { unsafe self.append(read.span.bytes) }

    /// The next whole frame; nil while there is none.
    ///
    /// - Throws: ``FramingError`` as soon as the bytes cannot become a frame, and on every call after that.
    package mutating func next() throws(FramingError) -> Frame? {
        if let failure = self.failure { throw failure }
        let frame: Frame?
        do { frame = try self.peek() } catch {
            self.failure = error
            self.wipeRest()
            self.bytes = []
            self.offset = 0
            throw error
        }
        guard let frame else {
            self.forgetHandedOut()
            return nil
        }
        self.offset += frame.bytes.count
        let isMostOfRead = frame.bytes.count * 2 >= self.bytes.count
        // The frame alone keeps the bytes of its read: usually no call follows that would give them back.
        if self.offset == self.bytes.count { self.forgetHandedOut() }
        return isMostOfRead ? frame : frame.compacted()
    }

    /// Whether the next frame is a publication, if there is one.
    package var isPublishedNext: Bool {
        let type = self.offset + FrameHeader.typeOffset
        guard type + 1 < self.bytes.count else { return false }
        return MessageType.published.contains(UInt16(self.bytes[type]) << 8 | UInt16(self.bytes[type + 1]))
    }

    /// Skips the frames of ``read`` before `offset`, which the caller has processed. A frame starts at `offset`.
    package mutating func skip(to offset: Int) { self.offset = offset }

    /// The bytes that are being split. Those from ``offset`` on were not handed out yet.
    package var read: [UInt8] { self.bytes }

    /// The next whole frame, sharing the bytes of the read; nil while there is none.
    @inline(__always)
    private func peek() throws(FramingError) -> Frame? {
        try self.peekHeader().map { header in
            Frame(header: header, bytes: self.bytes[self.offset..<self.offset + header.frameByteCount])
        }
    }

    /// The header of the next frame; nil while it is incomplete.
    @inline(__always)
    private func peekHeader() throws(FramingError) -> FrameHeader? {
        let rest = unsafe self.bytes.span.bytes.extracting(droppingFirst: self.offset)
        guard let header = try FrameHeader.read(from: rest, frameBytesMax: self.frameBytesMax),
            rest.byteCount >= header.frameByteCount
        else { return nil }
        return header
    }

    /// Drops the bytes that were handed out.
    @inline(__always)
    private mutating func forgetHandedOut() {
        guard self.offset > 0 else { return }
        self.bytes = self.offset == self.bytes.count ? [] : Array(self.bytes[self.offset...])
        self.offset = 0
    }
}
