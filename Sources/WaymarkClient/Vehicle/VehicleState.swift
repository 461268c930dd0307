public import WaymarkModel
package import WaymarkProtocol

/// The state that a vehicle endpoint has received of its session: the newest value of everything.
public struct VehicleState: Sendable, Hashable {
    /// The phase of the session that the endpoint is in.
    public enum Phase: Sendable, Hashable {
        /// No session.
        case idle
        /// A session without guidance yet.
        case preview
        /// Guidance.
        case active
        /// Guidance is paused.
        case paused(PauseReason, description: [String])
        /// The last session has ended.
        case ended(EndReason)
    }

    /// The phase of the session.
    public var phase = Phase.idle
    /// The session's id on the wire; 0 without one.
    public var session: UInt32 = 0
    /// The client that guides.
    public var client = ""
    /// The client is disconnected and may reconnect.
    public var isSuspended = false
    /// The features that this endpoint does not get, and why.
    public var withheld: [GuidanceFeature: WithholdingReason] = [:]
    /// The number up to which this is what was published; 0 during a full snapshot, since a part of one cannot be resumed.
    public var sequence: UInt64 = 0
    /// Trips to choose from, before guidance.
    public var previews: [Trip] = []
    /// The id of the highlighted one; empty: none.
    public var selectedPreview = ""
    /// The trip that is driven; nil before guidance.
    public var trip: Trip?
    /// The number of the route; rises with each new one.
    public var generation: UInt32 = 0
    /// The maneuvers, in order along the route.
    public var maneuvers: [Maneuver] = []
    /// The lane guidances, in order along the route.
    public var laneGuidances: [LaneGuidance] = []
    /// The route segments, in order along the route.
    public var segments: [RouteSegment] = []
    /// The upcoming maneuvers, nearest first.
    public var upcomingManeuvers: [ManeuverID] = []
    /// The lanes to show now; nil for none.
    public var currentLaneGuidance: LaneGuidanceID?
    /// The segment the vehicle is on; nil without segments.
    public var currentSegment: String?
    /// The state of the first upcoming maneuver: how near it is.
    public var maneuverState = ManeuverState.continue
    /// The estimates of the whole trip; nil when not known.
    public var tripEstimates: TravelEstimates?
    /// The colour of the remaining time.
    public var timeRemainingColor = TimeRemainingColor.default
    /// The newest estimates of each maneuver.
    public var maneuverEstimates: [ManeuverID: TravelEstimates] = [:]
    /// The speed limit where the vehicle is; nil if none was published.
    public var speedLimit: SpeedLimit?
    /// The next different speed limit; nil if none is known.
    public var nextSpeedLimit: SpeedLimitAhead?
    /// The alert that is shown; nil for none.
    public var alert: NavigationAlert?
    /// The values of plain states, which are properties as well.
    package var plain = PlainStates()
    /// The retained states of extensions, by name and key.
    public var extensions: [ExtensionState] = []
    /// Between the marks of a full snapshot.
    private(set) var isInSnapshot = false
    /// Between the marks of a snapshot: the number up to which the session is held after it.
    private var snapshotEnd: UInt64?
    private var published = PublicationTime()
    /// The time of the newest estimates; none without estimates.
    private var estimated = PublicationTime()
    /// The last frame was a part of a publication, and not the last part.
    private var awaitsMore = false

    /// The newest content of one key of an extension.
    public struct ExtensionState: Sendable, Hashable {
        /// The extension, e.g. `org.example.tyres`.
        public var name: String
        /// The key, which tells the extension's states apart.
        public var key: UInt16
        /// The content, whose meaning the client and this endpoint agree on.
        public var content: [UInt8]

        /// A state of an extension.
        public init(name: String, key: UInt16, content: [UInt8]) {
            (self.name, self.key, self.content) = (name, key, content)
        }
    }

    /// The state without a session.
    public init() {}

    /// Whether all of the last snapshot, and all parts of the last publication, have arrived. A display may wait until then.
    public var isComplete: Bool { !self.isInSnapshot && !self.awaitsMore }

    /// Whether a display shows it as it is: ``isComplete``, and no snapshot of missed publications is under way (REQ-VIEW-03).
    package var isWhole: Bool { self.isComplete && self.snapshotEnd == nil }

