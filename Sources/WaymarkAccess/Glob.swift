/// A pattern for ids: `*` stands for any number of characters, `?` for one.
package struct Glob: Sendable, Hashable, CustomStringConvertible {
    /// The longest pattern, in bytes.
    package static let bytesMax = 128

    fileprivate let pattern: [UInt8]

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

/// A list of patterns. Those without `*` and `?` are looked up, not tried one by one: a fleet may be a list of a thousand ids.
package struct GlobList: Sendable, Hashable {
    /// All patterns, in the operator's order.
    package let globs: [Glob]
    private let ids: Set<[UInt8]>
    private let patterns: [Glob]

    package init(_ globs: [Glob]) {
        func isPattern(_ glob: Glob) -> Bool {
            glob.pattern.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
        }
        self.globs = globs
        self.ids = Set(globs.filter { !isPattern($0) }.map(\.pattern))
        self.patterns = globs.filter(isPattern)
    }

    /// Whether one of the patterns matches.
    func matches(_ id: [UInt8]) -> Bool {
        self.ids.contains(id) || self.patterns.contains { $0.matches(id) }
    }
}

extension Optional<GlobList> {
    /// Whether one of the patterns matches, or there is no list.
    func matches(_ id: [UInt8]) -> Bool { self?.matches(id) ?? true }
}
