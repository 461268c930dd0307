import ProcessIO
import Testing

@Suite struct TerminalTextTests {
    @Test func `control characters are replaced by spaces`() {
        #expect(TerminalText.printable("a\u{1B}[2Jb\u{9B}c\u{202E}d\u{7F}") == "a [2Jb c d ")
        #expect(TerminalText.printable("Vaduz, Städtle → 東京") == "Vaduz, Städtle → 東京")
        #expect(TerminalText.printableLines("a\u{1B}\nb\r") == "a \nb ")
    }

    @Test func `error texts of the system begin in lower case`() {
        #expect(SystemError.reason(13) == "permission denied")
        #expect(SystemError.reason(28) == "no space left on device")
        #expect(SystemError.reason(0x7FFF).hasPrefix("unknown error"))
    }
}
