internal import Glibc
internal import WaymarkProtocol

/// Writes the frame of a short message field by field, in the order of their numbers, as libprotobuf-c would.
///
/// For the few messages that are written most. Through the C structures they would take several times as long.
struct FrameWriter {
    private var header: FrameHeader
    private var bytes: [UInt8] = []

    /// Begins with a header; the body will have about `bodyByteCount` bytes.
    init(_ header: FrameHeader, bodyByteCount: Int) {
        self.header = header
        self.bytes.reserveCapacity(FrameHeader.byteCount + bodyByteCount)
        header.write(to: &self.bytes)
    }

    /// Writes a number; 0 is left out, as proto3 does.
    mutating func number(_ field: Int, _ value: UInt64) {
        guard value != 0 else { return }
        self.varint(UInt64(field) << 3)
        self.varint(value)
    }

    /// Writes a number that is in a oneof, also 0.
    mutating func present(_ field: Int, _ value: UInt64) {
        self.varint(UInt64(field) << 3)
        self.varint(value)
    }

    /// Writes a text up to its first NUL; an empty text is left out, as proto3 does.
    mutating func text(_ field: Int, _ text: String) {
        unsafe text.utf8.span.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            let count = unsafe strnlen(start, bytes.count)
            guard count > 0 else { return }
            self.varint(UInt64(field) << 3 | 2)
            self.varint(UInt64(count))
            unsafe self.bytes.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
        }
    }

    /// Writes bytes; none are left out, as proto3 does.
    mutating func bytes(_ field: Int, _ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty else { return }
        self.varint(UInt64(field) << 3 | 2)
        self.varint(UInt64(bytes.count))
        self.bytes.append(contentsOf: bytes)
    }

    /// Appends fields that were encoded before.
    mutating func fields(_ bytes: ArraySlice<UInt8>) { self.bytes.append(contentsOf: bytes) }

    @inline(__always)
    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest > 0x7F {
            self.bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// The frame.
    mutating func frame() -> Frame {
        self.header.setBodyLength(in: &self.bytes)
        return Frame(header: self.header, bytes: self.bytes[...])
    }
}
