import Foundation
import Testing
import WaymarkConfiguration
import WaymarkGateway
import WaymarkProtocol

/// One row of a table in Docs/configuration.md.
struct DocumentedKey: Sendable, CustomStringConvertible {
    var key: String
    var standard: String
    var allowed: String

    var description: String { self.key }

    /// A file with only this key.
    func file(_ value: String) -> String {
        let parts = self.key.split(separator: ".")
        return parts.count == 2 ? "\(parts[0]):\n  \(parts[1]): \(value)\n" : "\(self.key): \(value)\n"
    }

    /// The lower and upper bound of numbers and durations.
    var bounds: (lower: String, upper: String)? {
        self.allowed.wholeMatch(of: /(\d+[a-z]*) to (\d+[a-z]*)/).map { (String($0.1), String($0.2)) }
    }

    /// The keys of the table after `mark`.
    static func read(after mark: String) throws -> [DocumentedKey] {
        let page = try String(contentsOf: ConfigurationTests.page, encoding: .utf8)
        let start = try #require(page.range(of: mark)?.upperBound)
        let table = page[start...].drop { $0 != "|" }.split(separator: "\n", omittingEmptySubsequences: false)
            .prefix { $0.hasPrefix("|") }
        return table.dropFirst(2).map { row in
            let cells = row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            return DocumentedKey(
                key: cells[0].replacingOccurrences(of: "`", with: ""), standard: cells[1], allowed: cells[2])
        }
    }
}

@Suite struct DocumentationTests {
    @Test func `exactly the existing keys are documented`() throws {
        let settings = try DocumentedKey.read(after: "```\n\n").map(\.key)
        #expect(settings.sorted() == Settings.keys.sorted())
        let listener = try DocumentedKey.read(after: "The keys of a listener:").map(\.key)
        #expect(listener.sorted() == Settings.listenerKeys.sorted())
        let key = try DocumentedKey.read(after: "### Keys").map(\.key)
        #expect(key.sorted() == Settings.Listener.Key.settingKeys.sorted())
        let rule = try DocumentedKey.read(after: "## Rules").map(\.key)
        #expect(rule.sorted() == Settings.Rule.settingKeys.sorted())
    }

    @Test func `the documented defaults are correct`() throws {
        for key in try DocumentedKey.read(after: "```\n\n") {
            guard key.bounds != nil || key.key == "log-level" || key.key == "arbitration" else { continue }
            #expect(
                try Configuration.read(key.file(key.standard), file: "f") == Settings(),
                "\(key) is not \(key.standard)")
        }
    }

    @Test func `the documented bounds are correct`() throws {
        var count = 0
        for key in try DocumentedKey.read(after: "```\n\n") {
            guard let (lower, upper) = key.bounds else { continue }
            count += 1
            // These three constrain each other, so their bounds cannot be checked one by one.
            let others = ["limits.outbox-bytes", "limits.retained-bytes", "limits.frame-bytes"]
            for value in others.contains(key.key) ? [] : [lower, upper] {
                _ = try Configuration.read(key.file(value), file: "f")
            }
            for value in [try Self.step(lower, -1), try Self.step(upper, 1)] {
                let error = #expect(throws: ConfigurationError.self, "\(key): \(value)") {
                    _ = try Configuration.read(key.file(value), file: "f")
                }
                #expect(
                    error?.reason.contains("\(lower) to \(upper)") == true, "\(String(describing: error))")
            }
        }
        #expect(count > 25)
    }

    /// The number, or the duration, next to the given one.
    private static func step(_ bound: String, _ step: Int) throws -> String {
        let match = try #require(bound.wholeMatch(of: /(\d+)([a-z]*)/))
        let number = try #require(Int(match.1))
        switch match.2 {
        case "s": return "\(number * 1_000 + step)ms"
        default: return "\(number + step)\(match.2)"
        }
    }

    @Test func `every limit is a setting`() throws {
        func limits(_ settings: Settings) -> [String: String] {
            var values: [String: String] = [:]
            for (name, limits) in [
                ("connection", settings.connection as Any), ("outbox", settings.outbox),
                ("gateway", settings.policy.limits),
            ] {
                for child in Mirror(reflecting: limits).children {
                    values["\(name).\(child.label ?? "")"] = "\(child.value)"
                }
            }
            return values
        }
        let standard = limits(Settings())
        var unsettable = Set(standard.keys)
        for key in try DocumentedKey.read(after: "```\n\n") {
            guard let (lower, upper) = key.bounds else { continue }
            for value in [lower, upper] {
                do {
                    let changed = limits(try Configuration.read(key.file(value), file: "f"))
                    unsettable.subtract(changed.keys.filter { changed[$0] != standard[$0] })
                } catch { /* Constrained by another setting; the other bound is used. */  }
            }
        }
        #expect(standard.count > 20)
        #expect(unsettable.isEmpty)
    }
}
