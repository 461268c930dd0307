internal import WaymarkGateway
package import WaymarkModel
package import WaymarkProtocol

/// The fitting that an endpoint must get: a second implementation of "Fitting" in Docs/protocol.md, independent of the gateway's.
package struct ExpectedFitting: Hashable, Sendable {
    package var limits = VehicleLimits()
    /// The largest frame that the endpoint takes; 0: any.
    package var receiveFrameBytesMax: UInt32 = 0
    package var units = DistanceUnits.asPublished
    package var features: Set<Feature> = Set(Feature.allCases)
    /// The extensions that it gets; nil for all.
    package var extensions: Set<ExtensionName>?

    package init() {}

    /// The endpoint receives the published bytes unchanged.
    package var isNone: Bool { self == ExpectedFitting() }

    private func has(_ name: ExtensionName) -> Bool { self.extensions?.contains(name) ?? true }

    /// The fitting of the endpoint if the session has no room for its profile.
    package var bare: ExpectedFitting {
        var fitting = ExpectedFitting()
        fitting.features.subtract(Profile.contentFeatures)
        fitting.receiveFrameBytesMax = self.receiveFrameBytesMax
        return fitting
    }

    /// The number of maneuvers and of lane guidances that the endpoint can store; 0 for no limit.
    package var maneuversMax: Int { self.has(.maneuvers) ? Int(self.limits.maneuversStoredMax) : 0 }
    package var laneGuidancesMax: Int {
        self.has(.laneGuidance) ? Int(self.limits.laneGuidancesStoredMax) : 0
    }

    /// The state that an endpoint must have at rest if its publisher's state is `state`.
    package func apply(to state: DriveState) -> DriveState {
        var fitted = DriveState()
        fitted.previews = state.previews.flatMap { self.applyPreviews($0) }
        fitted.trip = state.trip.map(self.apply)
        fitted.generation = state.generation
        self.applyManeuvers(of: state, to: &fitted)
        self.applyLanes(of: state, to: &fitted)
        if self.has(.routeSegments), state.trip?.routeSegmentsAvailable == true {
            fitted.segments = state.segments.map(self.apply)
            fitted.currentSegment = state.currentSegment
        }
        if self.has(.currentRoadName) {
            fitted.roadName = Self.apply(self.limits.currentRoadNameLengthMax, to: state.roadName)
        }
        fitted.tripEstimates = state.tripEstimates.map(self.apply)
        if self.has(.speedLimit) {
            fitted.speedLimit = state.speedLimit
            fitted.nextSpeedLimit = state.nextSpeedLimit.map(self.apply)
        }
        fitted.pause = state.pause
        if self.has(.navigationAlerts) { fitted.alert = state.alert.map(self.apply) }
        fitted.others = state.others.compactMapValues(self.apply)
        fitted.extensions = state.extensions
        fitted.named = state.named.filter { self.has($0.value.name) }
        return fitted
    }

    private func applyManeuvers(of state: DriveState, to fitted: inout DriveState) {
        guard self.has(.maneuvers) else { return }
        let window = Self.window(state.maneuvers, named: state.lastUpcoming, self.maneuversMax)
        fitted.maneuvers = window.map(self.apply)
        let stored = Set(window.map(\.id))
        fitted.upcoming = state.upcoming.filter { stored.contains($0) }
        fitted.maneuverState = state.maneuverState
        fitted.maneuverEstimates = state.maneuverEstimates.filter { stored.contains($0.key) }.mapValues(
            self.apply)
    }

    private func applyLanes(of state: DriveState, to fitted: inout DriveState) {
        guard self.has(.laneGuidance) else { return }
        let named = state.lastLaneGuidance.map { [$0] } ?? []
        fitted.laneGuidances = Self.window(state.laneGuidances, named: named, self.laneGuidancesMax).map(
            self.apply)
        fitted.currentLaneGuidance = state.currentLaneGuidance
    }

    /// Selects `countMax` elements: first the named ones, then those after the first named one, then those before it. Returns them in
    /// the route's order.
    private static func window<Element: Identified>(
        _ route: [Element], named: [Element.ID], _ countMax: Int
    ) -> [Element] {
        guard countMax > 0, route.count > countMax else { return route }
        let indices = named.prefix(countMax).compactMap { id in route.firstIndex { $0.id == id } }
        let first = indices.first ?? 0
        let others = Array(first..<route.count) + (0..<first).reversed()
        // An id may be repeated.
        let chosen = Array(Set(indices)) + others.filter { !indices.contains($0) }
        return chosen.prefix(countMax).sorted().map { route[$0] }
    }

    /// The publication as the endpoint must receive it; nil if it is not delivered, or if that depends on other publications.
    package func apply(to publication: Publication) -> Publication? {
        switch publication {
        case .tripPreviews: return self.applyPreviews(publication)
        case .updateTrip(let trip): return .updateTrip(self.apply(trip))
        case .addRouteSegments(let segments, let generation):
            guard self.has(.routeSegments) else { return nil }
            return .addRouteSegments(segments.map(self.apply), generation: generation)
        case .currentRouteSegment: return self.has(.routeSegments) ? publication : nil
        case .plain(.currentRoadName(let variants)):
            guard self.has(.currentRoadName) else { return nil }
            return .currentRoadName(Self.apply(self.limits.currentRoadNameLengthMax, to: variants))
        case .maneuverState: return self.has(.maneuvers) ? publication : nil
        case .tripEstimates(let estimates, let color): return .tripEstimates(self.apply(estimates), color)
        case .speedLimit(let limit, let next):
            return self.has(.speedLimit) ? .speedLimit(limit, next: next.map(self.apply)) : nil
        case .showAlert(let alert): return self.has(.navigationAlerts) ? .showAlert(self.apply(alert)) : nil
        case .dismissAlert: return self.has(.navigationAlerts) ? publication : nil
        case .shareDestination(let id, let destination, let trip):
            guard self.has(.destinationSharing) else { return nil }
            return .shareDestination(shareID: id, self.apply(destination), trip: trip)
        case .publishExtension(let published):
            return self.has(published.name) ? publication : nil
        case .resumeGuidance(_, _, .none): return publication
        case .startGuidance, .resumeGuidance, .addManeuvers, .addLaneGuidances, .upcomingManeuvers,
            .currentLaneGuidance, .maneuverEstimates:
            return self.isNone ? publication : nil
        default: return publication.rule.feature.map(self.has) ?? true ? publication : nil
        }
    }

    /// Whether an event must reach the endpoint, independent of other publications.
    package func mustDeliver(_ event: Publication) -> Bool {
        switch event {
        case .startGuidance, .resumeGuidance: true
        case .addManeuvers: self.has(.maneuvers) && self.maneuversMax == 0
        case .addLaneGuidances: self.has(.laneGuidance) && self.laneGuidancesMax == 0
        default: self.apply(to: event) != nil
        }
    }

    private func has(_ feature: Feature) -> Bool { self.features.contains(feature) }

    private func applyPreviews(_ publication: Publication) -> Publication? {
        guard self.has(.tripPreviews), case .tripPreviews(let trips, let selected) = publication else {
            return nil
        }
        return .tripPreviews(trips.map(self.apply), selected: selected)
    }

    private static func trimmed(_ text: String) -> String {
        var text = text
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }

    private static func apply(_ lengthMax: UInt32, to variants: [String]) -> [String] {
        guard lengthMax > 0, !variants.isEmpty else { return variants }
        let short = variants.filter { $0.unicodeScalars.count <= Int(lengthMax) }
        guard short.isEmpty else { return short }
        // REQ-FIT-02: cut between characters, whose scalars count; at the end of a word if that leaves half.
        let shortest = variants.min { $0.unicodeScalars.count < $1.unicodeScalars.count } ?? ""
        var cut = shortest
        while cut.unicodeScalars.count > Int(lengthMax) - 1 { cut.removeLast() }
        let isInWord = shortest.dropFirst(cut.count).first?.isWhitespace == false
        if isInWord, let space = cut.lastIndex(where: \.isWhitespace) {
            let words = Self.trimmed(String(cut[..<space]))
            if words.unicodeScalars.count * 2 >= Int(lengthMax) - 1 { cut = words }
        }
        cut = Self.trimmed(cut)
        return cut.isEmpty ? [] : [cut + "…"]
    }

    private func apply(_ estimates: TravelEstimates) -> TravelEstimates {
        guard self.units != .asPublished else { return estimates }
        var fitted = estimates
        fitted.distanceRemainingToDisplay = .rounded(estimates.distanceRemaining, units: self.units)
        return fitted
    }

    private func apply(_ ahead: SpeedLimitAhead) -> SpeedLimitAhead {
        guard self.units != .asPublished else { return ahead }
        var fitted = ahead
        fitted.distanceToDisplay = .rounded(ahead.distance, units: self.units)
        return fitted
    }

    private func apply(_ waypoint: Waypoint) -> Waypoint {
        var fitted = waypoint
        fitted.nameVariants = Self.apply(self.limits.destinationNameLengthMax, to: fitted.nameVariants)
        // Omitted, never shortened: half an address is a wrong address.
        let lengthMax = Int(self.limits.destinationNameLengthMax)
        if lengthMax > 0 { fitted.addressVariants.removeAll { $0.unicodeScalars.count > lengthMax } }
        if !self.has(.charge) { fitted.charge = nil }
        if !self.has(.timeZone) { fitted.timeZone = "" }
        if !self.has(.timeZone) { fitted.utcOffsetMinutes = nil }
        return fitted
    }

    private func apply(_ trip: Trip) -> Trip {
        var fitted = trip
        fitted.origin = self.apply(trip.origin)
        fitted.destination = self.apply(trip.destination)
        fitted.waypoints = trip.waypoints.map(self.apply)
        fitted.travelEstimates = trip.travelEstimates.map(self.apply)
        return fitted
    }

    private func apply(_ maneuver: Maneuver) -> Maneuver {
        var fitted = maneuver
        fitted.instructionVariants = Self.apply(
            self.limits.maneuverInstructionLengthMax, to: fitted.instructionVariants)
        fitted.roadFollowingManeuverVariants = Self.apply(
            self.limits.roadFollowingManeuverLengthMax, to: fitted.roadFollowingManeuverVariants)
        if !self.has(.exitLabels) { fitted.highwayExitLabel = "" }
        if !self.has(.laneGuidance) { fitted.linkedLaneGuidance = nil }
        fitted.initialTravelEstimates = fitted.initialTravelEstimates.map(self.apply)
        return fitted
    }

    private func apply(_ guidance: LaneGuidance) -> LaneGuidance {
        var fitted = guidance
        fitted.instructionVariants = Self.apply(
            self.limits.laneInstructionLengthMax, to: fitted.instructionVariants)
        return fitted
    }

    private func apply(_ segment: RouteSegment) -> RouteSegment {
        var fitted = segment
        fitted.origin = self.apply(segment.origin)
        fitted.destination = self.apply(segment.destination)
        let kept = Self.kept(segment.coordinates, Int(self.limits.routeSegmentPointsMax))
        fitted.coordinates = kept.map { segment.coordinates[$0] }
        if !self.has(.speedLimit) {
            fitted.speedLimits = []
        } else if kept.count < segment.coordinates.count {
            // REQ-SPEED-03: the span that holds at each point, where it differs from that of the point before.
            let held = kept.map { point in segment.speedLimits.lastIndex { Int($0.firstPoint) <= point } }
            fitted.speedLimits = held.indices.compactMap { index in
                guard let span = held[index], index == 0 || held[index - 1] != span else { return nil }
                return SpeedLimitSpan(from: UInt32(index), segment.speedLimits[span].limit)
            }
        }
        if !self.has(.maneuvers) {
            fitted.maneuvers = []
            fitted.currentManeuvers = []
        }
        if !self.has(.laneGuidance) {
            fitted.laneGuidances = []
            fitted.currentLaneGuidance = nil
        }
        fitted.tripTravelEstimates = fitted.tripTravelEstimates.map(self.apply)
        fitted.maneuverTravelEstimates = fitted.maneuverTravelEstimates.map(self.apply)
        return fitted
    }

    /// Removes the point that costs least, again and again, until `countMax` points remain. Compares all costs for each removal.
    package static func thin(_ line: [Coordinate], _ countMax: Int) -> [Coordinate] {
        self.kept(line, countMax).map { line[$0] }
    }

    /// The indices of the points that remain.
    private static func kept(_ line: [Coordinate], _ countMax: Int) -> [Int] {
        var kept = Array(line.indices)
        guard countMax > 0, line.count > countMax else { return kept }
        guard countMax > 1 else { return kept.suffix(1) }
        var (line, lost) = (line, line.map { _ in Int64(0) })
        while line.count > countMax {
            var best: (index: Int, cost: Int64)?
            for index in 1..<line.count - 1 {
                let cost =
                    Self.millimeters(from: line[index], to: line[index - 1], line[index + 1])
                    + max(lost[index - 1], lost[index])
                if best.map({ cost < $0.cost }) ?? true { best = (index, cost) }
            }
            guard let best else { break }
            lost[best.index - 1] = best.cost
            line.remove(at: best.index)
            lost.remove(at: best.index)
            kept.remove(at: best.index)
        }
        return kept
    }

    /// The distance of a point from the line segment between two others, in a flat projection around the point, rounded.
    private static func millimeters(from point: Coordinate, to first: Coordinate, _ last: Coordinate) -> Int64
    {
        let square = point.latitude * point.latitude
        let cosine = (32_400 - 4 * square) / (32_400 + square)
        func offset(_ other: Coordinate) -> SIMD2<Double> {
            var east = other.longitude - point.longitude
            if east > 180 { east -= 360 } else if east < -180 { east += 360 }
            return SIMD2(east * cosine, other.latitude - point.latitude) * 111_195
        }
        let (start, end) = (offset(first), offset(last))
        let way = end - start
        let lengthSquared = (way * way).sum()
        let part = lengthSquared > 0 ? min(1, max(0, -(start * way).sum() / lengthSquared)) : 0
        let nearest = start + way * part
        return Int64(((nearest * nearest).sum().squareRoot() * 1_000).rounded())
    }

    private func apply(_ alert: NavigationAlert) -> NavigationAlert {
        var fitted = alert
        fitted.titleVariants = Self.apply(self.limits.alertTextLengthMax, to: alert.titleVariants)
        fitted.subtitleVariants = Self.apply(self.limits.alertTextLengthMax, to: alert.subtitleVariants)
        fitted.actions = alert.actions.map {
            AlertAction(
                id: $0.id, titleVariants: Self.apply(self.limits.alertTextLengthMax, to: $0.titleVariants))
        }
        return fitted
    }
}

