internal import WaymarkProtocol

/// A cache of the snapshots that were fitted last, for many endpoints that enter at once.
///
/// It changes nothing that the gateway sends. So two are always equal, and it is not handed over.
struct SnapshotBook: Sendable, Hashable {
    /// How many are kept, each about as large as what its session retains.
    private static let countMax = 4

    private struct Snapshot: Sendable {
        let session: SessionID
        let profile: Profile
        /// The last sequence number of the session. Each change of what the session retains has another one.
        let sequence: UInt64
        let frames: [Frame]
    }

    private var snapshots: [Snapshot] = []

    /// The snapshot of a session for a profile as of a number, if it is still cached.
    func frames(of session: SessionID, _ profile: Profile, at sequence: UInt64) -> [Frame]? {
        self.snapshots.first {
            $0.session == session && $0.sequence == sequence && $0.profile == profile
        }?.frames
    }

    /// Keeps a snapshot, in place of the oldest one or of an older one for the same profile.
    mutating func keep(_ frames: [Frame], of session: SessionID, _ profile: Profile, at sequence: UInt64) {
        self.snapshots.removeAll { $0.session == session && $0.profile == profile }
        if self.snapshots.count == Self.countMax { self.snapshots.removeFirst() }
        self.snapshots.append(
            Snapshot(session: session, profile: profile, sequence: sequence, frames: frames))
    }

    /// Drops the snapshots of a session.
    mutating func forget(_ session: SessionID) { self.snapshots.removeAll { $0.session == session } }

    mutating func forgetAll() { self.snapshots = [] }

    static func == (lhs: SnapshotBook, rhs: SnapshotBook) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
