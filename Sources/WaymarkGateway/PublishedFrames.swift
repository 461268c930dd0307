package import WaymarkProtocol

/// Published frames, one right behind the other: a batch as it was read, or as one audience gets it.
///
/// The frames share one array with everything that was read at the same time. To keep frames for long, copy their ``bytes`` or use
/// ``frames``.
package struct PublishedFrames: Sendable, Hashable {
    /// A frame in the shared array.
    struct FrameRange: Sendable, Hashable {
        let header: FrameHeader
        /// Where it begins in the array.
        let start: Int

        var range: Range<Int> { self.start..<self.start + self.header.frameByteCount }
    }

    private var array: [UInt8]
    // Why two lists that also have other frames: a part of the batch shares both, and a range is copied without counting references.
    /// All frames that were read at the same time, of which these frames are those at ``indices``.
    private(set) var ranges: [FrameRange] = []
    /// The outline of each, at the same index.
    private(set) var outlines: [PublicationOutline] = []
    /// The indices of these frames in both lists.
    private(set) var indices = 0..<0

    /// Empty; frames to come were read into `array`.
    package init(readInto array: [UInt8] = []) {
        self.array = array
        // About as many frames as so many bytes usually have.
        guard !array.isEmpty else { return }
        self.ranges.reserveCapacity(min(array.count / 32, 64))
        self.outlines.reserveCapacity(min(array.count / 32, 64))
    }

    /// A single frame.
    package init(_ frame: Frame, _ outline: PublicationOutline) {
        self.init()
        self.append(copyOf: frame, outline)
    }

    package var isEmpty: Bool { self.indices.isEmpty }
    package var count: Int { self.indices.count }

    /// The length of ``bytes``.
    var byteCount: Int {
        guard let first = self.indices.first, let last = self.indices.last else { return 0 }
        return self.ranges[last].range.upperBound - self.ranges[first].start
    }

    /// All of them, as they go over the wire.
    package var bytes: ArraySlice<UInt8> {
        guard let last = self.indices.last else { return [] }
        return self.array[self.ranges[self.indices.lowerBound].start..<self.ranges[last].range.upperBound]
    }

    /// Each frame in bytes of its own; a state with its key.
    package var frames: [(frame: Frame, key: ConflationKey?)] {
        self.indices.map { (self.frame(at: $0).compacted(), self.outlines[$0].conflationKey) }
    }

    /// One value for each frame, in the shared bytes.
    package var single: [PublishedFrames] { self.indices.map { self[$0..<$0 + 1] } }

    /// The first `count` of them, and the others; in the shared bytes.
    func split(after count: Int) -> (first: PublishedFrames, rest: PublishedFrames) {
        let middle = self.indices.lowerBound + count
        return (self[self.indices.lowerBound..<middle], self[middle..<self.indices.upperBound])
    }

    /// A part of the frames, in the shared bytes.
    subscript(range: Range<Int>) -> PublishedFrames {
        precondition(
            range.lowerBound >= self.indices.lowerBound && range.upperBound <= self.indices.upperBound)
        var some = self
        some.indices = range
        return some
    }

    /// One frame, in the shared bytes.
    func frame(at index: Int) -> Frame {
        Frame(header: self.ranges[index].header, bytes: self.array[self.ranges[index].range])
    }

    /// Whether two of them have the same body, byte for byte.
    func hasSameBodies(_ index: Int, _ other: Int) -> Bool {
        let bytes = unsafe self.array.span.bytes
        return Frame.hasSameBodies(
            bytes.extracting(self.ranges[index].range), bytes.extracting(self.ranges[other].range))
    }

    /// Whether one of them has the body of another frame, byte for byte.
    func hasBody(at index: Int, of frame: Frame) -> Bool {
        unsafe Frame.hasSameBodies(
            self.array.span.bytes.extracting(self.ranges[index].range), frame.bytes.span.bytes)
    }

    /// Adds a frame of the array: the one that begins at `start`, where the last one ends.
    package mutating func append(
        read header: FrameHeader, at start: Int, _ outline: consuming PublicationOutline
    ) {
        self.ranges.append(FrameRange(header: header, start: start))
        self.outlines.append(outline)
        self.indices = self.indices.lowerBound..<self.ranges.count
    }

    /// Adds a copy of a frame.
    mutating func append(copyOf frame: Frame, _ outline: PublicationOutline) {
        self.append(read: frame.header, at: self.array.count, outline)
        self.array.append(contentsOf: frame.bytes)
    }
}
