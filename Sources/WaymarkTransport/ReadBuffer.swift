internal import NIOCore
internal import WaymarkProtocol

/// The read buffer that all connections of one event loop share.
///
/// They are read one at a time, so one buffer is enough: a channel borrows it for one read, and its connection returns it when the
/// bytes are processed. By default NIO keeps one buffer per channel.
final class ReadBuffer {
    /// The maximum of one read.
    static let byteCount = 65_536

    private var spare: ByteBuffer?

    /// An empty buffer.
    func lend() -> ByteBuffer {
        guard var buffer = self.spare else { return ByteBufferAllocator().buffer(capacity: Self.byteCount) }
        self.spare = nil
        // Allocates new storage if a slice of the old one is still referenced.
        buffer.clear()
        return buffer
    }

    /// Returns a borrowed buffer. A buffer of another size is ignored.
    func takeBack(_ buffer: ByteBuffer) {
        if buffer.storageCapacity == Self.byteCount { self.spare = buffer }
    }
}

/// Makes a channel read into the ``ReadBuffer`` of its loop. Only for channels with `maxMessagesPerRead` 1.
struct LoopReadAllocator: RecvByteBufferAllocator {
    /// NIO keeps a channel's first buffer for the channel's lifetime without using it again, so it is small: room for a Pong.
    private static let firstByteCount = 32

    private let shard: NIOLoopBoundBox<LoopShard>
    private var hasRead = false

    init(_ shard: NIOLoopBoundBox<LoopShard>) { self.shard = shard }

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        self.hasRead ? self.shard.value.readBuffer.lend() : allocator.buffer(capacity: Self.firstByteCount)
    }

    // Why nil here and true below: the channel then requests a buffer for each read, and keeps none but the first.
    func nextBufferSize() -> Int? { nil }

    mutating func record(actualReadBytes: Int) -> Bool {
        self.hasRead = true
        return true
    }
}

extension ByteBuffer {
    /// Overwrites what was read, in place: the channel may share the buffer, but does not read it again.
    func wipe() {
        unsafe self.withUnsafeReadableBytes {
            unsafe Wiping.wipe(UnsafeMutableRawBufferPointer(mutating: $0))
        }
    }
}

extension Channel {
    /// Sets the options of a connection's channel before the first read. Call it on the channel's loop, which is that of `shard`.
    func prepare(for shard: NIOLoopBoundBox<LoopShard>) throws {
        guard let options = self.syncOptions else { return }
        try options.setOption(.writeBufferWaterMark, value: Listener.waterMark)
        try options.setOption(.maxMessagesPerRead, value: 1)
        try options.setOption(.recvAllocator, value: LoopReadAllocator(shard))
    }
}
