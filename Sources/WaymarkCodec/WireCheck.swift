internal import WaymarkProtocol

/// One pass over a body, before libprotobuf-c sees it.
///
/// Why: libprotobuf-c checks neither UTF-8 nor ranges, cuts texts at a NUL and integers to their width, and spends a
/// hundred times the body's size in memory if asked to. Here every known field is held against its ``FieldRule``:
/// wire type, length, count, range, text, presence; a field that is not repeated occurs once. Allocates nothing unless
/// it throws. Recursion follows the schema, which is not recursive: no body makes it deeper.
@safe struct WireCheck {
    /// More fields than this that the build does not know are refused: libprotobuf-c keeps each.
    static let unknownFieldsMax = 1_024

    // Why not the schema itself: its arrays would be retained and released for every field.
    private let messages: UnsafeBufferPointer<Schema.Message>
    private let fields: UnsafeBufferPointer<Schema.Field?>
    private let base: UnsafePointer<UInt8>
    private var offset = 0
    private var unknownFields = 0
    private var lastNumber: UInt64 = 0

    /// The body's own fields 1 to 4, as far as they are numbers of 32 bits; 0 if absent. The rest is undefined.
    struct Numbers {
        fileprivate var values = InlineArray<4, UInt32>(repeating: 0)

        subscript(number: Int) -> UInt32 { self.values[number - 1] }
    }

    /// Checks a body against the message of `type`. What passes, libprotobuf-c reads.
    ///
    /// - Throws: what is wrong, with the field's path.
    static func check(_ body: UnsafeRawBufferPointer, as type: MessageType) throws(Rejection) -> Numbers {
        try unsafe Self.withCheck(of: body) { check throws(Rejection) in
            var numbers = Numbers()
            try check.message(Schema.shared.root(of: type), end: body.count) { number, value in
                if number <= numbers.values.count { numbers.values[number - 1] = value }
            }
            return numbers
        }
    }

    /// The `request_id` of a refused body, so that its sender knows which request failed; empty if it has none that
    /// can be read.
    static func requestID(in body: UnsafeRawBufferPointer, of type: MessageType) -> String {
        let message = Schema.shared.messages[Schema.shared.root(of: type)]
        guard message.requestID != 0 else { return "" }
        return unsafe Self.withCheck(of: body) { check in
            do {
                return try check.requestID(of: message, end: body.count)
            } catch {
                return ""  // The body was refused already, for this or for something before it.
            }
        }
    }

    private mutating func requestID(of message: Schema.Message, end: Int) throws(Rejection) -> String {
        while self.offset < end {
            let tag = try self.shortVarint(end)
            guard tag == UInt32(message.requestID) << 3 | 2,
                let field = unsafe self.fields[message.firstField + message.requestID - 1]
            else {
                try self.skip(wireType: UInt8(tag & 7), end)
                continue
            }
            let textEnd = try self.length(end)
            try self.text(field, textEnd)
            let bytes = unsafe UnsafeBufferPointer(
                start: self.base + self.offset, count: textEnd - self.offset)
            return unsafe String(decoding: bytes, as: UTF8.self)
        }
        return ""
    }

    /// Lends a check that stands at the start of `body`.
    private static func withCheck<Result, Failure: Error>(
        of body: UnsafeRawBufferPointer, _ use: (inout WireCheck) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // An empty body has no address; one byte that is never read stands in.
        var nothing: UInt8 = 0
        return try unsafe withUnsafePointer(to: &nothing) { nothing throws(Failure) in
            let base = unsafe body.assumingMemoryBound(to: UInt8.self).baseAddress ?? nothing
            return try unsafe Schema.shared.messages.withUnsafeBufferPointer { messages throws(Failure) in
                try unsafe Schema.shared.fields.withUnsafeBufferPointer { fields throws(Failure) in
                    var check = unsafe WireCheck(messages: messages, fields: fields, base: base)
                    return try use(&check)
                }
            }
        }
    }

    private init(
        messages: UnsafeBufferPointer<Schema.Message>, fields: UnsafeBufferPointer<Schema.Field?>,
        base: UnsafePointer<UInt8>
    ) {
        unsafe self.messages = unsafe messages
        unsafe self.fields = unsafe fields
        unsafe self.base = unsafe base
    }

    private static var missing: Rejection { Rejection(.missing, reason: "must be there") }

