internal import WaymarkModel
internal import WaymarkProtocol

// Publications of clients: validated, retained, handed to every audience.
extension Gateway {
    mutating func publish(
        _ frames: PublishedFrames, from connection: ConnectionID, at now: Instant,
        into actions: inout [Action]
    ) {
        var next = frames.indices.lowerBound
        while next < frames.indices.upperBound {
            // What a frame leads to comes before the next frame, but for its fitting: of later states only the newest is fitted.
            if self.tourCount > 0, self.hasSteps(of: self.cause) {
                return self.queue(.publication(frames[next..<frames.indices.upperBound], connection))
            }
            // Otherwise another connection took over the client while frames were on their way.
            guard case .client(let client) = self.peers[connection] else { return }
            next = self.publish(frames, from: next, by: client, connection, at: now, into: &actions)
        }
    }

    /// Publishes consecutive frames of one session.
    ///
    /// - Returns: The index of the next frame.
    private mutating func publish(
        _ frames: PublishedFrames, from first: Int, by client: ClientID, _ connection: ConnectionID,
        at now: Instant, into actions: inout [Action]
    ) -> Int {
        let id = frames.ranges[first].header.session
        guard
            let permission = self.clients.index(forKey: client).map({
                self.clients.readValue(at: $0) { $0.permission }
            })
        else { return frames.indices.upperBound }
        guard let index = self.sessions.index(forKey: id),
            self.sessions.readValue(at: index, { $0.client }) == client
        else {
            if self.sessions.isTracked {
                let audience = CrossingAudience(
                    members: VehicleList(), client: client, sharesEverything: false)
                self.crossings.add(connection, frames[first..<first + 1], isRejected: true, audience)
            }
            let (header, outline) = (frames.ranges[first].header, frames.outlines[first])
            let rejection = Self.rejection(outsideOfSession: header, outline, by: permission)
            self.reject(header, rejection, connection, into: &actions)
            return first + 1
        }
        let before = self.sessions.isTracked ? self.observed(id, at: index) : nil
        let progress = self.sessions[unnotedAt: index].publish(
            frames, from: first, permission, at: now, self.rules, &self.memory, &self.counters,
            into: &actions)
        let last = progress.next - 1
        if let before {
            let after = self.observed(id, at: index)
            if after.record != before.record { self.sessions.note(index) }
            let audience = CrossingAudience(
                members: after.vehicles, client: client,
                sharesEverything: before.sharesEverything && after.sharesEverything)
            let end = progress.rejection == nil ? progress.next : last
            if first < end {
                self.crossings.add(connection, frames[first..<end], isRejected: false, audience)
            }
            if end == last {
                self.crossings.add(connection, frames[last..<progress.next], isRejected: true, audience)
            }
        }
        if progress.needsFitting { self.queue(.fit(id)) }
        if let rejection = progress.rejection {
            self.reject(frames.ranges[last].header, rejection, connection, into: &actions)
        } else {
            self.follow(frames.outlines[last], in: id, at: now, into: &actions)
        }
        if progress.changesOptOut { self.followOptOut(of: id, at: now) }
        if progress.endsSharing { self.purgeShares(of: id) }
        if progress.needsAcknowledgement {
            self.noteUnacknowledged(id, connection, at: now, into: &actions)
        }
        return progress.next
    }

    /// Why a frame for a session that is not the client's is rejected. Missing permission comes first.
    private static func rejection(
        outsideOfSession header: FrameHeader, _ outline: PublicationOutline,
        by permission: GatewaySession.Permission
    ) -> Rejection {
        do throws(Rejection) {
            try GatewaySession.checkPermission(for: header, outline, by: permission)
            return Rejection(
                .unknownSession, reason: "session \(header.session.rawValue) is not open for this client")
        } catch { return error }
    }

    /// Uses up the sequence number of a frame that the codec rejected.
    mutating func skip(
        _ header: FrameHeader, from connection: ConnectionID, at now: Instant, into actions: inout [Action]
    ) {
        guard case .client(let client) = self.peers[connection] else { return }
        self.counters.framesRejected += 1
        guard let index = self.sessions.index(forKey: header.session),
            self.sessions.readValue(at: index, { $0.client }) == client
        else { return }
        let needsAcknowledgement = self.sessions.withValue(at: index) {
            $0.skip(header.sequence)
            return $0.needsAcknowledgement
        }
        if needsAcknowledgement {
            self.noteUnacknowledged(header.session, connection, at: now, into: &actions)
        }
    }

    /// Updates the memory ledger with what a session keeps now.
    mutating func account(for session: SessionID) {
        if let kept = self.sessions[session]?.kept { self.memory.set(session, kept) }
    }

    private mutating func reject(
        _ header: FrameHeader, _ rejection: Rejection, _ connection: ConnectionID,
        into actions: inout [Action]
    ) {
        self.counters.framesRejected += 1
        actions.append(.send(connection, Envelope(.error(rejection.of(header)))))
    }

