internal import DequeModule
internal import OrderedCollections
internal import WaymarkModel
internal import WaymarkProtocol

/// Guidance of one trip, for one vehicle or several.
struct GatewaySession: Sendable, Hashable, Codable {
    let id: SessionID
    /// How many sessions were opened before it. Ids do not tell: they begin at random and wrap around.
    let ordinal: UInt64
    let client: ClientID
    let user: Principal
    /// Its user's index in the memory ledger.
    var userIndex: MemoryLedger.UserIndex = 0
    /// The id of the request that opened it.
    let requestID: Identifier
    let selection: VehicleSelection
    let receiptsEveryMilliseconds: UInt32
    /// Vehicles in it or awaited, in the order in which they came.
    private(set) var vehicles = VehicleList()
    /// What is under way for each of its vehicles, in the order in which it began.
    var tours: [Tour] = []
    /// The number of the last tour.
    var tourNumber: UInt64 = 0
    /// How it ended; nil before.
    var ending: Ending?
    /// What a report of receipts has so far.
    var receipts: [EndpointReceipt] = []
    /// Vehicles that were in it and left, oldest first: a client that was away must be told.
    private(set) var left: OrderedDictionary<VehicleID, SessionEndReason> = [:]
    /// The client is disconnected.
    var isSuspended = false
    /// The ids of open shares, each with the number of vehicles that have not answered, and one while it is being offered.
    private(set) var openShares: OrderedDictionary<Identifier, Int> = [:]
    /// Who uses which of its profiles.
    var profileUse = ProfileUse()
    /// A ShareDestination may wait for an endpoint.
    var mayQueueShares = false
    /// Endpoints get no segments because the trip has opted out, and until an opt-in takes effect.
    var withholdsSegments = false
    /// When the next opt-in may take effect.
    var nextOptIn = Instant(nanoseconds: 0)
    /// What its client was granted, now or before: the content has nothing that needs another feature.
    var providedFeatures: FeatureSet
    /// The extensions that its client uses, and those of states that it published before: the content has no other. In order.
    private(set) var extensions: [ExtensionName]
    private(set) var content = SessionContent()
    /// The last sequence number that its client used.
    private(set) var sequence: UInt64 = 0
    /// The instants at which the newest publications were accepted; none unless the client wants receipts.
    // Why in an array: sessions are moved as a whole, and few have it.
    private var publishedTimes: [PublishedTimes] = []
    /// When the last publication was accepted; nil for none.
    private(set) var lastPublished: Instant?
    /// The instant at which the newest estimates of those that the session has were accepted; nil if it has none.
    private(set) var lastEstimated: Instant?
    var acknowledged = AcknowledgedNumbers(upTo: 0)
    private(set) var retained = RetainedState()
    var audiences: OrderedDictionary<Profile, Audience> = [:]
    /// Endpoints in all audiences, including those in their grace time.
    var memberCount: UInt64 = 0
    var replay = ReplayRing(after: 0)
    /// The whole route; nil while no endpoint stores a part of it only.
    var route: StoredRoute?
    /// Frames that ``route`` does not contain yet. While there are some, nothing is fitted.
    var routeFrames: Deque<Frame> = []
    /// Endpoints that wait for their snapshot, in the order in which they came. Some of them may have left.
    var waiting: Deque<EndpointPath> = []
    /// The snapshot that is being fitted for the first of them. One at a time, so that all of them take no more memory than what
    /// sessions retain. Why an array: it is large and rare, and sessions are copied.
    var snapshots: [SnapshotWork] = []

    /// What is coded for the next process: all but what steps work on, and the route, which ``restoreRoute(_:)`` rebuilds from
    /// ``retained``.
    private enum CodingKeys: CodingKey {
        case id, ordinal, client, user, userIndex, requestID, selection, receiptsEveryMilliseconds, vehicles,
            left,
            tourNumber, isSuspended, profileUse,
            openShares, mayQueueShares, withholdsSegments, nextOptIn, providedFeatures, extensions
        case content, sequence, publishedTimes, lastPublished, lastEstimated, acknowledged, retained,
            audiences,
            memberCount,
            replay
    }

    init(
        id: SessionID, ordinal: UInt64, client: ClientID, _ user: Principal, providing features: FeatureSet,
        _ extensions: [ExtensionName], opening: OpenSession
    ) {
        self.id = id
        self.ordinal = ordinal
        self.client = client
        self.user = user
        self.providedFeatures = features
        self.extensions = Set(extensions).sorted()
        self.requestID = opening.requestID
        self.selection = opening.vehicles
        self.receiptsEveryMilliseconds = opening.receiptsEveryMilliseconds
    }

