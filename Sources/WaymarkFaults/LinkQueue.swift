internal import WaymarkHistory
internal import WaymarkProtocol

/// One way of a connection under faults: what waits to arrive, in order.
struct LinkQueue: Sendable {
    /// How long a frame waits for the one with which it changes places.
    static let reorderMax = Duration.seconds(1)

    /// A frame under way.
    struct Crossing: Sendable {
        let frame: Frame
        let sent: Instant
        var delivery = CrossedFrame.Delivery.whole
        /// nil: a random one.
        var corruptedByte: Int?
    }

    enum Item: Sendable {
        /// `completes`: the frame whose last byte this is; nil for a part of one, and for bytes that are no frame.
        case bytes(ArraySlice<UInt8>, completes: Crossing?)
        /// Bytes that are no frame.
        case broken(ArraySlice<UInt8>)
        /// The fault of this number happens here.
        case act(Int)
        case end
    }

    /// The state of the queue.
    enum State: Sendable { case open, ending, ended }

    private(set) var queue: [(due: Instant, item: Item)] = []
    private var head = 0
    private(set) var byteCount = 0
    var state = State.open
    var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.frameBytes.upperBound)
    /// Bytes that are no frame were read: everything behind them passes as it is.
    var isBroken = false
    /// A frame that waits for the next one.
    var held: (crossing: Crossing, until: Instant)?
    /// Nothing is due before what came before it.
    private var lastDue = Instant(nanoseconds: 0)
    /// Up to this instant, a throttled queue's bytes were delivered.
    var credit = Instant(nanoseconds: 0)
    /// Not before this instant does the next piece of a sliced queue arrive.
    var nextPieceAt = Instant(nanoseconds: 0)

    var isEmpty: Bool { self.head == self.queue.count }
    /// Nothing waits.
    var isIdle: Bool { self.isEmpty && self.held == nil }
    var first: (due: Instant, item: Item)? { self.isEmpty ? nil : self.queue[self.head] }

    mutating func append(_ item: Item, due: Instant) {
        self.lastDue = max(self.lastDue, due)
        if case .bytes(let bytes, _) = item { self.byteCount += bytes.count }
        if case .broken(let bytes) = item { self.byteCount += bytes.count }
        self.queue.append((self.lastDue, item))
    }

    mutating func removeFirst() {
        switch self.queue[self.head].item {
        case .bytes(let bytes, _), .broken(let bytes): self.byteCount -= bytes.count
        case .act, .end: break
        }
        self.queue[self.head].item = .end
        self.head += 1
        if self.head == self.queue.count {
            self.queue.removeAll(keepingCapacity: true)
            self.head = 0
        } else if self.head >= 1_024, self.head * 2 > self.queue.count {
            self.queue.removeFirst(self.head)
            self.head = 0
        }
    }

    /// Delivers the first `count` bytes of the first item, which has more.
    mutating func shortenFirst(by count: Int) {
        switch self.queue[self.head].item {
        case .bytes(let bytes, let crossing):
            self.queue[self.head].item = .bytes(bytes.dropFirst(count), completes: crossing)
        case .broken(let bytes): self.queue[self.head].item = .broken(bytes.dropFirst(count))
        case .act, .end: return
        }
        self.byteCount -= count
    }

    /// Empties the queue.
    ///
    /// - Returns: The frames and faults that were under way.
    mutating func clear() -> (crossings: [Crossing], acts: Set<Int>) {
        var crossings: [Crossing] = []
        var acts: Set<Int> = []
        while let (_, item) = self.first {
            if case .bytes(_, .some(let crossing)) = item { crossings.append(crossing) }
            if case .act(let fault) = item { acts.insert(fault) }
            self.removeFirst()
        }
        if let held { crossings.append(held.crossing) }
        self.held = nil
        return (crossings, acts)
    }
}
