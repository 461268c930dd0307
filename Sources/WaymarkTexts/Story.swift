package import WaymarkClient
package import WaymarkModel
internal import WaymarkProtocol

/// Sentences about what happens to an endpoint: one for each step, none for values that change with every metre.
///
/// A value without I/O. The same steps give the same sentences.
package struct Story: Sendable, Hashable {
    private var wasConnected = false
    private var isLost = false
    private var isInSnapshot = false
    private var isOver = false
    /// A new route of which more parts follow. It is told with the last of them.
    private var divided: VehicleUpdate.Content?
    /// Stops of the trip that were reached since its route was set.
    private var stopsReached = 0
    /// The destination, since the state has no trip any more when the trip ends.
    private var destination = ""
    /// The trips that are offered, as they were told, and the selection among them.
    private var offered = Offer()
    /// The request that the user was asked about last.
    private var prompted = ""

    /// A preview as the user chooses from it: without estimates, which change by themselves.
    private struct Offer: Sendable, Hashable {
        /// The ids of trips, each with those of its route choices.
        var routes: [Identifier: [UInt32]] = [:]
        var selectedTrip: Identifier?
        var selectedRoute: UInt32?
    }

    package init() {}

    // MARK: The connection

    /// The sentence for a state of the connection; nil if it is no step.
    package mutating func sentence(for connection: ConnectionState) -> String? {
        switch connection {
        case .connecting:
            guard self.wasConnected, !self.isLost else { return nil }
            self.isLost = true
            return "connection to the gateway lost; reconnecting"
        case .connected(let isResumed):
            defer { (self.wasConnected, self.isLost) = (true, false) }
            guard self.wasConnected else { return "connected to the gateway" }
            return isResumed
                ? "connected to the gateway again"
                : "reconnected; the gateway was restarted without its state"
        case .closed(.closed): return nil
        // The caller of `connect` reports why a first attempt failed.
        case .closed(let error): return self.wasConnected ? "connection closed: \(error)" : nil
        }
    }

    // MARK: Updates

    /// The sentence for an update; nil if it is no step.
    package mutating func sentence(for update: VehicleUpdate) -> String? {
        switch update.content {
        case .snapshotBegan(let isFull):
            self.isOver = false
            self.isInSnapshot = isFull
            if isFull { self.offered = Offer() }
            self.divided = nil
            return nil
        case .snapshotEnded:
            guard self.isInSnapshot else { return nil }
            self.isInSnapshot = false
            return self.joined(update.state)
        default:
            if self.isInSnapshot { return nil }
            if update.hasMore, update.content.isRoute {
                self.divided = update.content
                return nil
            }
            guard let divided, update.state.isComplete else { return self.tell(update.content, update) }
            self.divided = nil
            return self.tell(update.content, update) ?? self.tell(divided, update)
        }
    }

    private mutating func rememberDestination(_ state: VehicleState) {
        self.destination = state.trip?.destination.nameVariants.first.map { " at \($0)" } ?? ""
    }

    private mutating func joined(_ state: VehicleState) -> String? {
        self.stopsReached = 0
        self.rememberDestination(state)
        return switch state.phase {
        case .active, .paused: Self.guided(state)
        case .idle, .preview, .ended: nil
        }
    }

    private mutating func tell(_ content: VehicleUpdate.Content, _ update: VehicleUpdate) -> String? {
        let state = update.state
        switch content {
        case .guidanceStarted:
            (self.stopsReached, self.isOver, self.offered) = (0, false, Offer())
            self.rememberDestination(state)
            return Self.guided(state)
        case .tripUpdated:
            self.rememberDestination(state)
            return nil
        case .tripPreviews(let trips, let selected): return self.offer(trips, selected, by: state.client)
        case .guidancePaused(let reason, let description): return self.paused(reason, description, state)
        case .guidanceResumed(let reason, .some): return self.rerouted(reason, state)
        case .suspended: return "the navigation client is away; guidance stands still"
        case .restored: return "the navigation client is back"
        case .finished: return self.over("arrived\(self.destination)")
        case .cancelled: return self.over("guidance is over: \(EndReason.cancelledByClient)")
        case .ended(let reason): return self.over(self.ended(reason, update))
        case .prompt(let prompt):
            self.prompted = prompt.id
            return nil  // Told when the user is asked.
        case .promptOver(_, let result): return Self.decided("stop", RequestEnding(result))
        case .requestEnded(let id, let ending):
            guard !id.utf8.elementsEqual(self.prompted.utf8) else { return nil }
            let preview = ending.previewFollows ? ", trips to choose from follow" : ""
            return Self.decided("request", ending) + preview
        case .alertShown(let alert): return "alert: \(alert.titleVariants.first ?? "")"
        case .alertDismissed(_, let dismissal): return "the alert is over: \(dismissal.name)"
        case .destinationShared(_, let place, _): return "shared destination: \(Self.name(place))"
        case .refused(let field, let reason): return "refused: \(field.isEmpty ? "" : "\(field): ")\(reason)"
        case .missed(let count): return "\(count) updates were left out"
        default: return nil  // No step of its own.
        }
    }

    /// New trips are told all, another selection alone.
    private mutating func offer(_ trips: [Trip], _ selected: String, by client: String) -> String? {
        let trip = trips.first { Identifier($0.id) == Identifier(selected) } ?? trips.first
        let offer = Offer(
            routes: Dictionary(trips.map { (Identifier($0.id), $0.routeChoices.map(\.id)) }) { $1 },
            selectedTrip: trip.map { Identifier($0.id) }, selectedRoute: trip?.selectedRouteChoice)
        defer { self.offered = offer }
        guard let trip, offer.routes == self.offered.routes else {
            let texts = trips.prefix(1).map(PreviewText.trip) + trips.dropFirst().map(PreviewText.destination)
            let what = texts.isEmpty ? "" : ": \(texts.joined(separator: "; "))"
            return "\(client) offers \(GuidanceText.counted(trips.count, "trip"))\(what)"
        }
        guard offer != self.offered else { return nil }
        let route = PreviewText.selectedChoice(of: trip).map { " by \(PreviewText.route($0))" } ?? ""
        return "selected: \(PreviewText.destination(trip))\(route)"
    }

    private mutating func paused(
        _ reason: PauseReason, _ description: [String], _ state: VehicleState
    ) -> String? {
        let stops = state.trip?.waypoints ?? []
        switch reason {
        case .arrived:
            // At the destination the end of guidance follows, which is a step of its own.
            guard self.stopsReached < stops.count else { return nil }
            self.stopsReached += 1
            return "at the stop \(Self.name(stops[self.stopsReached - 1]))"
        case .rerouting: return nil  // The new route follows.
        default: return (["paused: \(reason.name)"] + description.prefix(1)).joined(separator: ", ")
        }
    }

    private mutating func rerouted(_ reason: RerouteReason, _ state: VehicleState) -> String {
        self.stopsReached = 0
        let stops = (state.trip?.waypoints ?? []).map(Self.name).joined(separator: ", ")
        return "new route\(reason.phrase)\(stops.isEmpty ? "" : " via \(stops)"): \(Self.remaining(state))"
    }

    /// The end of guidance comes twice: from the client and from the gateway.
    private mutating func over(_ sentence: String) -> String? {
        defer { self.isOver = true }
        return self.isOver ? nil : sentence
    }

    // MARK: Sentences

    private static func guided(_ state: VehicleState) -> String {
        let way = state.trip.map { " from \(self.name($0.origin)) to \(self.name($0.destination))" } ?? ""
        return "guided by \(state.client)\(way): \(self.remaining(state))"
    }

    /// The question to the user.
    package static func asked(_ prompt: WaypointPrompt, _ state: VehicleState) -> String {
        "the client's estimates with a stop at \(self.name(prompt.waypoint)): "
            + "\(self.estimates(prompt.travelEstimates)) to go, without it \(self.remaining(state))"
    }

    private static func decided(_ what: String, _ ending: RequestEnding) -> String {
        "the \(what) is \(ending.isAccepted ? "accepted" : "not accepted: \(ending.explanation)")"
    }

    private func ended(_ reason: EndReason, _ update: VehicleUpdate) -> String {
        if case .sessionEnded(let ended) = update.message, ended.session == .none {
            return "\(reason == .ownNavigationStarted ? reason : .noSession)"
        }
        return reason == .finished ? "arrived\(self.destination)" : "guidance is over: \(reason)"
    }

    private static func remaining(_ state: VehicleState) -> String { self.estimates(state.tripEstimates) }

    /// Distance and time, e.g. `4.4 km, 6 min`.
    package static func estimates(_ estimates: TravelEstimates?) -> String {
        let minutes = estimates?.timeRemaining.map { ", \(($0.components.seconds + 59) / 60) min" } ?? ""
        return GuidanceText.distance(estimates) + minutes
    }

    /// The vehicle's view of a route, e.g. `arrives with 42 %, 18 %` or `does not reach stop 2`.
    package static func feedback(_ feedback: RouteFeedback) -> String {
        if let index = feedback.stops.firstIndex(where: { $0.reachability == .unreachable }) {
            return index == feedback.stops.count - 1
                ? "does not reach the last stop" : "does not reach stop \(index + 1)"
        }
        if let segment = feedback.firstUnreachableSegment { return "does not reach segment \(segment)" }
        let charges = feedback.stops.compactMap(\.arrivalBatteryPerMille).map { "\((Int($0) + 5) / 10) %" }
        if !charges.isEmpty { return "arrives with \(charges.joined(separator: ", "))" }
        let isReachable = feedback.stops.contains { $0.reachability == .reachable }
        return isReachable ? "reaches all stops" : "does not know how far it gets"
    }

    /// The name of a place, else its address, else its coordinates with five decimals, which is a metre.
    package static func name(_ place: Waypoint) -> String {
        (place.nameVariants + place.addressVariants).first { !$0.isEmpty }
            ?? "\(self.rounded(place.center.latitude)),\(self.rounded(place.center.longitude))"
    }

    private static func rounded(_ degrees: Double) -> Double { (degrees * 1e5).rounded() / 1e5 }
}

extension VehicleUpdate.Content {
    /// Whether it begins a route.
    fileprivate var isRoute: Bool {
        switch self {
        case .guidanceStarted, .guidanceResumed(_, .some): true
        default: false
        }
    }
}

extension RerouteReason {
    /// Why there is a new route, to follow "new route"; empty where the route itself says it.
    package var phrase: String {
        switch self {
        case .missedTurn: " after a missed turn"
        case .offline: ", computed offline"
        case .alternateRoute: ", an alternative"
        case .mandated: ", mandated"
        case .unknown, .waypointModified, .unrecognized: ""
        }
    }
}