    /// The first upcoming maneuver.
    public var nextManeuver: Maneuver? {
        self.upcomingManeuvers.first.flatMap { id in self.maneuvers.first { $0.id == id } }
    }

    /// Returns how long ago the newest part of the state was published; nil if nothing was, or if this was not received from a gateway.
    /// Subtract it from remaining times that are shown while ``isSuspended`` or without a connection.
    public func age(at instant: ContinuousClock.Instant = .now) -> Duration? {
        self.published.instant.map { max(.zero, instant - $0) }
    }

    /// Returns how long ago the newest estimates were published, of the trip or of a maneuver; nil if there are none, or if this was not
    /// received from a gateway. A road name that was published since does not make them newer: for remaining times this is the age.
    public func estimatesAge(at instant: ContinuousClock.Instant = .now) -> Duration? {
        self.estimated.instant.map { max(.zero, instant - $0) }
    }

    /// Applies a message that was received at `now`. Keeps no more than `storage`, the limits of the endpoint's Hello, allows.
    package mutating func apply(
        _ envelope: Envelope, storage: VehicleLimits = .init(), at now: ContinuousClock.Instant? = nil
    ) {
        let session = envelope.session.rawValue
        switch envelope.message {
        case .snapshotBegin(let begin) where begin.kind == .full || session == self.session:
            self.begin(begin, envelope, at: now)
        case _ where session != 0 && session != self.session: return  // Of a session that is not held.
        case .snapshotEnd:
            if let snapshotEnd { self.sequence = snapshotEnd }
            (self.isInSnapshot, self.snapshotEnd, self.awaitsMore) = (false, nil, false)
        case .sessionSuspended(let suspended):
            self.isSuspended = true
            self.published.set(suspended.ageMilliseconds, at: now)
            self.estimated.set(suspended.estimatesAgeMilliseconds, at: now)
        case .sessionRestored: self.isSuspended = false
        case .sessionEnded(let ended):
            if ended.session.rawValue == self.session || ended.session == .none {
                self.end(EndReason(ended.reason))
            }
        case .publication(let publication):
            guard session != 0 else { return }
            self.count(envelope.sequence, envelope.flags, at: now)
            guard self.canUse(publication) else { return }
            self.apply(publication, storage)
            if self.snapshotEnd == nil, let isNew = publication.hasEstimates {
                self.estimated.set(isNew ? 0 : nil, at: now)
            }
        default: break  // The others do not change the state.
        }
    }

    /// Counts a publication that cannot be decoded; ignores other frames.
    mutating func skip(_ header: FrameHeader, at now: ContinuousClock.Instant?) {
        guard MessageType.published.contains(header.rawType), self.session != 0,
            header.session.rawValue == self.session
        else { return }
        self.count(header.sequence, header.flags, at: now)
    }

    private mutating func count(
        _ sequence: UInt64, _ flags: FrameHeader.Flags, at now: ContinuousClock.Instant?
    ) {
        if self.snapshotEnd == nil { self.published.set(0, at: now) }
        if !self.isInSnapshot { self.sequence = sequence }
        self.awaitsMore = flags.contains(.more)
    }

    private mutating func begin(
        _ begin: SnapshotBegin, _ envelope: Envelope, at now: ContinuousClock.Instant?
    ) {
        if begin.kind == .full {
            self = VehicleState()
            self.phase = .preview
            self.isInSnapshot = true
        }
        self.session = envelope.session.rawValue
        self.client = begin.client.rawValue
        self.isSuspended = begin.isSuspended
        self.withheld = [GuidanceFeature: WithholdingReason](begin.withheld)
        self.snapshotEnd = begin.toSequence
        self.published.set(begin.ageMilliseconds, at: now)
        self.estimated.set(begin.estimatesAgeMilliseconds, at: now)
    }

    private mutating func end(_ reason: EndReason) {
        self = VehicleState()
        self.phase = .ended(reason)
    }

