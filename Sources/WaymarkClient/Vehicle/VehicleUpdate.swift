public import WaymarkModel
package import WaymarkProtocol

/// Something an endpoint received, and the state after it.
///
/// For a slow reader only the newest of a value (estimates, road name, maneuver state and the like) is queued. Of all updates
/// at most 256 are queued; beyond that the oldest are dropped and ``Content/missed(_:)`` tells how many. ``state`` is always
/// complete.
public struct VehicleUpdate: Sendable {
    /// What was received.
    public enum Content: Sendable, Hashable {
        /// The first update of every reader: its `state` is the present one.
        case current
        /// Up to `snapshotEnded` follow the whole state (`isFull`), or the updates that this endpoint has not received.
        case snapshotBegan(isFull: Bool)
        /// The end of what `snapshotBegan` announced.
        case snapshotEnded
        /// Trips to choose from, and the one that is selected.
        case tripPreviews([Trip], selected: String)
        /// Guidance began, or began again.
        case guidanceStarted(Trip, RouteInformation)
        /// The trip changed, e.g. by a stop.
        case tripUpdated(Trip)
        /// Maneuvers behind those of the route so far.
        case maneuversAdded([Maneuver])
        /// Lane guidances behind those of the route so far.
        case laneGuidancesAdded([LaneGuidance])
        /// Segments behind those of the route so far.
        case routeSegmentsAdded([RouteSegment])
        /// Nearest first.
        case upcomingManeuvers([ManeuverID])
        /// nil: none.
        case currentLaneGuidance(LaneGuidanceID?)
        /// Longest first.
        case currentRoadName([String])
        /// How near the first upcoming maneuver is.
        case maneuverState(ManeuverState)
        /// Of the whole trip.
        case tripEstimates(TravelEstimates, TimeRemainingColor)
        /// Of one maneuver.
        case maneuverEstimates(ManeuverID, TravelEstimates)
        /// The segment that the vehicle is on.
        case currentRouteSegment(String)
        /// Guidance stands still.
        case guidancePaused(PauseReason, description: [String])
        /// Guidance continues, on a new route or on the same one.
        case guidanceResumed(RerouteReason, RouteInformation?)
        /// An alert, which replaces the one before.
        case alertShown(NavigationAlert)
        /// The alert of this id was removed.
        case alertDismissed(UInt32, AlertDismissal)
        /// Answered by `onDestination` of the configuration.
        case destinationShared(shareID: String, Waypoint)
        /// The client ended guidance at the destination.
        case finished
        /// The client ended guidance before the destination.
        case cancelled
        /// The navigation client is disconnected; it may reconnect within this time.
        case suspended(grace: Duration)
        /// The navigation client has reconnected.
        case restored
        /// The gateway ended the session.
        case ended(EndReason)
        /// Answered by `onPrompt` of the configuration.
        case prompt(WaypointPrompt)
        /// The prompt of this id has ended: answered by this endpoint or another one, or not in time.
        case promptOver(id: String, RequestResult)
        /// A request of this vehicle has ended.
        case requestEnded(id: String, RequestResult)
        /// The gateway refused something that this endpoint sent; or would have, and it was not sent.
        case refused(field: String, reason: String)
        /// The gateway no longer knows this endpoint: the state is empty now. A snapshot follows if there is a session.
        case forgotten
        /// So many updates were dropped here, because the reader was too slow.
        case missed(Int)
        /// A message of a newer gateway, or one that is not for endpoints.
        case other
    }

    /// The message's name in the protocol, e.g. `updateTripEstimates`; without a message `current`, `forgotten`, `missed` or
    /// `refused`.
    public let name: String
    /// What was received.
    public let content: Content
    /// The session's id on the wire; 0 for none.
    public let session: UInt32
    /// The number in the session; 0 outside of one.
    public let sequence: UInt64
    /// The gateway cut the content to this endpoint's limits.
    public let isFitted: Bool
    /// The gateway sent it, not the client.
    public let isFromGateway: Bool
    /// The state after it.
    public let state: VehicleState
    /// The message itself; nil if there is none.
    package let message: Message?
    /// A newer update replaces an older one with the same key.
    private let key: ConflationKey?
}

extension VehicleUpdate: FeedElement {
    static var queuedMax: Int { 256 }

    func replaces(_ older: VehicleUpdate) -> Bool { self.key != nil && self.key == older.key }

