internal import WaymarkProtocol

/// One pass over a body, before anything of it is used.
///
/// Why: libprotobuf-c checks neither UTF-8 nor ranges, cuts texts at a NUL and integers to their width, and spends a
/// hundred times the body's size in memory if asked to. Here every known field is checked with its ``FieldRule``:
/// wire type, length, count, range, text, presence; a field that is not repeated occurs once. Allocates nothing unless
/// it throws. Recursion follows the schema, which is not recursive: no body makes it deeper.
///
/// What passes, ``WireMessage`` reads in place, and libprotobuf-c unpacks if it may take ``Findings/unpackedBytesMax``.
@safe struct WireCheck {
    /// More fields than this that the build does not know are refused: libprotobuf-c keeps each.
    static let unknownFieldsMax = 1_024

    /// What is known of a body that passed.
    struct Findings {
        /// What libprotobuf-c takes at most to unpack it, in bytes.
        let unpackedBytesMax: Int
        /// Fields that the build does not know, in all messages of it.
        let unknownFields: Int
    }

    /// The number of values of a field so far, and the sum of a list of differences so far.
    private struct Tally {
        var count: Int32 = 0
        var sum: Int32 = 0
    }

    /// A 1 in each of eight bytes, and each one's highest bit.
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = Self.ones << 7

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    private var occurrences = 0
    private var unknownFields = 0

    /// Checks a body against the message of `type`.
    ///
    /// - Throws: what is wrong, with the field's path.
    static func check(_ body: UnsafeRawBufferPointer, as type: MessageType) throws(Rejection) -> Findings {
        let root = unsafe Schema.shared.root(of: type)
        var check = unsafe WireCheck(bytes: body)
        try unsafe check.message(root, end: body.count)
        return unsafe Findings(
            unpackedBytesMax: check.occurrences * Schema.shared.occurrenceBytesMax + body.count * 4,
            unknownFields: check.unknownFields)
    }

    /// The `request_id` of a refused body, so that its sender knows which request failed; empty if it has none that
    /// can be read.
    static func requestID(in body: UnsafeRawBufferPointer, of type: MessageType) -> Identifier {
        let root = unsafe Schema.shared.root(of: type)
        guard unsafe root.pointee.requestID != 0 else { return "" }
        var check = unsafe WireCheck(bytes: body)
        do {
            return try unsafe check.requestID(of: root, end: body.count)
        } catch {
            return ""  // The body was refused already, for this or for something before it.
        }
    }

    private mutating func requestID(
        of message: UnsafePointer<Schema.Message>, end: Int
    ) throws(Rejection) -> Identifier {
        let number = unsafe message.pointee.requestID
        while self.offset < end {
            let tag = try self.shortVarint(end)
            guard tag == UInt32(number) << 3 | 2 else {
                try self.skip(tag, end)
                continue
            }
            let textEnd = try self.length(end)
            try unsafe self.text(message.pointee.fields + number, textEnd)
            return unsafe Identifier(String(decoding: self.bytes[self.offset..<textEnd], as: UTF8.self))
        }
        return ""
    }

    /// The versions that a Hello offers, whatever else is in its body; nil if they cannot be read.
    static func versions(ofHello body: UnsafeRawBufferPointer) -> ClosedRange<UInt32>? {
        var check = unsafe WireCheck(bytes: body)
        do { return try check.versions(end: body.count) } catch { return nil }
    }

    private mutating func versions(end: Int) throws(Rejection) -> ClosedRange<UInt32>? {
        var (lowest, highest): (UInt64, UInt64) = (0, 0)
        while self.offset < end, lowest == 0 || highest == 0 {
            switch try self.shortVarint(end) {
            case UInt32(FieldNumber.Hello.versionMin) << 3: lowest = try self.varint(end)
            case UInt32(FieldNumber.Hello.versionMax) << 3: highest = try self.varint(end)
            case let tag: try self.skip(tag, end)
            }
        }
        guard lowest > 0, lowest <= highest, highest <= UInt32.max else { return nil }
        return UInt32(lowest)...UInt32(highest)
    }

    private init(bytes: UnsafeRawBufferPointer) { unsafe self.bytes = unsafe bytes }

