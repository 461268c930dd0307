internal import CProtobufC
internal import WaymarkProtocol

// Helpers to fill and to read the generated C structures. Pointers are valid until their arena is reset; none leaves the module.

/// The C structure of some message.
@unsafe struct AnyWire {
    let base: UnsafeMutablePointer<ProtobufCMessage>

    /// As the structure that it is known to be.
    func message<Wire>(as type: Wire.Type = Wire.self) -> UnsafeMutablePointer<Wire> {
        unsafe UnsafeMutableRawPointer(self.base).assumingMemoryBound(to: Wire.self)
    }
}

extension Arena {
    /// The C structure of a frame's whole body.
    func body<Wire>(
        _ initialize: (UnsafeMutablePointer<Wire>?) -> Void,
        _ fill: (UnsafeMutablePointer<Wire>) -> Void = { _ in }
    ) -> AnyWire {
        let wire = unsafe UnsafeMutableRawPointer(self.make(initialize, fill))
        return unsafe AnyWire(base: wire.assumingMemoryBound(to: ProtobufCMessage.self))
    }

    /// A C structure, initialised by its generated function and then filled.
    func make<Wire>(
        _ initialize: (UnsafeMutablePointer<Wire>?) -> Void, _ fill: (UnsafeMutablePointer<Wire>) -> Void
    ) -> UnsafeMutablePointer<Wire> {
        let wire = unsafe self.take(Wire.self, count: 1)
        unsafe initialize(wire)
        unsafe fill(wire)
        return unsafe wire
    }

    /// A counted list, as repeated fields are.
    func list<Element, Item>(
        _ elements: [Element], _ item: (Element) -> Item
    ) -> (count: Int, items: UnsafeMutablePointer<Item>?) {
        guard !elements.isEmpty else { return (0, nil) }
        let items = unsafe self.take(Item.self, count: elements.count)
        for (index, element) in elements.enumerated() {
            unsafe (items + index).initialize(to: item(element))
        }
        return unsafe (elements.count, items)
    }

    /// A text, ended by NUL. A NUL within it becomes two bytes that are no UTF-8: C would take it for the end, and the
    /// receiver has to refuse it.
    func text(_ text: String) -> UnsafeMutablePointer<CChar>? {
        guard !text.isEmpty else { return unsafe Self.emptyText }
        var text = text
        return text.withUTF8 { bytes in
            guard unsafe !Self.hasNUL(UnsafeRawBufferPointer(bytes)) else {
                return unsafe self.text(replacing: bytes)
            }
            let copy = unsafe self.take(CChar.self, count: bytes.count + 1)
            unsafe UnsafeMutableRawBufferPointer(start: copy, count: bytes.count).copyMemory(
                from: UnsafeRawBufferPointer(bytes))
            unsafe copy[bytes.count] = 0
            return unsafe copy
        }
    }

    /// SWAR zero-byte test: (x - 0x01...) & ~x & 0x80... is non-zero if and only if a byte is 0.
    private static func hasNUL(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = 0
        while index &+ 8 <= bytes.count {
            let eight = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            guard (eight &- ones) & ~eight & (ones &<< 7) == 0 else { return true }
            index &+= 8
        }
        while index < bytes.count {
            guard unsafe bytes[index] != 0 else { return true }
            index &+= 1
        }
        return false
    }

    /// 0xC0 0x80 stands for a NUL where none may be, and is no UTF-8.
    private func text(replacing bytes: UnsafeBufferPointer<UInt8>) -> UnsafeMutablePointer<CChar>? {
        var replaced: [UInt8] = []
        for byte in unsafe Array(bytes) { replaced += byte == 0 ? [0xC0, 0x80] : [byte] }
        let copy = unsafe self.take(CChar.self, count: replaced.count + 1)
        for (index, byte) in replaced.enumerated() { unsafe copy[index] = CChar(bitPattern: byte) }
        unsafe copy[replaced.count] = 0
        return unsafe copy
    }

    /// Shared by all empty texts; never written to.
    private nonisolated(unsafe) static let emptyText: UnsafeMutablePointer<CChar> = {
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        unsafe text.initialize(to: 0)
        return unsafe text
    }()

    /// Texts, as repeated string fields are.
    func texts(
        _ texts: [String]
    ) -> (count: Int, items: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) {
        unsafe self.list(texts) { unsafe self.text($0) }
    }

