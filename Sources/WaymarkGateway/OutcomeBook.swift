internal import WaymarkProtocol

/// The outcomes of a vehicle's last requests, for requests that are resent.
///
/// Once the book is full, a new outcome replaces the oldest one of the endpoint that has most of them. So an endpoint that asks in a
/// loop replaces its own outcomes, and not those that another endpoint waits for. Coded as a list, oldest first.
///
/// Shares are by name, though a peer that comes under ever new names gets one for each: all endpoints of a vehicle are of one user
/// (``Vehicle/principal``), who can also ask in a loop under the name of any other of them. Each name keeps at least its newest
/// outcome until there are as many newer ones as the book has room for.
struct OutcomeBook: Defaultable {
    /// An outcome, and the endpoint that sent the request first.
    private struct Entry: Sendable, Hashable, Codable {
        let outcome: RequestOutcome
        let source: EndpointName
    }

    /// The outcomes of one endpoint, as a chain of indices from the oldest to the newest.
    private struct Chain: Sendable {
        var first: Int
        var last: Int
        var count = 1
    }

    /// The place of an endpoint in the order in which outcomes are replaced.
    private struct Rank: Sendable, Hashable, Comparable {
        let count: Int
        /// The number of its oldest outcome, which no other has.
        let oldest: UInt64
        let source: EndpointName

        /// The endpoint with most comes first; of two with equally many, the one with the older outcome.
        static func < (lhs: Rank, rhs: Rank) -> Bool {
            lhs.count == rhs.count ? lhs.oldest < rhs.oldest : lhs.count > rhs.count
        }
    }

    /// The outcomes by endpoint. Most books are never full, so most have no such index.
    private struct Sources: Sendable {
        var chains: [EndpointName: Chain] = [:]
        var ranks = SortedSet<Rank>()
        /// The index of the next newer outcome of the same endpoint, at each index; -1: none.
        var next: [Int] = []
    }

    private var entries: [Entry] = []
    /// The hashes of their ids, at the same indices: a search compares few texts.
    private var hashes: [Int] = []
    /// Their numbers in the order of their ends, at the same indices.
    private var numbers: [UInt64] = []
    private var lastNumber: UInt64 = 0
    private var sources: Sources?

    init() {}

    var count: Int { self.entries.count }

    /// How the request with this id ended; nil if it is not known. O(count), but compares only a hash for most of them.
    func outcome(of id: Identifier) -> RequestOutcome? {
        var start = 0
        let hash = id.hashValue
        while let index = self.hashes[start...].firstIndex(of: hash) {
            if self.entries[index].outcome.requestID == id { return self.entries[index].outcome }
            start = index + 1
        }
        return nil
    }

    /// The outcomes that fulfil a condition, oldest first.
    func outcomes(where isWanted: (RequestOutcome) -> Bool = { _ in true }) -> [RequestOutcome] {
        self.oldestFirst { isWanted($0.outcome) }.map(\.outcome)
    }

    private func oldestFirst(where isWanted: (Entry) -> Bool = { _ in true }) -> [Entry] {
        self.entries.indices.filter { isWanted(self.entries[$0]) }
            .sorted { self.numbers[$0] < self.numbers[$1] }.map { self.entries[$0] }
    }

    // MARK: Adding

    /// Keeps an outcome. None with the same id may be kept already. O(log count) as long as `countMax` stays as it is.
    mutating func append(_ outcome: RequestOutcome, from source: EndpointName, countMax: Int) {
        guard countMax > 0 else { return self = OutcomeBook() }
        if self.count > countMax { self.shrink(to: countMax) }
        self.lastNumber += 1
        let (entry, hash) = (Entry(outcome: outcome, source: source), outcome.requestID.hashValue)
        guard self.count == countMax else {
            self.entries.append(entry)
            self.hashes.append(hash)
            self.numbers.append(self.lastNumber)
            self.sources?.next.append(-1)
            return self.link(self.count - 1)
        }
        if self.sources == nil { self.indexSources() }
        guard let index = self.evict(for: source) else { return }
        (self.entries[index], self.hashes[index]) = (entry, hash)
        self.numbers[index] = self.lastNumber
        self.link(index)
    }

    /// Discards outcomes of those that have most, until `countMax` are left.
    private mutating func shrink(to countMax: Int) {
        self.indexSources()
        var evicted: Set<Int> = []
        while self.count - evicted.count > countMax, let index = self.evict(for: nil) {
            evicted.insert(index)
        }
        let kept = self.entries.indices.filter { !evicted.contains($0) }
            .sorted { self.numbers[$0] < self.numbers[$1] }
        self = OutcomeBook(kept.map { self.entries[$0] })
    }

    // MARK: Endpoints

    private init(_ entries: [Entry]) {
        self.entries = entries
        self.hashes = entries.map(\.outcome.requestID.hashValue)
        self.numbers = entries.indices.map { UInt64($0) + 1 }
        self.lastNumber = UInt64(entries.count)
    }

    private mutating func indexSources() {
        self.sources = Sources(next: Array(repeating: -1, count: self.count))
        for index in self.entries.indices.sorted(by: { self.numbers[$0] < self.numbers[$1] }) {
            self.link(index)
        }
    }

    /// Adds the newest outcome to its endpoint's chain.
    private mutating func link(_ index: Int) {
        guard self.sources != nil else { return }
        let source = self.entries[index].source
        self.sources?.next[index] = -1
        guard var chain = self.sources?.chains[source] else {
            return self.set(Chain(first: index, last: index), of: source)
        }
        let replaced = self.rank(of: source, chain)
        self.sources?.ranks.remove(replaced)
        self.sources?.next[chain.last] = index
        (chain.last, chain.count) = (index, chain.count + 1)
        self.set(chain, of: source)
    }

    private mutating func set(_ chain: Chain, of source: EndpointName) {
        let rank = self.rank(of: source, chain)
        self.sources?.chains[source] = chain
        self.sources?.ranks.insert(rank)
    }

    private func rank(of source: EndpointName, _ chain: Chain, adding more: Int = 0) -> Rank {
        Rank(count: chain.count + more, oldest: self.numbers[chain.first], source: source)
    }

    /// Takes the oldest outcome of the endpoint that has most out of its chain. One more outcome of `source` counts as well.
    ///
    /// - Returns: The index of the outcome.
    private mutating func evict(for source: EndpointName?) -> Int? {
        guard let most = self.sources?.ranks.first else { return nil }
        var evicted = most.source
        if let source, let chain = self.sources?.chains[source],
            self.rank(of: source, chain, adding: 1) < most
        {
            evicted = source
        }
        guard var chain = self.sources?.chains[evicted], let next = self.sources?.next[chain.first] else {
            return nil
        }
        let (index, replaced) = (chain.first, self.rank(of: evicted, chain))
        self.sources?.ranks.remove(replaced)
        if next < 0 {
            self.sources?.chains[evicted] = nil
        } else {
            (chain.first, chain.count) = (next, chain.count - 1)
            self.set(chain, of: evicted)
        }
        return index
    }
}

// How they are stored makes no difference.
extension OutcomeBook: Hashable {
    static func == (lhs: OutcomeBook, rhs: OutcomeBook) -> Bool { lhs.oldestFirst() == rhs.oldestFirst() }
    func hash(into hasher: inout Hasher) { hasher.combine(self.oldestFirst()) }
}

extension OutcomeBook: Codable {
    func encode(to encoder: any Encoder) throws { try self.oldestFirst().encode(to: encoder) }
    init(from decoder: any Decoder) throws { self.init(try [Entry](from: decoder)) }
}
