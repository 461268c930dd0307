internal import WaymarkModel
internal import WaymarkProtocol

/// Makes what cannot be divided short enough for one frame: fewer texts, fewer points, fewer details, fewer trips.
///
/// - Source: Docs/protocol.md, "Size".
struct SizeLadder {
    private let header: FrameHeader
    private let byteCountMax: Int
    private let coder: BodyCoder
    /// The work so far, see ``WorkMeter``.
    private(set) var units = 0

    /// For the frame of `header`, which is longer than `byteCountMax`.
    init(_ header: FrameHeader, _ byteCountMax: Int, _ coder: BodyCoder) {
        self.header = header
        self.byteCountMax = byteCountMax
        self.coder = coder
    }

    /// The frame of a publication; longer than the limit if the publication is.
    private mutating func frame(_ publication: Publication) -> Frame {
        let frame = self.coder.encode(
            Envelope(
                .publication(publication), session: self.header.session, sequence: self.header.sequence,
                flags: self.header.flags))
        self.units += WorkMeter.units(ofFitted: frame.bytes.count)
        return frame
    }

    /// The frame of as much of a publication as fits; nil if not even the least of it does. As a whole the publication is too long, its
    /// frame has `byteCount` bytes.
    mutating func shortFrame(_ publication: Publication, _ byteCount: Int) -> Frame? {
        if case .addRouteSegments(let segments, let generation) = publication, let segment = segments.first {
            return self.shortFrame(segment, generation, byteCount)
        }
        for variant in Variant.allCases {
            if let frame = self.fitting(publication.keeping(variant)) { return frame }
        }
        let short = publication.keeping(.shortest).withoutDetails
        if let frame = self.fitting(short) { return frame }
        guard case .tripPreviews(var trips, let selected) = short else { return nil }
        while trips.count > 1 {
            trips.remove(at: trips.lastIndex { $0.id != selected } ?? trips.count - 1)
            if let frame = self.fitting(.tripPreviews(trips, selected: selected)) { return frame }
        }
        return nil
    }

    private mutating func fitting(_ publication: Publication) -> Frame? {
        let frame = self.frame(publication)
        return frame.bytes.count <= self.byteCountMax ? frame : nil
    }

    // MARK: Segments

    /// Lengths before other lengths: a part that is shorter has up to so many bytes less in front of it.
    private static let prefixesByteCountMax = 16

    private mutating func shortFrame(
        _ segment: RouteSegment, _ generation: UInt32, _ byteCount: Int
    ) -> Frame? {
        // Why apart from its line: a line of a megabyte is not to be encoded at every step.
        var bare = segment
        bare.coordinates = []
        let lineByteCount = byteCount - self.frame(bare, generation).bytes.count
        for variant in Variant.allCases {
            let short = bare.keeping(variant)
            if let frame = self.wholeFrame(short, generation, as: segment.coordinates, lineByteCount) {
                return frame
            }
        }
        bare = bare.keeping(.shortest)
        if !bare.speedLimits.isEmpty {
            // Speed limits go before points: without the points at which they begin they would be others.
            bare.speedLimits = []
            if let frame = self.wholeFrame(bare, generation, as: segment.coordinates, lineByteCount) {
                return frame
            }
        }
        bare.coordinates = Profile.thin(segment.coordinates, to: 2)
        var least = self.frame(bare, generation)
        if least.bytes.count > self.byteCountMax {
            bare = bare.withoutDetails
            least = self.frame(bare, generation)
        }
        guard least.bytes.count <= self.byteCountMax else { return nil }
        return self.frame(bare, generation, as: segment.coordinates, lineByteCount, atLeast: least)
    }

    /// The frame of a segment with a whole line; nil if it does not fit.
    private mutating func wholeFrame(
        _ bare: RouteSegment, _ generation: UInt32, as line: [Coordinate], _ lineByteCount: Int
    ) -> Frame? {
        let estimate = self.frame(bare, generation).bytes.count + lineByteCount
        guard estimate <= self.byteCountMax + Self.prefixesByteCountMax else { return nil }
        var segment = bare
        segment.coordinates = line
        return self.fitting(.addRouteSegments([segment], generation: generation))
    }

