internal import Glibc
internal import WaymarkConnections
internal import WaymarkGateway
package import WaymarkProtocol

/// Knows where each connection comes from, counts them in total and per user or IP address, and enforces their limits; before the
/// handshake as well.
///
/// A peer that sends no Hello takes no place from others: above the limit of unfinished handshakes the oldest one, of the same account
/// or in all, is closed in favour of a new connection. A peer that does send its Hello has usually been admitted long before.
package struct ConnectionLedger: Sendable {
    package struct Limits: Sendable, Hashable {
        package var connectionsMax = 20_000
        /// Of one user id, or of one IP address (of IPv6, of the first 64 bits).
        package var connectionsPerUserMax = 12_000
        /// Connections whose handshake is not finished.
        package var handshakesMax = 8_192
        /// The same, of one user id or IP address.
        package var handshakesPerUserMax = 2_048

        package init() {}
    }

    package enum Verdict: Sendable, Hashable {
        /// The connection is counted. `closing` is another one, whose handshake has taken longest and whose place is needed, because
        /// `limit` is reached.
        case accepted(closing: ConnectionID?, limit: ReachedLimit? = nil)
        /// The connection is not counted; it gets this Goodbye.
        case refused(Goodbye)
    }

    /// A connection that is counted.
    private struct Entry: Sendable {
        let id: ConnectionID
        let source: PeerSource
        var isUnfinished = false
        /// The index of its account.
        @Narrow var account: Int
    }

    package var limits: Limits
    /// Of each account, its connections whose handshakes are not finished.
    private var accounts = AccountTable<PeerAccount, PlaceList>()
    private var places = ConnectionPlaces()
    /// By place.
    private var entries: [Entry] = []
    /// Connections whose handshakes are not finished, of all accounts.
    private var unfinished = PlaceList()
    /// Their neighbours in ``unfinished`` and in the list of their account, by place.
    private var (neighbours, neighboursOfAccount): ([PlaceList.Neighbours], [PlaceList.Neighbours]) = ([], [])

    package var count: Int { self.places.count }

    package init(limits: Limits) { self.limits = limits }

    /// Connections whose handshake is not finished.
    package var unfinishedCount: Int { self.unfinished.count }

    /// Counts a new connection.
    package mutating func add(_ id: ConnectionID, _ source: PeerSource) -> Verdict {
        let account = self.accounts.open(source.account, PlaceList())
        if let refusal = self.refusal(of: self.accounts.useCount(of: account) - 1) {
            self.accounts.close(account)
            return .refused(refusal)
        }
        var oldest: Int?
        var limit: ReachedLimit?
        if self.accounts[account].count >= max(1, self.limits.handshakesPerUserMax) {
            oldest = self.accounts[account].first
            limit = ReachedLimit("handshakes_per_user_max", self.limits.handshakesPerUserMax)
        } else if self.unfinished.count >= max(1, self.limits.handshakesMax) {
            oldest = self.unfinished.first
            limit = ReachedLimit("handshakes_max", self.limits.handshakesMax)
        }
        if let oldest { self.finish(at: oldest) }
        self.add(Entry(id: id, source: source, isUnfinished: true, account: account))
        return .accepted(closing: oldest.map { self.entries[$0].id }, limit: limit)
    }

    /// Why an account that has `held` connections gets no further one; nil if it does.
    private func refusal(of held: Int) -> Goodbye? {
        let max = self.limits.connectionsMax
        guard self.count < max else {
            return Goodbye(
                .tooManyConnections, reason: "the gateway has reached its connection limit",
                limit: ReachedLimit("connections_max", max))
        }
        // So that a few users with all their connections do not lock the others out. Unless one user may have all.
        let mayHaveAll = self.limits.connectionsPerUserMax >= max
        guard mayHaveAll || self.count < max - max / 8 || held < max / 16 else {
            return Goodbye(
                .tooManyConnections,
                reason: "the last places are for users with fewer than \(max / 16) connections",
                limit: ReachedLimit("connections_max", max))
        }
        guard held < self.limits.connectionsPerUserMax else {
            return Goodbye(
                .tooManyConnections, reason: "this user or address has reached the connection limit",
                limit: ReachedLimit("connections_per_user_max", self.limits.connectionsPerUserMax))
        }
        return nil
    }

    /// Counts a connection that another process accepted. The limits do not apply.
    mutating func restore(_ id: ConnectionID, _ source: PeerSource, isFinished: Bool) {
        let account = self.accounts.open(source.account, PlaceList())
        self.add(Entry(id: id, source: source, isUnfinished: !isFinished, account: account))
    }

    private mutating func add(_ entry: Entry) {
        let place = self.places.add(entry.id)
        if place < self.entries.count {
            self.entries[place] = entry
        } else {
            self.entries.append(entry)
            self.neighbours.append(PlaceList.Neighbours())
            self.neighboursOfAccount.append(PlaceList.Neighbours())
        }
        guard entry.isUnfinished else { return }
        self.unfinished.append(place, &self.neighbours)
        self.accounts[entry.account].append(place, &self.neighboursOfAccount)
    }

    /// Where a connection that is counted comes from; nil for another one.
    package func source(of id: ConnectionID) -> PeerSource? {
        self.places.place(of: id).map { self.entries[$0].source }
    }

    /// The handshake of a connection is finished, or need not be counted any more.
    package mutating func finish(_ id: ConnectionID) {
        if let place = self.places.place(of: id) { self.finish(at: place) }
    }

    private mutating func finish(at place: Int) {
        guard self.entries[place].isUnfinished else { return }
        self.entries[place].isUnfinished = false
        self.unfinished.remove(place, &self.neighbours)
        self.accounts[self.entries[place].account].remove(place, &self.neighboursOfAccount)
    }

    /// Removes a connection that was counted.
    ///
    /// - Returns: Whether it was.
    @discardableResult
    package mutating func remove(_ id: ConnectionID) -> Bool {
        guard let place = self.places.place(of: id) else { return false }
        self.finish(at: place)
        self.accounts.close(self.entries[place].account)
        self.places.remove(id)
        // Gives the memory of a peak back.
        if self.count == 0 { (self.entries, self.neighbours, self.neighboursOfAccount) = ([], [], []) }
        return true
    }
}

