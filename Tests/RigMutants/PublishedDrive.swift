package import WaymarkModel
package import WaymarkProtocol
package import WaymarkRoutes

/// What `waymark navigate` publishes on a drive, each with its time since the begin.
package struct PublishedDrive: Sendable {
    package private(set) var publications: [(elapsed: Duration, publication: Publication)] = []

    /// The client says at least every `estimatesEvery` where it is; nil: only when what is shown changes.
    package init(
        _ route: EngineRoute, _ trip: Trip, speed: Double = 1, estimatesEvery interval: Duration? = nil
    ) {
        var options = DriveOptions()
        options.speedFactor = speed
        var drive = Drive(route: route, options: options)
        self.publications.append((.zero, .startGuidance(trip, generation: 1, drive.information)))
        // Why coarser in real time: the drive hardly changes in between.
        let tick = Duration.milliseconds(speed > 1 ? 50 : 200)
        var elapsed = Duration.zero
        var changes: [DriveChange] = []
        while drive.state == .driving {
            changes.removeAll(keepingCapacity: true)
            drive.advance(to: elapsed, into: &changes)
            self.publications += changes.compactMap(Self.publication).map { (elapsed, $0) }
            if let interval { self.repeatEstimates(of: drive, at: elapsed, every: interval) }
            elapsed += tick
        }
        self.publications.append((elapsed, .pauseGuidance(.arrived, description: [])))
        self.publications.append((elapsed, .finishGuidance))
    }

    private mutating func repeatEstimates(of drive: Drive, at elapsed: Duration, every interval: Duration) {
        let last = self.publications.last {
            [.updateTripEstimates, .startGuidance].contains($0.publication.type)
        }
        guard let last, elapsed - last.elapsed >= interval,
            let estimates = drive.information.tripTravelEstimates
        else { return }
        self.publications.append((elapsed, .tripEstimates(estimates, .default)))
    }

    private static func publication(_ change: DriveChange) -> Publication? {
        switch change {
        case .position, .offRoute, .finished: nil
        case .upcomingManeuvers(let ids): .upcomingManeuvers(ids, generation: 1)
        case .maneuverState(let state): .maneuverState(state, generation: 1)
        case .currentLaneGuidance(let id): .currentLaneGuidance(id, generation: 1)
        case .roadName(let names): .currentRoadName(names)
        case .currentSegment(let id): .currentRouteSegment(id, generation: 1)
        case .tripEstimates(let estimates, let color): .tripEstimates(estimates, color)
        case .maneuverEstimates(let id, let estimates): .maneuverEstimates(id, estimates, generation: 1)
        case .arrivedAtWaypoint: .pauseGuidance(.arrived, description: [])
        case .leavingWaypoint: .resumeGuidance(generation: 1, .unknown, nil)
        }
    }
}
