// Made by scripts/generate-wire.sh from Protos. Do not edit.

/// The numbers of the messages' fields.
enum FieldNumber {
    enum FeatureGrant {
        static let feature = 1
        static let granted = 2
        static let reason = 3
    }

    enum VehicleLimits {
        static let currentRoadNameLengthMax = 1
        static let destinationNameLengthMax = 2
        static let roadFollowingManeuverLengthMax = 3
        static let maneuverInstructionLengthMax = 4
        static let laneInstructionLengthMax = 5
        static let alertTextLengthMax = 6
        static let maneuversStoredMax = 7
        static let laneGuidancesStoredMax = 8
        static let routeSegmentPointsMax = 9
        static let frameBytesMax = 10
    }

    enum VehiclePreferences {
        static let distanceUnits = 1
        static let locale = 2
    }

    enum VehicleHello {
        static let vehicleId = 1
        static let endpoint = 2
        static let features = 3
        static let limits = 4
        static let preferences = 5
        static let guidanceWanted = 6
    }

    enum NavigationHello {
        static let clientId = 1
        static let features = 2
        static let priority = 3
    }

    enum NegotiatedLimits {
        static let vehiclesPerSessionMax = 1
        static let extensionStatesMax = 2
        static let routeSegmentsMax = 3
        static let coordinatesMax = 4
    }

    enum Hello {
        static let versionMin = 1
        static let versionMax = 2
        static let role = 3
        static let vehicle = 4
        static let navigation = 5
        static let displayName = 6
        static let software = 7
        static let credential = 8
        static let keepaliveMilliseconds = 9
        static let frameBytesMax = 10
        static let resumptionToken = 11
        static let resumeSessionId = 12
        static let resumeSequence = 13
        static let negotiatedLimits = 14
        static let reportIgnored = 16
    }

    enum ResumedSession {
        static let sessionId = 1
        static let sequence = 2
        static let phase = 3
        static let endReason = 4
    }

    enum Welcome {
        static let version = 1
        static let features = 2
        static let keepaliveMilliseconds = 3
        static let frameBytesMax = 4
        static let resumptionToken = 5
        static let resumed = 6
        static let sessions = 7
        static let graceMilliseconds = 8
        static let requestsOpenMax = 9
        static let software = 10
        static let negotiatedLimits = 11
        static let gatewayInstance = 12
        static let gatewayEpoch = 13
    }

    enum Goodbye {
        static let code = 1
        static let reason = 2
        static let reconnectAfterMilliseconds = 3
        static let movedTo = 4
    }

    enum Ping {
        static let nonce = 1
    }

    enum Pong {
        static let nonce = 1
    }