/// Places in the order in which they were appended. Every operation is O(1): the neighbours of each are in an array by place, which
/// the caller keeps.
private struct PlaceList: Sendable, Hashable {
    struct Neighbours: Sendable {
        var previous: Int32 = -1
        var next: Int32 = -1
    }

    private(set) var count = 0
    private var (head, tail): (Int32, Int32) = (-1, -1)

    /// The place that was appended first.
    var first: Int? { self.count > 0 ? Int(self.head) : nil }

    mutating func append(_ place: Int, _ neighbours: inout [Neighbours]) {
        let new = Int32(truncatingIfNeeded: place)
        neighbours[place] = Neighbours(previous: self.tail, next: -1)
        if self.count == 0 { self.head = new } else { neighbours[Int(self.tail)].next = new }
        self.tail = new
        self.count += 1
    }

    mutating func remove(_ place: Int, _ neighbours: inout [Neighbours]) {
        let (previous, next) = (neighbours[place].previous, neighbours[place].next)
        if previous < 0 { self.head = next } else { neighbours[Int(previous)].next = next }
        if next < 0 { self.tail = previous } else { neighbours[Int(next)].previous = previous }
        self.count -= 1
    }
}

extension PeerSource {
    /// To whom the connection is charged.
    package var account: PeerAccount {
        switch self {
        case .user(let user): .user(user)
        case .host(let address): Self.account(of: address)
        case .unknown: .unknown
        }
    }

    private static func account(of address: String) -> PeerAccount {
        var ipv4 = in_addr()
        if unsafe inet_pton(AF_INET, address, &ipv4) == 1 { return .ipv4(UInt32(bigEndian: ipv4.s_addr)) }
        var ipv6 = in6_addr()
        // The zone of a link-local address, behind a percent sign, is not part of it.
        let literal = String(address.prefix { $0 != "%" })
        guard unsafe inet_pton(AF_INET6, literal, &ipv6) == 1 else { return .unknown }
        let bytes = unsafe withUnsafeBytes(of: &ipv6) { unsafe Array($0) }
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        if bytes.starts(with: mapped) { return .ipv4(bytes[12...].reduce(0) { $0 << 8 | UInt32($1) }) }
        return .ipv6(bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) })
    }
}
