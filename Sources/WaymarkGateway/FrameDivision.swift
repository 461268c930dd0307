internal import WaymarkModel
internal import WaymarkProtocol

/// What frames were fitted to, on the way to frames within the limits of the protocol.
///
/// They are encoded one by one, so that even a very large window is encoded by steps.
///
/// - Source: Docs/protocol.md, "Fitting".
struct FittedParts: Sendable, Hashable {
    /// A publication, or those of its maneuvers, lane guidances or segments that are not encoded.
    private struct Part: Sendable, Hashable {
        let content: Publication
        var first = 0
    }

    /// The next one is the last.
    private var parts: [Part] = []
    private var header = FrameHeader(type: 0)
    /// The fields that this build does not know; nil for none.
    private var unknown: UnknownFields?
    /// A frame has those of the body.
    private var isBodyRestored = false

    var isEmpty: Bool { self.parts.isEmpty }

    /// The number of the publication; nil if nothing is left of it.
    var sequence: UInt64? { self.parts.isEmpty ? nil : self.header.sequence }

    /// About how many bytes are encoded at once. What an endpoint that takes smaller frames gets is measured, to fill its frames.
    private static let pieceBytesMax = 16_384
    /// The bytes that a frame has beside the elements that it adds: its header, and the generation.
    private static let otherBytesMax = FrameHeader.byteCount + 6

    /// Takes what a frame was fitted to, for frames of at most `bytesMax` bytes. Everything before it must be encoded.
    ///
    /// - Returns: The work.
    mutating func set(
        _ publications: [Publication], of header: FrameHeader, _ bytesMax: Int, _ unknown: UnknownFields?,
        _ coder: BodyCoder
    ) -> Int {
        self.header = header
        self.unknown = unknown
        self.isBodyRestored = false
        let parts = publications.flatMap { publication in
            bytesMax < Self.pieceBytesMax
                ? publication.partsIfLong(bytesMax - Self.otherBytesMax, coder)
                : publication.pieces(Self.pieceBytesMax)
        }
        self.parts = parts.reversed().map { Part(content: $0) }
        if self.parts.isEmpty { self = FittedParts() }
        return publications.reduce(0) { $0 + $1.elementCount } / Self.elementsPerUnit
    }

    /// Takes the next one out; of one that adds more than fits into a frame of `bytesMax` bytes, as much as fits.
    private mutating func takeNext(_ bytesMax: Int, _ coder: BodyCoder, _ units: inout Int) -> Publication? {
        guard var part = self.parts.popLast() else { return nil }
        let byteCountMax = bytesMax - Self.otherBytesMax
        let left = part.content.addedCount - part.first
        guard bytesMax < Self.pieceBytesMax, left > 1,
            part.first > 0 || part.content.byteCountEstimate > byteCountMax || !part.content.isWithinCounts
        else { return part.first > 0 ? part.content.adding(part.first..<part.first + left) : part.content }
        let (count, byteCount) = coder.elementsFitting(part.content, part.first, byteCountMax)
        units += byteCount / Self.measuredBytesPerUnit
        let end = part.first + min(max(1, count), part.content.addedCountMax)
        let next = part.content.adding(part.first..<end)
        part.first = end
        if end < part.content.addedCount { self.parts.append(part) }
        return next
    }

    /// The bytes that are measured in the time of one unit.
    private static let measuredBytesPerUnit = 512

    /// As many elements of a route are fitted in the time of one unit.
    private static let elementsPerUnit = 16

