internal import Synchronization

/// Events or states for one reader, in order, in a bounded queue.
///
/// Elements that the reader has not read yet are queued. Of a *state* only the newest value is queued. Everything else is
/// queued in order, up to a bound that the type's documentation names; beyond it the oldest is dropped, and the reader is
/// told how many were. A slow reader therefore delays neither the connection nor other readers, and its queue stays within
/// the bound.
///
/// Each feed has one reader: ask its source for another feed. It ends with its source, and when the task that reads it is
/// cancelled.
public struct Feed<Element: Sendable>: AsyncSequence, Sendable {
    enum Dequeued: Sendable { case element(Element), empty, finished }

    private let wakes: AsyncStream<Void>
    private let dequeue: @Sendable () -> Dequeued

    init(_ wakes: AsyncStream<Void>, _ dequeue: @escaping @Sendable () -> Dequeued) {
        self.wakes = wakes
        self.dequeue = dequeue
    }

    /// Reads a feed.
    public struct Iterator: AsyncIteratorProtocol {
        private var wakes: AsyncStream<Void>.Iterator
        private let dequeue: @Sendable () -> Dequeued

        init(_ feed: Feed) {
            self.wakes = feed.wakes.makeAsyncIterator()
            self.dequeue = feed.dequeue
        }

        /// Returns the next element; nil after the last one, or when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            while true {
                switch self.dequeue() {
                case .element(let element): return element
                case .finished: return nil
                case .empty: guard await self.wakes.next(isolation: actor) != nil else { return nil }
                }
            }
        }
    }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }
}

/// An element of a feed.
protocol FeedElement: Sendable {
    /// How many are queued at most.
    static var queuedMax: Int { get }
    /// How many bytes of ``byteCount`` are queued at most, besides the newest element.
    static var queuedBytesMax: Int { get }
    /// What counts towards ``queuedBytesMax``.
    var byteCount: Int { get }
    /// Whether this element makes an older queued one superfluous.
    func replaces(_ older: Self) -> Bool
    /// An element that reports `count` dropped elements before `next`; nil for a state, whose newest value is complete.
    static func missed(_ count: Int, before next: Self) -> Self?
}

extension FeedElement {
    static var queuedBytesMax: Int { .max }
    var byteCount: Int { 0 }
}

/// The queue of one reader. A value without I/O.
struct Mailbox<Element: FeedElement>: Sendable {
    private(set) var queue: [Element] = []
    private var byteCount = 0
    private var missed = 0
    var isFinished = false

    /// - Returns: Whether this was the first to drop an element since the reader was last told.
    @discardableResult
    mutating func enqueue(_ element: Element) -> Bool {
        self.byteCount -= self.queue.reduce(0) { element.replaces($1) ? $0 + $1.byteCount : $0 }
        self.queue.removeAll { element.replaces($0) }
        self.queue.append(element)
        self.byteCount += element.byteCount
        let missedBefore = self.missed
        while self.queue.count > Element.queuedMax
            || self.byteCount > Element.queuedBytesMax && self.queue.count > 1
        {
            self.byteCount -= self.queue.removeFirst().byteCount
            self.missed += 1
        }
        return missedBefore == 0 && self.missed > 0
    }

    mutating func dequeue() -> Element? {
        guard let next = self.queue.first else { return nil }
        if self.missed > 0, let notice = Element.missed(self.missed, before: next) {
            self.missed = 0
            return notice
        }
        self.byteCount -= next.byteCount
        return self.queue.removeFirst()
    }
}

/// All readers of one source: a mailbox for each.
struct Readers<Element: FeedElement>: Sendable {
    private final class Reader: Sendable {
        let mailbox: Mutex<Mailbox<Element>>
        let wake: AsyncStream<Void>.Continuation

        init(_ first: [Element], _ wake: AsyncStream<Void>.Continuation) {
            var mailbox = Mailbox<Element>()
            for element in first { mailbox.enqueue(element) }
            self.mailbox = Mutex(mailbox)
            self.wake = wake
        }
    }

    private var readers: [Reader] = []
    private var isFinished = false

    /// How many readers there are.
    var count: Int { self.readers.count }

    /// A feed for one more reader, which begins with `first`.
    mutating func open(with first: [Element] = []) -> Feed<Element> {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let reader = Reader(first, wake)
        if self.isFinished {
            reader.mailbox.withLock { $0.isFinished = true }
        } else {
            self.readers.append(reader)
        }
        return Feed(wakes) {
            reader.mailbox.withLock { mailbox in
                if let element = mailbox.dequeue() { return .element(element) }
                return mailbox.isFinished ? .finished : .empty
            }
        }
    }

    /// Tells every reader, and removes those whose feed was released.
    ///
    /// - Returns: Whether a reader has begun to miss elements.
    @discardableResult
    mutating func tell(_ element: Element) -> Bool {
        var isMissed = false
        self.readers.removeAll { reader in
            if reader.mailbox.withLock({ $0.enqueue(element) }) { isMissed = true }
            if case .terminated = reader.wake.yield() { return true }
            return false
        }
        return isMissed
    }

    /// Ends every feed behind what is queued.
    mutating func finish() {
        self.isFinished = true
        for reader in self.readers {
            reader.mailbox.withLock { $0.isFinished = true }
            reader.wake.yield()
        }
        self.readers = []
    }
}

extension ConnectionState: FeedElement {
    static var queuedMax: Int { 1 }
    func replaces(_ older: ConnectionState) -> Bool { true }
    static func missed(_ count: Int, before next: ConnectionState) -> ConnectionState? { nil }
}

extension VehicleState: FeedElement {
    static var queuedMax: Int { 1 }
    func replaces(_ older: VehicleState) -> Bool { true }
    static func missed(_ count: Int, before next: VehicleState) -> VehicleState? { nil }
}