    private mutating func message(_ message: UnsafePointer<Schema.Message>, end: Int) throws(Rejection) {
        let fields = unsafe message.pointee.fields
        var seen: UInt32 = 0
        var tallies = InlineArray<19, Tally>(repeating: Tally())
        while self.offset < end {
            let tag = try self.shortVarint(end)
            self.occurrences &+= 1
            let number = Int(tag >> 3)
            guard unsafe number <= message.pointee.fieldNumberMax, unsafe fields[number].form != .none else {
                try self.skip(tag, end)
                continue
            }
            seen |= 1 &<< UInt32(truncatingIfNeeded: number)
            do throws(Rejection) {
                try unsafe self.values(of: fields + number, wireType: UInt8(tag & 7), &tallies[number], end)
            } catch {
                throw unsafe Self.inside(message, number, tallies[number].count, error)
            }
        }
        let absent = unsafe message.pointee.required & ~seen
        if absent != 0 {
            throw Self.missing.inside(unsafe message.pointee.names[absent.trailingZeroBitCount])
        }
        if unsafe message.pointee.isLine {
            // The first is at number 1; the others are as long.
            for number in 2...(unsafe message.pointee.fieldNumberMax)
            where tallies[number].count != tallies[1].count {
                throw unsafe Rejection(
                    .inconsistent, field: message.pointee.names[number],
                    reason: "not as long as \(message.pointee.names[1])")
            }
        }
    }

    /// Checks one occurrence of a field and adds its values to `tally`.
    @inline(__always)
    private mutating func values(
        of field: UnsafePointer<Schema.Field>, wireType: UInt8, _ tally: inout Tally, _ end: Int
    ) throws(Rejection) {
        guard unsafe wireType == field.pointee.wireType else {
            let mayBePacked = unsafe field.pointee.isRepeated && field.pointee.form == .number
            guard wireType == 2, mayBePacked else {
                throw unsafe Self.misplaced(wireType, field, tally.count)
            }
            return try unsafe self.packed(field, &tally, self.length(end))
        }
        guard unsafe tally.count < field.pointee.countMax else { throw unsafe Self.tooMany(field) }
        if unsafe field.pointee.form == .number {
            try unsafe self.number(field, &tally, end)
        } else {
            try unsafe self.other(field, end)
        }
        tally.count &+= 1
    }

    /// Checks one occurrence of a field that is not a number.
    @inline(__always)
    private mutating func other(_ field: UnsafePointer<Schema.Field>, _ end: Int) throws(Rejection) {
        if unsafe field.pointee.form == .double { return try unsafe self.double(field, end) }
        let valueEnd = try self.length(end)
        if let below = unsafe field.pointee.message {
            try unsafe self.message(below, end: valueEnd)
        } else if unsafe field.pointee.form == .text {
            try unsafe self.text(field, valueEnd)
        } else {
            try unsafe Self.bound(Int64(valueEnd - self.offset), field)
        }
        self.offset = valueEnd
    }

    private mutating func packed(
        _ field: UnsafePointer<Schema.Field>, _ tally: inout Tally, _ end: Int
    ) throws(Rejection) {
        let isLine = unsafe field.pointee.sumMax > 0
        while self.offset < end {
            // Values that are not short are read one by one, as many as a run has.
            let runEnd = isLine ? min(end, self.offset + DeltaRun.byteCountMax) : end
            if runEnd < end, unsafe self.run(field, &tally) { continue }
            while self.offset < runEnd {
                guard unsafe tally.count < field.pointee.countMax else { throw unsafe Self.tooMany(field) }
                try unsafe self.number(field, &tally, end)
                tally.count += 1
            }
        }
    }

    /// Skips a run of short differences, if there is one and none of its sums can leave the bounds.
    private mutating func run(_ field: UnsafePointer<Schema.Field>, _ tally: inout Tally) -> Bool {
        guard unsafe tally.count <= field.pointee.countMax - Int32(DeltaRun.byteCountMax),
            unsafe abs(tally.sum) <= field.pointee.sumMax - DeltaRun.sumMax,
            let run = unsafe DeltaRun(self.bytes, at: self.offset)
        else { return false }
        self.offset += run.byteCount
        tally.count += run.count
        tally.sum += run.sum
        return true
    }