    /// Whether the state allows a publication, and holds what it refers to. A gateway sends no other.
    private func canUse(_ publication: Publication) -> Bool {
        if self.phase == .preview { return publication.rule.phases.contains(.preview) }
        return switch publication {
        case .addManeuvers(_, let generation), .addLaneGuidances(_, let generation),
            .addRouteSegments(_, let generation), .upcomingManeuvers(_, let generation),
            .maneuverState(_, let generation):
            generation == self.generation
        case .resumeGuidance(let generation, _, let route): route != nil || generation == self.generation
        case .currentLaneGuidance(let id, let generation):
            generation == self.generation
                && (id == nil || self.laneGuidances.contains { $0.id == id })
        case .maneuverEstimates(let id, _, let generation):
            generation == self.generation && self.maneuvers.contains { $0.id == id }
        case .currentRouteSegment(let id, let generation):
            generation == self.generation && self.segments.contains { Identifier($0.id) == Identifier(id) }
        case .dismissAlert(let id, _): self.alert?.id == id
        case .tripPreviews, .startGuidance, .updateTrip, .tripEstimates, .pauseGuidance, .showAlert,
            .shareDestination, .speedLimit, .finishGuidance, .cancelGuidance, .plain, .publishExtension:
            true
        }
    }

    /// Those of the ids whose maneuvers are held.
    private func held(_ ids: [ManeuverID]) -> [ManeuverID] {
        let held = Set(self.maneuvers.map(\.id))
        return ids.filter(held.contains)
    }

    private mutating func apply(_ publication: Publication, _ storage: VehicleLimits) {
        switch publication {
        case .tripPreviews(let trips, let selected): (self.previews, self.selectedPreview) = (trips, selected)
        case .startGuidance(let trip, let generation, let route):
            let old = self
            self = VehicleState()
            (self.session, self.client, self.withheld) = (old.session, old.client, old.withheld)
            (self.isSuspended, self.awaitsMore) = (old.isSuspended, old.awaitsMore)
            (self.sequence, self.isInSnapshot) = (old.sequence, old.isInSnapshot)
            (self.snapshotEnd, self.published, self.estimated) =
                (old.snapshotEnd, old.published, old.estimated)
            self.phase = .active
            self.trip = trip
            self.replaceRoute(route, generation)
        case .updateTrip(let trip): self.trip = trip
        case .addManeuvers(let added, _): self.add(added, storage)
        case .addLaneGuidances(let added, _): self.add(added, storage)
        case .addRouteSegments(let added, _):
            self.segments = Self.adding(added, to: self.segments, countMax: 0) { Identifier($0.id) }
        case .upcomingManeuvers(let ids, _): self.upcomingManeuvers = self.held(ids)
        case .currentLaneGuidance(let id, _): self.currentLaneGuidance = id
        case .maneuverState(let state, _): self.maneuverState = state
        case .tripEstimates(let estimates, let color):
            self.tripEstimates = estimates
            self.timeRemainingColor = color
        case .maneuverEstimates(let id, let estimates, _): self.maneuverEstimates[id] = estimates
        case .currentRouteSegment(let id, _): self.currentSegment = id
        case .pauseGuidance(let reason, let description):
            self.phase = .paused(reason, description: description)
            self.maneuverState = .continue
        case .resumeGuidance(let generation, _, let route):
            self.phase = .active
            if let route { self.replaceRoute(route, generation) }
        case .showAlert(let alert): self.alert = alert
        case .dismissAlert: self.alert = nil
        case .shareDestination: break
        case .speedLimit(let limit, let next): (self.speedLimit, self.nextSpeedLimit) = (limit, next)
        case .finishGuidance: self.end(.finished)
        case .cancelGuidance: self.end(.cancelledByClient)
        case .plain(let state): self.plain.apply(state)
        case .publishExtension(let published): self.apply(published)
        }
    }

    /// A state takes the place of the one with its key; one that is not retained only removes it. A gateway forwards a bounded number.
    private mutating func apply(_ published: PublishedExtension) {
        guard let key = published.key else { return }
        let name = published.name.rawValue
        self.extensions.removeAll { $0.key == key }
        guard published.isRetained, self.extensions.count < ProtocolConstants.extensionStatesMax else {
            return
        }
        self.extensions.append(ExtensionState(name: name, key: key, content: published.content))
        self.extensions.sort { ($0.name, $0.key) < ($1.name, $1.key) }
    }