    /// A message below the root, whose numbers nobody needs.
    private mutating func message(_ index: Int, end: Int) throws(Rejection) {
        try self.message(index, end: end) { _, _ in }
    }

    // `keep` is given each field's number, and its value's low 32 bits if it is a number.
    @inline(__always)
    private mutating func message(
        _ index: Int, end: Int, keep: (Int, UInt32) -> Void
    ) throws(Rejection) {
        let message = unsafe self.messages[index]
        var seen: UInt32 = 0
        var counts = InlineArray<16, Int32>(repeating: 0)
        while self.offset < end {
            let tag = try self.shortVarint(end)
            let number = Int(tag >> 3)
            guard number >= 1 else {
                throw Rejection(.malformed, reason: "a field number is out of range")
            }
            guard number <= message.fieldCount,
                let field = unsafe self.fields[message.firstField + number - 1]
            else {
                try self.skip(wireType: UInt8(tag & 7), end)
                continue
            }
            do {
                seen |= 1 << UInt32(number - 1)
                try self.values(of: field, wireType: UInt8(tag & 7), count: &counts[number - 1], end)
            } catch {
                let name = Schema.shared.names[message.firstField + number - 1]
                throw error.inside(field.isRepeated ? "\(name)[\(counts[number - 1])]" : name)
            }
            keep(number, UInt32(truncatingIfNeeded: self.lastNumber))
        }
        let absent = message.required & ~seen
        if absent != 0 {
            let name = Schema.shared.names[message.firstField + absent.trailingZeroBitCount]
            throw Self.missing.inside(name)
        }
    }

    /// Checks one occurrence of a field and adds its values to `count`.
    private mutating func values(
        of field: Schema.Field, wireType: UInt8, count: inout Int32, _ end: Int
    ) throws(Rejection) {
        switch field.kind {
        case .uint32, .uint64, .sint32, .enumeration, .bool:
            if wireType == 2, field.isRepeated { return try self.packed(field, count: &count, end) }
            try self.expectRoom(field, count)
            try self.expect(wireType, 0)
            try self.number(field, end)
        case .double:
            try self.expectRoom(field, count)
            try self.expect(wireType, 1)
            try self.double(field, end)
        case .string, .bytes, .message:
            try self.expectRoom(field, count)
            try self.expect(wireType, 2)
            let valueEnd = try self.length(end)
            switch field.kind {
            case .message: try self.message(Int(field.message), end: valueEnd)
            case .string: try self.text(field, valueEnd)
            case .bytes, .uint32, .uint64, .sint32, .enumeration, .bool, .double:
                try self.bound(Int64(valueEnd - self.offset), field)
            }
            self.offset = valueEnd
        }
        count += 1
    }

    private mutating func packed(
        _ field: Schema.Field, count: inout Int32, _ end: Int
    ) throws(Rejection) {
        let valuesEnd = try self.length(end)
        while self.offset < valuesEnd {
            try self.expectRoom(field, count)
            try self.number(field, valuesEnd)
            count += 1
        }
    }

    private mutating func number(_ field: Schema.Field, _ end: Int) throws(Rejection) {
        let raw = try self.varint(end)
        self.lastNumber = raw
        switch field.kind {
        case .uint64: return
        case .bool:
            guard raw <= 1 else { throw Rejection(.outOfRange, reason: "neither false nor true") }
        case .sint32:
            guard raw <= UInt64(UInt32.max) else { throw Rejection(.outOfRange, reason: "more than 32 bits") }
            try self.bound(Int64(raw >> 1) ^ -Int64(raw & 1), field)
        case .uint32, .enumeration, .double, .string, .bytes, .message:
            guard raw <= UInt64(UInt32.max) else { throw Rejection(.outOfRange, reason: "more than 32 bits") }
            try self.bound(Int64(raw), field)
        }
    }

    private mutating func double(_ field: Schema.Field, _ end: Int) throws(Rejection) {
        guard end - self.offset >= 8 else { throw Rejection(.malformed, reason: "ends too early") }
        let raw = unsafe UnsafeRawPointer(self.base + self.offset).loadUnaligned(as: UInt64.self)
        let value = Double(bitPattern: UInt64(littleEndian: raw))
        guard value >= Double(field.lower), value <= Double(field.upper) else {  // Also refuses NaN.
            throw Rejection(.outOfRange, reason: "not within \(field.lower) ... \(field.upper)")
        }
        self.offset += 8
    }