    @inline(__always)
    private mutating func number(
        _ field: UnsafePointer<Schema.Field>, _ tally: inout Tally, _ end: Int
    ) throws(Rejection) {
        let raw = try self.varint(end)
        guard unsafe raw <= field.pointee.rawMax else { throw unsafe Self.tooWide(field) }
        guard unsafe field.pointee.isZigzag else {
            return try unsafe Self.bound(Int64(bitPattern: raw), field)
        }
        let value = Int64(raw >> 1) ^ -Int64(raw & 1)
        try unsafe Self.bound(value, field)
        guard unsafe field.pointee.sumMax > 0 else { return }
        let sum = Int64(tally.sum) + value
        guard unsafe sum.magnitude <= field.pointee.sumMax.magnitude else {
            throw Rejection(.outOfRange, reason: "the sum is not a valid coordinate")
        }
        tally.sum = Int32(truncatingIfNeeded: sum)
    }

    private mutating func double(_ field: UnsafePointer<Schema.Field>, _ end: Int) throws(Rejection) {
        guard end - self.offset >= 8 else { throw Self.cut }
        let raw = unsafe self.bytes.loadUnaligned(fromByteOffset: self.offset, as: UInt64.self)
        let value = Double(bitPattern: UInt64(littleEndian: raw))
        guard unsafe value >= Double(field.pointee.lower), unsafe value <= Double(field.pointee.upper) else {
            throw unsafe Self.outOfBounds(nil, field)  // Also refuses NaN.
        }
        self.offset += 8
    }

    private mutating func text(_ field: UnsafePointer<Schema.Field>, _ end: Int) throws(Rejection) {
        try unsafe Self.bound(Int64(end - self.offset), field)
        let isName = unsafe field.pointee.isName
        var (all, index) = (UInt64(0), self.offset)
        // Eight at a time: no byte is 0 unless taking 1 from each borrows from one that had no highest bit.
        while !isName, index &+ 8 <= end {
            let eight = unsafe self.bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            guard (eight &- Self.ones) & ~eight & Self.highBits == 0 else { throw Self.hasNUL }
            all |= eight & Self.highBits
            index &+= 8
        }
        while index < end {
            let byte = unsafe self.bytes[index]
            guard byte != 0 else { throw Self.hasNUL }
            if isName, !VehicleID.isAllowed(byte) {
                throw Rejection(.invalidText, reason: "has a character that names do not have")
            }
            all |= UInt64(byte) & Self.highBits
            index &+= 1
        }
        if isName, unsafe field.pointee.isExtension {
            let name = unsafe UnsafeRawBufferPointer(rebasing: self.bytes[self.offset..<end])
            guard unsafe ExtensionName.isAllowed(name) else {
                throw Rejection(.invalidText, reason: ExtensionName.form)
            }
        }
        guard all != 0 else { return }
        do {
            let text = unsafe UnsafeRawBufferPointer(rebasing: self.bytes[self.offset..<end])
            _ = try unsafe UTF8Span(validating: text.assumingMemoryBound(to: UInt8.self).span)
        } catch {
            throw Rejection(.invalidText, reason: "is not UTF-8")
        }
    }

    /// Skips a field that this build does not know.
    private mutating func skip(_ tag: UInt32, _ end: Int) throws(Rejection) {
        guard tag >> 3 != 0 else { throw Rejection(.malformed, reason: "a field number is out of range") }
        self.unknownFields += 1
        guard self.unknownFields <= Self.unknownFieldsMax else {
            throw Rejection(
                .limitReached, reason: "more than \(Self.unknownFieldsMax) unknown fields",
                limit: ReachedLimit("unknown_fields_max", Self.unknownFieldsMax))
        }
        switch tag & 7 {
        case 0: _ = try self.varint(end)
        case 1: self.offset += 8
        case 2: self.offset = try self.length(end)
        case 5: self.offset += 4
        case let wireType: throw Rejection(.malformed, reason: "an unknown field has wire type \(wireType)")
        }
        guard self.offset <= end else { throw Self.cut }
    }

    /// Reads a length and returns where what it measures ends.
    @inline(__always)
    private mutating func length(_ end: Int) throws(Rejection) -> Int {
        let length = try self.shortVarint(end)
        guard length <= end - self.offset else { throw Self.cut }
        return self.offset + Int(length)
    }

    /// A tag or a length.
    @inline(__always)
    private mutating func shortVarint(_ end: Int) throws(Rejection) -> UInt32 {
        if let byte = self.singleByte(end) { return UInt32(byte) }
        return try self.longTagOrLength(end)
    }

