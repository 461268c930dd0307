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
    /// These vehicles never came, or have gone; none: no vehicle at all.
    case withoutVehicle([String])
    /// The vehicle left the route and no other way was found.
    case lost
    /// By this program.
    case cancelled

    /// The exit status, see Docs/command-line.md.
    var status: Int32 {
        switch self {
        case .arrived, .cancelled: 0
        case .ended: 1
        case .stoppedByVehicle: 2
        case .replaced: 3
        case .withoutVehicle: 4
        case .lost: 5
        }
    }

    /// What happened, for people.
    var description: String {
        switch self {
        case .arrived: "arrived"
        case .ended(let reason), .stoppedByVehicle(let reason): "not arrived: \(reason)"
        case .replaced: "not arrived: \(EndReason.replaced)"
        case .withoutVehicle([]): "no vehicle was there"
        case .withoutVehicle(let vehicles): "without \(vehicles.joined(separator: ", ")): not there"
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
        case .vehicleGone, .noVehicleLeft: self = .withoutVehicle([])
        case .cancelledByClient: self = .cancelled
        case .clientGone, .limit, .endedWhileAway, .notRestored, .connectionClosed, .notAllowed, .noSession,
            .unrecognized:
            self = .ended(reason)
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
        if let reason = self.end, reason != .finished { return DriveOutcome(reason) }
        let present = self.places.filter { $0.value.standing == .joined }
        let absent = self.named.filter { present[$0] == nil }
        if present.isEmpty || !absent.isEmpty {
            for vehicle in absent + self.places.keys.sorted() {
                if case .left(let reason) = self.places[vehicle]?.standing { return DriveOutcome(reason) }
            }
            return .withoutVehicle(absent)
        }
        return .arrived
    }
}
