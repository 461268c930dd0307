internal import WaymarkModel
internal import WaymarkProtocol

// How single values are cut to a profile. What depends on more than one publication is in FittedView.
extension Profile {
    func allows(_ feature: Feature) -> Bool { !self.withheld.contains(feature) }

    /// Whether the endpoint gets an extension.
    func allows(_ name: ExtensionName) -> Bool {
        switch self.extensions {
        case .all: true
        case .only(let names): names.contains(name)
        }
    }

    /// Fits a publication that is not withheld, without regard to others.
    ///
    /// ``FittedView`` fits those that depend on others or contain a route. They are returned unchanged here.
    func fit(_ publication: Publication) -> Publication {
        switch publication {
        case .tripPreviews(let trips, let selected):
            .tripPreviews(trips.map(self.fit), selected: selected)
        case .updateTrip(let trip): .updateTrip(self.fit(trip))
        case .plain(.currentRoadName(let variants)):
            .currentRoadName(Self.fit(variants, self.limits.currentRoadNameLengthMax))
        case .tripEstimates(let estimates, let color): .tripEstimates(self.fit(estimates), color)
        case .speedLimit(let limit, let next): .speedLimit(limit, next: next.map(self.fit))
        case .addRouteSegments(let segments, let generation):
            .addRouteSegments(self.fit(segments), generation: generation)
        case .showAlert(let alert): .showAlert(self.fit(alert))
        case .shareDestination(let id, let destination, let trip):
            .shareDestination(shareID: id, self.fit(destination), trip: trip)
        default: publication
        }
    }

    /// The variants that fit, longest first; if none fits, the shortest one, cut; none if nothing is left of it.
    ///
    /// - Source: Docs/protocol.md, "Fitting". Lengths are Unicode scalars; 0 is no limit.
    static func fit(_ variants: [String], _ lengthMax: UInt32) -> [String] {
        let fitting = Self.fitting(variants, lengthMax)
        guard fitting.isEmpty,
            let shortest = variants.min(by: { $0.unicodeScalars.count < $1.unicodeScalars.count })
        else { return fitting }
        return Self.cut(shortest, Int(lengthMax)).map { [$0] } ?? []
    }

    /// The beginning of a text that is too long, with an ellipsis: up to the last word that ends in its second half, otherwise up to a
    /// character. nil if nothing is left.
    private static func cut(_ text: String, _ lengthMax: Int) -> String? {
        let room = lengthMax - 1
        var (end, length) = (text.startIndex, 0)
        var (wordEnd, wordLength) = (text.startIndex, 0)
        var isInWord = false
        for index in text.indices {
            let character = text[index]
            if character.isWhitespace {
                if isInWord { (wordEnd, wordLength) = (index, length) }
                isInWord = false
            }
            guard length + character.unicodeScalars.count <= room else { break }
            length += character.unicodeScalars.count
            guard !character.isWhitespace else { continue }
            isInWord = true
            end = text.index(after: index)
        }
        let kept = text[..<(wordLength * 2 >= room ? wordEnd : end)]
        return kept.isEmpty ? nil : kept + "…"
    }

    /// The same for a field that must have a variant: an empty one in place of none.
    private static func fitRequired(_ variants: [String], _ lengthMax: UInt32) -> [String] {
        let fitting = Self.fit(variants, lengthMax)
        return fitting.isEmpty ? [""] : fitting
    }

    /// The variants that fit; none if all are too long.
    private static func fitting(_ variants: [String], _ lengthMax: UInt32) -> [String] {
        lengthMax == 0 ? variants : variants.filter { $0.unicodeScalars.count <= lengthMax }
    }

    /// Whether estimates pass as they are.
    var leavesEstimates: Bool { self.distanceUnits == .asPublished }

    func fit(_ estimates: TravelEstimates) -> TravelEstimates {
        guard !self.leavesEstimates else { return estimates }
        var estimates = estimates
        estimates.distanceRemainingToDisplay = .rounded(
            estimates.distanceRemaining, units: self.distanceUnits)
        return estimates
    }

    private func fit(_ ahead: SpeedLimitAhead) -> SpeedLimitAhead {
        guard !self.leavesEstimates else { return ahead }
        var ahead = ahead
        ahead.distanceToDisplay = .rounded(ahead.distance, units: self.distanceUnits)
        return ahead
    }

    func fit(_ waypoint: Waypoint) -> Waypoint {
        var waypoint = waypoint
        waypoint.nameVariants = Self.fit(waypoint.nameVariants, self.limits.destinationNameLengthMax)
        // Why not cut: half a name still names the place, half an address is another one.
        waypoint.addressVariants = Self.fitting(
            waypoint.addressVariants, self.limits.destinationNameLengthMax)
        if !self.allows(.charge) { waypoint.charge = nil }
        if !self.allows(.timeZone) {
            waypoint.timeZone = ""
            waypoint.utcOffsetMinutes = nil
        }
        return waypoint
    }

