internal import Foundation
internal import ProcessIO
internal import Synchronization

/// Where lines go.
enum Terminal {
    /// Whether standard output is a terminal that may be drawn on.
    static var isInteractive: Bool {
        isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Whether standard error is a terminal.
    static var isErrorInteractive: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes a line at once, also into a pipe. Does not return if that fails.
    static func line(_ text: String) { self.write(text + "\n") }

    /// For people, beside the output. Write errors are ignored, except EPIPE, which ends the program.
    static func note(_ text: String) { self.notes(self.printable(text)) }

    /// The same for several lines, at once.
    static func notes(_ text: String) {
        do throws(WriteError) {
            try StandardStream.error.write(TerminalText.printableLines(text) + "\n")
        } catch {
            if error == .readerGone { Ending.afterFailedOutput(error) }
        }
    }

    /// Writes text as it is. Does not return if that fails.
    static func write(_ text: String) {
        do throws(WriteError) { try StandardStream.output.write(text) } catch {
            Ending.afterFailedOutput(error)
        }
    }

    // MARK: Text from others

    /// `text` without characters that would steer the terminal.
    static func printable(_ text: String) -> String { TerminalText.printable(text) }

    /// Whether a character is no text, but something that a terminal may obey.
    static func steers(_ scalar: Unicode.Scalar) -> Bool { TerminalText.isControl(scalar) }

    /// The beginning of `text` that fits into `columns`; wide characters take two.
    static func clipped(_ text: String, columns: Int) -> String {
        TerminalText.clipped(text, columns: columns)
    }

    /// `text` if it fits into `columns`, else its beginning and "…".
    static func fitted(_ text: String, columns: Int) -> String { TerminalText.fitted(text, columns: columns) }

    /// Breaks `text` into lines of at most `columns`; see ``TerminalText/wrapped(_:columns:hanging:)``.
    static func wrapped(_ text: String, columns: Int, hanging: Int = 2) -> [String] {
        TerminalText.wrapped(text, columns: columns, hanging: hanging)
    }

    // MARK: Drawing

    /// Begins drawing on a screen of its own.
    static func beginDrawing() {
        let step = Ending.include {
            do throws(WriteError) { try StandardStream.output.write(self.drawingEnd) } catch {
                // The terminal has gone.
            }
        }
        self.ending.withLock { $0 = step }
        self.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J")
    }

    private static let drawingEnd = "\u{1B}[?25h\u{1B}[?1049l"
    /// The step that gives the screen back at an immediate exit; nil while nothing is drawn.
    private static let ending = Mutex<Int?>(nil)

    /// Gives the screen back as it was.
    static func endDrawing() {
        self.write(self.drawingEnd)
        let step = self.ending.withLock { $0.take() }
        if let step { Ending.leaveOut(step) }
    }

    /// Draws a screen in place of what was there, cut to the size of the terminal.
    static func draw(_ lines: [String]) {
        let (columns, rows) = self.size
        let shown = lines.prefix(rows).map { self.fitted(self.printable($0), columns: columns) + "\u{1B}[K" }
        self.write("\u{1B}[H" + shown.joined(separator: "\r\n") + "\u{1B}[J")
    }

    /// Columns and rows; 80 and 24 where they are not known.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}

/// Single keys, without waiting for a line.
struct Keyboard {
    enum Key: Sendable, Hashable { case character(Character), enter, backspace, escape }

    /// Ends when standard input does.
    let keys: AsyncStream<Key>
    private let before: termios
    /// The step that restores the terminal at an immediate exit.
    private let ending: Int

    /// Takes over standard input; nil if it is no terminal. Ctrl-C still interrupts.
    init?() {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        let before = settings
        self.before = before
        self.ending = Ending.include { Self.set(before) }
        settings.c_lflag &= ~UInt32(ICANON | ECHO)
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        let (keys, continuation) = AsyncStream.makeStream(
            of: Key.self, bufferingPolicy: .bufferingOldest(256))
        FileHandle.standardInput.readabilityHandler = { input in
            let data = input.availableData
            guard !data.isEmpty else { return continuation.finish() }
            for key in Self.keys(String(decoding: data, as: UTF8.self)) { continuation.yield(key) }
        }
        self.keys = keys
    }

    /// Gives standard input back as it was.
    func restore() {
        FileHandle.standardInput.readabilityHandler = nil
        Ending.leaveOut(self.ending)
        Self.set(self.before)
    }

    private static func set(_ settings: termios) {
        var settings = settings
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    /// What was typed; the sequences of arrow keys and the like are nothing.
    static func keys(_ text: String) -> [Key] {
        guard !text.hasPrefix("\u{1B}[") else { return [] }
        return text.map { character in
            switch character {
            case "\r", "\n", "\r\n": .enter
            case "\u{7F}", "\u{8}": .backspace
            case "\u{1B}": .escape
            default: .character(character)
            }
        }
    }
}