    /// Performs the effects of an event other than reaching the audiences.
    private mutating func follow(
        _ outline: PublicationOutline, in id: SessionID, at now: Instant, into actions: inout [Action]
    ) {
        guard case .event = outline.rule.kind else { return }
        switch outline.type {
        case .startGuidance:
            self.note(.started(generation: outline.generation), of: self.sessions[id], into: &actions)
        case .pauseGuidance:
            guard case .pause(let reason) = outline.content else { return }
            self.note(.paused(reason), of: self.sessions[id], into: &actions)
        case .resumeGuidance:
            let turn =
                outline.route == nil ? Note.Turn.resumed : .rerouted(generation: outline.generation)
            self.note(turn, of: self.sessions[id], into: &actions)
        case .shareDestination:
            guard case .share(let share, _) = outline.content else { return }
            self.share(share, in: id)
        case .finishGuidance: self.endFitted(id, .finished, into: &actions)
        case .cancelGuidance: self.endFitted(id, .cancelledByClient, into: &actions)
        default: break  // The others only reach the audiences.
        }
    }

    /// Ends a session for which nothing more is published, once all of it is fitted.
    mutating func endFitted(
        _ id: SessionID, _ reason: SessionEndReason, into actions: inout [Action]
    ) {
        guard self.sessions[id]?.hasUnfitted == true else {
            return self.endSession(id, reason, into: &actions)
        }
        self.queue(.fit(id))
        self.queue(.end(id, reason))
    }

    /// A step: fits some of what waits, and sends snapshots.
    mutating func fitMore(of id: SessionID, at now: Instant, into actions: inout [Action]) {
        if self.fitWhileInBudget(id, at: now, into: &actions) { self.putBack(.fit(id)) }
    }

    /// Fits what waits, and sends snapshots, as far as the budget goes.
    ///
    /// - Returns: Whether more waits.
    mutating func fitWhileInBudget(_ id: SessionID, at now: Instant, into actions: inout [Action]) -> Bool {
        let rules = self.rules
        repeat {
            guard let (result, units) = self.sessions[id]?.fitMore(rules, &self.memory) else { return false }
            self.counters.work.visit(units)
            switch result {
            case .nothing: break
            case .publish(let audience, let fitted): actions.append(.publish(audience, fitted))
            case .snapshot(let path): self.sendSnapshot(of: id, to: path, at: now, into: &actions)
            }
        } while self.hasBudget
        return true
    }

    // MARK: Destination sharing

    private mutating func share(_ id: Identifier, in session: SessionID) {
        self.sessions[session]?.mayQueueShares = true
        self.sessions[session]?.retainShare(id)
        self.begin(.share(id), of: session)
    }

    /// Offers a destination to a vehicle.
    mutating func offer(
        _ id: Identifier, to vehicle: VehicleID, in session: SessionID, at now: Instant,
        into actions: inout [Action]
    ) {
        let share = Share(session: session, vehicle: vehicle, id: id)
        self.sessions[session]?.retainShare(id)
        self.vehicles[vehicle]?.shares.append(id)
        self.tell(share, .willShare, into: &actions)
        let isOffered = self.vehicles[vehicle]?.connections.contains { _, _, endpoint in
            endpoint.audience != nil && endpoint.membership?.profile.allows(.destinationSharing) == true
        }
        if isOffered == true {
            self.deadlines.set(.share(share), at: now + self.policy.limits.shareTimeout)
        } else {
            let isConnected = self.vehicles[vehicle]?.isConnected == true
            self.endShare(share, .didFailToShare(isConnected ? .notSupported : .gone), into: &actions)
        }
    }

    /// Ends a share, unless it has ended before.
    mutating func endShare(
        _ share: Share, _ stage: DestinationShareStatus.Stage, into actions: inout [Action]
    ) {
        guard let vehicle = self.vehicles[share.vehicle],
            (vehicle.leaving?.session ?? vehicle.session) == share.session,
            let index = vehicle.shares.firstIndex(of: share.id)
        else { return }
        self.vehicles[share.vehicle]?.shares.remove(at: index)
        self.sessions[share.session]?.releaseShare(share.id)
        self.deadlines.remove(.share(share))
        self.tell(share, stage, into: &actions)
    }

    /// Ends all shares with one vehicle.
    mutating func endShares(with id: VehicleID, _ outcome: Outcome, into actions: inout [Action]) {
        guard let vehicle = self.vehicles[id], let session = vehicle.leaving?.session ?? vehicle.session
        else { return }
        for share in vehicle.shares.sorted() {
            self.endShare(
                Share(session: session, vehicle: id, id: share), .didFailToShare(outcome), into: &actions)
        }
    }

    private func tell(_ share: Share, _ stage: DestinationShareStatus.Stage, into actions: inout [Action]) {
        let status = DestinationShareStatus(shareID: share.id, vehicle: share.vehicle, stage: stage)
        self.tellHolder(of: share.session, .destinationShareStatus(status), into: &actions)
    }
}
