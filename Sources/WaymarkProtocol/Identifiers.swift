/// Names one connection within the process. Never on the wire.
package struct ConnectionID: Sendable, Hashable, Comparable, Codable {
    package var rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (lhs: ConnectionID, rhs: ConnectionID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// Names a navigation session. Handed out by the gateway; ``none`` in frames that belong to no session.
package struct SessionID: Sendable, Hashable, Comparable, Codable {
    package var rawValue: UInt32
    package init(_ rawValue: UInt32) { self.rawValue = rawValue }
    package static let none = SessionID(0)
    package static func < (lhs: SessionID, rhs: SessionID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// A name that a peer chooses: 1 ... 64 bytes of `A-Z a-z 0-9 . _ : -`.
package protocol WireName: Sendable, Hashable, Comparable, CustomStringConvertible, Codable {
    var rawValue: String { get }
    init(unchecked rawValue: String)
}

extension WireName {
    /// The name, or nil if it is empty, longer than 64 bytes or has other characters.
    package init?(_ rawValue: String) {
        let bytes = rawValue.utf8
        guard (1...ProtocolConstants.nameBytesMax).contains(bytes.count), bytes.allSatisfy(Self.isAllowed)
        else {
            return nil
        }
        self.init(unchecked: rawValue)
    }

    package var description: String { self.rawValue }
    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }

    /// Whether names may have this character.
    package static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// Names a vehicle.
package struct VehicleID: WireName {
    package let rawValue: String
    package init(unchecked rawValue: String) { self.rawValue = rawValue }
}

/// Names an endpoint within its vehicle.
package struct EndpointName: WireName {
    package let rawValue: String
    package init(unchecked rawValue: String) { self.rawValue = rawValue }
}

/// Names a navigation client.
package struct ClientID: WireName {
    package let rawValue: String
    package init(unchecked rawValue: String) { self.rawValue = rawValue }
}

/// The id of a request, a share, a trip or a route segment: a text that a peer chose. Compared, ordered and hashed by its bytes.
///
/// Why not a `String`: Swift compares texts as Unicode does, so texts with different bytes can be equal.
package struct Identifier: Sendable, Hashable, Comparable, CustomStringConvertible,
    ExpressibleByStringInterpolation
{
    package let rawValue: String

    package init(_ rawValue: String) { self.rawValue = rawValue }
    package init(stringLiteral value: String) { self.rawValue = value }

    package var isEmpty: Bool { self.rawValue.isEmpty }
    package var description: String { self.rawValue }

    package static func == (lhs: Identifier, rhs: Identifier) -> Bool {
        // Why first: a text of at most 15 bytes has no storage, so equal ids of this length are equal in one step.
        if lhs.rawValue._isIdentical(to: rhs.rawValue) { return true }
        return unsafe Self.isSame(lhs.rawValue.utf8.span.bytes, rhs.rawValue.utf8.span.bytes)
    }

    private static func isSame(_ left: RawSpan, _ right: RawSpan) -> Bool {
        guard left.byteCount == right.byteCount else { return false }
        var offset = 0
        while offset &+ 8 <= left.byteCount {
            guard Self.load(UInt64.self, left, offset) == Self.load(UInt64.self, right, offset) else {
                return false
            }
            offset &+= 8
        }
        while offset < left.byteCount {
            guard Self.load(UInt8.self, left, offset) == Self.load(UInt8.self, right, offset) else {
                return false
            }
            offset &+= 1
        }
        return true
    }

    /// In bounds: the caller counts.
    private static func load<Word: BitwiseCopyable>(
        _ type: Word.Type, _ bytes: RawSpan, _ offset: Int
    ) -> Word {
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: type)
    }

    package static func < (lhs: Identifier, rhs: Identifier) -> Bool {
        lhs.rawValue.utf8.lexicographicallyPrecedes(rhs.rawValue.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        let bytes = self.rawValue.utf8.span
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        hasher.combine(0xFF as UInt8)  // In no text, so that two ids in a row have one hash only.
    }
}

extension Identifier: Codable {
    package init(from decoder: any Decoder) throws {
        self.rawValue = try decoder.singleValueContainer().decode(String.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.rawValue)
    }
}

/// Names an observer.
package struct ObserverName: WireName {
    package let rawValue: String
    package init(unchecked rawValue: String) { self.rawValue = rawValue }
}

/// Lets a peer resume after it lost its connection: 128 random bits, for one resumption.
package struct ResumptionToken: Sendable, Hashable, Codable {
    package var high: UInt64
    package var low: UInt64
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// Who is behind a connection, as far as the transport can tell.
package enum Principal: Sendable, Hashable, Codable {
    /// The user id that `SO_PEERCRED` gave for a Unix socket.
    case user(UInt32)
    /// A peer that knows the listener's pre-shared key of this name.
    case key(String)
    /// Any peer that can reach the listener.
    case anyone
}
