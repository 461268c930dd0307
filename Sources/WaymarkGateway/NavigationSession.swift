internal import OrderedCollections
internal import WaymarkModel
internal import WaymarkProtocol

/// One trip being guided on one vehicle or a set of them.
struct NavigationSession: Sendable, Hashable, Codable {
    let id: SessionID
    let client: ClientID
    /// The id of the request that opened it.
    let requestID: String
    let selection: VehicleSelection
    let receiptsEveryMilliseconds: UInt32
    /// Vehicles in it or awaited, in the order in which they came.
    var vehicles: [VehicleID] = []
    /// Vehicles that were in it and left, oldest first: a client that was away must be told.
    private(set) var left: OrderedDictionary<VehicleID, SessionEndReason> = [:]
    /// The client is away.
    var isSuspended = false
    var openShares: Set<Share> = []
    private(set) var content = SessionContent()
    /// The last sequence number used.
    private(set) var sequence: UInt64 = 0
    private(set) var retained = RetainedState()
    private(set) var audiences: OrderedDictionary<Profile, Audience> = [:]
    private(set) var replay = ReplayRing(after: 0)
    /// The route in full; nil while nobody stores a part of it.
    private var route: StoredRoute?

    /// What is written for the next process: all but the route, which is in ``retained``.
    private enum CodingKeys: CodingKey {
        case id, client, requestID, selection, receiptsEveryMilliseconds, vehicles, left, isSuspended,
            openShares
        case content, sequence, retained, audiences, replay
    }

    init(id: SessionID, client: ClientID, opening: OpenSession) {
        self.id = id
        self.client = client
        self.requestID = opening.requestID
        self.selection = opening.vehicles
        self.receiptsEveryMilliseconds = opening.receiptsEveryMilliseconds
    }

    /// Takes a vehicle in, or awaits it.
    mutating func take(_ vehicle: VehicleID) {
        self.vehicles.append(vehicle)
        self.left[vehicle] = nil
    }

    /// Lets the vehicle at `index` go.
    mutating func release(at index: Int, _ reason: SessionEndReason) {
        self.left[self.vehicles.remove(at: index)] = reason
        // In a session for any that asked they come and go.
        if self.left.count > ProtocolConstants.vehiclesPerSessionMax { self.left.removeFirst() }
    }

    /// What it keeps, in bytes.
    var kept: MemoryLedger.Bytes {
        var replay = self.replay.byteCount
        for index in self.audiences.values.indices {
            replay += self.audiences.values[index].fitting?.replay.byteCount ?? 0
        }
        return MemoryLedger.Bytes(retained: self.retained.byteCount, replay: replay)
    }

    // MARK: Publications

    /// Whether nothing of it was changed by a publication.
    enum Acceptance: Sendable, Hashable { case published, unchanged }

    /// Uses up the number of a frame that was refused before it got here.
    mutating func skip(_ sequence: UInt64) {
        if sequence == self.sequence + 1 { self.sequence = sequence }
    }

    /// Checks that a frame is the next one.
    private func checkSequence(of frame: Frame) throws(Rejection) {
        guard frame.header.sequence == self.sequence + 1 else {
            throw Rejection(
                .sequenceGap,
                reason: "the sequence number is \(frame.header.sequence), expected \(self.sequence + 1)")
        }
    }

    /// Checks the next frame, takes it over and hands it to every audience; `memory` is told what is kept then.
    ///
    /// The caller uses up the number of a frame that is refused, so that those behind it still fit.
    mutating func publish(
        _ frame: Frame, _ outline: PublicationOutline, _ limits: GatewayLimits, _ memory: inout MemoryLedger,
        _ coder: Gateway.Coder, into actions: inout [Gateway.Action]
    ) throws(Rejection) -> Acceptance {
        try self.checkSequence(of: frame)
        try self.checkMemory(for: frame, outline, limits, memory)
        self.sequence += 1
        try self.content.apply(outline, limits: limits)
        let key = outline.conflationKey
        if let key, self.retained.isUnchanged(frame, key) { return .unchanged }
        // Why: frames of one read share its array. One that is kept, here or in an outbox, must not pin all of it.
        let frame = frame.compacted()
        self.retained.apply(frame, outline)
        self.handOn(frame, outline, limits, memory, coder, into: &actions)
        memory.set(self.id, self.kept)
        return .published
    }

    private func checkMemory(
        for frame: Frame, _ outline: PublicationOutline, _ limits: GatewayLimits, _ memory: MemoryLedger
    ) throws(Rejection) {
        let byteCount = self.retained.byteCount(after: frame, outline)
        do throws(Rejection) { try memory.check(self.id, retaining: byteCount, limits) } catch {
            var error = error
            error.field = outline.contentField
            throw error
        }
    }

    /// Keeps a frame for resumption and hands it to every audience, cut to what that can show.
    private mutating func handOn(
        _ frame: Frame, _ outline: PublicationOutline, _ limits: GatewayLimits, _ memory: MemoryLedger,
        _ coder: Gateway.Coder, into actions: inout [Gateway.Action]
    ) {
        let key = outline.conflationKey
        // How many bytes one ring may have, and how many all rings may grow.
        var replay = (
            ringMax: limits.replayBytesMax, room: limits.replayBytesInAllMax - memory.total.replay
        )
        self.replay.append(frame, replay.ringMax, &replay.room)
        var publication: Publication?
        // Why by index: hashing a profile costs more than everything else here.
        for index in self.audiences.values.indices {
            let audience = self.audiences.values[index].id
            if self.audiences.values[index].fitting == nil {
                actions.append(.publish(audience, frame, key))
                continue
            }
            if publication == nil, let decoded = coder.decode(frame) {
                self.route?.apply(decoded)
                publication = decoded
            }
            let route = self.route ?? StoredRoute()
            // Why not `if var`: the view must be changed in place, not copied.
            let fitted = self.audiences.values[index].fitting?.view
                .fit(frame, publication, outline, route, coder)
            for (frame, outline) in fitted ?? [] {
                self.audiences.values[index].fitting?.replay.append(frame, replay.ringMax, &replay.room)
                actions.append(.publish(audience, frame, outline.conflationKey))
            }
        }
    }

