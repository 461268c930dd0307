import Glibc

/// A queue of bytes in manually managed memory.
///
/// Its owner must call ``release()``: the queue is stored in plain memory without reference counts.
struct ByteQueue {
    private var base: UnsafeMutableRawPointer?
    private var start = 0
    private var end = 0
    private var capacity = 0

    var count: Int { self.end - self.start }
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: self.base.map { UnsafeRawPointer($0 + self.start) }, count: self.count)
    }

    /// Appends `count` bytes that `write` fills in.
    mutating func append(_ count: Int, _ write: (UnsafeMutableRawPointer) -> Void) {
        write(self.reserve(count))
        self.end += count
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        self.append(bytes.count) { $0.copyMemory(from: source, byteCount: bytes.count) }
    }

    mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { self.append($0) } }

    mutating func removeFirst(_ count: Int) {
        self.start += count
        if self.start == self.end { self.removeAll() }
    }

    mutating func removeAll() { (self.start, self.end) = (0, 0) }

    mutating func release() {
        free(self.base)
        self = ByteQueue()
    }

    private mutating func reserve(_ count: Int) -> UnsafeMutableRawPointer {
        if let base = self.base, self.capacity - self.end >= count { return base + self.end }
        var capacity = max(self.capacity, 256)
        while capacity < self.count + count { capacity *= 2 }
        guard let base = malloc(capacity) else { preconditionFailure("out of memory") }
        if let old = self.base { base.copyMemory(from: old + self.start, byteCount: self.count) }
        free(self.base)
        (self.base, self.start, self.end, self.capacity) = (base, 0, self.count, capacity)
        return base + self.end
    }
}
