internal import Glibc
internal import WaymarkConnections
package import WaymarkProtocol

/// Counts connections, in total and per user or IP address, and enforces their limits; before the handshake as well.
///
/// A peer that sends no Hello takes no place from others: above the limit of unfinished handshakes the oldest one, of the same account
/// or in all, is closed in favour of a new connection. A peer that does send its Hello has usually been admitted long before.
package struct ConnectionLedger: Sendable, Hashable {
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
        /// The connection is counted. `closing` is another one, whose handshake has taken longest and whose place is needed.
        case accepted(closing: ConnectionID?)
        /// The connection is not counted; it gets this Goodbye.
        case refused(Goodbye)
    }

    private struct Account: Sendable, Hashable {
        var count = 0
        var unfinished = ArrivalOrder<ConnectionID>()
    }

    package var limits: Limits
    private var accounts: [PeerAccount: Account] = [:]
    private var owners: [ConnectionID: PeerAccount] = [:]
    /// Of all accounts.
    private var unfinished = ArrivalOrder<ConnectionID>()
    private(set) package var count = 0

    package init(limits: Limits) { self.limits = limits }

    /// Connections whose handshake is not finished.
    package var unfinishedCount: Int { self.unfinished.count }

    /// Counts a new connection.
    package mutating func add(_ id: ConnectionID, _ name: PeerAccount) -> Verdict {
        let account = self.accounts[name]
        if let refusal = self.refusal(of: account?.count ?? 0) { return .refused(refusal) }
        var oldest: ConnectionID?
        if let account, account.unfinished.count >= max(1, self.limits.handshakesPerUserMax) {
            oldest = account.unfinished.first
        } else if self.unfinished.count >= max(1, self.limits.handshakesMax) {
            oldest = self.unfinished.first
        }
        if let oldest { self.finish(oldest) }
        self.restore(id, name, isFinished: false)
        return .accepted(closing: oldest)
    }

    /// Why an account that has `held` connections gets no further one; nil if it does.
    private func refusal(of held: Int) -> Goodbye? {
        let max = self.limits.connectionsMax
        guard self.count < max else {
            return Goodbye(.tooManyConnections, reason: "the gateway has reached its connection limit")
        }
        // So that a few users with all their connections do not lock the others out. Unless one user may have all.
        let mayHaveAll = self.limits.connectionsPerUserMax >= max
        guard mayHaveAll || self.count < max - max / 8 || held < max / 16 else {
            return Goodbye(
                .tooManyConnections,
                reason: "the last places are for users with fewer than \(max / 16) connections")
        }
        guard held < self.limits.connectionsPerUserMax else {
            return Goodbye(
                .tooManyConnections, reason: "this user or address has reached the connection limit")
        }
        return nil
    }

    /// Counts a connection that another process accepted. The limits do not apply.
    mutating func restore(_ id: ConnectionID, _ name: PeerAccount, isFinished: Bool) {
        self.count += 1
        self.accounts[name, default: Account()].count += 1
        guard !isFinished else { return }
        self.owners[id] = name
        self.accounts[name]?.unfinished.append(id)
        self.unfinished.append(id)
    }

    /// The handshake of a connection is finished, or need not be counted any more.
    package mutating func finish(_ id: ConnectionID) {
        guard let name = self.owners.removeValue(forKey: id) else { return }
        self.accounts[name]?.unfinished.remove(id)
        self.unfinished.remove(id)
    }

    /// Removes a connection that was counted.
    package mutating func remove(_ id: ConnectionID, _ name: PeerAccount) {
        self.finish(id)
        guard let count = self.accounts[name]?.count else { return }
        self.count -= 1
        if count == 1 { self.accounts[name] = nil } else { self.accounts[name]?.count = count - 1 }
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
