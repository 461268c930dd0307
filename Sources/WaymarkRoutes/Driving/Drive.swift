public import WaymarkModel

/// A simulated drive along a route at the engine's own speeds. It has no clock: the caller tells it the elapsed time.
///
///     driving → finished            at the end of the line
///     driving → leaving → offRoute  where the options say so; then there are only positions
///
/// Its changes depend only on the route, the options and the elapsed times.
public struct Drive: Sendable, Hashable {
    /// The state of a drive: where the vehicle is in relation to the route.
    public enum State: Sendable, Hashable {
        /// The vehicle is on the route.
        case driving
        /// The vehicle is beside the route, and still near it.
        case leaving
        /// The vehicle is away from the route.
        case offRoute
        /// The vehicle is at the destination.
        case finished
    }

    /// The newest changes, so that the next step has only what differs.
    private struct Said: Sendable, Hashable {
        var position: Coordinate?
        var segment: Int?
        var maneuver: Int?
        /// An outer nil: nothing was said of lanes.
        var lanes: LaneGuidanceID??
        var roadName: [String]?
        var state: ManeuverState?
        var trip: EstimateKey?
        var toManeuver: EstimateKey?
        var speedLimit: SpeedLimitKey?
    }

    /// The next speed limit is told from this distance on, in metres: earlier it changes nothing of how one drives.
    private static let speedLimitMetersMax = 3_000.0

    /// The route that is driven.
    public let route: EngineRoute
    /// The options with which the route is driven.
    public private(set) var options: DriveOptions
    package let measure: LineMeasure
    /// The state of the drive.
    public private(set) var state = State.driving
    /// Metres driven from the route's start; constant once the route is left.
    public private(set) var meters: Double
    /// The vehicle's position.
    public private(set) var position: Coordinate
    private var startSeconds: Double
    /// For each segment its first maneuver: an index into the route's maneuvers. A segment without maneuvers has the next one's.
    private let firstManeuvers: [Int]
    private var elapsed = Duration.zero
    /// The first maneuver, lane guidance and road end that are still ahead, and the segment that is driven.
    private var nextManeuver = 0
    private var nextLanes = 0
    private var road = 0
    private var speedLimit = 0
    private var segment = 0
    private var said = Said()

    /// A drive along `route` that begins `meters` after the route's start, at the latest at its end.
    public init(route: EngineRoute, options: DriveOptions = DriveOptions(), atMeters meters: Double = 0) {
        let measure = route.measure
        self.init(route, options, measure, meters: min(max(0, meters), measure.length))
    }

    /// A drive along a new route, from where the vehicle is.
    ///
    /// It begins on the first leg, so that no stop is skipped, at the first point of the route that passes the vehicle: the
    /// nearest point is often on the way back from the stop.
    ///
    /// - Parameters:
    ///   - route: The new route.
    ///   - options: How to drive.
    ///   - position: The vehicle's position.
    ///   - meters: The distance of the new route that was driven already; the drive begins on the leg there.
    public init(
        route: EngineRoute, options: DriveOptions = DriveOptions(), from position: Coordinate,
        after meters: Double = 0
    ) {
        let measure = route.measure
        let end = route.segmentIndices.dropFirst().map { measure.meters[$0] }.first { $0 > meters }
        let begin = measure.firstPass(
            of: position, on: route.line,
            within: min(max(0, meters), measure.length)...(end ?? measure.length))
        self.init(route, options, measure, meters: begin)
    }

    private init(_ route: EngineRoute, _ options: DriveOptions, _ measure: LineMeasure, meters: Double) {
        self.route = route
        self.options = options
        self.measure = measure
        self.meters = meters
        self.startSeconds = measure.seconds(atMeters: meters)
        self.position = measure.point(at: meters, on: route.line)
        self.firstManeuvers = Self.firstManeuvers(of: route)
        while self.segment + 1 < route.segmentIndices.count,
            measure.meters[route.segmentIndices[self.segment + 1]] < meters
        {
            self.segment += 1
        }
        self.passWhatIsBehind()
    }

    private static func firstManeuvers(of route: EngineRoute) -> [Int] {
        var next = route.information.maneuvers.count
        var first: [Int] = []
        for segment in route.information.segments.reversed() {
            // Maneuvers have ids from 1 in their order.
            if let id = segment.maneuvers.first { next = min(next, max(0, Int(id.rawValue) - 1)) }
            first.append(next)
        }
        return first.reversed()
    }

