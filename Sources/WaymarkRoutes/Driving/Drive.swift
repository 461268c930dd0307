package import WaymarkModel

/// At which distance before a maneuver its state changes, in metres.
///
/// Apps use 35 / 180 / 800 or 200 / 1 000; CarPlay gives none.
package struct ManeuverStateThresholds: Sendable, Hashable {
    package var initial: Double
    package var prepare: Double
    package var execute: Double

    package init(initial: Double, prepare: Double, execute: Double) {
        self.initial = initial
        self.prepare = prepare
        self.execute = execute
    }

    /// Ordinary roads: 800, 180 and 35 m.
    package static let road = ManeuverStateThresholds(initial: 800, prepare: 180, execute: 35)
    /// Motorways: 2 000, 800 and 100 m.
    package static let motorway = ManeuverStateThresholds(initial: 2_000, prepare: 800, execute: 100)
}

/// What changes along a drive; each is published as it is.
package enum DriveChange: Sendable, Hashable {
    case upcomingManeuvers([ManeuverID])
    case maneuverState(ManeuverState)
    case currentLaneGuidance(LaneGuidanceID?)
    case currentRoadName([String])
    case currentRouteSegment(String)
    /// The stop with this index into the route's waypoints was reached.
    case arrivedAtWaypoint(Int)
    case tripEstimates(TravelEstimates)
    case maneuverEstimates(ManeuverID, TravelEstimates)
    case finished
}

