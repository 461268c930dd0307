package import WaymarkModel

/// What a routing engine's answer said that could not be carried over as it is.
package struct RouteNotice: Sendable, Hashable {
    /// Where in the answer, e.g. `routes[0].legs[1].steps[3].maneuver`.
    package var path: String
    /// A sentence.
    package var reason: String
    /// Whether it says that the engine moved a point, whatever the path is.
    package var isMovedPoint: Bool

    package init(path: String, reason: String, isMovedPoint: Bool = false) {
        self.path = path
        self.reason = reason
        self.isMovedPoint = isMovedPoint
    }

    /// The engine moved the point at `path` by so many metres; nil for a point that is near enough.
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
    /// Where it begins: index into ``EngineRoute/line``.
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

/// One route as a routing engine computed it, in the model's words, with what is needed to drive along it.
package struct EngineRoute: Sendable, Hashable {
    /// Whose answer it was.
    package enum Engine: String, Sendable, Hashable, CaseIterable { case osrm, mapbox, valhalla, graphhopper }

    package var engine: Engine
    /// Origin, stops, destination; at least two.
    package var waypoints: [Waypoint]
    /// Maneuvers and lane guidances in order with ids from 1, one segment per leg, upcoming = the first maneuvers.
    package var information: RouteInformation
    /// The whole way; at least one point, no two equal neighbours.
    package var line: [Coordinate]
    /// The engine's speed in metres per second between `line[i]` and `line[i + 1]`; finite, above 0; one fewer than `line`.
    package var lineSpeeds: [Double]
    /// In order, the first from index 0.
    package var roads: [EngineRoad]
    /// Where each of `information.maneuvers` is: indices into `line`, ascending.
    package var maneuverIndices: [Int]
    /// Where each of `information.laneGuidances` is: indices into `line`, ascending.
    package var laneGuidanceIndices: [Int]
    /// Where each of `information.segments` begins: indices into `line`, ascending.
    package var segmentIndices: [Int]
    /// Planned stop time at each of ``waypoints``, in seconds, e.g. to charge; ignored for origin and destination.
    package var stopSeconds: [Double]
    /// As the engine says.
    package var distance: Distance
    /// As the engine says, with the time at stops.
    package var duration: Duration
    /// What could not be carried over.
    package var notices: [RouteNotice]
    /// The way in a few words, e.g. "Landstrasse, Austrasse"; longest first; empty when nothing has a name.
    package var summaryVariants: [String]

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

    /// The stops on the way: indices into the line, with seconds. A leg begins where the one before has its stop.
    static func stops(_ segmentIndices: [Int], _ stopSeconds: [Double]) -> [Int: Double] {
        let stops = zip(segmentIndices, stopSeconds).dropFirst().filter { $0.1 > 0 }
        return Dictionary(stops, uniquingKeysWith: +)
    }
}
