import WaymarkModel

/// Finds the members of an answer that the model cannot represent, so that each kind is reported once.
struct UncarriedMembers {
    /// Members that are read, as paths without indices, e.g. `legs[].steps[].name`.
    let read: Set<String>
    /// Members that are read with all their content, e.g. `legs[].steps[].geometry`.
    let readWhole: Set<String>

    /// Adds one notice for each kind of member below `node` that is not read.
    func report(_ node: JSONNode, into book: inout NoticeBook) {
        var counts: [String: Int] = [:]
        self.count(node.value, "", &counts)
        for (member, count) in counts.sorted(by: { $0.key < $1.key }) {
            let times = count == 1 ? "" : ", \(count) times"
            book.add(.member(node.path, member), "not carried over\(times)")
        }
    }

    private func count(_ value: JSONValue, _ path: String, _ counts: inout [String: Int]) {
        switch value {
        case .null, .bool, .number, .string: break
        case .array(let values):
            for value in values { self.count(value, path + "[]", &counts) }
        case .object(let members):
            for (name, member) in members where member != .null {
                let memberPath = path.isEmpty ? name : "\(path).\(name)"
                if self.readWhole.contains(memberPath) { continue }
                if self.read.contains(memberPath) {
                    self.count(member, memberPath, &counts)
                } else {
                    counts[String(memberPath.prefix(200)), default: 0] += 1
                }
            }
        }
    }
}
