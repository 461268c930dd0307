import WaymarkLint
package import WaymarkModel
package import WaymarkProtocol
package import WaymarkRig

/// A mistake in a client, as a change of what it publishes: no source is patched.
package struct Mutation: Sendable, CustomStringConvertible {
    /// What a mutation remembers of a drive.
    package struct Memory: Sendable {
        /// Since the begin of the drive.
        package var elapsed = Duration.zero
        /// How many publications of the present type came before.
        package var count = 0
        /// Of the route that is driven.
        package var route = RouteInformation()
        package var trip: UInt32 = 0
        package var maneuver: UInt32 = 0
        package var upcoming: [ManeuverID] = []
        package var lanes: LaneGuidanceID?
        /// For what a mutation needs besides.
        package var seconds: Double = 0
        package var estimates: TravelEstimates?
    }

    /// What is published in place of a publication, each so much later.
    package typealias Change =
        @Sendable (_ publication: Publication, _ memory: inout Memory) -> [(later: Duration, Publication)]

    /// What the client does wrong.
    package let sentence: String
    /// The rule that finds it; nil: none does.
    package let expected: LintID?
    private let change: Change

    package init(_ sentence: String, finds expected: LintID?, _ change: @escaping Change) {
        (self.sentence, self.expected, self.change) = (sentence, expected, change)
    }

    package var description: String { self.sentence }

    /// The drive of a client that makes the mistake.
    package func publications(of drive: PublishedDrive) -> [(elapsed: Duration, publication: Publication)] {
        var memory = Memory()
        var counts: [MessageType: Int] = [:]
        var published: [(elapsed: Duration, publication: Publication)] = []
        for (elapsed, publication) in drive.publications {
            memory.elapsed = elapsed
            memory.count = counts[publication.type, default: 0]
            counts[publication.type] = memory.count + 1
            for (later, changed) in self.change(publication, &memory) {
                published.append((elapsed + later, changed))
            }
            memory.see(publication)
        }
        // Stable: what is said at once stays in its order.
        return published.enumerated().sorted {
            ($0.element.elapsed, $0.offset) < ($1.element.elapsed, $1.offset)
        }.map(\.element)
    }
}

extension Mutation.Memory {
    fileprivate mutating func see(_ publication: Publication) {
        switch publication {
        case .startGuidance(_, _, let route):
            self.route = route
            self.upcoming = route.upcomingManeuvers
            self.trip = route.tripTravelEstimates?.distanceRemaining.meters ?? 0
        case .upcomingManeuvers(let ids, _): self.upcoming = ids
        case .tripEstimates(let estimates, _): self.trip = estimates.distanceRemaining.meters
        case .maneuverEstimates(_, let estimates, _): self.maneuver = estimates.distanceRemaining.meters
        case .currentLaneGuidance(let id, _): self.lanes = id
        default: break
        }
    }
}

// Changes of one kind of content.
extension Mutation {
    /// Changes publications; nil publishes nothing.
    package static func of(
        _ sentence: String, finds expected: LintID?,
        _ change: @escaping @Sendable (Publication, inout Memory) -> Publication?
    ) -> Mutation {
        Mutation(sentence, finds: expected) { publication, memory in
            change(publication, &memory).map { [(.zero, $0)] } ?? []
        }
    }

    /// Changes the route that guidance starts with.
    package static func route(
        _ sentence: String, finds expected: LintID?,
        _ change: @escaping @Sendable (inout RouteInformation) -> Void
    ) -> Mutation {
        .of(sentence, finds: expected) { publication, _ in
            guard case .startGuidance(let trip, let generation, var route) = publication else {
                return publication
            }
            change(&route)
            return .startGuidance(trip, generation: generation, route)
        }
    }

    /// Changes each maneuver of the route; the number is its position.
    package static func maneuver(
        _ sentence: String, finds expected: LintID?,
        _ change: @escaping @Sendable (inout Maneuver, Int) -> Void
    ) -> Mutation {
        .route(sentence, finds: expected) { route in
            for index in route.maneuvers.indices { change(&route.maneuvers[index], index) }
        }
    }

    /// Changes each lane of the route.
    package static func lane(
        _ sentence: String, finds expected: LintID?, _ change: @escaping @Sendable (inout Lane) -> Void
    ) -> Mutation {
        .route(sentence, finds: expected) { route in
            for guidance in route.laneGuidances.indices {
                for lane in route.laneGuidances[guidance].lanes.indices {
                    change(&route.laneGuidances[guidance].lanes[lane])
                }
            }
        }
    }

    /// Changes the distance to the destination.
    package static func trip(
        _ sentence: String, finds expected: LintID?,
        _ change: @escaping @Sendable (inout TravelEstimates, inout Memory) -> Void
    ) -> Mutation {
        .of(sentence, finds: expected) { publication, memory in
            guard case .tripEstimates(var estimates, let color) = publication else { return publication }
            change(&estimates, &memory)
            return .tripEstimates(estimates, color)
        }
    }

    /// Changes the distance to the next maneuver.
    package static func distance(
        _ sentence: String, finds expected: LintID?,
        _ change: @escaping @Sendable (inout TravelEstimates, inout Memory) -> Void
    ) -> Mutation {
        .of(sentence, finds: expected) { publication, memory in
            guard case .maneuverEstimates(let id, var estimates, let generation) = publication else {
                return publication
            }
            change(&estimates, &memory)
            return .maneuverEstimates(id, estimates, generation: generation)
        }
    }
}
