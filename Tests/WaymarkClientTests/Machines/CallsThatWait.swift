import WaymarkProtocol

@testable import WaymarkClient

// What tests wait for: the calls of an app that have reached the machines.
extension VehicleEndpoint {
    /// Calls that wait for the outcome of a request, by its id.
    var waiting: [Identifier: [WaitingRequest]] {
        Dictionary(grouping: self.link.peer.requests, by: \.id)
    }

    /// Calls that wait for the end of guidance.
    var cancellations: [WaitingCancellation] { self.link.peer.cancellations }

    /// The session's id on the wire.
    var sessionID: SessionID { self.link.peer.sessionID }
}

extension NavigationClient {
    struct Session {
        let events: Readers<SessionEvent>
        fileprivate let machine: ClientSession

        func isSharing(_ share: Identifier) -> Bool { self.machine.isSharing(share) }
    }

    /// By their names in the machine.
    var sessions: [Identifier: Session] {
        var sessions: [Identifier: Session] = [:]
        for (key, record) in self.records {
            guard let machine = self.link.peer.sessions[key] else { continue }
            sessions[key] = Session(events: record.events, machine: machine)
        }
        return sessions
    }
}

extension AppSession {
    init(
        _ opening: OpenSession,
        onWaypoint: (@Sendable (WaypointInquiry, NavigationSession) async -> WaypointAnswer)?
    ) { self.init(opening.requestID, onWaypoint: onWaypoint, onStartTrip: nil) }
}
