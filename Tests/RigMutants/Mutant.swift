import WaymarkGuidance
import WaymarkModel
import WaymarkProtocol
package import WaymarkRig

/// A simulated peer with a mistake that a developer makes: each client, or each endpoint of a vehicle, of a scenario has it.
package struct Mutant: Sendable, CustomStringConvertible {
    /// Which peers have the mistake.
    package enum Peer: String, Sendable { case client, cluster }

    package let peer: Peer
    /// What it does wrong.
    package let sentence: String
    /// The scenarios to try first: those in which the mistake can show. The others follow in their order.
    package let first: [String]
    package let mutations: RunMutations
    /// Why no scenario finds it; nil: one does.
    package private(set) var missed: String?

    package var description: String { "\(self.peer.rawValue): \(self.sentence)" }

    init(
        _ peer: Peer, _ sentence: String, _ first: [String], _ mutate: (inout RunMutations) -> Void
    ) {
        (self.peer, self.sentence, self.first) = (peer, sentence, first)
        var mutations = RunMutations()
        mutate(&mutations)
        self.mutations = mutations
    }

    /// The same, as one that no scenario finds, and why.
    func missed(_ reason: String) -> Mutant {
        var mutant = self
        mutant.missed = reason
        return mutant
    }

    /// A client that publishes something else.
    static func publishes(
        _ sentence: String, in first: String...,
        instead change:
            @escaping @Sendable (_ publication: Publication, _ memory: inout MutationMemory) -> [Publication]
    ) -> Mutant {
        Mutant(.client, sentence, first) { mutations in
            mutations.client = { action, memory in
                guard case .publish(let publication) = action else { return [action] }
                return change(publication, &memory).map { .publish($0) }
            }
        }
    }

    /// A client that sends other frames.
    static func clientSends(
        _ sentence: String, in first: String..., instead change: @escaping FrameMutation.Sending
    ) -> Mutant {
        Mutant(.client, sentence, first) { $0.clientFrames = FrameMutation(sending: change) }
    }

    /// A client that reads something else, or sends because of it.
    static func clientReads(
        _ sentence: String, in first: String..., instead change: @escaping FrameMutation.Reading
    ) -> Mutant {
        Mutant(.client, sentence, first) { $0.clientFrames = FrameMutation(reading: change) }
    }

    /// An endpoint of a vehicle that sends other frames.
    static func clusterSends(
        _ sentence: String, in first: String..., instead change: @escaping FrameMutation.Sending
    ) -> Mutant {
        Mutant(.cluster, sentence, first) { $0.vehicleFrames = FrameMutation(sending: change) }
    }

    /// An endpoint of a vehicle that reads something else, or sends because of it.
    static func clusterReads(
        _ sentence: String, in first: String..., instead change: @escaping FrameMutation.Reading
    ) -> Mutant {
        Mutant(.cluster, sentence, first) { $0.vehicleFrames = FrameMutation(reading: change) }
    }
}

extension Mutant {
    /// 60 of clients, 40 of clusters.
    package static let all =
        Self.ofContent + Self.ofRoutes + Self.ofSessions + Self.ofClusters + Self.ofRequests
}

// MARK: Changing publications

extension Publication {
    /// The route in it, changed.
    func changingRoute(_ change: (inout RouteInformation) -> Void) -> Publication {
        switch self {
        case .startGuidance(let trip, let generation, var route):
            change(&route)
            return .startGuidance(trip, generation: generation, route)
        case .resumeGuidance(let generation, let reason, var route?):
            change(&route)
            return .resumeGuidance(generation: generation, reason, route)
        default: return self
        }
    }

    /// All maneuvers in it, changed.
    func changingManeuvers(_ change: (inout Maneuver) -> Void) -> Publication {
        if case .addManeuvers(var maneuvers, let generation) = self {
            for index in maneuvers.indices { change(&maneuvers[index]) }
            return .addManeuvers(maneuvers, generation: generation)
        }
        return self.changingRoute { route in
            for index in route.maneuvers.indices { change(&route.maneuvers[index]) }
        }
    }

    /// All lane guidances in it, changed.
    func changingLanes(_ change: (inout [Lane]) -> Void) -> Publication {
        if case .addLaneGuidances(var guidances, let generation) = self {
            for index in guidances.indices { change(&guidances[index].lanes) }
            return .addLaneGuidances(guidances, generation: generation)
        }
        return self.changingRoute { route in
            for index in route.laneGuidances.indices { change(&route.laneGuidances[index].lanes) }
        }
    }

    /// All segments in it, changed.
    func changingSegments(_ change: (inout RouteSegment) -> Void) -> Publication {
        if case .addRouteSegments(var segments, let generation) = self {
            for index in segments.indices { change(&segments[index]) }
            return .addRouteSegments(segments, generation: generation)
        }
        return self.changingRoute { route in
            for index in route.segments.indices { change(&route.segments[index]) }
        }
    }

    /// Its estimates of the trip, changed.
    func changingTripEstimates(_ change: (inout TravelEstimates) -> Void) -> Publication {
        if case .tripEstimates(var estimates, let color) = self {
            change(&estimates)
            return .tripEstimates(estimates, color)
        }
        return self.changingRoute { route in
            if var estimates = route.tripTravelEstimates {
                change(&estimates)
                route.tripTravelEstimates = estimates
            }
        }
    }

    /// Its estimates of a maneuver, changed.
    func changingManeuverEstimates(_ change: (inout TravelEstimates) -> Void) -> Publication {
        if case .maneuverEstimates(let maneuver, var estimates, let generation) = self {
            change(&estimates)
            return .maneuverEstimates(maneuver, estimates, generation: generation)
        }
        return self.changingRoute { route in
            if var estimates = route.maneuverTravelEstimates {
                change(&estimates)
                route.maneuverTravelEstimates = estimates
            }
        }
    }

    /// All its estimates, changed.
    func changingEstimates(_ change: (inout TravelEstimates) -> Void) -> Publication {
        self.changingTripEstimates(change).changingManeuverEstimates(change)
    }

    /// Its trip, changed.
    func changingTrip(_ change: (inout Trip) -> Void) -> Publication {
        switch self {
        case .startGuidance(var trip, let generation, let route):
            change(&trip)
            return .startGuidance(trip, generation: generation, route)
        case .updateTrip(var trip):
            change(&trip)
            return .updateTrip(trip)
        default: return self
        }
    }

    /// The route that it begins; nil if it begins none.
    var newRoute: RouteInformation? {
        switch self {
        case .startGuidance(_, _, let route), .resumeGuidance(_, _, let route?): route
        default: nil
        }
    }
}

extension Envelope {
    /// The same with another message.
    func with(_ message: Message) -> Envelope {
        Envelope(message, session: self.session, sequence: self.sequence, flags: self.flags)
    }
}