    static func missed(_ count: Int, before next: VehicleUpdate) -> VehicleUpdate? {
        VehicleUpdate("missed", .missed(count), next.state)
    }
}

extension VehicleUpdate {
    /// An update by an envelope. `session` is the endpoint's before it; nil: the one that the envelope is about.
    init(_ envelope: Envelope, _ state: VehicleState, before session: UInt32? = nil) {
        self.name = "\(envelope.message.type)"
        if case .sessionEnded(let ended) = envelope.message, ended.session != .none,
            let session, ended.session.rawValue != session
        {
            self.content = .other  // The end of an older session, of which this endpoint was told before.
        } else {
            self.content = Content(envelope.message)
        }
        self.session = envelope.session.rawValue
        self.sequence = envelope.sequence
        self.isFitted = envelope.flags.contains(.fitted)
        self.isFromGateway = envelope.flags.contains(.gateway)
        self.state = state
        self.message = envelope.message
        if case .publication(let publication) = envelope.message {
            self.key = publication.outline.conflationKey
        } else {
            self.key = nil
        }
    }

    /// An update without a message.
    init(_ name: String, _ content: Content, _ state: VehicleState) {
        self.name = name
        self.content = content
        self.session = state.session
        self.sequence = 0
        self.isFitted = false
        self.isFromGateway = false
        self.state = state
        self.message = nil
        self.key = nil
    }
}

extension VehicleUpdate.Content {
    init(_ message: Message) {
        switch message {
        case .publication(let publication): self.init(publication)
        case .snapshotBegin(let begin): self = .snapshotBegan(isFull: begin.kind == .full)
        case .snapshotEnd: self = .snapshotEnded
        case .sessionSuspended(let grace): self = .suspended(grace: .milliseconds(grace))
        case .sessionRestored: self = .restored
        case .sessionEnded(let ended): self = .ended(EndReason(ended.reason))
        case .prompt(let prompt): self = .prompt(WaypointPrompt(prompt))
        case .promptOver(let over): self = .promptOver(id: over.requestID, RequestResult(over.outcome))
        case .requestOutcome(let outcome):
            self = .requestEnded(id: outcome.requestID, RequestResult(outcome.outcome))
        case .error(let rejection): self = .refused(field: rejection.field, reason: rejection.reason)
        case .hello, .welcome, .goodbye, .ping, .pong, .openSession, .sessionOpened, .vehicleChanged,
            .receipt, .receiptReport, .waypointRequest, .destinationRequest, .withdrawRequest,
            .requestAnswer, .promptAnswer, .cancelNavigation, .allowNavigation, .updateRouteSource,
            .vehicleSettings, .zoomCluster, .alertResponse, .destinationShareAnswer, .destinationShareStatus:
            self = .other
        }
    }

    private init(_ publication: Publication) {
        switch publication {
        case .tripPreviews(let trips, let selected): self = .tripPreviews(trips, selected: selected)
        case .startGuidance(let trip, _, let route): self = .guidanceStarted(trip, route)
        case .updateTrip(let trip): self = .tripUpdated(trip)
        case .addManeuvers(let added, _): self = .maneuversAdded(added)
        case .addLaneGuidances(let added, _): self = .laneGuidancesAdded(added)
        case .addRouteSegments(let added, _): self = .routeSegmentsAdded(added)
        case .upcomingManeuvers(let ids, _): self = .upcomingManeuvers(ids)
        case .currentLaneGuidance(let id, _): self = .currentLaneGuidance(id)
        case .currentRoadName(let variants): self = .currentRoadName(variants)
        case .maneuverState(let state, _): self = .maneuverState(state)
        case .tripEstimates(let estimates, let color): self = .tripEstimates(estimates, color)
        case .maneuverEstimates(let id, let estimates, _): self = .maneuverEstimates(id, estimates)
        case .currentRouteSegment(let id, _): self = .currentRouteSegment(id)
        case .pauseGuidance(let reason, let text): self = .guidancePaused(reason, description: text)
        case .resumeGuidance(_, let reason, let route): self = .guidanceResumed(reason, route)
        case .showAlert(let alert): self = .alertShown(alert)
        case .dismissAlert(let id, let dismissal): self = .alertDismissed(id, dismissal)
        case .shareDestination(let id, let place): self = .destinationShared(shareID: id, place)
        case .finishGuidance: self = .finished
        case .cancelGuidance: self = .cancelled
        }
    }
}
