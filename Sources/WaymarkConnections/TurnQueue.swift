internal import DequeModule

/// Who pays for the work of a connection: a user, or an address. Connections of one payer share its turns.
package struct Payer: Sendable, Hashable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Pays for deadlines and changes of the settings.
    static let gateway = Payer(rawValue: 0)
}

/// Whose turn is next: payers are served in turn, and each payer's members in turn. So a payer with a thousand members gets as many
/// turns as one with a single member. A payer whose turn was too long is passed over as often as it was longer than others.
struct TurnQueue<Member> {
    private var payers: Deque<Payer> = []
    /// Never empty arrays.
    private var members: [Payer: Deque<Member>] = [:]
    /// How many turns payers are passed over, while others wait.
    private var debts: [Payer: Int] = [:]

    var isEmpty: Bool { self.payers.isEmpty }
    var hasDebts: Bool { !self.debts.isEmpty }

    /// Puts a member behind its payer's others. A member must be in the queue at most once.
    mutating func append(_ member: Member, of payer: Payer) {
        if self.members[payer]?.append(member) == nil {
            self.members[payer] = [member]
            self.payers.append(payer)
        }
    }

    /// A payer's turn took the time of `count` more turns.
    mutating func charge(_ payer: Payer, turns count: Int) {
        guard count > 0 else { return }
        // Payers that have gone since.
        if self.debts.count == Self.debtorsMax { self.debts = [:] }
        self.debts[payer, default: 0] += count
    }

    private static var debtorsMax: Int { 1_024 }

    /// Removes the member whose turn it is; the next turn is another payer's.
    mutating func popFirst() -> Member? {
        guard let payer = self.popPayer(), let member = self.members[payer]?.popFirst() else { return nil }
        if self.members[payer]?.isEmpty == true {
            self.members[payer] = nil
        } else {
            self.payers.append(payer)
        }
        return member
    }

    private mutating func popPayer() -> Payer? {
        while !self.debts.isEmpty, let payer = self.payers.popFirst() {
            // No other payer waits.
            if self.payers.isEmpty { self.debts = [:] }
            guard let debt = self.debts[payer] else { return payer }
            self.debts[payer] = debt > 1 ? debt - 1 : nil
            self.payers.append(payer)
        }
        return self.payers.popFirst()
    }
}
