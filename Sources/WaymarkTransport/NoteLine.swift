internal import Logging
internal import WaymarkGateway
internal import WaymarkProtocol
internal import WaymarkTelemetry

// The log lines of the gateway's notes.
extension Gateway.Note {
    /// The level of all notes: an operator sees the life of every session by default.
    static var level: Logger.Level { .info }

    var event: LoggedEvent {
        switch self.turn {
        case .opened: .sessionOpened
        case .refused, .guidanceRefused: .vehicleRefused
        case .helloRefused: .accessRefused
        case .joined: .vehicleJoined
        case .started: .guidanceStarted
        case .paused: .guidancePaused
        case .resumed: .guidanceResumed
        case .rerouted: .guidanceRerouted
        case .suspended: .clientAway
        case .restored: .clientBack
        case .left: .vehicleLeft
        case .ended: .sessionEnded
        case .waypointRequested: .waypointRequested
        case .destinationRequested: .destinationRequested
        case .tripRequested: .startRequested
        case .requestEnded: .requestEnded
        }
    }

    /// Ids, reasons and numbers; never a geographic position.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        if self.session != .none { metadata[LogKey.session] = "\(self.session.rawValue)" }
        if let client = self.client { metadata[LogKey.client] = "\(client)" }
        switch self.vehicles.count {
        case 0: break
        case 1: metadata[LogKey.vehicle] = "\(self.vehicles[0])"
        default: metadata[LogKey.vehicle] = .array(self.vehicles.map { "\($0)" })
        }
        switch self.turn {
        case .started(let generation), .rerouted(let generation):
            metadata[LogKey.generation] = "\(generation)"
        case .paused(let reason): metadata[LogKey.reason] = "\(reason)"
        case .left(let reason), .ended(let reason): metadata[LogKey.reason] = "\(reason)"
        case .refused(let code): metadata[LogKey.code] = "\(code)"
        case .guidanceRefused(let decider):
            metadata[LogKey.code] = "\(ErrorCode.notAuthorized)"
            metadata[LogKey.rule] = "\(decider)"
        case .helloRefused(let decider): metadata[LogKey.rule] = "\(decider)"
        case .requestEnded(_, let outcome, let cause):
            metadata[LogKey.outcome] = "\(outcome)"
            metadata[LogKey.reason] = "\(cause)"
        case .opened, .joined, .resumed, .suspended, .restored, .waypointRequested, .destinationRequested,
            .tripRequested:
            break
        }
        return metadata
    }

    /// Counts the lines of one vehicle together; those about several vehicles, by their client.
    var subject: LogSubject? {
        // The id in a refused Hello is unverified: it must not use up the lines of the peer that owns it.
        if case .helloRefused = self.turn { return nil }
        if self.vehicles.count == 1 { return .vehicle(self.vehicles[0]) }
        return self.client.map { .client($0) }
    }
}
