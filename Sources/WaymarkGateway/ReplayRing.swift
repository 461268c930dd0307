internal import DequeModule
internal import WaymarkProtocol

/// The last frames of a session, as one audience got them, for endpoints that come back after a short gap.
struct ReplayRing: Sendable, Hashable {
    private var frames: Deque<Frame> = []
    private var byteCount = 0
    private let byteCountMax: Int
    /// Frames up to this sequence number may be missing here.
    private var floor: UInt64

    /// A ring that knows nothing of the frames up to `sequence`.
    init(after sequence: UInt64, byteCountMax: Int) {
        self.floor = sequence
        self.byteCountMax = byteCountMax
    }

    /// Keeps a frame, and forgets the oldest ones over the bound.
    mutating func append(_ frame: Frame) {
        self.frames.append(frame)
        self.byteCount += frame.bytes.count
        while self.byteCount > self.byteCountMax, let oldest = self.frames.popFirst() {
            self.byteCount -= oldest.bytes.count
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
