import Foundation
import Testing
import WaymarkExporter
import WaymarkProtocol
import WaymarkTelemetry

/// The page, the alert rules and the dashboard name only what there is.
@Suite struct MonitoringTests {
    private static func content(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The series of a gateway in which everything has happened.
    private static func series() throws -> Set<String> {
        let text = MetricFormat.text.text(GatewayMetrics.families(of: reading([])))
        return Set(try ParsedMetrics(text, .text).values.keys)
    }

    @Test func `the page has every metric, with its type, unit, labels and meaning`() throws {
        let rows = try Self.content("Docs/monitoring.md").split(separator: "\n")
            .filter { $0.hasPrefix("| `waymark_") }.map(String.init)
        let expected = Metric.all.map { metric in
            let ending =
                switch metric.kind {
                case .counter: "_total"
                case .info: "_info"
                case .gauge, .histogram: ""
                }
            let labels = metric.labels.map { "`\($0)`" }.joined(separator: ", ")
            return
                "| `\(metric.name)\(ending)` | \(metric.kind.rawValue) | \(metric.unit?.rawValue ?? "") | \(labels) | \(metric.help). |"
        }
        #expect(rows == expected)
    }

    @Test func `the page explains every alert, and no other`() throws {
        let rules = try Self.content("systemd/monitoring/waymark.rules.yml")
        let page = try Self.content("Docs/monitoring.md")
        let alerts = rules.matches(of: /- alert: (\w+)/).map { String($0.1) }
        let explained = page.matches(of: /\n\| `(Waymark\w+)` \|/).map { String($0.1) }
        #expect(!alerts.isEmpty && explained == alerts)
    }

    @Test(arguments: ["systemd/monitoring/waymark.rules.yml", "systemd/monitoring/waymark.dashboard.json"])
    func `expressions name only metrics and labels that exist`(_ path: String) throws {
        let series = try Self.series()
        let names = Set(series.map { String($0.prefix { $0 != "{" }) })
        let expressions = try Self.expressions(path)
        #expect(expressions.count > 5)
        for expression in expressions {
            let used = expression.matches(of: /waymark_[a-z_]+/).map { String($0.0) }
            #expect(!used.isEmpty || expression.hasPrefix("up{"), "\(expression)")
            for name in used { #expect(names.contains(name), "\(name) in \(expression)") }
            for selector in expression.matches(of: /(up|waymark_[a-z_]+)\{([^}]*)\}/) {
                let own = series.filter { $0.prefix { $0 != "{" } == selector.1 }
                for match in selector.2.matches(of: /([a-z]+)(?:=~?|!=)"([^"]*)"/) {
                    guard match.1 != "instance", match.1 != "job" else { continue }
                    for value in match.2.split(separator: "|") {
                        #expect(
                            own.contains { $0.contains("\(match.1)=\"\(value)\"") },
                            "\(match.0) in \(expression)")
                    }
                }
            }
            let labels = Set(used.flatMap { name in Self.labels(of: name, in: series) })
            for match in expression.matches(of: /by \(([^)]*)\)/) {
                for label in match.1.split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) {
                    #expect(label == "instance" || labels.contains(label), "\(label) in \(expression)")
                }
            }
        }
    }

    private static func labels(of name: String, in series: Set<String>) -> [String] {
        series.filter { $0.prefix { $0 != "{" } == name }
            .flatMap { $0.matches(of: /([a-z]+)="/).map { String($0.1) } }
    }

    /// Several gateways may be shown together.
    @Test func `every line of the dashboard is named with its gateway, and with labels that it has`() throws {
        let series = try Self.series()
        let targets = try Self.targets()
        #expect(targets.count > 20)
        for (expression, legend) in targets {
            #expect(legend.contains("{{instance}}"), "\(legend)")
            let names = expression.matches(of: /waymark_[a-z_]+/).map { String($0.0) }
            let labels = Set(names.flatMap { Self.labels(of: $0, in: series) }).union(["instance"])
            for match in legend.matches(of: /\{\{([a-z]+)\}\}/) {
                #expect(labels.contains(String(match.1)), "\(legend)")
            }
            for match in expression.matches(of: /by \(([^)]*)\)/) {
                #expect(match.1.contains("instance"), "\(expression)")
            }
        }
    }

    /// Every metric is on the dashboard, so that none is forgotten.
    @Test func `the dashboard shows every metric`() throws {
        let dashboard = try Self.content("systemd/monitoring/waymark.dashboard.json")
        for metric in Metric.all { #expect(dashboard.contains(metric.name), "\(metric.name)") }
    }

    private static func expressions(_ path: String) throws -> [String] {
        let text = try Self.content(path)
        guard path.hasSuffix(".json") else {
            // What follows `expr:`, until the next key.
            return text.split(separator: "expr:").dropFirst().map { String($0.prefix { $0 != "#" }) }.map {
                String(
                    $0[
                        ..<($0.range(of: "for:") ?? $0.range(of: "labels:") ?? $0.endIndex..<$0.endIndex)
                            .lowerBound]
                ).trimmingCharacters(in: .whitespacesAndNewlines)
            }
        }
        return try Self.targets().map(\.expression)
    }

    /// What the dashboard asks, and how it names the answers.
    private static func targets() throws -> [(expression: String, legend: String)] {
        let text = try Self.content("systemd/monitoring/waymark.dashboard.json")
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let panels = (json as? [String: Any])?["panels"] as? [[String: Any]] ?? []
        return panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }.compactMap { target in
            guard let expression = target["expr"] as? String else { return nil }
            return (expression, target["legendFormat"] as? String ?? "")
        }
    }
}
