/// An array that usually has one element or none: the first is stored inline, only further ones on the heap.
struct SmallArray<Element>: RandomAccessCollection, MutableCollection {
    private var rest: [Element] = []
    // Why behind the others: what follows an array in memory begins where its first element ends.
    private var first: Element?

    init() {}

    var isEmpty: Bool { self.first == nil }
    var startIndex: Int { 0 }
    var endIndex: Int { self.first == nil ? 0 : 1 + self.rest.count }

    subscript(index: Int) -> Element {
        get {
            guard index == 0, let first = self.first else { return self.rest[index - 1] }
            return first
        }
        set {
            guard index == 0, self.first != nil else { return self.rest[index - 1] = newValue }
            self.first = newValue
        }
    }

    mutating func append(_ element: Element) {
        if self.first == nil { self.first = element } else { self.rest.append(element) }
    }

    /// Removes an element; the others do not keep their order.
    @discardableResult
    mutating func remove(at index: Int) -> Element {
        guard index == 0, let first = self.first else { return self.rest.remove(at: index - 1) }
        self.first = self.rest.popLast()
        return first
    }
}

extension SmallArray: Sendable where Element: Sendable {}
extension SmallArray: Equatable where Element: Equatable {}
extension SmallArray: Hashable where Element: Hashable {}
