internal import WaymarkConnections

/// To whom connections, and what they cost, are charged before and after the handshake: the user of a Unix socket, or an IP address.
package enum PeerAccount: Sendable, Hashable, Codable {
    case user(UInt32)
    case ipv4(UInt32)
    /// The first 64 bits of an IPv6 address: one machine usually has all addresses behind them.
    case ipv6(UInt64)
    /// All peers whose user and address are not known.
    case unknown

    /// Who pays for the work of its connections.
    var payer: Payer {
        switch self {
        case .user(let user): Payer(rawValue: 1 << 32 | UInt64(user))
        case .ipv4(let address): Payer(rawValue: 2 << 32 | UInt64(address))
        case .unknown: Payer(rawValue: 3 << 32)
        case .ipv6(let network): Payer(rawValue: 1 << 63 | network)
        }
    }
}
