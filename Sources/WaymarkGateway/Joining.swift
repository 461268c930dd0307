internal import DequeModule
internal import OrderedCollections
internal import WaymarkModel
internal import WaymarkProtocol

// Endpoints in sessions: how they enter, what they are sent, what is withheld from them, how they leave.
extension Gateway {
    // MARK: Entering and leaving

    /// Adds a connected endpoint to the session of its vehicle, or to one for any vehicle that asked.
    mutating func enterGuidance(
        _ path: EndpointPath, resuming hello: Hello?, at now: Instant, into actions: inout [Action]
    ) {
        if let hello { self.tellEnd(of: hello.resumeSession, to: path, into: &actions) }
        if let session = self.vehicle(path.vehicle, { $0.session }).flatMap(\.self) {
            self.join(path, session, resuming: hello, at: now, into: &actions)
            self.announce(path.vehicle, into: &actions)
        } else if self.isWaitingForGuidance(path.vehicle) {
            self.offer(path.vehicle, at: now, into: &actions)
        }
        self.repeatPrompts(to: path, at: now, into: &actions)
    }

    /// Tells a resumed endpoint that its former session is over.
    private func tellEnd(of session: SessionID, to path: EndpointPath, into actions: inout [Action]) {
        guard session != .none, let vehicle = self.vehicles[path.vehicle], vehicle.session != session,
            let connection = vehicle.endpoints[path.endpoint]?.connection
        else { return }
        actions.append(.send(connection, Envelope(.sessionEnded(vehicle.end(of: session)))))
    }

    /// Adds an endpoint to a session. It is sent the snapshot, or what it missed, at once or by steps.
    ///
    /// - Returns: Whether there was room for its profile. If not, it gets ``Profile/bare``.
    @discardableResult
    mutating func join(
        _ path: EndpointPath, _ id: SessionID, resuming hello: Hello?, isRefit: Bool = false,
        at now: Instant, into actions: inout [Action]
    ) -> Bool {
        // Each is looked up once: hashing an id costs as much as a message.
        guard let place = self.vehicles.index(forKey: path.vehicle),
            let index = self.sessions.index(forKey: id),
            case let (endpoint?, user, lastSession) = self.vehicles.readValue(
                at: place, { ($0.endpoints[path.endpoint], $0.principal, $0.lastEnd?.session) }),
            endpoint.connection != nil
        else { return true }
        let features = self.features(at: index)
        let reasons = self.withheld(from: endpoint, path.vehicle, features)
        let wanted = features.profile(of: endpoint, withholding: reasons)
        let old = endpoint.membership
        // It comes back, and is counted as an endpoint with this profile already.
        let isCounted = !wanted.isBare && old?.session == id && old?.profile == wanted
        let hasRoom = isCounted || self.hasRoom(for: wanted, of: user, at: index)
        let withheld = hasRoom ? reasons : Self.withheldWithoutRoom
        var membership = Endpoint.Membership(
            session: id, profile: hasRoom ? wanted : wanted.bare, withheld: WithheldReasons(withheld))
        let resumes = hello.map { endpoint.canResume($0, in: membership) } ?? false
        // The endpoint may hold frames of this session up to the same number, fitted to another profile, and may disconnect
        // before it has read the snapshot.
        let mayHoldOther =
            isRefit || hello?.resumeSession == id || lastSession == id
        membership.wait = Endpoint.Wait(
            sequence: resumes ? hello?.resumeSequence : nil, mayHoldOther: mayHoldOther)
        membership.firstResumable = resumes ? old?.firstResumable ?? 0 : .max
        let fresh = self.newAudienceID()
        self.sessions[at: index].enter(membership.profile, path, newID: fresh)
        if let old { self.end(old, path, of: user, usesProfile: !isCounted) }
        if !isCounted { self.use(membership.profile, at: index, path, of: user, waits: !hasRoom) }
        self.vehicles.withValue(at: place) { $0.move(path.endpoint, to: membership, nil) }
        self.sendSnapshots(of: id, at: now, into: &actions)
        return hasRoom
    }

    /// Sends the endpoints of a session that wait for it the snapshot, as far as the budget goes.
    private mutating func sendSnapshots(of id: SessionID, at now: Instant, into actions: inout [Action]) {
        if !self.hasBudget || self.fitWhileInBudget(id, at: now, into: &actions) { self.queue(.fit(id)) }
    }