    /// The frame of a segment with as many points of a line as fit. `least` is that with the ends of the line alone.
    private mutating func frame(
        _ segment: RouteSegment, _ generation: UInt32, as line: [Coordinate], _ lineByteCount: Int,
        atLeast least: Frame
    ) -> Frame {
        let room = self.byteCountMax - least.bytes.count
        guard line.count > 2 else { return least }
        var segment = segment
        var thinning = LineThinning(line)
        var (byteCount, countMax) = (lineByteCount, line.count)
        segment.coordinates = line
        self.units += line.count / Self.pointsPerUnit
        // Points that are farther apart need more bytes each: one estimate may not suffice.
        while true {
            let count = min(countMax, segment.coordinates.count * room / max(1, byteCount))
            guard count > 2 else { return least }
            if count < line.count { segment.coordinates = thinning.points(count) }
            let frame = self.frame(segment, generation)
            if frame.bytes.count <= self.byteCountMax { return frame }
            (byteCount, countMax) = (frame.bytes.count - least.bytes.count, count - 1)
        }
    }

    private mutating func frame(_ segment: RouteSegment, _ generation: UInt32) -> Frame {
        self.frame(.addRouteSegments([segment], generation: generation))
    }

    /// As many points of a line are thinned in the time of one unit.
    private static let pointsPerUnit = 64

    // MARK: Requests

    /// A message about a place, to a peer that takes frames of at most `byteCountMax` bytes.
    static func fit(
        _ place: Waypoint, _ byteCountMax: Int, _ coder: BodyCoder, session: SessionID = .none,
        message: (Waypoint) -> Message
    ) -> Envelope {
        let whole = Envelope(message(place), session: session)
        guard coder.encode(whole).bytes.count > byteCountMax else { return whole }
        for variant in Variant.allCases {
            let fitted = Envelope(message(place.keeping(variant)), session: session, flags: .fitted)
            if coder.encode(fitted).bytes.count <= byteCountMax { return fitted }
        }
        let short = place.keeping(.shortest).withoutDetails
        return Envelope(message(short), session: session, flags: .fitted)
    }
}

/// Which variant of a text is kept.
private enum Variant: CaseIterable {
    case first, shortest

    func of(_ variants: [String]) -> [String] {
        guard variants.count > 1 else { return variants }
        switch self {
        case .first: return [variants[0]]
        case .shortest: return variants.min { $0.utf8.count < $1.utf8.count }.map { [$0] } ?? []
        }
    }
}

extension Publication {
    /// The same with one variant of each text.
    fileprivate func keeping(_ variant: Variant) -> Publication {
        switch self {
        case .tripPreviews(let trips, let selected):
            .tripPreviews(trips.map { $0.keeping(variant) }, selected: selected)
        case .startGuidance(let trip, let generation, let route):
            .startGuidance(trip.keeping(variant), generation: generation, route)
        case .updateTrip(let trip): .updateTrip(trip.keeping(variant))
        case .addManeuvers(let all, let generation):
            .addManeuvers(all.map { $0.keeping(variant) }, generation: generation)
        case .addLaneGuidances(let all, let generation):
            .addLaneGuidances(all.map { $0.keeping(variant) }, generation: generation)
        case .plain(.currentRoadName(let variants)): .currentRoadName(variant.of(variants))
        case .pauseGuidance(let reason, let variants):
            .pauseGuidance(reason, description: variant.of(variants))
        case .showAlert(let alert): .showAlert(alert.keeping(variant))
        case .shareDestination(let id, let place, let trip):
            .shareDestination(shareID: id, place.keeping(variant), trip: trip)
        default: self
        }
    }

