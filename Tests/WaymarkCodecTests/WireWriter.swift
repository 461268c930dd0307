import WaymarkProtocol

/// Writes protobuf by hand: what the encoder never would.
struct WireWriter {
    var bytes: [UInt8] = []

    static func body(_ write: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        write(&writer)
        return writer.bytes
    }

    mutating func varint(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            self.bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        self.bytes.append(UInt8(value))
    }

    mutating func tag(_ field: Int, _ wireType: UInt64) { self.varint(UInt64(field) << 3 | wireType) }

    mutating func number(_ field: Int, _ value: UInt64) {
        self.tag(field, 0)
        self.varint(value)
    }

    mutating func signed(_ field: Int, _ value: Int64) { self.number(field, Self.zigzag(value)) }

    mutating func bytes(_ field: Int, _ value: [UInt8]) {
        self.tag(field, 2)
        self.varint(UInt64(value.count))
        self.bytes += value
    }

    mutating func text(_ field: Int, _ value: String) { self.bytes(field, Array(value.utf8)) }

    mutating func message(_ field: Int, _ write: (inout WireWriter) -> Void) {
        self.bytes(field, Self.body(write))
    }

    mutating func packed(_ field: Int, _ values: [UInt64]) {
        self.message(field) { inner in
            for value in values { inner.varint(value) }
        }
    }

    static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1 ^ value >> 63) }
}

extension Frame {
    init(_ type: MessageType, body: [UInt8]) {
        self.init(header: FrameHeader(type: type.rawValue), body: body)
    }
}
