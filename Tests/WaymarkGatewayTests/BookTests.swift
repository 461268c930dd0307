import StateCoding
import Testing
import WaymarkProtocol

@testable import WaymarkGateway

/// The gateway's small books against the plainest that do the same.
@Suite struct BookTests {
    @Test(arguments: UInt64(0)..<20)
    func `the last outcomes are kept and found, however many that may be`(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var book = OutcomeBook()
        var plain: [RequestOutcome] = []
        var countMax = 4
        for step in 0..<300 {
            if random.number(0...20) == 0 { countMax = random.number(0...9) }
            let outcome = RequestOutcome(
                requestID: "request-\(step)", vehicle: VehicleID(unchecked: "car"), outcome: .busy)
            book.append(outcome, countMax: countMax)
            plain = (plain + [outcome]).suffix(countMax)
            #expect(Array(book) == plain)
            let id: Identifier = "request-\(random.number(max(0, step - 10)...step + 1))"
            #expect(book.outcome(of: id) == plain.first { $0.requestID == id })
            if random.number(0...20) == 0 {
                let coded = try StateCoder.encode(book, format: 1)
                #expect(coded == (try StateCoder.encode(plain, format: 1)))
                book = try StateCoder.decode(OutcomeBook.self, from: coded, format: 1)
            }
        }
    }

    @Test func `an outcome is found under the same bytes only`() throws {
        var book = OutcomeBook()
        let ids: [Identifier] = ["cafe", "caf\u{E9}", "cafe\u{301}", "a\u{302}\u{323}", "a\u{323}\u{302}"]
        for (id, outcome) in zip(ids, [Outcome.busy, .gone, .invalid, .timedOut, .withdrawn]) {
            #expect(book.outcome(of: id) == nil)
            book.append(
                RequestOutcome(requestID: id, vehicle: VehicleID(unchecked: "car"), outcome: outcome),
                countMax: 5)
        }
        let coded = try StateCoder.encode(book, format: 1)
        for book in [book, try StateCoder.decode(OutcomeBook.self, from: coded, format: 1)] {
            #expect(
                ids.map { book.outcome(of: $0)?.outcome } == [.busy, .gone, .invalid, .timedOut, .withdrawn])
            #expect(book.outcome(of: "\u{E2}\u{323}") == nil)
        }
    }

    @Test(arguments: UInt64(0)..<20)
    func `deadlines come in their order, each once, at the last instant that was set`(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var queue = DeadlineQueue<ClientID>()
        var plain: [(key: ClientID, instant: Instant)] = []
        var tickets: [ClientID: SlotKey] = [:]
        for step in 0..<2_000 {
            let key = ClientID(unchecked: "key-\(random.number(0...40))")
            let instant = Instant(nanoseconds: Int64(random.number(0...30)))
            switch random.number(0...12) {
            case 10...11:
                let key = ClientID(unchecked: "ticket-\(step)")
                let ticket = queue.add(key, at: instant)
                tickets[key] = ticket
                plain.append((key, instant))
                #expect(queue.contains(ticket) && !queue.contains(key))
            case 12:
                guard let (key, ticket) = tickets.randomElement(using: &random) else { break }
                // Of those that are over nothing is known any more, though others may have their places.
                #expect(queue.contains(ticket) == plain.contains { $0.key == key })
                queue.cancel(ticket)
                plain.removeAll { $0.key == key }
                #expect(!queue.contains(ticket))
            case 0...4:
                queue.set(key, at: instant)
                plain.removeAll { $0.key == key }
                plain.append((key, instant))
            case 5...6:
                queue.remove(key)
                plain.removeAll { $0.key == key }
            case 7:
                let coded = try StateCoder.encode(queue, format: 1)
                queue = try StateCoder.decode(DeadlineQueue.self, from: coded, format: 1)
            case _:
                // Of what is due at the same instant, the first that was set comes first.
                let first = plain.indices.min { plain[$0].instant < plain[$1].instant }
                let due = first.flatMap { plain[$0].instant <= instant ? $0 : nil }
                #expect(queue.takeDue(at: instant) == due.map { plain[$0].key })
                if let due { plain.remove(at: due) }
            }
            #expect(queue.next == plain.map(\.instant).min())
            #expect(queue.contains(key) == plain.contains { $0.key == key })
        }
    }
}
