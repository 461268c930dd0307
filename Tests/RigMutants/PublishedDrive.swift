import WaymarkGuidance
package import WaymarkModel
package import WaymarkProtocol
package import WaymarkRoutes

/// What a client of the rig publishes on a drive, each with its time since the begin.
package struct PublishedDrive: Sendable {
    package private(set) var publications: [(elapsed: Duration, publication: Publication)] = []

    package init(_ route: EngineRoute, _ trip: Trip, speed: Double = 1) {
        var options = GuideMachine.Options()
        options.drive.speedFactor = speed
        options.estimatesNotBefore = .milliseconds(200)
        var guide = GuideMachine(route, trip: trip, options: options)
        let begin = Instant(nanoseconds: 0)
        var now = begin
        var actions: [GuideMachine.Action] = []
        guide.begin(at: now, into: &actions)
        while true {
            for case .publish(let publication) in actions {
                self.publications.append((now - begin, publication.ofFirstGeneration))
            }
            actions.removeAll(keepingCapacity: true)
            guard let deadline = guide.deadline else { break }
            now = deadline
            guide.advance(to: now, into: &actions)
        }
    }
}

extension Publication {
    /// The same of the first route: a guide leaves it to its session to number routes.
    fileprivate var ofFirstGeneration: Publication {
        switch self {
        case .startGuidance(let trip, _, let route): .startGuidance(trip, generation: 1, route)
        case .resumeGuidance(_, let reason, let route): .resumeGuidance(generation: 1, reason, route)
        case .upcomingManeuvers(let ids, _): .upcomingManeuvers(ids, generation: 1)
        case .maneuverState(let state, _): .maneuverState(state, generation: 1)
        case .currentLaneGuidance(let id, _): .currentLaneGuidance(id, generation: 1)
        case .currentRouteSegment(let id, _): .currentRouteSegment(id, generation: 1)
        case .maneuverEstimates(let id, let estimates, _): .maneuverEstimates(id, estimates, generation: 1)
        default: self
        }
    }
}
