internal import ProcessIO
package import WaymarkHistory
internal import WaymarkProtocol

/// Why a key or a condition is refused.
package struct FieldError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// A field of an endpoint's state or of a message, e.g. `maneuvers[0].junctionExitAngle`.
package struct FieldPath: Sendable, Hashable, CustomStringConvertible {
    /// Whose fields are named.
    package enum Place: Sendable, Hashable {
        case state
        /// Of messages of this type.
        case message(UInt16)
    }

    private enum First: Sendable {
        case state(FieldKey<EndpointHistory.Moment>)
        case message(FieldKey<CrossedFrame>)
    }

    private enum Step: Sendable {
        case key(Int)
        case element(Int)
    }

    package let description: String
    package let place: Place
    package let type: FieldType
    private let first: First
    private let rest: [Step]

    /// The keys of a state, on the first level.
    package static var keysOfState: [String] { StateFields.keys.map(\.name) }

    /// Whether it says which thing is meant: an id, a vehicle, a session.
    package let isIdentity: Bool
    private static let identities: Set = [
        "client", "endpoint", "id", "maneuver", "segment", "session", "vehicle",
    ]

    /// Whether its values are numbers of lanes.
    var countsFromOne: Bool {
        self.place == .state
            && ["lanes.highlighted", "lanes.preferred", "lanes.good"].contains(self.description)
    }

    /// Finds the field.
    ///
    /// - Throws: ``FieldError``, which lists the nearest keys.
    package init(_ text: String, of place: Place) throws(FieldError) {
        var parts = Self.parts(text)[...]
        guard case .key(let name)? = parts.popFirst() else {
            throw FieldError("\(text) is not a key")
        }
        (self.description, self.place) = (text, place)
        var type: FieldType
        switch place {
        case .state:
            let key = try Self.find(name, StateFields.keys, "the state")
            (self.first, type) = (.state(key), key.type)
        case .message(let raw):
            let message = MessageType(rawValue: raw)
            let key = try Self.find(
                name, MessageFields.keys(of: message),
                message.map { "\($0)" } ?? "a message that is not known")
            (self.first, type) = (.message(key), key.type)
        }
        var steps: [Step] = []
        var before = name
        for part in parts {
            switch (part, type) {
            case (.element(let index), .list(let element)):
                steps.append(.element(index))
                (type, before) = (element, "\(before)[\(index)]")
            case (.element, _): throw FieldError("\(before) is not a list")
            case (.key(let key), .object(let object)):
                guard let index = object.index(of: key) else {
                    throw Self.unknown(key, object.keys, before)
                }
                steps.append(.key(index))
                (type, before) = (object.type(at: index), "\(before).\(key)")
            case (.key(let key), .list(.object)):
                throw FieldError("\(before) is a list; name one of its elements, e.g. \(before)[0].\(key)")
            case (.key(let key), _): throw FieldError("\(before) has no keys, so it has no \(key)")
            case (.wrong, _): throw FieldError("\(text) is not a key")
            }
        }
        if steps.isEmpty, place == .state, ["next", "lanes"].contains(name), case .object(let object) = type {
            throw FieldError(
                "\(name) needs a key: \(object.keys.map { "\(name).\($0)" }.joined(separator: ", "))")
        }
        (self.type, self.rest) = (type, steps)
        let last = text.split(separator: ".").last.map(String.init) ?? text
        self.isIdentity = Self.identities.contains(last) || last.hasSuffix("ID") || last.hasSuffix("Session")
    }

    private enum Part { case key(String), element(Int), wrong }

    private static func parts(_ text: String) -> [Part] {
        text.split(separator: ".", omittingEmptySubsequences: false).flatMap { part -> [Part] in
            let pieces = part.split(separator: "[", omittingEmptySubsequences: false)
            guard let name = pieces.first, !name.isEmpty else { return [.wrong] }
            return [.key(String(name))]
                + pieces.dropFirst().map { piece in
                    let digits = piece.dropLast()
                    guard piece.last == "]", (1...4).contains(digits.utf8.count),
                        digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
                        let index = Int(digits)
                    else { return .wrong }
                    return .element(index)
                }
        }
    }

    private static func find<Root>(
        _ name: String, _ keys: [FieldKey<Root>], _ whole: String
    ) throws(FieldError) -> FieldKey<Root> {
        guard let key = keys.first(where: { $0.name == name }) else {
            throw Self.unknown(name, keys.map(\.name), whole)
        }
        return key
    }

    private static func unknown(_ name: String, _ keys: [String], _ whole: String) -> FieldError {
        let hint = Spelling.hint(name, of: keys)
        return FieldError(
            "unknown key \(name) of \(whole)"
                + (hint.isEmpty ? "; it has \(keys.joined(separator: ", "))" : hint))
    }

    /// The field of an endpoint's state; nil if it has none, or if it is a field of messages.
    package func value(in moment: EndpointHistory.Moment) -> FieldValue? {
        guard case .state(let key) = self.first else { return nil }
        return self.follow(key.read(moment))
    }

    /// The field of a message of the type; nil if it has none, or if it is a field of the state.
    package func value(in frame: CrossedFrame) -> FieldValue? {
        guard case .message(let key) = self.first else { return nil }
        return self.follow(key.read(frame))
    }

    private func follow(_ value: FieldValue?) -> FieldValue? {
        var value = value
        for step in self.rest {
            switch (step, value) {
            case (.key(let index), .object(let object)): value = object.value(at: index)
            case (.element(let index), .list(let list)) where index < list.count: value = list[field: index]
            default: return nil
            }
        }
        return value
    }

    /// As a report shows a value of this field.
    package func text(_ value: FieldValue?) -> String { value.map { $0.text(self.type) } ?? "none" }

    package static func == (lhs: FieldPath, rhs: FieldPath) -> Bool {
        lhs.description == rhs.description && lhs.place == rhs.place
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.description)
        hasher.combine(self.place)
    }
}
