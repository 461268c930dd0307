internal import OrderedCollections
internal import WaymarkModel
internal import WaymarkProtocol

/// One trip being guided on one vehicle or a set of them.
struct NavigationSession: Sendable, Hashable {
    let id: SessionID
    let client: ClientID
    /// The id of the request that opened it.
    let requestID: String
    let selection: VehicleSelection
    let receiptsEveryMilliseconds: UInt32
    /// Vehicles in it or awaited, in the order in which they came.
    var vehicles: [VehicleID] = []
    /// The client is away.
    var isSuspended = false
    var openShares: Set<Share> = []
    private(set) var content = SessionContent()
    /// The last sequence number used.
    private(set) var sequence: UInt64 = 0
    private(set) var retained = RetainedState()
    private(set) var audiences: OrderedDictionary<Profile, Audience> = [:]
    private var replay: ReplayRing

    init(id: SessionID, client: ClientID, opening: OpenSession, limits: GatewayLimits) {
        self.id = id
        self.client = client
        self.requestID = opening.requestID
        self.selection = opening.vehicles
        self.receiptsEveryMilliseconds = opening.receiptsEveryMilliseconds
        self.replay = ReplayRing(after: 0, byteCountMax: limits.replayBytesMax)
    }

    /// Whether nothing of it was changed by a publication.
    enum Acceptance: Sendable, Hashable { case published, unchanged }

    /// Uses up the number of a frame that was refused before it got here.
    mutating func skip(_ sequence: UInt64) {
        if sequence == self.sequence + 1 { self.sequence = sequence }
    }

    /// Checks the next frame, takes it over and hands it to every audience.
    ///
    /// The number of a frame that is refused is used up all the same, so that those behind it still fit.
    mutating func publish(
        _ frame: Frame, _ outline: PublicationOutline, limits: GatewayLimits, coder: Gateway.Coder,
        into actions: inout [Gateway.Action]
    ) throws(Rejection) -> Acceptance {
        guard frame.header.sequence == self.sequence + 1 else {
            throw Rejection(
                .sequenceGap,
                reason: "the sequence number is \(frame.header.sequence), expected \(self.sequence + 1)")
        }
        self.sequence += 1
        guard self.retained.byteCount + frame.bytes.count <= limits.retainedBytesMax else {
            throw Rejection(
                .limitReached, reason: "the session would retain more than \(limits.retainedBytesMax) bytes")
        }
        try self.content.apply(outline, limits: limits)
        let key = outline.conflationKey
        if let key, self.retained.isUnchanged(frame, key) { return .unchanged }
        self.retained.apply(frame, outline)
        self.replay.append(frame)
        var publication: Publication?
        for profile in self.audiences.keys {
            if self.audiences[profile]?.fitting == nil {
                if let audience = self.audiences[profile] {
                    actions.append(.publish(audience.id, frame, key))
                }
            } else {
                publication = publication ?? coder.decode(frame)
                self.fit(frame, publication, outline, profile, coder, into: &actions)
            }
        }
        return .published
    }

    private mutating func fit(
        _ frame: Frame, _ publication: Publication?, _ outline: PublicationOutline, _ profile: Profile,
        _ coder: Gateway.Coder, into actions: inout [Gateway.Action]
    ) {
        guard let id = self.audiences[profile]?.id else { return }
        // Why not `if var`: the view must be changed in place, not copied.
        guard let fitted = self.audiences[profile]?.fitting?.take(frame, publication, outline, coder) else {
            return
        }
        for (frame, outline) in fitted { actions.append(.publish(id, frame, outline.conflationKey)) }
    }

    /// The audience of `profile`, made if there is none; nil when there are too many profiles.
    mutating func audience(
        for profile: Profile, newID: @autoclosure () -> AudienceID, limits: GatewayLimits,
        coder: Gateway.Coder
    ) -> AudienceID? {
        if let audience = self.audiences[profile] { return audience.id }
        guard self.audiences.count < limits.profilesPerSessionMax else { return nil }
        var audience = Audience(id: newID())
        if !profile.isIdentity {
            var fitting = Audience.Fitting(
                view: FittedView(profile: profile),
                replay: ReplayRing(after: self.sequence, byteCountMax: limits.replayBytesMax))
            fitting.start(from: self.retained.frames, coder)
            audience.fitting = fitting
        }
        self.audiences[profile] = audience
        return audience.id
    }

    mutating func addMember(_ profile: Profile) { self.audiences[profile]?.memberCount += 1 }

    /// Takes a member out; an audience without members is forgotten.
    mutating func removeMember(_ profile: Profile) {
        self.audiences[profile]?.memberCount -= 1
        if self.audiences[profile]?.memberCount == 0 { self.audiences[profile] = nil }
    }

    /// The whole state as an endpoint of `profile` holds it.
    func snapshot(_ profile: Profile) -> [Frame] {
        (self.audiences[profile]?.fitting?.retained ?? self.retained).frames
    }

    /// What an endpoint of `profile` missed that saw `sequence` last; nil if that cannot be told.
    func missed(after sequence: UInt64, _ profile: Profile) -> [Frame]? {
        guard sequence <= self.sequence else { return nil }
        return (self.audiences[profile]?.fitting?.replay ?? self.replay).frames(after: sequence)
    }
}

extension Audience.Fitting {
    /// Fits the next frame and keeps what came out of it.
    mutating func take(
        _ frame: Frame, _ publication: Publication?, _ outline: PublicationOutline, _ coder: Gateway.Coder
    ) -> [(Frame, PublicationOutline)] {
        let fitted = self.fit(frame, publication, outline, coder)
        for (part, (frame, outline)) in fitted.enumerated() {
            self.retained.apply(frame, outline, part: part)
            self.replay.append(frame)
        }
        return fitted
    }

    /// Brings a new view to where the session is.
    mutating func start(from retained: [Frame], _ coder: Gateway.Coder) {
        for frame in retained {
            guard let publication = coder.decode(frame) else { continue }
            for (part, (frame, outline)) in self.fit(frame, publication, publication.outline, coder)
                .enumerated()
            {
                self.retained.apply(frame, outline, part: part)
            }
        }
    }

    private mutating func fit(
        _ frame: Frame, _ publication: Publication?, _ outline: PublicationOutline, _ coder: Gateway.Coder
    ) -> [(Frame, PublicationOutline)] {
        // A type that this build does not know cannot be cut: it is passed on.
        guard let publication else { return [(frame, outline)] }
        switch self.view.fit(publication) {
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
