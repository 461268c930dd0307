/// Names an extension, in the order of reverse DNS, e.g. `org.example.tyres`: 3 ... 128 bytes of `a-z 0-9 . -`, with a dot among them.
package struct ExtensionName: Sendable, Hashable, Comparable, CustomStringConvertible, Codable {
    package let rawValue: String
    package init(unchecked rawValue: String) { self.rawValue = rawValue }

    /// The name; nil if it is none.
    package init?(_ rawValue: String) {
        guard Self.byteCounts.contains(rawValue.utf8.count), Self.isAllowed(rawValue.utf8) else { return nil }
        self.init(unchecked: rawValue)
    }

    package var description: String { self.rawValue }
    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }

    /// The lengths that names may have.
    package static let byteCounts = 3...128
    /// The reason why a text is refused as a name.
    package static let form = "is not the name of an extension, e.g. org.example.tyres"

    /// Whether names may have these characters, apart from their number.
    package static func isAllowed(_ bytes: some Sequence<UInt8>) -> Bool {
        var hasDot = false
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "."): hasDot = true
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"):
                break
            default: return false
            }
        }
        return hasDot
    }
}

/// Content that a client publishes and that only endpoints with the same extension understand.
package struct PublishedExtension: Sendable, Hashable {
    package var name: ExtensionName
    package var content: [UInt8]
    /// The key, which tells the client's values apart; nil for an event. It is in the frame's header, with the flag STATE.
    package var key: UInt16?
    /// Endpoints that join later get it. Of states only.
    package var isRetained: Bool

    package init(name: ExtensionName, content: [UInt8], key: UInt16? = nil, isRetained: Bool = false) {
        self.name = name
        self.content = content
        self.key = key
        self.isRetained = isRetained
    }

    /// An extension whose frame has a header.
    package init(name: ExtensionName, content: [UInt8], of header: FrameHeader) {
        let isState = header.flags.contains(.state)
        self.init(
            name: name, content: content, key: isState ? header.key : nil,
            isRetained: isState && header.flags.contains(.retained))
    }

    /// The flags of its frame.
    package var flags: FrameHeader.Flags {
        guard self.key != nil else { return [] }
        return self.isRetained ? [.state, .retained] : .state
    }
}

/// Content that an endpoint sends to its client, and that only a client with the same extension understands.
package struct VehicleExtension: Sendable, Hashable {
    package var name: ExtensionName
    package var content: [UInt8]
    package var source: EndpointPath?

    package init(name: ExtensionName, content: [UInt8], source: EndpointPath? = nil) {
        self.name = name
        self.content = content
        self.source = source
    }
}

extension [UInt8] {
    /// The bytes as base64, as JSON writes them.
    package var base64: String {
        var text: [UInt8] = []
        text.reserveCapacity((self.count + 2) / 3 * 4)
        for start in stride(from: 0, to: self.count, by: 3) {
            let part = self[start..<Swift.min(start + 3, self.count)]
            let bits = part.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - part.count))
            for index in 0..<4 {
                let digit = Int(bits >> UInt32(18 - 6 * index) & 0x3F)
                text.append(index <= part.count ? Self.base64Digits[digit] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let base64Digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}
