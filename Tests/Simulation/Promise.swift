/// A promise of Docs/architecture.md, by its number there.
package enum Promise: Int, Sendable, Hashable, CaseIterable {
    case equalAtRest = 1
    case publishersOrder = 2
    case nothingAfterCancelling = 3
    case oneOutcome = 4
    case oneSession = 5
    case boundedMemory = 6
    case rejectionChangesNothing = 7
    case restartLosesNothing = 8
    case rulesHold = 9
    case turnsAreFair = 10
    case quotasHold = 11
    case acknowledgedStays = 12
    case framesFit = 13
    case observerSeesWhatIs = 14
    case floodsCostNothing = 15
}

/// A promise that was broken.
package struct Violation: Sendable, Hashable, CustomStringConvertible {
    package let promise: Promise
    /// The step in which it was detected; steps after ``SimulatedNetwork/stepCount`` belong to the final phase.
    package let step: Int
    package let text: String

    package var description: String {
        "promise \(self.promise.rawValue) (\(self.promise)) at step \(self.step): \(self.text)"
    }
}

/// A fault that is injected between the gateway, the cores and their sockets, to prove that the checks detect it.
package enum InjectedFault: Sendable, Hashable, CaseIterable {
    /// Some state publications are dropped.
    case loseState
    /// Some event publications are dropped.
    case loseEvent
    /// Some publications are delivered twice.
    case duplicate
    /// Some publications are delivered after their successor.
    case reorder
    /// Frames that wait for an endpoint are kept when its vehicle cancels.
    case ignorePurge
    /// An endpoint is not removed from its audience.
    case ignoreLeave
    /// The outcome of a request is not sent.
    case loseOutcome
    /// Events of endpoints do not reach the client.
    case loseVehicleEvent
    /// A second, different outcome of a request is sent.
    case changeOutcome
    /// The outcome of a request names another id that Unicode calls equivalent.
    case confuseIDs
    /// An endpoint is brought into a second session while it is in another.
    case beginSecondSession
    /// More bytes wait for an endpoint than its limit allows.
    case ignoreOutboxLimit
    /// A rejected message consumes one sequence number too many.
    case applyRejected
    /// The sender of a rejected message gets no error.
    case loseError
    /// The error does not name the field.
    case loseErrorField
    /// After a restart no endpoint gets a snapshot.
    case loseSnapshotAfterRestart
    /// Snapshots do not contain states of types that the gateway does not know.
    case loseExtensions
    /// An observer is not told some records that changed.
    case loseRecord
    /// Frames that wait for endpoints are lost in the handover.
    case loseWaitingAtHandover
    /// A byte that the socket did not accept is counted as sent.
    case loseByte
    /// The socket is written directly before the channel has written its bytes.
    case overtakeChannel
    /// A frame is written after the Goodbye.
    case writeAfterGoodbye
    /// Changed rules do not reach the gateway.
    case ignoreRules
    /// No budget ends a turn.
    case ignoreBudgets
    /// A user may have as much as all users together.
    case ignoreQuotas
    /// Some Acknowledgements are not sent.
    case loseAcknowledgement
    /// An Acknowledgement names a number that was not used up.
    case acknowledgeTooMuch
    /// SnapshotBegin leads to a number that was not published.
    case wrongCursor
    /// SnapshotBegin says that the content is older than it is.
    case staleAge
    /// The gateway does not know that endpoints take small frames only.
    case ignoreSizes
    /// Frames of a snapshot do not say that more of the same publication follow.
    case loseMore
    /// Any number of events of an endpoint may wait for a client.
    case ignoreShares

    /// The promise that it breaks.
    package var promise: Promise {
        switch self {
        case .loseState, .loseExtensions, .staleAge: .equalAtRest
        case .loseEvent, .duplicate, .reorder, .loseWaitingAtHandover, .loseByte, .overtakeChannel,
            .writeAfterGoodbye, .wrongCursor:
            .publishersOrder
        case .ignorePurge, .ignoreLeave: .nothingAfterCancelling
        case .loseOutcome, .changeOutcome, .confuseIDs, .loseVehicleEvent: .oneOutcome
        case .beginSecondSession: .oneSession
        case .ignoreOutboxLimit: .boundedMemory
        case .applyRejected, .loseError, .loseErrorField: .rejectionChangesNothing
        case .loseSnapshotAfterRestart: .restartLosesNothing
        case .ignoreRules: .rulesHold
        case .ignoreBudgets: .turnsAreFair
        case .ignoreQuotas: .quotasHold
        case .loseAcknowledgement, .acknowledgeTooMuch: .acknowledgedStays
        case .ignoreSizes, .loseMore: .framesFit
        case .loseRecord: .observerSeesWhatIs
        case .ignoreShares: .floodsCostNothing
        }
    }
}
