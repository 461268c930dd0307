package import WaymarkHistory
internal import WaymarkProtocol

/// A line that a program under test prints, on its standard output or error.
package struct LinePattern: Sendable, Hashable, CustomStringConvertible {
    /// A condition of a named group of the expression.
    package struct Group: Sendable, Hashable {
        package let name: String
        package let condition: Condition
        fileprivate let isNumber: Bool

        /// - Throws: ``FieldError`` if neither a number nor a text can fulfil the condition.
        package init(_ name: String, _ literal: Literal) throws(FieldError) {
            (self.name, self.isNumber) = (name, literal.namesNumber)
            self.condition = try Condition(literal, ofGroup: name)
        }
    }

    package let of: PeerSelector
    /// The regular expression, as it was written.
    package let expression: String
    package let groups: [Group]
    private let pattern: TextPattern

    /// Reads the expression: it is found anywhere in a line.
    ///
    /// - Throws: ``FieldError`` if it is not in the dialect of ``TextPattern``, or if it lacks a group that has a condition.
    package init(
        _ expression: String, of selector: PeerSelector, where groups: [Group] = []
    ) throws(FieldError) {
        (self.expression, self.of, self.groups) = (expression, selector, groups)
        self.pattern = try TextPattern(expression)
        for group in groups where !self.pattern.groups.contains(group.name) {
            throw FieldError("\(expression) has no group (?<\(group.name)> )")
        }
    }

    package var description: String {
        let conditions = self.groups.map { "\($0.name) \($0.condition)" }.joined(separator: ", ")
        return "prints \(self.expression)" + (conditions.isEmpty ? "" : " where \(conditions)")
    }

    /// Whether the entry is such a line of such a program.
    package func matches(_ entry: History.Entry) -> Bool {
        guard let line = self.line(entry) else { return false }
        guard !self.groups.isEmpty else { return self.pattern.isFound(in: line) }
        guard let values = self.pattern.values(in: line) else { return false }
        return self.groups.allSatisfy { $0.condition.holds(Self.value(of: $0, in: values)) }
    }

    private func line(_ entry: History.Entry) -> String? {
        guard case .log(let peer?, let line) = entry.kind, self.of.contains(peer) else { return nil }
        return line
    }

    private static func value(of group: Group, in values: [String: String]) -> FieldValue? {
        values[group.name].flatMap { group.isNumber ? Double($0).map(FieldValue.number) : .text($0) }
    }

    /// The difference of a line from what is meant; nil if the entry is no line of such a program.
    func differences(_ entry: History.Entry) -> MatchDistance? {
        guard let line = self.line(entry) else { return nil }
        guard let values = self.pattern.values(in: line) else {
            let difference = FieldDifference("line", expected: self.expression, seen: line)
            return MatchDistance(fields: [difference], identities: self.groups.count + 1)
        }
        var distance = MatchDistance()
        for group in self.groups {
            let value = Self.value(of: group, in: values)
            guard !group.condition.holds(value) else { continue }
            distance.distance += group.condition.distance(value)
            distance.fields.append(
                FieldDifference(
                    group.name, expected: group.condition.description, seen: values[group.name] ?? "nothing"))
        }
        return distance
    }
}

/// `prints x within d`: a line of the window matches. `never prints x`: none does.
struct PrintsWord: Expectation {
    let pattern: LinePattern
    let isNever: Bool
    let head: WordHead

    var deadline: Instant? { self.head.deadline }

    mutating func see(_ entry: History.Entry, in history: History) -> Verdict? {
        guard self.pattern.matches(entry) else { return nil }
        guard self.isNever else { return self.head.passed(at: entry.instant) }
        guard case .log(_, let line) = entry.kind else { return nil }
        let difference = FieldDifference("line", expected: "not \(self.pattern.expression)", seen: line)
        return self.head.failed(at: entry.instant, Nearest(index: entry.index, differences: [difference]))
    }

    func end(at instant: Instant, in history: History) -> Verdict {
        guard !self.isNever else { return .passed(at: instant, margin: nil) }
        return self.head.failed(
            at: instant, self.head.nearest(.line(self.pattern), in: history, upTo: instant))
    }
}