    /// How a session ended, for the vehicles that were not told yet.
    struct Ending: Sendable, Hashable, Codable {
        let reason: SessionEndReason
        /// Whether vehicles get SessionEnded. If not, they get the client's own FinishGuidance or CancelGuidance.
        let tellsVehicles: Bool
        /// The connection of the client then. Another one is told by Welcome.
        let connection: ConnectionID?
    }

    /// The client has come again, and uses these extensions.
    mutating func setExtensions(_ extensions: [ExtensionName]) {
        self.extensions = Set(extensions + self.content.extensions).sorted()
    }

    /// Adds a vehicle, connected or awaited, and returns its place.
    mutating func add(_ vehicle: VehicleID) -> VehicleList.Place {
        self.left[vehicle] = nil
        return self.vehicles.append(vehicle)
    }

    /// Removes a vehicle.
    mutating func remove(_ vehicle: VehicleID, at place: VehicleList.Place, _ reason: SessionEndReason) {
        self.vehicles.remove(place)
        self.left[vehicle] = reason
        // In a session for any vehicle that asked, vehicles may leave without end.
        if self.left.count > ProtocolConstants.vehiclesPerSessionMax { self.left.removeFirst() }
    }

    /// Counts a vehicle that has not answered a share, or that the share is being offered.
    mutating func retainShare(_ id: Identifier) { self.openShares[id, default: 0] += 1 }

    mutating func releaseShare(_ id: Identifier) {
        guard let count = self.openShares[id] else { return }
        self.openShares[id] = count == 1 ? nil : count - 1
    }

    /// The memory of the frames that it keeps.
    var kept: MemoryLedger.Bytes {
        Self.kept(self.retained.byteCount, self.replay.byteCount, self.audiences)
    }

    /// The same. Why mutating: otherwise the session, which is being changed, is copied for each frame.
    private mutating func readKept() -> MemoryLedger.Bytes {
        Self.kept(self.retained.byteCount, self.replay.byteCount, self.audiences)
    }

    private static func kept(
        _ retained: Int, _ replay: Int, _ audiences: OrderedDictionary<Profile, Audience>
    ) -> MemoryLedger.Bytes {
        var bytes = MemoryLedger.Bytes(retained: retained, replay: replay)
        for index in audiences.values.indices { bytes.replay += audiences.values[index].replayByteCount }
        return bytes
    }

    // MARK: Publications

    /// How far ``publish(_:from:_:at:_:_:_:into:)`` has come.
    struct Progress: Sendable, Hashable {
        /// The first frame that it has not looked at.
        var next: Int
        /// Why the one before that was refused.
        var rejection: Rejection?
        /// The trip shares more or less than what endpoints get now.
        var changesOptOut = false
        /// A preview whose destination may wait for endpoints no longer shares it.
        var endsSharing = false
        /// Steps must fit frames to some profiles.
        var needsFitting = false
        /// See ``Gateway/noteUnacknowledged(_:_:at:into:)``.
        var needsAcknowledgement = false
    }

    /// Whether a publication changed the session.
    private enum Effect: Sendable, Hashable { case published, unchanged }

    /// The features and extensions that a client may publish.
    struct Permission: Sendable {
        let features: FeatureSet
        let extensions: [ExtensionName]
    }

    /// What a batch has changed so far. Apart from ``PublishingRules``, so that those are not copied for each frame.
    struct Batch {
        /// The grant of the client.
        let permission: Permission
        /// How many bytes the replay rings of all sessions may still grow.
        var replayRoom: Int
        /// States that were accepted: the key, and the last frame with it. Few, see ``newStatesMax``.
        var newStates: [(key: ConflationKey, index: Int)] = []
        /// How many more bytes the session will retain with them.
        var growth = 0
        /// The work so far, see ``WorkMeter``.
        var units = 0
        /// Frames were queued to be fitted by steps.
        var needsFitting = false

        /// Searching a longer list costs more than retaining the states one by one.
        static let newStatesMax = 32
    }

    /// Uses up the number of a frame that the codec rejected.
    mutating func skip(_ sequence: UInt64) {
        if sequence == self.sequence + 1 { self.sequence = sequence }
    }

    /// Whether the client must be told of numbers that it has used up, now or later.
    var needsAcknowledgement: Bool {
        mutating get { self.sequence >= self.acknowledged.next }
    }

