package import WaymarkTelemetry

/// One value.
package struct Sample: Sendable, Hashable {
    package enum Value: Sendable, Hashable {
        case whole(UInt64)
        case real(Double)
    }

    /// Behind the metric's name; only for parts of a histogram.
    package var suffix: String
    package var labels: [Label]
    package var value: Value

    package struct Label: Sendable, Hashable {
        package let name: String
        package let value: String
    }

    package init(_ value: Value, _ labels: [(String, String)] = [], suffix: String = "") {
        self.suffix = suffix
        self.labels = labels.map { Label(name: $0.0, value: $0.1) }
        self.value = value
    }
}

/// The text in which Prometheus reads metrics.
package enum MetricFormat: Sendable, Hashable, CaseIterable {
    /// Prometheus' text format, version 0.0.4.
    case text
    /// OpenMetrics, version 1.0.
    case openMetrics

    package var contentType: String {
        switch self {
        case .text: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// Metrics with their samples. Those without samples are left out.
    package func text(_ metrics: [(metric: Metric, samples: [Sample])]) -> String {
        var text = ""
        for (metric, samples) in metrics where !samples.isEmpty {
            let ending = Self.ending(of: metric)
            self.describe(metric, ending, &text)
            for sample in samples { Self.write(sample, metric.name + ending, &text) }
        }
        if self == .openMetrics { text += "# EOF\n" }
        return text
    }

    /// What the names of a metric's samples have at the end.
    private static func ending(of metric: Metric) -> String {
        switch metric.kind {
        case .counter: "_total"
        case .info: "_info"
        case .gauge, .histogram: ""
        }
    }

    private func describe(_ metric: Metric, _ ending: String, _ text: inout String) {
        switch self {
        case .openMetrics:
            text += "# TYPE \(metric.name) \(metric.kind.rawValue)\n"
            if let unit = metric.unit { text += "# UNIT \(metric.name) \(unit.rawValue)\n" }
            text += "# HELP \(metric.name) \(Self.escaped(metric.help)).\n"
        case .text:
            // The format knows no infos, and describes counters by the names of their samples.
            let kind = metric.kind == .info ? Metric.Kind.gauge : metric.kind
            text += "# HELP \(metric.name)\(ending) \(Self.escaped(metric.help)).\n"
            text += "# TYPE \(metric.name)\(ending) \(kind.rawValue)\n"
        }
    }

    private static func write(_ sample: Sample, _ name: String, _ text: inout String) {
        text += name + sample.suffix
        if !sample.labels.isEmpty {
            let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }
            text += "{\(labels.joined(separator: ","))}"
        }
        switch sample.value {
        case .whole(let value): text += " \(value)\n"
        case .real(let value): text += " \(value)\n"
        }
    }

    private static func escaped(_ text: String) -> String {
        // By scalars: a quote with a combining mark behind it is another character, but still ends the text.
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped.append(contentsOf: "\\\\".unicodeScalars)
            case "\n": escaped.append(contentsOf: "\\n".unicodeScalars)
            case "\"": escaped.append(contentsOf: "\\\"".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }

    /// The format that a request's header Accept asks for: OpenMetrics only if it is named, and not less wanted.
    package init(accept: String?) {
        var (text, openMetrics) = (0.0, 0.0)
        for range in (accept ?? "").split(separator: ",").prefix(32) {
            let parts = range.split(separator: ";").map { Self.trimmed($0).lowercased() }
            guard let type = parts.first else { continue }
            let parameters = parts.dropFirst().map { part in
                let sides = part.split(separator: "=", maxSplits: 1).map { Self.trimmed($0) }
                return (name: sides.first ?? "", value: sides.count > 1 ? sides[1] : "")
            }
            let quality = parameters.first { $0.name == "q" }.map { Double($0.value) ?? 0 } ?? 1
            let version = parameters.first { $0.name == "version" }?.value
            switch (type, version) {
            case ("application/openmetrics-text", nil), ("application/openmetrics-text", "1.0.0"):
                openMetrics = max(openMetrics, quality)
            case ("text/plain", _): text = max(text, quality)
            default: break  // `*/*` and other formats lead to the text format.
            }
        }
        self = openMetrics > 0 && openMetrics >= text ? .openMetrics : .text
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        String(text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