    // MARK: Audiences

    /// What an endpoint is sent that comes in.
    struct Entry: Sendable, Hashable {
        var audience: AudienceID
        var kind: SnapshotBegin.Kind
        var frames: [Frame]
    }

    /// Lets an endpoint of `profile` in, and says what it must be sent; nil when there are too many profiles.
    ///
    /// `sequence` is the last number that it saw of this session with the same profile; nil if it knows nothing.
    mutating func enter(
        _ profile: Profile, after sequence: UInt64?, newID: @autoclosure () -> AudienceID,
        limits: GatewayLimits, coder: Gateway.Coder
    ) -> Entry? {
        if let audience = self.audiences[profile] {
            self.audiences[profile]?.memberCount += 1
            if let sequence, let missed = self.missed(after: sequence, audience) {
                return Entry(audience: audience.id, kind: .missed, frames: missed)
            }
            let frames =
                profile.isIdentity ? self.retained.frames : self.fittedSnapshot(profile, coder).frames
            return Entry(audience: audience.id, kind: .full, frames: frames)
        }
        guard self.audiences.count < limits.profilesPerSessionMax else { return nil }
        var audience = Audience(id: newID(), memberCount: 1)
        defer { self.audiences[profile] = audience }
        guard profile.isIdentity else {
            let (view, frames) = self.fittedSnapshot(profile, coder)
            audience.fitting = Audience.Fitting(view: view, replay: ReplayRing(after: self.sequence))
            return Entry(audience: audience.id, kind: .full, frames: frames)
        }
        // The session's own ring is its ring, also of the time before.
        if let sequence, let missed = self.missed(after: sequence, audience) {
            return Entry(audience: audience.id, kind: .missed, frames: missed)
        }
        return Entry(audience: audience.id, kind: .full, frames: self.retained.frames)
    }

    /// Takes a member out; an audience without members is forgotten.
    mutating func leave(_ profile: Profile) {
        self.audiences[profile]?.memberCount -= 1
        guard self.audiences[profile]?.memberCount == 0 else { return }
        self.audiences[profile] = nil
        if !self.audiences.keys.contains(where: \.isWindowed) { self.route = nil }
    }

    /// What an endpoint missed that saw `sequence` last; nil if that cannot be told.
    private func missed(after sequence: UInt64, _ audience: Audience) -> [Frame]? {
        guard sequence <= self.sequence else { return nil }
        return (audience.fitting?.replay ?? self.replay).frames(after: sequence)
    }

    /// Finds the route again, once everything else was read.
    mutating func restoreRoute(_ coder: Gateway.Coder) {
        guard self.audiences.keys.contains(where: \.isWindowed) else { return }
        self.route = self.storedRoute(self.retained.frames.compactMap { coder.decode($0) })
    }

    private func storedRoute(_ retained: [Publication]) -> StoredRoute {
        StoredRoute(
            retained: retained, upcoming: self.content.lastUpcoming,
            laneGuidance: self.content.lastLaneGuidance)
    }

    /// The retained frames, cut by a fresh view: it ends up as every view of the profile, whatever it has seen before.
    private mutating func fittedSnapshot(
        _ profile: Profile, _ coder: Gateway.Coder
    ) -> (view: FittedView, frames: [Frame]) {
        let retained = self.retained.frames.map { (frame: $0, publication: coder.decode($0)) }
        if profile.isWindowed, self.route == nil {
            self.route = self.storedRoute(retained.compactMap(\.publication))
        }
        var view = FittedView(profile: profile)
        let route = self.route ?? StoredRoute()
        let fitted = retained.flatMap { frame, publication in
            view.fit(frame, publication, publication?.outline ?? .unrecognized, route, coder)
        }
        var newer: Set<ConflationKey> = []
        let newest = fitted.reversed().filter { $0.1.conflationKey.map { newer.insert($0).inserted } ?? true }
        return (view, newest.reversed().map(\.0))
    }
}

extension ReplayRing {
    /// Keeps a frame within `byteCountMax`, and takes what that needs from `room`.
    fileprivate mutating func append(_ frame: Frame, _ byteCountMax: Int, _ room: inout Int) {
        let before = self.byteCount
        self.append(frame, byteCountMax: min(byteCountMax, before + room))
        room -= self.byteCount - before
    }
}

extension FittedView {
    /// Cuts a frame; `publication` is its content, nil for a type that this build does not know.
    fileprivate mutating func fit(
        _ frame: Frame, _ publication: Publication?, _ outline: PublicationOutline, _ route: StoredRoute,
        _ coder: Gateway.Coder
    ) -> [(Frame, PublicationOutline)] {
        // What is not known cannot be cut: it is passed on.
        guard let publication else { return [(frame, outline)] }
        switch self.fit(publication, route) {
        case .asReceived: return [(frame, outline)]
        case .fitted(let publications):
            return publications.map { publication in
                let envelope = Envelope(
                    .publication(publication), session: frame.header.session, sequence: frame.header.sequence,
                    flags: frame.header.flags.union(.fitted))
                return (coder.encode(envelope), publication.outline)
            }
        }
    }
}
