internal import CProtobufC
package import WaymarkProtocol

/// A part of a frame: what it is called, what it says, and where its bytes are.
package struct FrameNode: Sendable, Hashable {
    package enum Value: Sendable, Hashable {
        case number(UInt64)
        case signed(Int64)
        case decimal(Double)
        case flag(Bool)
        case text(String)
    }

    /// The name in the proto; `unknown` for a field that this build does not know.
    package let name: String
    /// The field's; 0 for none.
    package var number = 0
    /// The type in the proto, e.g. `uint32`, `TravelEstimates`.
    package var type = ""
    /// The place in the frame, with its tag and length, if it has them.
    package let range: Range<Int>
    /// The place in the frame without them.
    package var valueRange: Range<Int>
    package var value: Value?
    /// The meaning of the value: the name of an enumeration's value, how many numbers there are.
    package var text = ""
    /// The reason why it is not allowed; empty if it is.
    package var problem = ""
    package var children: [FrameNode] = []

    init(_ name: String, _ range: Range<Int>) {
        self.name = name
        (self.range, self.valueRange) = (range, range)
    }
}

extension Codec {
    /// A whole frame as a tree, also one whose body is not allowed. What is behind `byteCountMax` is left out.
    package static func tree(of frame: Frame, byteCountMax: Int = 65_536) -> [FrameNode] {
        let bytes = Array(frame.bytes)
        var body = FrameNode("body", min(FrameHeader.byteCount, bytes.count)..<bytes.count)
        var problem: Rejection?
        do throws(DecodingError) { _ = try self.decode(frame) } catch {
            if case .rejected(let rejection) = error { problem = rejection }
        }
        if let type = frame.header.type {
            var reader = FrameTreeReader(bytes, byteCountMax)
            body.type = unsafe String(cString: type.descriptor.pointee.short_name)
            body.children = unsafe reader.message(type.descriptor, body.range)
        } else {
            body.text = "of a type that this build does not know"
        }
        if let problem {
            let path = problem.field.split(separator: ".").map(String.init)
            if !body.mark(path[...], problem.reason) { body.problem = problem.reason }
        }
        return [self.header(of: frame), body]
    }

    private static func header(of frame: Frame) -> FrameNode {
        let header = frame.header
        func part(_ name: String, _ range: Range<Int>, _ value: UInt64, _ text: String = "") -> FrameNode {
            var node = FrameNode(name, range)
            node.type = "uint\((range.upperBound - range.lowerBound) * 8)"
            (node.value, node.text) = (.number(value), text)
            return node
        }
        var node = FrameNode("header", 0..<min(FrameHeader.byteCount, frame.bytes.count))
        node.children = [
            part("magic", 0..<2, UInt64(FrameHeader.magic), "WM"),
            part("version", 2..<3, UInt64(FrameHeader.majorVersion)),
            part("flags", 3..<4, UInt64(header.flags.number), header.flags.names),
            part("type", 4..<6, UInt64(header.rawType), header.type.map { "\($0)" } ?? "not known"),
            part("key", 6..<8, UInt64(header.key)),
            part("body_length", 8..<12, UInt64(header.frameByteCount - FrameHeader.byteCount)),
            part("session_id", 12..<16, UInt64(header.session.rawValue)),
            part("sequence", 16..<24, header.sequence),
        ]
        return node
    }
}

extension FrameHeader.Flags {
    fileprivate var number: UInt8 {
        let all: [(FrameHeader.Flags, UInt8)] = [
            (.skippable, 1), (.gateway, 2), (.fitted, 4), (.state, 8), (.retained, 16), (.more, 32),
        ]
        return all.reduce(0) { self.contains($1.0) ? $0 | $1.1 : $0 }
    }