    /// Bytes, as bytes fields are.
    func bytes(_ bytes: [UInt8]) -> ProtobufCBinaryData {
        let (count, items) = unsafe self.list(bytes) { $0 }
        return unsafe ProtobufCBinaryData(len: count, data: items)
    }

    /// A copy of bytes in memory.
    func bytes(_ bytes: RawSpan) -> ProtobufCBinaryData {
        let copy = unsafe self.buffer(bytes.byteCount)
        unsafe bytes.withUnsafeBytes { unsafe UnsafeMutableRawBufferPointer(copy).copyMemory(from: $0) }
        return unsafe ProtobufCBinaryData(len: copy.count, data: copy.baseAddress)
    }

    /// Room for `count` bytes.
    func buffer(_ count: Int) -> UnsafeMutableBufferPointer<UInt8> {
        unsafe UnsafeMutableBufferPointer(start: self.take(UInt8.self, count: count), count: count)
    }

    private func take<Wire>(_ type: Wire.Type, count: Int) -> UnsafeMutablePointer<Wire> {
        guard let memory = unsafe self.allocate(MemoryLayout<Wire>.stride * count) else {
            preconditionFailure("an arena to encode into has no budget")
        }
        return unsafe memory.bindMemory(to: type, capacity: count)
    }
}

/// The text of a checked string field.
func text(_ wire: UnsafeMutablePointer<CChar>?) -> String {
    unsafe wire.map { unsafe String(cString: $0) } ?? ""
}

/// The id in a checked string field.
func identifier(_ wire: UnsafeMutablePointer<CChar>?) -> Identifier { unsafe Identifier(text(wire)) }

/// The text of a checked string field whose emptiness means "none".
func givenText(_ wire: UnsafeMutablePointer<CChar>?) -> String? {
    let text = unsafe text(wire)
    return text.isEmpty ? nil : text
}

/// The texts of a checked, repeated string field.
func texts(_ count: Int, _ wire: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> [String] {
    (0..<count).map { unsafe text(wire?[$0]) }
}

/// The elements of a repeated message field.
func list<Wire, Element>(
    _ count: Int, _ wire: UnsafeMutablePointer<UnsafeMutablePointer<Wire>?>?,
    _ element: (UnsafeMutablePointer<Wire>) -> Element
) -> [Element] {
    (0..<count).compactMap { unsafe wire?[$0].map(element) }
}

/// The elements of a repeated field of numbers.
func numbers<Number, Element>(
    _ count: Int, _ wire: UnsafeMutablePointer<Number>?, _ element: (Number) -> Element
) -> [Element] {
    unsafe UnsafeBufferPointer(start: wire, count: count).map(element)
}

extension UInt32 {
    /// nil for 0, in fields where that means "none" or "not given".
    var given: UInt32? { self == 0 ? nil : self }
}

/// Checks each element of a repeated message field; a rejection says which one it was.
func checkEach<Wire>(
    _ count: Int, _ wire: UnsafeMutablePointer<UnsafeMutablePointer<Wire>?>?, _ name: String,
    _ check: (UnsafeMutablePointer<Wire>) throws(Rejection) -> Void
) throws(Rejection) {
    for index in 0..<count {
        guard let element = unsafe wire?[index] else { continue }
        do { try unsafe check(element) } catch { throw error.inside("\(name)[\(index)]") }
    }
}

/// Checks a sub-message, if it is there; a rejection says that it was in it.
func checkInside<Wire>(
    _ wire: UnsafeMutablePointer<Wire>?, _ name: String,
    _ check: (UnsafeMutablePointer<Wire>) throws(Rejection) -> Void
) throws(Rejection) {
    guard let wire = unsafe wire else { return }
    do { try unsafe check(wire) } catch { throw error.inside(name) }
}

/// Checks that no two elements of a repeated message field have the same id.
///
/// - Complexity: O(n); allocates only when the ids do not ascend.
func checkUnique(_ ids: [some Hashable & Comparable], _ name: String) throws(Rejection) {
    guard zip(ids, ids.dropFirst()).contains(where: { $0 >= $1 }) else { return }
    var seen: Set = [ids[0]]
    for index in 1..<ids.count where !seen.insert(ids[index]).inserted {
        throw Rejection(.duplicate, field: "\(name)[\(index)].id", reason: "is there already")
    }
}
