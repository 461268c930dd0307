package import WaymarkProtocol

/// The state that an endpoint has received, and the position that it can resume from.
///
///     nothing ──SnapshotBegin full──▶ partial ──SnapshotEnd──▶ whole ──SnapshotBegin full──▶ partial
///
/// The end of a session leads back to `nothing`. Only a whole state has a position to resume from: a part of a snapshot is
/// no state that the publisher ever had.
package struct HeldState: Sendable, Hashable {
    package private(set) var state = VehicleState()
    private let storage: VehicleLimits

    package init(storage: VehicleLimits = VehicleLimits()) { self.storage = storage }

    /// The number up to which everything was received; nil while the state is not whole.
    var position: UInt64? {
        self.state.session == 0 || self.state.isInSnapshot ? nil : self.state.sequence
    }

    /// The session and the number for a Hello; none while there is nothing to resume from.
    var resumption: (session: SessionID, sequence: UInt64) {
        guard let position else { return (.none, 0) }
        return (SessionID(self.state.session), position)
    }

    /// Applies a message that was received at `now`.
    package mutating func apply(_ envelope: Envelope, at now: ContinuousClock.Instant? = nil) {
        self.state.apply(envelope, storage: self.storage, at: now)
    }

    /// Skips a frame of a type that this build does not know, or whose body cannot be decoded. A publication moves the position all
    /// the same.
    package mutating func skip(_ header: FrameHeader, at now: ContinuousClock.Instant? = nil) {
        self.state.skip(header, at: now)
    }

    /// The gateway has welcomed this endpoint. Drops a state that cannot be resumed: a snapshot follows if there is a session.
    ///
    /// - Returns: Whether a state was dropped.
    package mutating func welcome(isResumed: Bool) -> Bool {
        guard self.state.session != 0, !isResumed || self.position == nil else { return false }
        self.state = VehicleState()
        return true
    }
}
