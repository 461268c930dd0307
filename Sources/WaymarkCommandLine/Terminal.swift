internal import Foundation

/// Where lines go.
enum Terminal {
    /// Whether standard output is a terminal that may be drawn on.
    static var isInteractive: Bool {
        isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Writes a line at once, also into a pipe.
    static func line(_ text: String) { self.write(text + "\n") }

    /// Draws a screen in place of what was there.
    static func draw(_ lines: [String]) {
        self.write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
    }

    static func clear() { self.write("\u{1B}[2J\u{1B}[H") }

    /// For people, beside the output.
    static func note(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

    private static func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}
