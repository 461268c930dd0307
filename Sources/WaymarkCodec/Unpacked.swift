internal import CProtobufC
internal import CWaymarkWire
internal import Glibc
internal import WaymarkProtocol

/// Owns one message unpacked by libprotobuf-c and frees it exactly once.
@safe struct Unpacked: ~Copyable {
    /// Heap that unpacking may take for each byte of the body: an empty sub-message of 2 bytes takes its C structure and
    /// a pointer to it, our largest ones about 200 bytes.
    private static let bytesPerByteMax = 128

    private let message: UnsafeMutablePointer<ProtobufCMessage>

    /// Checks and unpacks `body`, spending a bounded amount of heap.
    init(_ body: ArraySlice<UInt8>, as descriptor: UnsafePointer<ProtobufCMessageDescriptor>)
        throws(Rejection)
    {
        unsafe self.message = try unsafe Self.unpack(body, descriptor)
    }

    deinit { unsafe protobuf_c_message_free_unpacked(self.message, nil) }

    /// Lends the message; no pointer inside it may leave `body`.
    borrowing func read<Wire, Result>(
        as wire: Wire.Type, _ body: (Wire) throws(Rejection) -> Result
    ) throws(Rejection) -> Result {
        let pointer = unsafe UnsafeRawPointer(self.message).assumingMemoryBound(to: wire)
        return try unsafe body(pointer.pointee)
    }

    private static func unpack(
        _ body: ArraySlice<UInt8>, _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>
    ) throws(Rejection) -> UnsafeMutablePointer<ProtobufCMessage> {
        var remaining = 4_096 + body.count * Self.bytesPerByteMax
        // Why a Result: `withUnsafeBytes` of a slice does not pass on a typed error.
        let result: Result<UnsafeMutablePointer<ProtobufCMessage>?, Rejection> = unsafe body.withUnsafeBytes {
            bytes in
            do throws(Rejection) { try unsafe WireCheck.check(bytes, descriptor) } catch {
                return unsafe .failure(error)
            }
            return unsafe .success(Self.unpackChecked(bytes, descriptor, &remaining))
        }
        guard let message = try unsafe result.get() else {
            if remaining < 0 {
                throw Rejection(.limitReached, reason: "needs too much memory for its \(body.count) bytes")
            }
            throw Rejection(.malformed, reason: "is not the message that its type says")
        }
        return unsafe message
    }

    private static func unpackChecked(
        _ bytes: UnsafeRawBufferPointer, _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>,
        _ remaining: inout Int
    ) -> UnsafeMutablePointer<ProtobufCMessage>? {
        unsafe withUnsafeMutablePointer(to: &remaining) { remaining in
            var allocator = unsafe ProtobufCAllocator(
                alloc: { context, size in
                    guard let remaining = unsafe context?.assumingMemoryBound(to: Int.self) else {
                        return nil
                    }
                    unsafe remaining.pointee -= size
                    return unsafe remaining.pointee < 0 ? nil : malloc(size)
                },
                free: { _, pointer in unsafe free(pointer) },
                allocator_data: remaining)
            return unsafe protobuf_c_message_unpack(
                descriptor, &allocator, bytes.count, bytes.bindMemory(to: UInt8.self).baseAddress)
        }
    }
}
