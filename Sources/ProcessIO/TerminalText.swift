/// Text that is shown to people, wherever it came from.
package enum TerminalText {
    /// `text` without characters that would steer the terminal: what came from elsewhere is only ever shown.
    package static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: self.steers) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { self.steers($0) ? " " : $0 }))
    }

    /// The same for several lines.
    package static func printableLines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { self.printable(String($0)) }
            .joined(separator: "\n")
    }

    /// Whether a character is no text, but something that a terminal may obey.
    package static func steers(_ scalar: Unicode.Scalar) -> Bool {
        // Most text is ASCII.
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return true
        default: return false
        }
    }
}