    fileprivate var names: String {
        let all: [(FrameHeader.Flags, String)] = [
            (.skippable, "skippable"), (.gateway, "gateway"), (.fitted, "fitted"), (.state, "state"),
            (.retained, "retained"), (.more, "more"),
        ]
        return all.filter { self.contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}

extension FrameNode {
    /// Marks the node at a path such as `route`, `maneuvers[3]`, `type`. Returns whether there is one.
    fileprivate mutating func mark(_ path: ArraySlice<String>, _ problem: String) -> Bool {
        guard let first = path.first else {
            self.problem = problem
            return true
        }
        let parts = first.split(separator: "[")
        let place = parts.count > 1 ? Int(parts[1].dropLast()) ?? 0 : 0
        let indices = self.children.indices.filter { self.children[$0].name == parts.first.map(String.init) }
        guard place < indices.count else { return false }
        return self.children[indices[place]].mark(path.dropFirst(), problem)
    }
}

/// Reads bytes that may be anything. Recursion follows the schema, which is not recursive.
@safe private struct FrameTreeReader {
    private static let nodesMax = 20_000
    private static let numbersShown = 32

    private let bytes: [UInt8]
    private let end: Int
    private var nodeCount = 0

    init(_ bytes: [UInt8], _ byteCountMax: Int) {
        self.bytes = bytes
        self.end = min(bytes.count, byteCountMax)
    }

    mutating func message(
        _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>, _ range: Range<Int>
    ) -> [FrameNode] {
        var nodes: [FrameNode] = []
        var offset = range.lowerBound
        while offset < range.upperBound, offset < self.end, self.nodeCount < Self.nodesMax {
            self.nodeCount += 1
            let start = offset
            guard let tag = self.varint(&offset, range.upperBound), tag >> 3 > 0, tag >> 3 < 1 << 29,
                let content = self.content(Int(tag & 7), &offset, range.upperBound)
            else {
                var node = FrameNode("malformed", start..<range.upperBound)
                node.problem = "is no field"
                return nodes + [node]
            }
            nodes.append(unsafe self.field(descriptor, Int(tag >> 3), Int(tag & 7), start..<offset, content))
        }
        return nodes
    }

    private mutating func field(
        _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>, _ number: Int, _ wireType: Int,
        _ range: Range<Int>, _ content: Range<Int>
    ) -> FrameNode {
        let index = unsafe (0..<Int(descriptor.pointee.n_fields)).first {
            Int(unsafe descriptor.pointee.fields[$0].id) == number
        }
        guard let index else {
            var node = FrameNode("unknown", range)
            (node.number, node.valueRange) = (number, content)
            node.type = ["varint", "fixed64", "bytes", "", "", "fixed32"][min(wireType, 5)]
            return node
        }
        let field = unsafe descriptor.pointee.fields[index]
        var node = unsafe FrameNode(String(cString: field.name), range)
        (node.number, node.valueRange) = (number, content)
        let isNumber = [0, 5].contains(wireType) || wireType == 1
        switch unsafe field.type {
        case PROTOBUF_C_TYPE_MESSAGE where wireType == 2:
            guard let below = unsafe field.descriptor else { break }
            let message = unsafe below.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)
            node.type = unsafe String(cString: message.pointee.short_name)
            node.children = unsafe self.message(message, content)
        case PROTOBUF_C_TYPE_STRING where wireType == 2:
            node.type = "string"
            node.value = .text(String(decoding: self.bytes[content], as: UTF8.self))
        case PROTOBUF_C_TYPE_BYTES where wireType == 2:
            node.type = "bytes"
            node.text = "\(content.count) bytes"
        case PROTOBUF_C_TYPE_DOUBLE where wireType == 1:
            node.type = "double"
            let raw = self.bytes[content].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            node.value = .decimal(Double(bitPattern: raw))
        case let type where isNumber || wireType == 2:
            unsafe self.numbers(field, type, wireType, content, &node)
        default: node.problem = "has the wrong wire type"
        }
        return node
    }

    private func numbers(
        _ field: ProtobufCFieldDescriptor, _ type: ProtobufCType, _ wireType: Int, _ content: Range<Int>,
        _ node: inout FrameNode
    ) {
        switch type {
        case PROTOBUF_C_TYPE_SINT32: node.type = "sint32"
        case PROTOBUF_C_TYPE_BOOL: node.type = "bool"
        case PROTOBUF_C_TYPE_UINT64: node.type = "uint64"
        case PROTOBUF_C_TYPE_ENUM: node.type = unsafe Self.enumeration(field).name
        default: node.type = "uint32"
        }
        var offset = content.lowerBound
        var texts: [String] = []
        var count = 0
        while offset < content.upperBound, let raw = self.varint(&offset, content.upperBound) {
            count += 1
            guard count <= Self.numbersShown else { continue }
            let value: FrameNode.Value =
                switch type {
                case PROTOBUF_C_TYPE_SINT32: .signed(Int64(raw >> 1) ^ -Int64(raw & 1))
                case PROTOBUF_C_TYPE_BOOL: .flag(raw != 0)
                default: .number(raw)
                }
            if wireType == 0 {
                node.value = value
                if type == PROTOBUF_C_TYPE_ENUM { node.text = unsafe Self.enumeration(field).text(raw) }
            }
            texts.append("\(raw)")
            if case .signed(let number) = value { texts[texts.count - 1] = "\(number)" }
        }
        guard wireType == 2 else { return }
        node.text = "\(count) numbers: " + texts.joined(separator: ", ") + (count > texts.count ? ", …" : "")
    }

    private static func enumeration(
        _ field: ProtobufCFieldDescriptor
    ) -> (name: String, text: (UInt64) -> String) {
        guard let below = unsafe field.descriptor else { return ("enum", { _ in "" }) }
        let descriptor = unsafe below.assumingMemoryBound(to: ProtobufCEnumDescriptor.self)
        return unsafe (
            String(cString: descriptor.pointee.short_name),
            { raw in
                let index = unsafe (0..<Int(descriptor.pointee.n_values)).first {
                    Int64(unsafe descriptor.pointee.values[$0].value) == Int64(bitPattern: raw)
                }
                return index.map { unsafe String(cString: descriptor.pointee.values[$0].name) } ?? "not known"
            }
        )
    }

    // MARK: Bytes

    /// What is behind a tag; nil if it is not whole.
    private func content(_ wireType: Int, _ offset: inout Int, _ end: Int) -> Range<Int>? {
        let start = offset
        switch wireType {
        case 0: guard self.varint(&offset, end) != nil else { return nil }
        case 1: offset += 8
        case 5: offset += 4
        case 2:
            guard let length = self.varint(&offset, end), length <= UInt64(end - offset) else { return nil }
            let content = offset..<offset + Int(length)
            offset = content.upperBound
            return content
        default: return nil
        }
        return offset <= end ? start..<offset : nil
    }

    private func varint(_ offset: inout Int, _ end: Int) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 70, by: 7) {
            guard offset < end else { return nil }
            let byte = self.bytes[offset]
            offset += 1
            value |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return value }
        }
        return nil
    }
}
