import ExpectedState
internal import WaymarkCodec
internal import WaymarkModel
internal import WaymarkProtocol

// Endpoints that take small frames only: what they must be sent, a second implementation of "Size" in Docs/protocol.md, independent of
// the gateway's.
extension ExpectedFitting {
    /// The largest frame, as the gateway rounds it; nil for any.
    var frameBytesMax: Int? {
        guard self.receiveFrameBytesMax > 0 else { return nil }
        var size = 4_096
        while 2 * size <= Int(self.receiveFrameBytesMax) { size *= 2 }
        return size
    }

    private func fits(_ publication: Publication) -> Bool {
        guard let frameBytesMax else { return true }
        return Codec.encode(Envelope(.publication(publication))).bytes.count <= frameBytesMax
    }

    /// Whether an endpoint may be sent `received` in place of `whole`, which was cut to its other limits.
    func accepts(_ received: Publication, for whole: Publication) -> Bool {
        if self.fits(whole) { return received == whole }
        for texts in Texts.allCases {
            let short = whole.with(texts)
            if self.fits(short) { return received == short }
        }
        var short = whole.with(.shortest)
        if case .addRouteSegments(var segments, let generation) = short,
            segments.contains(where: { !$0.speedLimits.isEmpty })
        {
            for index in segments.indices { segments[index].speedLimits = [] }
            short = .addRouteSegments(segments, generation: generation)
            if self.fits(short) { return received == short }
        }
        if case .addRouteSegments(let segments, let generation) = short,
            case .addRouteSegments(let thinned, _) = received
        {
            return segments.count == 1 && thinned.count == 1
                && self.accepts(thinned[0], for: segments[0], generation)
        }
        var plain = short.plain
        while !self.fits(plain) {
            guard case .tripPreviews(var trips, let selected) = plain, trips.count > 1 else { return false }
            for index in trips.indices.reversed() where trips[index].id != selected {
                trips.remove(at: index)
                break
            }
            plain = .tripPreviews(trips, selected: selected)
        }
        return received == plain
    }

    /// The same for a segment: a line with nearly as many points as fit.
    private func accepts(_ received: RouteSegment, for short: RouteSegment, _ generation: UInt32) -> Bool {
        func segment(_ base: RouteSegment, points count: Int) -> RouteSegment {
            var segment = base
            segment.coordinates = Self.thin(short.coordinates, count)
            return segment
        }
        func fits(_ segment: RouteSegment) -> Bool {
            self.fits(.addRouteSegments([segment], generation: generation))
        }
        let base = fits(segment(short, points: 2)) ? short : short.plain
        let (count, whole) = (received.coordinates.count, short.coordinates.count)
        let more = min(whole, count + count / 4 + 8)
        return received == segment(base, points: max(1, count)) && count >= min(2, whole)
            && (more == count || !fits(segment(base, points: more)))
    }

    /// What is left of a state that was cut to the size of frames in any way, to compare such states.
    func leastOf(_ state: DriveState) -> DriveState {
        guard self.frameBytesMax != nil else { return state }
        var least = state
        least.trip = state.trip?.least
        if case .tripPreviews(let trips, let selected) = state.previews {
            let first = trips.first { $0.id == selected } ?? trips.first
            least.previews = .tripPreviews(first.map { [$0.least] } ?? [], selected: selected)
        }
        least.segments = state.segments.map { segment in
            var segment = segment.plain
            (segment.origin, segment.destination) = (segment.origin.least, segment.destination.least)
            segment.coordinates = [segment.coordinates.first, segment.coordinates.last].compactMap(\.self)
            segment.speedLimits = []
            return segment
        }
        least.roadName = Array(state.roadName.prefix(1))
        return least
    }
}

/// Which variants of a text are kept.
private enum Texts: CaseIterable {
    case first, shortest

    func callAsFunction(_ variants: [String]) -> [String] {
        let sorted = self == .first ? variants : variants.sorted { $0.utf8.count < $1.utf8.count }
        return Array(sorted.prefix(1))
    }
}

extension Publication {
    fileprivate func with(_ texts: Texts) -> Publication {
        switch self {
        case .tripPreviews(let trips, let selected):
            .tripPreviews(trips.map { $0.with(texts) }, selected: selected)
        case .updateTrip(let trip): .updateTrip(trip.with(texts))
        case .addRouteSegments(let segments, let generation):
            .addRouteSegments(segments.map { $0.with(texts) }, generation: generation)
        case .plain(.currentRoadName(let variants)): .currentRoadName(texts(variants))
        case .pauseGuidance(let reason, let variants): .pauseGuidance(reason, description: texts(variants))
        case .shareDestination(let id, let place, let trip):
            .shareDestination(shareID: id, place.with(texts), trip: trip)
        default: self
        }
    }

    fileprivate var plain: Publication {
        switch self {
        case .tripPreviews(let trips, let selected): .tripPreviews(trips.map(\.plain), selected: selected)
        case .updateTrip(let trip): .updateTrip(trip.plain)
        case .shareDestination(let id, let place, let trip):
            .shareDestination(shareID: id, place.plain, trip: trip)
        default: self
        }
    }
}

