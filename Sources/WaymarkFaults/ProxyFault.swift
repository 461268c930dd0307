internal import WaymarkHistory
internal import WaymarkProtocol
package import WaymarkScenario

extension ProxyFault {
    /// Whether it is one of the peer's link.
    func concerns(_ peer: PeerID) -> Bool {
        guard case .link(let selector, _) = self.fault.target else { return false }
        return selector?.names(peer) ?? true
    }

    /// Whether messages of this peer begin it on the links of others.
    func follows(_ peer: PeerID) -> Bool {
        guard !self.hasOwnEvent, case .message(let message)? = self.fault.after?.pattern else { return false }
        return message.of.names(peer)
    }

    /// Whether it begins with this frame, or with a later one like it.
    func follows(_ frame: CrossedFrame) -> Bool {
        guard self.follows(frame.peer), case .message(let message)? = self.fault.after?.pattern else {
            return false
        }
        let own = MessagePattern(message.type, of: PeerSelector(frame.peer), where: message.fields)
        return own.matches(History.Entry(index: 0, instant: frame.sent, kind: .frame(frame)))
    }

    /// The fault for the link of one peer, which has lasted for `elapsed` already; nil if it is over, or if it waits for a message of
    /// another peer. `hasBegun`: that message has come.
    func linkFault(of peer: PeerID, elapsed: Duration, hasBegun: Bool) -> LinkFault? {
        var fault = self.fault
        if let event = fault.after, case .message(let message) = event.pattern {
            if self.hasOwnEvent || self.follows(peer) {
                let own = MessagePattern(message.type, of: PeerSelector(peer), where: message.fields)
                fault.after = Scenario.Event(
                    pattern: .message(own), count: event.count, location: event.location)
                return LinkFault(fault, of: peer)
            }
            guard hasBegun else { return nil }
            fault.after = nil
        }
        if let duration = fault.duration {
            guard duration > elapsed else { return nil }
            fault.duration = duration - elapsed
        }
        return LinkFault(fault, of: peer)
    }

    /// It happens at once, to the connections that are open.
    var isMomentary: Bool {
        guard case .link(_, let kind) = self.fault.target else { return false }
        return [.cut, .halfClose].contains(kind) && self.fault.after == nil && self.fault.atByte == nil
            && self.fault.times == nil
    }

    /// As in a list of faults.
    package var text: String {
        guard let event = self.fault.after else { return self.fault.text }
        let count = event.count.map { $0 > 1 ? " number \($0)" : "" } ?? ""
        guard !self.hasOwnEvent, case .message(let message) = event.pattern else {
            return "\(self.fault.text) after \(event.pattern)\(count)"
        }
        return "\(self.fault.text) after \(event.pattern)\(count) of \(message.of)"
    }
}

extension PeerSelector {
    fileprivate init(_ peer: PeerID) {
        switch peer {
        case .endpoint(let vehicle, let endpoint): self = .endpoint(vehicle, endpoint)
        case .client(let client): self = .client(client)
        }
    }

    /// Where nothing is declared, a name is that of a vehicle or of a client.
    fileprivate func names(_ peer: PeerID) -> Bool {
        if case .vehicle(let id) = self, case .client(let client) = peer {
            return client.rawValue == id.rawValue
        }
        return self.contains(peer)
    }
}
