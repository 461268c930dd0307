public import WaymarkModel
import WaymarkProtocol

/// A part of a routing engine's answer that was lost or changed in reading.
public struct RouteNotice: Sendable, Hashable {
    /// The path of the part in the answer, e.g. `routes[0].legs[1].steps[3].maneuver`.
    public package(set) var path: String
    /// The reason, as a sentence.
    public package(set) var reason: String
    /// Whether it reports that the engine moved a point.
    package var isMovedPoint: Bool
    /// Whether it reports that Waymark has no place for a member of the engine's answer, which changes nothing of what is shown.
    package var isOmission: Bool { self.reason.hasPrefix("not carried over") }

    package init(path: String, reason: String, isMovedPoint: Bool = false) {
        self.path = path
        self.reason = reason
        self.isMovedPoint = isMovedPoint
    }

    /// Reports that the engine moved the point at `path` by `meters`; nil if that is within `limit`.
    package init?(movedPoint path: String, meters: Double, limit: Double = RoutingLimits.stopMetersMax) {
        guard meters > limit else { return nil }
        self.init(
            path: path,
            reason: "the engine moved this point by \(Int(min(meters, 1e9))) m to the nearest road",
            isMovedPoint: true)
    }
}

/// A piece of a route with one road name.
package struct EngineRoad: Sendable, Hashable {
    /// The index of its first point in ``EngineRoute/line``.
    package var lineIndex: Int
    /// Longest first; empty for a road without a name.
    package var nameVariants: [String]
    /// Maneuvers on it are announced earlier.
    package var isMotorway: Bool

    package init(lineIndex: Int, nameVariants: [String], isMotorway: Bool) {
        self.lineIndex = lineIndex
        self.nameVariants = nameVariants
        self.isMotorway = isMotorway
    }
}

/// A speed limit along a piece of a route, up to the next one.
package struct EngineSpeedLimit: Sendable, Hashable {
    /// The index of its first point in ``EngineRoute/line``.
    package var lineIndex: Int
    package var limit: SpeedLimit

    package init(lineIndex: Int, limit: SpeedLimit) {
        self.lineIndex = lineIndex
        self.limit = limit
    }
}

/// A route that a routing engine computed, with what ``Drive`` needs to drive along it.
public struct EngineRoute: Sendable, Hashable {
    /// The routing engines whose answers can be read.
    public enum Engine: String, Sendable, Hashable, CaseIterable { case osrm, mapbox, valhalla, graphhopper }

    /// The engine that computed the route.
    public package(set) var engine: Engine
    /// Origin, stops, destination; at least two.
    public package(set) var waypoints: [Waypoint]
    /// The information to start guidance with: maneuvers and lane guidances in order with ids from 1, one segment per leg, and the
    /// first maneuvers as the upcoming ones.
    public package(set) var information: RouteInformation
    /// The whole line; at least one point, no two equal neighbours.
    public package(set) var line: [Coordinate]
    /// The engine's speed in metres per second between `line[i]` and `line[i + 1]`; finite, above 0; one fewer than `line`.
    package var lineSpeeds: [Double]
    /// In order; the first one begins at index 0.
    package var roads: [EngineRoad]
    /// The speed limits along ``line``, in order; neighbours differ, and the first one begins at index 0. Empty if none is known.
    package private(set) var speedLimits: [EngineSpeedLimit] = []
    /// The position of each of `information.maneuvers`: indices into `line`, ascending.
    package var maneuverIndices: [Int]
    /// The position of each of `information.laneGuidances`: indices into `line`, ascending.
    package var laneGuidanceIndices: [Int]
    /// The start of each of `information.segments`: indices into `line`, ascending.
    package var segmentIndices: [Int]
    /// Planned stop time at each of ``waypoints``, in seconds, e.g. to charge; ignored for origin and destination.
    package var stopSeconds: [Double]
    /// The length according to the engine.
    public package(set) var distance: Distance
    /// The travel time according to the engine, including the time at stops.
    public package(set) var duration: Duration
    /// Notices about what was lost or changed in reading.
    public package(set) var notices: [RouteNotice]
    /// The route in a few words, e.g. "Landstrasse, Austrasse"; longest first; empty when nothing has a name.
    public package(set) var summaryVariants: [String]

    package init(
        engine: Engine, waypoints: [Waypoint], information: RouteInformation, line: [Coordinate],
        lineSpeeds: [Double], roads: [EngineRoad], maneuverIndices: [Int], laneGuidanceIndices: [Int],
        segmentIndices: [Int], stopSeconds: [Double], distance: Distance, duration: Duration,
        notices: [RouteNotice], summaryVariants: [String] = []
    ) {
        self.engine = engine
        self.waypoints = waypoints
        self.information = information
        self.line = line
        self.lineSpeeds = lineSpeeds
        self.roads = roads
        self.maneuverIndices = maneuverIndices
        self.laneGuidanceIndices = laneGuidanceIndices
        self.segmentIndices = segmentIndices
        self.stopSeconds = stopSeconds
        self.distance = distance
        self.duration = duration
        self.notices = notices
        self.summaryVariants = summaryVariants
    }