extension ExpectedFitting {
    /// Half of all endpoints have no limits and all features; the others have random limits, units and features. An endpoint in four
    /// takes small frames only.
    package static func random(_ random: inout SeededRandom) -> ExpectedFitting {
        var fitting = ExpectedFitting()
        if random.once(in: 4) { fitting.receiveFrameBytesMax = UInt32(random.number(4_096...16_384)) }
        guard random.once(in: 2) else { return fitting }
        fitting.features = random.thin(Feature.allCases, leaveOutOnceIn: 8)
        fitting.units = random.pick(DistanceUnits.allKnown) ?? .asPublished
        func limit(_ range: ClosedRange<Int>) -> UInt32 {
            random.once(in: 2) ? 0 : UInt32(random.number(range))
        }
        fitting.limits.currentRoadNameLengthMax = limit(3...9)
        fitting.limits.destinationNameLengthMax = limit(2...8)
        fitting.limits.roadFollowingManeuverLengthMax = limit(2...8)
        fitting.limits.maneuverInstructionLengthMax = limit(3...9)
        fitting.limits.laneInstructionLengthMax = limit(2...8)
        fitting.limits.alertTextLengthMax = limit(2...8)
        fitting.limits.maneuversStoredMax = limit(1...3)
        fitting.limits.laneGuidancesStoredMax = limit(1...2)
        fitting.limits.routeSegmentPointsMax = limit(1...4)
        return fitting
    }
}
