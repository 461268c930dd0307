/// An array that is filled and emptied again and again and keeps its memory while it stays short.
///
/// Inlinable, as all generic code here that other modules use on the hot path: otherwise types are looked up at run time. The type must
/// be usable from inlined code as well: without that attribute those of its functions have no effect.
@usableFromInline package struct RecycledArray<Element> {
    @usableFromInline package var elements: [Element] = []

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { self.elements.count == 0 }
    @inlinable package var count: Int { self.elements.count }

    @inlinable package mutating func append(_ element: consuming Element) { self.elements.append(element) }

    /// Removes and returns all elements.
    @inlinable
    package mutating func take() -> [Element] {
        let elements = self.elements
        self.elements = []
        return elements
    }

    /// Keeps the memory of an array that ``take()`` returned, unless there are new elements. A long array gives its memory back.
    @inlinable
    package mutating func recycle(_ elements: consuming [Element]) {
        guard self.elements.count == 0, elements.capacity <= 256 else { return }
        if elements.count > 0 { elements.removeAll(keepingCapacity: true) }
        self.elements = elements
    }
}

extension Array {
    /// Removes the elements in order; `use` consumes each. Why not a loop: it copies each element, and destroys all of them at its
    /// end.
    @inlinable @inline(__always)
    package mutating func drain(_ use: (consuming Element) -> Void) {
        if self.count > 1 { self.turnRound() }
        while let element = self.popLast() { use(element) }
    }

    /// Gives the memory of a peak back: once less than an eighth of it is used, what is left moves to smaller memory. Amortised O(1) for each
    /// element that was removed.
    mutating func shrinkAfterPeak() {
        guard self.capacity > 256, self.count < self.capacity / 8 else { return }
        var smaller: [Element] = []
        smaller.reserveCapacity(self.count * 2)
        smaller += self
        self = smaller
    }

    /// Reverses the array. Why not `reverse()`: it copies and destroys each element.
    @inlinable @inline(__always)
    mutating func turnRound() {
        unsafe self.withUnsafeMutableBufferPointer { elements in
            var (first, last) = (0, elements.count - 1)
            while first < last {
                unsafe elements.swapAt(first, last)
                (first, last) = (first + 1, last - 1)
            }
        }
    }
}