    /// Drives on to `elapsed` after the drive's begin; appends the changes, in the order in which to publish them.
    ///
    /// There are none once the drive is finished, and for a time that is not later than the last one. The first call appends
    /// everything.
    public mutating func advance(to elapsed: Duration, into changes: inout [DriveChange]) {
        let isFirst = self.said == Said()
        guard self.state != .finished, isFirst || elapsed > self.elapsed else { return }
        let driven = max(.zero, elapsed - self.elapsed).seconds * self.options.speedFactor
        self.elapsed = max(self.elapsed, elapsed)
        switch self.state {
        case .driving: self.drive(into: &changes)
        case .leaving, .offRoute: self.drift(seconds: driven, into: &changes)
        case .finished: break
        }
    }

    /// Drives `factor` times as fast as the engine's speeds from now on; finite, above 0.
    package mutating func setSpeed(_ factor: Double) {
        self.startSeconds += self.elapsed.seconds * (self.options.speedFactor - factor)
        self.options.speedFactor = factor
    }

    /// Guidance resumes on the same route. Receivers reset the state to `continue` on pause, so publish it again.
    public mutating func restateManeuver() { self.said.state = nil }

    /// Appends the estimates again, as they are now, whether or not they look the same.
    package mutating func restateEstimates(into changes: inout [DriveChange]) {
        guard self.state != .offRoute else { return }
        (self.said.trip, self.said.toManeuver) = (nil, nil)
        self.sayEstimates(into: &changes)
    }

    /// The stops that are not reached yet, and the destination: the waypoints of a new route from here.
    public var waypointsAhead: [Waypoint] { Array(self.route.waypoints.dropFirst(self.segment + 1)) }

    /// The route with the present segment, maneuvers and estimates: what to start or resume guidance with.
    public var information: RouteInformation {
        var information = self.route.information
        information.currentSegment = information.segments[self.segment].id
        information.upcomingManeuvers = self.upcomingManeuvers
        information.currentLaneGuidance = self.lanes
        information.tripTravelEstimates = self.estimates(to: self.measure.length)
        information.maneuverTravelEstimates =
            self.maneuverMeters.map { self.estimates(to: $0) }
        return information
    }

    // MARK: On the route

    private mutating func drive(into changes: inout [DriveChange]) {
        let seconds = self.startSeconds + self.elapsed.seconds * self.options.speedFactor
        var meters = max(self.meters, self.measure.meters(atSeconds: seconds))
        let leavesAt = self.options.leavesRouteAtMeters.map { max($0, 0) }
        if let leavesAt, meters > leavesAt, leavesAt >= self.meters { meters = leavesAt }
        // Every stop on the way is an arrival, however long the step is.
        while let stop = self.nextStop, stop <= meters {
            self.move(to: stop, into: &changes)
            self.stop(into: &changes)
        }
        self.move(to: meters, into: &changes)
        if meters >= self.measure.length {
            self.state = .finished
            changes.append(.finished)
        } else if meters == leavesAt {
            self.state = .leaving
        }
    }

    private mutating func move(to meters: Double, into changes: inout [DriveChange]) {
        self.meters = max(self.meters, meters)
        self.position = self.point(at: self.meters)
        self.passWhatIsBehind()
        self.sayPosition(into: &changes)
        self.sayManeuver(into: &changes)
        self.saySegment(into: &changes)
        self.sayRoad(into: &changes)
        self.saySpeedLimit(into: &changes)
        self.sayManeuverState(into: &changes)
        self.sayEstimates(into: &changes)
    }

    /// The vehicle has reached a stop and drives on along the next leg. Publishes per-leg changes while guidance is
    /// paused, so that receivers see them together.
    private mutating func stop(into changes: inout [DriveChange]) {
        self.segment += 1
        changes.append(.arrivedAtWaypoint(self.segment))
        self.said.state = nil
        self.passWhatIsBehind()
        self.sayManeuver(into: &changes)
        self.saySegment(into: &changes)
        self.sayRoad(into: &changes)
        changes.append(.leavingWaypoint(self.segment))
        self.sayManeuverState(into: &changes)
    }

    /// In metres from the route's start; nil on the last leg.
    private var nextStop: Double? {
        guard self.segment + 1 < self.route.segmentIndices.count else { return nil }
        return self.measure.meters[self.route.segmentIndices[self.segment + 1]]
    }

    /// A maneuver is behind once the vehicle is beyond it, or at the end; the last one of a leg stays ahead to the leg's end,
    /// and no maneuver of another leg is ahead of it.
    private mutating func passWhatIsBehind() {
        let line = self.measure.meters
        let indices = self.route.maneuverIndices
        self.nextManeuver = max(
            self.nextManeuver, min(self.firstManeuver(of: self.segment), indices.count - 1))
        let last = min(self.firstManeuver(of: self.segment + 1), indices.count) - 1
        while self.nextManeuver < last,
            line[indices[self.nextManeuver]] < self.meters || self.meters >= self.measure.length
        {
            self.nextManeuver += 1
        }
        while self.nextLanes < self.route.laneGuidanceIndices.count,
            line[self.route.laneGuidanceIndices[self.nextLanes]] < self.meters
        {
            self.nextLanes += 1
        }
        while self.road + 1 < self.route.roads.count,
            line[self.route.roads[self.road + 1].lineIndex] <= self.meters
        {
            self.road += 1
        }
        while self.speedLimit + 1 < self.route.speedLimits.count,
            line[self.route.speedLimits[self.speedLimit + 1].lineIndex] <= self.meters
        {
            self.speedLimit += 1
        }
    }

