internal import OrderedCollections
internal import WaymarkAccess
package import WaymarkModel
package import WaymarkProtocol

extension Gateway {
    /// An event in the life of a session or a vehicle, for the log. The driver need not act on it; it has no locations. Published
    /// state makes no notes.
    package struct Note: Sendable, Hashable {
        package enum Turn: Sendable, Hashable {
            /// A client opened a session.
            case opened
            /// A client was refused some vehicles. ``Note/session`` is none if no session was opened.
            case refused(ErrorCode)
            /// The access rules refused a client some vehicles, or no longer let it guide one; with the file and line of the rule.
            case guidanceRefused(by: String)
            /// The access rules refused a Hello, or no longer let a peer be connected; with the file and line of the rule.
            case helloRefused(by: String)
            /// A vehicle that asked for guidance joined a session for any vehicle that asked.
            case joined
            case started(generation: UInt32)
            case paused(PauseReason)
            case resumed
            /// Guidance continues on another route.
            case rerouted(generation: UInt32)
            /// The client's connection was cut; its sessions are kept for the grace time.
            case suspended
            /// The client has resumed.
            case restored
            /// A vehicle left its session; ``SessionEndReason/replaced``: another session took it over.
            case left(SessionEndReason)
            case ended(SessionEndReason)
            /// A vehicle asks a client to stop on the way.
            case waypointRequested(Identifier)
            /// A vehicle asks a client for guidance to a destination.
            case destinationRequested(Identifier)
            /// A vehicle asks its client to start a trip of the previews.
            case tripRequested(Identifier)
            case requestEnded(Identifier, Outcome, OutcomeCause)
        }

        package var turn: Turn
        /// ``SessionID/none`` if it is about no session.
        package var session: SessionID
        /// nil if no client is involved.
        package var client: ClientID?
        // Why not a list of one: each request would allocate one.
        fileprivate enum Subject: Sendable, Hashable {
            case vehicle(VehicleID)
            case vehicles([VehicleID])
        }

        fileprivate var subject: Subject

        /// As many vehicles of a session are named.
        fileprivate static let vehiclesMax = ProtocolConstants.vehiclesPerSessionMax

        /// The vehicles that it is about; of a session, the first ones.
        package var vehicles: [VehicleID] {
            switch self.subject {
            case .vehicle(let vehicle): [vehicle]
            case .vehicles(let vehicles): vehicles
            }
        }
    }

    /// Emits a note about a whole session.
    func note(_ turn: Note.Turn, of session: GatewaySession?, into actions: inout [Action]) {
        guard let session else { return }
        let note = Note(
            turn: turn, session: session.id, client: session.client,
            subject: .vehicles(Array(session.vehicles.prefix(Note.vehiclesMax))))
        actions.append(.note(note))
    }

    /// Emits a note about one vehicle.
    func note(
        _ turn: Note.Turn, of vehicle: VehicleID, in session: SessionID, _ client: ClientID?,
        into actions: inout [Action]
    ) {
        let note = Note(turn: turn, session: session, client: client, subject: .vehicle(vehicle))
        actions.append(.note(note))
    }

    /// Emits a note about a client without a session.
    func note(_ turn: Note.Turn, ofClient client: ClientID, into actions: inout [Action]) {
        let note = Note(turn: turn, session: .none, client: client, subject: .vehicles([]))
        actions.append(.note(note))
    }

    /// Emits one note for each reason for which vehicles were refused to a session.
    func noteRefused(
        _ refused: [VehicleStatus], in session: SessionID, _ client: ClientID, into actions: inout [Action]
    ) {
        var vehicles: OrderedDictionary<Note.Turn, [VehicleID]> = [:]
        for status in refused {
            switch status.standing {
            case .refused(.notAuthorized):
                let decision = self.decision(client, toGuide: status.vehicle)
                vehicles[.guidanceRefused(by: decision.decider), default: []].append(status.vehicle)
            case .refused(let code): vehicles[.refused(code), default: []].append(status.vehicle)
            case .joined, .awaited, .left: break
            }
        }
        for (turn, vehicles) in vehicles {
            let note = Note(turn: turn, session: session, client: client, subject: .vehicles(vehicles))
            actions.append(.note(note))
        }
    }
}
