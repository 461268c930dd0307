import ExpectedState
import WaymarkProtocol

extension UnknownPublication {
    /// One of three types and three keys, with any flags that a client may set. Few values, so that some do not change.
    init(_ random: inout SeededRandom) {
        let type = 0x01FD + UInt16(random.number(0...2))
        var flags: FrameHeader.Flags = .skippable
        if !random.once(in: 4) { flags.insert(.state) }
        if !random.once(in: 4) { flags.insert(.retained) }
        let key = flags.contains(.state) ? UInt16(random.number(0...2)) : 0
        let body = [UInt8](repeating: 7, count: random.number(0...2))
        self.init(type: type, flags: flags, key: key, body: body)
    }
}
