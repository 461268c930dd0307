public import WaymarkModel
internal import WaymarkProtocol

/// Guidance of one trip. Publishing returns at once: publications are sent in order, newer states replace older ones that are
/// not sent yet, and after a lost connection the library sends what did not arrive.
///
/// Every method that publishes throws ``ClientError/rejected(field:reason:limit:)`` for a field outside of its range, an id that
/// was not added, or one that was added before; ``ClientError/invalid(_:)`` for a publication that is too large for the
/// gateway; and ``ClientError/sessionEnded(_:)`` after the end. Nothing of that call is published then. What only the gateway
/// can refuse comes as ``SessionEvent/rejected(field:reason:limit:)``.
public struct NavigationSession: Sendable {
    // The machine sets the generation of what is published here.
    let client: NavigationClient
    let key: Identifier
    let ending: SessionEnding

    /// The reason why the session has ended; nil while it is open.
    public var endReason: EndReason? { self.ending.reason }

    /// The session's events, for one more reader. It begins with the vehicles and their settings, and ends with
    /// ``SessionEvent/ended(reason:)``.
    public var events: Feed<SessionEvent> {
        get async { await self.client.events(of: self.key) }
    }

    /// Waits until a vehicle in the session has a display that is ready to show.
    ///
    /// - Parameter vehicle: The vehicle to wait for; nil: the first one that is ready.
    /// - Returns: The vehicle that is ready.
    /// - Throws: ``ClientError/vehicleRefused(vehicle:_:reason:)`` if the named vehicle refuses the session,
    ///   ``ClientError/sessionEnded(_:)`` if it leaves or the session ends, ``ClientError/cancelled`` if the task was
    ///   cancelled.
    @discardableResult
    public func whenReady(_ vehicle: String? = nil) async throws(ClientError) -> String {
        for await case .vehicleChanged(let changed, let standing, let endpoints) in await self.events
        where vehicle == nil || vehicle == changed {
            if standing == .joined, endpoints.contains(where: \.isReady) { return changed }
            guard vehicle != nil else { continue }
            if let refusal = standing.refusal {
                throw .vehicleRefused(vehicle: changed, refusal, reason: "\(changed): \(refusal)")
            }
            if case .left(let reason) = standing { throw .sessionEnded(reason) }
        }
        if Task.isCancelled { throw .cancelled }
        throw .sessionEnded(self.endReason ?? .unrecognized)
    }

    /// Shows trips to choose from, at most 12; an empty list hides them.
    public func showPreviews(_ trips: [Trip], selected: String = "") async throws(ClientError) {
        try await self.client.publish(self, .tripPreviews(trips, selected: selected))
    }

    /// Starts guidance, or starts over.
    public func start(_ trip: Trip, route: RouteInformation) async throws(ClientError) {
        try await self.client.publish(self, .startGuidance(trip, generation: 0, route))
    }

    /// Replaces the trip, e.g. by one with another waypoint.
    public func updateTrip(_ trip: Trip) async throws(ClientError) {
        try await self.client.publish(self, .updateTrip(trip))
    }

    /// Adds maneuvers behind those that were added before.
    public func add(_ maneuvers: [Maneuver]) async throws(ClientError) {
        try await self.client.publish(self, .addManeuvers(maneuvers, generation: 0))
    }

    /// Adds lane guidances behind those that were added before.
    public func add(_ laneGuidances: [LaneGuidance]) async throws(ClientError) {
        try await self.client.publish(self, .addLaneGuidances(laneGuidances, generation: 0))
    }

    /// Adds route segments behind those that were added before.
    public func add(_ segments: [RouteSegment]) async throws(ClientError) {
        try await self.client.publish(self, .addRouteSegments(segments, generation: 0))
    }

    /// Sets the maneuvers ahead, nearest first; each must have been added.
    public func setUpcomingManeuvers(_ maneuvers: [ManeuverID]) async throws(ClientError) {
        try await self.client.publish(self, .upcomingManeuvers(maneuvers, generation: 0))
    }

    /// Sets the lanes to show now; nil for none.
    public func setCurrentLaneGuidance(_ guidance: LaneGuidanceID?) async throws(ClientError) {
        try await self.client.publish(self, .currentLaneGuidance(guidance, generation: 0))
    }

    /// Sets the name of the road that the vehicle is on, longest variant first.
    public func setCurrentRoadName(_ variants: [String]) async throws(ClientError) {
        try await self.publish(.currentRoadName(variants))
    }

    /// Publishes a state on which nothing else depends.
    public func publish(_ state: PlainState) async throws(ClientError) {
        try await self.client.publish(self, .plain(state))
    }

    /// Sets how near the first upcoming maneuver is.
    public func setManeuverState(_ state: ManeuverState) async throws(ClientError) {
        try await self.client.publish(self, .maneuverState(state, generation: 0))
    }

    /// Updates the estimates of the whole trip.
    public func updateTripEstimates(
        _ estimates: TravelEstimates, color: TimeRemainingColor = .default
    ) async throws(ClientError) {
        try await self.client.publish(self, .tripEstimates(estimates, color))
    }