    /// The line with its times, and the times at stops.
    package var measure: LineMeasure {
        LineMeasure(
            line: self.line, speeds: self.lineSpeeds, stops: Self.stops(self.segmentIndices, self.stopSeconds)
        )
    }

    /// The seconds at each stop by its index into the line. A stop is at the start of the following leg.
    static func stops(_ segmentIndices: [Int], _ stopSeconds: [Double]) -> [Int: Double] {
        let stops = zip(segmentIndices, stopSeconds).dropFirst().filter { $0.1 > 0 }
        return Dictionary(stops, uniquingKeysWith: +)
    }
}

// MARK: Speed limits

extension EngineRoute {
    /// Sets the speed limits of the line and of the segments.
    ///
    /// - Parameters:
    ///   - pieces: One for each piece of ``line``; all of them unknown if the engine says none.
    ///   - path: The route's path in the answer.
    ///   - book: Gets the notices.
    mutating func limitSpeeds(_ pieces: [SpeedLimit], _ path: JSONPath, _ book: inout NoticeBook) {
        var limits: [EngineSpeedLimit] = []
        for (index, limit) in pieces.enumerated() where limits.last?.limit != limit {
            limits.append(EngineSpeedLimit(lineIndex: index, limit: limit))
        }
        let isAnyKnown = limits.contains { $0.limit.status != .unknown }
        self.speedLimits = isAnyKnown ? limits : []
        for (index, range) in self.segmentRanges.enumerated() {
            let spans = self.spans(
                range.lowerBound..<range.upperBound,
                points: self.information.segments[index].coordinates.count)
            self.information.segments[index].speedLimits = book.fit(
                spans, countMax: ProtocolConstants.speedLimitsMax, "speed limits of a leg", at: path)
        }
    }

    /// The limits of the pieces in `range` of the line, for a segment of `points` points; without an unknown one at its start.
    private func spans(_ range: Range<Int>, points: Int) -> [SpeedLimitSpan] {
        var spans: [SpeedLimitSpan] = []
        for (index, limit) in self.speedLimits.enumerated() {
            let next =
                index + 1 < self.speedLimits.count ? self.speedLimits[index + 1].lineIndex : range.upperBound
            guard limit.lineIndex < range.upperBound, next > range.lowerBound else { continue }
            // A segment with fewer points than the line has every so many of them: the limit holds from the next one.
            let place = max(0, limit.lineIndex - range.lowerBound)
            let point = range.isEmpty ? 0 : (place * (points - 1) + range.count - 1) / range.count
            if spans.last?.firstPoint == UInt32(point) { spans.removeLast() }
            if spans.isEmpty, limit.limit.status == .unknown { continue }
            guard point < points - 1, spans.last?.limit != limit.limit else { continue }
            spans.append(SpeedLimitSpan(from: UInt32(point), limit.limit))
        }
        return spans
    }

    /// Adds the speed limits that Valhalla's `/trace_attributes` says of the legs. A leg without a trace keeps its limits.
    ///
    /// - Parameter traces: The answers of the legs, in order; nil for a leg that was not traced.
    /// - Throws: The first answer's error that is no trace. The route is as it was then.
    package mutating func addSpeedLimits(ofTraces traces: [[UInt8]?]) throws(RouteReadingError) {
        var pieces: [SpeedLimit] = []
        for (index, limit) in self.speedLimits.enumerated() {
            let end =
                index + 1 < self.speedLimits.count
                ? self.speedLimits[index + 1].lineIndex : self.line.count - 1
            pieces += Array(repeating: limit.limit, count: max(0, end - limit.lineIndex))
        }
        if pieces.isEmpty { pieces = Array(repeating: .unknown, count: self.line.count - 1) }
        var book = NoticeBook()
        for (trace, range) in zip(traces, self.segmentRanges) {
            guard let trace, range.count > 1 else { continue }
            let answer = JSONNode(try JSONParser.parse(trace))
            if let refusal = RouteReader.refusal(answer) { throw refusal }
            let limits = try ValhallaSpeedLimits.read(
                answer, line: Array(self.line[range]), &book)
            if !limits.isEmpty { pieces.replaceSubrange(range.lowerBound..<range.upperBound, with: limits) }
        }
        self.limitSpeeds(pieces, .root, &book)
        self.notices += book.complete
    }
}
