internal import WaymarkModel
internal import WaymarkProtocol

// Fields that this build does not know: taken out of what was published, and put back into frames that are made from it.
//
// Both are rare, and work on copies. The bytes passed ``WireCheck`` or were written here.

extension UnknownFields {
    /// Those of a body of a published type that was checked before.
    convenience init(in body: [UInt8], of type: MessageType) {
        var reduction = Reduction()
        let reduced = unsafe reduction.reduce(Schema.shared.root(of: type), body[...])
        if type == .updateManeuverEstimates, !reduced.isEmpty {
            let id = WireFields(body[...]).number(FieldNumber.UpdateManeuverEstimates.maneuverId)
            reduction.parts[.estimates(ManeuverID(rawValue: id))] = reduced
        }
        self.init(type: type.rawValue, body: reduced, parts: reduction.parts)
    }

    /// Puts the fields back into a frame that was made from the publication.
    ///
    /// `isFirst` is false if another frame has those of the body already.
    ///
    /// - Returns: nil if there is none for this frame, or if there are more than receivers accept.
    func restored(in frame: Frame, isFirst: Bool) -> Frame? {
        guard let type = frame.header.type else { return nil }
        var reduced: [UInt8]?
        if type.rawValue == self.type {
            if isFirst { reduced = self.body }
        } else if type == .updateManeuverEstimates {
            let id = WireFields(frame.body).number(FieldNumber.UpdateManeuverEstimates.maneuverId)
            reduced = self[.estimates(ManeuverID(rawValue: id))]
        }
        var restoration = Restoration(unknown: self)
        let body = unsafe restoration.restore(
            Schema.shared.root(of: type), frame.body, (reduced ?? [])[...])
        guard 1...WireCheck.unknownFieldsMax ~= restoration.count else { return nil }
        return Frame(header: frame.header, body: body)
    }
}

/// Reduces messages to the fields that are not known.
private struct Reduction {
    var parts: UnknownFields.Parts = [:]

    /// What remains of a message; empty for nothing.
    mutating func reduce(
        _ message: UnsafePointer<Schema.Message>, _ bytes: ArraySlice<UInt8>
    ) -> [UInt8] {
        var reduced: [UInt8] = []
        var isEmpty = true
        for field in WireFields(bytes) {
            guard let known = unsafe message.pointee.field(field.number) else {
                reduced += field.bytes
                isEmpty = false
                continue
            }
            guard let below = unsafe known.message else { continue }
            let inner = unsafe self.reduce(below, field.content)
            if known.isRepeated, let part = unsafe below.pointee.part(field.content) {
                if !inner.isEmpty { self.parts[part] = inner }
            } else if known.isRepeated || !inner.isEmpty {
                reduced.append(field: field.number, inner)
                if !inner.isEmpty { isEmpty = false }
            }
        }
        if unsafe message.pointee.element == .route { unsafe self.reduceEstimates(message, bytes) }
        return isEmpty ? [] : reduced
    }

    /// The estimates in a route are those of its first upcoming maneuver.
    private mutating func reduceEstimates(
        _ route: UnsafePointer<Schema.Message>, _ bytes: ArraySlice<UInt8>
    ) {
        let number = FieldNumber.RouteInformation.maneuverTravelEstimates
        guard let below = unsafe route.pointee.field(number)?.message,
            let estimates = WireFields(bytes).first(where: { $0.number == number })
        else { return }
        let reduced = unsafe self.reduce(below, estimates.content)
        guard !reduced.isEmpty else { return }
        let first = WireFields(bytes).number(FieldNumber.RouteInformation.upcomingManeuverIds)
        var update: [UInt8] = []
        update.append(field: FieldNumber.UpdateManeuverEstimates.travelEstimates, reduced)
        self.parts[.estimates(ManeuverID(rawValue: first))] = update
    }
}

/// Puts unknown fields behind the known ones of the same messages.
private struct Restoration {
    let unknown: UnknownFields
    /// Fields that were put back.
    var count = 0

    init(unknown: UnknownFields) { self.unknown = unknown }

