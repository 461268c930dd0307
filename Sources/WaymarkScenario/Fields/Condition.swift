internal import ProcessIO

/// A value as a scenario writes it.
package indirect enum Literal: Sendable, Hashable, CustomStringConvertible {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case list([Literal])
    case contains(Literal)

    package var description: String {
        switch self {
        case .null: "null"
        case .flag(let flag): "\(flag)"
        case .number(let number): FieldValue.text(number)
        case .text(let text): text
        case .list(let list): "[" + list.map(\.description).joined(separator: ", ") + "]"
        case .contains(let element): "contains \(element)"
        }
    }
}

extension Literal {
    /// The numbers in it.
    fileprivate var numbers: [Double] {
        switch self {
        case .number(let number): [number]
        case .list(let list): list.flatMap(\.numbers)
        case .contains(let element): element.numbers
        case .null, .flag, .text: []
        }
    }
}

extension Literal {
    /// Whether it compares with a number: `3`, `<200`, `1..5`.
    var namesNumber: Bool {
        switch self {
        case .number: true
        case .text(let text):
            text.first.map { "<>".contains($0) } ?? false
                || text.split(separator: "..").count == 2
                    && text.split(separator: "..").allSatisfy { Double($0) != nil }
        case .null, .flag, .list, .contains: false
        }
    }
}

