internal import WaymarkModel
internal import WaymarkProtocol
package import WaymarkScenario

extension Rig {
    /// A value that a field is compared with: a text, a number, a truth value, or a list of them, as a scenario file writes it. A number
    /// with a unit is a text: `"200m"`, `"1.5km"`, `"2s"`.
    public struct Operand: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
        ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral
    {
        let literal: Literal

        fileprivate init(literal: Literal) { self.literal = literal }
        /// A text, a name of an enumeration such as `rightTurn`, or a number with a unit.
        public init(_ text: String) { self.literal = .text(text) }
        /// A number, in the unit of its key, as in Docs/cluster-json.md.
        public init(_ number: Double) { self.literal = .number(number) }
        /// A truth value.
        public init(_ flag: Bool) { self.literal = .flag(flag) }
        /// A list of exactly these.
        public init(_ list: [Operand]) { self.literal = .list(list.map(\.literal)) }

        /// A text.
        public init(stringLiteral text: String) { self.init(text) }
        /// A whole number.
        public init(integerLiteral number: Int) { self.init(Double(number)) }
        /// A number.
        public init(floatLiteral number: Double) { self.init(number) }
        /// A truth value.
        public init(booleanLiteral flag: Bool) { self.init(flag) }
        /// A list of exactly these.
        public init(arrayLiteral list: Operand...) { self.init(list) }
    }

    /// A field of a state or of a message, and the type of its values.
    public struct Field<Value>: Sendable {
        /// The key as in scenario files, e.g. `next.distance`.
        public let key: String
        fileprivate let literal: @Sendable (Value) -> Literal

        init(_ key: String, _ literal: @escaping @Sendable (Value) -> Literal) {
            (self.key, self.literal) = (key, literal)
        }

        /// A condition that the field has no value, or an empty list or text.
        public var isAbsent: FieldCondition { FieldCondition(self.key, .written(.null)) }

        /// A condition that the field has this value.
        public static func == (field: Self, value: Value) -> FieldCondition {
            FieldCondition(field.key, .equal(field.literal(value)))
        }

        /// A condition that the field has another value, or none.
        public static func != (field: Self, value: Value) -> FieldCondition {
            FieldCondition(field.key, .notEqual(field.literal(value)))
        }

        fileprivate func compared(_ order: String, _ value: Value) -> FieldCondition {
            FieldCondition(self.key, .written(.text("\(order)\(self.literal(value))")))
        }

        fileprivate func between(_ lower: Value, _ upper: Value) -> FieldCondition {
            FieldCondition(
                self.key, .written(.text("\(self.literal(lower))..\(self.literal(upper))")))
        }
    }

    /// A field with a list or a whole object: it can be unchanged, or absent. Its parts have keys of their own.
    public struct WholeField: Sendable {
        /// The key as in scenario files, e.g. `maneuvers`.
        public let key: String

        init(_ key: String) { self.key = key }

        /// A condition that the field has no value, or an empty list.
        public var isAbsent: FieldCondition { FieldCondition(self.key, .written(.null)) }
    }

    /// A condition that a field must fulfil.
    public struct FieldCondition: Sendable, Hashable {
        enum Test: Sendable, Hashable {
            /// As in a scenario file.
            case written(Literal)
            case equal(Literal)
            case notEqual(Literal)
        }

        package let key: String
        let test: Test

        fileprivate init(_ key: String, _ test: Test) { (self.key, self.test) = (key, test) }
    }

    /// Collects the lines of a closure: conditions that must hold together, or fields. `if` and `for` work in it.
    @resultBuilder public enum LineBuilder {
        /// A condition.
        public static func buildExpression(_ condition: FieldCondition) -> [FieldCondition] { [condition] }
        /// A field.
        public static func buildExpression<Value>(_ field: Field<Value>) -> [String] { [field.key] }
        /// A field.
        public static func buildExpression(_ field: WholeField) -> [String] { [field.key] }
        /// All lines.
        public static func buildBlock<Line>(_ parts: [Line]...) -> [Line] { parts.flatMap(\.self) }
        /// An `if`.
        public static func buildOptional<Line>(_ part: [Line]?) -> [Line] { part ?? [] }
        /// An `if` with `else`, or a `switch`.
        public static func buildEither<Line>(first part: [Line]) -> [Line] { part }
        /// An `if` with `else`, or a `switch`.
        public static func buildEither<Line>(second part: [Line]) -> [Line] { part }
        /// A `for`.
        public static func buildArray<Line>(_ parts: [[Line]]) -> [Line] { parts.flatMap(\.self) }
    }
}

extension Rig.Field where Value: Comparable {
    /// A condition that the field's value is less than `value`.
    public static func < (field: Self, value: Value) -> Rig.FieldCondition { field.compared("<", value) }
    /// A condition that the field's value is at most `value`.
    public static func <= (field: Self, value: Value) -> Rig.FieldCondition { field.compared("<=", value) }
    /// A condition that the field's value is greater than `value`.
    public static func > (field: Self, value: Value) -> Rig.FieldCondition { field.compared(">", value) }
    /// A condition that the field's value is at least `value`.
    public static func >= (field: Self, value: Value) -> Rig.FieldCondition { field.compared(">=", value) }

    /// Returns a condition that the field's value is `lower`, `upper` or between them.
    public func isBetween(_ lower: Value, and upper: Value) -> Rig.FieldCondition {
        self.between(lower, upper)
    }
}

