package import Foundation
internal import ProcessIO

/// Objects as lines of JSON text.
package enum JSON {
    private static let timeStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// One line that also has `time`: when it was written, RFC 3339 in UTC with milliseconds.
    package static func line(_ object: [String: Any], at time: Date) -> String {
        self.line(object.merging(["time": self.time(time)]) { $1 })
    }

    /// RFC 3339 in UTC with milliseconds.
    package static func time(_ time: Date) -> String { time.beforeCut.formatted(self.timeStyle) }

    /// One line, its keys sorted: equal objects are equal lines. What would steer a terminal is escaped.
    ///
    /// Objects hold strings, numbers, booleans, nulls, arrays and objects only.
    package static func line(_ object: [String: Any]) -> String {
        self.escaped(String(decoding: self.data(object), as: UTF8.self))
    }

    /// The same object as bytes, in which only what JSON forbids is escaped.
    package static func data(_ object: [String: Any]) -> Data {
        do {
            return try JSONSerialization.data(
                withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        } catch {
            preconditionFailure("only plain values are written: \(error)")
        }
    }

    /// Foundation escapes only what JSON forbids in a text.
    private static func escaped(_ line: String) -> String {
        guard line.unicodeScalars.contains(where: TerminalText.isControl) else { return line }
        return line.unicodeScalars.reduce(into: "") { escaped, scalar in
            guard TerminalText.isControl(scalar) else { return escaped.unicodeScalars.append(scalar) }
            for unit in UTF16.encode(scalar) ?? .init() {
                escaped += "\\u" + String(0x1_0000 | Int(unit), radix: 16).dropFirst()
            }
        }
    }
}

extension Date {
    /// For formatters, which cut: half a microsecond later. Why: a sum of seconds is a little less than the millisecond that it stands for.
    package var beforeCut: Date { self.addingTimeInterval(5e-7) }
}

extension Dictionary where Key == String, Value == Any {
    /// Sets `key`, unless there is no value.
    package mutating func set(_ key: String, _ value: Any?) { if let value { self[key] = value } }

    /// Sets `key`, unless the list or text is empty.
    package mutating func set(nonEmpty key: String, _ value: some Collection) {
        if !value.isEmpty { self[key] = value }
    }
}
