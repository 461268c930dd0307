// Made by scripts/generate/wire.sh from Protos. Do not edit.

extension FieldNumber {
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

    enum ObserverHello {
        static let observerId = 1
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
        static let sendFrameBytesMax = 10
        static let resumptionToken = 11
        static let resumeSessionId = 12
        static let resumeSequence = 13
        static let negotiatedLimits = 14
        static let observer = 15
        static let reportIgnored = 16
        static let receiveFrameBytesMax = 17
        static let extensions = 18
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
        static let receiveFrameBytesMax = 4
        static let resumptionToken = 5
        static let resumed = 6
        static let sessions = 7
        static let graceMilliseconds = 8
        static let requestsOpenMax = 9
        static let software = 10
        static let negotiatedLimits = 11
        static let gatewayInstance = 12
        static let gatewayEpoch = 13
        static let visibility = 14
        static let sendFrameBytesMax = 15
        static let extensions = 16
    }

    enum Goodbye {
        static let code = 1
        static let reason = 2
        static let reconnectAfterMilliseconds = 3
        static let movedTo = 4
        static let limit = 5
        static let limitValue = 6
    }

    enum Ping {
        static let nonce = 1
        static let sentNanoseconds = 2
    }

    enum Pong {
        static let nonce = 1
        static let receivedNanoseconds = 2
        static let sentNanoseconds = 3
    }

    enum Error {
        static let code = 1
        static let field = 2
        static let reason = 3
        static let messageType = 4
        static let sessionId = 5
        static let sequence = 6
        static let requestId = 7
        static let limit = 8
        static let limitValue = 9
        static let retryAfterMilliseconds = 10
    }
}
