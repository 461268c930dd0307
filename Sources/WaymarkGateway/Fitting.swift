internal import WaymarkModel
internal import WaymarkProtocol

// How single values are cut to a profile. What depends on more than one publication is in FittedView.
extension Profile {
    func allows(_ feature: Feature) -> Bool { !self.withheld.contains(feature) }

    /// The variants that fit, longest first; if none fits, the shortest one, cut between characters.
    ///
    /// - Source: Docs/protocol.md, "Fitting". Lengths are Unicode scalars; 0 is no limit.
    static func fit(_ variants: [String], _ lengthMax: UInt32) -> [String] {
        guard lengthMax > 0, !variants.isEmpty else { return variants }
        let fitting = variants.filter { $0.unicodeScalars.count <= lengthMax }
        guard fitting.isEmpty,
            let shortest = variants.min(by: { $0.unicodeScalars.count < $1.unicodeScalars.count })
        else { return fitting }
        var cut = ""
        var length = 0
        for character in shortest {
            length += character.unicodeScalars.count
            guard length <= lengthMax else { break }
            cut.append(character)
        }
        return [cut]
    }

    func fit(_ estimates: TravelEstimates) -> TravelEstimates {
        guard self.distanceUnits != .asPublished else { return estimates }
        var estimates = estimates
        estimates.distanceRemainingToDisplay = .rounded(
            estimates.distanceRemaining, units: self.distanceUnits)
        return estimates
    }

    func fit(_ waypoint: Waypoint) -> Waypoint {
        var waypoint = waypoint
        waypoint.nameVariants = Self.fit(waypoint.nameVariants, self.limits.destinationNameLengthMax)
        waypoint.addressVariants = Self.fit(waypoint.addressVariants, self.limits.destinationNameLengthMax)
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

    /// Fits a segment. Its ids stay as they are: those that the endpoint does not hold are outside of its window.
    func fit(_ segment: RouteSegment) -> RouteSegment {
        var segment = segment
        segment.origin = self.fit(segment.origin)
        segment.destination = self.fit(segment.destination)
        segment.coordinates = Self.thin(segment.coordinates, to: Int(self.limits.routeSegmentPointsMax))
        if !self.allows(.maneuvers) {
            segment.maneuvers = []
            segment.currentManeuvers = []
        }
        if !self.allows(.laneGuidance) {
            segment.laneGuidances = []
            segment.currentLaneGuidance = nil
        }
        segment.tripTravelEstimates = segment.tripTravelEstimates.map(self.fit)
        segment.maneuverTravelEstimates = segment.maneuverTravelEstimates.map(self.fit)
        return segment
    }

    func fit(_ alert: NavigationAlert) -> NavigationAlert {
        var alert = alert
        let lengthMax = self.limits.alertTextLengthMax
        alert.titleVariants = Self.fit(alert.titleVariants, lengthMax)
        alert.subtitleVariants = Self.fit(alert.subtitleVariants, lengthMax)
        for index in alert.actions.indices {
            alert.actions[index].titleVariants = Self.fit(alert.actions[index].titleVariants, lengthMax)
        }
        return alert
    }

    /// At most `countMax` of the points, evenly chosen, with the first and the last; 0 is no limit.
    static func thin(_ line: [Coordinate], to countMax: Int) -> [Coordinate] {
        guard countMax > 0, line.count > countMax else { return line }
        guard countMax > 1 else { return [line[line.count - 1]] }
        return (0..<countMax).map { line[$0 * (line.count - 1) / (countMax - 1)] }
    }
}
