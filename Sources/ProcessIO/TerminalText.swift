/// Makes text from untrusted sources safe to print.
package enum TerminalText {
    /// `text` with a space in place of each control character, so that it cannot control the terminal, and with every part isolated that
    /// is written from right to left, so that it does not change the order of what is beside it.
    ///
    /// Joiners stay where they join: between letters, and between emoji.
    package static func printable(_ text: String) -> String { WritingDirection.isolated(self.cleaned(text)) }

    /// `text` with a space in place of each control character. Isolates are left out: ``printable(_:)`` adds its own.
    private static func cleaned(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: self.isControl) else { return text }
        let scalars = Array(text.unicodeScalars)
        var cleaned = String.UnicodeScalarView()
        for (index, scalar) in scalars.enumerated() {
            if WritingDirection.isIsolate(scalar) { continue }
            let isJoiner = scalar == "\u{200C}" || scalar == "\u{200D}"
            let joins =
                isJoiner && index > 0 && index + 1 < scalars.count && self.isJoinable(scalars[index - 1])
                && self.isJoinable(scalars[index + 1])
            cleaned.append(self.isControl(scalar) && !joins ? " " : scalar)
        }
        return String(cleaned)
    }

    /// Whether a joiner beside this character changes how it is written.
    private static func isJoinable(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.isASCII else { return false }
        switch scalar.properties.generalCategory {
        case .otherLetter, .modifierLetter, .lowercaseLetter, .uppercaseLetter, .nonspacingMark,
            .spacingMark, .enclosingMark:
            return true
        default: return scalar.properties.isEmoji || scalar.properties.isEmojiModifier
        }
    }

    /// The same for several lines; line breaks are kept.
    package static func printableLines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { self.printable(String($0)) }
            .joined(separator: "\n")
    }

    /// Whether a terminal may interpret this character as a command.
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        // Most text is ASCII.
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return true
        default: return false
        }
    }

    /// The beginning of `text` that fits into `columns`; wide characters take two. Isolates are closed.
    package static func clipped(_ text: String, columns: Int) -> String {
        var used = 0
        return WritingDirection.closed(
            String(
                text.prefix { character in
                    used += self.columns(of: character)
                    return used <= columns
                }))
    }

    /// `text` if it fits into `columns`, else its beginning and "…".
    package static func fitted(_ text: String, columns: Int) -> String {
        guard self.clipped(text, columns: columns).count < text.count else { return text }
        return columns < 1 ? "" : self.clipped(text, columns: columns - 1) + "…"
    }

    /// Breaks `text` into lines of at most `columns`, at spaces where there are any.
    ///
    /// - Parameters:
    ///   - text: Control characters are left out.
    ///   - columns: The width of a line; wide characters take two.
    ///   - hanging: The number of spaces that each line after the first begins with.
    /// - Returns: At least one line.
    package static func wrapped(_ text: String, columns: Int, hanging: Int = 2) -> [String] {
        var lines: [String] = []
        // The lines are isolated one by one: an isolate does not reach into the next line.
        var rest = Substring(self.cleaned(text))
        var room = columns
        repeat {
            var line = rest.prefix(self.clipped(String(rest), columns: room).count)
            if line.count < rest.count {
                // Why: a single word that is longer than the line is broken anywhere.
                if rest[line.endIndex] != " ", let space = line.lastIndex(of: " "),
                    line[..<space].contains(where: { $0 != " " })
                {
                    line = line[..<space]
                } else if line.isEmpty {
                    line = rest.prefix(1)
                }
            }
            rest = rest[line.endIndex...].drop { $0 == " " }
            while line.last == " " { line.removeLast() }
            lines.append(
                (lines.isEmpty ? "" : String(repeating: " ", count: hanging))
                    + WritingDirection.isolated(String(line)))
            room = columns - hanging
        } while !rest.isEmpty
        return lines
    }

    /// How many columns `text` takes.
    package static func columns(of text: String) -> Int { text.reduce(0) { $0 + self.columns(of: $1) } }

    /// East Asian wide characters and emoji take two columns.
    private static func columns(of character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first, !WritingDirection.isIsolate(scalar) else {
            return 0
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
