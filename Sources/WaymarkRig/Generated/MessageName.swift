// Made by scripts/generate/wire.sh from Protos. Do not edit.

extension Rig {
    /// The messages of the protocol; Docs/protocol.md says who sends each, and what it means.
    public enum MessageName: String, Sendable, Hashable, CaseIterable {
        // Connection and session control.
        case hello, welcome, goodbye, ping, pong, error, openSession, sessionOpened, vehicleChanged,
            sessionEnded, snapshotBegin, snapshotEnd, sessionSuspended, sessionRestored, receipt,
            receiptReport, acknowledgement
        // Published by navigation clients, and forwarded to vehicles.
        case tripPreviews, startGuidance, updateTrip, addManeuvers, addLaneGuidances, addRouteSegments,
            upcomingManeuvers, currentLaneGuidance, currentRoadName, updateManeuverState, updateTripEstimates,
            updateManeuverEstimates, currentRouteSegment, pauseGuidance, resumeGuidance, showAlert,
            dismissAlert, shareDestination, finishGuidance, cancelGuidance, updateSpeedLimit, publishExtension
        // Of vehicles, and about requests.
        case waypointRequest, destinationRequest, withdrawRequest, requestAnswer, prompt, promptAnswer,
            promptOver, requestOutcome, cancelNavigation, allowNavigation, updateRouteSource, vehicleSettings,
            zoomCluster, alertResponse, destinationShareAnswer, destinationShareStatus, vehicleExtension,
            selectPreview, startTripRequest, destinationShareWanted, updateRouteFeedback, simulateDrive
        // Of observers.
        case observe, observationBegin, observedRecords, observedEvent, observedFrames, observationGap,
            readCounters, counters
    }
}
