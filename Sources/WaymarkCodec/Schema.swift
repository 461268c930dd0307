internal import CProtobufC
internal import CWaymarkWire
internal import WaymarkProtocol

/// What ``WireCheck`` must know of every message: the generated descriptors and ``FieldRules`` in flat tables.
///
/// Made once and never freed, so that reading them counts no references.
@safe struct Schema {
    /// What a field's value looks like on the wire.
    enum Form: UInt8 {
        /// No field of the message has the number.
        case none
        case number, double, text, bytes, message
    }

    /// One field number of a message.
    @safe struct Field {
        var form = Form.none
        /// That of one value; a list of numbers may also be packed.
        var wireType: UInt8 = 0
        /// Differences to 0 alternate between positive and negative numbers.
        var isZigzag = false
        var isRepeated = false
        var isName = false
        /// A name of an extension. Then ``isName`` is true as well.
        var isExtension = false
        var allowsZero = false
        var isRequired = false
        var isPlace = false
        var countMax: Int32 = 0
        var sumMax: Int32 = 0
        var lower: Int64 = 0
        var upper: Int64 = 0
        /// The highest varint that the field's type holds.
        var rawMax: UInt64 = 0
        /// Of a sub-message.
        var message: UnsafePointer<Message>?
    }

    /// Messages that ``UnknownFields`` are found by.
    enum Element: String {
        case maneuver = "Maneuver"
        case laneGuidance = "LaneGuidance"
        case segment = "RouteSegment"
        case trip = "Trip"
        case route = "RouteInformation"
    }

    /// One message.
    @safe struct Message {
        /// By field number; 0 is no field.
        let fields: UnsafePointer<Field>
        let fieldNumberMax: Int
        /// Bit `n` is set if field number `n` must be there.
        let required: UInt32
        /// Its lists of differences are equally long.
        let isLine: Bool
        /// Field number of a text field `request_id`, or 0.
        let requestID: Int
        let element: Element?
        /// By field number.
        let names: [String]
    }

    /// The highest field number that the check can count.
    static let fieldNumberMax = 18

    /// The protocol's.
    nonisolated(unsafe) static let shared = Schema()

    /// The most memory that libprotobuf-c takes for one occurrence of a field, apart from four bytes for each byte of its value.
    let occurrenceBytesMax: Int
    /// By type.
    private let roots: UnsafePointer<UnsafePointer<Message>?>

    /// The body of `type`.
    func root(of type: MessageType) -> UnsafePointer<Message> {
        guard let root = unsafe self.roots[Int(type.rawValue)] else {
            preconditionFailure("\(type) has no body")
        }
        return unsafe root
    }

    private init() {
        var builder = SchemaBuilder()
        let roots = UnsafeMutablePointer<UnsafePointer<Message>?>.allocate(capacity: 0x400)
        unsafe roots.initialize(repeating: nil, count: 0x400)
        for type in MessageType.allCases {
            unsafe roots[Int(type.rawValue)] = unsafe builder.message(type.descriptor)
        }
        unsafe self.roots = unsafe UnsafePointer(roots)
        self.occurrenceBytesMax = SchemaBuilder.scannedBytesMax + builder.structureBytesMax
    }
}

/// Makes the tables of ``Schema`` from the generated descriptors.
@safe private struct SchemaBuilder {
    /// What libprotobuf-c notes of each occurrence before it reads any (32 bytes, in lists that double), a pointer to it or,
    /// if the field is unknown, a description, and what rounding up the value takes.
    static let scannedBytesMax = 64 + 32 + 32

    private var known: [String: UnsafePointer<Schema.Message>] = unsafe [:]
    /// The largest C structure.
    private(set) var structureBytesMax = 0

