package import WaymarkHistory
internal import WaymarkProtocol
package import WaymarkScenario
internal import WaymarkTexts

extension LinkFault {
    /// A scenario's fault on the link of one peer; nil if it is none of a link.
    ///
    /// - Parameters:
    ///   - fault: What the scenario says.
    ///   - peer: Whose link it is. An event that is a message of this peer begins the fault at exactly that frame.
    package init?(_ fault: Scenario.Fault, of peer: PeerID) {
        guard case .link(_, let name) = fault.target else { return nil }
        let kind: Kind =
            switch name {
            case .delay: .delay(fault.by)
            case .jitter: .jitter(fault.by)
            case .throttle: .throttle(bytesPerSecond: fault.bytesPerSecond)
            case .slice: .slice(bytes: fault.bytes)
            case .stall: .stall
            case .cut: .cut(fault.ending == .fin ? .finished : .reset)
            case .drop: .drop
            case .duplicate: .duplicate
            case .reorder: .reorder
            case .corrupt: .corrupt
            case .halfClose: .halfClose
            case .refuse: .refuse
            case .blackhole: .blackhole
            case .chaos: .chaos(every: fault.every, fault.chaosNames)
            }
        self.init(
            kind, ways: fault.ways, after: fault.trigger(of: peer), atByte: fault.atByte, times: fault.times,
            for: fault.duration)
    }
}

extension Scenario.Fault {
    fileprivate var ways: Set<WaymarkHistory.Way> {
        switch self.towards {
        case .gateway: [.toGateway]
        case .peer: [.toPeer]
        case .both: Set(WaymarkHistory.Way.allCases)
        }
    }

    fileprivate var chaosNames: [LinkFault.Name] {
        let names = self.kinds.compactMap { LinkFault.Name(rawValue: $0.rawValue) }
        return names.isEmpty ? LinkFault.Name.single : names
    }

    /// Its event is a message on the link of this peer: the link itself finds it.
    package func isTriggered(on peer: PeerID) -> Bool {
        guard case .message(let message)? = self.after?.pattern else { return false }
        return message.of.contains(peer)
    }

    fileprivate func trigger(of peer: PeerID) -> LinkFault.Trigger? {
        guard self.isTriggered(on: peer), let after, case .message(let message) = after.pattern else {
            return nil
        }
        return LinkFault.Trigger(count: after.count ?? 1) { message.matches($0, of: peer) }
    }

    /// The fault in words, for the history, e.g. `kill gateway for 800 ms`.
    package var text: String {
        var time = self.by > .zero ? " by \(ClockText.duration(self.by))" : ""
        if let duration { time += " for \(ClockText.duration(duration))" }
        switch self.target {
        case .gateway(let kind): return "\(kind.rawValue) gateway\(time)"
        case .link(let selector, let kind):
            return "\(kind.rawValue) \(selector.map { "\($0)" } ?? "*")\(time)"
        }
    }
}

extension MessagePattern {
    /// Whether a frame on the link of a peer is meant.
    fileprivate func matches(_ frame: Frame, of peer: PeerID) -> Bool {
        if let type { guard frame.header.rawType == type else { return false } }
        // The direction is any: the pattern looks at the content alone.
        let crossed = CrossedFrame(frame, of: peer, .toPeer, sent: Instant(nanoseconds: 0))
        return self.matches(History.Entry(index: 0, instant: crossed.sent, kind: .frame(crossed)))
    }
}
