internal import Synchronization

/// What happens, for one reader, in order and within bounds.
///
/// What the reader has not taken yet waits for it. Of a *state* only the newest value waits. Everything else waits in order,
/// up to a bound that the type's documentation names; over it the oldest is left out, and the reader is told how many were.
/// A slow reader therefore never holds up the connection or other readers, and never costs more than its bound.
///
/// Each feed has one reader: ask its source for another one. It ends with its source.
public struct Feed<Element: Sendable>: AsyncSequence, Sendable {
    enum Taken: Sendable { case element(Element), nothingYet, finished }

    private let wakes: AsyncStream<Void>
    private let take: @Sendable () -> Taken

    init(_ wakes: AsyncStream<Void>, _ take: @escaping @Sendable () -> Taken) {
        self.wakes = wakes
        self.take = take
    }

    /// Reads a feed.
    public struct Iterator: AsyncIteratorProtocol {
        private var wakes: AsyncStream<Void>.Iterator
        private let take: @Sendable () -> Taken

        init(_ feed: Feed) {
            self.wakes = feed.wakes.makeAsyncIterator()
            self.take = feed.take
        }

        /// The next element; nil after the last one, or when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            while true {
                switch self.take() {
                case .element(let element): return element
                case .finished: return nil
                case .nothingYet: guard await self.wakes.next(isolation: actor) != nil else { return nil }
                }
            }
        }
    }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }
}

/// What a feed can carry.
protocol FeedElement: Sendable {
    /// How many wait at most.
    static var waitingMax: Int { get }
    /// Whether an older one need not be read any more.
    func replaces(_ older: Self) -> Bool
    /// Stands for `count` that were left out before `next`; nil where the newest says everything.
    static func missed(_ count: Int, before next: Self) -> Self?
}

/// What waits for one reader. A machine without I/O.
struct Mailbox<Element: FeedElement>: Sendable {
    private(set) var waiting: [Element] = []
    private var missed = 0
    var isFinished = false

    mutating func put(_ element: Element) {
        self.waiting.removeAll { element.replaces($0) }
        self.waiting.append(element)
        guard self.waiting.count > Element.waitingMax else { return }
        self.waiting.removeFirst()
        self.missed += 1
    }

    mutating func take() -> Element? {
        guard let next = self.waiting.first else { return nil }
        if self.missed > 0, let notice = Element.missed(self.missed, before: next) {
            self.missed = 0
            return notice
        }
        return self.waiting.removeFirst()
    }
}

/// The end at which a source puts in what happens: one mailbox for each reader.
struct Readers<Element: FeedElement>: Sendable {
    private final class Reader: Sendable {
        let mailbox: Mutex<Mailbox<Element>>
        let wake: AsyncStream<Void>.Continuation

        init(_ first: [Element], _ wake: AsyncStream<Void>.Continuation) {
            var mailbox = Mailbox<Element>()
            for element in first { mailbox.put(element) }
            self.mailbox = Mutex(mailbox)
            self.wake = wake
        }
    }

    private var readers: [Reader] = []
    private var isFinished = false

    /// How many readers there are.
    var count: Int { self.readers.count }

    /// A feed for one more reader, which finds `first` waiting.
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
                if let element = mailbox.take() { return .element(element) }
                return mailbox.isFinished ? .finished : .nothingYet
            }
        }
    }

    /// Tells every reader; those that have gone are forgotten.
    mutating func tell(_ element: Element) {
        self.readers.removeAll { reader in
            reader.mailbox.withLock { $0.put(element) }
            if case .terminated = reader.wake.yield() { return true }
            return false
        }
    }

    /// Nothing follows what waits.
    mutating func finish() {
        self.isFinished = true
        for reader in self.readers {
            reader.mailbox.withLock { $0.isFinished = true }
            reader.wake.yield()
        }
        self.readers = []
    }
}

extension Feed {
    /// Hands every element to `handler`, one at a time, until the feed ends.
    func forEach(_ handler: @escaping @Sendable (Element) async -> Void) {
        Task { for await element in self { await handler(element) } }
    }
}

extension ConnectionState: FeedElement {
    static var waitingMax: Int { 1 }
    func replaces(_ older: ConnectionState) -> Bool { true }
    static func missed(_ count: Int, before next: ConnectionState) -> ConnectionState? { nil }
}

extension VehicleState: FeedElement {
    static var waitingMax: Int { 1 }
    func replaces(_ older: VehicleState) -> Bool { true }
    static func missed(_ count: Int, before next: VehicleState) -> VehicleState? { nil }
}
