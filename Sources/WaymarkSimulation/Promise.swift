/// What Docs/architecture.md says always holds, by its number there.
package enum Promise: Int, Sendable, Hashable, CaseIterable {
    case equalAtRest = 1
    case publishersOrder = 2
    case nothingAfterCancelling = 3
    case oneOutcome = 4
    case oneSession = 5
    case boundedMemory = 6
    case rejectionChangesNothing = 7
    case restartLosesNothing = 8
}

/// A promise that was broken.
package struct Violation: Sendable, Hashable, CustomStringConvertible {
    package let promise: Promise
    /// The step in which it was noticed; those after the last random one belong to coming to rest.
    package let step: Int
    package let text: String

    package var description: String {
        "promise \(self.promise.rawValue) (\(self.promise)) at step \(self.step): \(self.text)"
    }
}

/// A fault put between the gateway, the cores and their sockets, to prove that the checks notice it.
package enum InjectedFault: Sendable, Hashable, CaseIterable {
    /// Once in a while a state is not handed on.
    case loseState
    /// Once in a while an event is not handed on.
    case loseEvent
    /// Once in a while a publication is handed on twice.
    case duplicate
    /// A publication overtakes the one before it.
    case reorder
    /// What waits for an endpoint is not dropped when its vehicle cancels.
    case ignorePurge
    /// An endpoint is not taken out of its audience.
    case ignoreLeave
    /// The outcome of a request is not told.
    case loseOutcome
    /// The outcome of a request is told a second time, as another one.
    case changeOutcome
    /// A session begins for an endpoint while another one goes on.
    case beginSecondSession
    /// More is kept for an endpoint than its limit.
    case ignoreOutboxLimit
    /// A refused message uses up one number more.
    case applyRejected
    /// The sender of a refused message does not hear of it.
    case loseError
    /// The error does not name the field.
    case loseErrorField
    /// After a restart no endpoint gets a snapshot.
    case loseSnapshotAfterRestart
    /// What waits for endpoints is not handed over.
    case loseWaitingAtHandover
    /// A byte that the socket did not accept is taken for sent.
    case loseByte
    /// The socket is used again before the channel has written what it was given.
    case overtakeChannel
    /// A frame is written behind the Goodbye.
    case writeAfterGoodbye

    /// The promise that it breaks.
    package var promise: Promise {
        switch self {
        case .loseState: .equalAtRest
        case .loseEvent, .duplicate, .reorder, .loseWaitingAtHandover, .loseByte, .overtakeChannel,
            .writeAfterGoodbye:
            .publishersOrder
        case .ignorePurge, .ignoreLeave: .nothingAfterCancelling
        case .loseOutcome, .changeOutcome: .oneOutcome
        case .beginSecondSession: .oneSession
        case .ignoreOutboxLimit: .boundedMemory
        case .applyRejected, .loseError, .loseErrorField: .rejectionChangesNothing
        case .loseSnapshotAfterRestart: .restartLosesNothing
        }
    }
}