    /// Updates the estimates of one maneuver.
    public func updateEstimates(
        of maneuver: ManeuverID, _ estimates: TravelEstimates
    ) async throws(ClientError) {
        try await self.client.publish(self, .maneuverEstimates(maneuver, estimates, generation: 0))
    }

    /// Sets the segment that the vehicle is on; it must have been added.
    public func setCurrentSegment(_ segment: String) async throws(ClientError) {
        try await self.client.publish(self, .currentRouteSegment(segment, generation: 0))
    }

    /// Sets the speed limit where the vehicle is, and the next different one; nil if none is known ahead.
    public func setSpeedLimit(
        _ limit: SpeedLimit, next: SpeedLimitAhead? = nil
    ) async throws(ClientError) {
        try await self.client.publish(self, .speedLimit(limit, next: next))
    }

    /// Pauses guidance, e.g. while a new route is computed.
    public func pause(_ reason: PauseReason, description: [String] = []) async throws(ClientError) {
        try await self.client.publish(self, .pauseGuidance(reason, description: description))
    }

    /// Resumes guidance: on the same route, or on a new one that replaces it.
    public func resume(
        route: RouteInformation? = nil, reason: RerouteReason = .unknown
    ) async throws(ClientError) {
        try await self.client.publish(self, .resumeGuidance(generation: 0, reason, route))
    }

    /// Shows an alert; it replaces the one before.
    public func show(_ alert: NavigationAlert) async throws(ClientError) {
        try await self.client.publish(self, .showAlert(alert))
    }

    /// Removes an alert.
    public func dismissAlert(_ alert: UInt32, _ dismissal: AlertDismissal) async throws(ClientError) {
        try await self.client.publish(self, .dismissAlert(alert, dismissal))
    }

    /// Offers a destination to the vehicles and waits for their answers. Unlike the other methods this takes as long as the
    /// vehicles do: at most 10 s from when it was sent.
    ///
    /// - Parameters:
    ///   - destination: The place to share.
    ///   - trip: Before guidance the id of the trip preview whose destination it is; empty while guided: the trip that is driven.
    ///   - shareID: Identifies the share; 1 ... 64 bytes, different for every share that is under way.
    /// - Returns: The answer of each vehicle; empty when no vehicle is in the session.
    /// - Throws: ``ClientError/interrupted(_:)`` if the connection was lost before every vehicle had answered, or if so much
    ///   was queued that the share was dropped; ``ClientError/rejected(field:reason:limit:)`` if the trip does not allow it;
    ///   ``ClientError/cancelled`` if the task was cancelled, and then a share that was not sent yet is not sent.
    @discardableResult
    public func share(
        _ destination: Waypoint, ofTrip trip: String = "", shareID: String
    ) async throws(ClientError) -> [String: RequestResult] {
        try await self.client.share(self, shareID, destination, ofTrip: trip)
    }

    /// Publishes content that this client and endpoints agree on: an event, or with a key a state.
    ///
    /// - Parameters:
    ///   - name: The extension; one of ``NavigationClient/Configuration/extensions``. Only endpoints that have it too get the content. If
    ///     the operator withholds it, none does.
    ///   - content: The content, at most 65 536 bytes.
    ///   - key: The key, which tells the session's states apart, of at most 64; slow endpoints get only the newest content of each. A key
    ///     is always of one extension. nil: an event, which no endpoint misses.
    ///   - isRetained: Whether endpoints that join later get the state, until guidance starts over. Without it, an endpoint no longer holds
    ///     the state of this key.
    /// - Throws: ``ClientError/rejected(field:reason:limit:)`` also for a name that the configuration does not have.
    public func publishExtension(
        _ name: String, _ content: [UInt8], key: UInt16? = nil, isRetained: Bool = false
    ) async throws(ClientError) {
        guard let name = ExtensionName(name) else {
            throw .rejected(field: "name", reason: ExtensionName.form)
        }
        guard key != nil || !isRetained else {
            throw .rejected(field: "isRetained", reason: "only a state, which has a key, is retained")
        }
        let published = PublishedExtension(name: name, content: content, key: key, isRetained: isRetained)
        try await self.client.publish(self, .publishExtension(published))
    }

    /// Waits until the gateway has accepted everything that was published before: vehicles get it, whatever happens to the connection of
    /// this client, as long as the gateway runs. This usually takes half a second, after a lost connection as long as that.
    ///
    /// Of a state that was replaced before it was sent, the newer value counts. What the gateway refused has come as
    /// ``SessionEvent/rejected(field:reason:limit:)`` before.
    ///
    /// - Throws: ``ClientError/sessionEnded(_:)`` if the session has ended otherwise than by ``finish()`` or ``cancel()``,
    ///   ``ClientError/cancelled`` if the task was cancelled.
    public func whenAccepted() async throws(ClientError) { try await self.client.whenAccepted(self) }

    /// Ends guidance at the destination, and the session.
    public func finish() async throws(ClientError) {
        try await self.client.publish(self, .finishGuidance)
    }

    /// Ends guidance before the destination, and the session.
    public func cancel() async throws(ClientError) {
        try await self.client.publish(self, .cancelGuidance)
    }
}