    /// Sends an endpoint that waits for it the snapshot of its session, or what it missed, and adds it to its audience; or begins to
    /// fit the snapshot.
    mutating func sendSnapshot(
        of id: SessionID, to path: EndpointPath, at now: Instant, into actions: inout [Action]
    ) {
        guard let place = self.vehicles.index(forKey: path.vehicle),
            let index = self.sessions.index(forKey: id),
            let endpoint = self.vehicles.readValue(at: place, { $0.endpoints[path.endpoint] }),
            let connection = endpoint.connection, var membership = endpoint.membership,
            let wait = membership.wait, membership.session == id,
            // It waits again once changed rules have reached its vehicle, unless they refuse it.
            self.unruledVehicles.isEmpty || !self.unruledVehicles.contains(path.vehicle)
        else { return }
        let profile = membership.profile
        let features = self.features(at: index)
        var withheld = self.withheld(from: endpoint, path.vehicle, features)
        let wanted = features.profile(of: endpoint, withholding: withheld)
        if profile.isBare {
            if !wanted.isBare { withheld = Self.withheldWithoutRoom }
        } else if wanted != profile {
            // What is withheld has changed: the refit that is under way lets it wait for another snapshot.
            return
        }
        // Once the client has ended guidance, those that wait are told only that.
        guard self.sessions.readValue(at: index, { $0.content.phase }) != .ended else { return }
        guard let entry = self.sessions[at: index].entry(profile, after: wait.sequence, &self.snapshots)
        else {
            self.counters.work.visit(self.sessions[at: index].retained.count / 16)
            return self.sessions[at: index].waiting.prepend(path)
        }
        let session = self.sessions.readValue(at: index) { SessionSummary($0, at: now) }
        if entry.kind == .full {
            let mayHoldOther = wait.mayHoldOther || !entry.later.isEmpty
            membership.firstResumable = session.sequence + (mayHoldOther ? 1 : 0)
        }
        membership.wait = nil
        membership.withheld = WithheldReasons(withheld)
        self.vehicles.withValue(at: place) { $0.move(path.endpoint, to: membership, entry.audience) }
        self.counters.work.send(entry.frames)
        self.counters.work.send(entry.later)
        let cursor = (from: entry.kind == .full ? 0 : wait.sequence ?? 0, to: entry.sequence)
        self.sendSnapshot(
            entry.kind, cursor, entry.frames, withheld, of: session, to: connection, into: &actions)
        if entry.kind == .full, session.receiptsEveryMilliseconds > 0 {
            self.vehicles.withValue(at: place) {
                $0.endpoints[path.endpoint]?.timing.begin(at: entry.sequence)
            }
        }
        if !entry.later.isEmpty { actions.append(.sendFrames(connection, entry.later)) }
        actions.append(.join(connection, entry.audience))
    }

    private mutating func sendSnapshot(
        _ kind: SnapshotBegin.Kind, _ cursor: (from: UInt64, to: UInt64), _ frames: [Frame],
        _ withheld: [FeatureGrant], of session: SessionSummary, to connection: ConnectionID,
        into actions: inout [Action]
    ) {
        var begin = SnapshotBegin(kind: kind, client: session.client)
        begin.clientDisplayName = self.client(session.client) { $0.displayName } ?? ""
        begin.isSuspended = session.isSuspended
        begin.receiptsEveryMilliseconds = session.receiptsEveryMilliseconds
        begin.withheld = withheld
        (begin.fromSequence, begin.toSequence) = cursor
        begin.ageMilliseconds = session.ageMilliseconds
        begin.estimatesAgeMilliseconds = session.estimatesAgeMilliseconds
        if kind == .full { self.counters.snapshotsSent += 1 }
        for grant in withheld {
            if let reason = grant.withheld { self.counters.featuresWithheld.add(of: reason.rawValue) }
        }
        let mark = { (message: Message) in
            Action.send(connection, Envelope(message, session: session.id, flags: .gateway))
        }
        actions.append(mark(.snapshotBegin(begin)))
        if !frames.isEmpty { actions.append(.sendFrames(connection, frames)) }
        actions.append(mark(.snapshotEnd))
    }

