internal import WaymarkProtocol

/// A publication of a type that no build knows: an event, or a state that is retained or not.
struct UnknownPublication: Hashable {
    let type: UInt16
    let flags: FrameHeader.Flags
    let key: UInt16
    let body: [UInt8]

    /// Of a received frame.
    init(_ frame: Frame) {
        self.type = frame.header.rawType
        self.flags = frame.header.flags
        self.key = frame.header.key
        self.body = Array(frame.body)
    }

    /// One of three types and three keys, with any flags that a client may set. Few values, so that some do not change.
    init(_ random: inout SeededRandom) {
        self.type = 0x01FD + UInt16(random.number(0...2))
        var flags: FrameHeader.Flags = .skippable
        if !random.once(in: 4) { flags.insert(.state) }
        if !random.once(in: 4) { flags.insert(.retained) }
        self.flags = flags
        self.key = flags.contains(.state) ? UInt16(random.number(0...2)) : 0
        self.body = [UInt8](repeating: 7, count: random.number(0...2))
    }

    /// The gateway must reject it.
    var isWrong: Bool { self.flags.contains(.retained) && !self.flags.contains(.state) }

    func frame(in session: SessionID, _ sequence: UInt64) -> Frame {
        let header = FrameHeader(
            type: self.type, flags: self.flags, key: self.key, session: session, sequence: sequence)
        return Frame(header: header, body: self.body)
    }
}

/// The states of unknown types that endpoints that join later must get.
struct RetainedExtensions: Hashable {
    private struct Key: Hashable {
        let type: UInt16
        let key: UInt16
    }

    private var bodies: [Key: [UInt8]] = [:]

    mutating func apply(_ publication: UnknownPublication) {
        guard publication.flags.contains(.state) else { return }
        let key = Key(type: publication.type, key: publication.key)
        self.bodies[key] = publication.flags.contains(.retained) ? publication.body : nil
    }
}
