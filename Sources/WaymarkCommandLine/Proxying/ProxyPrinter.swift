internal import Foundation
internal import WaymarkFaults
internal import WaymarkHistory
internal import WaymarkProtocol
internal import WaymarkRig
internal import WaymarkRigSockets
internal import WaymarkTexts

/// Prints what a proxy did: a line each, or an object each.
struct ProxyPrinter: Sendable {
    /// Something that happened, and when.
    struct Line: Sendable {
        let event: ProxyEvent
        /// Since the proxy began.
        let since: Duration
        let time: Date
    }

    private static let columns = 80
    /// Behind the time.
    private static let indent = 11

    /// With the ports that the system chose.
    private let pairs: [ProxyServer.Pair]
    private let isJSON: Bool

    init(_ pairs: [ProxyServer.Pair], isJSON: Bool) { (self.pairs, self.isJSON) = (pairs, isJSON) }

    func printOpened(control: String?) {
        for line in self.opened(control, Date()) { Terminal.line(line) }
    }

    func print(_ line: Line) { for line in self.lines(line) { Terminal.line(line) } }

    func printSummary(_ counts: ProxyServer.Counts, _ duration: Duration) {
        for line in self.summary(counts, duration, Date()) { Terminal.line(line) }
    }

    // MARK: Lines

    func opened(_ control: String?, _ time: Date) -> [String] {
        var lines: [String] = []
        for pair in self.pairs {
            let object = ["kind": "listening", "listen": "\(pair.listen)", "to": "\(pair.gateway)"]
            let text = "listening on \(pair.listen), to \(pair.gateway)"
            lines +=
                self.isJSON
                ? [JSON.line(object, at: time)]
                : Terminal.wrapped(text, columns: Self.columns, hanging: 10)
        }
        if let control, !self.isJSON {
            lines += Terminal.wrapped("control socket \(control)", columns: Self.columns, hanging: 10)
        }
        return lines
    }

    func lines(_ line: Line) -> [String] {
        guard !self.isJSON else { return [JSON.line(self.object(line.event), at: line.time)] }
        let instant = Instant(nanoseconds: line.since.nanoseconds)
        let seconds = ClockText.seconds(instant)
        let time = String(repeating: " ", count: max(0, Self.indent - 2 - seconds.utf8.count)) + seconds
        return Terminal.wrapped(
            "\(time)  \(Terminal.printable(self.text(line.event)))", columns: Self.columns,
            hanging: Self.indent)
    }

    func summary(_ counts: ProxyServer.Counts, _ duration: Duration, _ time: Date) -> [String] {
        guard !self.isJSON else {
            let object: [String: Any] = [
                "kind": "proxy", "connections": counts.connections, "faults": counts.faults,
                "bytesToGateway": counts.bytesToGateway, "bytesToPeer": counts.bytesToPeer,
                "seconds": Double(duration.milliseconds) / 1_000,
            ]
            return [JSON.line(object, at: time)]
        }
        let faults = counts.faults.keys.sorted().map { "\($0) \(counts.faults[$0] ?? 0)" }
        let text =
            "\(GuidanceText.counted(counts.connections, "connection")) in \(ClockText.duration(duration)), "
            + "\(counts.bytesToGateway) bytes to the gateway, \(counts.bytesToPeer) to peers; "
            + (faults.isEmpty ? "no fault acted" : "faults: \(faults.joined(separator: ", "))")
        return Terminal.wrapped(text, columns: Self.columns)
    }

    // MARK: Events

    private func text(_ event: ProxyEvent) -> String {
        switch event {
        case .connected(let connection):
            return "\(self.name(connection)) connected through \(self.pairs[connection.pair].listen)"
        case .fault(let record): return "\(self.name(record.peer)): \(record.kind): \(record.text)"
        case .ended(let connection, let ending):
            return "\(self.name(connection)) \(ending.text); \(connection.bytesToGateway) bytes to the "
                + "gateway, \(connection.bytesToPeer) back"
        case .control(let text): return "control: \(text)"
        }
    }

    private func name(_ connection: ProxyConnection) -> String {
        "\(self.name(connection.peer)) (\(connection.number))"
    }

    private func name(_ peer: PeerID?) -> String {
        guard let peer, !ProxyLinks.isUnnamed(peer) else { return "a peer without a Hello" }
        return "\(peer)"
    }

    private func object(_ event: ProxyEvent) -> [String: Any] {
        switch event {
        case .connected(let connection):
            return connection.json.merging(
                ["kind": "connected", "listen": "\(self.pairs[connection.pair].listen)"]
            ) { $1 }
        case .fault(let record):
            let peer = record.peer.flatMap { ProxyLinks.isUnnamed($0) ? nil : $0 }
            return [
                "kind": "fault", "fault": record.kind, "text": record.text,
                "peer": peer.map { "\($0)" } ?? NSNull(),
            ]
        case .ended(let connection, let ending):
            return connection.json.merging(["kind": "ended", "reason": ending.text]) { $1 }
        case .control(let text): return ["kind": "control", "text": text]
        }
    }
}

extension ProxyEnding {
    /// Behind the name of the connection.
    var text: String {
        switch self {
        case .closedByPeer: "closed by the peer"
        case .closedByGateway: "closed by the gateway"
        case .resetByPeer: "reset by the peer"
        case .resetByGateway: "reset by the gateway"
        case .byFault: "ended by a fault"
        case .refused: "refused"
        case .noGateway(let reason): "reset: the gateway cannot be reached: \(reason)"
        case .proxyEnded: "closed because the proxy ends"
        }
    }
}
