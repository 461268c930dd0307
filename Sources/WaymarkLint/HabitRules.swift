internal import WaymarkHistory
internal import WaymarkModel
internal import WaymarkProtocol

/// LINT-START-AGAIN.
struct StartAgainRule: SessionRule {
    /// The trip that is guided; nil before guidance.
    private var trip: (id: String, generation: UInt32)?

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        switch publication {
        case .startGuidance(let trip, let generation, _):
            defer { self.trip = (trip.id, generation) }
            // An observer that joins again is told the same start again.
            guard let before = self.trip, before.id == trip.id, before.generation != generation else {
                return
            }
            context.find(
                .startAgain, in: session, field: "trip.id",
                values: [("trip", trip.id), ("generation", "\(generation)")],
                "guidance started again for the trip \(trip.id), which is guided already")
        case .finishGuidance, .cancelGuidance: self.trip = nil
        default: break
        }
    }
}

/// LINT-ALERT-FLOOD.
struct AlertFloodRule: SessionRule {
    /// The number of alerts within the time that is too many.
    private static let countMax = 8
    private static let time = Duration.seconds(20)

    private var shown: [Instant] = []
    private var isTold = false

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(.showAlert) = step else { return }
        self.shown.removeAll { context.instant - $0 > Self.time }
        self.shown.append(context.instant)
        guard self.shown.count > Self.countMax else { return self.isTold = false }
        self.shown.removeFirst()
        guard !self.isTold else { return }
        self.isTold = true
        context.find(
            .alertFlood, in: session, values: [("count", "\(Self.countMax + 1)")],
            "\(Self.countMax + 1) alerts were shown within 20 s")
    }
}

/// LINT-UPCOMING-SINGLE.
struct UpcomingSingleRule: SessionRule {
    /// The number of changes in a row after which this is a habit.
    private static let countMin = 2

    private var count = 0
    private var first: ManeuverID?

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { (self.count, self.first) = (0, session.upcoming.first) }
        guard case .upcomingManeuvers(let ids, _) = publication, let only = ids.first, self.first != only
        else { return }
        self.first = only
        guard ids.count == 1 else { return self.count = 0 }
        // The last maneuver has none behind it.
        guard let order = session.maneuverOrder[only], order + 1 < session.maneuverOrder.count else { return }
        self.count += 1
        guard self.count == Self.countMin else { return }
        context.find(
            .upcomingSingle, in: session, field: "maneuver_ids", values: [("upcoming", "\(only.rawValue)")],
            "only maneuver \(only.rawValue) is named as next, and the route has more: a display cannot show "
                + "what follows")
    }
}

/// LINT-TEXT-LONG.
struct TextLongRule: SessionRule {
    /// The number of characters that displays of vehicles have room for, in two or three lines.
    private static let instructionMax = 90
    /// The same in a line.
    private static let nameMax = 70

    private var isTold = false

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { self.isTold = false }
        var found: (path: String, text: String)?
        publication.forEachText { path, variants in
            guard found == nil, variants.count == 1, let text = variants.first,
                let most = Self.countMax(path), text.unicodeScalars.count > most
            else { return }
            found = ("\(path)[0]", text)
        }
        // Once for each route.
        guard let found, !self.isTold else { return }
        self.isTold = true
        let count = found.text.unicodeScalars.count
        context.find(
            .textLong, in: session, field: found.path, values: [("characters", "\(count)")],
            "\"\(found.text.prefix(39))…\" has \(count) characters, and no shorter variant")
    }

    /// nil for names and addresses of places, which are what they are.
    private static func countMax(_ path: String) -> Int? {
        if path.hasSuffix("instruction_variants") { return self.instructionMax }
        let isName =
            path == "name_variants" || path.hasSuffix("road_following_maneuver_variants")
            || path.hasPrefix("alert")
        return isName ? self.nameMax : nil
    }
}

/// LINT-CONNECT-FAST.
struct ConnectFastRule: LintRule {
    /// A client that waits before it connects again needs more time.
    private static let pauseMax = Duration.milliseconds(500)
    /// A connection that lasts longer was of use.
    private static let lastingMax = Duration.seconds(2)
    /// The number of such connections in a row that is too many.
    private static let countMax = 6
    /// The number of clients that are followed.
    private static let clientsMax = 4_096

    private struct Client {
        /// The instant at which its connection began or ended.
        var changed: Instant
        var isConnected: Bool
        var isShort = false
        var count = 0
    }

    private var clients: [PeerID: Client] = [:]

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        guard case .connection(let peer, let change) = step, case .client = peer else { return }
        let now = context.instant
        switch change {
        case .connecting: break
        case .admitted:
            guard var client = self.clients[peer] else {
                if self.clients.count >= Self.clientsMax { self.clients = [:] }
                return self.clients[peer] = Client(changed: now, isConnected: true)
            }
            let isFast = !client.isConnected && client.isShort && now - client.changed < Self.pauseMax
            client.count = isFast ? client.count + 1 : 0
            (client.changed, client.isConnected) = (now, true)
            self.clients[peer] = client
            if client.count == Self.countMax { self.tell(peer, &context) }
        case .ended, .refused:
            if case .refused = change, let client = self.clients[peer], client.isConnected { return }
            // A fault of a test is no fault of the client.
            guard var client = self.clients[peer], client.isConnected, !world.isFaulted(peer) else {
                self.clients[peer] = nil
                return
            }
            client.isShort = now - client.changed < Self.lastingMax
            (client.changed, client.isConnected) = (now, false)
            self.clients[peer] = client
        }
    }

    private func tell(_ peer: PeerID, _ context: inout LintContext) {
        context.find(
            .connectFast, peer, .none, values: [("count", "\(Self.countMax)")],
            "its connection ended \(Self.countMax) times soon after it began, and each time it connected "
                + "again without waiting")
    }
}
