/// The pre-shared key of a ``Hello``. Copies share its bytes, which are wiped when the last copy is gone.
package struct Credential: Sendable, Hashable {
    /// nil for an empty credential, as most have.
    private let storage: Storage?

    /// A credential of a copy of `bytes`.
    package init(_ bytes: [UInt8] = []) { self = unsafe bytes.withUnsafeBytes { unsafe Credential($0) } }

    /// A credential of a copy of `bytes`.
    @unsafe package init(_ bytes: UnsafeRawBufferPointer) {
        self.storage = unsafe bytes.isEmpty ? nil : Storage(bytes)
    }

    package var isEmpty: Bool { self.storage == nil }

    /// Lends the bytes to `use`.
    package func withBytes<Result>(_ use: (RawSpan) -> Result) -> Result {
        guard let storage else { return use(RawSpan()) }
        return withExtendedLifetime(storage) {
            let bytes = storage.bytes
            return unsafe use(bytes.span.bytes)
        }
    }

    package static func == (one: Credential, other: Credential) -> Bool {
        one.storage?.bytes == other.storage?.bytes
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.storage?.bytes) }

    private final class Storage: Sendable {
        // Never given to others: it is wiped in place.
        let bytes: [UInt8]

        @unsafe init(_ bytes: UnsafeRawBufferPointer) { unsafe self.bytes = Array(bytes) }

        deinit { Wiping.wipeShared(self.bytes[...]) }
    }
}

extension Credential: ExpressibleByArrayLiteral {
    package init(arrayLiteral bytes: UInt8...) { self.init(bytes) }
}

extension Credential: CustomStringConvertible {
    /// A text without the bytes.
    package var description: String { self.isEmpty ? "none" : "a key" }
}

extension Credential: Codable {
    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([UInt8].self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.storage?.bytes ?? [])
    }
}
