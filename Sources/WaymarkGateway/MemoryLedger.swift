internal import WaymarkProtocol

/// How many bytes of publications sessions keep: in all, per client and per user.
struct MemoryLedger: Sendable, Hashable, Codable {
    /// What one session keeps.
    struct Bytes: Sendable, Hashable, Codable {
        /// Its state.
        var retained = 0
        /// Recent frames, for endpoints that resume.
        var replay = 0
    }

    private struct Account: Sendable, Hashable, Codable {
        var bytes = Bytes()
        let client: ClientID
        let user: UserIndex
    }

    /// Names a user, as long as the user has sessions. Why not the user: hashing it costs more than the rest.
    typealias UserIndex = Int

    /// Of all sessions.
    private(set) var total = Bytes()
    private var accounts: [SessionID: Account] = [:]
    private var retainedByClient: [ClientID: Int] = [:]
    private var users = AccountTable<Principal, Bytes>()

    /// Opens the account of a session that keeps nothing yet, and returns the index of its user.
    mutating func open(_ session: SessionID, _ client: ClientID, _ user: Principal) -> UserIndex {
        let index = self.users.open(user, Bytes())
        self.accounts[session] = Account(client: client, user: index)
        return index
    }

    /// Closes the account of a session that is over.
    mutating func close(_ session: SessionID) {
        self.set(session, Bytes())
        if let index = self.accounts.removeValue(forKey: session)?.user { self.users.close(index) }
    }

    /// How many more bytes of recent frames the sessions of a user may keep.
    func replayRoom(of user: UserIndex, _ limits: GatewayLimits) -> Int {
        min(
            limits.replayBytesInAllMax - self.total.replay,
            limits.replayBytesPerUserMax - self.users[user].replay)
    }

    /// Sets how much a session keeps now.
    mutating func set(_ session: SessionID, _ bytes: Bytes) {
        guard let index = self.accounts.index(forKey: session) else { return }
        let account = self.accounts.values[index]
        guard bytes != account.bytes else { return }
        let growth = bytes.retained - account.bytes.retained
        self.accounts.withValue(at: index) { $0.bytes = bytes }
        self.total.retained += growth
        self.total.replay += bytes.replay - account.bytes.replay
        self.users[account.user].retained += growth
        self.users[account.user].replay += bytes.replay - account.bytes.replay
        guard growth != 0 else { return }
        Self.add(growth, to: account.client, &self.retainedByClient)
    }

    /// Whether a session may grow until it retains `byteCount` bytes.
    func check(_ session: SessionID, retaining byteCount: Int, _ limits: GatewayLimits) throws(Rejection) {
        guard let account = self.accounts[session] else { return }
        let growth = byteCount - account.bytes.retained
        let byClient = self.retainedByClient[account.client] ?? 0
        let byUser = self.users[account.user].retained
        try Self.check("the session", byteCount, "retained_bytes_max", limits.retainedBytesMax)
        try Self.check(
            "the client's sessions", byClient + growth, "retained_bytes_per_client_max",
            limits.retainedBytesPerClientMax)
        try Self.check(
            "the user's sessions", byUser + growth, "retained_bytes_per_user_max",
            limits.retainedBytesPerUserMax)
        try Self.check(
            "all sessions", self.total.retained + growth, "retained_bytes_in_all_max",
            limits.retainedBytesInAllMax)
    }

    private static func check(
        _ who: StaticString, _ byteCount: Int, _ limit: StaticString, _ max: Int
    ) throws(Rejection) {
        guard byteCount > max else { return }
        throw Rejection(
            .limitReached, reason: "\(who) would retain more than \(max) bytes",
            limit: ReachedLimit("\(limit)", max))
    }

    private static func add<Key>(_ growth: Int, to key: Key, _ counts: inout [Key: Int]) {
        let count = counts[key, default: 0] + growth
        counts[key] = count == 0 ? nil : count
    }
}
