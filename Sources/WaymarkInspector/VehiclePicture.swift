internal import WaymarkClient
internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording

/// What a session publishes, decoded.
struct DecodedContent: Sendable {
    /// In the publisher's order.
    fileprivate(set) var publications: [(sequence: UInt64, content: Publication)] = []
    /// What an endpoint holds that gets everything.
    fileprivate(set) var state = VehicleState()
    /// The publications that added each element.
    fileprivate(set) var maneuverSequences: [ManeuverID: UInt64] = [:]
    fileprivate(set) var laneGuidanceSequences: [LaneGuidanceID: UInt64] = [:]
    /// Of the route's segments.
    fileprivate(set) var lines = RouteLines([])
    /// The longest frame of the route, in bytes.
    fileprivate(set) var longestRouteFrame = 0
    /// The upcoming maneuvers that were named last, if the newest publication names none.
    fileprivate(set) var lastUpcoming: [ManeuverID] = []
    /// The current lane guidance that was named last, if the newest publication names none.
    fileprivate(set) var lastLaneGuidance: LaneGuidanceID?

    /// The number of the newest publication that is retained.
    var sequence: UInt64 { self.publications.map(\.sequence).max() ?? 0 }

    /// Changes when lines, maneuvers or places of the route do.
    var routeKey: String {
        let route = self.publications.filter { Self.routeTypes.contains($0.content.type) }
        return route.map { "\($0.sequence)" }.joined(separator: "-")
    }

    fileprivate static let routeTypes: [MessageType] = [
        .startGuidance, .resumeGuidance, .addRouteSegments, .updateTrip, .addManeuvers,
    ]

    /// The state of an endpoint that received some publications of `session`.
    static func state(
        _ publications: [Publication], of record: SessionRecord, withheld: [FeatureGrant] = []
    ) -> VehicleState {
        var state = VehicleState()
        var begin = SnapshotBegin(kind: .full, client: record.client)
        begin.isSuspended = record.isSuspended
        begin.withheld = withheld
        state.apply(Envelope(.snapshotBegin(begin), session: record.session))
        for publication in publications {
            state.apply(Envelope(.publication(publication), session: record.session))
        }
        state.apply(Envelope(.snapshotEnd, session: record.session))
        return state
    }
}

/// Decodes what sessions retain, and remembers it: most of it stays the same for long.
struct ContentCache: Sendable {
    private struct Key: Hashable {
        let source: String
        let session: SessionID
    }

    private struct Kept: Sendable {
        /// Also of types that this build does not know.
        var retention = ObservedRetention()
        var contents: [UInt64: (bytes: ArraySlice<UInt8>, content: Publication)] = [:]
        var content = DecodedContent()
        var age = 0
        /// The size of what is decoded, in bytes of frames.
        var byteCount = 0
    }

    /// Sessions whose content is remembered.
    private static let countMax = 2_048

    private var kept: [Key: Kept] = [:]
    /// The size of ``kept``.
    private(set) var byteCount = 0
    private var uses = 0
    private let bytesMax: Int

    /// A cache of up to `bytesMax` bytes of frames, and of the session that was asked for last. Decoded they take several times as much.
    init(bytesMax: Int = 33_554_432) { self.bytesMax = bytesMax }

    /// What a session publishes in `state`.
    mutating func content(
        of record: SessionRecord, _ state: RecordedState, _ source: InspectedSource
    ) -> DecodedContent {
        self.uses += 1
        let key = Key(source: source.id, session: record.session)
        let retention = state.gateway.retained[record.session] ?? ObservedRetention()
        var kept = self.kept[key] ?? Kept()
        self.byteCount -= kept.byteCount
        kept.age = self.uses
        let isSame =
            kept.content.state.isSuspended == record.isSuspended && retention == kept.retention
        if !isSame || kept.contents.isEmpty { self.decode(retention, record, source, &kept) }
        self.kept[key] = kept
        self.byteCount += kept.byteCount
        if self.kept.count > Self.countMax + Self.countMax / 8 || self.byteCount > self.bytesMax {
            self.forgetOldest()
        }
        return kept.content
    }

