/// One value of a JSON text (RFC 8259).
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// Always finite.
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// Of members with the same name the last one.
    case object([String: JSONValue])

    /// The kind of value, for an error.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// The path of a value in a JSON text; formatted only for an error or a notice.
package indirect enum JSONPath: Sendable, Hashable, CustomStringConvertible {
    case root
    case member(JSONPath, String)
    case element(JSONPath, Int)

    /// E.g. `routes[0].legs[1].steps[3].maneuver`; `$` for the whole text.
    package var description: String {
        switch self {
        case .root: "$"
        case .member(.root, let name): name
        case .member(let parent, let name): "\(parent).\(name)"
        case .element(let parent, let index): "\(parent)[\(index)]"
        }
    }

    /// The index of an array's element; nil for other values.
    var index: Int? {
        if case .element(_, let index) = self { index } else { nil }
    }
}

/// Remembers which members of an answer were read, so that the others can be reported.
///
/// It knows kinds of members, such as the name of any step: all elements of an array are one kind.
package final class ReadMembers {
    /// A value of this kind was read, or is known to repeat another one.
    fileprivate(set) var isRead = false
    private(set) var members: [String: ReadMembers] = [:]
    /// That of all elements of an array; nil if none was asked for.
    private(set) var elements: ReadMembers?

    package init() {}

    fileprivate func member(_ name: String) -> ReadMembers {
        if let member = self.members[name] { return member }
        let member = ReadMembers()
        self.members[name] = member
        return member
    }

    fileprivate func element() -> ReadMembers {
        if let elements = self.elements { return elements }
        let elements = ReadMembers()
        self.elements = elements
        return elements
    }
}

/// A value with its path. Members of the wrong kind and `null` count as absent.
///
/// The accessors are never inlined: Swift 6.3's optimizer crashes on `node["a"]?["b"]?.number.map { … }` otherwise.
package struct JSONNode {
    package let value: JSONValue
    package let path: JSONPath
    /// What was read of all values of this kind.
    let reads: ReadMembers

    package init(_ value: JSONValue, at path: JSONPath = .root) {
        self.init(value, at: path, ReadMembers())
    }

    private init(_ value: JSONValue, at path: JSONPath, _ reads: ReadMembers) {
        self.value = value
        self.path = path
        self.reads = reads
    }

    /// The member `name`; nil if there is none, if it is null, or if this is not an object.
    package subscript(name: String) -> JSONNode? {
        guard case .object(let members) = self.value, let member = members[name], member != .null else {
            return nil
        }
        return JSONNode(member, at: .member(self.path, name), self.reads.member(name))
    }

    /// The elements of an array; nil for anything else.
    package var elements: [JSONNode]? {
        guard case .array(let values) = self.value else { return nil }
        let reads = self.reads.element()
        return values.indices.map { JSONNode(values[$0], at: .element(self.path, $0), reads) }
    }

    /// The elements of the array `name`; empty if there is none.
    package func elements(_ name: String) -> [JSONNode] { self[name]?.elements ?? [] }

    /// Counts the member `name` as read with all its content, because it only repeats what is read elsewhere.
    func passOver(_ name: String) { self.reads.member(name).isRead = true }

    /// A string; nil for anything else.
    @inline(never)
    package var string: String? {
        guard case .string(let string) = self.value else { return nil }
        self.reads.isRead = true
        return string
    }

    /// A number; nil for anything else.
    @inline(never)
    package var number: Double? {
        guard case .number(let number) = self.value else { return nil }
        self.reads.isRead = true
        return number
    }

    /// A length or a time; nil for anything else. Some answers have it as an object with its value and a text for people.
    package var quantity: Double? {
        guard let value = self["value"] else { return self.number }
        // It repeats the value.
        self.passOver("text")
        return value.number
    }

    /// A whole number; nil for anything else and for what an `Int32` cannot hold.
    @inline(never)
    package var integer: Int? {
        guard case .number(let number) = self.value, let integer = Int32(exactly: number) else { return nil }
        self.reads.isRead = true
        return Int(integer)
    }

    /// A boolean; nil for anything else.
    @inline(never)
    package var bool: Bool? {
        guard case .bool(let bool) = self.value else { return nil }
        self.reads.isRead = true
        return bool
    }

    package var isObject: Bool {
        guard case .object = self.value else { return false }
        return true
    }
}