    /// Welcome tells the client the last number.
    mutating func acknowledgeAll() { self.acknowledged = AcknowledgedNumbers(upTo: self.sequence) }

    /// Validates the frames from `first` on, applies them, and hands them to every audience.
    ///
    /// Stops after an event, after a trip that changes what is shared, after a refused frame (its number is used up), and before
    /// a frame of another session.
    ///
    /// - Returns: What comes next, and why the last one was refused, if it was.
    mutating func publish(
        _ frames: PublishedFrames, from first: Int, _ permission: Permission, at now: Instant,
        _ rules: PublishingRules, _ memory: inout MemoryLedger, _ counters: inout Gateway.Counters,
        into actions: inout [Gateway.Action]
    ) -> Progress {
        let kept = self.readKept()
        let trip = self.content.trip
        let previewOptOuts = self.mayQueueShares ? self.content.previewOptOuts : nil
        let sequence = self.sequence
        var batch = Batch(
            permission: permission, replayRoom: memory.replayRoom(of: self.userIndex, rules.limits))
        var progress = Progress(next: first)
        // Applied and not yet handed to the audiences.
        var applied = first..<first
        loop: while progress.next < frames.indices.upperBound {
            let index = progress.next
            let header = frames.ranges[index].header
            guard header.session == self.id else { break loop }
            let key = frames.outlines[index].conflationKey
            progress.next += 1
            do throws(Rejection) {
                switch try self.apply(frames, index, key, rules, memory, &batch) {
                case .published:
                    applied = applied.lowerBound..<progress.next
                    counters.deliveries.add(self.memberCount, ofType: header.rawType)
                case .unchanged:
                    counters.framesUnchanged += 1
                    self.handOn(frames[applied], rules, &batch, into: &actions)
                    applied = progress.next..<progress.next
                }
                counters.framesPublished.add(ofType: header.rawType)
                if let isNew = frames.outlines[index].hasEstimates { self.lastEstimated = isNew ? now : nil }
            } catch {
                self.skip(frames.ranges[index].header.sequence)
                progress.rejection = error
                break loop
            }
            progress.endsSharing =
                previewOptOuts.map { $0 != self.content.previewOptOuts } ?? false
            if key == nil || self.content.trip != trip {
                progress.changesOptOut =
                    self.content.withholdsSegments != self.withholdsSegments
                    || (self.mayQueueShares && !self.content.trip.isDestinationShareable)
                break loop
            }
            if progress.endsSharing { break loop }
        }
        self.retainNewStates(frames, &batch)
        self.handOn(frames[applied], rules, &batch, into: &actions)
        if progress.endsSharing || self.content.trip.sharesLess(than: trip) { self.forgetReplay() }
        let keptNow = self.readKept()
        if keptNow != kept { memory.set(self.id, keptNow) }
        if progress.rejection == nil || progress.next > first + 1 { self.lastPublished = now }
        let isUsedUp =
            progress.rejection != nil
            && frames.ranges[progress.next - 1].header.sequence == self.sequence
        self.notePublished(after: sequence, upTo: isUsedUp ? self.sequence - 1 : self.sequence, at: now)
        progress.needsFitting = batch.needsFitting
        progress.needsAcknowledgement = self.needsAcknowledgement
        counters.work.visit(batch.units + progress.next - first)
        return progress
    }

    /// The instants at which the newest publications were accepted; nil unless the client wants receipts.
    var published: PublishedTimes? { self.publishedTimes.first }

    /// Notes when the publications behind a number were accepted, up to another one, if the client wants receipts.
    private mutating func notePublished(after sequence: UInt64, upTo last: UInt64, at now: Instant) {
        guard self.receiptsEveryMilliseconds > 0, last > sequence else { return }
        if self.publishedTimes.isEmpty { self.publishedTimes = [PublishedTimes(after: sequence)] }
        self.publishedTimes[0].note(upTo: last, at: now)
    }