    /// Why many at once: each time, all of them are looked at.
    private mutating func forgetOldest() {
        let newest = self.kept.sorted { $0.value.age > $1.value.age }
        (self.kept, self.byteCount) = ([:], 0)
        for (key, kept) in newest {
            let isRoom = self.byteCount + kept.byteCount <= self.bytesMax / 8 * 7
            guard self.kept.isEmpty || isRoom && self.kept.count < Self.countMax else { return }
            self.kept[key] = kept
            self.byteCount += kept.byteCount
        }
    }

    private func decode(
        _ retention: ObservedRetention, _ record: SessionRecord, _ source: InspectedSource, _ kept: inout Kept
    ) {
        let (old, lines, segments) = (kept.contents, kept.content.lines, kept.content.state.segments)
        (kept.retention, kept.contents, kept.byteCount) = (retention, [:], retention.byteCount)
        kept.content = DecodedContent()
        for frame in retention.lastNamed {
            switch Codec.publication(of: source.shown(frame))?.content {
            case .upcomingManeuvers(let ids, _): kept.content.lastUpcoming = ids
            case .currentLaneGuidance(let id, _): kept.content.lastLaneGuidance = id
            default: break  // Names none.
            }
        }
        for frame in retention.frames {
            let sequence = frame.header.sequence
            var content: Publication?
            if let known = old[sequence], known.bytes == frame.bytes { content = known.content }
            content = content ?? Codec.publication(of: source.shown(frame))?.content
            // Of a type that this build does not know.
            guard let content else { continue }
            kept.contents[sequence] = (frame.bytes, content)
            if DecodedContent.routeTypes.contains(content.type) {
                kept.content.longestRouteFrame = max(kept.content.longestRouteFrame, frame.bytes.count)
            }
            kept.content.publications.append((sequence, content))
            kept.content.note(content, sequence)
        }
        kept.content.state = DecodedContent.state(kept.content.publications.map(\.content), of: record)
        kept.content.state.sequence = kept.content.sequence
        let isSameRoute = kept.content.state.segments == segments
        kept.content.lines = isSameRoute ? lines : RouteLines(kept.content.state.segments)
    }
}

extension DecodedContent {
    fileprivate mutating func note(_ content: Publication, _ sequence: UInt64) {
        switch content {
        case .startGuidance(_, _, let route), .resumeGuidance(_, _, let route?):
            for maneuver in route.maneuvers { self.maneuverSequences[maneuver.id] = sequence }
            for guidance in route.laneGuidances { self.laneGuidanceSequences[guidance.id] = sequence }
        case .addManeuvers(let added, _):
            for maneuver in added { self.maneuverSequences[maneuver.id] = sequence }
        case .addLaneGuidances(let added, _):
            for guidance in added { self.laneGuidanceSequences[guidance.id] = sequence }
        default: break  // Adds none.
        }
    }
}

/// One vehicle in a gateway's state: what is published for it, and what one of its endpoints holds. A value without I/O.
struct VehiclePicture: Sendable {
    let id: VehicleID
    /// nil: the gateway does not know the vehicle.
    let record: VehicleRecord?
    let session: SessionRecord?
    let client: ClientRecord?
    let content: DecodedContent?
    /// Whose side is looked at.
    let endpoint: EndpointRecord?
    /// What it gets; nil without an endpoint or a session.
    let profile: Profile?
    /// What is withheld from it, and why.
    let withheld: [GuidanceFeature: WithholdingReason]
    let held: VehicleState?
    /// The number of the newest publication that is retained and of which the endpoint is sent anything.
    let sentSequence: UInt64

    var published: VehicleState? { self.content?.state }

