internal import WaymarkCodec
internal import WaymarkModel
internal import WaymarkProtocol

/// A publication and its body, ready to be numbered and sent.
///
/// It is complete. Only its frame leaves out what the gateway withholds, so that nothing is lost when the gateway withholds
/// it no longer.
struct OutgoingPublication: Sendable, Hashable {
    let publication: Publication
    /// Features that its frame leaves out, whatever the gateway withholds.
    let omitted: FeatureSet
    /// nil for an event.
    let key: ConflationKey?
    private let body: ArraySlice<UInt8>

    /// Creates it from a publication and its frame, and validates every field as the gateway will.
    ///
    /// - Throws: ``ClientError/rejected(field:reason:)`` if a field is outside of its range.
    private init(_ publication: Publication, _ frame: Frame, omitting omitted: FeatureSet) throws(ClientError)
    {
        self.publication = publication
        self.omitted = omitted
        self.body = frame.body
        do throws(DecodingError) {
            self.key = try Codec.outline(of: frame).conflationKey
        } catch {
            switch error {
            case .rejected(let rejection):
                throw .rejected(field: rejection.field, reason: rejection.reason)
            case .unknownType:
                preconditionFailure("the codec writes only what it reads: \(publication.type)")
            }
        }
    }

    /// The size of its complete frame, header included.
    var byteCount: Int { FrameHeader.byteCount + self.body.count }

    /// The share that it offers; nil for everything else.
    var shareID: String? {
        if case .shareDestination(let id, _) = self.publication { id } else { nil }
    }

    /// Its frame, without the features in `withheld`; nil if nothing is left of it.
    ///
    /// A share is always sent: its caller waits for the gateway's refusal.
    func frame(session: SessionID, sequence: UInt64, without withheld: FeatureSet) -> Frame? {
        var body = self.body
        let withheld = withheld.union(self.omitted)
        if !withheld.isEmpty, self.shareID == nil {
            guard let rest = self.publication.without(withheld) else { return nil }
            if rest != self.publication { body = Codec.encode(Envelope(.publication(rest))).body }
        }
        let header = FrameHeader(
            type: self.publication.type.rawValue, session: session, sequence: sequence)
        return Frame(header: header, body: body)
    }
}

// MARK: Fitting into frames

extension OutgoingPublication {
    /// Splits a publication so that every frame has at most `frameBytesMax` bytes, and every list at most what the protocol
    /// allows in one message.
    ///
    /// Additions are halved until they fit. A route that starts or resumes guidance is published without its maneuvers, lane
    /// guidances and segments, and those are added after it.
    ///
    /// - Throws: ``ClientError/invalid(_:)`` naming the field that is too large by itself,
    ///   ``ClientError/rejected(field:reason:)`` for one outside of its range.
    static func fitting(
        _ publication: Publication, frameBytesMax: Int, omitting omitted: FeatureSet = []
    ) throws(ClientError) -> [OutgoingPublication] {
        if publication.isWithinCounts {
            let whole = Codec.encode(Envelope(.publication(publication)))
            if whole.bytes.count <= frameBytesMax {
                return [try OutgoingPublication(publication, whole, omitting: omitted)]
            }
        }
        let smaller: [Publication]
        switch publication {
        case .addManeuvers(let all, let generation):
            smaller = all.halves.map { .addManeuvers($0, generation: generation) }
        case .addLaneGuidances(let all, let generation):
            smaller = all.halves.map { .addLaneGuidances($0, generation: generation) }
        case .addRouteSegments(let all, let generation):
            smaller = all.halves.map { .addRouteSegments($0, generation: generation) }
        case .startGuidance(let trip, let generation, let route) where !route.isBare:
            smaller =
                [.startGuidance(trip, generation: generation, route.bare)]
                + route.additions(generation: generation)
        case .resumeGuidance(let generation, let reason, let route?) where !route.isBare:
            smaller =
                [.resumeGuidance(generation: generation, reason, route.bare)]
                + route.additions(generation: generation)
        default: smaller = []
        }
        guard smaller.count > 1 else {
            throw .invalid(
                "\(publication.largestField) does not fit into a frame of \(frameBytesMax) bytes, "
                    + "the most that the gateway takes; make it smaller")
        }
        var fitting: [OutgoingPublication] = []
        for publication in smaller {
            fitting += try Self.fitting(publication, frameBytesMax: frameBytesMax, omitting: omitted)
        }
        return fitting
    }
}

