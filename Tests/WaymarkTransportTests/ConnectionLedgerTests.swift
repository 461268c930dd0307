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
            guard case .accepted(let oldest, _) = ledger.add(ConnectionID(UInt64(number)), .host("0.0.0.1"))
            else {
                break
            }
            guard let oldest else { continue }
            closed.append(oldest)
            ledger.remove(oldest)
        }
        #expect(ledger.count == 2_048)
        #expect(closed == (1...9_952).map { ConnectionID($0) })
        let verdict1 = ledger.add(ConnectionID(20_000), .host("0.0.0.2"))
        #expect(verdict1 == .accepted(closing: nil))
    }

    @Test func `above the limit of all handshakes the oldest of them is closed`() {
        var ledger = Self.ledger { $0.handshakesMax = 3 }
        for number in 1...3 { _ = ledger.add(ConnectionID(UInt64(number)), .host("0.0.0.\(number)")) }
        ledger.finish(ConnectionID(1))
        let verdict2 = ledger.add(ConnectionID(4), .host("0.0.0.4"))
        #expect(verdict2 == .accepted(closing: nil))
        let verdict3 = ledger.add(ConnectionID(5), .host("0.0.0.5"))
        let limit = ReachedLimit("handshakes_max", 3)
        #expect(verdict3 == .accepted(closing: ConnectionID(2), limit: limit))
        #expect(ledger.unfinishedCount == 3)
    }

    @Test func `the oldest handshake is found whichever of the others have finished or closed`() {
        // The first, one in the middle, the last.
        for gone in [[1], [3], [5], [1, 2], [2, 4], [4, 5], [1, 3, 5]] as [[UInt64]] {
            var ledger = Self.ledger()
            for number in 1...5 {
                _ = ledger.add(ConnectionID(UInt64(number)), .user(1))
            }
            ledger.limits.handshakesPerUserMax = 5 - gone.count
            for (index, number) in gone.enumerated() {
                if index % 2 == 0 {
                    ledger.remove(ConnectionID(number))
                } else {
                    ledger.finish(ConnectionID(number))
                }
            }
            var left = (1...5).map { UInt64($0) }.filter { !gone.contains($0) }
            for number in UInt64(6)...12 {
                let verdict = ledger.add(ConnectionID(number), .user(1))
                let limit = ReachedLimit("handshakes_per_user_max", 5 - gone.count)
                #expect(
                    verdict == .accepted(closing: ConnectionID(left.removeFirst()), limit: limit))
                left.append(number)
            }
            #expect(ledger.unfinishedCount == 5 - gone.count)
            #expect(ledger.source(of: ConnectionID(gone[0])) == nil)
            #expect(ledger.source(of: ConnectionID(12)) == .user(1))
        }
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
