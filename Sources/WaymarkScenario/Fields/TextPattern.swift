/// A regular expression: letters, `.`, `[a-z]`, `[^a-z]`, `\d \w \s` and escaped signs, `( | )`, `(?<name> )`, `* + ?`, `^` and `$`.
///
/// Why not `Regex`: it is no `Sendable` value, and a pattern can keep it busy for ever. This one takes time in proportion to the text times
/// the pattern.
package struct TextPattern: Sendable, Hashable {
    private indirect enum Node {
        case letter(Letters)
        case begin, end
        case sequence([Node])
        case either([Node])
        case repeated(Node, atLeast: Int, isOnce: Bool)
        /// A group with a name, by its number.
        case group(Node, Int)
    }

    /// A set of scalars.
    private struct Letters: Sendable, Hashable {
        var ranges: [ClosedRange<UInt32>] = []
        var isInverted = false

        func contains(_ scalar: Unicode.Scalar) -> Bool {
            self.ranges.contains { $0.contains(scalar.value) } != self.isInverted
        }

        static let digits = Letters(ranges: [0x30...0x39])
        static let words = Letters(ranges: [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
        static let spaces = Letters(ranges: [0x09...0x0D, 0x20...0x20])
        static let any = Letters(ranges: [0x0A...0x0A], isInverted: true)

        var inverted: Letters { Letters(ranges: self.ranges, isInverted: !self.isInverted) }
    }

    private enum Instruction: Sendable, Hashable {
        case letter(Letters)
        case begin, end
        case split(Int, Int)
        case jump(Int)
        /// The begin of a named group, or its end: two places for each.
        case save(Int)
        case found
    }

    private var program: [Instruction] = []
    /// The names of groups, at most 16, in the order of the pattern.
    package private(set) var groups: [String] = []

    /// Reads a pattern of at most 512 letters.
    package init(_ pattern: String) throws(FieldError) {
        var parser = Parser(rest: Array(pattern.unicodeScalars)[...])
        guard parser.rest.count <= 512 else {
            throw FieldError("a regular expression has at most 512 letters")
        }
        let node = try parser.either(depth: 0)
        guard parser.rest.isEmpty else { throw FieldError("~\(pattern): ) without (") }
        self.groups = parser.groups
        self.add(node)
        self.program.append(.found)
    }

    private mutating func add(_ node: Node) {
        switch node {
        case .letter(let letters): self.program.append(.letter(letters))
        case .begin: self.program.append(.begin)
        case .end: self.program.append(.end)
        case .sequence(let nodes): for node in nodes { self.add(node) }
        case .either(let nodes): self.add(either: nodes[...])
        case .group(let node, let number):
            self.program.append(.save(2 * number))
            self.add(node)
            self.program.append(.save(2 * number + 1))
        case .repeated(let node, let atLeast, let isOnce):
            if atLeast == 1 {
                let begin = self.program.count
                self.add(node)
                self.program.append(.split(begin, self.program.count + 1))
                return
            }
            let split = self.program.count
            self.program.append(.split(0, 0))
            self.add(node)
            if !isOnce { self.program.append(.jump(split)) }
            self.program[split] = .split(split + 1, self.program.count)
        }
    }

    private mutating func add(either nodes: ArraySlice<Node>) {
        guard let first = nodes.first else { return }
        guard nodes.count > 1 else { return self.add(first) }
        let split = self.program.count
        self.program.append(.split(0, 0))
        self.add(first)
        let jump = self.program.count
        self.program.append(.jump(0))
        self.program[split] = .split(split + 1, self.program.count)
        self.add(either: nodes.dropFirst())
        self.program[jump] = .jump(self.program.count)
    }

    /// Whether a part of the text matches.
    package func isFound(in text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        var threads: Set<Int> = []
        for position in 0...scalars.count {
            var open = Array(threads) + [0]
            var reached: Set<Int> = []
            while let at = open.popLast() {
                guard reached.insert(at).inserted else { continue }
                switch self.program[at] {
                case .found: return true
                case .jump(let target): open.append(target)
                case .save: open.append(at + 1)
                case .split(let first, let second): open += [first, second]
                case .begin: if position == 0 { open.append(at + 1) }
                case .end: if position == scalars.count { open.append(at + 1) }
                case .letter: break
                }
            }
            guard position < scalars.count else { return false }
            threads = []
            for at in reached {
                if case .letter(let letters) = self.program[at], letters.contains(scalars[position]) {
                    threads.insert(at + 1)
                }
            }
        }
        return false
    }

    /// The texts of the named groups in the first part that matches, the longest that `*` and `+` find; nil if no part matches. A group that
    /// takes no part in the match has none. Takes time in proportion to the text times the pattern.
    package func values(in text: String) -> [String: String]? {
        guard !self.groups.isEmpty else { return self.isFound(in: text) ? [:] : nil }
        let scalars = Array(text.unicodeScalars)
        var found: [Int]?
        // Threads are in the order of preference. Each has the places of its groups.
        var threads: [(at: Int, places: [Int])] = []
        for position in 0...scalars.count {
            if found == nil { threads.append((0, Array(repeating: -1, count: 2 * self.groups.count))) }
            var reached: Set<Int> = []
            var next: [(at: Int, places: [Int])] = []
            search: for thread in threads {
                var open = [thread]
                while let last = open.popLast() {
                    let at = last.at
                    var places = last.places
                    guard reached.insert(at).inserted else { continue }
                    switch self.program[at] {
                    case .found:
                        found = places
                        break search
                    case .jump(let target): open.append((target, places))
                    case .split(let first, let second): open += [(second, places), (first, places)]
                    case .save(let place):
                        places[place] = position
                        open.append((at + 1, places))
                    case .begin: if position == 0 { open.append((at + 1, places)) }
                    case .end: if position == scalars.count { open.append((at + 1, places)) }
                    case .letter(let letters):
                        if position < scalars.count, letters.contains(scalars[position]) {
                            next.append((at + 1, places))
                        }
                    }
                }
            }
            threads = next
            if threads.isEmpty, found != nil { break }
        }
        return found.map { places in
            var values: [String: String] = [:]
            for (number, name) in self.groups.enumerated() where places[2 * number + 1] >= 0 {
                var value = String.UnicodeScalarView()
                value.append(contentsOf: scalars[places[2 * number]..<places[2 * number + 1]])
                values[name] = String(value)
            }
            return values
        }
    }

    private struct Parser {
        var rest: ArraySlice<Unicode.Scalar>
        var groups: [String] = []

        init(rest: ArraySlice<Unicode.Scalar>) { self.rest = rest }

        /// Reads `?<name>` behind a parenthesis.
        private mutating func group() throws(FieldError) -> Int {
            guard self.rest.starts(with: "?<".unicodeScalars), let end = self.rest.firstIndex(of: ">") else {
                throw FieldError("a regular expression can have (?<name> ), and no other (?")
            }
            var view = String.UnicodeScalarView()
            view.append(contentsOf: self.rest[self.rest.startIndex + 2..<end])
            let name = String(view)
            guard (1...32).contains(name.utf8.count), name.utf8.first.map({ $0 > 0x39 }) ?? false,
                view.allSatisfy(Letters.words.contains), !self.groups.contains(name), self.groups.count < 16
            else {
                throw FieldError(
                    "\(name): a regular expression has at most 16 groups, with different names of letters and digits"
                )
            }
            self.groups.append(name)
            self.rest = self.rest[(end + 1)...]
            return self.groups.count - 1
        }

        mutating func either(depth: Int) throws(FieldError) -> Node {
            guard depth < 16 else { throw FieldError("a regular expression has at most 16 levels of ( )") }
            var nodes = [try self.sequence(depth)]
            while self.rest.first == "|" {
                self.rest.removeFirst()
                nodes.append(try self.sequence(depth))
            }
            return .either(nodes)
        }

        private mutating func sequence(_ depth: Int) throws(FieldError) -> Node {
            var nodes: [Node] = []
            while let next = self.rest.first, next != "|", next != ")" {
                let node = try self.single(depth)
                switch self.rest.first {
                case "*": nodes.append(.repeated(node, atLeast: 0, isOnce: false))
                case "+": nodes.append(.repeated(node, atLeast: 1, isOnce: false))
                case "?": nodes.append(.repeated(node, atLeast: 0, isOnce: true))
                default:
                    nodes.append(node)
                    continue
                }
                self.rest.removeFirst()
            }
            return .sequence(nodes)
        }

        private mutating func single(_ depth: Int) throws(FieldError) -> Node {
            let next = self.rest.removeFirst()
            switch next {
            case "^": return .begin
            case "$": return .end
            case ".": return .letter(.any)
            case "\\": return .letter(try self.escaped())
            case "[": return .letter(try self.letters())
            case "(":
                let number = self.rest.first == "?" ? try self.group() : nil
                let node = try self.either(depth: depth + 1)
                guard self.rest.popFirst() == ")" else {
                    throw FieldError("( without ) in a regular expression")
                }
                return number.map { .group(node, $0) } ?? node
            case "*", "+", "?", "{":
                throw FieldError(
                    "\(next) in a regular expression is not supported here; write \\\(next) for the sign")
            default: return .letter(Letters(ranges: [next.value...next.value]))
            }
        }

        private mutating func escaped() throws(FieldError) -> Letters {
            switch self.rest.popFirst() {
            case "d": return .digits
            case "D": return Letters.digits.inverted
            case "w": return .words
            case "W": return Letters.words.inverted
            case "s": return .spaces
            case "S": return Letters.spaces.inverted
            case let sign? where !sign.properties.isAlphabetic && sign.properties.numericType == nil:
                return Letters(ranges: [sign.value...sign.value])
            case let sign:
                throw FieldError("\\\(sign.map(String.init) ?? "") in a regular expression is not known")
            }
        }

        private mutating func letters() throws(FieldError) -> Letters {
            var letters = Letters()
            if self.rest.first == "^" {
                self.rest.removeFirst()
                letters.isInverted = true
            }
            while let next = self.rest.popFirst() {
                if next == "]", !letters.ranges.isEmpty { return letters }
                if next == "\\" {
                    let escaped = try self.escaped()
                    guard !escaped.isInverted else { throw FieldError("\\D, \\W and \\S cannot be in [ ]") }
                    letters.ranges += escaped.ranges
                } else if self.rest.first == "-", let last = self.rest.dropFirst().first, last != "]" {
                    guard next <= last else {
                        throw FieldError("\(next)-\(last) in a regular expression is empty")
                    }
                    letters.ranges.append(next.value...last.value)
                    self.rest.removeFirst(2)
                } else {
                    letters.ranges.append(next.value...next.value)
                }
            }
            throw FieldError("[ without ] in a regular expression")
        }
    }
}
