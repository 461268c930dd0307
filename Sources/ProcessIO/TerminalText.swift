/// Makes text from untrusted sources safe to print.
package enum TerminalText {
    /// `text` with a space in place of each control character, so that it cannot control the terminal.
    package static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: self.isControl) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { self.isControl($0) ? " " : $0 }))
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
}
