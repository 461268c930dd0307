internal import DequeModule
internal import OrderedCollections
internal import WaymarkModel
internal import WaymarkProtocol

// What a session publishes, fitted to the profiles of its endpoints, and the snapshots for endpoints that enter it.
//
// Both are made by steps. Of all that waits, frames for endpoints that have their snapshot come first, so that a snapshot is sent when
// nothing published before it waits any more.
extension GatewaySession {
    // MARK: Fan-out

    /// Keeps frames for resumption and hands them to every audience, fitted to its profile.
    mutating func handOn(
        _ frames: PublishedFrames, _ rules: PublishingRules, _ batch: inout Batch,
        into actions: inout [Gateway.Action]
    ) {
        guard !frames.isEmpty else { return }
        self.replay.append(frames, rules.limits.replayBytesMax, &batch.replayRoom)
        var isFitted = false
        // Why by index: hashing a profile costs more than everything else here.
        for index in self.audiences.values.indices {
            if self.audiences.values[index].isFitted {
                isFitted = true
            } else {
                batch.units += self.audiences.values[index].memberCount
                actions.append(.publish(self.audiences.values[index].id, frames))
            }
        }
        if isFitted { self.handOnFitted(frames, rules, &batch, into: &actions) }
    }

    /// Hands frames to the audiences that get them fitted: at once as far as that costs little, else by steps.
    private mutating func handOnFitted(
        _ frames: PublishedFrames, _ rules: PublishingRules, _ batch: inout Batch,
        into actions: inout [Gateway.Action]
    ) {
        var publications = self.applyToRoute(frames, rules.coder)
        for index in self.snapshots.indices {
            self.snapshots[index].queue.append(frames)
            batch.needsFitting = true
        }
        let route = self.route ?? StoredRoute()
        let unitsMax = batch.units + rules.fittingUnitsMax
        for audience in self.audiences.values.indices {
            guard self.audiences.values[audience].isFitted, !self.audiences.values[audience].isPending else {
                continue
            }
            guard batch.units < unitsMax, self.routeFrames.isEmpty,
                self.audiences.values[audience].mayFitAtOnce(frames)
            else {
                self.audiences.values[audience].fittings[0].queue.append(frames)
                batch.needsFitting = true
                continue
            }
            var fitted = PublishedFrames()
            batch.units += WorkMeter.units(ofFitted: frames.byteCount)
            for index in frames.indices {
                // Why not `if var`: the view must be changed in place, not copied.
                batch.units +=
                    self.audiences.values[audience].fittings[0].queue
                    .fit(
                        frames, index, &publications[index - frames.indices.lowerBound],
                        unitsMax: unitsMax - batch.units, route, rules, into: &fitted)
            }
            if self.audiences.values[audience].hasUnfitted { batch.needsFitting = true }
            guard !fitted.isEmpty else { continue }
            batch.units += self.audiences.values[audience].memberCount
            self.audiences.values[audience].fittings[0].replay
                .append(fitted, rules.limits.replayBytesMax, &batch.replayRoom)
            actions.append(.publish(self.audiences.values[audience].id, fitted))
        }
    }

    /// Applies frames to the route, if an endpoint stores a part of it.
    ///
    /// - Returns: What was decoded for that, at the index of its frame.
    private mutating func applyToRoute(_ frames: PublishedFrames, _ coder: BodyCoder) -> [DecodedPublication?]
    {
        var publications: [DecodedPublication?] = []
        for index in frames.indices {
            var publication: DecodedPublication?
            if self.route != nil, frames.outlines[index].isOfStoredRoute {
                if self.routeFrames.isEmpty {
                    publication = coder.decode(frames.frame(at: index))
                    if let publication { self.route?.apply(publication.content, publication.unknown) }
                } else {
                    self.routeFrames.append(frames.frame(at: index).compacted())
                }
            }
            publications.append(publication)
        }
        return publications
    }

    // MARK: Steps

    /// What a part of the work led to.
    enum Fitted: Sendable, Hashable {
        /// Nothing to send yet.
        case nothing
        case publish(AudienceID, PublishedFrames)
        /// The snapshot that this endpoint waits for can be sent, or begun.
        case snapshot(EndpointPath)
    }

    /// Whether frames wait to be fitted for endpoints that have their snapshot.
    var hasUnfitted: Bool { self.audiences.values.contains(where: \.hasUnfitted) }

