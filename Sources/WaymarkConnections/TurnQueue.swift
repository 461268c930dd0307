internal import DequeModule

/// Who pays for the work of a connection: a user, or an address. Connections of one payer share its turns.
package struct Payer: Sendable, Hashable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Pays for deadlines and changes of the settings.
    static let gateway = Payer(rawValue: 0)
}

/// Whose turn is next: payers are served in turn, and each payer's members in turn. So a payer with a thousand members gets as many
/// turns as one with a single member.
struct TurnQueue<Member> {
    private var payers: Deque<Payer> = []
    /// Never empty arrays.
    private var members: [Payer: Deque<Member>] = [:]

    var isEmpty: Bool { self.payers.isEmpty }

    /// Puts a member behind its payer's others. A member must be in the queue at most once.
    mutating func append(_ member: Member, of payer: Payer) {
        if self.members[payer]?.append(member) == nil {
            self.members[payer] = [member]
            self.payers.append(payer)
        }
    }

    /// Removes the member whose turn it is; the next turn is another payer's.
    mutating func popFirst() -> Member? {
        guard let payer = self.payers.popFirst(), let member = self.members[payer]?.popFirst() else {
            return nil
        }
        if self.members[payer]?.isEmpty == true {
            self.members[payer] = nil
        } else {
            self.payers.append(payer)
        }
        return member
    }
}
