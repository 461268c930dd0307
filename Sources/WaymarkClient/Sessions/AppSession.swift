internal import Synchronization
internal import WaymarkProtocol

/// Why a session has ended; shared by its record and every ``NavigationSession`` of it, which outlive the record.
final class SessionEnding: Sendable {
    private let value = Mutex<EndReason?>(nil)

    /// nil until the session has ended.
    var reason: EndReason? { self.value.withLock { $0 } }

    func set(_ reason: EndReason) { self.value.withLock { $0 = $0 ?? reason } }
}

/// One session as its app sees it: who reads its events, and who answers its vehicles.
struct AppSession: Sendable {
    let key: Identifier
    let onWaypoint: (@Sendable (WaypointInquiry, NavigationSession) async -> WaypointAnswer)?
    let onStartTrip: (@Sendable (StartTripInquiry, NavigationSession) async -> StartTripAnswer)?
    let ending = SessionEnding()
    /// The code that runs when the vehicle's user accepts a stop that the app has offered, or when a trip is to start.
    var offers: [InquiryID: @Sendable () async throws -> Void] = [:]
    private(set) var events = Readers<SessionEvent>()
    /// The events that a new reader begins with.
    private var standing: [SessionEvent] = []

    /// A session that has just been asked for.
    init(
        _ key: Identifier,
        onWaypoint: (@Sendable (WaypointInquiry, NavigationSession) async -> WaypointAnswer)?,
        onStartTrip: (@Sendable (StartTripInquiry, NavigationSession) async -> StartTripAnswer)?
    ) {
        self.key = key
        self.onWaypoint = onWaypoint
        self.onStartTrip = onStartTrip
    }

    /// A feed for one more reader, which begins with the vehicles and their settings.
    mutating func openFeed() -> Feed<SessionEvent> { self.events.open(with: self.standing) }

    /// Tells the readers.
    ///
    /// - Returns: Whether a reader has begun to miss events.
    @discardableResult
    mutating func tell(_ event: SessionEvent) -> Bool {
        switch event {
        case .vehicleChanged(let vehicle, .left, _): self.standing.removeAll { $0.isStanding(of: vehicle) }
        case .vehicleChanged, .routeSource, .routeFeedback: self.keep(event)
        case .settings(let vehicle, let endpoint, let settings): self.keep(settings, vehicle, endpoint)
        case .previewSelected, .zoom, .destinationWanted, .alertResponse, .extensionReceived, .waypointResult,
            .startTripResult,
            .shareResult, .received, .rejected, .missed, .ended:
            break
        }
        return self.events.tell(event)
    }

    private mutating func keep(_ event: SessionEvent) {
        self.standing.removeAll { event.replaces($0) }
        self.standing.append(event)
    }

    /// A new reader needs all settings of an endpoint; an event has only those that changed.
    private mutating func keep(_ settings: DisplaySettings, _ vehicle: String, _ endpoint: String) {
        var settings = settings
        self.standing.removeAll { event in
            guard case .settings(vehicle, endpoint, let older) = event else { return false }
            settings.fillGaps(from: older)
            return true
        }
        self.standing.append(.settings(vehicle: vehicle, endpoint: endpoint, settings))
    }

    /// The session has ended.
    mutating func end(_ reason: EndReason) {
        self.ending.set(reason)
        self.events.tell(.ended(reason: reason))
        self.finish()
    }

    /// Ends the feeds.
    mutating func finish() {
        self.events.finish()
        self.standing = []
    }
}

extension SessionEvent {
    /// Whether it is about this vehicle's standing or settings.
    fileprivate func isStanding(of vehicle: String) -> Bool {
        switch self {
        case .vehicleChanged(vehicle, _, _), .routeSource(vehicle, _), .routeFeedback(vehicle, _),
            .settings(vehicle, _, _):
            true
        case .vehicleChanged, .routeSource, .routeFeedback, .settings, .previewSelected, .zoom,
            .destinationWanted, .alertResponse,
            .extensionReceived, .waypointResult, .startTripResult, .shareResult, .received, .rejected,
            .missed,
            .ended:
            false
        }
    }
}
