import CProtobufC
import Testing

@testable import WaymarkCodec

/// Messages of libprotobuf-c in the JSON form, found by their descriptors: no code of the codec is used.
enum WireJSON {
    /// The JSON form of a body, and the bytes that libprotobuf-c writes for it.
    static func read(
        _ body: [UInt8], _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>
    ) throws -> (json: JSON, written: [UInt8]) {
        let message = try #require(protobuf_c_message_unpack(descriptor, nil, body.count, body))
        defer { protobuf_c_message_free_unpacked(message, nil) }
        var written = [UInt8](repeating: 0, count: protobuf_c_message_get_packed_size(message))
        _ = protobuf_c_message_pack(message, &written)
        return (self.object(message), written)
    }

    private static func object(_ message: UnsafeMutablePointer<ProtobufCMessage>) -> JSON {
        var object: [String: JSON] = [:]
        guard let descriptor = message.pointee.descriptor else { return .null }
        for index in 0..<Int(descriptor.pointee.n_fields) {
            let field = descriptor.pointee.fields[index]
            object[String(cString: field.name)] = self.value(of: field, UnsafeRawPointer(message))
        }
        let unknown = (0..<Int(message.pointee.n_unknown_fields)).map { index in
            let field = message.pointee.unknown_fields[index]
            let tag = UInt64(field.tag) << 3 | UInt64(field.wire_type.rawValue)
            var writer = WireWriter()
            writer.varint(tag)
            return writer.bytes + UnsafeBufferPointer(start: field.data, count: field.len)
        }
        if !unknown.isEmpty { object["?"] = .text(Vector.hex(unknown.joined())) }
        return .object(object)
    }

    /// nil where the field is absent.
    private static func value(of field: ProtobufCFieldDescriptor, _ message: UnsafeRawPointer) -> JSON? {
        let place = message + Int(field.offset)
        if field.label == PROTOBUF_C_LABEL_REPEATED {
            let count = message.load(fromByteOffset: Int(field.quantifier_offset), as: Int.self)
            guard count > 0, let start = place.load(as: UnsafeRawPointer?.self) else { return nil }
            let stride = self.byteCount(of: field.type)
            return .list((0..<count).map { self.element(of: field, start + $0 * stride) ?? .null })
        }
        if field.flags & UInt32(PROTOBUF_C_FIELD_FLAG_ONEOF.rawValue) != 0 {
            let chosen = message.load(fromByteOffset: Int(field.quantifier_offset), as: UInt32.self)
            return chosen == field.id ? self.element(of: field, place) : nil
        }
        let value = self.element(of: field, place)
        return [.number(0), .flag(false), .text("")].contains(value) || value == self.zero(field)
            ? nil : value
    }

    /// 64-bit integers are texts.
    private static func zero(_ field: ProtobufCFieldDescriptor) -> JSON? {
        field.type == PROTOBUF_C_TYPE_UINT64 ? .text("0") : nil
    }

    private static func byteCount(of type: ProtobufCType) -> Int {
        switch type {
        case PROTOBUF_C_TYPE_UINT64, PROTOBUF_C_TYPE_DOUBLE, PROTOBUF_C_TYPE_STRING, PROTOBUF_C_TYPE_MESSAGE:
            8
        case PROTOBUF_C_TYPE_BYTES: MemoryLayout<ProtobufCBinaryData>.stride
        default: 4
        }
    }

    /// nil for a message that is absent.
    private static func element(of field: ProtobufCFieldDescriptor, _ place: UnsafeRawPointer) -> JSON? {
        switch field.type {
        case PROTOBUF_C_TYPE_UINT32, PROTOBUF_C_TYPE_ENUM: .number(Double(place.load(as: UInt32.self)))
        case PROTOBUF_C_TYPE_SINT32: .number(Double(place.load(as: Int32.self)))
        case PROTOBUF_C_TYPE_UINT64: .text("\(place.load(as: UInt64.self))")
        case PROTOBUF_C_TYPE_BOOL: .flag(place.load(as: Int32.self) != 0)
        case PROTOBUF_C_TYPE_DOUBLE: .number(place.load(as: Double.self))
        case PROTOBUF_C_TYPE_STRING:
            .text(place.load(as: UnsafePointer<CChar>?.self).map { String(cString: $0) } ?? "")
        case PROTOBUF_C_TYPE_BYTES:
            {
                let data = place.load(as: ProtobufCBinaryData.self)
                return .text(Vector.hex(UnsafeBufferPointer(start: data.data, count: data.len)))
            }()
        default: place.load(as: UnsafeMutablePointer<ProtobufCMessage>?.self).map { self.object($0) }
        }
    }
}
