import StateCoding
import Testing
import WaymarkProtocol

@testable import WaymarkGateway

/// The gateway's small books against the plainest that do the same.
@Suite struct BookTests {
    private static func outcome(_ id: Identifier, _ outcome: Outcome = .busy) -> RequestOutcome {
        RequestOutcome(requestID: id, vehicle: VehicleID(unchecked: "car"), outcome: outcome)
    }

    private struct Kept {
        let outcome: RequestOutcome
        let source: EndpointName
    }

    /// The index of the oldest outcome of the source that has most; of two with equally many, of the one with the older outcome.
    private static func evicted(_ kept: [Kept]) -> Int {
        func count(_ source: EndpointName) -> Int { kept.count { $0.source == source } }
        let most = kept.map { count($0.source) }.max()
        return kept.firstIndex { count($0.source) == most } ?? 0
    }

    @Test(arguments: UInt64(0)..<40)
    func `the last outcomes of each endpoint are kept and found, however many that may be`(_ seed: UInt64)
        throws
    {
        var random = SeededRandom(seed: seed)
        let sources = (0...random.number(0...4)).map { EndpointName(unchecked: "endpoint-\($0)") }
        var book = OutcomeBook()
        var plain: [Kept] = []
        var countMax = 4
        for step in 0..<300 {
            if random.number(0...20) == 0 {
                countMax = random.number(0...9)
                // The new limit holds for those that are kept before the next one is added.
                while plain.count > countMax, !plain.isEmpty { plain.remove(at: Self.evicted(plain)) }
            }
            // The first asks most.
            let source =
                random.number(0...2) == 0 ? sources[0] : sources[random.number(0...sources.count - 1)]
            let outcome = Self.outcome("request-\(step)")
            book.append(outcome, from: source, countMax: countMax)
            plain.append(Kept(outcome: outcome, source: source))
            if plain.count > countMax { plain.remove(at: Self.evicted(plain)) }
            #expect(book.outcomes() == plain.map(\.outcome))
            #expect(book.count == plain.count)
            let id: Identifier = "request-\(random.number(max(0, step - 10)...step + 1))"
            #expect(book.outcome(of: id) == plain.first { $0.outcome.requestID == id }?.outcome)
            if random.number(0...20) == 0 {
                let coded = try StateCoder.encode(book, format: 1)
                let decoded = try StateCoder.decode(OutcomeBook.self, from: coded, format: 1)
                #expect(decoded == book)
                book = decoded
            }
        }
    }

    @Test func `an endpoint that asks in a loop replaces its own outcomes only`() {
        var book = OutcomeBook()
        let (loop, other) = (EndpointName(unchecked: "loop"), EndpointName(unchecked: "other"))
        for number in 0..<10 {
            book.append(Self.outcome("other-\(number)", .accepted), from: other, countMax: 64)
        }
        for number in 0..<1_000 {
            book.append(Self.outcome("loop-\(number)"), from: loop, countMax: 64)
        }
        for number in 0..<10 { #expect(book.outcome(of: "other-\(number)")?.outcome == .accepted) }
        #expect(book.count == 64)
        #expect(book.outcome(of: "loop-945") == nil && book.outcome(of: "loop-946") != nil)
        // The other one gets its share as long as it has fewer.
        for number in 10..<32 { book.append(Self.outcome("other-\(number)"), from: other, countMax: 64) }
        for number in 0..<32 { #expect(book.outcome(of: "other-\(number)") != nil) }
        book.append(Self.outcome("other-32"), from: other, countMax: 64)
        #expect(book.outcome(of: "other-0") == nil && book.outcome(of: "other-1") != nil)
    }

    @Test func `an outcome is found under the same bytes only`() throws {
        var book = OutcomeBook()
        let ids: [Identifier] = ["cafe", "caf\u{E9}", "cafe\u{301}", "a\u{302}\u{323}", "a\u{323}\u{302}"]
        for (id, outcome) in zip(ids, [Outcome.busy, .gone, .invalid, .timedOut, .withdrawn]) {
            #expect(book.outcome(of: id) == nil)
            book.append(Self.outcome(id, outcome), from: EndpointName(unchecked: "hud"), countMax: 5)
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
