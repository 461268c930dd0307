// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The type number in a frame's header.
///
/// 0x0001 ... 0x00FF connection and session control, 0x0100 ... 0x01FF published by navigation clients and forwarded
/// to vehicles, 0x0200 ... 0x02FF vehicles and requests, 0x0300 ... 0x03FF observers.
///
/// - Source: Docs/protocol.md, "Message types".
package enum MessageType: UInt16, Sendable, Hashable, CaseIterable {
    case hello = 0x0001
    case welcome = 0x0002
    case goodbye = 0x0003
    case ping = 0x0004
    case pong = 0x0005
    case error = 0x0006
    case openSession = 0x0010
    case sessionOpened = 0x0011
    case vehicleChanged = 0x0012
    case sessionEnded = 0x0013
    case snapshotBegin = 0x0014
    case snapshotEnd = 0x0015
    case sessionSuspended = 0x0016
    case sessionRestored = 0x0017
    case receipt = 0x0018
    case receiptReport = 0x0019
    case acknowledgement = 0x001A
    case tripPreviews = 0x0100
    case startGuidance = 0x0101
    case updateTrip = 0x0102
    case addManeuvers = 0x0103
    case addLaneGuidances = 0x0104
    case addRouteSegments = 0x0105
    case upcomingManeuvers = 0x0106
    case currentLaneGuidance = 0x0107
    case currentRoadName = 0x0108
    case updateManeuverState = 0x0109
    case updateTripEstimates = 0x010A
    case updateManeuverEstimates = 0x010B
    case currentRouteSegment = 0x010C
    case pauseGuidance = 0x010D
    case resumeGuidance = 0x010E
    case showAlert = 0x010F
    case dismissAlert = 0x0110
    case shareDestination = 0x0111
    case finishGuidance = 0x0112
    case cancelGuidance = 0x0113
    case updateSpeedLimit = 0x0114
    case publishExtension = 0x01E0
    case waypointRequest = 0x0200
    case destinationRequest = 0x0201
    case withdrawRequest = 0x0202
    case requestAnswer = 0x0203
    case prompt = 0x0204
    case promptAnswer = 0x0205
    case promptOver = 0x0206
    case requestOutcome = 0x0207
    case cancelNavigation = 0x0208
    case allowNavigation = 0x0209
    case updateRouteSource = 0x020A
    case vehicleSettings = 0x020B
    case zoomCluster = 0x020C
    case alertResponse = 0x020D
    case destinationShareAnswer = 0x020E
    case destinationShareStatus = 0x020F
    case vehicleExtension = 0x0210
    case selectPreview = 0x0211
    case startTripRequest = 0x0212
    case destinationShareWanted = 0x0213
    case updateRouteFeedback = 0x0214
    case simulateDrive = 0x0215
    case observe = 0x0300
    case observationBegin = 0x0301
    case observedRecords = 0x0302
    case observedEvent = 0x0303
    case observedFrames = 0x0304
    case observationGap = 0x0305
    case readCounters = 0x0306
    case counters = 0x0307
}

extension MessageType {
    /// Who may send it, see Docs/protocol.md, "Message types".
    var sender: Sender {
        switch self {
        case .hello:
            .newcomer
        case .goodbye, .ping, .pong:
            .peer
        case .openSession, .requestAnswer:
            .client
        case .tripPreviews, .startGuidance, .updateTrip, .addManeuvers, .addLaneGuidances, .addRouteSegments,
            .upcomingManeuvers, .currentLaneGuidance, .currentRoadName, .updateManeuverState,
            .updateTripEstimates, .updateManeuverEstimates, .currentRouteSegment, .pauseGuidance,
            .resumeGuidance, .showAlert, .dismissAlert, .shareDestination, .finishGuidance, .cancelGuidance,
            .updateSpeedLimit, .publishExtension:
            .publisher
        case .receipt, .waypointRequest, .destinationRequest, .withdrawRequest, .promptAnswer,
            .cancelNavigation, .allowNavigation, .updateRouteSource, .vehicleSettings, .zoomCluster,
            .alertResponse, .destinationShareAnswer, .vehicleExtension, .selectPreview, .startTripRequest,
            .destinationShareWanted, .updateRouteFeedback:
            .endpoint
        case .observe, .readCounters:
            .observer
        case .simulateDrive:
            .endpointOrObserver
        case .welcome, .error, .sessionOpened, .vehicleChanged, .sessionEnded, .snapshotBegin, .snapshotEnd,
            .sessionSuspended, .sessionRestored, .receiptReport, .acknowledgement, .prompt, .promptOver,
            .requestOutcome, .destinationShareStatus, .observationBegin, .observedRecords, .observedEvent,
            .observedFrames, .observationGap, .counters:
            .gateway
        }
    }
}
