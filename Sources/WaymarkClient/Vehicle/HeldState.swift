internal import WaymarkModel
internal import WaymarkProtocol

/// What an endpoint holds, and from where it may resume.
///
///     nothing ──SnapshotBegin full──▶ partial ──SnapshotEnd──▶ whole ──SnapshotBegin full──▶ partial
///
/// A session's end leads back to nothing. Only a whole state has a position to resume from: what a cut snapshot has left
/// behind is no point in the publisher's order.
struct HeldState: Sendable, Hashable {
    private(set) var state = VehicleState()
    /// The number up to which everything was received; nil while the state is not whole.
    private(set) var position: UInt64?
    private let storage: VehicleLimits

    init(storage: VehicleLimits = VehicleLimits()) { self.storage = storage }

    /// The session and the number for a Hello; none while there is nothing to resume from.
    var resumption: (session: SessionID, sequence: UInt64) {
        guard let position else { return (.none, 0) }
        return (SessionID(self.state.session), position)
    }

    /// Takes over what a message says.
    mutating func apply(_ envelope: Envelope) {
        self.state.apply(envelope, storage: self.storage)
        guard self.state.session != 0 else {
            self.position = nil
            return
        }
        guard envelope.session.rawValue == self.state.session else { return }
        switch envelope.message {
        case .snapshotBegin(let begin): if begin.kind == .full { self.position = nil }
        case .snapshotEnd: self.position = max(self.position ?? 0, envelope.sequence)
        case .publication: if self.position != nil { self.position = envelope.sequence }
        default: break  // The gateway's own messages repeat a number, and may overtake what is conflated.
        }
    }

    /// A new connection is there. What cannot be resumed is forgotten: a snapshot follows if there is a session.
    ///
    /// - Returns: Whether something was forgotten.
    mutating func welcome(isResumed: Bool) -> Bool {
        guard self.state.session != 0, !isResumed || self.position == nil else { return false }
        self.state = VehicleState()
        self.position = nil
        return true
    }
}