    /// Takes an endpoint out of its audience; it stays in its session.
    mutating func leaveAudience(_ path: EndpointPath, into actions: inout [Action]) {
        guard let place = self.vehicles.index(forKey: path.vehicle) else { return }
        self.leaveAudience(path.endpoint, at: place, into: &actions)
    }

    /// The same, for an endpoint of the vehicle at a place in the dictionary.
    mutating func leaveAudience(
        _ endpoint: EndpointName, at place: Dictionary<VehicleID, Vehicle>.Index, into actions: inout [Action]
    ) {
        guard let left = self.vehicles.withValue(at: place, { $0.leaveAudience(endpoint) }) else { return }
        actions.append(.leave(left.connection, left.audience))
    }

    /// Removes an endpoint from its session.
    mutating func leaveSession(_ path: EndpointPath, into actions: inout [Action]) {
        guard let place = self.vehicles.index(forKey: path.vehicle) else { return }
        self.leaveAudience(path.endpoint, at: place, into: &actions)
        let (membership, user) = self.vehicles.withValue(at: place) { vehicle in
            let membership = vehicle.endpoints[path.endpoint]?.membership
            if membership != nil { vehicle.endpoints[path.endpoint]?.membership = nil }
            return (membership, vehicle.principal)
        }
        if let membership { self.end(membership, path, of: user) }
    }

    /// Removes an endpoint from the audience that the session counts it in. `usesProfile` is false if it enters the session again with
    /// the same profile.
    private mutating func end(
        _ membership: Endpoint.Membership, _ path: EndpointPath, of user: Principal?,
        usesProfile: Bool = true
    ) {
        let id = membership.session
        guard let session = self.sessions.index(forKey: id), let user else { return }
        let hasRoom = self.sessions.withValue(at: session) {
            $0.leave(membership.profile)
            guard usesProfile else { return false }
            $0.profileUse.setWaiting(false, path, of: user)
            return $0.profileUse.remove(membership.profile, of: user)
        }
        if hasRoom { self.sessionsWithRoom.append(FreeRoom(session: id, user: user)) }
        self.memory.set(id, self.sessions.readValue(at: session) { $0.kept })
    }

    /// Counts an endpoint's profile for its user.
    private mutating func use(
        _ profile: Profile, at session: Dictionary<SessionID, GatewaySession>.Index, _ path: EndpointPath,
        of user: Principal?, waits: Bool
    ) {
        guard let user else { return }
        self.sessions.withValue(at: session) {
            $0.profileUse.add(profile, of: user)
            $0.profileUse.setWaiting(waits, path, of: user)
        }
    }

    // MARK: Changing profiles

    /// Changes the settings. What they withhold from vehicles is withheld vehicle by vehicle, in the steps that follow: a frame that
    /// comes in between reaches a vehicle that was not visited as before, as if it had come before the change.
    mutating func change(to policy: Policy) {
        self.changeAccess(to: policy.access)
        self.policy = policy
        self.queue(.settings(after: nil))
    }

    /// Brings the settings to the session after another one.
    mutating func applySettings(after place: SessionPlace?) {
        guard let next = self.index.sessions.first(after: place) else { return }
        self.begin(.refit, of: next.id)
        self.queue(.settings(after: next))
    }

    /// Queues the search for endpoints of the users that have room now.
    mutating func fillRoom() {
        for room in self.sessionsWithRoom { self.queue(.room(room.session, room.user, after: nil)) }
        self.sessionsWithRoom.removeAll(keepingCapacity: true)
    }

    /// Gives the endpoints of a user that wait for room in a session their own profile, as far as there is room.
    mutating func giveRoom(
        in session: SessionID, of user: Principal, after path: EndpointPath?, at now: Instant,
        into actions: inout [Action]
    ) {
        var path = path
        repeat {
            guard let next = self.sessions[session]?.profileUse.nextWaiting(of: user, after: path)
            else { return }
            path = next
            self.counters.work.visit()
            self.settle(next.vehicle, at: now, into: &actions)
            if let features = self.features(of: session),
                self.refit(next, in: session, features, at: now, into: &actions)
            {
                self.announce(next.vehicle, into: &actions)
            }
        } while self.hasBudget
        self.putBack(.room(session, user, after: path))
    }