    private func firstManeuver(of segment: Int) -> Int {
        segment < self.firstManeuvers.count ? self.firstManeuvers[segment] : self.route.maneuverIndices.count
    }

    private mutating func sayPosition(into changes: inout [DriveChange]) {
        guard self.said.position != self.position else { return }
        self.said.position = self.position
        changes.append(.position(self.position, bearing: self.bearing))
    }

    private mutating func saySegment(into changes: inout [DriveChange]) {
        guard self.said.segment != self.segment else { return }
        self.said.segment = self.segment
        changes.append(.currentSegment(self.route.information.segments[self.segment].id))
    }

    /// Publishes the change of the first maneuver so that a receiver never attributes the old maneuver's state to the new one.
    ///
    /// First the old one is over (its state ends, its lanes go), then the estimates of the new one come, then it is the first.
    /// Its own state and lanes follow.
    private mutating func sayManeuver(into changes: inout [DriveChange]) {
        guard self.said.maneuver != self.nextManeuver else { return }
        switch self.said.state {
        case nil, .continue?: break
        case .execute?: changes.append(.maneuverState(.continue))
        case .initial?, .prepare?, .unrecognized?:
            // Why: the protocol leads back to `continue` only from `execute`, which this long step has passed over.
            changes.append(.maneuverState(.execute))
            changes.append(.maneuverState(.continue))
        }
        if self.said.state != nil { self.said.state = .continue }
        if let lanes = self.said.lanes, lanes != nil, lanes != self.lanes {
            self.sayLanes(nil, into: &changes)
        }
        self.said.maneuver = self.nextManeuver
        self.sayManeuverEstimates(into: &changes)
        changes.append(.upcomingManeuvers(self.upcomingManeuvers))
    }

    private mutating func sayLanes(_ lanes: LaneGuidanceID?, into changes: inout [DriveChange]) {
        guard self.said.lanes != .some(lanes) else { return }
        self.said.lanes = .some(lanes)
        changes.append(.currentLaneGuidance(lanes))
    }

    private mutating func sayRoad(into changes: inout [DriveChange]) {
        self.sayLanes(self.lanes, into: &changes)
        let roadName = self.route.roads.isEmpty ? [] : self.route.roads[self.road].nameVariants
        if self.said.roadName != roadName {
            self.said.roadName = roadName
            changes.append(.roadName(roadName))
        }
    }

    /// Publishes the limit here and the next one when one of them changes, or what is shown of the distance.
    private mutating func saySpeedLimit(into changes: inout [DriveChange]) {
        guard !self.route.speedLimits.isEmpty else { return }
        let (limit, next) = (self.route.speedLimits[self.speedLimit].limit, self.nextSpeedLimit)
        let key = SpeedLimitKey(limit: limit, next: next?.limit, distance: next?.distanceToDisplay)
        guard self.said.speedLimit != key else { return }
        self.said.speedLimit = key
        changes.append(.speedLimit(limit, next: next))
    }

    private mutating func sayManeuverState(into changes: inout [DriveChange]) {
        guard let maneuverMeters = self.maneuverMeters else { return }
        let near = self.distances.state(at: maneuverMeters - self.meters)
        // Why: where a motorway ends the distances shrink, and the same maneuver must not go back.
        let state = near.later(than: self.said.state)
        if self.said.state != state {
            self.said.state = state
            changes.append(.maneuverState(state))
        }
    }

    private mutating func sayEstimates(into changes: inout [DriveChange]) {
        let trip = self.estimates(to: self.measure.length)
        let key = EstimateKey(trip, item: 0)
        if self.said.trip != key {
            self.said.trip = key
            changes.append(.tripEstimates(trip, .default))
        }
        self.sayManeuverEstimates(into: &changes)
    }

    private mutating func sayManeuverEstimates(into changes: inout [DriveChange]) {
        guard let maneuverMeters = self.maneuverMeters else { return }
        let maneuver = self.route.information.maneuvers[self.nextManeuver].id
        let toManeuver = self.estimates(to: maneuverMeters)
        let maneuverKey = EstimateKey(toManeuver, item: maneuver.rawValue)
        if self.said.toManeuver != maneuverKey {
            self.said.toManeuver = maneuverKey
            changes.append(.maneuverEstimates(maneuver, toManeuver))
        }
    }

    // MARK: Beside the route

