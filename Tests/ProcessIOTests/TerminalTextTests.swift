import ProcessIO
import Testing

@Suite struct TerminalTextTests {
    @Test func `control characters are replaced by spaces`() {
        #expect(TerminalText.printable("a\u{1B}[2Jb\u{9B}c\u{202E}d\u{7F}") == "a [2Jb c d ")
        #expect(TerminalText.printable("Vaduz, Städtle → 東京") == "Vaduz, Städtle → 東京")
        #expect(TerminalText.printableLines("a\u{1B}\nb\r") == "a \nb ")
    }

    @Test
    func
        `a name that is written from right to left is isolated, so that numbers beside it stay where they are`()
    {
        #expect(
            TerminalText.printable("in 300 m: Turn right onto شارع الوحدة 21 (600 m, 1 min to go)")
                == "in 300 m: Turn right onto \u{2067}شارع الوحدة\u{2069} 21 (600 m, 1 min to go)")
        #expect(
            TerminalText.printable("via רחוב 500 צפון, שדרות (A 20)")
                == "via \u{2067}רחוב 500 צפון\u{2069}, \u{2067}שדרות\u{2069} (A 20)")
        #expect(TerminalText.printable("كَ") == "\u{2067}كَ\u{2069}", "marks stay at their letter")
    }

    @Test func `a line that was made printable stays the same when it is made printable again`() {
        for line in ["שלום (1)", "a\u{2067}b", "\u{202E}abc שלום\u{2066} x", "می\u{200C}خواهم 5"] {
            let once = TerminalText.printable(line)
            #expect(TerminalText.printable(once) == once)
        }
    }

    @Test func `joiners stay between letters and emoji, and nowhere else`() {
        #expect(
            TerminalText.printable("👨\u{200D}👩\u{200D}👧 ❤\u{FE0F}\u{200D}🔥")
                == "👨\u{200D}👩\u{200D}👧 ❤\u{FE0F}\u{200D}🔥")
        #expect(TerminalText.printable("می\u{200C}خواهم") == "\u{2067}می\u{200C}خواهم\u{2069}")
        #expect(TerminalText.printable("क्\u{200D}ष") == "क्\u{200D}ष")
        #expect(TerminalText.printable("a\u{200D}b \u{200C}") == "a b  ")
        #expect(TerminalText.printable("\u{200D}👧\u{200D}") == " 👧 ")
    }

    @Test func `isolates take no column, and every line that is cut or wrapped closes its own`() {
        let line = TerminalText.printable("12 שלום עולם 34")
        #expect(TerminalText.columns(of: line) == 15)
        for columns in 0...15 {
            let cut = TerminalText.clipped(line, columns: columns)
            #expect(TerminalText.columns(of: cut) == columns && Self.isClosed(cut))
        }
        let wrapped = TerminalText.wrapped("12 שלום עולם 34 ועוד מילה", columns: 10)
        #expect(wrapped.count > 2)
        for line in wrapped {
            #expect(TerminalText.columns(of: line) <= 10 && Self.isClosed(line), "\(wrapped)")
        }
    }

    private static func isClosed(_ text: String) -> Bool {
        let begins = text.unicodeScalars.count { $0 == "\u{2067}" }
        return begins == text.unicodeScalars.count { $0 == "\u{2069}" }
    }

    @Test func `error texts of the system begin in lower case`() {
        #expect(SystemError.reason(13) == "permission denied")
        #expect(SystemError.reason(28) == "no space left on device")
        #expect(SystemError.reason(0x7FFF).hasPrefix("unknown error"))
    }
}
