internal import DequeModule
internal import WaymarkProtocol

/// A ring of the last frames of a session, as one audience got them, for endpoints that resume after a short gap.
struct ReplayRing: Sendable {
    /// About how many bytes of frames share an array; a larger frame has an array of its own.
    private static let chunkByteCount = 8_192

    /// The memory of the frames, see ``FrameHeader/keptByteCount``, counted as if each were kept by itself.
    private(set) var byteCount = 0
    /// The frames' bytes, oldest first. No frame spans two chunks.
    private var chunks: Deque<[UInt8]> = []
    /// Where the oldest frame begins in the first chunk.
    private var offset = 0
    /// Frames up to this sequence number may be missing.
    private var floor: UInt64

    /// An empty ring after the frame with number `sequence`.
    init(after sequence: UInt64) { self.floor = sequence }

    /// Keeps a copy of frames, and forgets the oldest ones over `byteCountMax`.
    mutating func append(_ frames: PublishedFrames, byteCountMax: Int) {
        // One by one if not all will be kept, so that the memory stays close to what is counted.
        guard frames.bytes.count <= byteCountMax || frames.indices.count == 1 else {
            for index in frames.indices {
                self.append(frames[index..<index + 1], byteCountMax: byteCountMax)
            }
            return
        }
        self.keep(frames.bytes, count: frames.indices.count)
        // All frames of one publication are dropped together: a part of them must not pass for all.
        while let oldest = self.oldest, self.byteCount > byteCountMax || oldest.sequence == self.floor {
            self.forget(oldest)
        }
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>, count: Int) {
        self.byteCount += bytes.count + count * FrameHeader.keptOverheadByteCount
        if let last = self.chunks.last, last.count + bytes.count <= Self.chunkByteCount {
            self.chunks[self.chunks.count - 1].append(contentsOf: bytes)
        } else {
            var chunk: [UInt8] = []
            // A chunk without this room would be copied whenever it has doubled. The first one grows with what is published.
            if !self.chunks.isEmpty { chunk.reserveCapacity(max(Self.chunkByteCount, bytes.count)) }
            chunk.append(contentsOf: bytes)
            self.chunks.append(chunk)
        }
    }

    private var oldest: FrameHeader? { self.chunks.first.map { FrameHeader(at: self.offset, of: $0) } }

    private mutating func forget(_ oldest: FrameHeader) {
        self.byteCount -= oldest.keptByteCount
        self.floor = oldest.sequence
        self.offset += oldest.frameByteCount
        if self.offset == self.chunks.first?.count {
            self.chunks.removeFirst()
            self.offset = 0
        }
    }

    /// The frames after `sequence`; nil if some of them were dropped.
    ///
    /// A publication that was fitted into several frames is repeated whole: the endpoint may have got a part of it.
    func frames(after sequence: UInt64) -> [Frame]? {
        guard sequence >= self.floor else { return nil }
        // Skips chunks that end before it.
        let first = self.chunks.lastIndex { FrameHeader(at: 0, of: $0).sequence < sequence } ?? 0
        let missed = self.frames(from: first).drop { $0.header.sequence < sequence }
        let parts = missed.prefix { $0.header.sequence == sequence }.count
        return Array(parts == 1 ? missed.dropFirst() : missed)
    }

    /// The frames of the chunks from `first` on.
    private func frames(from first: Int = 0) -> [Frame] {
        var frames: [Frame] = []
        for (index, chunk) in self.chunks.enumerated().dropFirst(first) {
            var start = index == 0 ? self.offset : 0
            while start < chunk.count {
                let header = FrameHeader(at: start, of: chunk)
                let end = start + header.frameByteCount
                frames.append(Frame(header: header, bytes: Array(chunk[start..<end])[...]))
                start = end
            }
        }
        return frames
    }
}

extension ReplayRing: Hashable {
    static func == (lhs: ReplayRing, rhs: ReplayRing) -> Bool {
        lhs.floor == rhs.floor && lhs.byteCount == rhs.byteCount && lhs.frames() == rhs.frames()
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(self.floor)
        hasher.combine(self.byteCount)
    }
}

extension ReplayRing: Codable {
    private enum CodingKeys: CodingKey { case frames, floor }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.frames(), forKey: .frames)
        try container.encode(self.floor, forKey: .floor)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let frames = try container.decode([Frame].self, forKey: .frames)
        self.init(after: try container.decode(UInt64.self, forKey: .floor))
        for frame in frames { self.keep(frame.bytes, count: 1) }
    }
}
