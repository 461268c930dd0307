internal import GatewayInMemory
internal import WaymarkCodec
internal import WaymarkConnections
internal import WaymarkProtocol

/// The random numbers of a network, of which its sockets take some.
final class RandomSource {
    var random: SeededRandom

    init(_ random: SeededRandom) { self.random = random }
}

// Events of connections, which the inspector sees, and the faults of sockets: they accept less than there is room for, and break while they are
// written.
extension GatewayInspector: HostTap {
    func see(_ event: HostEvent, of id: ConnectionID) {
        switch event {
        case .submitting: self.service.submit(id)
        case .processed: self.service.endBatch(id)
        case .held:
            self.happenings.insert(.deliveredInRounds)
            self.service.excuse(id)
        case .ended(let isInMidFrame): if isInMidFrame { self.happenings.insert(.cutInMidFrame) }
        case .removed:
            self.service.removeVictim(id)
            self.sockets[id] = nil
            self.removed.append(id)
        case .noted(.admitted): break
        case .noted(.rejected(let rejection)):
            if let happening = Happening(.error(rejection)) { self.happenings.insert(happening) }
        case .noted(.closing(let goodbye)):
            self.note("#\(id.rawValue) is sent \(goodbye)")
            if goodbye.code == .slowConsumer { self.slowConsumers.append(id) }
            if let happening = Happening(.goodbye(goodbye)) { self.happenings.insert(happening) }
        }
    }

    /// The connections that were closed with SLOW_CONSUMER since the last call.
    func takeSlowConsumers() -> [ConnectionID] {
        defer { self.slowConsumers = [] }
        return self.slowConsumers
    }

    /// The connections that were removed since the last call.
    func takeRemoved() -> [ConnectionID] {
        defer { self.removed = [] }
        return self.removed
    }

    func accept(_ byteCount: Int, room: Int, on id: ConnectionID) -> (taken: Int, told: Int) {
        var taken = min(room, byteCount)
        if room < .max, self.sockets[id]?.once(in: 8) == true {
            taken = self.sockets[id]?.number(0...taken) ?? taken
        }
        return (taken, self.fault == .loseByte && taken < byteCount ? taken + 1 : taken)
    }

    func write(on id: ConnectionID, isPeerGone: Bool) -> HostWrite {
        if isPeerGone, self.source.random.once(in: 2) {
            self.happenings.insert(.brokenWhileWriting)
            return .fails
        }
        return self.fault == .overtakeChannel ? .done : .waits
    }

    var bytesBehindGoodbye: [UInt8] {
        self.fault == .writeAfterGoodbye ? Array(Codec.ping(nonce: 1).bytes) : []
    }
}
