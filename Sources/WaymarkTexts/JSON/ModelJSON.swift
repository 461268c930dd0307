package import WaymarkModel

/// The model's values as JSON objects. Docs/cluster-json.md has every key; what is not known or empty is left out.
package enum ModelJSON {
    /// `[latitude, longitude]`, and the altitude where it is known; degrees and metres.
    package static func coordinate(_ coordinate: Coordinate) -> [Double] {
        [coordinate.latitude, coordinate.longitude] + (coordinate.altitude.map { [$0] } ?? [])
    }

    package static func estimates(_ estimates: TravelEstimates) -> [String: Any] {
        var object: [String: Any] = ["distanceMeters": Int(estimates.distanceRemaining.meters)]
        object.set("timeSeconds", estimates.timeRemaining.map { Int($0.components.seconds) })
        if let display = estimates.distanceRemainingToDisplay {
            object["displayTenths"] = Int(display.valueTenths)
            object["displayUnit"] = display.unit.name
        }
        return object
    }

    // MARK: Trips

    package static func waypoint(_ waypoint: Waypoint) -> [String: Any] {
        var object: [String: Any] = ["center": self.coordinate(waypoint.center)]
        object.set("thresholdMeters", waypoint.locationThreshold.map { Int($0.meters) })
        object.set(nonEmpty: "nameVariants", waypoint.nameVariants)
        object.set(nonEmpty: "addressVariants", waypoint.addressVariants)
        object.set(nonEmpty: "entryPoints", waypoint.entryPoints.map(self.coordinate))
        object.set(nonEmpty: "timeZone", waypoint.timeZone)
        object.set("utcOffsetMinutes", waypoint.utcOffsetMinutes.map { Int($0) })
        object.set("stopKind", waypoint.stopKind?.name)
        object.set("charge", waypoint.charge.map(self.charge))
        object.set(nonEmpty: "id", waypoint.id)
        return object
    }

    private static func charge(_ charge: ChargeStop) -> [String: Any] {
        var object: [String: Any] = [:]
        object.set("arrivalBatteryPerMille", charge.arrivalBatteryPerMille.map { Int($0) })
        object.set("departureBatteryPerMille", charge.departureBatteryPerMille.map { Int($0) })
        object.set("connector", charge.connector?.name)
        object.set("powerWatts", charge.powerWatts.map { Int($0) })
        object.set("chargingSeconds", charge.chargingTime.map { Int($0.components.seconds) })
        return object
    }

    package static func feedback(_ feedback: RouteFeedback) -> [String: Any] {
        var object: [String: Any] = ["generation": Int(feedback.generation)]
        object.set(nonEmpty: "stops", feedback.stops.map(self.stop))
        object.set("firstUnreachableSegment", feedback.firstUnreachableSegment)
        return object
    }

    private static func stop(_ stop: StopFeedback) -> [String: Any] {
        var object: [String: Any] = [:]
        object.set("arrivalBatteryPerMille", stop.arrivalBatteryPerMille.map { Int($0) })
        object.set("reachability", stop.reachability?.name)
        return object
    }

    package static func trip(_ trip: Trip) -> [String: Any] {
        var object: [String: Any] = [
            "id": trip.id, "origin": self.waypoint(trip.origin),
            "destination": self.waypoint(trip.destination),
            "waypoints": trip.waypoints.map(self.waypoint),
            "isDestinationShareable": trip.isDestinationShareable,
            "routeSegmentsAvailable": trip.routeSegmentsAvailable,
        ]
        object.set(nonEmpty: "routeChoices", trip.routeChoices.map(self.routeChoice))
        object.set("selectedRouteChoice", trip.selectedRouteChoice.map { Int($0) })
        object.set("travelEstimates", trip.travelEstimates.map(self.estimates))
        return object
    }

    private static func routeChoice(_ choice: RouteChoice) -> [String: Any] {
        var object: [String: Any] = ["id": Int(choice.id)]
        object.set(nonEmpty: "summaryVariants", choice.summaryVariants)
        object.set(nonEmpty: "additionalInformationVariants", choice.additionalInformationVariants)
        object.set(nonEmpty: "selectionSummaryVariants", choice.selectionSummaryVariants)
        object.set("travelEstimates", choice.travelEstimates.map(self.estimates))
        return object
    }

    // MARK: Routes

    package static func maneuver(_ maneuver: Maneuver) -> [String: Any] {
        var object: [String: Any] = [
            "id": Int(maneuver.id.rawValue), "type": maneuver.type.name,
            "rawType": Int(maneuver.type.rawValue),
            "junctionType": maneuver.junctionType.name, "trafficSide": maneuver.trafficSide.name,
        ]
        object.set(nonEmpty: "instructionVariants", maneuver.instructionVariants)
        object.set(nonEmpty: "roadFollowingManeuverVariants", maneuver.roadFollowingManeuverVariants)
        object.set(nonEmpty: "highwayExitLabel", maneuver.highwayExitLabel)
        object.set("junctionExitAngle", maneuver.junctionExitAngle.map { Int($0.degrees) })
        object.set(nonEmpty: "junctionElementAngles", maneuver.junctionElementAngles.map { Int($0.degrees) })
        object.set("linkedLaneGuidance", maneuver.linkedLaneGuidance.map { Int($0.rawValue) })
        object.set("initialTravelEstimates", maneuver.initialTravelEstimates.map(self.estimates))
        object.set("roundaboutExitNumber", maneuver.roundaboutExitNumber.map { Int($0) })
        if maneuver.isIntermediateWaypoint { object["isIntermediateWaypoint"] = true }
        object.set("notification", maneuver.notification?.name)
        return object
    }

    package static func laneGuidance(_ guidance: LaneGuidance) -> [String: Any] {
        var object: [String: Any] = [
            "id": Int(guidance.id.rawValue),
            "lanes": guidance.lanes.map { lane in
                var object: [String: Any] = [
                    "angles": lane.angles.map { Int($0.degrees) }, "status": lane.status.name,
                ]
                object.set("highlightedAngle", lane.highlightedAngle.map { Int($0.degrees) })
                return object
            },
        ]
        object.set(nonEmpty: "instructionVariants", guidance.instructionVariants)
        return object
    }

    package static func segment(_ segment: RouteSegment) -> [String: Any] {
        var object: [String: Any] = [
            "id": segment.id, "origin": self.waypoint(segment.origin),
            "destination": self.waypoint(segment.destination),
            "coordinates": segment.coordinates.map(self.coordinate), "maneuvers": self.ids(segment.maneuvers),
            "laneGuidances": segment.laneGuidances.map { Int($0.rawValue) },
            "currentManeuvers": self.ids(segment.currentManeuvers),
        ]
        object.set("currentLaneGuidance", segment.currentLaneGuidance.map { Int($0.rawValue) })
        object.set("tripTravelEstimates", segment.tripTravelEstimates.map(self.estimates))
        object.set("maneuverTravelEstimates", segment.maneuverTravelEstimates.map(self.estimates))
        object.set(nonEmpty: "speedLimits", segment.speedLimits.map(self.speedLimitSpan))
        return object
    }

    package static func information(_ route: RouteInformation) -> [String: Any] {
        var object: [String: Any] = [
            "maneuvers": route.maneuvers.map(self.maneuver),
            "laneGuidances": route.laneGuidances.map(self.laneGuidance),
            "segments": route.segments.map(self.segment),
            "upcomingManeuvers": self.ids(route.upcomingManeuvers),
        ]
        object.set("currentSegment", route.currentSegment)
        object.set("currentLaneGuidance", route.currentLaneGuidance.map { Int($0.rawValue) })
        object.set("tripTravelEstimates", route.tripTravelEstimates.map(self.estimates))
        object.set("maneuverTravelEstimates", route.maneuverTravelEstimates.map(self.estimates))
        return object
    }

    package static func ids(_ ids: [ManeuverID]) -> [Int] { ids.map { Int($0.rawValue) } }

    // MARK: Speed limits

    package static func speedLimit(_ limit: SpeedLimit) -> [String: Any] {
        var object: [String: Any] = ["status": limit.status.name]
        object.set("value", limit.value.map { Int($0) })
        object.set("unit", limit.unit?.name)
        object.set("kind", limit.kind?.name)
        object.set("sign", limit.sign?.name)
        return object
    }

    package static func speedLimitAhead(_ ahead: SpeedLimitAhead) -> [String: Any] {
        var object = self.speedLimit(ahead.limit)
        object["distanceMeters"] = Int(ahead.distance.meters)
        object.set("displayTenths", ahead.distanceToDisplay.map { Int($0.valueTenths) })
        object.set("displayUnit", ahead.distanceToDisplay?.unit.name)
        return object
    }

    private static func speedLimitSpan(_ span: SpeedLimitSpan) -> [String: Any] {
        var object = self.speedLimit(span.limit)
        object["firstPoint"] = Int(span.firstPoint)
        return object
    }

    // MARK: Alerts

    package static func alert(_ alert: NavigationAlert) -> [String: Any] {
        var object: [String: Any] = ["id": Int(alert.id), "titleVariants": alert.titleVariants]
        object.set(nonEmpty: "subtitleVariants", alert.subtitleVariants)
        object.set(
            nonEmpty: "actions",
            alert.actions.map { ["id": Int($0.id), "titleVariants": $0.titleVariants] as [String: Any] })
        object.set("durationMilliseconds", alert.duration.map { Int($0 / .milliseconds(1)) })
        object.set("notification", alert.notification?.name)
        object.set("priority", alert.priority?.name)
        return object
    }
}
