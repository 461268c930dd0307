/// An enumeration of the protocol: open, because a newer peer may know more values than this build.
public protocol WireEnumeration: RawRepresentable, Sendable, Hashable where RawValue == UInt32 {
    /// All values that this build knows, in the order of their raw values.
    static var allKnown: [Self] { get }

    /// Reads the value on the wire; a value this build does not know becomes `unrecognized`.
    init(rawValue: UInt32)
}

extension WireEnumeration {
    /// Whether this build knows the value.
    public var isRecognized: Bool { Self.allKnown.contains(self) }

    /// The name of the value as in the protocol, e.g. `slightLeftTurn`; of one that this build does not know, its number.
    public var name: String { self.isRecognized ? "\(self)" : "\(self.rawValue)" }
}
