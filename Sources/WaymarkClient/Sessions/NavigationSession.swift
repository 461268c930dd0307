public import WaymarkModel
internal import WaymarkProtocol

/// One trip being guided. Every method returns at once: what is published goes out in order, newer states replace
/// older ones that could not be sent yet, and a lost connection is made good.
public struct NavigationSession: Sendable {
    let client: NavigationClient
    let key: String

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

    /// Offers a destination to the vehicles; ``SessionEvent/shareResult(vehicle:shareID:_:)`` tells what became of it.
    public func share(_ destination: Waypoint, shareID: String) async throws(ClientError) {
        try await self.client.publish(self.key) { _ in .shareDestination(shareID: shareID, destination) }
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
