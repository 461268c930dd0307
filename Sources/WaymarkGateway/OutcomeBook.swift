internal import WaymarkProtocol

/// The outcomes of a vehicle's last requests, oldest first, for requests that are resent. Coded as a list.
struct OutcomeBook: Sendable {
    /// Once full, a new outcome replaces the oldest.
    private var ring: [RequestOutcome] = []
    /// The hashes of their ids, at the same indices: a search compares few texts.
    private var hashes: [Int] = []
    private var oldest = 0

    init() {}

    /// How the request with this id ended; nil if it is not known. O(count), but compares only a hash for most of them.
    func outcome(of id: Identifier) -> RequestOutcome? {
        var start = 0
        let hash = id.hashValue
        while let index = self.hashes[start...].firstIndex(of: hash) {
            if self.ring[index].requestID == id { return self.ring[index] }
            start = index + 1
        }
        return nil
    }

    /// Keeps an outcome. None with the same id may be kept already. O(1) as long as `countMax` stays as it is.
    mutating func append(_ outcome: RequestOutcome, countMax: Int) {
        if self.ring.count == countMax, countMax > 0 {
            self.ring[self.oldest] = outcome
            self.hashes[self.oldest] = outcome.requestID.hashValue
            self.oldest = (self.oldest + 1) % countMax
            return
        }
        if self.oldest > 0 || self.ring.count > countMax { self.straighten(countMax: countMax - 1) }
        guard self.ring.count < countMax else { return }
        self.ring.append(outcome)
        self.hashes.append(outcome.requestID.hashValue)
    }

    /// Keeps the newest `countMax` outcomes, with the oldest at index 0.
    private mutating func straighten(countMax: Int) {
        self.ring = Array(self.suffix(Swift.max(0, countMax)))
        self.hashes = self.ring.map(\.requestID.hashValue)
        self.oldest = 0
    }
}

extension OutcomeBook: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { self.ring.count }
    subscript(position: Int) -> RequestOutcome { self.ring[(self.oldest + position) % self.ring.count] }
}

extension OutcomeBook: Hashable {
    static func == (lhs: OutcomeBook, rhs: OutcomeBook) -> Bool { lhs.elementsEqual(rhs) }
    func hash(into hasher: inout Hasher) { hasher.combine(Array(self)) }
}

extension OutcomeBook: Codable {
    func encode(to encoder: any Encoder) throws { try Array(self).encode(to: encoder) }

    init(from decoder: any Decoder) throws {
        self.ring = try [RequestOutcome](from: decoder)
        self.hashes = self.ring.map(\.requestID.hashValue)
    }
}
