internal import Foundation
internal import WaymarkClient

/// What `waymark status` shows.
struct StatusReport: Sendable {
    let address: ServiceAddress
    let snapshot: GatewaySnapshot
    let counters: GatewayCounters
    /// Some time before; nil: no rates are shown.
    private let before: GatewayCounters?
    /// By peer. Those for which everything is 0 are not here.
    let connections: [String: GatewayCounters.Connection]
    let sessions: [UInt32: GatewayCounters.Session]
    private let sessionsBefore: [UInt32: GatewayCounters.Session]

    init(
        address: ServiceAddress, snapshot: GatewaySnapshot, counters: GatewayCounters,
        before: GatewayCounters?
    ) {
        self.address = address
        self.snapshot = snapshot
        self.counters = counters
        self.before = before
        self.connections = Dictionary(counters.connections.map { ($0.peer, $0) }) { $1 }
        self.sessions = Dictionary(counters.sessions.map { ($0.id, $0) }) { $1 }
        self.sessionsBefore = Dictionary((before?.sessions ?? []).map { ($0.id, $0) }) { $1 }
    }

    /// Publications each second.
    var framesPerSecond: Double? {
        self.rate { Double($0[.publications]) }
    }

    /// Publications to one endpoint each, each second.
    var deliveriesPerSecond: Double? {
        self.rate { Double($0[.deliveries]) }
    }

    /// Publications of a session each second; nil if it began meanwhile.
    func framesPerSecond(of session: UInt32) -> Double? {
        guard let before, let old = self.sessionsBefore[session], let new = self.sessions[session] else {
            return nil
        }
        return self.perSecond(Double(new.sequence) - Double(old.sequence), since: before)
    }

    /// What waits for a peer to read; nil while it is away.
    func waitingBytes(_ peer: String, _ presence: GatewaySnapshot.Presence) -> UInt64? {
        guard case .connected = presence else { return nil }
        return self.connections[peer]?.waitingBytes ?? 0
    }

    private func rate(_ value: (GatewayCounters) -> Double) -> Double? {
        guard let before else { return nil }
        return self.perSecond(value(self.counters) - value(before), since: before)
    }

    /// A restart of the gateway in between makes the difference negative: nothing is known then.
    private func perSecond(_ difference: Double, since before: GatewayCounters) -> Double? {
        let seconds = self.counters.time.timeIntervalSince(before.time)
        guard seconds > 0, difference >= 0 else { return nil }
        return (difference / seconds * 10).rounded() / 10
    }
}
