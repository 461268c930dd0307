import Foundation
import Testing

/// A doc comment begins with the noun that the thing is. One that begins with a preposition or a question word leaves it out.
@Suite struct HeadlessCommentTests {
    /// The number of doc comments of each module that lack their noun. A count may only fall: write the lower one here. Public ones have none.
    private static let counts = [
        "ExpectedState": 1,
        "GatewayInMemory": 8,
        "ListeningSockets": 5,
        "ProcessIO": 4,
        "StateCoding": 1,
        "WaymarkAccess": 14,
        "WaymarkClient": 67,
        "WaymarkCodec": 44,
        "WaymarkCommandLine": 104,
        "WaymarkConfiguration": 8,
        "WaymarkConnections": 86,
        "WaymarkDaemon": 17,
        "WaymarkExporter": 11,
        "WaymarkFaults": 31,
        "WaymarkGateway": 166,
        "WaymarkGuidance": 12,
        "WaymarkHistory": 21,
        "WaymarkInspector": 69,
        "WaymarkInspectorServer": 29,
        "WaymarkLint": 73,
        "WaymarkModel": 1,
        "WaymarkObservation": 31,
        "WaymarkProtocol": 107,
        "WaymarkRecording": 90,
        "WaymarkRig": 202,
        "WaymarkRigSockets": 34,
        "WaymarkRoutes": 52,
        "WaymarkScenario": 124,
        "WaymarkTelemetry": 4,
        "WaymarkTexts": 17,
        "WaymarkTransport": 28,
        "WaymarkWeb": 8,
    ]

    private static let heads: Set<String> = [
        "Above", "Across", "After", "Along", "Also", "Among", "As", "At", "Because", "Before", "Behind",
        "Below", "Beside", "Between", "By", "During", "For", "From", "How", "If", "In", "Not", "Of", "On",
        "Only", "Otherwise", "Over", "Since", "So", "That", "Then", "Through", "To", "Under", "Until",
        "What", "When", "Where", "Which", "While", "Who", "Whom", "Whose", "Why", "With", "Within",
        "Without",
    ]

    /// A doc comment and the declaration behind it.
    private struct Comment {
        let line: Int
        let text: String
        let isPublic: Bool

        var isHeadless: Bool { heads.contains(String(self.text.prefix { $0.isLetter })) }
    }

    /// Reads the comments of a file. A case of a public enum is public, and so is what a public protocol or extension contains.
    private static func comments(in file: URL) throws -> [Comment] {
        var comments: [Comment] = []
        var waiting: (line: Int, text: String)?
        var outer: [(indent: Int, isPublic: Bool, isWhole: Bool)] = []
        let lines = try Data(contentsOf: file).split(separator: 10, omittingEmptySubsequences: false)
        for (index, bytes) in lines.enumerated() {
            let indent = bytes.prefix { $0 == 32 }.count
            var code = bytes.dropFirst(indent)
            if code.starts(with: Array("///".utf8)) {
                if waiting == nil {
                    let text = String(decoding: code.dropFirst(3), as: UTF8.self)
                    waiting = (index + 1, text.trimmingCharacters(in: .whitespaces))
                }
                continue
            }
            if waiting != nil { code = Self.withoutAttributes(code) }
            guard !code.isEmpty else { continue }
            while let last = outer.last, last.indent >= indent { outer.removeLast() }
            var words = code.split(separator: 32, maxSplits: 6).map { String(decoding: $0, as: UTF8.self) }
            let isMarked = words.first == "public" || words.first == "open"
            if let (line, text) = waiting {
                let isCase = words.first == "case" || words.prefix(2) == ["indirect", "case"]
                let isInside = outer.last.map { $0.isPublic && (isCase || $0.isWhole) } ?? false
                comments.append(Comment(line: line, text: text, isPublic: isMarked || isInside))
                waiting = nil
            }
            words.removeAll {
                ["public", "open", "package", "private", "fileprivate", "final", "indirect"].contains($0)
            }
            if let kind = words.first,
                ["enum", "struct", "class", "actor", "protocol", "extension"].contains(kind)
            {
                outer.append(
                    (indent, isMarked, isMarked && (kind == "protocol" || kind == "extension")))
            }
        }
        return comments
    }

    /// The part of a line behind its attributes and property wrappers, such as `@Option(help: "…")`; nothing if one goes on in the next line.
    private static func withoutAttributes(_ code: Data) -> Data {
        var rest = code
        while rest.first == UInt8(ascii: "@") {
            rest = rest.drop { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "(") }
            if rest.first == UInt8(ascii: "(") {
                var depth = 0
                rest = rest.drop {
                    if $0 == UInt8(ascii: "(") { depth += 1 }
                    if $0 == UInt8(ascii: ")") { depth -= 1 }
                    return depth > 0
                }
                rest = rest.dropFirst()
            }
            rest = rest.drop { $0 == UInt8(ascii: " ") }
        }
        return rest
    }

    @Test(arguments: swiftModules)
    func `a doc comment begins with its noun`(_ module: String) throws {
        var count = 0
        for file in try sources(of: module) {
            for comment in try Self.comments(in: file) where comment.isHeadless {
                count += 1
                #expect(!comment.isPublic, "\(file.lastPathComponent):\(comment.line): \(comment.text)")
            }
        }
        #expect(count == Self.counts[module] ?? 0)
    }
}
