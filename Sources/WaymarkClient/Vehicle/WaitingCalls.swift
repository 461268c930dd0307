internal import WaymarkProtocol

/// A call that waits for the outcome of a request.
struct WaitingRequest {
    let number: Int
    let continuation: CheckedContinuation<RequestResult, Never>
}

/// A call that waits for the end of guidance.
struct WaitingCancellation {
    let number: Int
    let reason: CancellationReason
    let continuation: CheckedContinuation<EndReason, Never>
    /// The session that is to end; none: the vehicle navigates by itself, or this endpoint was in no session.
    let session: SessionID
    /// The gateway was restarted since.
    var isForgotten = false

    /// Whether it names no session.
    var isUnbound: Bool { self.reason == .userStopped && self.session == .none }

    /// Whether the end of a session is the end that the call waits for.
    func isEnded(by ended: SessionEnded) -> Bool {
        switch self.reason {
        case .ownNavigationStarted: ended.reason == .ownNavigationStarted
        case .userStopped: self.isUnbound || self.session == ended.session
        }
    }

    /// What the call returns after the end of a session.
    func end(by ended: SessionEnded) -> EndReason {
        if self.isUnbound, ended.session == .none { return .noSession }
        // The answer of a gateway that does not know the session.
        if self.isForgotten, ended.reason == .clientGone { return .endedWhileAway }
        return EndReason(ended.reason)
    }
}
