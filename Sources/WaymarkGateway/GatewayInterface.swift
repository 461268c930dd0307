package import WaymarkAccess
package import WaymarkProtocol

/// Names a group of endpoints that receive the same bytes: those of one session with one profile.
package struct AudienceID: Sendable, Hashable, Codable {
    // Why 64 bits: every join uses one up, for as long as restarts hand the counter over.
    package var rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

extension Gateway {
    /// An event that the gateway processes.
    ///
    /// Why `indirect`: what is large and rare must not make an event of every published frame as large.
    package enum Event: Sendable, Hashable {
        /// A peer sent a Hello that its listener allows; answered by ``Action/admit(_:_:)`` or ``Action/refuse(_:_:)``.
        ///
        /// `subject` is who the access rules see. `token` is fresh: 128 random bits that the driver drew for this connection.
        indirect case arrived(
            ConnectionID, Hello, Principal, subject: AccessSubject = AccessSubject(), token: ResumptionToken)
        /// The first whole frame of a peer came after a Welcome that resumed it, whatever it is; the event about the frame follows.
        case confirmed(ConnectionID)
        /// What an admitted endpoint asks for, checked by the codec.
        indirect case requested(ConnectionID, ReceivedRequest, SessionID)
        /// Another control message of an admitted peer.
        case received(ConnectionID, Message, SessionID)
        /// An observer's request that a client simulate a drive; `subject` is who the access rules see.
        indirect case simulationRequested(ConnectionID, SimulateDrive, subject: AccessSubject)
        /// Published frames of an admitted navigation client, each decoded and checked by the codec.
        case published(ConnectionID, PublishedFrames)
        /// What a connection received or sent by itself. Only for observers; the gateway ignores it.
        indirect case seen(ConnectionID, Sighting)
        /// A published frame whose body the codec rejected. The client was told; the frame's sequence number is used up.
        case publicationRejected(ConnectionID, FrameHeader)
        /// An event of this type that an endpoint sent was not forwarded in this session: the client does not read, and the endpoint's share of
        /// what may wait is full.
        case eventRejected(ConnectionID, MessageType, SessionID, EventLimit)
        /// An admitted (or arriving) peer has gone; `clean` after its Goodbye.
        case departed(ConnectionID, clean: Bool)
        /// The armed instant has come.
        case deadlineReached
        /// The configuration changed. What is withheld from vehicles changes at once, and what the access rules no longer allow ends;
        /// the features that a client was granted change at its next Hello.
        indirect case policyChanged(Policy)
        /// The next step of operations of a connection is due, see ``Gateway/hasSteps(of:)``.
        case stepDue(of: ConnectionID?)
    }

    /// What crosses a connection without being an event or an action, see ``Event/seen(_:_:)``.
    package enum Sighting: Sendable, Hashable {
        /// A control message that the codec accepted; the event behind it is about it.
        case received(Frame)
        /// A message of the connection itself.
        case sent(Message)
        /// The codec rejected a message.
        case rejected(Rejection)
    }

    /// What the driver must do, in order. `indirect` as in ``Event``.
    package enum Action: Sendable, Hashable {
        indirect case admit(ConnectionID, Welcome)
        indirect case refuse(ConnectionID, Goodbye)
        /// An observer sent a Hello that the access rules allow, perhaps with the token of its last Welcome. The last token is fresh.
        indirect case observe(
            ConnectionID, ObserverHello, ResumptionToken?, Principal, AccessSubject, ResumptionToken)
        /// Encode and send. To a client it waits as its ``Relay`` says.
        case send(ConnectionID, Envelope)
        /// Forward a request of this vehicle to a client, with the vehicle's id, in this session.
        indirect case forward(ConnectionID, ReceivedRequest, VehicleID, SessionID)
        /// Send these bytes, in order: a snapshot, or what was missed. Never conflated.
        case sendFrames(ConnectionID, [Frame])
        /// Send these bytes to every member of the audience; a state (with a key) may be conflated.
        case publish(AudienceID, PublishedFrames)
        case join(ConnectionID, AudienceID)
        case leave(ConnectionID, AudienceID)
        /// Drop what is queued of this session, or of all sessions for none, and not yet partly written.
        case purge(ConnectionID, SessionID)
        /// Drop only the ShareDestinations among it.
        case purgeShares(ConnectionID, SessionID)
        indirect case close(ConnectionID, Goodbye)
        /// Hand in ``Event/deadlineReached`` at this instant; replaces the one armed before.
        case arm(deadline: Instant)
        /// For the log; no action is needed.
        case note(Note)
    }

    /// What the operator decides.
    package struct Policy: Sendable, Hashable {
        /// What happens when a second client wants a vehicle that is guided.
        package enum Arbitration: String, Sendable, Hashable, CaseIterable {
            /// The second is refused.
            case refuse
            /// The second takes over.
            case replace
            /// The one with the higher priority has it; a tie is refused.
            case priority
        }

        package var arbitration = Arbitration.refuse
        /// Overrides per vehicle.
        package var vehicleArbitration: [VehicleID: Arbitration] = [:]
        /// Features withheld from every vehicle (``WithheldReason/policy``).
        package var withheldFeatures: Set<Feature> = []
        /// Extensions that the gateway does not forward.
        package var withheldExtensions: Set<ExtensionName> = []
        /// Vehicles whose owner has not consented to route segments; nil set means every vehicle has consented.
        package var routeSharingVehicles: Set<VehicleID>?
        package var limits = GatewayLimits()
        package var acknowledgements = AcknowledgementPace()
        /// Who may be and guide which vehicle.
        package var access = AccessPolicy()

        package init() {}

        /// The arbitration that holds for `vehicle`.
        package func arbitration(for vehicle: VehicleID) -> Arbitration {
            self.vehicleArbitration[vehicle] ?? self.arbitration
        }
    }

    /// How many peers, sessions and requests there are now.
    package struct Census: Sendable, Hashable {
        package var vehicles: Int
        package var endpoints: Int
        package var clients: Int
        package var sessions: Int
        package var requests: Int
    }

    /// Counts since the process started. The driver exports them.
    package struct Counters: Sendable, Hashable, Codable {
        /// By message type.
        package var framesPublished = CodeCounts()
        /// Those that changed something, each counted for each endpoint of the session, also in its grace time.
        package var deliveries = CodeCounts()
        package var framesUnchanged: UInt64 = 0
        package var framesRejected: UInt64 = 0
        package var sessionsOpened: UInt64 = 0
        /// By end reason.
        package var sessionsEnded = CodeCounts()
        package var requestsRouted: UInt64 = 0
        /// By outcome.
        package var requestsEnded = CodeCounts()
        /// Of the same requests.
        package var requestTimes = RequestTimes()
        /// Delays until endpoints had received publications; nil: none was measured.
        package var receivedDelays: DelayCounts?
        /// The same until their content was on a display.
        package var shownDelays: DelayCounts?
        /// Features that endpoints were told are withheld, by reason.
        package var featuresWithheld = CodeCounts()
        /// Those with the whole state.
        package var snapshotsSent: UInt64 = 0
        package var acknowledgements: UInt64 = 0
        /// What all of it cost.
        package var work = WorkMeter()

        package init() {}
    }
}

/// The gateway's own limits and times. Each is a setting.
package struct GatewayLimits: Sendable, Hashable {
    /// The grace time: how long a peer whose connection was cut may resume.
    package var grace: Duration = .seconds(30)
    /// From a request's arrival at a client to its answer.
    package var requestTimeout: Duration = .seconds(10)
    /// From a prompt, or a client's own prompt, to the user's answer.
    package var promptTimeout: Duration = .seconds(60)
    /// From a destination share to the vehicle's answer.
    package var shareTimeout: Duration = .seconds(10)
    /// Endpoints and clients that are connected or may resume.
    package var peersMax = 40_000
    /// Those of one user id or credential.
    package var peersPerUserMax = 24_000
    /// Vehicles that have endpoints, or that sessions wait for.
    package var vehiclesMax = 50_000
    /// Those of one user: of its endpoints, or that only its sessions wait for.
    package var vehiclesPerUserMax = 25_000
    /// Vehicles without endpoints that sessions wait for.
    package var vehiclesAwaitedMax = 20_000
    /// Those of the sessions of one user.
    package var vehiclesAwaitedPerUserMax = 10_000
    package var sessionsMax = 10_000
    /// Those of one user's clients.
    package var sessionsPerUserMax = 5_000
    package var sessionsPerClientMax = 256
    package var endpointsPerVehicleMax = 16
    /// Requests one vehicle may have open at a time.
    package var requestsOpenMax = 8
    /// Open requests of all vehicles that have more than 512 bytes, in bytes.
    package var requestBytesInAllMax = 67_108_864
    /// Those of one user's vehicles.
    package var requestBytesPerUserMax = 33_554_432
    /// Ended requests whose outcome is kept, per vehicle, for a resent request.
    package var outcomesKeptMax = 64
    package var sharesOpenMax = 8
    /// Retained state of one session, in bytes. Every frame counts as 128 bytes more than it has.
    ///
    /// Less than an ``Outbox`` may hold, since an endpoint that joins is sent all of it.
    package var retainedBytesMax = 3_145_728
    /// Retained state of all sessions of one client, in bytes.
    package var retainedBytesPerClientMax = 67_108_864
    /// Retained state of all sessions of one user id or credential, in bytes.
    package var retainedBytesPerUserMax = 268_435_456
    /// Retained state of all sessions, in bytes.
    package var retainedBytesInAllMax = 536_870_912
    /// Recent frames of one session, as one profile gets them, kept for resumption, in bytes.
    package var replayBytesMax = 262_144
    /// Recent frames of all sessions, in bytes. Over it fewer are kept, and an endpoint that resumes gets a snapshot instead.
    package var replayBytesInAllMax = 268_435_456
    /// Those of the sessions of one user.
    package var replayBytesPerUserMax = 134_217_728
    /// Distinct profiles that one session is fitted to for the endpoints of one user, apart from ``Profile/bare``.
    package var profilesPerSessionMax = 32
    /// The longest frame that a peer may send, and that content is fitted to, header included.
    package var frameBytesMax = ConnectionLimits().frameBytesMax
    /// Observers that are connected or may resume.
    package var observersMax = 32
    /// Those of one user id or credential.
    package var observersPerUserMax = 8
    /// What observers are told and may not have read yet, kept once for all of them, in bytes. The oldest is dropped.
    package var observationBytesMax = 67_108_864
    /// Of one session at a time.
    package var route = RouteContent.Limits()

    package init() {}
}