extension Waypoint {
    fileprivate func with(_ texts: Texts) -> Waypoint {
        var place = self
        (place.nameVariants, place.addressVariants) = (texts(self.nameVariants), texts(self.addressVariants))
        return place
    }

    fileprivate var plain: Waypoint {
        var place = self
        (place.addressVariants, place.entryPoints) = ([], [])
        return place
    }

    fileprivate var least: Waypoint {
        var place = self.plain
        place.nameVariants = []
        return place
    }
}

extension Trip {
    fileprivate func with(_ texts: Texts) -> Trip {
        var trip = self
        (trip.origin, trip.destination) = (self.origin.with(texts), self.destination.with(texts))
        trip.waypoints = self.waypoints.map { $0.with(texts) }
        return trip
    }

    fileprivate var plain: Trip {
        var trip = self
        (trip.origin, trip.destination) = (self.origin.plain, self.destination.plain)
        trip.waypoints = self.waypoints.map {
            Waypoint(center: $0.center, locationThreshold: $0.locationThreshold, stopKind: $0.stopKind)
        }
        return trip
    }

    fileprivate var least: Trip {
        var trip = self.plain
        (trip.origin, trip.destination) = (trip.origin.least, trip.destination.least)
        return trip
    }
}

extension RouteSegment {
    fileprivate func with(_ texts: Texts) -> RouteSegment {
        var segment = self
        (segment.origin, segment.destination) = (self.origin.with(texts), self.destination.with(texts))
        return segment
    }

    fileprivate var plain: RouteSegment {
        var segment = self
        (segment.origin, segment.destination) = (self.origin.plain, self.destination.plain)
        (segment.maneuvers, segment.laneGuidances) = ([], [])
        return segment
    }
}

/// Makes publications too long for small frames, now and then.
enum LongContent {
    private static func text(_ random: inout SeededRandom) -> String {
        String(repeating: "long ", count: random.number(20...100))
    }

    static func lengthen(_ place: Waypoint, _ random: inout SeededRandom) -> Waypoint {
        guard random.once(in: 3) else { return place }
        var place = place
        place.nameVariants = (0..<random.number(1...8)).map { _ in self.text(&random) }
        place.addressVariants = (0..<random.number(0...8)).map { _ in self.text(&random) }
        place.entryPoints = Array(repeating: place.center, count: random.number(0...16))
        return place
    }

    static func lengthen(_ publication: Publication, _ random: inout SeededRandom) -> Publication {
        switch publication {
        case .startGuidance(let trip, let generation, let route):
            .startGuidance(
                self.lengthen(trip, &random), generation: generation, self.lengthen(route, &random))
        case .resumeGuidance(let generation, let reason, let route?):
            .resumeGuidance(generation: generation, reason, self.lengthen(route, &random))
        case .updateTrip(let trip): .updateTrip(self.lengthen(trip, &random))
        case .tripPreviews(let trips, let selected):
            .tripPreviews(
                (0..<random.number(1...12 / max(trips.count, 1))).flatMap { index in
                    trips.map { trip in
                        var trip = self.lengthen(trip, &random)
                        // The first ones keep their ids: one of them may be selected.
                        if index > 0 { trip.id += "-\(index)" }
                        return trip
                    }
                }, selected: selected)
        case .addRouteSegments(let segments, let generation):
            .addRouteSegments(segments.map { self.lengthen($0, &random) }, generation: generation)
        case .plain(.currentRoadName) where random.once(in: 4):
            .currentRoadName((0..<8).map { _ in String(repeating: "road", count: 127) })
        case .shareDestination(let id, let place, let trip):
            .shareDestination(shareID: id, self.lengthen(place, &random), trip: trip)
        default: publication
        }
    }

    private static func lengthen(_ trip: Trip, _ random: inout SeededRandom) -> Trip {
        var trip = trip
        trip.origin = self.lengthen(trip.origin, &random)
        trip.destination = self.lengthen(trip.destination, &random)
        if random.once(in: 3) {
            trip.waypoints = (0..<random.number(1...64)).map { _ in
                self.lengthen(RandomDrive.waypoint(&random), &random)
            }
        }
        return trip
    }

    private static func lengthen(_ route: RouteInformation, _ random: inout SeededRandom) -> RouteInformation
    {
        var route = route
        route.segments = route.segments.map { self.lengthen($0, &random) }
        for index in route.maneuvers.indices {
            route.maneuvers[index].instructionVariants = (0..<random.number(0...4)).map { _ in
                self.text(&random)
            }
        }
        return route
    }

    private static func lengthen(_ segment: RouteSegment, _ random: inout SeededRandom) -> RouteSegment {
        var segment = segment
        segment.origin = self.lengthen(segment.origin, &random)
        guard random.once(in: 4) else { return segment }
        // A second implementation of thinning takes the square of its points.
        segment.coordinates = (0..<random.number(100...500)).map {
            // In steps of 1e-6 degrees, which the wire represents exactly.
            Coordinate(
                latitude: Double(random.number(40_000_000...49_000_000)) / 1e6,
                longitude: Double(9_000_000 + 1_000 * $0) / 1e6)
        }
        return segment
    }
}