    /// Validates and applies the next frame.
    private mutating func apply(
        _ frames: PublishedFrames, _ index: Int, _ key: ConflationKey?, _ rules: PublishingRules,
        _ memory: borrowing MemoryLedger, _ batch: inout Batch
    ) throws(Rejection) -> Effect {
        let outline = frames.outlines[index]
        try Self.checkFlags(of: frames.ranges[index].header, outline)
        try Self.checkProvided(outline, by: batch.permission)
        try Self.checkSequence(of: frames.ranges[index].header, after: self.sequence)
        if let key { return try self.apply(state: index, key, of: frames, rules, memory, &batch) }
        try Self.checkShare(outline, self.openShares, rules.limits)
        self.retainNewStates(frames, &batch)
        let frame = frames.frame(at: index)
        let byteCount = self.retained.byteCount
        let growth = self.retained.byteCount(afterEvent: frame, outline) - byteCount
        try Self.checkMemory(self.id, byteCount, growth, outline, rules, memory)
        self.sequence += 1
        try self.content.apply(outline, limits: rules.limits.route)
        self.retained.apply(event: frame.compacted(), outline)
        return .published
    }

    /// Applies a state. It is retained at the end of the batch, unless a newer value replaces it before.
    private mutating func apply(
        state index: Int, _ key: ConflationKey, of frames: PublishedFrames, _ rules: PublishingRules,
        _ memory: borrowing MemoryLedger, _ batch: inout Batch
    ) throws(Rejection) -> Effect {
        if case .stateByKey = frames.outlines[index].rule.kind {
            return try self.apply(extension: index, key, of: frames, rules, memory, &batch)
        }
        if batch.newStates.count == Batch.newStatesMax { self.retainNewStates(frames, &batch) }
        // Why not by ==: it is a call into another module.
        let newer = batch.newStates.firstIndex { $0.key.item == key.item && $0.key.type == key.type }
        let location = newer == nil ? self.retained.location(of: key) : nil
        let old =
            newer.map { frames.ranges[batch.newStates[$0].index].header }
            ?? location.map(self.retained.header)
        let growth = frames.ranges[index].header.keptByteCount - (old?.keptByteCount ?? 0)
        let outline = frames.outlines[index]
        try Self.checkMemory(
            self.id, self.retained.byteCount + batch.growth, growth, outline, rules, memory)
        self.sequence += 1
        try self.content.apply(outline, limits: rules.limits.route)
        if let newer {
            guard !frames.hasSameBodies(index, batch.newStates[newer].index) else { return .unchanged }
            batch.newStates[newer].index = index
        } else {
            if let location, self.retained.isUnchanged(by: frames, index, at: location) { return .unchanged }
            batch.newStates.append((key, index))
        }
        batch.growth += growth
        return .published
    }

    /// Applies a state of an extension, or of a type that this build does not know. Retained at once: a newer value may remove the kept one.
    private mutating func apply(
        extension index: Int, _ key: ConflationKey, of frames: PublishedFrames, _ rules: PublishingRules,
        _ memory: borrowing MemoryLedger, _ batch: inout Batch
    ) throws(Rejection) -> Effect {
        self.retainNewStates(frames, &batch)
        let (header, outline) = (frames.ranges[index].header, frames.outlines[index])
        let isRetained = outline.isRetainedByHeader
        let kept = self.retained.indexOfExtension(key)
        let growth = self.retained.growth(by: isRetained ? header : nil, inPlaceOfExtensionAt: kept)
        try Self.checkMemory(self.id, self.retained.byteCount, growth, outline, rules, memory)
        self.sequence += 1
        try self.content.apply(outline, limits: rules.limits.route)
        if let kept, isRetained, self.retained.isUnchanged(by: frames, index, extensionAt: kept) {
            return .unchanged
        }
        let frame = isRetained ? frames.frame(at: index).compacted() : nil
        self.retained.keep(frame, inPlaceOfExtensionAt: kept)
        return .published
    }

    /// Retains the states of the batch, each in bytes of its own.
    private mutating func retainNewStates(_ frames: PublishedFrames, _ batch: inout Batch) {
        for (key, index) in batch.newStates {
            self.retained.apply(frames.frame(at: index).compacted(), key, at: self.retained.location(of: key))
        }
        batch.newStates.removeAll(keepingCapacity: true)
        batch.growth = 0
    }

    /// How old content is of which the newest was published at `instant`, in milliseconds; nil if there is none. In steps, so that
    /// endpoints that enter at about the same time are told the same.
    static func age(since instant: Instant?, at now: Instant) -> UInt32? {
        guard let instant else { return nil }
        let milliseconds = ((now - instant).nanoseconds + 999_999) / 1_000_000
        return UInt32(clamping: (milliseconds + Self.ageStep - 1) / Self.ageStep * Self.ageStep)
    }

    private static let ageStep: Int64 = 100

    // MARK: What a client may publish

    // Why none of these gets the session as a whole: it would be copied for each frame.

