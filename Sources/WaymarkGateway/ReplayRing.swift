internal import DequeModule
internal import WaymarkProtocol

/// The last frames of a session, as one audience got them, for endpoints that come back after a short gap.
struct ReplayRing: Sendable, Hashable, Codable {
    /// What the frames take, see ``Frame/keptByteCount``.
    private(set) var byteCount = 0
    private var frames: Deque<Frame> = []
    /// Frames up to this sequence number may be missing here.
    private var floor: UInt64

    /// A ring that knows nothing of the frames up to `sequence`.
    init(after sequence: UInt64) { self.floor = sequence }

    /// Keeps a frame, and forgets the oldest ones over `byteCountMax`. It must not share its bytes with anything larger.
    mutating func append(_ frame: Frame, byteCountMax: Int) {
        self.frames.append(frame)
        self.byteCount += frame.keptByteCount
        // What one publication was fitted into goes as a whole: a part of it must not pass for all of it.
        while let oldest = self.frames.first,
            self.byteCount > byteCountMax || oldest.header.sequence == self.floor
        {
            self.frames.removeFirst()
            self.byteCount -= oldest.keptByteCount
            self.floor = oldest.header.sequence
        }
    }

    /// What an endpoint missed that saw `sequence` last; nil if that cannot be told any more.
    ///
    /// A publication that was fitted into several frames is repeated whole: the endpoint may have got a part of it.
    func frames(after sequence: UInt64) -> [Frame]? {
        guard sequence >= self.floor else { return nil }
        let start = self.frames.partitioningIndex { $0.header.sequence >= sequence }
        let missed = self.frames[start...]
        let parts = missed.prefix { $0.header.sequence == sequence }.count
        return Array(parts == 1 ? missed.dropFirst() : missed)
    }
}

extension RandomAccessCollection where Index == Int {
    /// The first index whose element satisfies `predicate`, in a collection that it partitions.
    fileprivate func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
        var low = self.startIndex
        var high = self.endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
