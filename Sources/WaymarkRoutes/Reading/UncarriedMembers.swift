import WaymarkModel

/// Finds the members of an answer that no reader has read, so that each kind is reported once.
struct UncarriedMembers {
    private var counts: [String: Int] = [:]

    /// Adds one notice for each kind of member below `node` that was not read. Call it after reading.
    ///
    /// - Parameters:
    ///   - node: A route, or the whole answer.
    ///   - book: Gets the notices.
    ///   - reported: Members of `node` that are reported separately.
    static func report(_ node: JSONNode, into book: inout NoticeBook, except reported: Set<String> = []) {
        guard case .object(let members) = node.value else { return }
        var found = Self()
        found.count(members.filter { !reported.contains($0.key) }, node.reads, "")
        for (member, count) in found.counts.sorted(by: { $0.key < $1.key }) {
            let times = count == 1 ? "" : ", \(count) times"
            book.add(.member(node.path, member), "not carried over\(times)")
        }
    }

    private mutating func count(_ members: [String: JSONValue], _ reads: ReadMembers, _ path: String) {
        for (name, member) in members where member != .null {
            self.count(member, reads.members[name], path.isEmpty ? name : "\(path).\(name)")
        }
    }

    private mutating func count(_ value: JSONValue, _ reads: ReadMembers?, _ path: String) {
        guard reads?.isRead != true else { return }
        switch value {
        case .null: return
        case .array(let values):
            if let elements = reads?.elements {
                for value in values { self.count(value, elements, "\(path)[]") }
                return
            }
        case .object(let members):
            if let reads { return self.count(members, reads, path) }
        case .bool, .number, .string: break
        }
        self.counts[String(path.prefix(200)), default: 0] += 1
    }
}
