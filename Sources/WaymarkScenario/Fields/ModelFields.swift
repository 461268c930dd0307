package import WaymarkModel
internal import WaymarkProtocol

extension TravelEstimates: FieldObject {
    package static let fields: [FieldKey<TravelEstimates>] = [
        .number("distanceMeters", .meters) { $0.distanceRemaining.meters },
        .number("timeSeconds", .seconds) { $0.timeRemaining?.components.seconds },
        .number("displayTenths") { $0.distanceRemainingToDisplay?.valueTenths },
        .word("displayUnit") { $0.distanceRemainingToDisplay?.unit },
    ]
}

extension ChargeStop: FieldObject {
    package static let fields: [FieldKey<ChargeStop>] = [
        .number("arrivalBatteryPerMille") { $0.arrivalBatteryPerMille },
        .number("departureBatteryPerMille") { $0.departureBatteryPerMille },
        .word("connector") { $0.connector },
        .number("powerWatts") { $0.powerWatts },
        .number("chargingSeconds", .seconds) { $0.chargingTime?.components.seconds },
    ]
}

extension Waypoint: FieldObject {
    package static let fields: [FieldKey<Waypoint>] = [
        .text("id") { $0.id },
        .texts("nameVariants") { $0.nameVariants },
        .place("center") { $0.center },
        .number("thresholdMeters", .meters) { $0.locationThreshold?.meters },
        .texts("addressVariants") { $0.addressVariants },
        .places("entryPoints") { $0.entryPoints },
        .text("timeZone") { $0.timeZone },
        .number("utcOffsetMinutes") { $0.utcOffsetMinutes },
        .word("stopKind") { $0.stopKind },
        .object("charge") { $0.charge },
    ]
}

extension RouteChoice: FieldObject {
    package static let fields: [FieldKey<RouteChoice>] = [
        .number("id") { $0.id },
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
        .number("selectedRouteChoice") { $0.selectedRouteChoice },
        .flag("isDestinationShareable") { $0.isDestinationShareable },
        .flag("routeSegmentsAvailable") { $0.routeSegmentsAvailable },
    ]
}

extension Maneuver: FieldObject {
    package static let fields: [FieldKey<Maneuver>] = [
        .number("id") { $0.id.rawValue },
        .word("type") { $0.type },
        .number("rawType") { $0.type.rawValue },
        .word("junctionType") { $0.junctionType },
        .word("trafficSide") { $0.trafficSide },
        .texts("instructionVariants") { $0.instructionVariants },
        .texts("roadFollowingManeuverVariants") { $0.roadFollowingManeuverVariants },
        .text("highwayExitLabel") { $0.highwayExitLabel },
        .number("junctionExitAngle", .degrees) { $0.junctionExitAngle?.degrees },
        .numbers("junctionElementAngles", .degrees, { Double($0.degrees) }) { $0.junctionElementAngles },
        .number("linkedLaneGuidance") { $0.linkedLaneGuidance?.rawValue },
        .object("initialTravelEstimates") { $0.initialTravelEstimates },
        .number("roundaboutExitNumber") { $0.roundaboutExitNumber },
        .flag("isIntermediateWaypoint") { $0.isIntermediateWaypoint },
    ]
}

extension Lane: FieldObject {
    package static let fields: [FieldKey<Lane>] = [
        .word("status") { $0.status },
        .numbers("angles", .degrees, { Double($0.degrees) }) { $0.angles },
        .number("highlightedAngle", .degrees) { $0.highlightedAngle?.degrees },
    ]
}

extension LaneGuidance: FieldObject {
    package static let fields: [FieldKey<LaneGuidance>] = [
        .number("id") { $0.id.rawValue },
        .objects("lanes") { $0.lanes },
        .texts("instructionVariants") { $0.instructionVariants },
    ]
}

extension RouteSegment: FieldObject {
    package static let fields: [FieldKey<RouteSegment>] = [
        .text("id") { $0.id },
        .object("origin") { $0.origin },
        .object("destination") { $0.destination },
        .places("coordinates") { $0.coordinates },
        .numbers("maneuvers", .none, { Double($0.rawValue) }) { $0.maneuvers },
        .numbers("laneGuidances", .none, { Double($0.rawValue) }) { $0.laneGuidances },
        .numbers("currentManeuvers", .none, { Double($0.rawValue) }) { $0.currentManeuvers },
        .number("currentLaneGuidance") { $0.currentLaneGuidance?.rawValue },
        .object("tripTravelEstimates") { $0.tripTravelEstimates },
        .object("maneuverTravelEstimates") { $0.maneuverTravelEstimates },
    ]
}

extension AlertAction: FieldObject {
    package static let fields: [FieldKey<AlertAction>] = [
        .number("id") { $0.id },
        .texts("titleVariants") { $0.titleVariants },
    ]
}

extension NavigationAlert: FieldObject {
    package static let fields: [FieldKey<NavigationAlert>] = [
        .number("id") { $0.id },
        .texts("titleVariants") { $0.titleVariants },
        .texts("subtitleVariants") { $0.subtitleVariants },
        .objects("actions") { $0.actions },
        .number("durationMilliseconds", .milliseconds) { $0.duration?.milliseconds },
    ]
}

extension FieldKey {
    /// The keys of a route, of an object that contains one.
    static func route(of read: @escaping @Sendable (Root) -> RouteInformation?) -> [FieldKey<Root>] {
        let keys: [FieldKey<RouteInformation>] = [
            .objects("maneuvers") { $0.maneuvers },
            .objects("laneGuidances") { $0.laneGuidances },
            .objects("segments") { $0.segments },
            .numbers("upcomingManeuvers", .none, { Double($0.rawValue) }) { $0.upcomingManeuvers },
            .text("currentSegment") { $0.currentSegment },
            .number("currentLaneGuidance") { $0.currentLaneGuidance?.rawValue },
            .object("tripTravelEstimates") { $0.tripTravelEstimates },
            .object("maneuverTravelEstimates") { $0.maneuverTravelEstimates },
        ]
        return keys.map { $0.of(read) }
    }
}

/// The features that are withheld, and why.
package struct WithheldFields: FieldObject {
    /// Names of features and of reasons.
    let reasons: [String: String]

    package static let fields: [FieldKey<WithheldFields>] = WithheldNames.features.map { feature in
        .name(feature, of: WithheldNames.reasons) { $0.reasons[feature] }
    }
}
