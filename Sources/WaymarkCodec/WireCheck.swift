internal import CProtobufC
internal import CWaymarkWire
internal import WaymarkProtocol

/// Looks at a body before libprotobuf-c does, which has no limit on depth and does not look at text.
///
/// Driven by the generated descriptors; allocates nothing unless it refuses.
struct WireCheck {
    /// Messages within messages. The deepest of the protocol is 5.
    static let depthMax = 8

    /// Checks that `bytes` are well-formed fields of `descriptor`: lengths inside, wire types that fit, numbers that fit
    /// their fields, text in UTF-8 without NUL, bounded depth.
    static func check(
        _ bytes: UnsafeRawBufferPointer, _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>,
        depth: Int = 0
    ) throws(Rejection) {
        guard depth < Self.depthMax else {
            throw Rejection(.malformed, reason: "messages are nested more than \(Self.depthMax) deep")
        }
        var cursor = unsafe Cursor(bytes: bytes)
        while !cursor.isAtEnd {
            let tag = try cursor.varint()
            let number = tag >> 3
            guard number >= 1, number <= 0x1FFF_FFFF else {
                throw Rejection(.malformed, reason: "\(number) is not a field number")
            }
            let field = unsafe protobuf_c_message_descriptor_get_field(descriptor, UInt32(number))
            guard let field = unsafe field else {
                try cursor.skip(wireType: tag & 7)
                continue
            }
            try unsafe Self.checkField(field.pointee, wireType: tag & 7, &cursor, depth)
        }
    }

    private static func checkField(
        _ field: ProtobufCFieldDescriptor, wireType: UInt64, _ cursor: inout Cursor, _ depth: Int
    ) throws(Rejection) {
        do throws(Rejection) {
            let isPackable = unsafe field.label == PROTOBUF_C_LABEL_REPEATED && field.wireType != 2
            switch (wireType, unsafe field.wireType) {
            case (0, 0): try unsafe field.checkNumber(cursor.varint())
            case (1, 1), (5, 5): try cursor.skip(wireType: wireType)
            case (2, 2):
                let content = try unsafe cursor.bytes()
                switch unsafe field.type {
                case PROTOBUF_C_TYPE_STRING: try unsafe Self.checkText(content)
                case PROTOBUF_C_TYPE_MESSAGE:
                    let inner = unsafe field.descriptor.assumingMemoryBound(
                        to: ProtobufCMessageDescriptor.self)
                    try unsafe Self.check(content, inner, depth: depth + 1)
                default: break  // Bytes: anything goes.
                }
            case (2, 0) where isPackable:
                var packed = try unsafe Cursor(bytes: cursor.bytes())
                while !packed.isAtEnd { try unsafe field.checkNumber(packed.varint()) }
            default: throw Rejection(.malformed, reason: "has wire type \(wireType)")
            }
        } catch {
            var error = error
            let name = unsafe String(cString: field.name)
            error.field = error.field.isEmpty ? name : "\(name).\(error.field)"
            throw error
        }
    }

    private static func checkText(_ bytes: UnsafeRawBufferPointer) throws(Rejection) {
        guard unsafe !bytes.contains(0) else { throw Rejection(.invalidText, reason: "has a NUL in it") }
        guard unsafe String(validating: bytes, as: UTF8.self) != nil else {
            throw Rejection(.invalidText, reason: "is not UTF-8")
        }
    }
}

/// A place in a body.
@safe private struct Cursor {
    private let content: UnsafeRawBufferPointer
    private var offset = 0

    init(bytes: UnsafeRawBufferPointer) { unsafe self.content = bytes }

    var isAtEnd: Bool { unsafe self.offset == self.content.count }

    mutating func varint() throws(Rejection) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard unsafe self.offset < self.content.count else {
                throw Rejection(.malformed, reason: "ends within a number")
            }
            let byte = unsafe UInt64(self.content[self.offset])
            self.offset += 1
            if shift == 63, byte > 1 { break }
            value |= (byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw Rejection(.malformed, reason: "has a number of more than 64 bits")
    }

    mutating func bytes() throws(Rejection) -> UnsafeRawBufferPointer {
        let length = try self.varint()
        let start = self.offset
        try self.advance(length)
        return unsafe UnsafeRawBufferPointer(rebasing: self.content[start..<self.offset])
    }

    mutating func skip(wireType: UInt64) throws(Rejection) {
        switch wireType {
        case 0: _ = try self.varint()
        case 1: try self.advance(8)
        case 2: try self.advance(self.varint())
        case 5: try self.advance(4)
        default: throw Rejection(.malformed, reason: "has a field of wire type \(wireType)")
        }
    }

    private mutating func advance(_ length: UInt64) throws(Rejection) {
        guard unsafe length <= UInt64(self.content.count - self.offset) else {
            throw Rejection(.malformed, reason: "ends within a field of \(length) bytes")
        }
        self.offset += Int(length)
    }
}

extension ProtobufCFieldDescriptor {
    /// The wire type in which a single value of the field is written.
    fileprivate var wireType: UInt64 {
        switch unsafe self.type {
        case PROTOBUF_C_TYPE_STRING, PROTOBUF_C_TYPE_BYTES, PROTOBUF_C_TYPE_MESSAGE: 2
        case PROTOBUF_C_TYPE_DOUBLE, PROTOBUF_C_TYPE_FIXED64, PROTOBUF_C_TYPE_SFIXED64: 1
        case PROTOBUF_C_TYPE_FLOAT, PROTOBUF_C_TYPE_FIXED32, PROTOBUF_C_TYPE_SFIXED32: 5
        default: 0
        }
    }

    /// libprotobuf-c cuts numbers to 32 bits without a word.
    fileprivate func checkNumber(_ value: UInt64) throws(Rejection) {
        let fits =
            switch unsafe self.type {
            case PROTOBUF_C_TYPE_UINT32, PROTOBUF_C_TYPE_SINT32: value <= UInt64(UInt32.max)
            // A negative enumeration value is written with 64 bits; none of ours is negative.
            case PROTOBUF_C_TYPE_ENUM: value <= UInt64(Int32.max)
            case PROTOBUF_C_TYPE_BOOL: value <= 1
            default: true
            }
        guard fits else { throw Rejection(.outOfRange, reason: "\(value) does not fit the field") }
    }
}
