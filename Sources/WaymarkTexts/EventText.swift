package import WaymarkClient
internal import WaymarkProtocol

/// What happened in a gateway, in words, for people who watch it.
package enum EventText {
    // MARK: Who

    /// Who did it, or to whom it happened.
    package static func subject(_ event: GatewayEvent) -> String {
        if !event.peer.isEmpty { return event.peer }
        return event.vehicles.isEmpty ? event.client : GuidanceText.some(event.vehicles)
    }

    /// From whom to whom, e.g. `app > car`.
    package static func way(_ frame: ObservedFrame) -> String {
        switch frame.way {
        case .from(let peer):
            let vehicles = frame.vehicles
            guard frame.sequence > 0, !vehicles.isEmpty else { return "\(peer) >" }
            let names = vehicles.count > 1 ? vehicles.sorted() : Array(vehicles)
            return "\(peer) > \(GuidanceText.some(names.map(\.rawValue)))"
        case .to(let peers): return "> \(GuidanceText.some(peers))"
        }
    }

    // MARK: What

    /// What happened, without who.
    package static func text(_ event: GatewayEvent) -> String {
        let reason = event.reason.isEmpty ? "" : ": \(event.reason)"
        let request = event.requestID.isEmpty ? "" : " (\(event.requestID))"
        switch event.kind {
        case .admitted: return "connected"
        case .resumed: return "connected again, resumed"
        case .closing: return "the gateway closes the connection: \(event.codeName)"
        case .departed: return event.code == 1 ? "left" : "connection lost"
        case .rejected: return "a message was rejected: \(event.codeName)"
        case .helloRefused: return "refused by the access rules\(reason)"
        case .sessionOpened: return "session \(event.session) opened by \(event.client)"
        case .vehiclesRefused: return "\(event.client) gets no vehicle: \(event.codeName)\(reason)"
        case .joined: return "joined session \(event.session)"
        case .left: return "left session \(event.session): \(event.codeName)"
        case .started: return "guidance began in session \(event.session)"
        case .paused: return "guidance is paused: \(event.codeName)"
        case .continued: return "guidance continues"
        case .rerouted: return "guidance continues along another route"
        case .suspended: return "\(event.client) is away; session \(event.session) waits for it"
        case .restored: return "\(event.client) is back in session \(event.session)"
        case .sessionEnded: return "session \(event.session) ended: \(event.codeName)"
        case .stopRequested: return "asks \(event.client) for a stop\(request)"
        case .driveRequested: return "asks \(event.client) for a drive\(request)"
        case .startRequested: return "asks \(event.client) to start a trip\(request)"
        case .requestEnded: return "the request ended: \(event.codeName)\(request)\(reason)"
        case .unknown: return "something that this version does not know"
        }
    }
}
