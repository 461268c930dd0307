/// The calls of ``NavigationSession/whenAccepted()`` that wait.
///
/// A call waits for the number of the last frame that was published before it. Until that has been sent, or while it must be sent
/// again, the number is not known.
struct WaitingForAcceptance: Sendable {
    private struct Call: Sendable {
        /// Identifies the call.
        let id: Int
        /// nil until it is known.
        var number: UInt64?
        let continuation: CheckedContinuation<Result<Void, ClientError>, Never>
    }

    private var calls: [Call] = []

    /// Adds a call. What it waits for has been sent up to `state.sequence`, or waits to be sent.
    mutating func add(
        _ id: Int, _ continuation: CheckedContinuation<Result<Void, ClientError>, Never>,
        _ state: PublishedState
    ) {
        self.calls.append(Call(id: id, number: nil, continuation: continuation))
        if state.isAllSent { self.noteSent(state) }
    }

    /// Everything that was published has been sent.
    mutating func noteSent(_ state: PublishedState) {
        for index in self.calls.indices where self.calls[index].number == nil {
            self.calls[index].number = state.sequence
        }
        self.noteAcknowledged(state)
    }

    /// The gateway has acknowledged more.
    mutating func noteAcknowledged(_ state: PublishedState) {
        self.calls.removeAll { call in
            guard let number = call.number, number <= state.acknowledged else { return false }
            call.continuation.resume(returning: .success(()))
            return true
        }
    }

    /// The connection was lost: what is not acknowledged is sent again, with other numbers.
    mutating func noteLost(_ state: PublishedState) {
        self.noteAcknowledged(state)
        for index in self.calls.indices { self.calls[index].number = nil }
        if state.isAllSent { self.noteSent(state) }
    }

    /// The task of a call was cancelled.
    mutating func cancel(_ id: Int) {
        guard let index = self.calls.firstIndex(where: { $0.id == id }) else { return }  // It has returned.
        self.calls.remove(at: index).continuation.resume(returning: .failure(.cancelled))
    }

    /// The session has ended.
    mutating func end(_ reason: EndReason) {
        let result: Result<Void, ClientError> =
            reason.isOwnEnd ? .success(()) : .failure(.sessionEnded(reason))
        for call in self.calls { call.continuation.resume(returning: result) }
        self.calls = []
    }
}

extension EndReason {
    /// The app has ended the session, and the gateway has everything that was published in it.
    var isOwnEnd: Bool { self == .finished || self == .cancelledByClient }
}
