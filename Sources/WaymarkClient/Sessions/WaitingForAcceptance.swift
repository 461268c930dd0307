/// The calls of ``NavigationSession/whenAccepted()`` that wait. Every function returns the calls that have what they waited for.
///
/// A call waits for the number of the last frame that was published before it. Until that has been sent, or while it must be sent
/// again, the number is not known.
struct WaitingForAcceptance: Sendable {
    private struct Call: Sendable {
        let id: Int
        /// nil until it is known.
        var number: UInt64?
    }

    private var calls: [Call] = []

    /// Adds a call. What it waits for has been sent up to `state.sequence`, or waits to be sent.
    mutating func add(_ id: Int, _ state: PublishedState) -> [Int] {
        self.calls.append(Call(id: id, number: nil))
        return state.isAllSent ? self.noteSent(state) : []
    }

    /// Everything that was published has been sent.
    mutating func noteSent(_ state: PublishedState) -> [Int] {
        for index in self.calls.indices where self.calls[index].number == nil {
            self.calls[index].number = state.sequence
        }
        return self.noteAcknowledged(state)
    }

    /// The gateway has acknowledged more.
    mutating func noteAcknowledged(_ state: PublishedState) -> [Int] {
        func isAccepted(_ call: Call) -> Bool { call.number.map { $0 <= state.acknowledged } ?? false }
        let accepted = self.calls.filter(isAccepted).map(\.id)
        if !accepted.isEmpty { self.calls.removeAll(where: isAccepted) }
        return accepted
    }

    /// The connection was lost: what is not acknowledged is sent again, with other numbers.
    mutating func noteLost(_ state: PublishedState) -> [Int] {
        let accepted = self.noteAcknowledged(state)
        for index in self.calls.indices { self.calls[index].number = nil }
        return accepted + (state.isAllSent ? self.noteSent(state) : [])
    }

    /// Removes a call; false if it does not wait.
    mutating func remove(_ id: Int) -> Bool {
        guard let index = self.calls.firstIndex(where: { $0.id == id }) else { return false }
        self.calls.remove(at: index)
        return true
    }

    /// Removes and returns every call that waits.
    mutating func removeAll() -> [Int] {
        defer { self.calls = [] }
        return self.calls.map(\.id)
    }
}

extension EndReason {
    /// What a call gets that waits for acceptance. If the app has ended the session, the gateway has everything that was published
    /// in it.
    var acceptance: Result<Void, ClientError> {
        self == .finished || self == .cancelledByClient ? .success(()) : .failure(.sessionEnded(self))
    }
}