    private mutating func drift(seconds: Double, into changes: inout [DriveChange]) {
        let step = seconds * self.speed
        let heading = (self.bearing ?? 0) + self.options.leavingAngle
        self.position = self.position.moved(meters: step, bearing: heading)
        self.said.position = self.position
        changes.append(.position(self.position, bearing: heading.truncatingRemainder(dividingBy: 360)))
        guard self.state == .leaving else { return }
        let near = self.measure.nearest(to: self.position, on: self.route.line)
        if self.point(at: near).meters(to: self.position) > self.options.offRouteMeters {
            self.state = .offRoute
            changes.append(.offRoute(self.position))
        }
    }

    // MARK: Where things are

    private var lineIndex: Int { self.measure.index(atMeters: self.meters) }

    private var speed: Double {
        self.route.lineSpeeds.isEmpty
            ? 0 : self.route.lineSpeeds[min(self.lineIndex, self.route.lineSpeeds.count - 1)]
    }

    /// Of the piece of line the vehicle is on; nil for a line of one point.
    private var bearing: Double? {
        let index = self.lineIndex
        guard index + 1 < self.route.line.count else { return nil }
        return self.route.line[index].bearing(to: self.route.line[index + 1])
    }

    private func point(at meters: Double) -> Coordinate {
        self.measure.point(at: meters, on: self.route.line)
    }

    private var distances: ManeuverStateThresholds.Distances {
        let isMotorway = !self.route.roads.isEmpty && self.route.roads[self.road].isMotorway
        return self.options.thresholds.distances(isMotorway: isMotorway, speed: self.speed)
    }

    private var upcomingManeuvers: [ManeuverID] {
        self.route.information.maneuvers.dropFirst(self.nextManeuver).prefix(
            max(1, self.options.upcomingManeuversMax)
        )
        .map(\.id)
    }

    /// Where the first upcoming maneuver is; nil for a route without maneuvers.
    private var maneuverMeters: Double? {
        guard self.nextManeuver < self.route.maneuverIndices.count else { return nil }
        return self.measure.meters[self.route.maneuverIndices[self.nextManeuver]]
    }

    private var lanes: LaneGuidanceID? {
        guard self.nextLanes < self.route.laneGuidanceIndices.count else { return nil }
        let ahead = self.measure.meters[self.route.laneGuidanceIndices[self.nextLanes]] - self.meters
        return ahead <= self.distances.lanes ? self.route.information.laneGuidances[self.nextLanes].id : nil
    }

    /// The next limit that is known and differs from the one here; nil if there is none near.
    private var nextSpeedLimit: SpeedLimitAhead? {
        let here = self.route.speedLimits[self.speedLimit].limit
        for ahead in self.route.speedLimits.dropFirst(self.speedLimit + 1) {
            let meters = self.measure.meters[ahead.lineIndex] - self.meters
            guard meters <= Self.speedLimitMetersMax else { return nil }
            guard ahead.limit.status != .unknown, ahead.limit != here else { continue }
            let distance = Distance.meters(rounding: max(0, meters))
            return SpeedLimitAhead(
                ahead.limit, in: distance,
                distanceToDisplay: .rounded(distance, units: self.options.units))
        }
        return nil
    }

    private func estimates(to meters: Double) -> TravelEstimates {
        let now = self.startSeconds + self.elapsed.seconds * self.options.speedFactor
        var estimates = self.measure.estimates(from: self.meters, at: now, to: meters)
        estimates.distanceRemainingToDisplay = .rounded(
            estimates.distanceRemaining, units: self.options.units)
        return estimates
    }
}

/// Estimates that look the same: what is shown of the distance, and the time in minutes, from two minutes on in
/// steps of ten seconds. Being there is not the same as being nearly there.
private struct EstimateKey: Sendable, Hashable {
    let item: UInt32
    let distance: DisplayDistance?
    let time: Int64
    let isThere: Bool

    init(_ estimates: TravelEstimates, item: UInt32) {
        let seconds = estimates.timeRemaining?.components.seconds ?? -1
        self.item = item
        self.isThere = estimates.distanceRemaining == .meters(0)
        self.distance = estimates.distanceRemainingToDisplay
        self.time = seconds < 120 ? seconds / 10 : 100 + seconds / 60
    }
}

/// Speed limits that look the same.
private struct SpeedLimitKey: Sendable, Hashable {
    let limit: SpeedLimit
    let next: SpeedLimit?
    let distance: DisplayDistance?
}

extension ManeuverState {
    /// The later one in the cycle continue, initial, prepare, execute.
    fileprivate func later(than other: ManeuverState?) -> ManeuverState {
        guard let other, other.rawValue > self.rawValue else { return self }
        return other
    }
}

extension Duration {
    /// In seconds.
    fileprivate var seconds: Double {
        Double(self.components.seconds) + Double(self.components.attoseconds) * 1e-18
    }
}
