package import WaymarkProtocol

/// A publication of a type that no build knows: an event, or a state that is retained or not.
package struct UnknownPublication: Hashable {
    package let type: UInt16
    package let flags: FrameHeader.Flags
    package let key: UInt16
    package let body: [UInt8]

    package init(type: UInt16, flags: FrameHeader.Flags, key: UInt16, body: [UInt8]) {
        (self.type, self.flags, self.key, self.body) = (type, flags, key, body)
    }

    /// Takes the parts of a received frame.
    package init(_ frame: Frame) {
        self.type = frame.header.rawType
        self.flags = frame.header.flags
        self.key = frame.header.key
        self.body = Array(frame.body)
    }

    /// The gateway must reject it.
    package var isWrong: Bool { self.flags.contains(.retained) && !self.flags.contains(.state) }

    package func frame(in session: SessionID, _ sequence: UInt64) -> Frame {
        let header = FrameHeader(
            type: self.type, flags: self.flags, key: self.key, session: session, sequence: sequence)
        return Frame(header: header, body: self.body)
    }
}

/// The states of unknown types that endpoints that join later must get.
package struct RetainedExtensions: Hashable {
    private struct Key: Hashable {
        let type: UInt16
        let key: UInt16
    }

    private var bodies: [Key: [UInt8]] = [:]

    package init() {}

    package mutating func apply(_ publication: UnknownPublication) {
        guard publication.flags.contains(.state) else { return }
        let key = Key(type: publication.type, key: publication.key)
        self.bodies[key] = publication.flags.contains(.retained) ? publication.body : nil
    }
}
