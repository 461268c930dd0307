/// Parses a JSON text, strictly by RFC 8259, and reports line and column of the first error.
///
/// Strict because a repaired text may have another meaning than intended: trailing commas, comments, unquoted names and NaN are
/// rejected. A byte order mark is skipped. An escaped half of a surrogate pair reads as U+FFFD.
package struct JSONParser {
    /// Deeper nesting than this is refused: engines nest 12 deep, and the parser must not run out of stack.
    package static let depthMax = 64

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads the one value that `bytes` hold.
    ///
    /// - Throws: `.notJSON` with line and column, from 1; columns count bytes.
    package static func parse(_ bytes: [UInt8]) throws(RouteReadingError) -> JSONValue {
        var parser = JSONParser(bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.position = 3 }
        parser.skipSpace()
        let value = try parser.value()
        parser.skipSpace()
        guard parser.position == bytes.count else { throw parser.mistake("text after the end of the value") }
        return value
    }

    private var next: UInt8? { self.position < self.bytes.count ? self.bytes[self.position] : nil }

    private func mistake(_ reason: String) -> RouteReadingError {
        let before = self.bytes[..<min(self.position, self.bytes.count)]
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let line = before.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
        return .notJSON(line: line, column: before.count - lineStart + 1, reason: reason)
    }

    private mutating func skipSpace() {
        while let byte = self.next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            self.position += 1
        }
    }

    private mutating func value() throws(RouteReadingError) -> JSONValue {
        guard let byte = self.next else { throw self.mistake("the text ends where a value is expected") }
        switch byte {
        case UInt8(ascii: "{"):
            return try self.nested { (parser) throws(RouteReadingError) in try parser.object() }
        case UInt8(ascii: "["):
            return try self.nested { (parser) throws(RouteReadingError) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try self.string())
        case UInt8(ascii: "t"): return try self.literal("true", .bool(true))
        case UInt8(ascii: "f"): return try self.literal("false", .bool(false))
        case UInt8(ascii: "n"): return try self.literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try self.number())
        default: throw self.mistake("a value is expected")
        }
    }

    private mutating func nested(
        _ body: (inout JSONParser) throws(RouteReadingError) -> JSONValue
    ) throws(RouteReadingError) -> JSONValue {
        guard self.depth < Self.depthMax else { throw self.mistake("more than \(Self.depthMax) levels deep") }
        self.depth += 1
        self.position += 1
        self.skipSpace()
        let value = try body(&self)
        self.depth -= 1
        return value
    }

    private mutating func object() throws(RouteReadingError) -> JSONValue {
        var members: [String: JSONValue] = [:]
        if self.take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            self.skipSpace()
            guard self.next == UInt8(ascii: "\"") else { throw self.mistake("a name in quotes is expected") }
            let name = try self.string()
            self.skipSpace()
            guard self.take(UInt8(ascii: ":")) else { throw self.mistake("a colon is expected") }
            self.skipSpace()
            members[name] = try self.value()
            self.skipSpace()
        } while self.take(UInt8(ascii: ","))
        guard self.take(UInt8(ascii: "}")) else { throw self.mistake("a comma or } is expected") }
        return .object(members)
    }

    private mutating func array() throws(RouteReadingError) -> JSONValue {
        var values: [JSONValue] = []
        if self.take(UInt8(ascii: "]")) { return .array(values) }
        repeat {
            self.skipSpace()
            values.append(try self.value())
            self.skipSpace()
        } while self.take(UInt8(ascii: ","))
        guard self.take(UInt8(ascii: "]")) else { throw self.mistake("a comma or ] is expected") }
        return .array(values)
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard self.next == byte else { return false }
        self.position += 1
        return true
    }

    private mutating func literal(_ word: String, _ value: JSONValue) throws(RouteReadingError) -> JSONValue {
        guard self.bytes[self.position...].starts(with: word.utf8) else {
            throw self.mistake("a value is expected")
        }
        self.position += word.utf8.count
        return value
    }

    // MARK: Numbers

    private mutating func number() throws(RouteReadingError) -> Double {
        let start = self.position
        _ = self.take(UInt8(ascii: "-"))
        if !self.take(UInt8(ascii: "0")) { try self.digits() }
        if self.take(UInt8(ascii: ".")) { try self.digits() }
        if self.take(UInt8(ascii: "e")) || self.take(UInt8(ascii: "E")) {
            if !self.take(UInt8(ascii: "+")) { _ = self.take(UInt8(ascii: "-")) }
            try self.digits()
        }
        let text = String(decoding: self.bytes[start..<self.position], as: UTF8.self)
        guard let number = Double(text), number.isFinite else {
            throw self.mistake("the number is too large")
        }
        return number
    }

    private mutating func digits() throws(RouteReadingError) {
        let start = self.position
        while let byte = self.next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            self.position += 1
        }
        guard self.position > start else { throw self.mistake("a digit is expected") }
    }

    // MARK: Strings

    private mutating func string() throws(RouteReadingError) -> String {
        self.position += 1
        var text = ""
        var start = self.position
        while let byte = self.next {
            switch byte {
            case UInt8(ascii: "\""):
                text += try self.verbatim(from: start)
                self.position += 1
                return text
            case UInt8(ascii: "\\"):
                text += try self.verbatim(from: start)
                self.position += 1
                text.unicodeScalars.append(try self.escaped())
                start = self.position
            case ..<0x20: throw self.mistake("a control character in a string")
            default: self.position += 1
            }
        }
        throw self.mistake("the text ends within a string")
    }

    private func verbatim(from start: Int) throws(RouteReadingError) -> String {
        guard let text = String(validating: self.bytes[start..<self.position], as: UTF8.self) else {
            throw self.mistake("the string before this is not UTF-8")
        }
        return text
    }

    private mutating func escaped() throws(RouteReadingError) -> Unicode.Scalar {
        guard let byte = self.next else { throw self.mistake("the text ends within a string") }
        self.position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try self.escapedScalar()
        default: throw self.mistake("an unknown escape in a string")
        }
    }

    private mutating func escapedScalar() throws(RouteReadingError) -> Unicode.Scalar {
        let unit = try self.hexadecimal()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        let afterUnit = self.position
        if unit < 0xDC00, self.take(UInt8(ascii: "\\")), self.take(UInt8(ascii: "u")) {
            let low = try self.hexadecimal()
            if (0xDC00...0xDFFF).contains(low),
                let scalar = Unicode.Scalar(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
            {
                return scalar
            }
        }
        self.position = afterUnit
        return "\u{FFFD}"
    }

    private mutating func hexadecimal() throws(RouteReadingError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = self.next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw self.mistake("four hexadecimal digits are expected")
            }
            unit = unit << 4 | UInt32(digit)
            self.position += 1
        }
        return unit
    }
}
