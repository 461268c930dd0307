internal import Foundation

/// Objects as lines of JSON text.
enum JSON {
    /// One line, its keys sorted: equal objects are equal lines.
    ///
    /// Objects hold strings, numbers, booleans, arrays and objects only.
    static func line(_ object: [String: Any]) -> String {
        do {
            let data = try JSONSerialization.data(
                withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
            return String(decoding: data, as: UTF8.self)
        } catch {
            preconditionFailure("only plain values are written: \(error)")
        }
    }
}

extension Dictionary where Key == String, Value == Any {
    /// Sets `key`, unless there is no value.
    mutating func set(_ key: String, _ value: Any?) { if let value { self[key] = value } }

    /// Sets `key`, unless the list or text is empty.
    mutating func set(nonEmpty key: String, _ value: some Collection) {
        if !value.isEmpty { self[key] = value }
    }
}
