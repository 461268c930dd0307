import Testing
import WaymarkConnections
import WaymarkProtocol
import WaymarkTransport

@Suite struct ConnectionLedgerTests {
    private static func ledger(_ change: (inout ConnectionLedger.Limits) -> Void = { _ in })
        -> ConnectionLedger
    {
        var limits = ConnectionLedger.Limits()
        change(&limits)
        return ConnectionLedger(limits: limits)
    }

    @Test func `silent connections of one address take no place from another`() {
        var ledger = Self.ledger()
        var closed: [ConnectionID] = []
        for number in 1...12_000 {
            guard case .accepted(let oldest) = ledger.add(ConnectionID(UInt64(number)), .ipv4(1)) else {
                break
            }
            guard let oldest else { continue }
            closed.append(oldest)
            ledger.remove(oldest, .ipv4(1))
        }
        #expect(ledger.count == 2_048)
        #expect(closed == (1...9_952).map { ConnectionID($0) })
        let verdict1 = ledger.add(ConnectionID(20_000), .ipv4(2))
        #expect(verdict1 == .accepted(closing: nil))
    }

    @Test func `above the limit of all handshakes the oldest of them is closed`() {
        var ledger = Self.ledger { $0.handshakesMax = 3 }
        for number in 1...3 { _ = ledger.add(ConnectionID(UInt64(number)), .ipv4(UInt32(number))) }
        ledger.finish(ConnectionID(1))
        let verdict2 = ledger.add(ConnectionID(4), .ipv4(4))
        #expect(verdict2 == .accepted(closing: nil))
        let verdict3 = ledger.add(ConnectionID(5), .ipv4(5))
        #expect(verdict3 == .accepted(closing: ConnectionID(2)))
        #expect(ledger.unfinishedCount == 3)
    }

    @Test func `two users do not take all places`() {
        var ledger = Self.ledger()
        var id = UInt64(0)
        for user in UInt32(1)...2 {
            for _ in 1...12_000 {
                id += 1
                guard case .accepted = ledger.add(ConnectionID(id), .user(user)) else { break }
                ledger.finish(ConnectionID(id))
            }
        }
        #expect(ledger.count == 17_500)
        for user in UInt32(3)...102 {
            id += 1
            let verdict4 = ledger.add(ConnectionID(id), .user(user))
            #expect(verdict4 == .accepted(closing: nil))
        }
    }

    @Test func `an account is a user, an IPv4 address or the first half of an IPv6 address`() {
        func account(_ address: String) -> PeerAccount { PeerSource.host(address).account }
        #expect(account("10.0.0.1") == .ipv4(0x0A00_0001))
        #expect(account("::ffff:10.0.0.1") == account("10.0.0.1"))
        #expect(account("2001:db8::1") == account("2001:db8:0:0:ffff::2"))
        #expect(account("2001:db8::1") != account("2001:db8:0:1::1"))
        #expect(account("fe80::1%eth0") == account("fe80::1"))
        #expect(PeerSource.user(7).account == .user(7))
    }
}
