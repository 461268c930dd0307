internal import WaymarkClient
package import WaymarkHistory
internal import WaymarkModel
package import WaymarkProtocol

/// An entry of a history in words.
package struct EntryText: Sendable, Hashable {
    /// E.g. `client > dut`, `dut/cluster >`, or the peer or gateway to which something happened.
    package let subject: String
    package let text: String
    /// Lines below it, e.g. the lanes that a lane guidance shows.
    package let details: [String]

    package init(_ entry: History.Entry, in history: History) {
        var details: [String] = []
        switch entry.kind {
        case .frame(let crossed):
            self.subject = Self.way(crossed, entry, history)
            self.text = FrameText.text(crossed)
            details = Self.details(crossed, entry, history)
        case .broken(let peer, let way, let bytes):
            self.subject = way == .toPeer ? "> \(history.name(of: peer))" : "\(history.name(of: peer)) >"
            self.text = "\(GuidanceText.counted(bytes.count, "byte")) that are no frame"
        case .connection(let peer, let event):
            self.subject = history.name(of: peer)
            self.text = Self.text(event)
        case .fault(let fault):
            self.subject = fault.peer.map(history.name) ?? "gateway"
            self.text = "fault \(fault.kind): \(fault.text)"
        case .step(let number, let text):
            self.subject = "--"
            self.text = "step \(number + 1): \(text)"
        case .log(let peer, let line):
            self.subject = peer.map(history.name) ?? "gateway"
            self.text = "log: \(line)"
        }
        self.details = details
    }

    private static func text(_ event: History.Connection) -> String {
        switch event {
        case .connecting: "connects"
        case .admitted(let resumed): resumed ? "connected again, resumed" : "connected"
        case .refused(let reason): "refused: \(reason)"
        case .ended(nil): "connection lost"
        case .ended(let code?): "connection ended: \(code)"
        }
    }

    /// A publication on its way to an endpoint names its client.
    private static func way(_ crossed: CrossedFrame, _ entry: History.Entry, _ history: History) -> String {
        let peer = history.name(of: crossed.peer)
        guard crossed.way == .toPeer else { return "\(peer) >" }
        guard MessageType.published.contains(crossed.frame.header.rawType),
            let client = history.endpoint(crossed.peer)?.moment(at: entry.index)?.state.client,
            !client.isEmpty
        else { return "> \(peer)" }
        return "\(client) > \(peer)"
    }

    private static func details(
        _ crossed: CrossedFrame, _ entry: History.Entry, _ history: History
    ) -> [String] {
        guard crossed.way == .toPeer, crossed.delivery != .dropped,
            case .publication(.currentLaneGuidance(let id?, _))? = crossed.message,
            let state = history.endpoint(crossed.peer)?.moment(at: entry.index)?.state,
            let guidance = state.laneGuidances.first(where: { $0.id == id })
        else { return [] }
        let links = state.maneuvers.filter { $0.linkedLaneGuidance == id }.map { maneuver in
            let angle = maneuver.junctionExitAngle.map { " \($0.degrees)°" } ?? ""
            return "maneuver \(maneuver.id.rawValue), \(maneuver.type.name)\(angle)"
        }
        let link = links.isEmpty ? "" : "   linked from \(links.joined(separator: " and "))"
        return ["lanes \(GuidanceText.lanes(guidance))\(link)"]
    }
}

extension History {
    /// A peer in lines for people: of the only endpoint of a vehicle, the vehicle's name.
    package func name(of peer: PeerID) -> String {
        guard let vehicle = peer.vehicle,
            self.endpoints.count(where: { $0.id.vehicle == vehicle }) == 1
        else { return "\(peer)" }
        return "\(vehicle)"
    }
}

extension History.Entry {
    /// The peer to which it happened; nil for the gateway, and for steps.
    package var peer: PeerID? {
        switch self.kind {
        case .frame(let crossed): crossed.peer
        case .broken(let peer, _, _): peer
        case .connection(let peer, _): peer
        case .fault(let fault): fault.peer
        case .step: nil
        case .log(let peer, _): peer
        }
    }

    /// Frames that only keep a connection alive.
    package var isKeepalive: Bool {
        guard case .frame(let crossed) = self.kind else { return false }
        let type = crossed.frame.header.type
        return type == .ping || type == .pong
    }
}

/// Instants and durations in words.
package enum ClockText {
    /// Seconds with three decimals, e.g. `0.050`; of an instant before the beginning, e.g. of a recording whose clock was set back,
    /// `-0.050`.
    package static func seconds(_ instant: Instant) -> String {
        let milliseconds = instant.nanoseconds / 1_000_000
        let rest = String((milliseconds % 1_000).magnitude)
        let sign = milliseconds < 0 ? "-" : ""
        return "\(sign)\((milliseconds / 1_000).magnitude)." + String(repeating: "0", count: 3 - rest.count)
            + rest
    }

    /// As in a scenario, e.g. `300 ms`, `2 s`, `1.5 s`.
    package static func duration(_ duration: Duration) -> String {
        let milliseconds = duration.milliseconds
        guard milliseconds >= 1_000 else { return "\(milliseconds) ms" }
        var fraction = String(milliseconds % 1_000)
        fraction = String(repeating: "0", count: 3 - fraction.count) + fraction
        while fraction.last == "0" { fraction.removeLast() }
        return "\(milliseconds / 1_000)\(fraction.isEmpty ? "" : "." + fraction) s"
    }
}
