import Foundation
import Testing

/// Words and phrases that stand for a term of the field and make a reader guess. CONTRIBUTING.md has the rule behind them.
private let riddles =
    ["whoever", "somebody", "nobody", "everybody", "anybody", "is there once", "held against", "that which"]
    + ["work", "works", "worked", "working"].map { "\($0) off" }
    + ["let", "lets", "letting"].map { "\($0) go of" }
    + ["go", "goes", "went", "gone", "going"].map { "\($0) on with" }

/// The folders and files that must contain none of them.
private let plainPlaces = [
    "Sources", "Tests", "Docs", "systemd", "scripts", ".ci", "Package.swift", "README.md", "CONTRIBUTING.md",
    "CHANGELOG.md",
]

/// Exact texts in which such a word is right, by file.
private let allowed: [(file: String, text: String)] = [
    // The name of a system user.
    ("systemd/waymarkd.service", "user id by that of \"nobody\""),
    ("Docs/operations.md", "user id by that of `nobody`"),
    // A message to a human.
    ("Sources/WaymarkClient/Sessions/Inquiry.swift", "nobody answered in time"),
    ("Tests/WaymarkCommandLineTests/NavigateTests.swift", "nobody answered in time"),
    // The rule itself.
    ("CONTRIBUTING.md", "`whoever`, `somebody`, `nobody`"),
]

/// What begins the lines of comments.
private let marks = ["///", "//", "/**", "/*", "#", "*"]

@Suite struct PlainWordsTests {
    @Test(arguments: plainPlaces)
    func `texts contain no riddles`(_ place: String) throws {
        for path in try Self.files(in: place) {
            var text = Self.joined(
                String(decoding: try Data(contentsOf: packageRoot.appending(path: path)), as: UTF8.self))
            for exception in allowed where exception.file == path {
                text = text.replacingOccurrences(of: exception.text, with: "")
            }
            let searched = SearchedText(text.lowercased())
            for riddle in riddles {
                for place in searched.places(of: riddle) {
                    Issue.record("\(path): \(searched.text(from: place, 60))")
                }
            }
        }
    }

    @Test func `every exception is still needed`() throws {
        for exception in allowed {
            let text = try String(
                contentsOf: packageRoot.appending(path: exception.file), encoding: .utf8)
            #expect(Self.joined(text).contains(exception.text), "\(exception.file)")
        }
    }

    /// The text with its lines joined, without the marks of comments, so that a phrase is found across a line break.
    private static func joined(_ text: String) -> String {
        text.components(separatedBy: "\n").map { line in
            let line = line.trimmingCharacters(in: .whitespaces)
            let mark = marks.first { line.hasPrefix($0) } ?? ""
            return line.dropFirst(mark.count).trimmingCharacters(in: .whitespaces)
        }.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The text files of a folder, or the file itself. Generated code, measurements and this file are left out.
    private static func files(in place: String) throws -> [String] {
        let url = packageRoot.appending(path: place)
        var isFolder: ObjCBool = false
        try #require(FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), "\(place)")
        guard isFolder.boolValue else { return [place] }
        let kinds: Set = [
            "", "8", "c", "catalog", "conf", "css", "h", "html", "js", "md", "proto", "py", "service", "sh",
            "socket", "swift", "txt", "yaml",
        ]
        let paths = try FileManager.default.subpathsOfDirectory(atPath: url.path).map { "\(place)/\($0)" }
        return paths.filter { path in
            let url = packageRoot.appending(path: path)
            let folder = try? url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory
            return folder == false && kinds.contains(url.pathExtension) && !path.contains("/Corpus/")
                && !path.contains("CWaymarkWire") && !path.contains("/Fixtures/")
                && !path.contains("__pycache__") && url.lastPathComponent != "PlainWordsTests.swift"
                && !["Docs/examples/cluster", "Docs/examples/navigate"].contains(path)
        }
    }
}