    /// Moves the endpoints of a vehicle whose profiles changed into the right audience, and tells the client.
    mutating func refit(
        _ id: VehicleID, in session: SessionID, at now: Instant, into actions: inout [Action]
    ) {
        guard let features = self.features(of: session) else { return }
        var isChanged = false
        for (name, _, _) in self.vehicles[id]?.connections ?? [] {
            let path = EndpointPath(vehicle: id, endpoint: name)
            isChanged = self.refit(path, in: session, features, at: now, into: &actions) || isChanged
        }
        if isChanged { self.announce(id, into: &actions) }
    }

    /// Moves an endpoint that has said whether it shows speed limits into the right audience, and tells the client.
    mutating func refit(_ path: EndpointPath, at now: Instant, into actions: inout [Action]) {
        guard let session = self.vehicles[path.vehicle]?.session, let features = self.features(of: session),
            self.refit(path, in: session, features, at: now, into: &actions)
        else { return }
        self.announce(path.vehicle, into: &actions)
    }

    /// Moves an endpoint whose profile changed into the right audience, with a FULL snapshot. Queued frames of the session are
    /// dropped first, so that withheld content cannot follow. An endpoint whose profile stays, and which was told of other withheld
    /// features, is sent the new list alone.
    ///
    /// - Returns: Whether it was sent anything.
    private mutating func refit(
        _ path: EndpointPath, in id: SessionID, _ features: SessionFeatures, at now: Instant,
        into actions: inout [Action]
    ) -> Bool {
        guard let endpoint = self.vehicles[path.vehicle]?.endpoints[path.endpoint],
            let connection = endpoint.connection, let membership = endpoint.membership,
            membership.session == id
        else { return false }
        let wanted = self.profile(of: endpoint, path.vehicle, features)
        if wanted == membership.profile {
            guard membership.wait != nil else {
                return self.restate(features, id, path, endpoint, at: now, into: &actions)
            }
            self.sessions[id]?.waiting.append(path)
            self.sendSnapshots(of: id, at: now, into: &actions)
            return false
        }
        if membership.profile.isBare {
            let user = self.vehicles[path.vehicle]?.principal
            guard let index = self.sessions.index(forKey: id), self.hasRoom(for: wanted, of: user, at: index)
            else { return false }
        }
        self.leaveSession(path, into: &actions)
        actions.append(.purge(connection, id))
        self.join(path, id, resuming: nil, isRefit: true, at: now, into: &actions)
        return true
    }

    /// Sends an endpoint the list of withheld features if it or a reason in it has changed while the profile has not.
    ///
    /// - Returns: Whether a list was sent.
    private mutating func restate(
        _ features: SessionFeatures, _ id: SessionID, _ path: EndpointPath, _ endpoint: Endpoint,
        at now: Instant, into actions: inout [Action]
    ) -> Bool {
        let withheld = self.withheld(from: endpoint, path.vehicle, features)
        let reasons = WithheldReasons(withheld)
        guard let membership = endpoint.membership, membership.withheld != reasons,
            let connection = endpoint.connection, let session = self.sessions[id]
        else { return false }
        self.vehicles[path.vehicle]?.endpoints[path.endpoint]?.membership?.withheld = reasons
        // What waits to be fitted has lower numbers than the session's, and follows.
        let sequence = session.sequenceHandedOn(membership.profile)
        self.sendSnapshot(
            .missed, (sequence, sequence), [], withheld, of: SessionSummary(session, at: now),
            to: connection, into: &actions)
        return true
    }

    // MARK: Trips that opt out

    /// How long after a trip opted out or in the next opt-in takes effect, so that a client that alternates cannot have a snapshot
    /// written for each of its frames. Opt-outs need no bound: each needs an opt-in before it.
    private static let optInPause: Duration = .seconds(1)

    /// Applies a change of what the trip shares: an opt-out at once, an opt-in after ``optInPause``.
    mutating func followOptOut(of id: SessionID, at now: Instant) {
        guard let session = self.sessions[id] else { return }
        if session.content.optedOut.contains(.destinationSharing) { self.purgeShares(of: id) }
        if session.content.withholdsSegments == session.withholdsSegments {
            self.deadlines.remove(.optIn(id))
        } else if session.withholdsSegments, now < session.nextOptIn {
            self.deadlines.set(.optIn(id), at: session.nextOptIn)
        } else {
            self.applyOptOut(of: id, at: now)
        }
    }

