internal import WaymarkModel
internal import WaymarkProtocol

/// What frames were fitted to, on the way to frames within the limits of the protocol.
///
/// They are encoded one by one, so that even a very large window is encoded by steps.
///
/// - Source: Docs/protocol.md, "Fitting".
struct FittedParts: Sendable, Hashable {
    /// The next one is the last.
    private var parts: [Publication] = []
    private var header = FrameHeader(type: 0)
    /// The fields that this build does not know; nil for none.
    private var unknown: UnknownFields?
    /// A frame has those of the body.
    private var isBodyRestored = false

    var isEmpty: Bool { self.parts.isEmpty }

    /// The number of the publication; nil if nothing is left of it.
    var sequence: UInt64? { self.parts.isEmpty ? nil : self.header.sequence }

    /// About how many bytes are encoded at once.
    private static let pieceBytesMax = 16_384

    /// Takes what a frame was fitted to. Everything before it must be encoded.
    ///
    /// - Returns: The work.
    mutating func set(
        _ publications: [Publication], of header: FrameHeader, _ unknown: UnknownFields?
    ) -> Int {
        self.header = header
        self.unknown = unknown
        self.isBodyRestored = false
        self.parts = publications.flatMap { $0.pieces(Self.pieceBytesMax) }
        self.parts.reverse()
        if self.parts.isEmpty { self = FittedParts() }
        return publications.reduce(0) { $0 + $1.elementCount } / Self.elementsPerUnit
    }

    /// As many elements of a route are fitted in the time of one unit.
    private static let elementsPerUnit = 16

    /// Encodes the next one. If its frame would be longer than `bytesMax`, it is divided or shortened; what is still too long is withheld.
    ///
    /// - Returns: The work.
    mutating func encodeNext(_ bytesMax: Int, _ coder: BodyCoder, into fitted: inout PublishedFrames) -> Int {
        guard let next = self.parts.popLast() else { return 0 }
        // Nothing remains of a frame: the next process must have the same state.
        defer { if self.parts.isEmpty { self = FittedParts() } }
        var frame = coder.encode(
            Envelope(
                .publication(next), session: self.header.session, sequence: self.header.sequence,
                flags: self.header.flags.subtracting([.state, .retained]).union(.fitted)))
        if let unknown { frame = self.restoring(unknown, in: frame, next, bytesMax, coder) }
        if frame.bytes.count <= bytesMax {
            fitted.append(copyOf: frame, next.outline)
            if unknown != nil, next.type.rawValue == self.header.rawType { self.isBodyRestored = true }
        } else if !next.parts.isEmpty {
            self.parts += next.parts.reversed()
        } else if let shorter = next.shortened {
            self.parts.append(shorter)
        }
        return WorkMeter.units(ofFitted: frame.bytes.count)
    }

    /// The frame with the fields that this build does not know, unless it cannot be divided and would be too long with them.
    private func restoring(
        _ unknown: UnknownFields, in frame: Frame, _ next: Publication, _ bytesMax: Int, _ coder: BodyCoder
    ) -> Frame {
        let restored = coder.restore(frame, unknown, !self.isBodyRestored)
        return restored.bytes.count <= bytesMax || !next.parts.isEmpty ? restored : frame
    }
}

extension Publication {
    /// How many elements of a route it has.
    fileprivate var elementCount: Int {
        switch self {
        case .startGuidance(_, _, let route), .resumeGuidance(_, _, let route?):
            route.maneuvers.count + route.laneGuidances.count
        case .addManeuvers(let all, _): all.count
        case .addLaneGuidances(let all, _): all.count
        default: 1
        }
    }

    /// Publications of the same content, each within the counts of the protocol and about `byteCountMax` bytes long, as far as it can be
    /// divided.
    fileprivate func pieces(_ byteCountMax: Int) -> [Publication] {
        switch self {
        case .addManeuvers(let all, let generation):
            all.pieces(ProtocolConstants.maneuversMax, byteCountMax, \.byteCountEstimate)
                .map { .addManeuvers($0, generation: generation) }
        case .addLaneGuidances(let all, let generation):
            all.pieces(ProtocolConstants.laneGuidancesMax, byteCountMax, \.byteCountEstimate)
                .map { .addLaneGuidances($0, generation: generation) }
        case .addRouteSegments(let all, let generation):
            all.pieces(ProtocolConstants.routeSegmentsMax, byteCountMax, \.byteCountEstimate)
                .map { .addRouteSegments($0, generation: generation) }
        case .startGuidance(_, _, let route), .resumeGuidance(_, _, let route?):
            self.isWithinCounts && route.byteCountEstimate <= byteCountMax || self.parts.isEmpty
                ? [self] : self.parts.flatMap { $0.pieces(byteCountMax) }
        default: [self]
        }
    }

