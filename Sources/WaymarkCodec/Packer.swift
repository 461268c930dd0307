internal import CProtobufC
internal import CWaymarkWire
internal import Glibc
internal import WaymarkModel
internal import WaymarkProtocol

/// Builds one C message and packs it. Owns all memory that the message refers to.
@safe struct Packer: ~Copyable {
    private var allocations: [UnsafeMutableRawPointer] = unsafe []

    /// The body of `message`.
    static func pack(_ message: Message) -> [UInt8] {
        var packer = Packer()
        guard let wire = unsafe packer.message(message) else { return [] }
        let size = unsafe protobuf_c_message_get_packed_size(wire)
        return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            if let start = buffer.baseAddress { count = unsafe protobuf_c_message_pack(wire, start) }
        }
    }

    deinit { for index in unsafe self.allocations.indices { unsafe free(self.allocations[index]) } }

    /// Zeroed memory for `count` values.
    private mutating func allocate<Value>(_ type: Value.Type, _ count: Int) -> UnsafeMutablePointer<Value> {
        guard let memory = unsafe calloc(max(count, 1), MemoryLayout<Value>.stride) else {
            preconditionFailure("out of memory")
        }
        unsafe self.allocations.append(memory)
        return unsafe memory.bindMemory(to: Value.self, capacity: count)
    }

    /// A new C message, as its generated initializer makes it.
    mutating func make<Wire>(_ initialize: (UnsafeMutablePointer<Wire>) -> Void) -> Pointer<Wire> {
        let pointer = unsafe self.allocate(Wire.self, 1)
        unsafe initialize(pointer)
        return unsafe pointer
    }

    mutating func text(_ string: String) -> Text {
        let bytes = string.utf8
        let pointer = unsafe self.allocate(CChar.self, bytes.count + 1)
        for (index, byte) in bytes.enumerated() { unsafe pointer[index] = CChar(bitPattern: byte) }
        return unsafe pointer
    }

    mutating func texts(_ strings: [String]) -> UnsafeMutablePointer<Text?> {
        let pointer = unsafe self.allocate(Text?.self, strings.count)
        for (index, string) in strings.enumerated() { unsafe pointer[index] = self.text(string) }
        return unsafe pointer
    }

    mutating func numbers<Number: BitwiseCopyable>(_ numbers: [Number]) -> UnsafeMutablePointer<Number> {
        let pointer = unsafe self.allocate(Number.self, numbers.count)
        for (index, number) in numbers.enumerated() { unsafe pointer[index] = number }
        return unsafe pointer
    }

    mutating func list<Model, Wire>(
        _ models: [Model], _ build: (inout Packer, Model) -> Pointer<Wire>
    ) -> Pointers<Wire> {
        let pointer = unsafe self.allocate(Pointer<Wire>?.self, models.count)
        for (index, model) in models.enumerated() { unsafe pointer[index] = build(&self, model) }
        return unsafe pointer
    }

    mutating func optional<Model, Wire>(
        _ model: Model?, _ build: (inout Packer, Model) -> Pointer<Wire>
    ) -> Pointer<Wire>? {
        guard let model else { return nil }
        return unsafe build(&self, model)
    }

    mutating func bytes(_ bytes: [UInt8]) -> ProtobufCBinaryData {
        unsafe ProtobufCBinaryData(len: bytes.count, data: self.numbers(bytes))
    }
}
