// Made by scripts/generate/wire.sh from Protos. Do not edit.

extension FieldNumber {
    enum Coordinate {
        static let latitude = 1
        static let longitude = 2
        static let altitudeMeters = 3
    }

    enum Polyline {
        static let latitudeE6Deltas = 1
        static let longitudeE6Deltas = 2
    }

    enum DisplayDistance {
        static let valueTenths = 1
        static let unit = 2
    }

    enum TravelEstimates {
        static let distanceRemainingMeters = 1
        static let timeRemainingSeconds = 2
        static let distanceRemainingToDisplay = 3
    }

    enum SpeedLimit {
        static let status = 1
        static let value = 2
        static let unit = 3
        static let kind = 4
        static let sign = 5
    }

    enum SpeedLimitAhead {
        static let limit = 1
        static let distanceMeters = 2
        static let distanceToDisplay = 3
    }

    enum SpeedLimitSpan {
        static let firstPoint = 1
        static let limit = 2
    }

    enum Maneuver {
        static let id = 1
        static let type = 2
        static let junctionType = 3
        static let trafficSide = 4
        static let instructionVariants = 5
        static let roadFollowingManeuverVariants = 6
        static let highwayExitLabel = 7
        static let junctionExitAngleDegrees = 8
        static let junctionElementAnglesDegrees = 9
        static let linkedLaneGuidanceId = 10
        static let initialTravelEstimates = 11
        static let roundaboutExitNumber = 12
        static let intermediateWaypoint = 13
        static let notification = 14
    }

    enum Lane {
        static let anglesDegrees = 1
        static let highlightedAngleDegrees = 2
        static let status = 3
    }

    enum LaneGuidance {
        static let id = 1
        static let lanes = 2
        static let instructionVariants = 3
    }

    enum ChargeStop {
        static let arrivalBatteryPerMille = 1
        static let departureBatteryPerMille = 2
        static let connector = 3
        static let powerWatts = 4
        static let chargingTimeSeconds = 5
    }

    enum Waypoint {
        static let center = 1
        static let locationThresholdMeters = 2
        static let nameVariants = 3
        static let addressVariants = 4
        static let entryPoints = 5
        static let timeZone = 6
        static let utcOffsetMinutes = 7
        static let stopKind = 8
        static let charge = 9
        static let id = 10
    }

    enum RouteChoice {
        static let id = 1
        static let summaryVariants = 2
        static let additionalInformationVariants = 3
        static let selectionSummaryVariants = 4
        static let travelEstimates = 5
    }

    enum Trip {
        static let id = 1
        static let origin = 2
        static let destination = 3
        static let waypoints = 4
        static let routeChoices = 5
        static let selectedRouteChoiceId = 6
        static let destinationShareable = 7
        static let routeSegmentsAvailable = 8
        static let travelEstimates = 9
    }

    enum RouteSegment {
        static let id = 1
        static let origin = 2
        static let destination = 3
        static let coordinates = 4
        static let maneuverIds = 5
        static let laneGuidanceIds = 6
        static let currentManeuverIds = 7
        static let currentLaneGuidanceId = 8
        static let tripTravelEstimates = 9
        static let maneuverTravelEstimates = 10
        static let speedLimits = 11
    }

    enum AlertAction {
        static let id = 1
        static let titleVariants = 2
    }

    enum NavigationAlert {
        static let id = 1
        static let titleVariants = 2
        static let subtitleVariants = 3
        static let actions = 4
        static let durationMilliseconds = 5
        static let notification = 6
        static let priority = 7
    }
}