    /// Makes the endpoints' content match what the trip shares.
    mutating func applyOptOut(of id: SessionID, at now: Instant) {
        guard let withholds = self.sessions[id]?.content.withholdsSegments else { return }
        self.sessions[id]?.withholdsSegments = withholds
        self.sessions[id]?.nextOptIn = now + Self.optInPause
        self.deadlines.remove(.optIn(id))
        self.begin(.refit, of: id)
    }

    /// Drops the destinations that wait for endpoints of a session.
    mutating func purgeShares(of id: SessionID) {
        guard self.sessions[id]?.mayQueueShares == true else { return }
        self.sessions[id]?.mayQueueShares = false
        self.begin(.purgeShares, of: id)
    }

    private mutating func hasRoom(
        for profile: Profile, of user: Principal?, at session: Dictionary<SessionID, GatewaySession>.Index
    ) -> Bool {
        let countMax = self.rules.limits.profilesPerSessionMax
        guard let user else { return false }
        return self.sessions.readValue(at: session) {
            $0.profileUse.hasRoom(for: profile, of: user, countMax: countMax)
        }
    }

    // MARK: Profiles and withheld features

    /// The profile of an endpoint in a session if there is room for it: without the features of ``withheld(from:_:_:)``.
    private func profile(of endpoint: Endpoint, _ vehicle: VehicleID, _ session: SessionFeatures) -> Profile {
        session.profile(of: endpoint, withholding: self.withheld(from: endpoint, vehicle, session))
    }

    /// What a snapshot says of its session. Why apart: a copy of the whole session counts references to all that it holds.
    private struct SessionSummary {
        let id: SessionID
        let client: ClientID
        let isSuspended: Bool
        let receiptsEveryMilliseconds: UInt32
        let sequence: UInt64
        let ageMilliseconds: UInt32?
        let estimatesAgeMilliseconds: UInt32?

        init(_ session: GatewaySession, at now: Instant) {
            self.id = session.id
            self.client = session.client
            self.isSuspended = session.isSuspended
            self.receiptsEveryMilliseconds = session.receiptsEveryMilliseconds
            self.sequence = session.sequence
            self.ageMilliseconds = GatewaySession.age(since: session.lastPublished, at: now)
            self.estimatesAgeMilliseconds = GatewaySession.age(since: session.lastEstimated, at: now)
        }
    }

    /// Which features a session has for its endpoints.
    struct SessionFeatures {
        /// Features granted to its client, now or at any time before.
        let provided, everProvided: FeatureSet
        /// Features that the present trip does not share, and segments until an opt-in takes effect.
        let optedOut: FeatureSet
        /// Segments are retained and withheld from endpoints.
        let withholdsSegments: Bool
        /// The extensions that its publications may be of, in order, and those that endpoints do not get.
        private let extensions: [ExtensionName]
        private let withheldExtensions: Set<ExtensionName>

        /// Features whose fields clients may publish without having declared them.
        private static let undeclared: FeatureSet = [.exitLabels, .charge, .timeZone]

        init(_ session: GatewaySession, granted: FeatureSet, withholding extensions: Set<ExtensionName>) {
            var optedOut = session.content.optedOut
            if session.withholdsSegments { optedOut.insert(.routeSegments) }
            self.provided = granted
            self.everProvided = session.providedFeatures
            self.optedOut = optedOut
            self.withholdsSegments = session.withholdsSegments
            self.extensions = session.extensions
            self.withheldExtensions = extensions
        }

        /// Whether what is published may contain a feature, so that fitting must remove it. If not, the endpoint shares the bytes
        /// of endpoints that get the feature.
        fileprivate func mayContain(_ feature: Feature, withheld reason: WithheldReason) -> Bool {
            switch reason {
            case .clientDoesNotProvide:
                self.everProvided.contains(feature) || Self.undeclared.contains(feature)
            // Shares are refused, and none is kept.
            case .tripOptedOut: feature == .routeSegments && self.withholdsSegments
            case .notRequested, .noCapacity, .noConsent, .policy, .vehicleDoesNotWant: true
            }
        }

