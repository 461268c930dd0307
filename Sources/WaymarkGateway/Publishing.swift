internal import WaymarkModel
internal import WaymarkProtocol

// What clients publish: checked, retained, handed to every audience.
extension Gateway {
    mutating func publish(
        _ frame: Frame, _ outline: PublicationOutline, from connection: ConnectionID, at now: Instant,
        into actions: inout [Action]
    ) {
        let id = frame.header.session
        // Else taken over, with frames on their way.
        guard case .client(let clientID) = self.peers[connection] else { return }
        guard let client = self.clients[clientID], client.sessions.contains(id),
            let place = self.sessions.index(forKey: id)
        else {
            let rejection = Rejection(
                .unknownSession, reason: "session \(id.rawValue) is not open for this client")
            return self.refuse(frame, rejection, connection, into: &actions)
        }
        do {
            try self.checkFlags(of: frame)
            try self.checkProvided(outline, by: client)
            try self.checkShare(outline, in: id)
            let acceptance = try self.sessions.values[place].publish(
                frame, outline, self.policy.limits, &self.memory, self.coder, into: &actions)
            self.counters.framesPublished += 1
            switch acceptance {
            case .unchanged: self.counters.framesUnchanged += 1
            case .published: self.follow(outline, in: id, at: now, into: &actions)
            }
        } catch {
            self.sessions.values[place].skip(frame.header.sequence)
            self.refuse(frame, error, connection, into: &actions)
        }
    }

    /// Uses up the number of a frame that the codec refused.
    mutating func skip(_ header: FrameHeader, from connection: ConnectionID) {
        guard case .client(let client) = self.peers[connection],
            self.sessions[header.session]?.client == client
        else { return }
        self.counters.framesRejected += 1
        self.sessions[header.session]?.skip(header.sequence)
    }

    /// Brings the books up to what a session keeps now.
    mutating func account(for session: SessionID) {
        if let kept = self.sessions[session]?.kept { self.memory.set(session, kept) }
    }

    private mutating func refuse(
        _ frame: Frame, _ rejection: Rejection, _ connection: ConnectionID, into actions: inout [Action]
    ) {
        self.counters.framesRejected += 1
        actions.append(.send(connection, Envelope(.error(rejection.of(frame.header)))))
    }

    /// What follows from a publication beside handing it on.
    private mutating func follow(
        _ outline: PublicationOutline, in id: SessionID, at now: Instant, into actions: inout [Action]
    ) {
        switch outline {
        case .startGuidance(_, let generation, _):
            self.note(.started(generation: generation), of: self.sessions[id], into: &actions)
        case .pauseGuidance(let reason):
            self.note(.paused(reason), of: self.sessions[id], into: &actions)
        case .resumeGuidance(let generation, let route):
            let turn = route == nil ? Note.Turn.resumed : .rerouted(generation: generation)
            self.note(turn, of: self.sessions[id], into: &actions)
        case .shareDestination(let share): self.share(share, in: id, at: now, into: &actions)
        case .finishGuidance: self.endSession(id, .finished, at: now, into: &actions)
        case .cancelGuidance: self.endSession(id, .cancelledByClient, at: now, into: &actions)
        case .tripPreviews, .updateTrip, .addManeuvers, .addLaneGuidances, .addRouteSegments,
            .upcomingManeuvers, .currentLaneGuidance, .currentRoadName, .maneuverState, .tripEstimates,
            .maneuverEstimates, .currentRouteSegment, .showAlert, .dismissAlert, .unrecognized:
            break
        }
    }

    // MARK: What a client may publish

    private func checkFlags(of frame: Frame) throws(Rejection) {
        guard frame.header.flags.isDisjoint(with: .forGateway) else {
            throw Rejection(
                .outOfRange, field: "flags", reason: "GATEWAY and FITTED are for the gateway to set")
        }
    }

    private func checkProvided(_ outline: PublicationOutline, by client: Client) throws(Rejection) {
        for feature in outline.features where !client.hello.features.contains(feature) {
            throw Rejection(.notGranted, reason: "the client's Hello did not say that it provides \(feature)")
        }
    }

