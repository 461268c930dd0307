// Made by scripts/generate/wire.sh from Protos. Do not edit.

package import WaymarkModel

extension ChargeStop: FieldObject {
    package static let fields: [FieldKey<ChargeStop>] = [
        .quantity("arrivalBatteryPerMille") { $0.arrivalBatteryPerMille },
        .quantity("departureBatteryPerMille") { $0.departureBatteryPerMille },
        .word("connector") { $0.connector },
        .quantity("powerWatts") { $0.powerWatts },
        .quantity("chargingSeconds", .seconds) { $0.chargingTime },
    ]
}

extension Waypoint: FieldObject {
    package static let fields: [FieldKey<Waypoint>] = [
        .text("id") { $0.id },
        .texts("nameVariants") { $0.nameVariants },
        .place("center") { $0.center },
        .quantity("thresholdMeters", .meters) { $0.locationThreshold },
        .texts("addressVariants") { $0.addressVariants },
        .places("entryPoints") { $0.entryPoints },
        .text("timeZone") { $0.timeZone },
        .quantity("utcOffsetMinutes") { $0.utcOffsetMinutes },
        .word("stopKind") { $0.stopKind },
        .object("charge") { $0.charge },
    ]
}

extension DisplayDistance: FieldObject {
    package static let fields: [FieldKey<DisplayDistance>] = [
        .quantity("displayTenths") { $0.valueTenths },
        .word("displayUnit") { $0.unit },
    ]
}

extension TravelEstimates: FieldObject {
    package static let fields: [FieldKey<TravelEstimates>] =
        [
            .quantity("distanceMeters", .meters) { $0.distanceRemaining },
            .quantity("timeSeconds", .seconds) { $0.timeRemaining },
        ] + DisplayDistance.fields.map { $0.of { $0.distanceRemainingToDisplay } }
}

extension RouteChoice: FieldObject {
    package static let fields: [FieldKey<RouteChoice>] = [
        .quantity("id") { $0.id },
        .texts("summaryVariants") { $0.summaryVariants },
        .texts("additionalInformationVariants") { $0.additionalInformationVariants },
        .texts("selectionSummaryVariants") { $0.selectionSummaryVariants },
        .object("travelEstimates") { $0.travelEstimates },
    ]
}

extension Trip: FieldObject {
    package static let fields: [FieldKey<Trip>] = [
        .text("id") { $0.id },
        .object("origin") { $0.origin },
        .object("destination") { $0.destination },
        .objects("waypoints") { $0.waypoints },
        .objects("routeChoices") { $0.routeChoices },
        .quantity("selectedRouteChoice") { $0.selectedRouteChoice },
        .flag("isDestinationShareable") { $0.isDestinationShareable },
        .flag("routeSegmentsAvailable") { $0.routeSegmentsAvailable },
        .object("travelEstimates") { $0.travelEstimates },
    ]
}

extension Maneuver: FieldObject {
    package static let fields: [FieldKey<Maneuver>] = [
        .quantity("id") { $0.id },
        .word("type") { $0.type },
        .quantity("rawType") { $0.type.rawValue },
        .word("junctionType") { $0.junctionType },
        .word("trafficSide") { $0.trafficSide },
        .texts("instructionVariants") { $0.instructionVariants },
        .texts("roadFollowingManeuverVariants") { $0.roadFollowingManeuverVariants },
        .text("highwayExitLabel") { $0.highwayExitLabel },
        .quantity("junctionExitAngle", .degrees) { $0.junctionExitAngle },
        .quantities("junctionElementAngles", .degrees) { $0.junctionElementAngles },
        .quantity("linkedLaneGuidance") { $0.linkedLaneGuidance },
        .object("initialTravelEstimates") { $0.initialTravelEstimates },
        .quantity("roundaboutExitNumber") { $0.roundaboutExitNumber },
        .flag("isIntermediateWaypoint") { $0.isIntermediateWaypoint },
        .word("notification") { $0.notification },
    ]
}

extension Lane: FieldObject {
    package static let fields: [FieldKey<Lane>] = [
        .word("status") { $0.status },
        .quantities("angles", .degrees) { $0.angles },
        .quantity("highlightedAngle", .degrees) { $0.highlightedAngle },
    ]
}

extension LaneGuidance: FieldObject {
    package static let fields: [FieldKey<LaneGuidance>] = [
        .quantity("id") { $0.id },
        .objects("lanes") { $0.lanes },
        .texts("instructionVariants") { $0.instructionVariants },
    ]
}

extension SpeedLimit: FieldObject {
    package static let fields: [FieldKey<SpeedLimit>] = [
        .word("status") { $0.status },
        .quantity("value") { $0.value },
        .word("unit") { $0.unit },
        .word("kind") { $0.kind },
        .word("sign") { $0.sign },
    ]
}

extension SpeedLimitSpan: FieldObject {
    package static let fields: [FieldKey<SpeedLimitSpan>] =
        [
            .quantity("firstPoint") { $0.firstPoint }
        ] + SpeedLimit.fields.map { $0.of { $0.limit } }
}

extension RouteSegment: FieldObject {
    package static let fields: [FieldKey<RouteSegment>] = [
        .text("id") { $0.id },
        .object("origin") { $0.origin },
        .object("destination") { $0.destination },
        .places("coordinates") { $0.coordinates },
        .quantities("maneuvers") { $0.maneuvers },
        .quantities("laneGuidances") { $0.laneGuidances },
        .quantities("currentManeuvers") { $0.currentManeuvers },
        .quantity("currentLaneGuidance") { $0.currentLaneGuidance },
        .object("tripTravelEstimates") { $0.tripTravelEstimates },
        .object("maneuverTravelEstimates") { $0.maneuverTravelEstimates },
        .objects("speedLimits") { $0.speedLimits },
    ]
}

extension RouteInformation: FieldObject {
    package static let fields: [FieldKey<RouteInformation>] = [
        .objects("maneuvers") { $0.maneuvers },
        .objects("laneGuidances") { $0.laneGuidances },
        .objects("segments") { $0.segments },
        .text("currentSegment") { $0.currentSegment },
        .quantities("upcomingManeuvers") { $0.upcomingManeuvers },
        .quantity("currentLaneGuidance") { $0.currentLaneGuidance },
        .object("tripTravelEstimates") { $0.tripTravelEstimates },
        .object("maneuverTravelEstimates") { $0.maneuverTravelEstimates },
    ]
}

extension AlertAction: FieldObject {
    package static let fields: [FieldKey<AlertAction>] = [
        .quantity("id") { $0.id },
        .texts("titleVariants") { $0.titleVariants },
    ]
}

extension NavigationAlert: FieldObject {
    package static let fields: [FieldKey<NavigationAlert>] = [
        .quantity("id") { $0.id },
        .texts("titleVariants") { $0.titleVariants },
        .texts("subtitleVariants") { $0.subtitleVariants },
        .objects("actions") { $0.actions },
        .quantity("durationMilliseconds", .milliseconds) { $0.duration },
        .word("notification") { $0.notification },
        .word("priority") { $0.priority },
    ]
}

extension SpeedLimitAhead: FieldObject {
    package static let fields: [FieldKey<SpeedLimitAhead>] =
        [
            .quantity("distanceMeters", .meters) { $0.distance }
        ]
        + SpeedLimit.fields.map { $0.of { $0.limit } }
        + DisplayDistance.fields.map { $0.of { $0.distanceToDisplay } }
}