    @inline(__always)
    private mutating func varint(_ end: Int) throws(Rejection) -> UInt64 {
        if let byte = self.singleByte(end) { return UInt64(byte) }
        if end &- self.offset >= 2 {
            let (first, second) = unsafe (self.bytes[self.offset], self.bytes[self.offset &+ 1])
            if second < 0x80 {
                self.offset &+= 2
                return UInt64(first & 0x7F) | UInt64(second) &<< 7
            }
        }
        return try self.longVarint(end)
    }

    /// Reads a varint of one byte, the usual case; nil if it is longer.
    @inline(__always)
    private mutating func singleByte(_ end: Int) -> UInt8? {
        guard self.offset < end else { return nil }
        let byte = unsafe self.bytes[self.offset]
        guard byte < 0x80 else { return nil }
        self.offset &+= 1
        return byte
    }

    /// libprotobuf-c reads five bytes of a tag or a length and no more, whatever they say.
    private mutating func longTagOrLength(_ end: Int) throws(Rejection) -> UInt32 {
        let start = self.offset
        let value = try self.longVarint(end)
        guard self.offset - start <= 5, value <= UInt64(UInt32.max) else {
            throw Rejection(.malformed, reason: "a tag or length is too long")
        }
        return UInt32(truncatingIfNeeded: value)
    }

    private mutating func longVarint(_ end: Int) throws(Rejection) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while self.offset < end {
            let byte = unsafe self.bytes[self.offset]
            self.offset &+= 1
            value |= UInt64(byte & 0x7F) &<< shift
            if byte < 0x80 {
                guard shift < 63 || byte <= 1 else { break }
                return value
            }
            shift &+= 7
            guard shift <= 63 else { break }
        }
        throw self.offset < end ? Rejection(.malformed, reason: "a varint is too long") : Self.cut
    }
}

// What is wrong.
extension WireCheck {
    private static var missing: Rejection { Rejection(.missing, reason: "must be there") }

    private static var hasNUL: Rejection { Rejection(.invalidText, reason: "has a NUL in it") }

    private static var cut: Rejection { Rejection(.malformed, reason: "ends too early") }

    /// Checks that a number, or the length of a text or of bytes, is within the field's bounds.
    @inline(__always)
    private static func bound(_ value: Int64, _ field: UnsafePointer<Schema.Field>) throws(Rejection) {
        guard unsafe value >= field.pointee.lower, unsafe value <= field.pointee.upper else {
            if value == 0, unsafe field.pointee.allowsZero { return }
            // A number of 64 bits above `Int64.max`: no such field has an upper bound.
            if value < 0, unsafe field.pointee.rawMax == .max { return }
            throw unsafe Self.outOfBounds(value, field)
        }
    }

    /// What is wrong with the value at `index` of a field, seen from its message.
    @inline(never)
    private static func inside(
        _ message: UnsafePointer<Schema.Message>, _ number: Int, _ index: Int32, _ rejection: Rejection
    ) -> Rejection {
        let name = unsafe message.pointee.names[number]
        return rejection.inside(unsafe message.pointee.fields[number].isRepeated ? "\(name)[\(index)]" : name)
    }

    @inline(never)
    private static func outOfBounds(_ value: Int64?, _ field: UnsafePointer<Schema.Field>) -> Rejection {
        let field = unsafe field.pointee
        // In protobuf 0, the empty text and an absent field are the same.
        if value == 0, field.isRequired { return Self.missing }
        let unit = field.form == .text || field.form == .bytes ? " bytes" : ""
        return Rejection(.outOfRange, reason: "not within \(field.lower) ... \(field.upper)\(unit)")
    }

    @inline(never)
    private static func tooWide(_ field: UnsafePointer<Schema.Field>) -> Rejection {
        let isFlag = unsafe field.pointee.rawMax == 1
        return Rejection(.outOfRange, reason: isFlag ? "neither false nor true" : "more than 32 bits")
    }

    @inline(never)
    private static func tooMany(_ field: UnsafePointer<Schema.Field>) -> Rejection {
        guard unsafe field.pointee.isRepeated else { return Rejection(.malformed, reason: "occurs twice") }
        return unsafe Rejection(.outOfRange, reason: "more than \(field.pointee.countMax) elements")
    }

    @inline(never)
    private static func misplaced(
        _ wireType: UInt8, _ field: UnsafePointer<Schema.Field>, _ count: Int32
    ) -> Rejection {
        guard unsafe count < field.pointee.countMax else { return unsafe Self.tooMany(field) }
        return unsafe Rejection(
            .malformed, reason: "has wire type \(wireType) in place of \(field.pointee.wireType)")
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
