// Made by scripts/generate/wire.sh from Protos. Do not edit.

extension FieldNumber {
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
        static let previewFollows = 5
        static let cause = 6
        static let endpoint = 7
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

    enum VehicleExtension {
        static let name = 1
        static let content = 2
        static let vehicleId = 3
        static let endpoint = 4
    }

    enum SelectPreview {
        static let tripId = 1
        static let routeChoiceId = 2
        static let vehicleId = 3
        static let endpoint = 4
    }

    enum StartTripRequest {
        static let requestId = 1
        static let tripId = 2
        static let routeChoiceId = 3
        static let vehicleId = 4
    }

    enum SimulateDrive {
        static let action = 1
        static let speedPercent = 2
        static let clientId = 3
        static let vehicleId = 4
        static let endpoint = 5
    }

    enum DestinationShareWanted {
        static let tripId = 1
        static let vehicleId = 2
        static let endpoint = 3
    }

    enum StopFeedback {
        static let arrivalBatteryPerMille = 1
        static let reachability = 2
    }

    enum UpdateRouteFeedback {
        static let generation = 1
        static let stops = 2
        static let firstUnreachableSegmentId = 3
        static let vehicleId = 4
    }

    enum Receipt {
        static let receivedSequence = 1
        static let shownSequence = 2
        static let receivedNanoseconds = 3
        static let shownNanoseconds = 4
    }

    enum EndpointReceipt {
        static let vehicleId = 1
        static let endpoint = 2
        static let receivedSequence = 3
        static let shownSequence = 4
        static let receivedDelayMicroseconds = 5
        static let shownDelayMicroseconds = 6
    }

    enum ReceiptReport {
        static let gatewaySequence = 1
        static let endpoints = 2
    }
}
