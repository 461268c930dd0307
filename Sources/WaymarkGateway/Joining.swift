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
        actions.append(.send(connection, Envelope(.sessionEnded(vehicle.end(of: session)))))
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
    ///
    /// - Returns: Whether there was room for its profile. If not, it gets what needs none.
    @discardableResult
    mutating func join(
        _ path: EndpointPath, _ id: SessionID, resuming hello: Hello?, into actions: inout [Action]
    ) -> Bool {
        guard let endpoint = self.vehicles[path.vehicle]?.endpoints[path.endpoint],
            let connection = endpoint.connection, let offer = self.offer(of: id)
        else { return true }
        let wanted = self.profile(of: endpoint, path.vehicle, offer)
        let hasRoom = self.hasRoom(for: wanted, in: id)
        let place = Endpoint.Place(session: id, profile: hasRoom ? wanted : .bare)
        let isBack = hello?.resumeSession == id && endpoint.place == place
        let fresh = self.newAudienceID()
        let entry = self.sessions[id]?.enter(
            place.profile, after: isBack ? hello?.resumeSequence : nil, newID: fresh, coder: self.coder,
            &self.snapshots)
        if let old = endpoint.place { self.giveUp(old) }
        // Not before: with a copy of it around, what is changed in a session is copied first.
        guard let session = self.sessions[id], let entry else { return true }
        var begin = SnapshotBegin(kind: entry.kind, client: session.client)
        begin.clientDisplayName = self.clients[session.client]?.displayName ?? ""
        begin.isSuspended = session.isSuspended
        begin.receiptsEveryMilliseconds = session.receiptsEveryMilliseconds
        begin.withheld =
            hasRoom ? self.withheld(from: endpoint, path.vehicle, offer) : Self.withheldWithoutRoom
        self.vehicles[path.vehicle]?.place(path.endpoint, at: place, entry.audience)
        self.counters.snapshotsSent += 1
        let mark = { (message: Message) in
            Action.send(
                connection,
                Envelope(message, session: id, sequence: session.sequence, flags: .gateway))
        }
        actions.append(mark(.snapshotBegin(begin)))
        if !entry.frames.isEmpty { actions.append(.sendFrames(connection, entry.frames)) }
        actions.append(mark(.snapshotEnd))
        actions.append(.join(connection, entry.audience))
        return hasRoom
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
        if self.sessions[place.session]?.leave(place.profile) == true {
            self.sessionsWithRoom.append(place.session)
        }
        self.account(for: place.session)
    }

    // MARK: Fitting anew

    /// Takes over other settings. What they withhold from vehicles holds at once.
    mutating func change(to policy: Policy, into actions: inout [Action]) {
        self.policy = policy
        for (_, id) in self.sessions.values.map({ ($0.ordinal, $0.id) }).sorted(by: { $0.0 < $1.0 }) {
            self.refit(id, into: &actions)
        }
    }

    /// Gives endpoints for which there was no room what they asked for, where there is room now.
    mutating func fillRoom(into actions: inout [Action]) {
        while let id = self.sessionsWithRoom.popLast() { self.refit(id, into: &actions) }
    }

    /// Brings those endpoints of a session that have to get more, or less, than they do into the right audience, with a
    /// snapshot, and tells the client. What still waits for them of the session is dropped, so that nothing of what is
    /// withheld now reaches them.
    ///
    /// - Complexity: O(n) for n endpoints.
    mutating func refit(_ id: SessionID, into actions: inout [Action]) {
        guard let offer = self.offer(of: id) else { return }
        for vehicle in self.sessions[id]?.vehicles ?? [] {
            var isChanged = false
            for (name, connection, endpoint) in self.vehicles[vehicle]?.connections ?? [] {
                guard let place = endpoint.place, place.session == id,
                    case let wanted = self.profile(of: endpoint, vehicle, offer), wanted != place.profile,
                    place.profile != .bare || self.hasRoom(for: wanted, in: id)
                else { continue }
                let path = EndpointPath(vehicle: vehicle, endpoint: name)
                self.leaveSession(path, into: &actions)
                actions.append(.purge(connection, id))
                self.join(path, id, resuming: nil, into: &actions)
                isChanged = true
            }
            if isChanged { self.announce(vehicle, into: &actions) }
        }
    }

    private mutating func hasRoom(for profile: Profile, in session: SessionID) -> Bool {
        let countMax = self.policy.limits.profilesPerSessionMax
        return self.sessions.index(forKey: session).map {
            self.sessions.look(at: $0) { $0.hasRoom(for: profile, countMax: countMax) }
        } ?? false
    }

    // MARK: Profiles and what is withheld

    /// What an endpoint is to get in a session, if there is room: nothing that ``withheld(from:_:_:)`` names.
    private func profile(of endpoint: Endpoint, _ vehicle: VehicleID, _ offer: Offer) -> Profile {
        var withheld: FeatureSet = []
        for feature in Profile.contentFeatures {
            guard let reason = self.reasonToWithhold(feature, from: endpoint, vehicle, offer) else {
                continue
            }
            if offer.mayHold(feature, withheld: reason) { withheld.insert(feature) }
        }
        return Profile(hello: endpoint.hello, withheld: withheld)
    }

    /// What a session has for its endpoints.
    private struct Offer {
        /// What its client is granted now, and ever was.
        let provided, everProvided: FeatureSet
        /// Features that the present trip does not share.
        let optedOut: FeatureSet
        let withholdsSegments: Bool

        /// Fields that clients may publish without having declared them.
        private static let undeclared: FeatureSet = [.exitLabels, .charge, .timeZone]

        init(_ session: NavigationSession, granted: FeatureSet) {
            let content = session.content
            var optedOut: FeatureSet = []
            if content.isGuiding {
                if !content.trip.routeSegmentsAvailable { optedOut.insert(.routeSegments) }
                if !content.trip.isDestinationShareable { optedOut.insert(.destinationSharing) }
            }
            self.provided = granted
            self.everProvided = session.providedFeatures
            self.optedOut = optedOut
            self.withholdsSegments = content.withholdsSegments
        }

        /// Whether there may be something to cut out. If not, the endpoint can do with the bytes that the others get.
        func mayHold(_ feature: Feature, withheld reason: WithheldReason) -> Bool {
            switch reason {
            case .clientDoesNotProvide:
                self.everProvided.contains(feature) || Self.undeclared.contains(feature)
            // Shares are refused, and none is kept.
            case .tripOptedOut: feature == .routeSegments && self.withholdsSegments
            case .notRequested, .noCapacity, .noConsent, .policy, .notSupported: true
            }
        }
    }

    private mutating func offer(of id: SessionID) -> Offer? {
        guard let place = self.sessions.index(forKey: id) else { return nil }
        let client = self.clients.index(forKey: self.sessions.look(at: place) { $0.client })
        let granted = client.map { self.clients.look(at: $0) { $0.granted } } ?? []
        return self.sessions.look(at: place) { Offer($0, granted: granted) }
    }

    private func reasonToWithhold(
        _ feature: Feature, from endpoint: Endpoint, _ vehicle: VehicleID, _ offer: Offer
    ) -> WithheldReason? {
        if self.policy.withheldFeatures.contains(feature) { return .policy }
        if !endpoint.hello.features.contains(feature) { return .notRequested }
        if feature == .routeSegments, let consenting = self.policy.routeSharingVehicles,
            !consenting.contains(vehicle)
        {
            return .noConsent
        }
        if !offer.provided.contains(feature) { return .clientDoesNotProvide }
        return offer.optedOut.contains(feature) ? .tripOptedOut : nil
    }

    private static let withheldWithoutRoom = Profile.contentFeatures.map {
        FeatureGrant($0, withheld: .noCapacity)
    }

    /// What an endpoint does not get in a session, and why.
    func withheld(
        from endpoint: Endpoint, _ vehicle: VehicleID, in session: NavigationSession
    ) -> [FeatureGrant] {
        let offer = Offer(session, granted: self.clients[session.client]?.granted ?? [])
        if endpoint.place?.session == session.id, endpoint.place?.profile == .bare,
            self.profile(of: endpoint, vehicle, offer) != .bare
        {
            return Self.withheldWithoutRoom
        }
        return self.withheld(from: endpoint, vehicle, offer)
    }

    /// The same, if there is room for its profile.
    private func withheld(
        from endpoint: Endpoint, _ vehicle: VehicleID, _ offer: Offer
    ) -> [FeatureGrant] {
        Profile.contentFeatures.compactMap { feature in
            self.reasonToWithhold(feature, from: endpoint, vehicle, offer).map {
                FeatureGrant(feature, withheld: $0)
            }
        }
    }
}

extension Vehicle {
    /// How a session that this vehicle is not in has ended for it, as far as the gateway still knows.
    func end(of session: SessionID) -> SessionEnded {
        guard let lastEnd = self.lastEnd, lastEnd.session == session else {
            return SessionEnded(session: session, reason: .clientGone)
        }
        return lastEnd
    }
}
