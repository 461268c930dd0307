/// An error in an argument of a test, or the reason why the rig cannot go on. The test has no verdict.
public struct RigError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The argument, e.g. `startAt`, or the key of a condition, e.g. `next.typ`; empty if it is about the run itself.
    public let field: String
    /// A description of what is wrong, in words.
    public let reason: String

    /// The field and the reason, in a line.
    public var description: String { self.field.isEmpty ? self.reason : "\(self.field): \(self.reason)" }

    init(_ field: String, _ reason: String) { (self.field, self.reason) = (field, reason) }
}

/// A verdict: something was not as the test expects, or a lint rule found something.
public struct RigFailure: Error, Sendable, CustomStringConvertible {
    /// The report of `waymark test`, in lines of at most 80 columns: what was expected, the nearest thing that was seen and how it
    /// differs field by field, the frames around it, what the vehicle showed, and what lint rules found.
    public let description: String
    /// The findings of lint rules until then that the test does not allow.
    public let findings: [Rig.Finding]

    init(_ description: String, _ findings: [Rig.Finding]) {
        (self.description, self.findings) = (description, findings)
    }
}

/// Checks arguments. The error names the field.
enum Check {
    /// A year is the most, so that instants cannot overflow.
    private static let durationMax = Duration.seconds(8_760 * 3_600)

    static func duration(_ duration: Duration?, _ field: String, isPositive: Bool = false) throws(RigError) {
        guard let duration else { return }
        guard duration >= .zero, duration <= Self.durationMax else {
            throw RigError(field, "must be a time from 0 to 8760 h")
        }
        if isPositive, duration == .zero { throw RigError(field, "must be more than nothing") }
    }

    static func number(_ number: Int?, _ field: String, _ range: ClosedRange<Int>) throws(RigError) {
        guard let number, !range.contains(number) else { return }
        throw RigError(field, "must be \(range.lowerBound) to \(range.upperBound)")
    }

    static func speed(_ speed: Double?, _ field: String) throws(RigError) {
        guard let speed, !(speed > 0 && speed <= 10_000) else { return }
        throw RigError(field, "must be above 0, and at most 10000")
    }

    static func text(_ text: String, _ field: String, _ lengths: ClosedRange<Int>) throws(RigError) {
        guard !lengths.contains(text.unicodeScalars.count) else { return }
        throw RigError(field, "must have \(lengths.lowerBound) to \(lengths.upperBound) letters")
    }

    /// An id on the wire.
    static func id(_ id: UInt32?, _ field: String) throws(RigError) {
        if id == 0 { throw RigError(field, "must not be 0") }
    }
}