    /// A message with the fields of its `reduced` form, and of the parts in it.
    mutating func restore(
        _ message: UnsafePointer<Schema.Message>, _ bytes: ArraySlice<UInt8>,
        _ reduced: ArraySlice<UInt8>
    ) -> [UInt8] {
        var lists: [Int: [ArraySlice<UInt8>]] = [:]
        var behind: [UInt8] = []
        for field in WireFields(reduced) {
            if unsafe message.pointee.field(field.number) == nil {
                behind += field.bytes
                self.count += 1
            } else {
                lists[field.number, default: []].append(field.content)
            }
        }
        // Elements are matched by their index: not if some were dropped.
        for (number, list) in lists
        where unsafe message.pointee.field(number)?.isRepeated == true
            && WireFields(bytes).count(where: { $0.number == number }) != list.count
        {
            lists[number] = nil
        }
        var restored: [UInt8] = []
        var counts: [Int: Int] = [:]
        for field in WireFields(bytes) {
            guard let below = unsafe message.pointee.field(field.number)?.message else {
                restored += field.bytes
                continue
            }
            let index = counts[field.number, default: 0]
            counts[field.number] = index + 1
            let inner: ArraySlice<UInt8>
            if unsafe message.pointee.field(field.number)?.isRepeated == true,
                let part = unsafe below.pointee.part(field.content)
            {
                inner = (self.unknown[part] ?? [])[...]
            } else {
                let list = lists[field.number] ?? []
                inner = index < list.count ? list[index] : []
            }
            if inner.isEmpty, unsafe below.pointee.element != .route {
                restored += field.bytes
            } else {
                restored.append(field: field.number, unsafe self.restore(below, field.content, inner))
            }
        }
        return restored + behind
    }
}

extension Schema.Message {
    /// The field with a number; nil if it is not known.
    fileprivate func field(_ number: Int) -> Schema.Field? {
        guard number <= self.fieldNumberMax, unsafe self.fields[number].form != .none else { return nil }
        return unsafe self.fields[number]
    }

    /// Which part an element of a list is; nil for other messages.
    fileprivate func part(_ bytes: ArraySlice<UInt8>) -> UnknownFields.Part? {
        let id = WireFields(bytes).first { $0.number == 1 }
        switch self.element {
        case .maneuver: return .maneuver(ManeuverID(rawValue: id?.number32 ?? 0))
        case .laneGuidance: return .laneGuidance(LaneGuidanceID(rawValue: id?.number32 ?? 0))
        case .segment: return .segment(Array(id?.content ?? []))
        case .trip: return .trip(Array(id?.content ?? []))
        case .route, nil: return nil
        }
    }
}

/// The fields of a message with all their bytes, in order.
private struct WireFields: Sequence, IteratorProtocol {
    struct Field {
        let number: Int
        let number32: UInt32
        /// What a length stands in front of.
        let content: ArraySlice<UInt8>
        /// With its key.
        let bytes: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.rest = bytes }

    mutating func next() -> Field? {
        guard !self.rest.isEmpty else { return nil }
        let start = self.rest
        let key = self.varint()
        var (value, content): (UInt64, ArraySlice<UInt8>) = (0, [])
        switch key & 7 {
        case 0: value = self.varint()
        case 1: self.rest = self.rest.dropFirst(8)
        case 2:
            let count = Int(clamping: self.varint())
            content = self.rest.prefix(count)
            self.rest = self.rest.dropFirst(count)
        default: self.rest = self.rest.dropFirst(4)
        }
        return Field(
            number: Int(truncatingIfNeeded: key >> 3), number32: UInt32(truncatingIfNeeded: value),
            content: content, bytes: start[..<self.rest.startIndex])
    }

    /// The number in a field, or the first one of a packed list; 0 for none.
    func number(_ field: Int) -> UInt32 {
        for occurrence in self where occurrence.number == field {
            guard !occurrence.content.isEmpty else { return occurrence.number32 }
            var list = WireFields(occurrence.content)
            return UInt32(truncatingIfNeeded: list.varint())
        }
        return 0
    }

    private mutating func varint() -> UInt64 {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while let byte = self.rest.popFirst() {
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { break }
            shift += 7
        }
        return value
    }
}

extension [UInt8] {
    /// Appends a field of bytes with a length.
    fileprivate mutating func append(field number: Int, _ content: [UInt8]) {
        self.append(varint: UInt64(number) << 3 | 2)
        self.append(varint: UInt64(content.count))
        self += content
    }

    private mutating func append(varint value: UInt64) {
        var rest = value
        while rest > 0x7F {
            self.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.append(UInt8(truncatingIfNeeded: rest))
    }
}