        /// The profile of an endpoint from which the features in `grants` are withheld.
        fileprivate func profile(of endpoint: Endpoint, withholding grants: [FeatureGrant]) -> Profile {
            var withheld: FeatureSet = []
            for grant in grants {
                if let reason = grant.withheld, self.mayContain(grant.feature, withheld: reason) {
                    withheld.insert(grant.feature)
                }
            }
            if !self.everProvided.contains(.speedLimit) { withheld = Self.withoutSpeedLimit(withheld) }
            return Profile(
                hello: endpoint.hello, withheld: withheld, extensions: self.extensions(for: endpoint))
        }

        /// The features that are withheld in a session whose client was never granted speed limits. Whether an endpoint wants them makes no difference
        /// then: those that know them and those of versions before 1.2 share their bytes. Without any content, its profile is the bare one.
        private static func withoutSpeedLimit(_ withheld: FeatureSet) -> FeatureSet {
            let all = withheld.union([.speedLimit])
            return all == FeatureSet(Profile.contentFeatures) ? all : withheld.subtracting([.speedLimit])
        }

        private func extensions(for endpoint: Endpoint) -> Profile.Extensions {
            let names = self.extensions.filter {
                endpoint.hello.extensions.contains($0) && !self.withheldExtensions.contains($0)
            }
            return names.count == self.extensions.count ? .all : .only(names)
        }
    }

    mutating func features(of id: SessionID) -> SessionFeatures? {
        self.sessions.index(forKey: id).map { self.features(at: $0) }
    }

    mutating func features(at session: Dictionary<SessionID, GatewaySession>.Index) -> SessionFeatures {
        let client = self.sessions.readValue(at: session) { $0.client }
        let granted = self.client(client) { $0.granted } ?? []
        let withheldExtensions = self.policy.withheldExtensions
        return self.sessions.readValue(at: session) {
            SessionFeatures($0, granted: granted, withholding: withheldExtensions)
        }
    }

    private func withheldReason(
        _ feature: Feature, from endpoint: Endpoint, _ vehicle: VehicleID, _ session: SessionFeatures
    ) -> WithheldReason? {
        if self.policy.withheldFeatures.contains(feature) { return .policy }
        if !endpoint.hello.features.contains(feature) { return .notRequested }
        if feature == .routeSegments, let consenting = self.policy.routeSharingVehicles,
            !consenting.contains(vehicle)
        {
            return .noConsent
        }
        if !session.provided.contains(feature) { return .clientDoesNotProvide }
        if feature == .speedLimit, endpoint.settings.speedLimit == .disabled { return .vehicleDoesNotWant }
        return session.optedOut.contains(feature) ? .tripOptedOut : nil
    }

    private static let withheldWithoutRoom = Profile.contentFeatures.map {
        FeatureGrant($0, withheld: .noCapacity)
    }

    /// The features that are withheld from an endpoint in a session, and why.
    func withheld(
        from endpoint: Endpoint, _ vehicle: VehicleID, in session: SessionID, _ features: SessionFeatures
    ) -> [FeatureGrant] {
        let withheld = self.withheld(from: endpoint, vehicle, features)
        if endpoint.membership?.session == session, endpoint.membership?.profile.isBare == true,
            !features.profile(of: endpoint, withholding: withheld).isBare
        {
            return Self.withheldWithoutRoom
        }
        return withheld
    }

    /// The features that are withheld from an endpoint for whose profile there is room, and why.
    private func withheld(
        from endpoint: Endpoint, _ vehicle: VehicleID, _ session: SessionFeatures
    ) -> [FeatureGrant] {
        var withheld: [FeatureGrant] = []
        for feature in Profile.contentFeatures {
            if let reason = self.withheldReason(feature, from: endpoint, vehicle, session) {
                withheld.append(FeatureGrant(feature, withheld: reason))
            }
        }
        return withheld
    }
}

extension Vehicle {
    /// How an earlier session ended for this vehicle, if the gateway still knows.
    func end(of session: SessionID) -> SessionEnded {
        guard let lastEnd = self.lastEnd, lastEnd.session == session else {
            return SessionEnded(session: session, reason: .clientGone)
        }
        return lastEnd
    }
}
