public import WaymarkModel
internal import WaymarkProtocol

/// One trip being guided. Publishing returns at once: what is published goes out in order, newer states replace older ones
/// that could not be sent yet, and a lost connection is made good.
///
/// Every method that publishes throws ``ClientError/rejected(field:reason:)`` for a field outside of its range or an id that
/// was not added (or was before), ``ClientError/invalid(_:)`` for what is too large for the gateway, and
/// ``ClientError/sessionEnded(reason:)`` after the end; nothing of it is published then. What only the gateway can refuse
/// comes as ``SessionEvent/rejected(field:reason:)``.
public struct NavigationSession: Sendable {
    let client: NavigationClient
    let key: String

    /// What happens, for one more reader, beginning with how the vehicles stand. Ends with ``SessionEvent/ended(reason:)``.
    public var events: Feed<SessionEvent> {
        get async { await self.client.events(of: self.key) }
    }

    /// Shows trips to choose from, at most 12; an empty list hides them.
    public func showPreviews(_ trips: [Trip], selected: String = "") async throws(ClientError) {
        try await self.client.publish(self.key) { _ in .tripPreviews(trips, selected: selected) }
    }

    /// Starts guidance, or starts over.
    public func start(_ trip: Trip, route: RouteInformation) async throws(ClientError) {
        try await self.client.publish(self.key) {
            .startGuidance(trip, generation: $0.newGeneration(), route)
        }
    }

    /// Tells that the trip has changed, e.g. by a waypoint.
    public func updateTrip(_ trip: Trip) async throws(ClientError) {
        try await self.client.publish(self.key) { _ in .updateTrip(trip) }
    }

    /// Adds maneuvers behind those that were added before.
    public func add(_ maneuvers: [Maneuver]) async throws(ClientError) {
        try await self.client.publish(self.key) { .addManeuvers(maneuvers, generation: $0.generation) }
    }

    /// Adds lane guidances behind those that were added before.
    public func add(_ laneGuidances: [LaneGuidance]) async throws(ClientError) {
        try await self.client.publish(self.key) {
            .addLaneGuidances(laneGuidances, generation: $0.generation)
        }
    }

    /// Adds route segments behind those that were added before.
    public func add(_ segments: [RouteSegment]) async throws(ClientError) {
        try await self.client.publish(self.key) { .addRouteSegments(segments, generation: $0.generation) }
    }

    /// Says which maneuvers come next, nearest first; each must have been added.
    public func setUpcomingManeuvers(_ maneuvers: [ManeuverID]) async throws(ClientError) {
        try await self.client.publish(self.key) { .upcomingManeuvers(maneuvers, generation: $0.generation) }
    }

    /// Says which lanes to show now; nil for none.
    public func setCurrentLaneGuidance(_ guidance: LaneGuidanceID?) async throws(ClientError) {
        try await self.client.publish(self.key) { .currentLaneGuidance(guidance, generation: $0.generation) }
    }

    /// Names the road the vehicle is on, longest variant first.
    public func setCurrentRoadName(_ variants: [String]) async throws(ClientError) {
        try await self.client.publish(self.key) { _ in .currentRoadName(variants) }
    }

    /// Says how near the first upcoming maneuver is.
    public func setManeuverState(_ state: ManeuverState) async throws(ClientError) {
        try await self.client.publish(self.key) { .maneuverState(state, generation: $0.generation) }
    }

    /// Updates the estimates of the whole trip.
    public func updateTripEstimates(
        _ estimates: TravelEstimates, color: TimeRemainingColor = .default
    ) async throws(ClientError) {
        try await self.client.publish(self.key) { _ in .tripEstimates(estimates, color) }
    }

    /// Updates the estimates of one maneuver.
    public func updateEstimates(
        of maneuver: ManeuverID, _ estimates: TravelEstimates
    ) async throws(ClientError) {
        try await self.client.publish(self.key) {
            .maneuverEstimates(maneuver, estimates, generation: $0.generation)
        }
    }

    /// Says which segment the vehicle is on; it must have been added.
    public func setCurrentSegment(_ segment: String) async throws(ClientError) {
        try await self.client.publish(self.key) { .currentRouteSegment(segment, generation: $0.generation) }
    }

    /// Guidance stands still.
    public func pause(_ reason: PauseReason, description: [String] = []) async throws(ClientError) {
        try await self.client.publish(self.key) { _ in .pauseGuidance(reason, description: description) }
    }

    /// Guidance goes on: as it was, or on a new route that replaces the old one.
    public func resume(
        route: RouteInformation? = nil, reason: RerouteReason = .unknown
    ) async throws(ClientError) {
        try await self.client.publish(self.key) { state in
            let generation = route == nil ? state.generation : state.newGeneration()
            return .resumeGuidance(generation: generation, reason, route)
        }
    }

    /// Shows an alert, in place of the one before.
    public func show(_ alert: NavigationAlert) async throws(ClientError) {
        try await self.client.publish(self.key) { _ in .showAlert(alert) }
    }

    /// Tells that the alert went away.
    public func dismissAlert(_ alert: UInt32, _ dismissal: AlertDismissal) async throws(ClientError) {
        try await self.client.publish(self.key) { _ in .dismissAlert(alert, dismissal) }
    }

    /// Offers a destination to the vehicles, and waits for what becomes of it. Unlike the others, this takes as long as
    /// the vehicles do, 10 s at most once it was sent.
    ///
    /// - Parameters:
    ///   - destination: The place to share.
    ///   - shareID: Names the share; 1 ... 64 bytes, of its own for every share that is under way.
    /// - Returns: By vehicle, `accepted` or why not; empty when there is no vehicle in the session.
    /// - Throws: ``ClientError/interrupted(_:)`` if the connection was lost before all had answered, or so much waited to
    ///   be sent that the share was dropped; ``ClientError/rejected(field:reason:)`` if the trip does not allow it;
    ///   ``ClientError/cancelled`` if the task was cancelled: one that was not sent is not shared then.
    @discardableResult
    public func share(
        _ destination: Waypoint, shareID: String
    ) async throws(ClientError) -> [String: RequestResult] {
        try await self.client.share(
            self.key, shareID, .shareDestination(shareID: shareID, destination))
    }

    /// Arrived; the session is over.
    public func finish() async throws(ClientError) {
        try await self.client.publish(self.key) { _ in .finishGuidance }
    }

    /// Stops; the session is over.
    public func cancel() async throws(ClientError) {
        try await self.client.publish(self.key) { _ in .cancelGuidance }
    }
}
