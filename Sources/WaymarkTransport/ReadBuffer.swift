internal import NIOCore

/// The buffer that the connections of one event loop are read into.
///
/// They are read one at a time, so that one buffer does for all: a channel is lent it for one read, and its connection gives it back
/// when it has taken what was read. NIO's own way is a buffer for each channel.
final class ReadBuffer {
    /// The most that is read at once.
    static let byteCount = 65_536

    private var spare: ByteBuffer?

    /// An empty buffer.
    func lend() -> ByteBuffer {
        guard var buffer = self.spare else { return ByteBufferAllocator().buffer(capacity: Self.byteCount) }
        self.spare = nil
        // Cheap if nobody kept a part of it, else a new one.
        buffer.clear()
        return buffer
    }

    /// Takes back a buffer that was lent. One of another kind is left alone.
    func takeBack(_ buffer: ByteBuffer) {
        if buffer.storageCapacity == Self.byteCount { self.spare = buffer }
    }
}

/// Has a channel read into the ``ReadBuffer`` of its loop. For channels that read once at a time.
struct LoopReadAllocator: RecvByteBufferAllocator {
    /// A channel keeps its first buffer for good and never uses it again. A Pong has room in it.
    private static let firstByteCount = 32

    private let shard: NIOLoopBoundBox<LoopShard>
    private var hasRead = false

    init(_ shard: NIOLoopBoundBox<LoopShard>) { self.shard = shard }

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        self.hasRead ? self.shard.value.readBuffer.lend() : allocator.buffer(capacity: Self.firstByteCount)
    }

    // Why nil, and true below: then the channel asks for a buffer for each read, and keeps none but the first.
    func nextBufferSize() -> Int? { nil }

    mutating func record(actualReadBytes: Int) -> Bool {
        self.hasRead = true
        return true
    }
}

extension Channel {
    /// Sets up the channel of a connection, before it is read. On its loop, that of `shard`.
    func prepare(for shard: NIOLoopBoundBox<LoopShard>) throws {
        guard let options = self.syncOptions else { return }
        try options.setOption(.writeBufferWaterMark, value: Listener.waterMark)
        try options.setOption(.maxMessagesPerRead, value: 1)
        try options.setOption(.recvAllocator, value: LoopReadAllocator(shard))
    }
}