    /// Does a part of what waits.
    ///
    /// - Returns: What that led to, and the work; nil if nothing waits.
    mutating func fitMore(
        _ rules: PublishingRules, _ memory: inout MemoryLedger
    ) -> (result: Fitted, units: Int)? {
        if !self.routeFrames.isEmpty { return (.nothing, self.buildRoute(rules)) }
        let route = self.route ?? StoredRoute()
        var fitted = PublishedFrames()
        if let index = self.audiences.values.firstIndex(where: \.hasUnfitted) {
            let units = self.audiences.values[index].fittings[0].queue
                .fit(unitsMax: rules.fittingUnitsMax, route, rules, into: &fitted)
            var room = memory.replayRoom(of: self.userIndex, rules.limits)
            self.audiences.values[index].fittings[0].replay
                .append(fitted, rules.limits.replayBytesMax, &room)
            memory.set(self.id, self.kept)
            let result =
                fitted.isEmpty ? Fitted.nothing : .publish(self.audiences.values[index].id, fitted)
            return (result, units)
        }
        for index in self.snapshots.indices where !self.snapshots[index].queue.isEmpty {
            return (.nothing, self.snapshots[index].fit(route, rules))
        }
        if let path = self.waiting.popFirst() { return (.snapshot(path), 1) }
        self.snapshots = []
        return nil
    }

    // MARK: The route

    /// Begins to read the route, for the first endpoint that stores a part of it only.
    private mutating func beginRoute() {
        self.route = StoredRoute()
        self.routeFrames = Deque(
            self.retained.frames.filter { PublicationRule.rule(for: $0.header.rawType).isOfStoredRoute })
    }

    /// Reads some of the frames that make up the route.
    private mutating func buildRoute(_ rules: PublishingRules) -> Int {
        var units = 0
        while units < rules.fittingUnitsMax, let frame = self.routeFrames.popFirst() {
            units += WorkMeter.units(ofFitted: frame.bytes.count)
            if let publication = rules.coder.decode(frame) {
                self.route?.apply(publication.content, publication.unknown)
            }
        }
        // The newest publications may name none.
        if self.routeFrames.isEmpty {
            self.route?.name(self.content.lastUpcoming, self.content.lastLaneGuidance)
        }
        return units
    }

    /// Rebuilds the route from the retained frames, after the rest of the state was read.
    mutating func restoreRoute(_ coder: BodyCoder) {
        guard self.audiences.keys.contains(where: \.isWindowed) else { return }
        self.beginRoute()
        let rules = PublishingRules(limits: GatewayLimits(), coder: coder, fittingUnitsMax: .max)
        _ = self.buildRoute(rules)
    }

    // MARK: Audiences

    /// What an endpoint is sent when it enters the session.
    struct Entry: Sendable, Hashable {
        var audience: AudienceID
        var kind: SnapshotBegin.Kind
        /// As the snapshot that was begun, when the session had published up to `sequence`.
        var frames: [Frame]
        var sequence: UInt64
        /// What was published while the snapshot was fitted.
        var later: [Frame] = []
    }

    /// Adds an endpoint of `profile`. It waits for its snapshot, see ``entry(_:after:_:)``.
    mutating func enter(_ profile: Profile, _ path: EndpointPath, newID: AudienceID) {
        self.memberCount += 1
        if let index = self.audiences.index(forKey: profile) {
            self.audiences.values[index].memberCount += 1
        } else {
            var audience = Audience(id: newID, memberCount: 1)
            if !profile.isIdentity {
                audience.fittings = [Audience.Fitting(profile, after: self.sequence)]
            }
            self.audiences[profile] = audience
        }
        if profile.isWindowed, self.route == nil { self.beginRoute() }
        self.waiting.append(path)
    }

    /// What an endpoint of `profile` is sent that has entered, once nothing waits to be fitted; nil if its snapshot must be fitted
    /// first. Then the endpoint waits again.
    ///
    /// `sequence` is the last number that it received in this session with the same profile; nil for none.
    mutating func entry(
        _ profile: Profile, after sequence: UInt64?, _ snapshots: inout SnapshotBook
    ) -> Entry? {
        guard let audience = self.audiences[profile] else { return nil }
        var entry = Entry(audience: audience.id, kind: .full, frames: [], sequence: self.sequence)
        if let sequence, let missed = self.missed(after: sequence, audience) {
            (entry.kind, entry.frames) = (.missed, missed)
        } else if profile.isIdentity {
            entry.frames = self.retained.frames
        } else if let snapshot = self.snapshots.first, snapshot.profile == profile {
            self.take(snapshot, &entry, &snapshots)
        } else if audience.isFitted, !audience.isPending,
            let frames = snapshots.frames(of: self.id, profile, at: self.sequence)
        {
            entry.frames = frames
        } else {
            self.snapshots = [SnapshotWork(profile, self.retained, at: self.sequence)]
            return nil
        }
        return entry
    }

