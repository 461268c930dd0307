internal import WaymarkClient

/// How a drive of `navigate` ended; it decides the exit status.
enum DriveOutcome: Sendable, Hashable, CustomStringConvertible {
    /// At the destination, with the vehicles.
    case arrived
    /// The gateway ended it for another reason, or the connection is over.
    case ended(EndReason)
    /// The vehicle's user stopped it, or the vehicle navigates by itself.
    case stoppedByVehicle(EndReason)
    /// Another client has taken over.
    case replaced
    /// The last vehicle has left.
    case vehicleLeft(EndReason)
    /// At the destination, without these vehicles; none: no vehicle connected at all.
    case arrivedWithout([Absence])
    /// At the destination, but the gateway did not confirm the end.
    case unconfirmed
    /// These vehicles were not ready, or not connected, in time; none: no vehicle was.
    case notBegun([String], VehicleRoster.Awaited)
    /// The vehicle left the route and no other way was found.
    case lost
    /// By this program.
    case cancelled

    /// The exit status, see Docs/command-line.md.
    var status: Int32 {
        switch self {
        case .arrived, .cancelled: 0
        case .ended, .unconfirmed: 1
        case .stoppedByVehicle: 2
        case .replaced: 3
        case .vehicleLeft, .notBegun: 4
        case .lost: 5
        case .arrivedWithout(let absences): absences.first?.status ?? 4
        }
    }

    /// What happened, for people.
    var description: String {
        switch self {
        case .arrived: "arrived"
        case .ended(let reason), .stoppedByVehicle(let reason): "not arrived: \(reason)"
        case .replaced: "not arrived: \(EndReason.replaced)"
        case .vehicleLeft(let reason): "not arrived: \(reason)"
        case .arrivedWithout([]): "no vehicle connected"
        case .arrivedWithout(let absences):
            "arrived without \(absences.map(\.description).joined(separator: "; "))"
        case .unconfirmed: "arrival not confirmed: the gateway did not answer"
        case .notBegun([], let awaited): "not begun: no vehicle was \(awaited.rawValue) in time"
        case .notBegun(let vehicles, let awaited):
            "not begun: \(vehicles.joined(separator: ", ")) \(vehicles.count == 1 ? "was" : "were") not "
                + "\(awaited.rawValue) in time"
        case .lost: "not arrived: the vehicle left the route and there is no other way"
        case .cancelled: "cancelled"
        }
    }

    /// The outcome for the end of a session, or of a vehicle's part in it.
    init(_ reason: EndReason) {
        switch reason {
        case .finished: self = .arrived
        case .userStopped, .ownNavigationStarted: self = .stoppedByVehicle(reason)
        case .replaced: self = .replaced
        case .vehicleGone: self = .vehicleLeft(reason)
        case .cancelledByClient: self = .cancelled
        case .clientGone, .notAuthorized, .endedWhileAway, .notRestored, .connectionClosed, .notAllowed,
            .noSession, .unrecognized:
            self = .ended(reason)
        }
    }
}

extension DriveOutcome {
    /// A vehicle that was not in the session at its end, and why.
    struct Absence: Sendable, Hashable, CustomStringConvertible {
        let vehicle: String
        /// nil if the gateway has not mentioned the vehicle.
        let standing: SessionEvent.Standing?

        /// The exit status: 4 if the vehicle never connected.
        var status: Int32 {
            switch self.standing {
            case .left(let reason): DriveOutcome(reason).status
            case .refused, .refusedAsBusy, .refusedAsNavigatingItself, .refusedAsNotAuthorized: 1
            case .awaited, .joined, nil: 4
            }
        }

        /// Its rank in a list: vehicles that left decide the exit status, then those that refused.
        fileprivate var rank: Int {
            switch self.standing {
            case .left: 0
            case .refused, .refusedAsBusy, .refusedAsNavigatingItself, .refusedAsNotAuthorized: 1
            case .awaited, .joined, nil: 2
            }
        }

