internal import Logging
internal import Synchronization
internal import WaymarkProtocol

/// Why a session has ended; shared by its record and every ``NavigationSession`` of it, which outlive the record.
final class SessionEnding: Sendable {
    private let value = Mutex<EndReason?>(nil)

    /// nil until the session has ended.
    var reason: EndReason? { self.value.withLock { $0 } }

    func set(_ reason: EndReason) { self.value.withLock { $0 = $0 ?? reason } }
}

/// What a navigation client knows of one of its sessions.
struct SessionRecord: Sendable {
    /// A destination that is being shared.
    private struct Share: Sendable {
        /// Identifies the call that waits.
        let number: Int
        var outcomes: [String: RequestResult] = [:]
        /// The vehicles that the gateway has asked: those in the session at the first status. nil: before it.
        var asked: Set<String>?
        var waiter: CheckedContinuation<Result<[String: RequestResult], ClientError>, Never>
    }

    /// A request of a vehicle whose outcome is not known yet.
    private struct Inquiry: Sendable {
        let vehicle: String
        /// Runs when the vehicle's user accepts.
        var whenAccepted: (@Sendable () async throws -> Void)?
        /// The connection that it came over was lost. It has ended, and the gateway sends its outcome before any other
        /// message about the vehicle.
        var isOver = false
    }

    let opening: OpenSession
    /// nil until the gateway has opened it.
    var id: SessionID?
    var state = PublishedState()
    var events = Readers<SessionEvent>()
    let onWaypoint: (@Sendable (WaypointInquiry, NavigationSession) async -> WaypointAnswer)?
    let ending: SessionEnding
    /// The call that waits until the gateway opens the session for the first time.
    var opened: CheckedContinuation<Result<Void, ClientError>, Never>?
    /// By vehicle and request.
    private var inquiries: [Identifier: Inquiry] = [:]
    /// The events that a new reader begins with.
    private var standing: [SessionEvent] = []
    private var shares: [Identifier: Share] = [:]
    private var waiting = WaitingForAcceptance()

    init(
        _ opening: OpenSession, ending: SessionEnding = SessionEnding(),
        onWaypoint: (@Sendable (WaypointInquiry, NavigationSession) async -> WaypointAnswer)?
    ) {
        self.opening = opening
        self.ending = ending
        self.onWaypoint = onWaypoint
    }

    /// How the app has ended it; nil while it has not.
    var ownEnd: EndReason? { self.state.ownEnd }

    /// For the log.
    var metadata: Logger.Metadata { [LogKey.session: "\(self.id ?? .none)"] }

    /// A feed for one more reader, which begins with the vehicles and their settings.
    mutating func openFeed() -> Feed<SessionEvent> { self.events.open(with: self.standing) }

    /// Queues a publication.
    mutating func publish(_ make: (inout PublishedState) -> Publication) throws(ClientError) {
        let publication = make(&self.state)
        try self.state.publish(publication)
        self.failLostShares()
    }

    /// Removes and returns what to send now; nothing before the gateway has opened the session.
    mutating func dequeuePending() throws(ClientError) -> [Frame] {
        guard let id else { return [] }
        let frames = try self.state.dequeuePending(session: id)
        self.waiting.noteSent(self.state)
        self.failLostShares()
        return frames
    }

    /// The frame that ends the session at the gateway, whatever is queued.
    mutating func giveUp() -> Frame? { self.id.map { self.state.giveUp(session: $0) } }

    /// Applies an event, and tells the readers.
    ///
    /// - Returns: Whether a reader has begun to miss events.
    @discardableResult
    mutating func tell(_ event: SessionEvent) -> Bool {
        switch event {
        case .vehicleChanged(let vehicle, .left, _): self.standing.removeAll { $0.isStanding(of: vehicle) }
        case .vehicleChanged, .routeSource: self.keep(event)
        case .settings(let vehicle, let endpoint, let settings): self.keep(settings, vehicle, endpoint)
        case .shareResult(let vehicle, let shareID, let result):
            let share = Identifier(shareID)
            let vehicles = self.vehicles
            if self.shares[share]?.asked == nil { self.shares[share]?.asked = vehicles }
            if let result { self.shares[share]?.outcomes[vehicle] = result }
        case .zoom, .alertResponse, .waypointResult, .received, .rejected, .missed,
            .ended:
            break
        }
        let isMissed = self.events.tell(event)
        if case .vehicleChanged(let vehicle, let standing, _) = event {
            self.giveUpInquiries(of: vehicle, hasLeft: standing.isLeft)
        }
        self.finishShares()
        return isMissed
    }