    /// The same without what an endpoint can do without most easily.
    fileprivate var withoutDetails: Publication {
        switch self {
        case .tripPreviews(let trips, let selected):
            .tripPreviews(trips.map(\.withoutDetails), selected: selected)
        case .startGuidance(let trip, let generation, let route):
            .startGuidance(trip.withoutDetails, generation: generation, route)
        case .updateTrip(let trip): .updateTrip(trip.withoutDetails)
        case .shareDestination(let id, let place, let trip):
            .shareDestination(shareID: id, place.withoutDetails, trip: trip)
        default: self
        }
    }
}

extension Maneuver {
    fileprivate func keeping(_ variant: Variant) -> Maneuver {
        var maneuver = self
        maneuver.instructionVariants = variant.of(self.instructionVariants)
        maneuver.roadFollowingManeuverVariants = variant.of(self.roadFollowingManeuverVariants)
        return maneuver
    }
}

extension LaneGuidance {
    fileprivate func keeping(_ variant: Variant) -> LaneGuidance {
        var guidance = self
        guidance.instructionVariants = variant.of(self.instructionVariants)
        return guidance
    }
}

extension RouteSegment {
    fileprivate func keeping(_ variant: Variant) -> RouteSegment {
        var segment = self
        segment.origin = self.origin.keeping(variant)
        segment.destination = self.destination.keeping(variant)
        return segment
    }

    fileprivate var withoutDetails: RouteSegment {
        var segment = self
        segment.origin = self.origin.withoutDetails
        segment.destination = self.destination.withoutDetails
        segment.maneuvers = []
        segment.laneGuidances = []
        return segment
    }
}

extension Waypoint {
    fileprivate func keeping(_ variant: Variant) -> Waypoint {
        var waypoint = self
        waypoint.nameVariants = variant.of(self.nameVariants)
        waypoint.addressVariants = variant.of(self.addressVariants)
        return waypoint
    }

    fileprivate var withoutDetails: Waypoint {
        var waypoint = self
        waypoint.addressVariants = []
        waypoint.entryPoints = []
        return waypoint
    }

    /// What is left of a stop on the way: where it is, and why it is made.
    fileprivate var stopAlone: Waypoint {
        let center = Coordinate(latitude: self.center.latitude, longitude: self.center.longitude)
        var stop = Waypoint(center: center)
        stop.locationThreshold = self.locationThreshold
        stop.stopKind = self.stopKind
        return stop
    }
}

extension Trip {
    fileprivate func keeping(_ variant: Variant) -> Trip {
        var trip = self
        trip.origin = self.origin.keeping(variant)
        trip.destination = self.destination.keeping(variant)
        trip.waypoints = self.waypoints.map { $0.keeping(variant) }
        for index in trip.routeChoices.indices {
            let choice = self.routeChoices[index]
            trip.routeChoices[index].summaryVariants = variant.of(choice.summaryVariants)
            trip.routeChoices[index].additionalInformationVariants = variant.of(
                choice.additionalInformationVariants)
            trip.routeChoices[index].selectionSummaryVariants = variant.of(choice.selectionSummaryVariants)
        }
        return trip
    }

    fileprivate var withoutDetails: Trip {
        var trip = self
        trip.origin = self.origin.withoutDetails
        trip.destination = self.destination.withoutDetails
        trip.waypoints = self.waypoints.map(\.stopAlone)
        for index in trip.routeChoices.indices {
            trip.routeChoices[index].summaryVariants = []
            trip.routeChoices[index].additionalInformationVariants = []
            trip.routeChoices[index].selectionSummaryVariants = []
        }
        return trip
    }
}

extension NavigationAlert {
    fileprivate func keeping(_ variant: Variant) -> NavigationAlert {
        var alert = self
        alert.titleVariants = variant.of(self.titleVariants)
        alert.subtitleVariants = variant.of(self.subtitleVariants)
        for index in alert.actions.indices {
            alert.actions[index].titleVariants = variant.of(self.actions[index].titleVariants)
        }
        return alert
    }
}
