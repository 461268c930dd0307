package import WaymarkHistory
internal import WaymarkProtocol

/// Fields with the conditions that must hold together.
package struct FieldConditions: Sendable, Hashable, CustomStringConvertible {
    package struct Element: Sendable, Hashable {
        package let path: FieldPath
        package let condition: Condition

        package init(
            path: FieldPath, condition: Condition
        ) {
            self.path = path
            self.condition = condition
        }
    }

    package let elements: [Element]

    package init(_ elements: [Element]) { self.elements = elements }

    package var description: String {
        self.elements.map { "\($0.path) \($0.condition)" }.joined(separator: ", ")
    }

    func holds(_ value: (FieldPath) -> FieldValue?) -> Bool {
        for element in self.elements where !element.condition.holds(value(element.path)) { return false }
        return true
    }

    /// The conditions that do not hold.
    func differences(_ value: (FieldPath) -> FieldValue?) -> MatchDistance {
        var differences = MatchDistance()
        for element in self.elements {
            let seen = value(element.path)
            guard !element.condition.holds(seen) else { continue }
            if element.path.isIdentity {
                differences.identities += 1
            } else {
                differences.distance += element.condition.distance(seen)
            }
            differences.fields.append(
                FieldDifference(
                    element.path.description, expected: element.condition.description,
                    seen: element.path.text(seen)))
        }
        return differences
    }
}

/// How far something is from what was meant.
struct MatchDistance {
    var fields: [FieldDifference] = []
    /// How many of the fields say which thing it is: with one, it is another thing, however near its numbers are.
    var identities = 0
    /// How far numbers are from holding, 0 to 1 each.
    var distance = 0.0

    /// Whether something else is farther away: first another thing, then one with more fields that differ, then with farther numbers.
    func isNearer(than other: MatchDistance) -> Bool {
        (self.identities, self.fields.count, self.distance) < (
            other.identities, other.fields.count, other.distance
        )
    }
}

/// A message that crosses a connection.
package struct MessagePattern: Sendable, Hashable, CustomStringConvertible {
    /// nil: every publication.
    package let type: UInt16?
    package let of: PeerSelector
    package let fields: FieldConditions

    package init(_ type: UInt16?, of: PeerSelector, where fields: FieldConditions = FieldConditions([])) {
        (self.type, self.of, self.fields) = (type, of, fields)
    }

    /// The name of the message, as in scenarios.
    package static func name(_ type: UInt16) -> String {
        if let known = MessageType(rawValue: type) { return "\(known)" }
        let digits = String(type, radix: 16, uppercase: true)
        return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    package var description: String {
        let name = self.type.map(Self.name) ?? "publications"
        return self.fields.elements.isEmpty ? name : "\(name) where \(self.fields)"
    }

    /// Whether the frame reached its receiver, could be read, and is what is meant.
    package func matches(_ entry: History.Entry) -> Bool {
        guard case .frame(let frame) = entry.kind, self.isOfType(frame), self.of.contains(frame.peer) else {
            return false
        }
        return self.fields.holds(frame.field)
    }

    private func isOfType(_ frame: CrossedFrame) -> Bool {
        let raw = frame.frame.header.rawType
        if let type {
            if raw != type { return false }
        } else if !MessageType.published.contains(raw) {
            return false
        }
        guard frame.delivery != .dropped, frame.rejection == nil else { return false }
        return frame.message != nil || frame.frame.header.type == nil
    }

    /// How a frame differs from what is meant; nil if it is of another peer, or was not received.
    func differences(_ entry: History.Entry) -> MatchDistance? {
        guard case .frame(let frame) = entry.kind, self.of.contains(frame.peer), frame.delivery != .dropped
        else { return nil }
        guard self.isOfType(frame) else {
            let seen = Self.name(frame.frame.header.rawType)
            let wanted = self.type.map(Self.name) ?? "publications"
            let what = seen == wanted ? "\(seen), refused" : seen
            let difference = FieldDifference("message", expected: wanted, seen: what)
            return MatchDistance(fields: [difference], identities: self.fields.elements.count + 1)
        }
        return self.fields.differences(frame.field)
    }
}

extension CrossedFrame {
    fileprivate func field(_ path: FieldPath) -> FieldValue? {
        // Why: a path of another message reads nothing of this one.
        path.value(in: self)
    }
}

/// A state of an endpoint.
package struct StatePattern: Sendable, Hashable, CustomStringConvertible {
    package let of: PeerID
    package let fields: FieldConditions
    /// Only keys of the connection, which count also while a snapshot is not complete.
    private let isOfConnection: Bool

    package init(of endpoint: PeerID, _ fields: FieldConditions) {
        (self.of, self.fields) = (endpoint, fields)
        self.isOfConnection = fields.elements.allSatisfy {
            StateFields.ofConnection.contains($0.path.description)
        }
    }

    package var description: String { self.fields.description }

    /// Whether it holds; nil if the state does not count.
    package func holds(_ moment: EndpointHistory.Moment) -> Bool? {
        guard self.isOfConnection || moment.isComplete else { return nil }
        return self.fields.holds { $0.value(in: moment) }
    }

    func differences(_ moment: EndpointHistory.Moment) -> MatchDistance? {
        guard self.isOfConnection || moment.isComplete else { return nil }
        return self.fields.differences { $0.value(in: moment) }
    }
}

/// A message that crosses, a state that holds, or a line that a program prints.
package enum EventPattern: Sendable, Hashable, CustomStringConvertible {
    case message(MessagePattern)
    case state(StatePattern)
    case line(LinePattern)

    package var description: String {
        switch self {
        case .message(let message): "\(message)"
        case .state(let state): "\(state)"
        case .line(let line): "\(line)"
        }
    }
}