    enum Error {
        static let code = 1
        static let field = 2
        static let reason = 3
        static let messageType = 4
        static let sessionId = 5
        static let sequence = 6
        static let requestId = 7
    }

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
    }

    enum VehicleSet {
        static let vehicleIds = 1
    }

    enum OpenSession {
        static let requestId = 1
        static let vehicles = 2
        static let anyThatAsked = 3
        static let receiptsEveryMilliseconds = 4
    }

    enum VehicleStatus {
        static let vehicleId = 1
        static let standing = 2
        static let refusal = 3
        static let endReason = 4
        static let endpoints = 5
    }

    enum EndpointStatus {
        static let endpoint = 1
        static let ready = 2
        static let locale = 3
        static let withheld = 4
    }

    enum SessionOpened {
        static let requestId = 1
        static let sessionId = 2
        static let vehicles = 3
    }

    enum VehicleChanged {
        static let vehicle = 1
    }

    enum SessionEnded {
        static let sessionId = 1
        static let reason = 2
    }

    enum SnapshotBegin {
        static let kind = 1
        static let clientId = 2
        static let clientDisplayName = 3
        static let suspended = 4
        static let receiptsEveryMilliseconds = 5
        static let withheld = 6
        static let fromSequence = 7
        static let toSequence = 8
        static let ageMilliseconds = 9
    }

    enum SessionSuspended {
        static let graceMilliseconds = 1
        static let ageMilliseconds = 2
    }

    enum Acknowledgement {
        static let sequence = 1
    }

    enum RouteInformation {
        static let maneuvers = 1
        static let laneGuidances = 2
        static let segments = 3
        static let currentSegmentId = 4
        static let upcomingManeuverIds = 5
        static let currentLaneGuidanceId = 6
        static let tripTravelEstimates = 7
        static let maneuverTravelEstimates = 8
    }

    enum TripPreviews {
        static let trips = 1
        static let selectedTripId = 2
    }

    enum StartGuidance {
        static let trip = 1
        static let generation = 2
        static let route = 3
    }

    enum UpdateTrip {
        static let trip = 1
    }

    enum AddManeuvers {
        static let generation = 1
        static let maneuvers = 2
    }

    enum AddLaneGuidances {
        static let generation = 1
        static let laneGuidances = 2
    }

    enum AddRouteSegments {
        static let generation = 1
        static let segments = 2
    }

    enum UpcomingManeuvers {
        static let generation = 1
        static let maneuverIds = 2
    }

    enum CurrentLaneGuidance {
        static let generation = 1
        static let laneGuidanceId = 2
    }

    enum CurrentRoadName {
        static let nameVariants = 1
    }

    enum UpdateManeuverState {
        static let generation = 1
        static let state = 2
    }

    enum UpdateTripEstimates {
        static let travelEstimates = 1
        static let timeRemainingColor = 2
    }

    enum UpdateManeuverEstimates {
        static let generation = 1
        static let maneuverId = 2
        static let travelEstimates = 3
    }

    enum CurrentRouteSegment {
        static let generation = 1
        static let segmentId = 2
    }

    enum PauseGuidance {
        static let reason = 1
        static let descriptionVariants = 2
    }

    enum ResumeGuidance {
        static let generation = 1
        static let reason = 2
        static let route = 3
    }

    enum ShowAlert {
        static let alert = 1
    }

    enum DismissAlert {
        static let alertId = 1
        static let dismissal = 2
    }

    enum ShareDestination {
        static let shareId = 1
        static let destination = 2
    }

    enum WaypointRequest {
        static let requestId = 1
        static let waypoint = 2
        static let segmentId = 3
        static let vehicleId = 4
    }

    enum DestinationRequest {
        static let requestId = 1
        static let destination = 2
        static let vehicleId = 3
    }

    enum WithdrawRequest {
        static let requestId = 1
    }

    enum RequestAnswer {
        static let requestId = 1
        static let vehicleId = 2
        static let answer = 3
        static let travelEstimates = 4
        static let reason = 5
    }

    enum Prompt {
        static let requestId = 1
        static let waypoint = 2
        static let travelEstimates = 3
        static let deadlineMilliseconds = 4
    }

    enum PromptAnswer {
        static let requestId = 1
        static let accepted = 2
    }

    enum PromptOver {
        static let requestId = 1
        static let outcome = 2
    }

    enum RequestOutcome {
        static let requestId = 1
        static let vehicleId = 2
        static let outcome = 3
        static let clientId = 4
    }

    enum CancelNavigation {
        static let reason = 1
    }

    enum UpdateRouteSource {
        static let routeSource = 1
        static let vehicleId = 2
    }

    enum VehicleSettings {
        static let compass = 1
        static let speedLimit = 2
        static let contentStyle = 3
        static let limitedUserInterfaces = 4
        static let readyToShow = 5
        static let vehicleId = 6
        static let endpoint = 7
    }

    enum ZoomCluster {
        static let direction = 1
        static let vehicleId = 2
        static let endpoint = 3
    }

    enum AlertResponse {
        static let alertId = 1
        static let actionId = 2
        static let dismissal = 3
        static let vehicleId = 4
        static let endpoint = 5
    }

    enum DestinationShareAnswer {
        static let shareId = 1
        static let outcome = 2
    }

    enum DestinationShareStatus {
        static let shareId = 1
        static let vehicleId = 2
        static let stage = 3
        static let outcome = 4
    }

    enum Receipt {
        static let receivedSequence = 1
        static let shownSequence = 2
    }

    enum EndpointReceipt {
        static let vehicleId = 1
        static let endpoint = 2
        static let receivedSequence = 3
        static let shownSequence = 4
    }

    enum ReceiptReport {
        static let gatewaySequence = 1
        static let endpoints = 2
    }
}
