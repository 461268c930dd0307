public import WaymarkClient
internal import WaymarkModel
public import WaymarkRoutes

/// Guides a session along a routing engine's answer, at the engine's own speeds times `speedFactor`.
public func play(
    _ answer: [UInt8], speedFactor: Double = 1, in session: NavigationSession
) async throws {
    let answer = try RouteReader.read(answer)
    var options = DriveOptions()
    options.speedFactor = speedFactor
    var drive = Drive(route: answer.routes[0], options: options)
    try await session.start(answer.trip(id: "drive"), route: drive.information)

    let start = ContinuousClock.now
    var changes: [DriveChange] = []
    while drive.state != .finished {
        changes.removeAll()
        drive.advance(to: ContinuousClock.now - start, into: &changes)
        for change in changes { try await publish(change, in: session) }
        try await Task.sleep(for: .milliseconds(100))
    }
}

/// Publishes one change of a drive.
public func publish(_ change: DriveChange, in session: NavigationSession) async throws {
    switch change {
    case .position, .offRoute: break
    case .arrivedAtWaypoint: try await session.pause(.arrived)
    case .leavingWaypoint: try await session.resume()
    case .currentSegment(let segment): try await session.setCurrentSegment(segment)
    case .upcomingManeuvers(let maneuvers): try await session.setUpcomingManeuvers(maneuvers)
    case .currentLaneGuidance(let lanes): try await session.setCurrentLaneGuidance(lanes)
    case .roadName(let variants): try await session.setCurrentRoadName(variants)
    case .speedLimit(let limit, let next): try await session.setSpeedLimit(limit, next: next)
    case .maneuverState(let state): try await session.setManeuverState(state)
    case .tripEstimates(let estimates, let color):
        try await session.updateTripEstimates(estimates, color: color)
    case .maneuverEstimates(let maneuver, let estimates):
        try await session.updateEstimates(of: maneuver, estimates)
    case .finished: try await session.finish()
    }
}