    /// Encodes the next one. If its frame would be longer than `bytesMax`, it is divided or shortened; what is still too long is withheld.
    ///
    /// - Returns: The work.
    mutating func encodeNext(_ bytesMax: Int, _ coder: BodyCoder, into fitted: inout PublishedFrames) -> Int {
        var units = 0
        guard let next = self.takeNext(bytesMax, coder, &units) else { return 0 }
        // Nothing remains of a frame: the next process must have the same state.
        defer { if self.parts.isEmpty { self = FittedParts() } }
        var flags = self.header.flags.subtracting(.ofExtensions).union(.fitted)
        if !self.parts.isEmpty { flags.insert(.more) }
        var frame = coder.encode(
            Envelope(
                .publication(next), session: self.header.session, sequence: self.header.sequence, flags: flags
            ))
        if let unknown { frame = self.restoring(unknown, in: frame, next, bytesMax, coder) }
        units += WorkMeter.units(ofFitted: frame.bytes.count)
        if frame.bytes.count <= bytesMax {
            fitted.append(copyOf: frame, next.outline)
            if unknown != nil, next.type.rawValue == self.header.rawType { self.isBodyRestored = true }
        } else if case let parts = next.parts, !parts.isEmpty {
            self.parts += parts.reversed().map { Part(content: $0) }
        } else {
            var ladder = SizeLadder(frame.header, bytesMax, coder)
            if let short = ladder.shortFrame(next, frame.bytes.count) {
                fitted.append(copyOf: short, next.outline)
            }
            units += ladder.units
        }
        return units
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

    /// The number of elements that it adds to a route.
    fileprivate var addedCount: Int {
        switch self {
        case .addManeuvers(let all, _): all.count
        case .addLaneGuidances(let all, _): all.count
        case .addRouteSegments(let all, _): all.count
        default: 0
        }
    }

    /// The number of elements that a message may add.
    fileprivate var addedCountMax: Int {
        switch self {
        case .addManeuvers: ProtocolConstants.maneuversMax
        case .addLaneGuidances: ProtocolConstants.laneGuidancesMax
        case .addRouteSegments: ProtocolConstants.routeSegmentsMax
        default: 0
        }
    }

    /// The same with a part of what it adds.
    fileprivate func adding(_ range: Range<Int>) -> Publication {
        switch self {
        case .addManeuvers(let all, let generation): .addManeuvers(Array(all[range]), generation: generation)
        case .addLaneGuidances(let all, let generation):
            .addLaneGuidances(Array(all[range]), generation: generation)
        case .addRouteSegments(let all, let generation):
            .addRouteSegments(Array(all[range]), generation: generation)
        default: self
        }
    }

    /// The parts of a route that takes more than `byteCountMax` bytes; itself if it is shorter, and any other publication.
    fileprivate func partsIfLong(_ byteCountMax: Int, _ coder: BodyCoder) -> [Publication] {
        guard self.addedCount == 0, !self.isWithinCounts || self.byteCountEstimate > byteCountMax else {
            return [self]
        }
        let parts = self.parts
        var left = byteCountMax
        for part in parts {
            let (count, byteCount) = coder.elementsFitting(part, 0, left)
            guard count == part.addedCount else { return parts }
            left -= byteCount
        }
        return self.isWithinCounts ? [self] : parts
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

extension Publication {
    /// About how many bytes what it adds to a route takes; most is shorter.
    fileprivate var byteCountEstimate: Int {
        switch self {
        case .addManeuvers(let all, _): all.reduce(0) { $0 + $1.byteCountEstimate }
        case .addLaneGuidances(let all, _): all.reduce(0) { $0 + $1.byteCountEstimate }
        case .addRouteSegments(let all, _): all.reduce(0) { $0 + $1.byteCountEstimate }
        case .startGuidance(_, _, let route), .resumeGuidance(_, _, let route?): route.byteCountEstimate
        default: 0
        }
    }
}

extension [String] {
    fileprivate var byteCount: Int { self.reduce(0) { $0 + $1.utf8.count + 3 } }
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
}

extension LaneGuidance {
    fileprivate var byteCountEstimate: Int {
        8 + self.instructionVariants.byteCount + self.lanes.reduce(0) { $0 + 8 + 2 * $1.angles.count }
    }
}

extension RouteSegment {
    fileprivate var byteCountEstimate: Int {
        64 + self.origin.byteCountEstimate + self.destination.byteCountEstimate + 4 * self.coordinates.count
            + 3 * (self.maneuvers.count + self.laneGuidances.count) + 16 * self.speedLimits.count
    }
}

extension Waypoint {
    fileprivate var byteCountEstimate: Int {
        32 + self.nameVariants.byteCount + self.addressVariants.byteCount + 20 * self.entryPoints.count
    }
}