    /// The session was opened again at another gateway: vehicles that it does not have there have left.
    mutating func forgetVehicles(except present: Set<String>) {
        for vehicle in self.vehicles.subtracting(present).sorted() {
            self.tell(.vehicleChanged(vehicle: vehicle, standing: .left(.vehicleGone), endpoints: []))
        }
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

    // MARK: Inquiries

    private static func key(_ vehicle: VehicleID, _ request: Identifier) -> Identifier {
        "\(vehicle)/\(request)"
    }

    /// A vehicle has sent a request.
    mutating func beginInquiry(_ request: Identifier, of vehicle: VehicleID) {
        self.inquiries[Self.key(vehicle, request)] = Inquiry(vehicle: vehicle.rawValue)
    }

    /// Whether the vehicle still waits for an answer.
    func isAsked(_ request: Identifier, by vehicle: VehicleID) -> Bool {
        self.inquiries[Self.key(vehicle, request)].map { !$0.isOver } ?? false
    }

    /// The vehicle's user is asked; `body` runs if the user accepts.
    mutating func whenAccepted(
        _ request: Identifier, of vehicle: VehicleID, _ body: @escaping @Sendable () async throws -> Void
    ) {
        self.inquiries[Self.key(vehicle, request)]?.whenAccepted = body
    }

    /// An inquiry has ended: tells the readers, unless they were told before.
    ///
    /// - Returns: What to run now.
    mutating func end(_ outcome: RequestOutcome) -> (@Sendable () async throws -> Void)? {
        let key = Self.key(outcome.vehicle, outcome.requestID)
        guard let inquiry = self.inquiries.removeValue(forKey: key) else { return nil }
        self.tell(.waypointResult(vehicle: inquiry.vehicle, RequestResult(outcome.outcome)))
        return outcome.outcome == .accepted ? inquiry.whenAccepted : nil
    }

    /// The connection was lost, which ends every inquiry.
    mutating func loseInquiries() { for key in self.inquiries.keys { self.inquiries[key]?.isOver = true } }

    /// The gateway is another one and knows no inquiry.
    mutating func forgetInquiries() {
        self.loseInquiries()
        for vehicle in Set(self.inquiries.values.map(\.vehicle)) {
            self.giveUpInquiries(of: vehicle, hasLeft: false)
        }
    }

    private mutating func giveUpInquiries(of vehicle: String, hasLeft: Bool) {
        for (key, inquiry) in self.inquiries where inquiry.vehicle == vehicle && (hasLeft || inquiry.isOver) {
            self.inquiries[key] = nil
            self.events.tell(.waypointResult(vehicle: vehicle, hasLeft ? .sessionEnded : .gone))
        }
    }

    // MARK: Acceptance

    /// Waits until the gateway has accepted what is published now.
    mutating func waitUntilAccepted(
        _ call: Int, _ continuation: CheckedContinuation<Result<Void, ClientError>, Never>
    ) { self.waiting.add(call, continuation, self.state) }

    /// The task of a call that waits for acceptance was cancelled.
    mutating func abandonAcceptance(_ call: Int) { self.waiting.cancel(call) }

    /// The gateway has accepted or refused everything up to a number.
    mutating func acknowledge(_ sequence: UInt64) {
        self.state.acknowledge(sequence)
        self.waiting.noteAcknowledged(self.state)
    }

    /// The gateway has the session up to a number.
    mutating func resume(after sequence: UInt64) {
        self.state.resume(after: sequence)
        self.waiting.noteLost(self.state)
    }

    /// The gateway does not know the session.
    mutating func restart() {
        self.id = nil
        self.state.restart()
        self.waiting.noteLost(self.state)
    }

    // MARK: Shares

    /// Vehicles that answer a share, or the gateway for them.
    private var vehicles: Set<String> {
        var vehicles: Set<String> = []
        for case .vehicleChanged(let vehicle, .joined, _) in self.standing { vehicles.insert(vehicle) }
        for case .vehicleChanged(let vehicle, .awaited, _) in self.standing { vehicles.insert(vehicle) }
        return vehicles
    }

    /// Whether a share of this id is under way.
    func isSharing(_ share: Identifier) -> Bool { self.shares[share] != nil }

    /// Waits for all outcomes of a share that was published.
    mutating func wait(
        for share: Identifier, _ number: Int,
        _ waiter: CheckedContinuation<Result<[String: RequestResult], ClientError>, Never>
    ) {
        self.shares[share] = Share(number: number, waiter: waiter)
        self.finishShares()
    }

    /// The call was cancelled. A share that is not sent yet is not sent.
    mutating func abandonShare(_ share: Identifier, _ number: Int) {
        guard self.shares[share]?.number == number else { return }  // The call has returned.
        self.state.dropShare(share)
        self.failShare(share, .cancelled)
    }

    /// Ends the call that waits for a share.
    mutating func failShare(_ share: Identifier, _ error: ClientError) {
        self.shares.removeValue(forKey: share)?.waiter.resume(returning: .failure(error))
    }

    private mutating func failLostShares() {
        for share in self.state.dequeueLostShares() {
            self.failShare(share, .interrupted("too much waited to be sent; share the destination again"))
        }
    }

    /// The connection was lost, and outcomes with it. Shares that are not sent yet stay queued.
    mutating func failSentShares() {
        let waiting = Set(self.state.waitingShares)
        for share in self.shares.keys where !waiting.contains(share) {
            self.failShare(share, .interrupted("the connection was lost before all vehicles had answered"))
        }
    }

    /// The session has ended.
    mutating func end(_ reason: EndReason) {
        self.ending.set(reason)
        for share in self.shares.keys { self.failShare(share, .sessionEnded(reason)) }
        self.waiting.end(reason)
        self.opened?.resume(returning: .failure(.sessionEnded(reason)))
        self.opened = nil
        self.events.tell(.ended(reason: reason))
        self.events.finish()
        self.standing = []
    }

    /// A share has ended once every vehicle that was asked and is still in the session has answered.
    private mutating func finishShares() {
        guard !self.shares.isEmpty else { return }
        let vehicles = self.vehicles
        for (id, share) in self.shares
        where vehicles.intersection(share.asked ?? vehicles).isSubset(of: share.outcomes.keys) {
            self.shares[id] = nil
            share.waiter.resume(returning: .success(share.outcomes))
        }
    }
}

extension SessionEvent.Standing {
    fileprivate var isLeft: Bool { if case .left = self { true } else { false } }
}

extension SessionEvent {
    /// Whether it is about this vehicle's standing or settings.
    fileprivate func isStanding(of vehicle: String) -> Bool {
        switch self {
        case .vehicleChanged(vehicle, _, _), .routeSource(vehicle, _), .settings(vehicle, _, _): true
        case .vehicleChanged, .routeSource, .settings, .zoom, .alertResponse, .waypointResult, .shareResult,
            .received, .rejected, .missed, .ended:
            false
        }
    }
}