    /// Checks what needs no session: whether a client with this permission may send this frame at all.
    static func checkPermission(
        for header: FrameHeader, _ outline: PublicationOutline, by permission: Permission
    ) throws(Rejection) {
        try Self.checkFlags(of: header, outline)
        try Self.checkProvided(outline, by: permission)
    }

    private static func checkFlags(
        of header: FrameHeader, _ outline: PublicationOutline
    ) throws(Rejection) {
        guard !header.flags.isDisjoint(with: .limited) else { return }
        guard header.flags.isDisjoint(with: .forGateway) else {
            throw Rejection(
                .outOfRange, field: "flags", reason: "GATEWAY, FITTED and MORE are for the gateway to set")
        }
        if outline.type == nil || outline.type == .publishExtension, !header.flags.contains(.state) {
            throw Rejection(.outOfRange, field: "flags", reason: "RETAINED needs STATE")
        }
    }

    private static func checkProvided(
        _ outline: PublicationOutline, by permission: Permission
    ) throws(Rejection) {
        let rule = outline.rule
        guard rule.feature != nil || rule.adds != nil else {
            return try Self.checkExtension(outline, by: permission)
        }
        var needed = rule.feature
        if rule.adds != nil, needed.map({ permission.features.contains($0) }) ?? true {
            needed = outline.features.first { !permission.features.contains($0) }
        }
        guard let needed, !permission.features.contains(needed) else { return }
        throw Rejection(.notGranted, reason: "the feature \(needed) was not granted to this client")
    }

    private static func checkExtension(
        _ outline: PublicationOutline, by permission: Permission
    ) throws(Rejection) {
        guard let name = outline.extensionName, !permission.extensions.contains(name) else { return }
        throw Rejection(
            .notGranted, field: "name", reason: "the extension \(name) was not granted to this client")
    }

    private static func checkShare(
        _ outline: PublicationOutline, _ open: OrderedDictionary<Identifier, Int>, _ limits: GatewayLimits
    ) throws(Rejection) {
        guard case .share(let share, _) = outline.content else { return }
        if open[share] != nil {
            throw Rejection(.duplicate, field: "share_id", reason: "the share \(share) is under way")
        }
        guard open.count < limits.sharesOpenMax else {
            var rejection = Rejection(
                .limitReached, reason: "too many destination shares are under way",
                limit: ReachedLimit("shares_open_max", limits.sharesOpenMax))
            // By then the oldest has ended.
            rejection.retryAfterMilliseconds = UInt32(clamping: limits.shareTimeout.milliseconds)
            throw rejection
        }
    }

    /// Checks that a frame is the next one.
    private static func checkSequence(
        of header: FrameHeader, after sequence: UInt64
    ) throws(Rejection) {
        guard header.sequence == sequence + 1 else {
            throw Rejection(
                .sequenceGap,
                reason: "the sequence number is \(header.sequence), expected \(sequence + 1)")
        }
    }

    /// Checks that the session may retain `growth` more bytes than it does. One that shrinks always may.
    private static func checkMemory(
        _ id: SessionID, _ byteCount: Int, _ growth: Int, _ outline: PublicationOutline,
        _ rules: PublishingRules,
        _ memory: borrowing MemoryLedger
    ) throws(Rejection) {
        guard growth > 0 else { return }
        do throws(Rejection) { try memory.check(id, retaining: byteCount + growth, rules.limits) } catch {
            var error = error
            error.field = "\(outline.rule.largestField)"
            throw error
        }
    }
}

extension PublicationOutline {
    /// The features that the parts of the route need that it adds, beside that of its rule.
    fileprivate var features: [Feature] {
        if case .segments(let segments) = self.content {
            return segments.contains(where: \.hasSpeedLimits) ? [.speedLimit] : []
        }
        return self.route?.features ?? []
    }
}

// What vehicles choose of the previews.
extension GatewaySession {
    mutating func select(_ selection: SelectPreview, of vehicle: VehicleID) {
        self.content.select(selection, of: vehicle)
    }

    mutating func forgetSelection(of vehicle: VehicleID) { self.content.forgetSelection(of: vehicle) }
}

extension PublicationOutline.Route {
    fileprivate var features: [Feature] {
        var features: [Feature] = []
        if !self.maneuvers.isEmpty { features.append(.maneuvers) }
        if !self.laneGuidances.isEmpty { features.append(.laneGuidance) }
        if !self.segments.isEmpty { features.append(.routeSegments) }
        if self.segments.contains(where: \.hasSpeedLimits) { features.append(.speedLimit) }
        return features
    }
}