    /// The same with the shortest variant of each text alone, or, if it is so already, with half of the points of its line; nil if it
    /// cannot be shortened.
    ///
    /// Only what cannot be divided is shortened, so a list has one element.
    fileprivate var shortened: Publication? {
        let shortest: Publication
        switch self {
        case .tripPreviews(let trips, let selected):
            shortest = .tripPreviews(trips.map(\.shortened), selected: selected)
        case .startGuidance(let trip, let generation, let route):
            shortest = .startGuidance(trip.shortened, generation: generation, route)
        case .updateTrip(let trip): shortest = .updateTrip(trip.shortened)
        case .addManeuvers(let all, let generation):
            shortest = .addManeuvers(all.map(\.shortened), generation: generation)
        case .addLaneGuidances(let all, let generation):
            shortest = .addLaneGuidances(all.map(\.shortened), generation: generation)
        case .addRouteSegments(let all, let generation):
            shortest = .addRouteSegments(all.map(\.shortened), generation: generation)
        case .currentRoadName(let variants): shortest = .currentRoadName(variants.shortest)
        case .pauseGuidance(let reason, let variants):
            shortest = .pauseGuidance(reason, description: variants.shortest)
        case .showAlert(let alert): shortest = .showAlert(alert.shortened)
        case .shareDestination(let id, let place):
            shortest = .shareDestination(shareID: id, place.shortened)
        default: return nil
        }
        return shortest == self ? nil : shortest
    }
}

extension Array {
    /// Consecutive elements in parts of at most `countMax`, each of about `byteCountMax` bytes if an element is not larger.
    fileprivate func pieces(
        _ countMax: Int, _ byteCountMax: Int, _ byteCount: (Element) -> Int
    ) -> [[Element]] {
        var pieces: [[Element]] = []
        var (first, bytes) = (0, 0)
        for index in self.indices {
            let next = byteCount(self[index])
            if index > first, bytes + next > byteCountMax || index - first == countMax {
                pieces.append(Array(self[first..<index]))
                (first, bytes) = (index, 0)
            }
            bytes += next
        }
        pieces.append(Array(self[first...]))
        return pieces
    }
}

// MARK: Lengths

extension [String] {
    fileprivate var byteCount: Int { self.reduce(0) { $0 + $1.utf8.count + 3 } }

    fileprivate var shortest: [String] {
        self.min { $0.unicodeScalars.count < $1.unicodeScalars.count }.map { [$0] } ?? []
    }
}

extension RouteInformation {
    fileprivate var byteCountEstimate: Int {
        self.maneuvers.reduce(0) { $0 + $1.byteCountEstimate }
            + self.laneGuidances.reduce(0) { $0 + $1.byteCountEstimate }
            + self.segments.reduce(0) { $0 + $1.byteCountEstimate }
    }
}

extension Maneuver {
    fileprivate var byteCountEstimate: Int {
        32 + self.instructionVariants.byteCount + self.roadFollowingManeuverVariants.byteCount
            + 2 * self.junctionElementAngles.count
    }

    fileprivate var shortened: Maneuver {
        var maneuver = self
        maneuver.instructionVariants = self.instructionVariants.shortest
        maneuver.roadFollowingManeuverVariants = self.roadFollowingManeuverVariants.shortest
        return maneuver
    }
}

extension LaneGuidance {
    fileprivate var byteCountEstimate: Int {
        8 + self.instructionVariants.byteCount + self.lanes.reduce(0) { $0 + 8 + 2 * $1.angles.count }
    }

    fileprivate var shortened: LaneGuidance {
        var guidance = self
        guidance.instructionVariants = self.instructionVariants.shortest
        return guidance
    }
}

extension RouteSegment {
    fileprivate var byteCountEstimate: Int {
        64 + self.origin.byteCountEstimate + self.destination.byteCountEstimate + 4 * self.coordinates.count
            + 3 * (self.maneuvers.count + self.laneGuidances.count)
    }

    fileprivate var shortened: RouteSegment {
        var segment = self
        segment.origin = self.origin.shortened
        segment.destination = self.destination.shortened
        if segment == self, self.coordinates.count > 1 {
            segment.coordinates = Profile.thin(self.coordinates, to: self.coordinates.count / 2)
        }
        return segment
    }
}

extension Waypoint {
    fileprivate var byteCountEstimate: Int {
        32 + self.nameVariants.byteCount + self.addressVariants.byteCount + 20 * self.entryPoints.count
    }

    fileprivate var shortened: Waypoint {
        var waypoint = self
        waypoint.nameVariants = self.nameVariants.shortest
        waypoint.addressVariants = self.addressVariants.shortest
        return waypoint
    }
}

extension Trip {
    fileprivate var shortened: Trip {
        var trip = self
        trip.origin = self.origin.shortened
        trip.destination = self.destination.shortened
        trip.waypoints = self.waypoints.map(\.shortened)
        for index in trip.routeChoices.indices {
            let choice = self.routeChoices[index]
            trip.routeChoices[index].summaryVariants = choice.summaryVariants.shortest
            trip.routeChoices[index].additionalInformationVariants =
                choice.additionalInformationVariants.shortest
            trip.routeChoices[index].selectionSummaryVariants = choice.selectionSummaryVariants.shortest
        }
        return trip
    }
}

extension NavigationAlert {
    fileprivate var shortened: NavigationAlert {
        var alert = self
        alert.titleVariants = self.titleVariants.shortest
        alert.subtitleVariants = self.subtitleVariants.shortest
        for index in alert.actions.indices {
            alert.actions[index].titleVariants = self.actions[index].titleVariants.shortest
        }
        return alert
    }
}
