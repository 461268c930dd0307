// Made by scripts/generate/wire.sh from Protos. Do not edit.

extension FieldNumber {
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
        static let estimatesAgeMilliseconds = 10
    }

    enum SessionSuspended {
        static let graceMilliseconds = 1
        static let ageMilliseconds = 2
        static let estimatesAgeMilliseconds = 3
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
        static let tripId = 3
    }

    enum UpdateSpeedLimit {
        static let limit = 1
        static let next = 2
    }

    enum PublishExtension {
        static let name = 1
        static let content = 2
    }
}
