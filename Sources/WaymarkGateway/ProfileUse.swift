internal import WaymarkProtocol

/// Who uses which profiles of a session. Each user has room for as many as if there were no other, so that the profiles of one user
/// never withhold content from the endpoints of another.
struct ProfileUse: Sendable, Hashable, Codable {
    /// How many endpoints of a user have a profile, apart from ``Profile/isBare``.
    private var counts: [Principal: [Profile: Int]] = [:]
    /// The endpoints of a user for whose profile there is no room.
    private var waiting: [Principal: SortedSet<EndpointPath>] = [:]

    /// Whether there is room for an endpoint of `profile`; for ``Profile/isBare`` there always is.
    func hasRoom(for profile: Profile, of user: Principal, countMax: Int) -> Bool {
        guard !profile.isBare, let profiles = self.counts[user] else { return true }
        return profiles.count < countMax || profiles[profile] != nil
    }

    mutating func add(_ profile: Profile, of user: Principal) {
        if !profile.isBare { self.counts[user, default: [:]][profile, default: 0] += 1 }
    }

    /// Removes an endpoint.
    ///
    /// - Returns: Whether there may be room now for an endpoint that waits.
    mutating func remove(_ profile: Profile, of user: Principal) -> Bool {
        guard !profile.isBare, let count = self.counts[user]?[profile] else { return false }
        self.counts[user]?[profile] = count == 1 ? nil : count - 1
        guard count == 1 else { return false }
        if self.counts[user]?.isEmpty == true { self.counts[user] = nil }
        return self.waiting[user] != nil
    }

    /// Sets whether an endpoint waits for room.
    mutating func setWaiting(_ waits: Bool, _ path: EndpointPath, of user: Principal) {
        if waits { return self.waiting[user, default: SortedSet()].insert(path) }
        guard self.waiting[user] != nil else { return }
        self.waiting[user]?.remove(path)
        if self.waiting[user]?.isEmpty == true { self.waiting[user] = nil }
    }

    /// The first endpoint of a user after another one that waits for room.
    func nextWaiting(of user: Principal, after path: EndpointPath?) -> EndpointPath? {
        self.waiting[user]?.first(after: path)
    }
}
