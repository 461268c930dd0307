/// A pattern for ids: `*` stands for any number of characters, `?` for one.
package struct Glob: Sendable, Hashable, CustomStringConvertible {
    /// The longest pattern, in bytes.
    package static let bytesMax = 128

    private let pattern: [UInt8]

    /// nil if the text is empty or too long, or has characters that no id has, apart from `*` and `?`.
    package init?(_ text: String) {
        let isAllowed = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "?"):
                true
            default: false
            }
        }
        guard isAllowed, (1...Self.bytesMax).contains(text.utf8.count) else { return nil }
        self.pattern = Array(text.utf8)
    }

    package var description: String { String(decoding: self.pattern, as: UTF8.self) }

    /// Whether the whole id matches.
    ///
    /// - Complexity: O(n · m) for an id of n bytes and a pattern of m bytes: only the last `*` is ever tried again.
    func matches(_ id: [UInt8]) -> Bool {
        var (position, next) = (0, 0)
        var star: (position: Int, next: Int)?
        while position < id.count {
            if next < self.pattern.count, self.pattern[next] == UInt8(ascii: "*") {
                star = (position, next)
                next += 1
            } else if next < self.pattern.count,
                self.pattern[next] == UInt8(ascii: "?") || self.pattern[next] == id[position]
            {
                position += 1
                next += 1
            } else if let last = star {
                star = (last.position + 1, last.next)
                position = last.position + 1
                next = last.next + 1
            } else {
                return false
            }
        }
        return self.pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}

extension Optional<[Glob]> {
    /// Whether one of the patterns matches, or there is no list.
    func matches(_ id: [UInt8]) -> Bool {
        guard let globs = self else { return true }
        return globs.contains { $0.matches(id) }
    }
}
