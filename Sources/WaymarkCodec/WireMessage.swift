internal import WaymarkProtocol

/// A message of a body that ``WireCheck`` passed, read where it lies: nothing is unpacked, nothing copied.
///
/// As a sequence, the occurrences of its fields in the order of the bytes. Known fields have the type that the proto says,
/// and a field that is not repeated occurs once. Valid as long as the bytes are.
@safe struct WireMessage: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private let end: Int
    private var position = 0

    /// A whole body, or what is in a field.
    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = unsafe bytes
        self.end = bytes.count
    }

    @inline(__always)
    mutating func next() -> WireField? {
        guard self.position < self.end else { return nil }
        let tag = self.nextVarint()
        let number = Int(truncatingIfNeeded: tag >> 3)
        switch tag & 7 {
        case 0: return WireField(number: number, value: self.nextVarint(), message: nil)
        case 1: return WireField(number: number, value: 0, message: self.take(8))
        case 2:
            let count = Int(truncatingIfNeeded: self.nextVarint())
            return WireField(number: number, value: 0, message: self.take(count))
        default: return WireField(number: number, value: 0, message: self.take(4))
        }
    }

    /// The number in a field that is not repeated; 0 if it is absent.
    func number(_ field: Int) -> UInt32 { self.first(field)?.number32 ?? 0 }

    /// The flag in a field that is not repeated.
    func flag(_ field: Int) -> Bool { self.number(field) != 0 }

    /// The text in a field that is not repeated; empty if it is absent.
    func text(_ field: Int) -> String { self.first(field)?.text ?? "" }

    /// The id in a field that is not repeated; empty if it is absent.
    func identifier(_ field: Int) -> Identifier { Identifier(self.text(field)) }

    /// The numbers of a repeated field.
    func numbers<Element>(_ field: Int, _ element: (UInt32) -> Element) -> [Element] {
        var elements: [Element] = []
        for occurrence in self where occurrence.number == field { occurrence.append(to: &elements, element) }
        return elements
    }

    /// Reads the sub-message in a field that is not repeated, an empty one if it is absent; a rejection says that it was in
    /// it.
    func inside<Element>(
        _ field: Int, _ name: StaticString, _ read: (WireMessage) throws(Rejection) -> Element
    ) throws(Rejection) -> Element {
        let nothing = unsafe WireMessage(UnsafeRawBufferPointer(start: nil, count: 0))
        do { return try read(self.first(field)?.message ?? nothing) } catch { throw error.inside("\(name)") }
    }

    /// Reads the elements of a repeated message field; a rejection says which one it was.
    func elements<Element>(
        _ field: Int, _ name: StaticString, _ read: (WireMessage) throws(Rejection) -> Element
    ) throws(Rejection) -> [Element] {
        var elements: [Element] = []
        for occurrence in self where occurrence.number == field {
            guard let message = occurrence.message else { continue }
            do { elements.append(try read(message)) } catch {
                throw error.inside("\(name)[\(elements.count)]")
            }
        }
        return elements
    }

    /// The first occurrence of a field.
    func first(_ field: Int) -> WireField? {
        for occurrence in self where occurrence.number == field { return occurrence }
        return nil
    }

    /// The next number of what is a packed list, not a message.
    @inline(__always)
    fileprivate mutating func nextPacked() -> UInt64? {
        self.position < self.end ? self.nextVarint() : nil
    }

    /// The bytes of what is a text, not a message.
    fileprivate var text: String { unsafe String(decoding: self.bytes, as: UTF8.self) }

    @inline(__always)
    private mutating func nextVarint() -> UInt64 {
        if self.position < self.end, unsafe self.bytes[self.position] < 0x80 {
            self.position &+= 1
            return UInt64(unsafe self.bytes[self.position &- 1])
        }
        return self.nextLongVarint()
    }

    private mutating func nextLongVarint() -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while self.position < self.end {
            let byte = unsafe self.bytes[self.position]
            self.position &+= 1
            value |= UInt64(byte & 0x7F) &<< shift
            if byte < 0x80 { break }
            shift &+= 7
        }
        return value
    }

    /// The next `count` bytes. There are as many in what was checked; of anything else it does not read beyond the end.
    @inline(__always)
    private mutating func take(_ count: Int) -> WireMessage {
        let start = self.position
        self.position = start &+ Swift.min(count, self.end &- start)
        return unsafe WireMessage(UnsafeRawBufferPointer(rebasing: self.bytes[start..<self.position]))
    }
}

/// One occurrence of a field in a ``WireMessage``.
@safe struct WireField {
    let number: Int
    /// As it is on the wire; 0 where there is a message.
    let value: UInt64
    /// What a length stands in front of: a sub-message, but also a text or a packed list.
    let message: WireMessage?

    var number32: UInt32 { UInt32(truncatingIfNeeded: self.value) }

    var text: String { self.message?.text ?? "" }

    /// Adds the numbers of a repeated field, packed or not.
    @inline(__always)
    func append<Element>(to elements: inout [Element], _ element: (UInt32) -> Element) {
        guard var list = self.message else { return elements.append(element(self.number32)) }
        while let value = list.nextPacked() { elements.append(element(UInt32(truncatingIfNeeded: value))) }
    }
}

extension Int32 {
    /// The value of a `sint32`.
    init(zigzag raw: UInt32) { self = Int32(bitPattern: raw >> 1) ^ -Int32(bitPattern: raw & 1) }
}
