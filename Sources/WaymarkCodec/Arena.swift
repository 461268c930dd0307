internal import CProtobufC
internal import WaymarkProtocol

/// A bump allocator for the C structures of one message at a time.
///
/// Keeps its first chunk between messages, so that a busy connection does not allocate. What it hands
/// out is valid until the next ``reset()``. Everything libprotobuf-c allocates counts against `bytesMax`: two bytes of
/// body can ask for more than a hundred bytes of memory.
@safe final class Arena {
    /// The size of the chunk that is kept between messages.
    private static let firstChunkBytes = 16 * 1_024

    /// Where libprotobuf-c finds it: on its own, as the allocator's context.
    private let state: UnsafeMutablePointer<State>

    /// An empty arena that will not hold more than `bytesMax` bytes, and asks for `firstChunkBytes` at first.
    init(bytesMax: Int, firstChunkBytes: Int = Arena.firstChunkBytes) {
        unsafe self.state = .allocate(capacity: 1)
        unsafe self.state.initialize(to: State(bytesMax: bytesMax, firstChunkBytes: firstChunkBytes))
    }

    deinit {
        unsafe self.state.pointee.free(keeping: 0)
        unsafe self.state.deinitialize(count: 1)
        unsafe self.state.deallocate()
    }

    /// Whether memory was refused since the last reset.
    var isExhausted: Bool { unsafe self.state.pointee.isExhausted }

    /// Takes back everything that was handed out.
    func reset() { unsafe self.state.pointee.free(keeping: 1) }

    /// Overwrites everything that was handed out since the last reset.
    func wipe() { unsafe self.state.pointee.wipe() }

    /// Memory for `byteCount` bytes, not initialised; nil if that is more than is left.
    @inline(__always)
    func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        unsafe self.state.pointee.allocate(byteCount)
    }

    /// Lends the arena to libprotobuf-c as an allocator that never frees.
    func withAllocator<Result>(_ body: (UnsafeMutablePointer<ProtobufCAllocator>) -> Result) -> Result {
        var allocator = unsafe ProtobufCAllocator(
            alloc: { state, size in
                unsafe state?.assumingMemoryBound(to: State.self).pointee.allocate(size)
            },
            free: { _, _ in },
            allocator_data: self.state)
        return withExtendedLifetime(self) {
            unsafe withUnsafeMutablePointer(to: &allocator) { unsafe body($0) }
        }
    }
}

extension Arena {
    @unsafe fileprivate struct State {
        /// Enough for every type that C has.
        private static let alignment = 16

        private let bytesMax: Int
        private let firstChunkBytes: Int
        private var chunks: [UnsafeMutableRawBufferPointer] = unsafe []
        /// What is left of the newest chunk.
        private var next: UnsafeMutableRawPointer?
        private var room = 0
        private var total = 0
        var isExhausted = false

        init(bytesMax: Int, firstChunkBytes: Int) {
            unsafe self.bytesMax = bytesMax
            unsafe self.firstChunkBytes = firstChunkBytes
        }

        mutating func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer? {
            guard byteCount >= 0, unsafe byteCount <= self.bytesMax - self.total else {
                unsafe self.isExhausted = true
                return nil
            }
            let size = unsafe (max(byteCount, 1) + Self.alignment - 1) & ~(Self.alignment - 1)
            unsafe self.total += size
            while unsafe size > self.room { unsafe self.grow(size) }
            let memory = unsafe self.next
            unsafe self.room -= size
            unsafe self.next = unsafe memory.map { unsafe $0 + size }
            return unsafe memory
        }

        /// Adds a chunk. The first one has its usual size in any case: it is the one that is kept.
        private mutating func grow(_ size: Int) {
            let byteCount =
                unsafe self.chunks.last.map { max(size, $0.count * 2) } ?? self.firstChunkBytes
            let chunk = unsafe UnsafeMutableRawBufferPointer.allocate(
                byteCount: byteCount, alignment: Self.alignment)
            unsafe self.chunks.append(chunk)
            unsafe self.next = chunk.baseAddress
            unsafe self.room = chunk.count
        }

        func wipe() {
            unsafe self.chunks.dropLast().forEach { unsafe Wiping.wipe($0) }
            guard let last = unsafe self.chunks.last else { return }
            unsafe Wiping.wipe(UnsafeMutableRawBufferPointer(rebasing: last.dropLast(self.room)))
        }

        /// Frees all chunks but the first `count`, and allocates from the start of the first.
        mutating func free(keeping count: Int) {
            while unsafe self.chunks.count > count { unsafe self.chunks.removeLast().deallocate() }
            unsafe self.next = self.chunks.first?.baseAddress
            unsafe self.room = self.chunks.first?.count ?? 0
            unsafe self.total = 0
            unsafe self.isExhausted = false
        }
    }
}