/// A simulated drive along a route at the engine's own speeds. A value without a clock: it is told how much time passed.
///
/// Discrete changes are bound to places on the route, so the size of the time steps does not change what happens, nor in
/// which order.
package struct Drive: Sendable, Hashable {
    /// How far before a maneuver its lanes are shown, in metres.
    private static let laneDistance = 400.0

    private struct Trigger: Sendable, Hashable {
        var meters: Double
        var change: Change

        enum Change: Sendable, Hashable {
            case pass(Int)
            case state(ManeuverState)
            case lanes(LaneGuidanceID?)
            case road([String])
            case segment(Int)
            case finish
        }
    }

    package let route: EngineRoute
    /// Metres from the start of the line to each of its points.
    private let meters: [Double]
    /// Seconds from the start of the line to each of its points.
    private let seconds: [Double]
    private let triggers: [Trigger]
    private var nextTrigger = 0
    private var nextManeuver = 0
    private var elapsed: Double
    private var shownTrip: TravelEstimates?
    private var shownManeuver: (id: ManeuverID, estimates: TravelEstimates)?
    package private(set) var isFinished = false

    /// A drive along `route`, from the place on it that is nearest to `start`, or from its begin.
    package init(
        _ route: EngineRoute, from start: Coordinate? = nil, road: ManeuverStateThresholds = .road,
        motorway: ManeuverStateThresholds = .motorway
    ) {
        self.route = route
        var (meters, seconds) = ([0.0], [0.0])
        for index in route.line.indices.dropLast() {
            let length = route.line[index].distance(to: route.line[index + 1])
            meters.append(meters[index] + length)
            seconds.append(seconds[index] + length / route.lineSpeeds[index])
        }
        self.meters = meters
        self.seconds = seconds
        self.triggers = Self.triggers(route, meters, road: road, motorway: motorway)
        let index = start.map { start in
            route.line.indices.min { route.line[$0].distance(to: start) < route.line[$1].distance(to: start) }
                ?? 0
        }
        self.elapsed = seconds[index ?? 0]
    }

    /// All places where something changes, in order.
    private static func triggers(
        _ route: EngineRoute, _ meters: [Double], road: ManeuverStateThresholds,
        motorway: ManeuverStateThresholds
    ) -> [Trigger] {
        var triggers: [Trigger] = route.roads.map {
            .init(meters: meters[$0.lineIndex], change: .road($0.nameVariants))
        }
        for (index, line) in route.segmentIndices.enumerated() {
            triggers.append(.init(meters: meters[line], change: .segment(index)))
        }
        var last = 0.0
        for (index, line) in route.maneuverIndices.enumerated() {
            let place = meters[line]
            let isMotorway = route.roads.last { $0.lineIndex < max(line, 1) }?.isMotorway ?? false
            let thresholds = isMotorway ? motorway : road
            for (state, distance) in [
                (ManeuverState.initial, thresholds.initial), (.prepare, thresholds.prepare),
                (.execute, thresholds.execute),
            ] where index > 0 {
                triggers.append(.init(meters: max(last, place - distance), change: .state(state)))
            }
            if let lanes = route.information.maneuvers[index].linkedLaneGuidance {
                triggers.append(.init(meters: max(last, place - Self.laneDistance), change: .lanes(lanes)))
                triggers.append(.init(meters: place, change: .lanes(nil)))
            }
            triggers.append(.init(meters: place, change: .pass(index)))
            last = place
        }
        triggers.append(.init(meters: meters[meters.count - 1], change: .finish))
        // Stable: what was put in first comes first at the same place.
        return triggers.enumerated().sorted {
            $0.element.meters == $1.element.meters
                ? $0.offset < $1.offset : $0.element.meters < $1.element.meters
        }
        .map(\.element)
    }

    // MARK: Where it is

    /// Metres from the start of the line.
    package var distanceDriven: Double {
        let (index, part) = self.place
        return part == 0
            ? self.meters[index] : self.meters[index] + (self.meters[index + 1] - self.meters[index]) * part
    }

    /// Where the vehicle is.
    package var position: Coordinate {
        let (index, part) = self.place
        return part == 0
            ? self.route.line[index]
            : self.route.line[index].interpolated(to: self.route.line[index + 1], part)
    }

    /// Of the whole route, 0 ... 1.
    package var progress: Double {
        let total = self.seconds[self.seconds.count - 1]
        return total > 0 ? min(1, self.elapsed / total) : 1
    }

    /// Index into the line, and the part of the way to the next point.
    private var place: (index: Int, part: Double) {
        guard self.elapsed < self.seconds[self.seconds.count - 1] else { return (self.seconds.count - 1, 0) }
        var (low, high) = (0, self.seconds.count - 1)
        while high - low > 1 {
            let middle = (low + high) / 2
            if self.seconds[middle] <= self.elapsed { low = middle } else { high = middle }
        }
        let length = self.seconds[low + 1] - self.seconds[low]
        return (low, length > 0 ? (self.elapsed - self.seconds[low]) / length : 0)
    }

    // MARK: Driving

    /// Drives on for `time`, and appends what changes, in order.
    package mutating func advance(by time: Duration, into changes: inout [DriveChange]) {
        guard !self.isFinished else { return }
        let (whole, attoseconds) = time.components
        self.elapsed += Double(whole) + Double(attoseconds) / 1e18
        let driven = self.distanceDriven
        while self.nextTrigger < self.triggers.count, self.triggers[self.nextTrigger].meters <= driven,
            !self.isFinished
        {
            self.fire(self.triggers[self.nextTrigger].change, into: &changes)
            self.nextTrigger += 1
        }
        if !self.isFinished { self.estimate(driven, into: &changes) }
    }

    private mutating func fire(_ change: Trigger.Change, into changes: inout [DriveChange]) {
        switch change {
        case .road(let names): changes.append(.currentRoadName(names))
        case .lanes(let id): changes.append(.currentLaneGuidance(id))
        case .state(let state): changes.append(.maneuverState(state))
        case .segment(let index):
            if index > 0 { changes.append(.arrivedAtWaypoint(index)) }
            changes.append(.currentRouteSegment(self.route.information.segments[index].id))
        case .pass(let index): self.pass(index, into: &changes)
        case .finish:
            self.isFinished = true
            changes.append(.finished)
        }
    }

    /// A maneuver is behind: the next two are upcoming. The last one stays until the end.
    private mutating func pass(_ index: Int, into changes: inout [DriveChange]) {
        let maneuvers = self.route.information.maneuvers
        guard index + 1 < maneuvers.count else { return }
        self.nextManeuver = index + 1
        changes.append(.upcomingManeuvers(maneuvers[(index + 1)...].prefix(2).map(\.id)))
        changes.append(.maneuverState(.continue))
    }

    /// Estimates, where what is shown changes: the rounded distance, or the time by ten seconds.
    private mutating func estimate(_ driven: Double, into changes: inout [DriveChange]) {
        let last = self.meters.count - 1
        let trip = self.estimates(to: last, driven)
        if self.isSignificant(trip, self.shownTrip) {
            self.shownTrip = trip
            changes.append(.tripEstimates(trip))
        }
        guard self.nextManeuver < self.route.maneuverIndices.count else { return }
        let id = self.route.information.maneuvers[self.nextManeuver].id
        let estimates = self.estimates(to: self.route.maneuverIndices[self.nextManeuver], driven)
        if self.shownManeuver?.id != id || self.isSignificant(estimates, self.shownManeuver?.estimates) {
            self.shownManeuver = (id, estimates)
            changes.append(.maneuverEstimates(id, estimates))
        }
    }

    private func estimates(to index: Int, _ driven: Double) -> TravelEstimates {
        let distance = Distance.meters(rounding: self.meters[index] - driven)
        return TravelEstimates(
            distanceRemaining: distance,
            timeRemaining: .seconds(Int64(max(0, self.seconds[index] - self.elapsed))),
            distanceRemainingToDisplay: .rounded(distance, units: .metric))
    }

    private func isSignificant(_ new: TravelEstimates, _ old: TravelEstimates?) -> Bool {
        guard let old, let newTime = new.timeRemaining, let oldTime = old.timeRemaining else { return true }
        return new.distanceRemainingToDisplay != old.distanceRemainingToDisplay
            || newTime > oldTime || oldTime - newTime >= .seconds(10)
    }

    package static func == (lhs: Drive, rhs: Drive) -> Bool {
        lhs.route == rhs.route && lhs.elapsed == rhs.elapsed && lhs.nextTrigger == rhs.nextTrigger
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.elapsed)
        hasher.combine(self.nextTrigger)
    }
}
