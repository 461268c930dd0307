package import Yams

/// Composes the YAML of settings and scenarios, within bounds. Anchors, aliases and keys that are there twice are errors.
package struct StrictYAML {
    private static let levelsMax = 16

    private let file: String
    private let what: String
    private let valuesMax: Int
    private var count = 0

    /// Composes a text of at most `mebibytes` MiB, with at most 100 000 values per MiB. `what` names its kind in errors. Returns nil if the
    /// text is empty.
    package static func compose(
        _ text: String, file: String, what: String, mebibytes: Int = 1
    ) throws(ConfigurationError) -> Node? {
        // A byte order mark is no part of the text.
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        guard text.utf8.count <= mebibytes << 20 else {
            throw ConfigurationError(
                location: SourceLocation(file: file, line: 1, column: 1),
                reason: "\(what) has at most \(mebibytes) MiB")
        }
        do {
            // A parser of our own, because nodes refer to their anchors weakly, and it keeps these.
            let parser = try Yams.Parser(yaml: text)
            defer { withExtendedLifetime(parser) {} }
            guard let root = try parser.singleRoot() else { return nil }
            var yaml = StrictYAML(file: file, what: what, valuesMax: mebibytes * 100_000)
            try yaml.check(root, level: 1)
            return root
        } catch let error as YamlError {
            throw ConfigurationError(error, in: text, file: file)
        } catch {
            throw error as? ConfigurationError
                ?? ConfigurationError(location: SourceLocation(nil, file: file), reason: "\(error)")
        }
    }

    /// Checks a node and what it contains. The first anchor is an error, so aliases are not followed.
    private mutating func check(_ node: Node, level: Int) throws(ConfigurationError) {
        self.count += 1
        guard node.anchor == nil else {
            throw self.error(node, "anchors and aliases are not allowed: \(self.what) has no templates")
        }
        guard level <= Self.levelsMax, self.count <= self.valuesMax else {
            throw self.error(
                node, "\(self.what) has at most \(Self.levelsMax) levels and \(self.valuesMax) values")
        }
        switch node {
        case .scalar, .alias: break
        case .sequence(let elements):
            for element in elements { try self.check(element, level: level + 1) }
        case .mapping(let pairs):
            var lines: [String: Int] = [:]
            for (key, value) in pairs {
                try self.check(key, level: level + 1)
                // Yams compares keys with their types, by which 1 and "1" differ.
                if let text = key.scalar?.string,
                    let first = lines.updateValue(key.mark?.line ?? 0, forKey: text)
                {
                    throw self.error(key, "the key \(text) is there twice; first in line \(first)")
                }
                try self.check(value, level: level + 1)
            }
        }
    }

    private func error(_ node: Node, _ reason: String) -> ConfigurationError {
        ConfigurationError(location: SourceLocation(node.mark, file: self.file), reason: reason)
    }
}

extension SourceLocation {
    /// The location of a mark; without one it is the whole file.
    package init(_ mark: Mark?, file: String) {
        self.init(file: file, line: mark?.line ?? 0, column: mark?.column ?? 0)
    }
}

extension ConfigurationError {
    /// An error of Yams, in the words of this reader.
    fileprivate init(_ error: YamlError, in text: String, file: String) {
        switch error {
        case .scanner(_, _, let mark, _) where Self.isTab(at: mark, in: text):
            let reason = "a tab cannot indent a line: use spaces"
            self.init(location: SourceLocation(mark, file: file), reason: reason)
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            guard let context, context.mark.line < mark.line,
                context.text.contains("flow") || context.text.contains("quoted")
            else {
                self.init(location: SourceLocation(mark, file: file), reason: problem)
                return
            }
            // The cause is where it began; that something else is found in a later line follows from it.
            self.init(
                location: SourceLocation(context.mark, file: file),
                reason: "what begins here does not end: \(problem) (line \(mark.line), column \(mark.column))"
            )
        case .duplicatedKeysInMapping(let keys, let context):
            let key = keys.first ?? ""
            let places = Self.places(of: key, from: context.mark, in: text)
            let first = places.first.map { "; first in line \($0.line)" } ?? ""
            self.init(
                location: places.count > 1
                    ? SourceLocation(file: file, line: places[1].line, column: places[1].column)
                    : SourceLocation(context.mark, file: file),
                reason: "the key \(key) is there twice\(first)")
        case .reader(let problem, let offset, _, _):
            let line = text.utf8.prefix(offset ?? 0).count { $0 == UInt8(ascii: "\n") } + 1
            self.init(location: SourceLocation(file: file, line: line, column: 1), reason: problem)
        case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
            self.init(location: SourceLocation(nil, file: file), reason: "\(error)")
        }
    }

    /// Whether the character at a mark is a tab.
    private static func isTab(at mark: Mark, in text: String) -> Bool {
        let lines = text.split(separator: "\n", maxSplits: mark.line, omittingEmptySubsequences: false)
        guard lines.indices.contains(mark.line - 1) else { return false }
        return lines[mark.line - 1].dropFirst(mark.column - 1).first == "\t"
    }

    /// The first two places where a key stands at the indentation of a mapping that begins at a mark. None in a mapping within brackets.
    private static func places(of key: String, from mark: Mark, in text: String) -> [(line: Int, column: Int)]
    {
        var found: [(line: Int, column: Int)] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where index + 1 >= mark.line && found.count < 2 {
            let rest = line.dropFirst(mark.column - 1)
            guard line.prefix(mark.column - 1).allSatisfy({ $0 == " " || $0 == "-" }), rest.hasPrefix(key),
                rest.dropFirst(key.count).drop(while: { $0 == " " }).first == ":"
            else { continue }
            found.append((index + 1, mark.column))
        }
        return found
    }
}
