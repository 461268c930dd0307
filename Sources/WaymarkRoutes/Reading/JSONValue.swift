internal import Foundation

/// A JSON text as a tree, with what readers need to be forgiving where engines differ and exact where they err.
enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Parses `data`.
    static func parse(_ data: Data) throws(RouteReadingError) -> JSONValue {
        do {
            return JSONValue(try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed))
        } catch {
            let reason = (error as NSError).userInfo["NSDebugDescription"] as? String
            throw .notJSON(reason: reason ?? "\(error)")
        }
    }

    private init(_ value: Any) {
        switch value {
        case let object as [String: Any]: self = .object(object.mapValues { JSONValue($0) })
        case let array as [Any]: self = .array(array.map { JSONValue($0) })
        case let text as String: self = .text(text)
        case let flag as Bool where !(value is NSNumber) || CFGetTypeIDIsBool(value): self = .bool(flag)
        case let number as NSNumber: self = .number(number.doubleValue)
        default: self = .null
        }
    }

    subscript(_ key: String) -> JSONValue {
        if case .object(let members) = self { members[key] ?? .null } else { .null }
    }

    var isNull: Bool { if case .null = self { true } else { false } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// A finite number.
    var number: Double? {
        if case .number(let number) = self, number.isFinite { number } else { nil }
    }

    /// A number as an integer, if it is one of reasonable size.
    var integer: Int? {
        guard let number, abs(number) < 1e9 else { return nil }
        return Int(number.rounded())
    }

    var bool: Bool? {
        switch self {
        case .bool(let flag): flag
        case .number(let number): number != 0
        case .null, .text, .array, .object: nil
        }
    }
}

/// Whether a bridged number is a truth value.
private func CFGetTypeIDIsBool(_ value: Any) -> Bool {
    guard let number = value as? NSNumber else { return value is Bool }
    return unsafe String(cString: number.objCType) == "c"
}
