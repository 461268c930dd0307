import Foundation
import Glibc

/// A text that is searched for many words. Why bytes: in a debug build regular expressions take many seconds for all files.
struct SearchedText {
    /// Ends with a zero, and has no other.
    private let bytes: [CChar]

    init(_ text: String) { self.bytes = Array(text.replacingOccurrences(of: "\0", with: " ").utf8CString) }

    /// Where `words` occur, with neither a letter, a digit nor an underscore before or behind them.
    func places(of words: String) -> [Int] {
        self.bytes.withUnsafeBufferPointer { text in
            guard let begin = text.baseAddress else { return [] }
            var places: [Int] = []
            var rest = begin
            while let found = strstr(rest, words) {
                let place = UnsafePointer(found) - begin
                if place == 0 || !Self.isOfWord(text[place - 1]), !Self.isOfWord(found[words.utf8.count]) {
                    places.append(place)
                }
                rest = UnsafePointer(found + 1)
            }
            return places
        }
    }

    func contains(_ words: String) -> Bool { !self.places(of: words).isEmpty }

    /// At most `count` bytes from a place on.
    func text(from place: Int, _ count: Int) -> String {
        String(
            decoding: self.bytes.dropLast()[place...].prefix(count).map(UInt8.init(bitPattern:)),
            as: UTF8.self)
    }

    private static func isOfWord(_ byte: CChar) -> Bool {
        switch UInt8(bitPattern: byte) {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
