import Foundation
import Testing

/// Finds fields of the wire that are added or subtracted so that a number of a peer can stop the program: `self.number += gap.dropped`.
/// `addingSaturating(_:)` and its siblings stay at the end of the range, and `&+` says that wrapping is meant.
@Suite struct WireNumberTests {
    /// The modules that read what a gateway, another peer or a file says. Those that count for the gateway are left out: their
    /// fields of these names are its own.
    private static let modules = [
        "WaymarkProtocol", "WaymarkClient", "WaymarkCodec", "WaymarkCommandLine", "WaymarkExporter",
        "WaymarkFaults", "WaymarkInspector", "WaymarkGuidance", "WaymarkHistory", "WaymarkInspectorServer",
        "WaymarkLint",
        "WaymarkModel", "WaymarkRecording", "WaymarkRig", "WaymarkRigSockets", "WaymarkRoutes",
        "WaymarkScenario", "WaymarkTexts", "WaymarkTransport",
    ]

    /// Fields whose names stand for other things too: the number of a line, the value of a condition.
    private static let ambiguous: Set = ["number", "value"]
    /// Fields whose names are also those of a program's own counters, which are found only in another value: `gap.dropped`.
    private static let counters: Set = ["dropped", "nonce"]

    /// The names in Swift of all fields of 64 bits.
    private static func fields() throws -> [String] {
        let folder = packageRoot.appending(path: "Protos/waymark/v1")
        var names: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        where file.pathExtension == "proto" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /\bu?int64 (\w+) =/) {
                let words = match.1.split(separator: "_")
                let name = words.dropFirst().reduce(String(words[0])) { $0 + $1.capitalized }
                names.insert(name)
            }
        }
        return names.subtracting(Self.ambiguous).sorted()
    }

    /// The lines of a text that add or subtract one of the fields.
    private static func faults(_ text: String, _ fields: [String]) -> [String] {
        text.components(separatedBy: "\n").filter { line in
            // A sum of real numbers has no end of its range.
            let code = line.components(separatedBy: "//")[0].replacing(/Double\([^()]*\)/, with: "")
            return fields.contains { field in
                guard code.contains(field) else { return false }
                let owner =
                    Self.counters.contains(field)
                    ? "(?!self\\b)[A-Za-z_$0-9]+[?!]?\\." : "([A-Za-z_$0-9]+[?!]?\\.)*"
                let before = "(^|[^&<>\\-])[-+*]=? *\\(?(self\\.)?\(owner)\(field)\\b[^(]?"
                let after = "(^|[^A-Za-z_$0-9.])(self\\.)?\(owner)\(field)[)?!]* (\\+|-|\\*)=? "
                return code.range(of: before, options: .regularExpression) != nil
                    || code.range(of: after, options: .regularExpression) != nil
            }
        }
    }

    @Test(arguments: Self.modules) func `numbers of the wire are added so that they cannot overflow`(
        _ module: String
    )
        throws
    {
        let fields = try Self.fields()
        #expect(fields.contains("dropped") && fields.contains("sequence"))
        for file in try sources(of: module) where !file.path.contains("/Generated/") {
            let text = try String(contentsOf: file, encoding: .utf8)
            for line in Self.faults(text, fields) { Issue.record("\(file.lastPathComponent): \(line)") }
        }
    }

    @Test(arguments: [
        "self.number += gap.dropped", "let next = sequence + 1", "Int(self.sequence - sequence)",
        "$0.sequence <= receipt.receivedSequence + 1", "total - (record.sequence)", "gap.dropped + 1",
    ])
    func `a sum of a number of the wire is found`(_ line: String) throws {
        #expect(Self.faults(line, try Self.fields()) == [line])
    }

    @Test(arguments: [
        "self.number.addSaturating(gap.dropped)", "sum &+ gap.dropped", "if sequence < self.sequence {",
        "func send() -> sequence", "self.dropped += 1", "self.recent.count - dropped",
        "Double(new.sequence) - Double(old.sequence)", "// sequence + 1",
    ])
    func `what cannot overflow is allowed`(_ line: String) throws {
        #expect(Self.faults(line, try Self.fields()) == [])
    }
}