    private mutating func replaceRoute(_ route: RouteInformation, _ generation: UInt32) {
        self.generation = generation
        self.maneuvers = route.maneuvers
        self.laneGuidances = route.laneGuidances
        self.segments = route.segments
        self.upcomingManeuvers = self.held(route.upcomingManeuvers)
        self.currentLaneGuidance = route.currentLaneGuidance
        self.currentSegment = route.currentSegment ?? route.segments.first?.id
        self.tripEstimates = route.tripTravelEstimates
        self.timeRemainingColor = .default
        (self.speedLimit, self.nextSpeedLimit) = (nil, nil)
        self.maneuverEstimates = [:]
        if let estimates = route.maneuverTravelEstimates, let first = route.upcomingManeuvers.first,
            first == self.upcomingManeuvers.first
        {
            self.maneuverEstimates[first] = estimates
        }
        self.maneuverState = .continue
    }

    /// Keeps the maneuvers that were added last. Estimates of one that is dropped are dropped as well.
    private mutating func add(_ added: [Maneuver], _ storage: VehicleLimits) {
        self.maneuvers = Self.adding(
            added, to: self.maneuvers, countMax: Int(storage.maneuversStoredMax), \.id)
        let held = Set(self.maneuvers.map(\.id))
        self.upcomingManeuvers.removeAll { !held.contains($0) }
        self.maneuverEstimates = self.maneuverEstimates.filter { held.contains($0.key) }
    }

    private mutating func add(_ added: [LaneGuidance], _ storage: VehicleLimits) {
        self.laneGuidances = Self.adding(
            added, to: self.laneGuidances, countMax: Int(storage.laneGuidancesStoredMax), \.id)
        if !self.laneGuidances.contains(where: { $0.id == self.currentLaneGuidance }) {
            self.currentLaneGuidance = nil
        }
    }

    /// The `countMax` elements added last (0: all); one that comes again counts as added now.
    private static func adding<Element, ID: Hashable>(
        _ added: [Element], to held: [Element], countMax: Int, _ id: (Element) -> ID
    ) -> [Element] {
        let ids = Set(added.map(id))
        let all = held.filter { !ids.contains(id($0)) } + added
        return countMax > 0 ? all.suffix(countMax) : all
    }
}

extension Publication {
    /// Whether there are estimates after it; nil if it leaves those before as they are.
    fileprivate var hasEstimates: Bool? {
        switch self {
        case .tripEstimates, .maneuverEstimates: true
        case .startGuidance(_, _, let route), .resumeGuidance(_, _, let route?):
            route.tripTravelEstimates != nil || route.maneuverTravelEstimates != nil
        default: nil
        }
    }
}

/// When the newest part of a state was published. It is no part of the state: two are always equal.
private struct PublicationTime: Sendable, Hashable {
    private(set) var instant: ContinuousClock.Instant?

    /// The newest part is `age` milliseconds old at `now`; nil: there is none.
    mutating func set(_ age: UInt32?, at now: ContinuousClock.Instant?) {
        self.instant = now.flatMap { now in age.map { now - .milliseconds($0) } }
    }