    /// A message and those below it. The protocol has no recursive messages, so this ends, and so does the check.
    mutating func message(_ descriptor: UnsafePointer<ProtobufCMessageDescriptor>) -> UnsafePointer<
        Schema.Message
    > {
        let name = unsafe String(cString: descriptor.pointee.short_name)
        if let message = unsafe self.known[name] { return unsafe message }
        unsafe self.structureBytesMax = max(self.structureBytesMax, descriptor.pointee.sizeof_message)
        let rules = FieldRules.all[name, default: [:]]
        let count = Int(unsafe descriptor.pointee.n_fields)
        precondition(rules.count == count, "every field of \(name) needs a rule")
        var fields = [Schema.Field()]
        var names = [""]
        var required: UInt32 = 0
        for position in 0..<count {
            let field = unsafe descriptor.pointee.fields[position]
            let fieldName = unsafe String(cString: field.name)
            guard let rule = rules[fieldName] else {
                preconditionFailure("\(name).\(fieldName) needs a rule")
            }
            let number = Int(unsafe field.id)
            precondition(
                number <= Schema.fieldNumberMax, "\(name).\(fieldName) has a number that is too high")
            while fields.count <= number {
                fields.append(Schema.Field())
                names.append("")
            }
            fields[number] = unsafe self.field(field, rule)
            names[number] = fieldName
            if rule.isRequired { required |= 1 << UInt32(number) }
        }
        let message = UnsafeMutablePointer<Schema.Message>.allocate(capacity: 1)
        unsafe message.initialize(
            to: Schema.Message(
                fields: Self.kept(fields), fieldNumberMax: fields.count - 1, required: required,
                isLine: fields.contains { $0.sumMax > 0 },
                requestID: names.firstIndex(of: "request_id") ?? 0, element: Schema.Element(rawValue: name),
                names: names))
        unsafe self.known[name] = unsafe UnsafePointer(message)
        return unsafe UnsafePointer(message)
    }

    private static func kept(_ fields: [Schema.Field]) -> UnsafePointer<Schema.Field> {
        let table = UnsafeMutableBufferPointer<Schema.Field>.allocate(capacity: fields.count)
        _ = unsafe table.initialize(from: fields)
        guard let start = table.baseAddress else { preconditionFailure("a message without a table") }
        return unsafe UnsafePointer(start)
    }

    private mutating func field(_ field: ProtobufCFieldDescriptor, _ rule: FieldRule) -> Schema.Field {
        var known = unsafe Schema.Field(type: field.type)
        if known.form == .message, let below = unsafe field.descriptor {
            unsafe known.message = unsafe self.message(
                below.assumingMemoryBound(to: ProtobufCMessageDescriptor.self))
        }
        known.isRepeated = unsafe field.label == PROTOBUF_C_LABEL_REPEATED
        known.isName = rule.alphabet != .unicode
        known.isExtension = rule.alphabet == .extension
        known.allowsZero = rule.allowsZero
        known.isRequired = rule.isRequired
        known.isPlace = rule.isPlace
        known.countMax = rule.countMax
        known.sumMax = rule.sumMax
        known.lower = rule.bounds.lowerBound
        known.upper = rule.bounds.upperBound
        return known
    }
}

extension Schema.Field {
    fileprivate init(type: ProtobufCType) {
        self.init()
        switch type {
        case PROTOBUF_C_TYPE_UINT32, PROTOBUF_C_TYPE_ENUM:
            (self.form, self.rawMax) = (.number, UInt64(UInt32.max))
        case PROTOBUF_C_TYPE_SINT32:
            (self.form, self.rawMax, self.isZigzag) = (.number, UInt64(UInt32.max), true)
        case PROTOBUF_C_TYPE_UINT64: (self.form, self.rawMax) = (.number, .max)
        case PROTOBUF_C_TYPE_BOOL: (self.form, self.rawMax) = (.number, 1)
        case PROTOBUF_C_TYPE_DOUBLE: (self.form, self.wireType) = (.double, 1)
        case PROTOBUF_C_TYPE_STRING: (self.form, self.wireType) = (.text, 2)
        case PROTOBUF_C_TYPE_BYTES: (self.form, self.wireType) = (.bytes, 2)
        case PROTOBUF_C_TYPE_MESSAGE: (self.form, self.wireType) = (.message, 2)
        default: preconditionFailure("the protos use a type that the check does not know")
        }
    }
}
