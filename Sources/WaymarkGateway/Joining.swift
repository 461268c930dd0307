internal import OrderedCollections
internal import WaymarkModel
internal import WaymarkProtocol

// Endpoints in sessions: how they come in, what they are sent and what not, how they go.
extension Gateway {
    // MARK: Coming and going

    /// An endpoint has come: into the session that has its vehicle, or one for any vehicle that asked.
    mutating func enterGuidance(
        _ path: EndpointPath, resuming hello: Hello?, at now: Instant, into actions: inout [Action]
    ) {
        if let hello { self.tellEnd(of: hello.resumeSession, to: path, into: &actions) }
        if let session = self.vehicles[path.vehicle]?.session {
            self.join(path, session, resuming: hello, into: &actions)
            self.announce(path.vehicle, into: &actions)
        } else if self.isWaitingForGuidance(path.vehicle) {
            self.offer(path.vehicle, at: now, into: &actions)
        }
        self.repeatPrompts(to: path, at: now, into: &actions)
    }

    /// Tells an endpoint that comes back that the session it was in is over.
    private func tellEnd(of session: SessionID, to path: EndpointPath, into actions: inout [Action]) {
        guard session != .none, let vehicle = self.vehicles[path.vehicle], vehicle.session != session,
            let connection = vehicle.endpoints[path.endpoint]?.connection
        else { return }
        let known = vehicle.lastEnd?.session == session ? vehicle.lastEnd?.reason : nil
        let ended = SessionEnded(session: session, reason: known ?? .clientGone)
        actions.append(.send(connection, Envelope(.sessionEnded(ended))))
    }

    /// Gives a free vehicle to the oldest session for any vehicle that asked.
    mutating func offer(_ id: VehicleID, at now: Instant, into actions: inout [Action]) {
        // Why its id alone: a copy of the session that is kept here makes its vehicles be copied when it takes one more.
        let candidate = self.sessions.values.lazy.filter { $0.selection == .anyThatAsked && !$0.isSuspended }
            .map { (ordinal: $0.ordinal, id: $0.id) }.min { $0.ordinal < $1.ordinal }
        guard let session = candidate?.id, let client = self.sessions[session]?.client,
            let connection = self.clients[client]?.connection
        else { return }
        self.claim(id, for: session, at: now, into: &actions)
        self.note(.joined, of: id, in: session, client, into: &actions)
        self.enter(id, session, connection, into: &actions)
        self.announce(id, into: &actions)
    }

    /// Sends an endpoint what the session holds, or what it missed, and lets it hear the rest.
    mutating func join(
        _ path: EndpointPath, _ id: SessionID, resuming hello: Hello?, into actions: inout [Action]
    ) {
        guard let endpoint = self.vehicles[path.vehicle]?.endpoints[path.endpoint],
            let connection = endpoint.connection, self.sessions[id] != nil
        else { return }
        let place = Endpoint.Place(session: id, profile: self.profile(of: endpoint, path.vehicle))
        let isBack = hello?.resumeSession == id && endpoint.place == place
        let fresh = self.newAudienceID()
        let entry = self.sessions[id]?.enter(
            place.profile, after: isBack ? hello?.resumeSequence : nil, newID: fresh,
            limits: self.policy.limits, coder: self.coder, &self.snapshots)
        if let old = endpoint.place { self.giveUp(old) }
        // Not before: with a copy of it around, what is changed in a session is copied first.
        guard let session = self.sessions[id] else { return }
        var begin = SnapshotBegin(kind: entry?.kind ?? .full, client: session.client)
        begin.clientDisplayName = self.clients[session.client]?.displayName ?? ""
        begin.isSuspended = session.isSuspended
        begin.receiptsEveryMilliseconds = session.receiptsEveryMilliseconds
        begin.withheld =
            entry == nil
            ? Profile.contentFeatures.map { FeatureGrant($0, withheld: .noCapacity) }
            : self.withheld(from: endpoint, path.vehicle, in: session)
        self.vehicles[path.vehicle]?.place(path.endpoint, at: entry == nil ? nil : place, entry?.audience)
        self.counters.snapshotsSent += 1
        let mark = { (message: Message) in
            Action.send(
                connection,
                Envelope(message, session: id, sequence: session.sequence, flags: .gateway))
        }
        actions.append(mark(.snapshotBegin(begin)))
        if let entry, !entry.frames.isEmpty { actions.append(.sendFrames(connection, entry.frames)) }
        actions.append(mark(.snapshotEnd))
        if let entry { actions.append(.join(connection, entry.audience)) }
    }

    /// An endpoint hears its session no longer, and keeps its place.
    mutating func leaveAudience(_ path: EndpointPath, into actions: inout [Action]) {
        guard let left = self.vehicles[path.vehicle]?.leaveAudience(path.endpoint) else { return }
        actions.append(.leave(left.connection, left.audience))
    }

    /// An endpoint is no longer in its session.
    mutating func leaveSession(_ path: EndpointPath, into actions: inout [Action]) {
        self.leaveAudience(path, into: &actions)
        guard let place = self.vehicles[path.vehicle]?.endpoints[path.endpoint]?.place else { return }
        self.vehicles[path.vehicle]?.endpoints[path.endpoint]?.place = nil
        self.giveUp(place)
    }

    private mutating func giveUp(_ place: Endpoint.Place) {
        self.sessions[place.session]?.leave(place.profile)
        self.account(for: place.session)
    }

    // MARK: Profiles and what is withheld

    private func profile(of endpoint: Endpoint, _ vehicle: VehicleID) -> Profile {
        var withheld: FeatureSet = []
        for feature in Profile.contentFeatures
        where self.reasonToWithhold(feature, from: endpoint, vehicle) != nil {
            withheld.insert(feature)
        }
        return Profile(hello: endpoint.hello, withheld: withheld)
    }

    func reasonToWithhold(
        _ feature: Feature, from endpoint: Endpoint, _ vehicle: VehicleID
    ) -> WithheldReason? {
        if self.policy.withheldFeatures.contains(feature) { return .policy }
        if !endpoint.hello.features.contains(feature) { return .notRequested }
        if feature == .routeSegments, let consenting = self.policy.routeSharingVehicles,
            !consenting.contains(vehicle)
        {
            return .noConsent
        }
        return nil
    }

    /// What an endpoint does not get in a session, and why.
    func withheld(
        from endpoint: Endpoint, _ vehicle: VehicleID, in session: NavigationSession
    ) -> [FeatureGrant] {
        let provided = self.clients[session.client]?.hello.features ?? []
        return Profile.contentFeatures.compactMap { feature in
            if let reason = self.reasonToWithhold(feature, from: endpoint, vehicle) {
                return FeatureGrant(feature, withheld: reason)
            }
            if !provided.contains(feature) { return FeatureGrant(feature, withheld: .clientDoesNotProvide) }
            let trip = session.content.trip
            let isOptedOut =
                switch feature {
                case .routeSegments: !trip.routeSegmentsAvailable
                case .destinationSharing: !trip.isDestinationShareable
                default: false  // No trip has a say in the others.
                }
            return isOptedOut && session.content.isGuiding
                ? FeatureGrant(feature, withheld: .tripOptedOut) : nil
        }
    }
}
