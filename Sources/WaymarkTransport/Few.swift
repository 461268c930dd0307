/// A list that mostly has one element or none: that lies in it, and only further ones take memory elsewhere.
struct Few<Element>: RandomAccessCollection, MutableCollection {
    private var head: Element?
    private var rest: [Element] = []

    init() {}

    var startIndex: Int { 0 }
    var endIndex: Int { self.head == nil ? 0 : 1 + self.rest.count }

    subscript(index: Int) -> Element {
        get {
            guard index == 0, let head = self.head else { return self.rest[index - 1] }
            return head
        }
        set {
            guard index == 0, self.head != nil else { return self.rest[index - 1] = newValue }
            self.head = newValue
        }
    }

    mutating func append(_ element: Element) {
        if self.head == nil { self.head = element } else { self.rest.append(element) }
    }

    /// Takes an element out; the others do not keep their order.
    @discardableResult
    mutating func remove(at index: Int) -> Element {
        guard index == 0, let head = self.head else { return self.rest.remove(at: index - 1) }
        self.head = self.rest.popLast()
        return head
    }
}
