internal import WaymarkProtocol

/// Removes from frames what the protos mark with `[place]`, and all that this build does not know: it may be a place.
///
/// What is left are frames that every peer can read. A required field is left empty; a `Coordinate` becomes 0, 0.
@safe struct Redaction {
    private let bytes: UnsafeRawBufferPointer
    private var offset: Int
    private(set) var output: [UInt8]

    private init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = unsafe bytes
        self.offset = 0
        self.output = []
        self.output.reserveCapacity(bytes.count)
    }

    /// Redacts whole frames whose bodies were checked, one behind the other.
    static func redact(_ frames: UnsafeRawBufferPointer) -> [UInt8] {
        var redaction = unsafe Redaction(frames)
        while redaction.offset + FrameHeader.byteCount <= frames.count { redaction.frame() }
        return redaction.output
    }

    private mutating func frame() {
        let start = self.offset
        let header = unsafe FrameHeader(at: start, of: self.bytes)
        let end = min(start + header.frameByteCount, unsafe self.bytes.count)
        let written = self.output.count
        self.offset = start + FrameHeader.byteCount
        if let type = header.type, unsafe self.hasNothingToRemove(Schema.shared.root(of: type), end) {
            unsafe self.output.append(contentsOf: self.bytes[start..<end])
            self.offset = end
            return
        }
        self.offset = start + FrameHeader.byteCount
        unsafe self.output.append(contentsOf: self.bytes[start..<self.offset])
        if let type = header.type { unsafe self.message(Schema.shared.root(of: type), end) }
        self.offset = end
        FrameHeader.setBodyLength(
            self.output.count - written - FrameHeader.byteCount, at: written, in: &self.output)
    }

    /// Whether all fields of a message may stay. Most frames are copied whole: estimates have no places.
    private mutating func hasNothingToRemove(_ message: UnsafePointer<Schema.Message>, _ end: Int) -> Bool {
        let fields = unsafe message.pointee.fields
        while self.offset < end {
            let tag = self.varint(end)
            let number = Int(truncatingIfNeeded: tag >> 3)
            guard unsafe number <= message.pointee.fieldNumberMax && fields[number].form != .none,
                unsafe !fields[number].isPlace
            else { return false }
            let valueStart = self.skip(tag, end)
            guard tag & 7 == 2, let below = unsafe fields[number].message else { continue }
            let next = self.offset
            self.offset = valueStart
            guard unsafe self.hasNothingToRemove(below, next) else { return false }
            self.offset = next
        }
        return true
    }

    /// Copies the fields of a message that may stay.
    private mutating func message(_ message: UnsafePointer<Schema.Message>, _ end: Int) {
        let fields = unsafe message.pointee.fields
        var isEmptied: UInt32 = 0
        while self.offset < end {
            let start = self.offset
            let tag = self.varint(end)
            let number = Int(truncatingIfNeeded: tag >> 3)
            let isKnown = unsafe number <= message.pointee.fieldNumberMax && fields[number].form != .none
            let valueStart = self.skip(tag, end)
            guard isKnown else { continue }
            if unsafe fields[number].isPlace {
                if unsafe fields[number].isRequired { isEmptied |= 1 &<< UInt32(number) }
            } else if tag & 7 == 2, let below = unsafe fields[number].message {
                let next = self.offset
                self.append(varint: tag)
                self.offset = valueStart
                unsafe self.lengthDelimited(below, next)
                self.offset = next
            } else {
                unsafe self.output.append(contentsOf: self.bytes[start..<self.offset])
            }
        }
        while isEmptied != 0 {
            // A required place is a text, or a list of texts: one that is empty.
            self.append(varint: UInt64(isEmptied.trailingZeroBitCount) << 3 | 2)
            self.output.append(0)
            isEmptied &= isEmptied - 1
        }
    }

    /// Writes a sub-message behind its length.
    private mutating func lengthDelimited(_ message: UnsafePointer<Schema.Message>, _ end: Int) {
        let lengthIndex = self.output.count
        self.output.append(0)
        unsafe self.message(message, end)
        let count = self.output.count - lengthIndex - 1
        guard count > 0x7F else { return self.output[lengthIndex] = UInt8(count) }
        // Most are short; a long one is moved to make room for its length.
        var length: [UInt8] = []
        var rest = count
        while rest > 0x7F {
            length.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        length.append(UInt8(rest))
        self.output.replaceSubrange(lengthIndex...lengthIndex, with: length)
    }

    /// Moves behind the value of a field, and returns where what it measures begins.
    private mutating func skip(_ tag: UInt64, _ end: Int) -> Int {
        var valueStart = self.offset
        switch tag & 7 {
        case 0: _ = self.varint(end)
        case 1: self.offset += 8
        case 2:
            let count = self.varint(end)
            valueStart = self.offset
            self.offset += Int(clamping: min(count, UInt64(end - self.offset)))
        default: self.offset += 4
        }
        self.offset = min(self.offset, end)
        return valueStart
    }

    @inline(__always)
    private mutating func varint(_ end: Int) -> UInt64 {
        guard self.offset < end, unsafe self.bytes[self.offset] < 0x80 else { return self.longVarint(end) }
        defer { self.offset += 1 }
        return UInt64(unsafe self.bytes[self.offset])
    }

    @inline(never)
    private mutating func longVarint(_ end: Int) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while self.offset < end, shift < 64 {
            let byte = unsafe self.bytes[self.offset]
            self.offset += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { break }
            shift += 7
        }
        return value
    }

    private mutating func append(varint value: UInt64) {
        var rest = value
        while rest > 0x7F {
            self.output.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.output.append(UInt8(truncatingIfNeeded: rest))
    }
}

extension Codec {
    /// Whole frames, one behind the other, without places; see ``Redaction``. The frames were checked before, or written by this build.
    package static func redacted(_ frames: some Collection<UInt8>) -> [UInt8] {
        let redacted = frames.withContiguousStorageIfAvailable {
            unsafe Redaction.redact(UnsafeRawBufferPointer($0))
        }
        return redacted ?? self.redacted(Array(frames))
    }
}
