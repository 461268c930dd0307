package import WaymarkProtocol

/// Cuts a stream of bytes into frames.
///
/// Holds at most one frame's part and what was read last; a frame holds at most twice its own bytes, however much came
/// with it. A stream that broke stays broken: nothing of it is kept.
package struct FrameSplitter: Sendable {
    /// The agreed largest frame, header included.
    package var frameBytesMax: UInt32
    /// What was read, handed out up to ``offset``.
    private var bytes: [UInt8] = []
    private var offset = 0
    private var failure: FramingError?

    package init(frameBytesMax: UInt32) { self.frameBytesMax = frameBytesMax }

    /// The memory that is held for what is not yet a frame, in bytes.
    package var byteCapacity: Int { self.bytes.capacity }

    /// What was read and not handed out: nothing, or a part of a frame, once ``next()`` has returned nil.
    package var rest: [UInt8] { Array(self.bytes[self.offset...]) }

    /// Takes what was read.
    package mutating func append(_ read: [UInt8]) {
        guard self.failure == nil else { return }
        self.forgetHandedOut()
        if self.bytes.isEmpty { self.bytes = read } else { self.bytes.append(contentsOf: read) }
    }

    /// The next whole frame; nil while there is none.
    ///
    /// - Throws: ``FramingError`` as soon as the bytes that are there cannot become a frame, and from then on.
    package mutating func next() throws(FramingError) -> Frame? {
        if let failure = self.failure { throw failure }
        let rest = self.bytes[self.offset...]
        let header: FrameHeader?
        do {
            header = try unsafe FrameHeader.read(from: rest.span.bytes, frameBytesMax: self.frameBytesMax)
        } catch {
            self.failure = error
            self.bytes = []
            self.offset = 0
            throw error
        }
        guard let header, rest.count >= header.frameByteCount else {
            self.forgetHandedOut()
            return nil
        }
        self.offset += header.frameByteCount
        let frame = Frame(header: header, bytes: rest.prefix(header.frameByteCount))
        return frame.bytes.count * 2 >= self.bytes.count ? frame : frame.compacted()
    }

    /// Lets go of the read whose frames were handed out.
    private mutating func forgetHandedOut() {
        guard self.offset > 0 else { return }
        self.bytes = Array(self.bytes[self.offset...])
        self.offset = 0
    }
}
