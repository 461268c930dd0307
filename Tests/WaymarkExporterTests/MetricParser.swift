import Testing
import WaymarkExporter

/// A strict parser of both formats: whatever the specifications do not allow is an error, also where Prometheus is lenient.
struct ParsedMetrics {
    struct Family {
        var type = ""
        var help = ""
        var unit: String?
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ reason: String, _ line: Substring) { self.description = "\(reason): \(line)" }
    }

    /// By the name in the lines that describe a family.
    private(set) var families: [String: Family] = [:]
    /// By the text of the name and the labels, as in `waymark_sessions{phase="active"}`.
    private(set) var values: [String: Double] = [:]
    private let format: MetricFormat
    private var current: String?
    private var isOver = false

    init(_ text: String, _ format: MetricFormat) throws {
        self.format = format
        guard text.hasSuffix("\n") else { throw Failure("no line break at the end", text.suffix(20)) }
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            guard !self.isOver else { throw Failure("behind the end", line) }
            if line == "# EOF", format == .openMetrics {
                self.isOver = true
            } else if line.hasPrefix("# ") {
                try self.describe(line)
            } else {
                try self.read(line)
            }
        }
        guard self.isOver == (format == .openMetrics) else { throw Failure("no # EOF", text.suffix(20)) }
    }

    private mutating func describe(_ line: Substring) throws {
        guard let match = line.wholeMatch(of: /# (TYPE|HELP|UNIT) ([a-z_]+) (.+)/) else {
            throw Failure("not a description", line)
        }
        let (name, text) = (String(match.2), String(match.3))
        if self.current != name {
            guard self.families[name] == nil else { throw Failure("described twice", line) }
            self.families[name] = Family()
            self.current = name
        }
        switch match.1 {
        case "TYPE":
            let types = ["gauge", "counter", "histogram"] + (self.format == .openMetrics ? ["info"] : [])
            guard types.contains(text), self.families[name]?.type == "" else { throw Failure("type", line) }
            self.families[name]?.type = text
        case "HELP":
            guard self.families[name]?.help == "", text.hasSuffix("."), !text.hasSuffix("..") else {
                throw Failure("help", line)
            }
            self.families[name]?.help = text
        default:
            guard self.format == .openMetrics, name.hasSuffix("_\(text)") else { throw Failure("unit", line) }
            self.families[name]?.unit = text
        }
    }

    private mutating func read(_ line: Substring) throws {
        guard let match = line.wholeMatch(of: /([a-z_]+)((?:\{[^{}]*\})?) ([0-9.e+-]+)/),
            let value = Double(match.3), value >= 0
        else { throw Failure("not a sample", line) }
        guard let current = self.current, let family = self.families[current], family.type != "",
            family.help != ""
        else { throw Failure("not described", line) }
        guard self.endings(of: family.type).contains(where: { current + $0 == match.1 }) else {
            throw Failure("not of \(current)", line)
        }
        if !match.2.isEmpty {
            let label = /[a-z]+="(?:[^"\\\n]|\\[\\n"])*"/
            let labels = match.2.dropFirst().dropLast()
            guard !labels.isEmpty,
                labels.split(separator: ",", omittingEmptySubsequences: false).allSatisfy({
                    $0.wholeMatch(of: label) != nil
                })
            else { throw Failure("labels", line) }
        }
        guard self.values.updateValue(value, forKey: String(match.1 + match.2)) == nil else {
            throw Failure("twice", line)
        }
    }

    private func endings(of type: String) -> [String] {
        switch (type, self.format) {
        case ("counter", .openMetrics): ["_total"]
        case ("info", _): ["_info"]
        case ("histogram", _): ["_bucket", "_sum", "_count"]
        default: [""]
        }
    }

    subscript(_ series: String) -> Double? { self.values[series] }
}