/// What a field must be.
package struct Condition: Sendable, Hashable, CustomStringConvertible {
    enum Order: String, Sendable { case below = "<", atMost = "<=", above = ">", atLeast = ">=" }

    enum Constant: Sendable, Hashable {
        case text(String)
        case number(Double)
        case flag(Bool)
        /// A value of an enumeration, with its name.
        case word(UInt32, String)
    }

    private enum Test: Sendable, Hashable {
        case absent
        case equal([Constant])
        case notEqual(Constant)
        case compare(Order, Double)
        case range(ClosedRange<Double>)
        case matches(TextPattern)
        case list([Constant])
        case contains(Constant)
    }

    /// As it was written.
    package let description: String
    private let test: Test

    /// Reads a condition for a field.
    ///
    /// - Throws: ``FieldError`` if a value of this type cannot fulfil it.
    package init(_ literal: Literal, for path: FieldPath) throws(FieldError) {
        self.description = "\(literal)"
        self.test = try Self.test(literal, path.type, path.description)
        if path.countsFromOne, let number = literal.numbers.first(where: { $0 < 1 }) {
            throw FieldError("\(path) counts from 1, from the left: there is no \(FieldValue.text(number))")
        }
    }

    /// The value itself. Why: in a condition of a file, a text that begins with `<`, `~` or `!=` is an operator.
    package init(_ literal: Literal, isEqual: Bool, for path: FieldPath) throws(FieldError) {
        self.description = isEqual ? "\(literal)" : "!=\(literal)"
        if !isEqual {
            self.test = .notEqual(try Self.constant(literal, path.type, path.description))
        } else if case .text = path.type, case .text(let text) = literal {
            self.test = .equal([.text(text)])
        } else {
            self.test = try Self.test(literal, path.type, path.description)
        }
    }

    /// Reads a condition for a named group of a line that a program prints. It compares numbers if it names one, else texts.
    package init(_ literal: Literal, ofGroup name: String) throws(FieldError) {
        self.description = "\(literal)"
        self.test = try Self.test(literal, literal.namesNumber ? .number(.none) : .text, name)
    }

    private static func test(
        _ literal: Literal, _ type: FieldType, _ name: String
    ) throws(FieldError) -> Test {
        switch (literal, type) {
        case (.null, _): return .absent
        case (.contains(let literal), .list(let element)):
            return .contains(try Self.constant(literal, element, name))
        case (.contains, _): throw FieldError("\(name) is not a list, so it contains nothing")
        case (.list(let literals), .list(let element)):
            var constants: [Constant] = []
            for literal in literals { constants.append(try Self.constant(literal, element, name)) }
            return .list(constants)
        case (.list, _): throw FieldError("\(name) is not a list")
        case (_, .list): throw FieldError("\(name) is a list: write [\(literal)], or {contains: \(literal)}")
        case (_, .object(let object)):
            throw FieldError(
                "\(name) is an object: name one of its keys, \(object.keys.joined(separator: ", "))")
        case (.text("stale-or-none"), .word) where name == "shows":
            return .equal([.text("stale"), .text("none")])
        case (.text(let text), _): return try Self.test(text, type, name)
        default: return .equal([try Self.constant(literal, type, name)])
        }
    }

    /// A text may be an operator with a value.
    private static func test(_ text: String, _ type: FieldType, _ name: String) throws(FieldError) -> Test {
        if text.hasPrefix("!=") {
            return .notEqual(try Self.constant(.text(Self.trimmed(text.dropFirst(2))), type, name))
        }
        if text.hasPrefix("~") {
            switch type {
            case .text, .word: return .matches(try TextPattern(String(text.dropFirst())))
            default: throw FieldError("\(name) is no text, so it matches no regular expression")
            }
        }
        for order in [Order.atMost, .atLeast, .below, .above] where text.hasPrefix(order.rawValue) {
            guard case .number(let unit) = type else {
                throw FieldError("\(name) is no number, so it cannot be compared with \(order.rawValue)")
            }
            let rest = Self.trimmed(text.dropFirst(order.rawValue.count))
            return .compare(order, try Self.number(rest, unit, name))
        }
        if case .number(let unit) = type, let dots = text.firstRange(of: "..") {
            let lower = try Self.number(Self.trimmed(text[..<dots.lowerBound]), unit, name)
            let upper = try Self.number(Self.trimmed(text[dots.upperBound...]), unit, name)
            guard lower <= upper else { throw FieldError("\(name): \(text) begins above its end") }
            return .range(lower...upper)
        }
        return .equal([try Self.constant(.text(text), type, name)])
    }

    private static func constant(
        _ literal: Literal, _ type: FieldType, _ name: String
    ) throws(FieldError) -> Constant {
        switch (literal, type) {
        case (.text(let text), .text): return .text(text)
        case (.flag(let flag), .flag): return .flag(flag)
        case (.number(let number), .number): return .number(number)
        case (.text(let text), .number(let unit)): return .number(try Self.number(text, unit, name))
        case (.text(let text), .word(let vocabulary)):
            guard let raw = vocabulary.rawValue(of: text) else {
                let hint = Spelling.hint(text, of: vocabulary.names)
                let names = vocabulary.names.joined(separator: ", ")
                throw FieldError(
                    "\(text) is not a value of \(name)" + (hint.isEmpty ? "; it is one of \(names)" : hint))
            }
            return .word(raw, vocabulary.name(of: raw))
        case (.number(let number), .word(let vocabulary)):
            guard let raw = UInt32(exactly: number) else {
                throw FieldError("\(literal) is not a value of \(name)")
            }
            return .word(raw, vocabulary.name(of: raw))
        case (_, .text): throw FieldError("\(name) is a text; write \"\(literal)\"")
        case (_, .flag): throw FieldError("\(name) is true or false")
        case (_, .number(let unit)): throw FieldError("\(name) is \(unit.kind), not \(literal)")
        case (_, .word(let vocabulary)):
            throw FieldError("\(name) is one of \(vocabulary.names.joined(separator: ", "))")
        case (_, .list), (_, .object): throw FieldError("\(name) has no values that \(literal) is one of")
        }
    }

    /// A number with a unit, e.g. `200m`.
    private static func number(_ text: String, _ unit: FieldUnit, _ name: String) throws(FieldError) -> Double
    {
        guard let value = Self.value(text, unit) else {
            if let range = Self.range(text, unit) {
                throw FieldError("\(name): a range has two points: \(range)")
            }
            throw FieldError("\(name) is \(unit.kind), not \(text.isEmpty ? "nothing" : text)")
        }
        return value
    }

    private static func value(_ text: String, _ unit: FieldUnit) -> Double? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "-") }
        guard let number = Double(digits) else { return nil }
        return unit.factor(of: Self.trimmed(text[digits.endIndex...])).map { number * $0 }
    }

    /// `80m..120m` for a range that is written with a dash; nil if the text is none.
    private static func range(_ text: String, _ unit: FieldUnit) -> String? {
        let parts = text.split(separator: "-", maxSplits: 1).map { Self.trimmed($0) }
        guard parts.count == 2, parts.allSatisfy({ Self.value($0, unit) != nil }) else { return nil }
        return "\(parts[0])..\(parts[1])"
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// Whether a value fulfils it. `!=` is fulfilled by a value that is absent, the other comparisons are not.
    package func holds(_ value: FieldValue?) -> Bool {
        switch self.test {
        case .absent: return value.map(\.isEmpty) ?? true
        case .equal(let constants):
            return value.map { value in constants.contains { $0.isEqual(to: value) } } ?? false
        case .notEqual(let constant): return !(value.map { constant.isEqual(to: $0) } ?? false)
        case .compare(let order, let bound):
            guard case .number(let number) = value else { return false }
            return order.holds(number, bound)
        case .range(let range):
            guard case .number(let number) = value else { return false }
            return range.contains(number)
        case .matches(let pattern):
            switch value {
            case .text(let text): return pattern.isFound(in: text)
            case .word(let raw, let vocabulary): return pattern.isFound(in: vocabulary.name(of: raw))
            default: return false
            }
        case .list(let constants):
            guard case .list(let list) = value else { return constants.isEmpty && value == nil }
            return list.count == constants.count
                && constants.indices.allSatisfy { constants[$0].isEqual(to: list[field: $0]) }
        case .contains(let constant):
            guard case .list(let list) = value else { return false }
            return (0..<list.count).contains { constant.isEqual(to: list[field: $0]) }
        }
    }

    /// How far a number is from fulfilling it, 0 to 1; 1 for everything else that does not.
    func distance(_ value: FieldValue?) -> Double {
        guard case .number(let number) = value else { return 1 }
        let bound: Double
        switch self.test {
        case .compare(_, let limit): bound = limit
        case .range(let range): bound = number < range.lowerBound ? range.lowerBound : range.upperBound
        case .equal(let constants):
            guard case .number(let wanted)? = constants.first else { return 1 }
            bound = wanted
        case .absent, .notEqual, .matches, .list, .contains: return 1
        }
        let size = max(abs(number), abs(bound))
        return size > 0 ? min(1, abs(number - bound) / size) : 0
    }
}

extension Condition.Order {
    fileprivate func holds(_ number: Double, _ bound: Double) -> Bool {
        switch self {
        case .below: number < bound
        case .atMost: number <= bound
        case .above: number > bound
        case .atLeast: number >= bound
        }
    }
}

extension Condition.Constant {
    fileprivate func isEqual(to value: FieldValue) -> Bool {
        switch (self, value) {
        case (.text(let mine), .text(let theirs)): return mine == theirs
        case (.number(let mine), .number(let theirs)):
            // Why not exactly: units are converted, and 0.3 km are 300 m.
            return abs(mine - theirs) <= 1e-9 * max(1, abs(mine))
        case (.flag(let mine), .flag(let theirs)): return mine == theirs
        case (.word(let mine, _), .word(let theirs, _)): return mine == theirs
        case (.word(_, let mine), .text(let theirs)): return mine == theirs
        default: return false
        }
    }
}
