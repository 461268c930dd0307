internal import WaymarkClient

/// How a drive of `navigate` ended, which its exit status tells.
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

    /// What the end of a session, or of a vehicle's part in it, means.
    init(_ reason: EndReason) {
        switch reason {
        case .finished: self = .arrived
        case .userStopped, .ownNavigationStarted: self = .stoppedByVehicle(reason)
        case .replaced: self = .replaced
        case .vehicleGone, .noVehicleLeft: self = .vehicleLeft(reason)
        case .cancelledByClient: self = .cancelled
        case .clientGone, .limit, .endedWhileAway, .notRestored, .connectionClosed, .notAllowed, .noSession,
            .unrecognized:
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
            case .refused, .refusedAsBusy, .refusedAsNavigatingItself: 1
            case .awaited, .joined, nil: 4
            }
        }

        /// Its place in a list: those that left decide the exit status, then those that refused.
        fileprivate var rank: Int {
            switch self.standing {
            case .left: 0
            case .refused, .refusedAsBusy, .refusedAsNavigatingItself: 1
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

/// Which vehicles are in a session, as its events tell.
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

    private struct Place: Sendable, Hashable {
        var standing: SessionEvent.Standing
        var isReady: Bool

        func isThere(_ awaited: Awaited) -> Bool {
            self.standing == .joined && (awaited != .ready || self.isReady)
        }

        var mayCome: Bool {
            switch self.standing {
            case .joined, .awaited: true
            case .refusedAsBusy, .refusedAsNavigatingItself, .refused, .left: false
            }
        }
    }

    /// Empty for any vehicle that asked.
    let named: [String]
    private var places: [String: Place] = [:]
    /// Why the session is over; nil while it is not.
    private(set) var end: EndReason?

    init(_ vehicles: SessionVehicles) {
        switch vehicles {
        case .vehicles(let named): self.named = named
        case .anyThatAsked: self.named = []
        }
    }

    /// Takes over what an event says.
    mutating func take(_ event: SessionEvent) {
        switch event {
        // They arrived together.
        case .vehicleChanged(_, .left(.finished), _): break
        case .vehicleChanged(let vehicle, let standing, let endpoints):
            self.places[vehicle] = Place(standing: standing, isReady: endpoints.contains(where: \.isReady))
        case .ended(let reason): self.end = reason
        default: break  // Says nothing of who is there.
        }
    }

    /// The vehicles that guidance waits for. Of any that asked one is enough, of those that were named all that have not refused
    /// or left.
    func isComplete(_ awaited: Awaited) -> Bool {
        self.missing(awaited).isEmpty && self.hasOne(awaited)
    }

    /// Whether at least one vehicle is there.
    func hasOne(_ awaited: Awaited) -> Bool { self.places.values.contains { $0.isThere(awaited) } }

    /// The named vehicles that are not there, and may still come.
    func missing(_ awaited: Awaited) -> [String] {
        self.named.filter { vehicle in
            guard let place = self.places[vehicle] else { return true }
            return place.mayCome && !place.isThere(awaited)
        }
    }

    /// What the end of the drive means to the vehicles.
    func outcome(of end: Guide.End) -> DriveOutcome {
        switch end {
        case .lost: return .lost
        case .cancelled: return .cancelled
        case .stopped: return DriveOutcome(self.end ?? .unrecognized)
        case .arrived: break
        }
        guard let reason = self.end else { return .unconfirmed }
        guard reason == .finished else { return DriveOutcome(reason) }
        let present = self.places.filter { $0.value.standing == .joined }
        let expected = self.named.isEmpty && present.isEmpty ? self.places.keys.sorted() : self.named
        let absences = expected.filter { present[$0] == nil }.map {
            DriveOutcome.Absence(vehicle: $0, standing: self.places[$0]?.standing)
        }
        guard present.isEmpty || !absences.isEmpty else { return .arrived }
        let order = absences.indices.sorted { (absences[$0].rank, $0) < (absences[$1].rank, $1) }
        return .arrivedWithout(order.map { absences[$0] })
    }
}