extension Rig.Field where Value == Rig.Operand {
    /// A condition that the field's value is a number less than `value`.
    public static func < (field: Self, value: Value) -> Rig.FieldCondition { field.compared("<", value) }
    /// A condition that the field's value is a number, at most `value`.
    public static func <= (field: Self, value: Value) -> Rig.FieldCondition { field.compared("<=", value) }
    /// A condition that the field's value is a number greater than `value`.
    public static func > (field: Self, value: Value) -> Rig.FieldCondition { field.compared(">", value) }
    /// A condition that the field's value is a number, at least `value`.
    public static func >= (field: Self, value: Value) -> Rig.FieldCondition { field.compared(">=", value) }

    /// Returns a condition that the field's value is a number: `lower`, `upper` or between them.
    public func isBetween(_ lower: Value, and upper: Value) -> Rig.FieldCondition {
        self.between(lower, upper)
    }

    /// Returns a condition that the field's value is a list that contains `element`.
    public func contains(_ element: Rig.Operand) -> Rig.FieldCondition {
        Rig.FieldCondition(self.key, .written(.contains(element.literal)))
    }

    /// Returns a condition that the field's value is a text in which a regular expression is found:
    /// `.` `[a-z]` `\d` `\w` `\s` `(a|b)` `*` `+` `?` `^` `$`.
    public func matches(_ pattern: String) -> Rig.FieldCondition {
        Rig.FieldCondition(self.key, .written(.text("~\(pattern)")))
    }
}

extension Rig.Field where Value == String {
    /// Returns a condition that a regular expression is found in the field's text: `.` `[a-z]` `\d` `\w` `\s` `(a|b)` `*` `+` `?` `^` `$`.
    public func matches(_ pattern: String) -> Rig.FieldCondition {
        Rig.FieldCondition(self.key, .written(.text("~\(pattern)")))
    }
}

extension Rig.Field where Value == [Int] {
    /// Returns a condition that the field's list contains `element`.
    public func contains(_ element: Int) -> Rig.FieldCondition {
        Rig.FieldCondition(self.key, .written(.contains(.number(Double(element)))))
    }
}

extension Rig.Field where Value == [String] {
    /// Returns a condition that the field's list contains `element`.
    public func contains(_ element: String) -> Rig.FieldCondition {
        Rig.FieldCondition(self.key, .written(.contains(.text(element))))
    }
}

// MARK: Values as a scenario file writes them

extension Rig.Field where Value == Rig.Operand { init(_ key: String) { self.init(key) { $0.literal } } }
extension Rig.Field where Value == String { init(_ key: String) { self.init(key) { .text($0) } } }
extension Rig.Field where Value == Bool { init(_ key: String) { self.init(key) { .flag($0) } } }
extension Rig.Field where Value == Int { init(_ key: String) { self.init(key) { .number(Double($0)) } } }
extension Rig.Field where Value == Distance {
    init(_ key: String) { self.init(key) { .text("\($0.meters)m") } }
}
extension Rig.Field where Value == Angle {
    init(_ key: String) { self.init(key) { .text("\($0.degrees)°") } }
}
extension Rig.Field where Value == Duration {
    init(_ key: String) {
        self.init(key) { duration in
            // Why: the milliseconds of very long durations are more than an Int64 has.
            let seconds = duration.components.seconds
            let isShort = seconds.magnitude < 1_000_000_000_000
            return .text(isShort ? "\(duration.milliseconds)ms" : "\(seconds)s")
        }
    }
}
extension Rig.Field where Value == [Int] {
    init(_ key: String) { self.init(key) { .list($0.map { .number(Double($0)) }) } }
}
extension Rig.Field where Value == [String] {
    init(_ key: String) { self.init(key) { .list($0.map { .text($0) }) } }
}
extension Rig.Field where Value: RawRepresentable<String> & SendableMetatype {
    init(_ key: String) { self.init(key) { .text($0.rawValue) } }
}
extension Rig.Field where Value: WireEnumeration & SendableMetatype {
    /// By name; what this build does not know, by number.
    init(_ key: String) {
        self.init(key) { Value.allKnown.contains($0) ? .text($0.name) : .number(Double($0.rawValue)) }
    }
}

// MARK: Resolving

extension Rig {
    static func path(_ key: String, of place: FieldPath.Place) throws(RigError) -> FieldPath {
        do throws(FieldError) { return try FieldPath(key, of: place) } catch {
            throw RigError(key, "\(error)")
        }
    }

    package static func conditions(
        _ conditions: [FieldCondition], of place: FieldPath.Place
    ) throws(RigError) -> FieldConditions {
        var elements: [FieldConditions.Element] = []
        for condition in conditions {
            let path = try self.path(condition.key, of: place)
            do throws(FieldError) {
                let read: WaymarkScenario.Condition =
                    switch condition.test {
                    case .written(let literal): try WaymarkScenario.Condition(literal, for: path)
                    case .equal(let literal): try WaymarkScenario.Condition(literal, isEqual: true, for: path)
                    case .notEqual(let literal):
                        try WaymarkScenario.Condition(literal, isEqual: false, for: path)
                    }
                elements.append(FieldConditions.Element(path: path, condition: read))
            } catch { throw RigError(condition.key, "\(error)") }
        }
        return FieldConditions(elements)
    }
}
