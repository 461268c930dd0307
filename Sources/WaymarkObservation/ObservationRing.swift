internal import DequeModule
internal import WaymarkProtocol

/// A set of observations, by their places in the hub.
struct ObservationSet: OptionSet, Sendable, Hashable {
    let rawValue: UInt64
    init(rawValue: UInt64) { self.rawValue = rawValue }
    init(_ place: Int) { self.rawValue = 1 << UInt64(place) }

    static let countMax = 64

    /// The places in it, ascending.
    var places: Places { Places(rest: self.rawValue) }

    struct Places: Sequence, IteratorProtocol {
        fileprivate var rest: UInt64

        mutating func next() -> Int? {
            guard self.rest != 0 else { return nil }
            defer { self.rest &= self.rest &- 1 }
            return self.rest.trailingZeroBitCount
        }
    }
}

/// What observers are told, in order, each entry once for all observers. When it takes too much memory the oldest entries are dropped.
struct ObservationRing: Sendable {
    struct Entry: Sendable {
        /// ObservedRecords, ObservedEvent or ObservedFrames.
        let type: MessageType
        /// The body without its number.
        let body: ArraySlice<UInt8>
        /// For those in ``redactedFor``: without what they may not see.
        var redacted: ArraySlice<UInt8> = []
        /// Who is told it.
        var receivers: ObservationSet
        /// Which of them get ``redacted``.
        var redactedFor: ObservationSet = []
        /// It may have what this session's trip no longer shares; none: it has not.
        var sensitiveSession = SessionID.none

        /// The memory that it takes.
        fileprivate var byteCount: Int { self.body.count + self.redacted.count + Self.overheadByteCount }

        private static let overheadByteCount = 200
    }

    private var entries: Deque<Entry> = []
    /// The index of the first entry. Indices are never used again.
    private(set) var start: UInt64 = 0
    private(set) var byteCount = 0

    /// The index of the next entry.
    var end: UInt64 { self.start + UInt64(self.entries.count) }

    subscript(index: UInt64) -> Entry { self.entries[Int(index - self.start)] }

    mutating func append(_ entry: Entry) {
        self.byteCount += entry.byteCount
        self.entries.append(entry)
    }

    /// Removes the oldest entry, and returns who was told it, or would have been.
    mutating func dropFirst() -> ObservationSet {
        let entry = self.entries.removeFirst()
        self.start += 1
        self.byteCount -= entry.byteCount
        return entry.receivers
    }

    mutating func removeAll() {
        self.start = self.end
        self.entries = []
        self.byteCount = 0
    }
}