extension Publication {
    fileprivate var isWithinCounts: Bool {
        switch self {
        case .addManeuvers(let all, _): all.count <= ProtocolConstants.maneuversMax
        case .addLaneGuidances(let all, _): all.count <= ProtocolConstants.laneGuidancesMax
        case .addRouteSegments(let all, _): all.count <= ProtocolConstants.routeSegmentsMax
        case .startGuidance(_, _, let route), .resumeGuidance(_, _, let route?): route.isWithinCounts
        default: true
        }
    }

    /// What to make smaller if this is too large, as a path from the caller's argument.
    fileprivate var largestField: String {
        switch self {
        case .tripPreviews: "trips"
        case .startGuidance, .updateTrip: "trip"
        case .addManeuvers(let all, _): "maneuver \(all.first?.id.rawValue ?? 0)"
        case .addLaneGuidances(let all, _): "lane guidance \(all.first?.id.rawValue ?? 0)"
        case .addRouteSegments(let all, _): "coordinates of segment \(all.first?.id ?? "")"
        case .upcomingManeuvers: "upcomingManeuvers"
        case .currentLaneGuidance: "currentLaneGuidance"
        case .currentRoadName: "roadName"
        case .maneuverState: "maneuverState"
        case .tripEstimates, .maneuverEstimates: "estimates"
        case .currentRouteSegment: "currentSegment"
        case .pauseGuidance: "description"
        case .resumeGuidance: "route"
        case .showAlert, .dismissAlert: "alert"
        case .shareDestination: "destination"
        default: "message"
        }
    }
}

extension RouteInformation {
    fileprivate var isWithinCounts: Bool {
        self.maneuvers.count <= ProtocolConstants.maneuversMax
            && self.laneGuidances.count <= ProtocolConstants.laneGuidancesMax
            && self.segments.count <= ProtocolConstants.routeSegmentsMax
    }

    /// Whether it has nothing that can be added later.
    fileprivate var isBare: Bool {
        self.maneuvers.isEmpty && self.laneGuidances.isEmpty && self.segments.isEmpty
    }

    /// The route without everything that can be added later, and what refers to it.
    fileprivate var bare: RouteInformation { RouteInformation(tripTravelEstimates: self.tripTravelEstimates) }

    /// The additions that complete the bare route, in an order in which each refers only to earlier ones.
    fileprivate func additions(generation: UInt32) -> [Publication] {
        var additions: [Publication] = []
        if !self.maneuvers.isEmpty { additions.append(.addManeuvers(self.maneuvers, generation: generation)) }
        if !self.laneGuidances.isEmpty {
            additions.append(.addLaneGuidances(self.laneGuidances, generation: generation))
        }
        if !self.segments.isEmpty {
            additions.append(.addRouteSegments(self.segments, generation: generation))
        }
        if !self.upcomingManeuvers.isEmpty {
            additions.append(.upcomingManeuvers(self.upcomingManeuvers, generation: generation))
        }
        if let currentLaneGuidance {
            additions.append(.currentLaneGuidance(currentLaneGuidance, generation: generation))
        }
        if let segment = self.currentSegment ?? self.segments.first?.id {
            additions.append(.currentRouteSegment(segment, generation: generation))
        }
        if let estimates = self.maneuverTravelEstimates, let first = self.upcomingManeuvers.first {
            additions.append(.maneuverEstimates(first, estimates, generation: generation))
        }
        return additions
    }
}

extension Array {
    /// Both halves, without an empty one.
    fileprivate var halves: [[Element]] {
        [Array(self[..<(self.count / 2)]), Array(self[(self.count / 2)...])].filter { !$0.isEmpty }
    }
}
