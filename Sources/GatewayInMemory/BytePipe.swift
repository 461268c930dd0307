/// One direction of a connection: bytes in order, read in pieces of any size, until it ends.
package struct BytePipe: Sendable {
    private var bytes: [UInt8] = []
    private var offset = 0
    /// The writer has closed, or the connection was cut.
    package private(set) var isEnded = false

    package init() {}

    /// The number of bytes in transit.
    package var count: Int { self.bytes.count - self.offset }
    /// All bytes were read, and no more follow.
    package var isAtEnd: Bool { self.isEnded && self.count == 0 }

    /// Appends bytes; after the end they are lost.
    package mutating func write(_ written: some Collection<UInt8>) {
        guard !self.isEnded else { return }
        self.bytes += written
    }

    /// Removes and returns at most `countMax` bytes.
    package mutating func read(_ countMax: Int) -> [UInt8] {
        let count = min(countMax, self.count)
        let read = Array(self.bytes[self.offset..<self.offset + count])
        self.offset += count
        if self.offset == self.bytes.count {
            self.bytes.removeAll(keepingCapacity: true)
            self.offset = 0
        }
        return read
    }

    /// The writer closes: bytes in transit still arrive.
    package mutating func end() { self.isEnded = true }

    /// The connection breaks: only the first `count` bytes in transit still arrive.
    package mutating func cut(keeping count: Int) {
        self.bytes.removeLast(self.count - min(count, self.count))
        self.isEnded = true
    }
}
