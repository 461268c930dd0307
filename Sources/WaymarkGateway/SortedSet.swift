/// A set in order. Inserting and removing move at most one chunk, so they cost O(log n) comparisons and a bounded copy.
///
/// Why not one array: with tens of thousands of elements every change would move most of them. Why no tree: chunks are simpler, and
/// as fast at this size.
struct SortedSet<Element: Sendable & Hashable & Comparable>: Sendable {
    private static var chunkCountMax: Int { 256 }

    /// In order, none empty.
    private var chunks: [[Element]] = []
    private(set) var count = 0

    init() {}

    var isEmpty: Bool { self.chunks.isEmpty }
    var first: Element? { self.chunks.first?.first }

    func contains(_ element: Element) -> Bool {
        guard let chunk = self.chunk(of: element) else { return false }
        let index = Self.index(of: element, in: self.chunks[chunk])
        return index < self.chunks[chunk].count && self.chunks[chunk][index] == element
    }

    /// The first element after another, which need not be in the set; the first of all after nil.
    func first(after element: Element?) -> Element? {
        guard let element else { return self.first }
        guard let chunk = self.chunk(of: element) else { return nil }
        var index = Self.index(of: element, in: self.chunks[chunk])
        if index < self.chunks[chunk].count, self.chunks[chunk][index] == element { index += 1 }
        if index < self.chunks[chunk].count { return self.chunks[chunk][index] }
        return chunk + 1 < self.chunks.count ? self.chunks[chunk + 1][0] : nil
    }

    mutating func insert(_ element: Element) {
        guard let chunk = self.chunk(of: element) else {
            self.chunks = [[element]]
            self.count = 1
            return
        }
        let index = Self.index(of: element, in: self.chunks[chunk])
        if index < self.chunks[chunk].count, self.chunks[chunk][index] == element { return }
        self.chunks[chunk].insert(element, at: index)
        self.count += 1
        guard self.chunks[chunk].count > Self.chunkCountMax else { return }
        let half = self.chunks[chunk].count / 2
        self.chunks.insert(Array(self.chunks[chunk][half...]), at: chunk + 1)
        self.chunks[chunk].removeLast(self.chunks[chunk].count - half)
    }

    /// - Returns: Whether the element was in the set.
    @discardableResult
    mutating func remove(_ element: Element) -> Bool {
        guard let chunk = self.chunk(of: element) else { return false }
        let index = Self.index(of: element, in: self.chunks[chunk])
        guard index < self.chunks[chunk].count, self.chunks[chunk][index] == element else { return false }
        self.chunks[chunk].remove(at: index)
        self.count -= 1
        if self.chunks[chunk].isEmpty { self.chunks.remove(at: chunk) }
        return true
    }

    /// The chunk in which an element is or belongs: the last one that does not begin after it. nil if there are no chunks.
    private func chunk(of element: Element) -> Int? {
        guard !self.chunks.isEmpty else { return nil }
        var (low, high) = (0, self.chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if element < self.chunks[middle][0] { high = middle } else { low = middle + 1 }
        }
        return Swift.max(0, low - 1)
    }

    /// The index of the first element that is not less than another.
    private static func index(of element: Element, in chunk: [Element]) -> Int {
        var (low, high) = (0, chunk.count)
        while low < high {
            let middle = (low + high) / 2
            if chunk[middle] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension SortedSet: Sequence {
    func makeIterator() -> FlattenSequence<[[Element]]>.Iterator { self.chunks.joined().makeIterator() }
}

// How they are chunked makes no difference.
extension SortedSet: Hashable {
    static func == (lhs: SortedSet, rhs: SortedSet) -> Bool {
        lhs.count == rhs.count && lhs.elementsEqual(rhs)
    }

    func hash(into hasher: inout Hasher) { for element in self { hasher.combine(element) } }
}

extension SortedSet: Codable where Element: Codable {
    func encode(to encoder: any Encoder) throws { try Array(self).encode(to: encoder) }

    init(from decoder: any Decoder) throws {
        for element in try [Element](from: decoder) { self.insert(element) }
    }
}