    private func bound(_ value: Int64, _ field: Schema.Field) throws(Rejection) {
        guard value < field.lower || value > field.upper else { return }
        if value == 0 {
            if field.allowsZero { return }
            // To protobuf, 0 and the empty text are the same as nothing at all.
            if field.isRequired { throw Self.missing }
        }
        let unit = field.kind == .string || field.kind == .bytes ? " bytes" : ""
        throw Rejection(.outOfRange, reason: "not within \(field.lower) ... \(field.upper)\(unit)")
    }

    private func text(_ field: Schema.Field, _ end: Int) throws(Rejection) {
        try self.bound(Int64(end - self.offset), field)
        let bytes = unsafe UnsafeBufferPointer(start: self.base + self.offset, count: end - self.offset)
        var all: UInt8 = 0
        for index in bytes.indices {
            let byte = unsafe bytes[index]
            guard byte != 0 else { throw Rejection(.invalidText, reason: "has a NUL in it") }
            if field.alphabet == .name, !VehicleID.isAllowed(byte) {
                throw Rejection(.invalidText, reason: "has a character that names do not have")
            }
            all |= byte
        }
        guard all >= 0x80 else { return }
        do {
            _ = try unsafe UTF8Span(validating: bytes.span)
        } catch {
            throw Rejection(.invalidText, reason: "is not UTF-8")
        }
    }

    private func expectRoom(_ field: Schema.Field, _ count: Int32) throws(Rejection) {
        guard count >= field.countMax else { return }
        guard field.isRepeated else { throw Rejection(.malformed, reason: "occurs twice") }
        throw Rejection(.outOfRange, reason: "more than \(field.countMax) elements")
    }

    private func expect(_ wireType: UInt8, _ expected: UInt8) throws(Rejection) {
        guard wireType == expected else {
            throw Rejection(.malformed, reason: "has wire type \(wireType) in place of \(expected)")
        }
    }

    /// Steps over a field that the build does not know.
    private mutating func skip(wireType: UInt8, _ end: Int) throws(Rejection) {
        self.unknownFields += 1
        guard self.unknownFields <= Self.unknownFieldsMax else {
            throw Rejection(.limitReached, reason: "more than \(Self.unknownFieldsMax) unknown fields")
        }
        switch wireType {
        case 0: _ = try self.varint(end)
        case 1: self.offset += 8
        case 2: self.offset = try self.length(end)
        case 5: self.offset += 4
        default: throw Rejection(.malformed, reason: "an unknown field has wire type \(wireType)")
        }
        guard self.offset <= end else { throw Rejection(.malformed, reason: "ends too early") }
    }

    /// Reads a length and returns where what it measures ends.
    private mutating func length(_ end: Int) throws(Rejection) -> Int {
        let length = try self.shortVarint(end)
        guard length <= end - self.offset else {
            throw Rejection(.malformed, reason: "ends too early")
        }
        return self.offset + Int(length)
    }

    /// A tag or a length. libprotobuf-c reads five bytes of one and no more, whatever they say.
    @inline(__always)
    private mutating func shortVarint(_ end: Int) throws(Rejection) -> UInt32 {
        let start = self.offset
        let value = try self.varint(end)
        guard self.offset - start <= 5, let value = UInt32(exactly: value) else {
            throw Rejection(.malformed, reason: "a tag or length is too long")
        }
        return value
    }

    @inline(__always)
    private mutating func varint(_ end: Int) throws(Rejection) -> UInt64 {
        if self.offset < end, unsafe self.base[self.offset] < 0x80 {
            defer { self.offset += 1 }
            return UInt64(unsafe self.base[self.offset])
        }
        return try self.longVarint(end)
    }

    private mutating func longVarint(_ end: Int) throws(Rejection) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while self.offset < end {
            let byte = unsafe self.base[self.offset]
            self.offset += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 {
                guard shift < 63 || byte <= 1 else { break }
                return value
            }
            shift += 7
            guard shift <= 63 else { break }
        }
        throw Rejection(.malformed, reason: self.offset < end ? "a varint is too long" : "ends too early")
    }
}

extension Rejection {
    /// The same rejection, seen from one level further out.
    func inside(_ outer: String) -> Rejection {
        var rejection = self
        rejection.field = self.field.isEmpty ? outer : "\(outer).\(self.field)"
        return rejection
    }
}
