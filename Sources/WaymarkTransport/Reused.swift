/// A list that is worked off again and again, in the same memory as long as it stays short.
struct Reused<Element> {
    /// Room for more than this is given back.
    private static var keptMax: Int { 256 }

    private var elements: [Element] = []

    var isEmpty: Bool { self.elements.isEmpty }

    mutating func append(_ element: consuming Element) { self.elements.append(element) }

    /// Takes what is there, to be worked off.
    mutating func take() -> [Element] {
        let elements = self.elements
        self.elements = []
        return elements
    }

    /// Takes back the memory of what was worked off, unless there is something new.
    mutating func giveBack(_ elements: consuming [Element]) {
        guard self.elements.isEmpty, elements.capacity <= Self.keptMax else { return }
        if !elements.isEmpty { elements.removeAll(keepingCapacity: true) }
        self.elements = elements
    }
}

extension Array {
    /// Takes out each element, the first one first, and has it used up. Why not a loop: that copies each, and destroys all at its end.
    @inline(__always)
    mutating func drain(_ use: (consuming Element) -> Void) {
        if self.count > 1 { self.reverse() }
        while let element = self.popLast() { use(element) }
    }
}