    func fit(_ trip: Trip) -> Trip {
        var trip = trip
        trip.origin = self.fit(trip.origin)
        trip.destination = self.fit(trip.destination)
        trip.waypoints = trip.waypoints.map(self.fit)
        for index in trip.routeChoices.indices {
            trip.routeChoices[index].travelEstimates = trip.routeChoices[index].travelEstimates.map(self.fit)
        }
        trip.travelEstimates = trip.travelEstimates.map(self.fit)
        return trip
    }

    func fit(_ maneuver: Maneuver) -> Maneuver {
        var maneuver = maneuver
        maneuver.instructionVariants = Self.fit(
            maneuver.instructionVariants, self.limits.maneuverInstructionLengthMax)
        maneuver.roadFollowingManeuverVariants = Self.fit(
            maneuver.roadFollowingManeuverVariants, self.limits.roadFollowingManeuverLengthMax)
        if !self.allows(.exitLabels) { maneuver.highwayExitLabel = "" }
        if !self.allows(.laneGuidance) { maneuver.linkedLaneGuidance = nil }
        maneuver.initialTravelEstimates = maneuver.initialTravelEstimates.map(self.fit)
        return maneuver
    }

    func fit(_ guidance: LaneGuidance) -> LaneGuidance {
        var guidance = guidance
        guidance.instructionVariants = Self.fit(
            guidance.instructionVariants, self.limits.laneInstructionLengthMax)
        return guidance
    }

    /// Fits a route, except for the endpoint's slots, see ``FittedView``.
    func fit(_ route: RouteInformation) -> RouteInformation {
        var route = route
        if self.allows(.maneuvers) {
            route.maneuvers = route.maneuvers.map(self.fit)
            route.maneuverTravelEstimates = route.maneuverTravelEstimates.map(self.fit)
        } else {
            route.maneuvers = []
            route.upcomingManeuvers = []
            route.maneuverTravelEstimates = nil
        }
        if self.allows(.laneGuidance) {
            route.laneGuidances = route.laneGuidances.map(self.fit)
        } else {
            route.laneGuidances = []
            route.currentLaneGuidance = nil
        }
        if self.allows(.routeSegments) {
            route.segments = self.fit(route.segments)
        } else {
            route.segments = []
            route.currentSegment = nil
        }
        route.tripTravelEstimates = route.tripTravelEstimates.map(self.fit)
        return route
    }

    /// Fits the segments of one message. Ids of what is outside of the endpoint's window stay, those of a withheld feature do not.
    func fit(_ segments: [RouteSegment]) -> [RouteSegment] {
        let countMax = Int(self.limits.routeSegmentPointsMax)
        let thinned = segments.lazy.map(\.coordinates.count).filter { $0 > countMax }.reduce(0, +)
        return segments.map { segment in
            var segment = self.fit(segment)
            let kept = Self.pointsKept(of: segment.coordinates, to: countMax, among: thinned)
            guard let kept else { return segment }
            segment.coordinates = kept.map { segment.coordinates[$0] }
            segment.speedLimits = Self.fit(segment.speedLimits, toPoints: kept)
            return segment
        }
    }

    /// Fits a segment, but not its line.
    private func fit(_ segment: RouteSegment) -> RouteSegment {
        var segment = segment
        segment.origin = self.fit(segment.origin)
        segment.destination = self.fit(segment.destination)
        if !self.allows(.maneuvers) {
            segment.maneuvers = []
            segment.currentManeuvers = []
            segment.maneuverTravelEstimates = nil
        }
        if !self.allows(.laneGuidance) {
            segment.laneGuidances = []
            segment.currentLaneGuidance = nil
        }
        if !self.allows(.speedLimit) { segment.speedLimits = [] }
        segment.tripTravelEstimates = segment.tripTravelEstimates.map(self.fit)
        segment.maneuverTravelEstimates = segment.maneuverTravelEstimates.map(self.fit)
        return segment
    }

    /// The spans of a line of which the points with these indices are kept: at each of them the limit holds that held there before. Of spans
    /// that begin between two of them, the last one begins at the second; those that begin behind the last of them are dropped.
    private static func fit(_ spans: [SpeedLimitSpan], toPoints kept: [Int]) -> [SpeedLimitSpan] {
        var fitted: [SpeedLimitSpan] = []
        var index = 0
        for span in spans {
            while index < kept.count, kept[index] < Int(span.firstPoint) { index += 1 }
            guard index < kept.count else { break }
            if fitted.last?.firstPoint == UInt32(index) { fitted.removeLast() }
            fitted.append(SpeedLimitSpan(from: UInt32(index), span.limit))
        }
        return fitted
    }

    func fit(_ alert: NavigationAlert) -> NavigationAlert {
        var alert = alert
        let lengthMax = self.limits.alertTextLengthMax
        alert.titleVariants = Self.fitRequired(alert.titleVariants, lengthMax)
        alert.subtitleVariants = Self.fit(alert.subtitleVariants, lengthMax)
        for index in alert.actions.indices {
            alert.actions[index].titleVariants = Self.fitRequired(
                alert.actions[index].titleVariants, lengthMax)
        }
        return alert
    }
}