    static func == (lhs: PublicationTime, rhs: PublicationTime) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

extension VehicleUpdate {
    /// The content of an update.
    public enum Content: Sendable, Hashable {
        /// The first update of every reader: its `state` is the present one.
        case current
        /// A snapshot begins: up to `snapshotEnded` follow the whole state (`isFull`), or the updates that this endpoint has not received.
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
        /// The upcoming maneuvers, nearest first.
        case upcomingManeuvers([ManeuverID])
        /// The lanes to show now; nil for none.
        case currentLaneGuidance(LaneGuidanceID?)
        /// The road that the vehicle is on, longest variant first.
        case currentRoadName([String])
        /// Another state on which nothing else depends.
        case plain(PlainState)
        /// The state of the first upcoming maneuver: how near it is.
        case maneuverState(ManeuverState)
        /// The estimates of the whole trip, and the colour of the remaining time.
        case tripEstimates(TravelEstimates, TimeRemainingColor)
        /// The estimates of one maneuver.
        case maneuverEstimates(ManeuverID, TravelEstimates)
        /// The segment that the vehicle is on.
        case currentRouteSegment(String)
        /// The speed limit where the vehicle is, and the next different one; nil if none is known.
        case speedLimit(SpeedLimit, next: SpeedLimitAhead?)
        /// Guidance is paused.
        case guidancePaused(PauseReason, description: [String])
        /// Guidance continues, on a new route or on the same one.
        case guidanceResumed(RerouteReason, RouteInformation?)
        /// An alert, which replaces the one before.
        case alertShown(NavigationAlert)
        /// The alert of this id was removed.
        case alertDismissed(UInt32, AlertDismissal)
        /// A destination that the client offers; `onDestination` of the configuration answers it.
        case destinationShared(shareID: String, Waypoint, trip: String)
        /// Content of an extension of the configuration: of the state with this key, or of an event.
        case extensionReceived(name: String, content: [UInt8], key: UInt16?)
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
        /// A question to the vehicle's user; `onPrompt` of the configuration answers it.
        case prompt(WaypointPrompt)
        /// The prompt of this id has ended: answered by this endpoint or another one, or not in time.
        case promptOver(id: String, RequestResult)
        /// A request of this vehicle has ended. If a preview follows, the client shows trips to choose from and to start.
        case requestEnded(id: String, RequestEnding)
        /// The gateway refused something that this endpoint sent; or would have, and it was not sent.
        case refused(field: String, reason: String)
        /// The gateway no longer knows this endpoint: the state is empty now. A snapshot follows if there is a session.
        case forgotten
        /// The number of updates that were dropped here because the reader was too slow.
        case missed(Int)
        /// A message of a newer gateway, or one that is not for endpoints.
        case other
    }
}

extension VehicleUpdate.Content {
    init(_ message: Message) {
        switch message {
        case .publication(let publication): self.init(publication)
        case .snapshotBegin(let begin): self = .snapshotBegan(isFull: begin.kind == .full)
        case .snapshotEnd: self = .snapshotEnded
        case .sessionSuspended(let suspended):
            self = .suspended(grace: .milliseconds(suspended.graceMilliseconds))
        case .sessionRestored: self = .restored
        case .sessionEnded(let ended): self = .ended(EndReason(ended.reason))
        case .prompt(let prompt): self = .prompt(WaypointPrompt(prompt))
        case .promptOver(let over):
            self = .promptOver(id: over.requestID.rawValue, RequestResult(over.outcome))
        case .requestOutcome(let outcome):
            self = .requestEnded(id: outcome.requestID.rawValue, RequestEnding(outcome))
        case .error(let rejection): self = .refused(field: rejection.field, reason: rejection.reason)
        case .hello, .welcome, .goodbye, .ping, .pong, .openSession, .sessionOpened, .vehicleChanged,
            .receipt, .receiptReport, .acknowledgement, .waypointRequest, .destinationRequest,
            .startTripRequest, .withdrawRequest, .selectPreview, .requestAnswer, .promptAnswer,
            .cancelNavigation, .allowNavigation, .updateRouteSource,
            .vehicleSettings, .zoomCluster, .alertResponse, .vehicleExtension, .simulateDrive,
            .destinationShareAnswer,
            .destinationShareStatus, .destinationShareWanted, .updateRouteFeedback,
            .observe, .observationBegin, .observedRecords, .observedEvent, .observedFrames, .observationGap,
            .readCounters, .counters:
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
        case .maneuverState(let state, _): self = .maneuverState(state)
        case .tripEstimates(let estimates, let color): self = .tripEstimates(estimates, color)
        case .maneuverEstimates(let id, let estimates, _): self = .maneuverEstimates(id, estimates)
        case .currentRouteSegment(let id, _): self = .currentRouteSegment(id)
        case .pauseGuidance(let reason, let text): self = .guidancePaused(reason, description: text)
        case .resumeGuidance(_, let reason, let route): self = .guidanceResumed(reason, route)
        case .showAlert(let alert): self = .alertShown(alert)
        case .dismissAlert(let id, let dismissal): self = .alertDismissed(id, dismissal)
        case .shareDestination(let id, let place, let trip):
            self = .destinationShared(shareID: id, place, trip: trip)
        case .speedLimit(let limit, let next): self = .speedLimit(limit, next: next)
        case .finishGuidance: self = .finished
        case .cancelGuidance: self = .cancelled
        case .plain(.currentRoadName(let variants)): self = .currentRoadName(variants)
        case .plain(let state): self = .plain(state)
        case .publishExtension(let published):
            self = .extensionReceived(
                name: published.name.rawValue, content: published.content, key: published.key)
        }
    }
}
