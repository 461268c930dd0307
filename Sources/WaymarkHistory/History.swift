package import WaymarkProtocol

/// Everything that happened in a run, in order, and what each endpoint held after it.
///
/// Expectations, lints, reports and recordings read the same history. Nothing in it depends on how it was made: in virtual time,
/// over sockets, or from a recording.
package struct History: Sendable {
    /// One thing that happened.
    package struct Entry: Sendable {
        package let index: Int
        /// Since the run began.
        package let instant: Instant
        package let kind: Kind

        package init(index: Int, instant: Instant, kind: Kind) {
            (self.index, self.instant, self.kind) = (index, instant, kind)
        }
    }

    /// What happened.
    package enum Kind: Sendable {
        case frame(CrossedFrame)
        /// Bytes that are no frame.
        case broken(PeerID, Way, [UInt8])
        case connection(PeerID, Connection)
        case fault(FaultRecord)
        /// The scenario did a step: its position in the file, and what it does.
        case step(Int, String)
        /// A process wrote a line.
        case log(PeerID?, String)
    }

    /// What happened to a peer's connection.
    package enum Connection: Sendable, Hashable {
        case connecting
        /// The gateway said Welcome.
        case admitted(resumed: Bool)
        case refused(String)
        /// Ended, with the code of the Goodbye that came before; nil if none came.
        case ended(CloseCode?)
    }

    /// What a history can hold. A run that is longer ends with an error.
    package struct Limits: Sendable {
        package var entriesMax = 4_000_000
        /// Of all frames together.
        package var bytesMax = 1 << 30
        package init() {}
    }

    package private(set) var entries: [Entry] = []
    package private(set) var endpoints: [EndpointHistory] = []
    /// Nothing more is kept.
    package private(set) var isFull = false
    private var bytes = 0
    private let limits: Limits

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// Names an endpoint before it connects, with the limits of its Hello; those of a program are known with its Hello.
    package mutating func add(_ endpoint: PeerID, storage: VehicleLimits, isForeign: Bool = false) {
        self.endpoints.append(EndpointHistory(endpoint, storage: storage, isForeign: isForeign))
    }

    /// Adds what happened at an instant that is not before the last one.
    ///
    /// - Returns: The entry; nil if the history is full.
    @discardableResult package mutating func append(_ kind: Kind, at instant: Instant) -> Entry? {
        if case .frame(let crossed) = kind { self.bytes += crossed.frame.bytes.count }
        if case .broken(_, _, let bytes) = kind { self.bytes += bytes.count }
        guard self.entries.count < self.limits.entriesMax, self.bytes <= self.limits.bytesMax else {
            self.isFull = true
            return nil
        }
        let entry = Entry(index: self.entries.count, instant: instant, kind: kind)
        self.entries.append(entry)
        for position in self.endpoints.indices { self.endpoints[position].apply(entry) }
        return entry
    }

    /// Adds something at the instant of the entry before it; the entries from `index` on move by one. At the end it is added at `end`.
    package mutating func insert(_ kind: Kind, at index: Int, orAt end: Instant) {
        guard index < self.entries.count, self.entries.count < self.limits.entriesMax else {
            self.append(kind, at: end)
            return
        }
        let instant = index > 0 ? self.entries[index - 1].instant : self.entries[index].instant
        self.entries.insert(Entry(index: index, instant: instant, kind: kind), at: index)
        for position in self.entries.indices[(index + 1)...] {
            let entry = self.entries[position]
            self.entries[position] = Entry(index: position, instant: entry.instant, kind: entry.kind)
        }
        for position in self.endpoints.indices { self.endpoints[position].moveMoments(from: index) }
    }

    /// How many entries are not after an instant.
    package func count(upTo instant: Instant) -> Int {
        self.entries.binarySearch { $0.instant <= instant }
    }

    /// The record of an endpoint that was named.
    package func endpoint(_ id: PeerID) -> EndpointHistory? { self.endpoints.first { $0.id == id } }
}
