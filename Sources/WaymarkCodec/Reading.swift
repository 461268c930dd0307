internal import CProtobufC
internal import WaymarkModel
internal import WaymarkProtocol

// What all readers share. A reader takes one C message, checks every field and returns a value; its errors name the
// field, and whoever reads a message inside another one puts that one's field in front.

typealias Pointer<Wire> = UnsafeMutablePointer<Wire>
typealias Pointers<Wire> = UnsafeMutablePointer<UnsafeMutablePointer<Wire>?>
typealias Text = UnsafeMutablePointer<CChar>

/// Runs `body` and puts `field` in front of what its error names.
func within<Result>(_ field: @autoclosure () -> String, _ body: () throws(Rejection) -> Result)
    throws(Rejection) -> Result
{
    do { return try body() } catch {
        var error = error
        error.field = error.field.isEmpty ? field() : "\(field()).\(error.field)"
        throw error
    }
}

func outOfRange(_ field: String, _ reason: String) -> Rejection {
    Rejection(.outOfRange, field: field, reason: reason)
}

func missing(_ field: String) -> Rejection { Rejection(.missing, field: field, reason: "must be there") }

/// A number within a range.
func checked<Number: Comparable>(
    _ value: Number, in range: ClosedRange<Number>, _ field: String
) throws(Rejection) -> Number {
    guard range.contains(value) else {
        throw outOfRange(field, "is \(value), must be \(range.lowerBound) to \(range.upperBound)")
    }
    return value
}

/// A number up to a maximum; nil for 0, which means "not known" or "none".
func optional(_ value: UInt32, max: UInt32, _ field: String) throws(Rejection) -> UInt32? {
    value == 0 ? nil : try checked(value, in: 1...max, field)
}

/// An id that is not 0.
func identifier(_ value: UInt32, _ field: String) throws(Rejection) -> UInt32 {
    guard value != 0 else { throw outOfRange(field, "must not be 0") }
    return value
}

/// Text; libprotobuf-c gives a shared empty string for an absent field.
func text(
    _ pointer: Text?, _ field: String, bytesMax: Int, mayBeEmpty: Bool = true
) throws(Rejection) -> String {
    let text = unsafe pointer.map { unsafe String(cString: $0) } ?? ""
    guard text.utf8.count <= bytesMax else {
        throw outOfRange(field, "has \(text.utf8.count) bytes, at most \(bytesMax) are allowed")
    }
    guard mayBeEmpty || !text.isEmpty else { throw missing(field) }
    return text
}

/// Variants of a text, longest first.
func variants(
    _ pointer: UnsafeMutablePointer<Text?>?, _ count: Int, _ field: String, mayBeEmpty: Bool = true
) throws(Rejection) -> [String] {
    guard mayBeEmpty || count > 0 else { throw missing(field) }
    return try list(count, field, max: ProtocolConstants.textVariantsMax) { index throws(Rejection) in
        try unsafe text(pointer?[index], "", bytesMax: ProtocolConstants.textBytesMax)
    }
}

/// A name of a peer.
func name<Name: PeerName>(_ pointer: Text?, _ field: String) throws(Rejection) -> Name {
    let raw = try unsafe text(pointer, field, bytesMax: ProtocolConstants.nameBytesMax, mayBeEmpty: false)
    guard let name = Name(raw) else {
        throw outOfRange(field, "has characters other than A-Z a-z 0-9 . _ : -")
    }
    return name
}

/// A bounded list; the index goes into the path of an error.
func list<Element>(
    _ count: Int, _ field: String, max: Int, _ element: (Int) throws(Rejection) -> Element
) throws(Rejection) -> [Element] {
    guard count <= max else { throw outOfRange(field, "has \(count) elements, at most \(max) are allowed") }
    var elements: [Element] = []
    elements.reserveCapacity(count)
    for index in 0..<count {
        elements.append(try within("\(field)[\(index)]") { () throws(Rejection) in try element(index) })
    }
    return elements
}

/// A bounded list of messages.
func messages<Wire, Element>(
    _ pointers: Pointers<Wire>?, _ count: Int, _ field: String, max: Int,
    _ read: (Wire) throws(Rejection) -> Element
) throws(Rejection) -> [Element] {
    try list(count, field, max: max) { index throws(Rejection) in
        guard let pointer = unsafe pointers?[index] else { throw missing("") }
        return try unsafe read(pointer.pointee)
    }
}

/// A message that may be absent.
func optional<Wire, Value>(
    _ pointer: Pointer<Wire>?, _ field: String, _ read: (Wire) throws(Rejection) -> Value
) throws(Rejection) -> Value? {
    guard let pointer = unsafe pointer else { return nil }
    return try within(field) { () throws(Rejection) in try unsafe read(pointer.pointee) }
}

/// A message that must be there.
func required<Wire, Value>(
    _ pointer: Pointer<Wire>?, _ field: String, _ read: (Wire) throws(Rejection) -> Value
) throws(Rejection) -> Value {
    guard let value = try unsafe optional(pointer, field, read) else { throw missing(field) }
    return value
}

/// Angles in -180 ..< 180.
func angle(_ degrees: Int32, _ field: String) throws(Rejection) -> Angle {
    .degrees(Int(try checked(degrees, in: -180...179, field)))
}

/// An enumeration of the model, where values this build does not know are kept.
func open<Value: WireEnumeration>(_ raw: UInt32) -> Value { Value(rawValue: raw) }

/// An enumeration of the model, nil for UNSPECIFIED.
func openUnlessUnspecified<Value: WireEnumeration>(_ raw: UInt32) -> Value? {
    raw == 0 ? nil : Value(rawValue: raw)
}

/// An enumeration of the model that must be said.
func openSpecified<Value: WireEnumeration>(_ raw: UInt32, _ field: String) throws(Rejection) -> Value {
    guard raw != 0 else { throw missing(field) }
    return Value(rawValue: raw)
}

/// An enumeration of the protocol, all of whose values a peer must know.
func closed<Value: RawRepresentable>(
    _ raw: UInt32, _ field: String
) throws(Rejection) -> Value where Value.RawValue == UInt32 {
    guard let value = Value(rawValue: raw) else {
        throw outOfRange(field, "\(raw) is not a value of \(Value.self)")
    }
    return value
}