    // MARK: Destination sharing

    private func checkShare(_ outline: PublicationOutline, in id: SessionID) throws(Rejection) {
        guard case .shareDestination(let share) = outline, let session = self.sessions[id] else { return }
        if session.openShares.contains(where: { $0.id == share }) {
            throw Rejection(.duplicate, field: "share_id", reason: "the share \(share) is under way")
        }
        guard Set(session.openShares.map(\.id)).count < self.policy.limits.sharesOpenMax else {
            throw Rejection(.limitReached, reason: "too many destination shares are under way")
        }
    }

    private mutating func share(
        _ id: String, in session: SessionID, at now: Instant, into actions: inout [Action]
    ) {
        guard let vehicles = self.sessions[session]?.vehicles else { return }
        for vehicle in vehicles {
            let share = Share(session: session, vehicle: vehicle, id: id)
            self.sessions[session]?.openShares.insert(share)
            self.tell(share, .willShare, into: &actions)
            let isTaken = self.vehicles[vehicle]?.connections.contains { _, _, endpoint in
                self.reasonToWithhold(.destinationSharing, from: endpoint, vehicle) == nil
            }
            if isTaken == true {
                self.deadlines.set(.share(share), at: now + self.policy.limits.shareTimeout)
            } else {
                let isThere = self.vehicles[vehicle]?.isConnected == true
                self.endShare(share, .didFailToShare(isThere ? .notSupported : .gone), into: &actions)
            }
        }
    }

    /// Ends a share, unless it has ended before.
    mutating func endShare(
        _ share: Share, _ stage: DestinationShareStatus.Stage, into actions: inout [Action]
    ) {
        guard self.sessions[share.session]?.openShares.remove(share) != nil else { return }
        self.deadlines.remove(.share(share))
        self.tell(share, stage, into: &actions)
    }

    /// Ends all shares with one vehicle.
    mutating func endShares(
        with vehicle: VehicleID, in session: SessionID, _ outcome: Outcome, into actions: inout [Action]
    ) {
        let shares = self.sessions[session]?.openShares.filter { $0.vehicle == vehicle } ?? []
        for share in shares.sorted(by: { $0.id < $1.id }) {
            self.endShare(share, .didFailToShare(outcome), into: &actions)
        }
    }

    private func tell(_ share: Share, _ stage: DestinationShareStatus.Stage, into actions: inout [Action]) {
        guard let client = self.sessions[share.session]?.client else { return }
        let status = DestinationShareStatus(shareID: share.id, vehicle: share.vehicle, stage: stage)
        self.tell(client, .destinationShareStatus(status), share.session, into: &actions)
    }
}

extension PublicationOutline {
    /// The features that a client must provide to publish this.
    fileprivate var features: [Feature] {
        switch self {
        case .tripPreviews: [.tripPreviews]
        case .startGuidance(_, _, let route): route.features
        case .resumeGuidance(_, let route): route?.features ?? []
        case .addManeuvers, .upcomingManeuvers, .maneuverState, .maneuverEstimates: [.maneuvers]
        case .addLaneGuidances, .currentLaneGuidance: [.laneGuidance]
        case .addRouteSegments, .currentRouteSegment: [.routeSegments]
        case .currentRoadName: [.currentRoadName]
        case .showAlert, .dismissAlert: [.navigationAlerts]
        case .shareDestination: [.destinationSharing]
        case .updateTrip, .tripEstimates, .pauseGuidance, .finishGuidance, .cancelGuidance, .unrecognized: []
        }
    }
}

extension PublicationOutline.Route {
    fileprivate var features: [Feature] {
        var features: [Feature] = []
        if !self.maneuvers.isEmpty { features.append(.maneuvers) }
        if !self.laneGuidances.isEmpty { features.append(.laneGuidance) }
        if !self.segments.isEmpty { features.append(.routeSegments) }
        return features
    }
}