    /// Takes the snapshot that was fitted.
    private mutating func take(
        _ snapshot: SnapshotWork, _ entry: inout Entry, _ snapshots: inout SnapshotBook
    ) {
        let profile = snapshot.profile
        (entry.frames, entry.later) = snapshot.result
        if !entry.later.isEmpty {
            entry.sequence = snapshot.sequence
        } else {
            snapshots.keep(entry.frames, of: self.id, profile, at: self.sequence)
            self.snapshots = []
        }
        guard self.audiences[profile]?.isPending == true else { return }
        // Its state is that of a view that fitted all publications.
        self.audiences[profile]?.fittings = [Audience.Fitting(snapshot.queue, after: self.sequence)]
    }

    /// The number up to which the endpoints of a profile were sent what was published.
    func sequenceHandedOn(_ profile: Profile) -> UInt64 {
        let waiting = self.audiences[profile]?.fittings.first?.queue.nextSequence
        return waiting.map { $0 - 1 } ?? self.sequence
    }

    /// Removes an endpoint, and its audience if that has no other.
    mutating func leave(_ profile: Profile) {
        guard let index = self.audiences.index(forKey: profile) else { return }
        self.memberCount -= 1
        self.audiences.values[index].memberCount -= 1
        guard self.audiences.values[index].memberCount == 0 else { return }
        self.audiences.remove(at: index)
        if self.snapshots.first?.profile == profile { self.snapshots = [] }
        if !self.audiences.keys.contains(where: \.isWindowed) { (self.route, self.routeFrames) = (nil, []) }
    }

    /// The frames after `sequence`; nil if some are no longer kept.
    private func missed(after sequence: UInt64, _ audience: Audience) -> [Frame]? {
        guard sequence <= self.sequence, !audience.isPending else { return nil }
        return (audience.fittings.first?.replay ?? self.replay).frames(after: sequence)
    }

    /// Drops what was published while the trip shared more: an endpoint that resumes gets a snapshot instead.
    mutating func forgetReplay() {
        self.replay = ReplayRing(after: self.sequence)
        for index in self.audiences.values.indices {
            guard self.audiences.values[index].isFitted else { continue }
            self.audiences.values[index].fittings[0].replay = ReplayRing(after: self.sequence)
        }
        self.snapshots = []
    }
}

/// A snapshot that is being fitted: the retained frames, and behind them what is published meanwhile.
struct SnapshotWork: Sendable, Hashable {
    let profile: Profile
    /// The last number of the session when it began.
    let sequence: UInt64
    var queue: FittingQueue
    private var frames: [Frame] = []
    /// The key of each frame; nil for an event.
    private var keys: [ConflationKey?] = []

    init(_ profile: Profile, _ retained: RetainedState, at sequence: UInt64) {
        self.profile = profile
        self.sequence = sequence
        self.queue = FittingQueue(view: FittedView(profile: profile))
        for (frame, key) in retained.entries { self.queue.append(frame, key) }
    }

    /// - Returns: The work.
    mutating func fit(_ route: StoredRoute, _ rules: GatewaySession.PublishingRules) -> Int {
        var fitted = PublishedFrames()
        let units = self.queue.fit(unitsMax: rules.fittingUnitsMax, route, rules, into: &fitted)
        for (frame, key) in fitted.frames {
            self.frames.append(frame)
            self.keys.append(key)
        }
        return units
    }

    /// The snapshot, with the newest value of each state, and what was published since it began.
    var result: (snapshot: [Frame], later: [Frame]) {
        var newer: Set<ConflationKey> = []
        var snapshot: [Frame] = []
        var later: [Frame] = []
        for (frame, key) in zip(self.frames, self.keys).reversed() {
            if frame.header.sequence > self.sequence {
                later.append(frame)
            } else if key.map({ newer.insert($0).inserted }) ?? true {
                snapshot.append(frame)
            }
        }
        return (snapshot.reversed(), later.reversed())
    }
}

extension ReplayRing {
    /// Keeps frames within `byteCountMax`, and takes what that needs from `room`.
    fileprivate mutating func append(_ frames: PublishedFrames, _ byteCountMax: Int, _ room: inout Int) {
        guard !frames.isEmpty else { return }
        let before = self.byteCount
        self.append(frames, byteCountMax: min(byteCountMax, before + room))
        room -= self.byteCount - before
    }
}