        /// E.g. `car, which refused: it navigates by itself`.
        var description: String {
            switch self.standing {
            case .awaited, .joined, nil: "\(self.vehicle), which never connected"
            case .some(let standing): "\(self.vehicle), which \(standing)"
            }
        }
    }
}

/// The vehicles of a session, from its events.
struct VehicleRoster: Sendable, Hashable {
    /// What to wait for before guidance starts.
    enum Awaited: String, Sendable, CaseIterable {
        /// A display that is ready to show.
        case ready
        /// The vehicle is connected.
        case connected
        /// Nothing.
        case no
    }

    private struct Membership: Sendable, Hashable {
        var standing: SessionEvent.Standing
        var isReady: Bool

        func satisfies(_ awaited: Awaited) -> Bool {
            self.standing == .joined && (awaited != .ready || self.isReady)
        }

        var mayCome: Bool {
            switch self.standing {
            case .joined, .awaited: true
            case .refusedAsBusy, .refusedAsNavigatingItself, .refusedAsNotAuthorized, .refused, .left: false
            }
        }
    }

    /// Empty for any vehicle that asked.
    let named: [String]
    private var memberships: [String: Membership] = [:]
    /// Why the session is over; nil while it is not.
    private(set) var end: EndReason?

    init(_ vehicles: SessionVehicles) {
        switch vehicles {
        case .vehicles(let named): self.named = named
        case .anyThatAsked: self.named = []
        }
    }

    /// Whether what is asked is about one of the vehicles.
    func concerns(_ drive: SimulatedDrive) -> Bool {
        drive.vehicle.map { self.named.contains($0) || self.memberships[$0] != nil } ?? true
    }

    /// Applies an event.
    mutating func apply(_ event: SessionEvent) {
        switch event {
        // A vehicle that leaves because guidance finished has arrived.
        case .vehicleChanged(_, .left(.finished), _): break
        case .vehicleChanged(let vehicle, let standing, let endpoints):
            self.memberships[vehicle] = Membership(
                standing: standing, isReady: endpoints.contains(where: \.isReady))
        case .ended(let reason): self.end = reason
        default: break  // The others do not change the vehicles.
        }
    }

    /// Whether guidance need not wait any more: for one vehicle if any that asked will do, else for all named ones that have
    /// not refused or left.
    func isComplete(_ awaited: Awaited) -> Bool {
        self.missing(awaited).isEmpty && self.hasOne(awaited)
    }

    /// Whether at least one vehicle has joined, and is ready if that is awaited.
    func hasOne(_ awaited: Awaited) -> Bool { self.memberships.values.contains { $0.satisfies(awaited) } }

    /// The named vehicles that are still awaited.
    func missing(_ awaited: Awaited) -> [String] {
        self.named.filter { vehicle in
            guard let membership = self.memberships[vehicle] else { return true }
            return membership.mayCome && !membership.satisfies(awaited)
        }
    }

    /// The outcome for the end of a drive.
    func outcome(of end: Guide.End) -> DriveOutcome {
        switch end {
        case .lost: return .lost
        case .cancelled: return .cancelled
        case .stopped: return DriveOutcome(self.end ?? .unrecognized)
        case .arrived: break
        }
        guard let reason = self.end else { return .unconfirmed }
        guard reason == .finished else { return DriveOutcome(reason) }
        let present = self.memberships.filter { $0.value.standing == .joined }
        let expected = self.named.isEmpty && present.isEmpty ? self.memberships.keys.sorted() : self.named
        let absences = expected.filter { present[$0] == nil }.map {
            DriveOutcome.Absence(vehicle: $0, standing: self.memberships[$0]?.standing)
        }
        guard present.isEmpty || !absences.isEmpty else { return .arrived }
        let order = absences.indices.sorted { (absences[$0].rank, $0) < (absences[$1].rank, $1) }
        return .arrivedWithout(order.map { absences[$0] })
    }
}
