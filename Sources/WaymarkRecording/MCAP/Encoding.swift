// Numbers, texts, lists and maps as MCAP has them: little-endian, texts and lists behind their length in bytes.

extension [UInt8] {
    mutating func append(number: some FixedWidthInteger) {
        unsafe Swift.withUnsafeBytes(of: number.littleEndian) { unsafe self.append(contentsOf: $0) }
    }

    mutating func append(text: String) {
        self.append(number: UInt32(text.utf8.count))
        self.append(contentsOf: text.utf8)
    }

    /// Sorted by key, so that equal maps are equal bytes.
    mutating func append(map: [String: String]) {
        var entries: [UInt8] = []
        for (key, value) in map.sorted(by: { $0.key < $1.key }) {
            entries.append(text: key)
            entries.append(text: value)
        }
        self.append(number: UInt32(entries.count))
        self += entries
    }

    mutating func append(map: [UInt16: UInt64]) {
        self.append(number: UInt32(map.count * 10))
        for (key, value) in map.sorted(by: { $0.key < $1.key }) {
            self.append(number: key)
            self.append(number: value)
        }
    }

    /// Appends a whole record.
    mutating func append(_ opcode: MCAP.Opcode, _ content: [UInt8]) {
        self.append(opcode.rawValue)
        self.append(number: UInt64(content.count))
        self += content
    }
}

/// Reads a record's content from its beginning; everything is checked against its end.
struct MCAPCursor {
    private let bytes: [UInt8]
    private(set) var offset: Int
    private let end: Int

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        self.offset = range.lowerBound
        self.end = range.upperBound
    }

    var isAtEnd: Bool { self.offset >= self.end }

    private mutating func advance(by count: Int) throws(RecordingError) -> Int {
        guard count >= 0, count <= self.end - self.offset else { throw .malformed("a record ends too early") }
        defer { self.offset += count }
        return self.offset
    }

    mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type = Number.self
    ) throws(RecordingError) -> Number {
        let start = try self.advance(by: MemoryLayout<Number>.size)
        return Number(
            littleEndian: unsafe self.bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: type))
    }

    mutating func slice(_ count: some FixedWidthInteger) throws(RecordingError) -> ArraySlice<UInt8> {
        guard let count = Int(exactly: count) else { throw .malformed("a length is too large") }
        let start = try self.advance(by: count)
        return self.bytes[start..<start + count]
    }

    mutating func rest() throws(RecordingError) -> ArraySlice<UInt8> {
        try self.slice(self.end - self.offset)
    }

    mutating func text() throws(RecordingError) -> String {
        let length: UInt32 = try self.number()
        return String(decoding: try self.slice(length), as: UTF8.self)
    }

    /// A cursor of the next list or map.
    mutating func list() throws(RecordingError) -> MCAPCursor {
        let length: UInt32 = try self.number()
        let slice = try self.slice(length)
        return MCAPCursor(self.bytes, slice.startIndex..<slice.endIndex)
    }

    mutating func texts() throws(RecordingError) -> [String: String] {
        var list = try self.list()
        var map: [String: String] = [:]
        while !list.isAtEnd {
            let key = try list.text()
            map[key] = try list.text()
        }
        return map
    }

    mutating func numbers() throws(RecordingError) -> [UInt16: UInt64] {
        var list = try self.list()
        var map: [UInt16: UInt64] = [:]
        while !list.isAtEnd {
            let key: UInt16 = try list.number()
            map[key] = try list.number()
        }
        return map
    }

    /// The next record, whole.
    mutating func record() throws(RecordingError) -> (opcode: UInt8, content: Range<Int>) {
        let opcode: UInt8 = try self.number()
        let length: UInt64 = try self.number()
        let slice = try self.slice(length)
        return (opcode, slice.startIndex..<slice.endIndex)
    }
}

/// CRC-32 as in zlib, four bytes at a time.
struct CRC32 {
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 1_024)
        for index in 0..<256 {
            var value = UInt32(index)
            for _ in 0..<8 { value = value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
            tables[index] = value
        }
        for index in 256..<1_024 {
            let value = tables[index - 256]
            tables[index] = (value >> 8) ^ tables[Int(value & 0xFF)]
        }
        return tables
    }()

    private var state = UInt32.max

    /// The sum of all bytes so far.
    var value: UInt32 { ~self.state }

    mutating func add(_ bytes: [UInt8], _ range: Range<Int>? = nil) {
        let tables = Self.tables.span
        let bytes = bytes.span
        var offset = range?.lowerBound ?? 0
        let end = range?.upperBound ?? bytes.count
        var state = self.state
        while offset + 4 <= end {
            let next = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
            let word = state ^ UInt32(littleEndian: next)
            state =
                tables[Int(word & 0xFF) + 768] ^ tables[Int(word >> 8 & 0xFF) + 512]
                ^ tables[Int(word >> 16 & 0xFF) + 256] ^ tables[Int(word >> 24)]
            offset += 4
        }
        while offset < end {
            state = (state >> 8) ^ tables[Int(UInt8(truncatingIfNeeded: state) ^ bytes[offset])]
            offset += 1
        }
        self.state = state
    }

    static func sum(_ bytes: [UInt8]) -> UInt32 {
        var sum = CRC32()
        sum.add(bytes)
        return sum.value
    }
}
