package import WaymarkProtocol

/// Published frames, one right behind the other: as they were read at once, or as one audience gets them.
///
/// They share one array with each other, and with whatever was read at the same time: whoever keeps some for long copies
/// their ``bytes`` or takes ``frames``.
package struct PublishedFrames: Sendable, Hashable {
    /// Where a frame is.
    struct Place: Sendable, Hashable {
        let header: FrameHeader
        /// Where it begins in the array.
        let start: Int

        var range: Range<Int> { self.start..<self.start + self.header.frameByteCount }
    }

    private var array: [UInt8]
    // Why two lists, also of what is not among these frames: a part of them shares both, and a place is copied without a thought.
    /// Of all that was read at the same time; those at ``indices`` are of these frames.
    private(set) var places: [Place] = []
    /// What the gateway must know of each.
    private(set) var outlines: [PublicationOutline] = []
    /// Where in both lists these frames are.
    private(set) var indices = 0..<0

    /// None yet; those to come were read into `array`.
    package init(readInto array: [UInt8] = []) {
        self.array = array
        // As many as there are usually, within reason.
        guard !array.isEmpty else { return }
        self.places.reserveCapacity(min(array.count / 32, 64))
        self.outlines.reserveCapacity(min(array.count / 32, 64))
    }

    /// A single frame.
    package init(_ frame: Frame, _ outline: PublicationOutline) {
        self.init()
        self.append(copyOf: frame, outline)
    }

    package var isEmpty: Bool { self.indices.isEmpty }

    /// All of them, as they go over the wire.
    package var bytes: ArraySlice<UInt8> {
        guard let last = self.indices.last else { return [] }
        return self.array[self.places[self.indices.lowerBound].start..<self.places[last].range.upperBound]
    }

    /// Each by itself, in bytes of its own; a state with its key.
    package var frames: [(frame: Frame, key: ConflationKey?)] {
        self.indices.map { (self.frame(at: $0).compacted(), self.outlines[$0].conflationKey) }
    }

    /// Each by itself.
    package var single: [PublishedFrames] { self.indices.map { self[$0..<$0 + 1] } }

    /// Some of them.
    subscript(range: Range<Int>) -> PublishedFrames {
        precondition(
            range.lowerBound >= self.indices.lowerBound && range.upperBound <= self.indices.upperBound)
        var some = self
        some.indices = range
        return some
    }

    /// One of them, in the shared bytes.
    func frame(at index: Int) -> Frame {
        Frame(header: self.places[index].header, bytes: self.array[self.places[index].range])
    }

    /// Whether two of them have the same body, byte for byte.
    func hasSameBodies(_ index: Int, _ other: Int) -> Bool {
        let bytes = unsafe self.array.span.bytes
        return Frame.hasSameBodies(
            bytes.extracting(self.places[index].range), bytes.extracting(self.places[other].range))
    }

    /// Whether one of them has the body of another frame, byte for byte.
    func hasBody(at index: Int, of frame: Frame) -> Bool {
        unsafe Frame.hasSameBodies(
            self.array.span.bytes.extracting(self.places[index].range), frame.bytes.span.bytes)
    }

    /// Takes a frame that is a part of the array: the one that begins at `start`, where the last one ends.
    package mutating func append(
        read header: FrameHeader, at start: Int, _ outline: consuming PublicationOutline
    ) {
        self.places.append(Place(header: header, start: start))
        self.outlines.append(outline)
        self.indices = self.indices.lowerBound..<self.places.count
    }

    /// Takes a frame from elsewhere.
    mutating func append(copyOf frame: Frame, _ outline: PublicationOutline) {
        self.append(read: frame.header, at: self.array.count, outline)
        self.array.append(contentsOf: frame.bytes)
    }
}
