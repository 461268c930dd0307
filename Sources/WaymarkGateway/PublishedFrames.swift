package import WaymarkProtocol

/// Published frames, one right behind the other: as they were read at once, or as one audience gets them.
///
/// They share one array with each other, and with whatever was read at the same time: whoever keeps some for long copies
/// their ``bytes`` or takes ``frames``.
package struct PublishedFrames: Sendable, Hashable {
    /// A frame and what the gateway must know of it.
    struct Entry: Sendable, Hashable {
        let header: FrameHeader
        /// Where the frame begins in the array.
        let start: Int
        let outline: PublicationOutline

        var end: Int { self.start + self.header.frameByteCount }
    }

    private var array: [UInt8]
    private(set) var entries: ArraySlice<Entry> = []

    /// None yet; those to come were read into `array`.
    package init(readInto array: [UInt8] = []) {
        self.array = array
    }

    /// A single frame.
    package init(_ frame: Frame, _ outline: PublicationOutline) {
        self.init()
        self.append(copyOf: frame, outline)
    }

    private init(array: [UInt8], entries: ArraySlice<Entry>) {
        self.array = array
        self.entries = entries
    }

    package var isEmpty: Bool { self.entries.isEmpty }

    /// All of them, as they go over the wire.
    package var bytes: ArraySlice<UInt8> {
        guard let first = self.entries.first, let last = self.entries.last else { return [] }
        return self.array[first.start..<last.end]
    }

    /// Each by itself, in bytes of its own; a state with its key.
    package var frames: [(frame: Frame, key: ConflationKey?)] {
        self.entries.indices.map {
            (self.frame(at: $0).compacted(), self.entries[$0].outline.conflationKey)
        }
    }

    /// Some of them.
    subscript(range: Range<Int>) -> PublishedFrames {
        PublishedFrames(array: self.array, entries: self.entries[range])
    }

    /// One of them, in the shared bytes.
    func frame(at index: Int) -> Frame {
        let header = self.entries[index].header
        let start = self.entries[index].start
        return Frame(header: header, bytes: self.array[start..<start + header.frameByteCount])
    }

    /// Takes a frame that is a part of the array and begins where the last one ends.
    package mutating func append(read frame: Frame, _ outline: PublicationOutline) {
        // As many as there are usually, within reason.
        if self.entries.isEmpty { self.entries.reserveCapacity(min(self.array.count / 32, 64)) }
        self.entries.append(
            Entry(header: frame.header, start: frame.bytes.startIndex, outline: outline))
    }

    /// Takes a frame from elsewhere.
    mutating func append(copyOf frame: Frame, _ outline: PublicationOutline) {
        self.entries.append(Entry(header: frame.header, start: self.array.count, outline: outline))
        self.array.append(contentsOf: frame.bytes)
    }
}