    init(
        _ id: VehicleID, endpoint name: String?, _ state: RecordedState, _ source: InspectedSource,
        _ cache: inout ContentCache
    ) {
        let record = state.gateway.vehicles[id]
        let endpoints = record?.endpoints ?? []
        let endpoint =
            name == nil
            ? endpoints.first { $0.connection != nil && !$0.isInspector }
                ?? endpoints.first { !$0.isInspector } ?? endpoints.first
            : endpoints.first { $0.endpoint.rawValue == name }
        self.init(id, endpoint, state, source, &cache)
    }

    /// The vehicle as an endpoint would see it that has other limits.
    init(
        _ id: VehicleID, _ endpoint: EndpointRecord?, _ state: RecordedState, _ source: InspectedSource,
        _ cache: inout ContentCache
    ) {
        self.id = id
        self.record = state.gateway.vehicles[id]
        self.endpoint = endpoint
        self.session = self.record.flatMap { state.gateway.sessions[$0.session] }
        self.client = self.session.flatMap { state.gateway.clients[$0.client] }
        guard let session else {
            (self.content, self.profile, self.held, self.withheld) = (nil, nil, nil, [:])
            self.sentSequence = 0
            return
        }
        let content = cache.content(of: session, state, source)
        self.content = content
        guard let endpoint, endpoint.session == session.session || endpoint.session == .none else {
            (self.profile, self.held, self.withheld) = (nil, nil, [:])
            self.sentSequence = 0
            return
        }
        var grants = endpoint.withheld.filter { $0.withheld != nil }
        // A recording of a run does not say what is withheld.
        for feature in Profile.contentFeatures
        where !endpoint.features.contains(feature) && !grants.contains(where: { $0.feature == feature }) {
            grants.append(FeatureGrant(feature, withheld: .notRequested))
        }
        for feature in session.optedOut where !grants.contains(where: { $0.feature == feature }) {
            grants.append(FeatureGrant(feature, withheld: .tripOptedOut))
        }
        var limited = VehicleHello(
            vehicle: id, endpoint: endpoint.endpoint, features: endpoint.features)
        (limited.limits, limited.preferences) = (endpoint.limits, endpoint.preferences)
        limited.receiveFrameBytesMax = endpoint.receiveFrameBytesMax
        let profile = Profile(hello: limited, withheld: FeatureSet(grants.map(\.feature)))
        self.profile = profile
        self.withheld = Dictionary(
            grants.map { (GuidanceFeature($0.feature), WithholdingReason($0.withheld)) }
        ) { first, _ in first }
        let parts = profile.parts(
            of: content.publications.map(\.content), lastNamed: content.lastUpcoming,
            lastLaneGuidance: content.lastLaneGuidance
        ).map { profile.shorten($0, Codec.coder) }
        self.sentSequence = zip(content.publications, parts).reduce(0) { newest, pair in
            pair.1.isEmpty ? newest : max(newest, pair.0.sequence)
        }
        var held = DecodedContent.state(parts.flatMap(\.self), of: session, withheld: grants)
        held.sequence = content.sequence
        self.held = held
    }

    /// Something is on its way: the endpoint, which sends receipts, has not confirmed the newest of what it is sent. What is withheld from
    /// it has numbers that it never gets.
    var isUnderWay: Bool {
        guard let receipt = self.endpoint?.receipt else { return false }
        return self.sentSequence > receipt.receivedSequence
    }
}

extension EndpointRecord {
    /// It is this program's own, which shows nothing.
    var isInspector: Bool { self.endpoint.rawValue.hasPrefix("inspector-") }
}

/// What is published and what is held, as objects: made once, because the reasons compare them and the answer has them.
struct PictureStates {
    let published: [String: Any]?
    let held: [String: Any]?

    init(_ picture: VehiclePicture) {
        self.published = picture.published.map(StateObjects.object)
        self.held = picture.held.map(StateObjects.object)
    }
}
