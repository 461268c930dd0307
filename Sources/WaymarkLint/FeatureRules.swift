internal import WaymarkHistory
internal import WaymarkModel
internal import WaymarkProtocol

/// LINT-FEATURE-UNUSED.
struct FeatureUnusedRule: LintRule {
    /// A road without a name is no mistake, but a drive of this length has one with a name.
    private static let guidedMin = Duration.seconds(60)
    /// Many junctions have no lanes, and in small towns the map knows none of a whole route: of so many maneuvers one has some.
    private static let maneuversMin = 100
    /// The number of clients that are followed: any number may come and go.
    private static let clientsMax = 1_024

    private struct Client {
        /// Features that its Hello declared and that it has not used, of those that are judged here.
        var unused: Set<Feature> = []
        var maneuverCount = 0
        /// The time of guidance that has ended, of all its sessions.
        var guided = Duration.zero
        /// The instants at which guidance of its sessions began.
        var started: [SessionID: Instant] = [:]
    }

    private var clients: [PeerID: Client] = [:]

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        switch step {
        case .message(.client(let id), .toGateway, .hello(let hello), _):
            self.declare(hello, .client(id))
        case .published(let session, let client, let publication):
            self.note(publication, session, client, &context)
        case .ended(let session, let client):
            self.clients[client]?.started[session] = nil
        default: break
        }
    }

    private mutating func declare(_ hello: Hello, _ client: PeerID) {
        guard case .navigation(let navigation) = hello.role,
            self.clients[client] == nil, self.clients.count < Self.clientsMax
        else { return }
        let judged = [Feature.currentRoadName, .laneGuidance].filter { navigation.features.contains($0) }
        self.clients[client] = Client(unused: Set(judged))
    }

    private mutating func note(
        _ publication: Publication, _ session: SessionID, _ client: PeerID, _ context: inout LintContext
    ) {
        guard self.clients[client]?.unused.isEmpty == false else { return }
        self.clients[client]?.maneuverCount += publication.addedManeuvers.all.count
        if !publication.addedLaneGuidances.all.isEmpty { self.clients[client]?.unused.remove(.laneGuidance) }
        switch publication {
        case .startGuidance: self.clients[client]?.started[session] = context.instant
        case .plain(.currentRoadName): self.clients[client]?.unused.remove(.currentRoadName)
        case .finishGuidance, .cancelGuidance: self.judge(client, session, &context)
        default: break
        }
    }

    /// Judges at the end of guidance what a client has declared and never used.
    private mutating func judge(_ client: PeerID, _ session: SessionID, _ context: inout LintContext) {
        guard let start = self.clients[client]?.started.removeValue(forKey: session) else { return }
        self.clients[client]?.guided += context.instant - start
        guard let found = self.clients[client] else { return }
        if found.unused.contains(.currentRoadName), found.guided >= Self.guidedMin {
            self.clients[client]?.unused.remove(.currentRoadName)
            let seconds = found.guided.components.seconds
            context.find(
                .featureUnused, client, session, field: "navigation.features",
                "\(client) declares road names, and guided for \(seconds) s without one")
        }
        if found.unused.contains(.laneGuidance), found.maneuverCount >= Self.maneuversMin {
            self.clients[client]?.unused.remove(.laneGuidance)
            context.find(
                .featureUnused, client, session, field: "navigation.features",
                "\(client) declares lane guidance, and added none to \(found.maneuverCount) maneuvers")
        }
    }
}

/// LINT-ALERT-QUIET.
struct AlertQuietRule: SessionRule {
    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(.showAlert(let alert)) = step, alert.priority == .high,
            alert.notification == .never
        else { return }
        context.find(
            .alertQuiet, in: session, field: "alert.notification", values: [("alert", "\(alert.id)")],
            "alert \(alert.id) has a high priority, and may not interrupt the display")
    }
}
