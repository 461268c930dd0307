import WaymarkModel

/// A leg as read, before limits, ids and speeds are applied.
struct LegDraft {
    /// A maneuver, and the road up to the next one.
    struct Step {
        var path: JSONPath
        /// The maneuver's position: index into the leg's points.
        var pointIndex: Int
        /// Its id, estimates and lane guidance are set later.
        var maneuver: Maneuver
        /// From this maneuver to the next, in metres; nil if the engine does not say.
        var distance: Double?
        /// From this maneuver to the next, in seconds; nil if the engine does not say.
        var duration: Double?
        /// Of the road after the maneuver.
        var roadNames: [String] = []
        var isMotorway = false
        /// The engine's word on the traffic side; nil if it says nothing.
        var side: TrafficSide?
        /// The arc that is driven on a roundabout; nil for another maneuver, and if the line does not show it.
        var ring: RingArc?
        /// The side of a roundabout whose line does not show it, by another value of the answer; nil if unknown.
        var ringSide: TrafficSide?
        /// A stated bearing contradicts the line and was replaced.
        var isCorrected = false
    }

    /// The lanes at one point.
    struct Lanes {
        var path: JSONPath
        var pointIndex: Int
        var lanes: [Lane]
        /// The maneuver they belong to: index into the leg's steps; nil for lanes between maneuvers.
        var stepIndex: Int?
    }

    var path: JSONPath
    /// As in the answer, with equal neighbours.
    var points: [Coordinate] = []
    /// In order of their points.
    var steps: [Step] = []
    var lanes: [Lanes] = []
    /// Seconds between neighbouring points; empty where the engine does not say, else one fewer than points.
    var pointDurations: [Double?] = []
    /// The speed limits between neighbouring points; empty where the engine says none, else one fewer than points.
    var speedLimits: [SpeedLimit] = []
    /// In metres; nil if the engine does not say.
    var distance: Double?
    /// In seconds; nil if the engine does not say.
    var duration: Double?
    /// In the engine's words; empty for none.
    var summary = ""
}

/// A whole route as read.
struct RouteDraft {
    var engine: EngineRoute.Engine
    var path: JSONPath
    var legs: [LegDraft] = []
    /// Origin, stops, destination; nil if the answer has none, or their number is not that of the legs plus one.
    var places: [PlaceDraft]?
    /// In metres; nil if the engine does not say.
    var distance: Double?
    /// In seconds; nil if the engine does not say.
    var duration: Double?
    var book = NoticeBook()
}

extension RouteDraft {
    /// Reports legs that cannot be driven, and removes one of the two waypoints of each.
    ///
    /// - Parameters:
    ///   - missing: Indices of the legs as the answer has them; ``legs`` has only the others.
    ///   - nodes: All legs of the answer.
    mutating func leaveOut(_ missing: [Int], of nodes: [JSONNode]) {
        for index in missing.reversed() {
            self.book.add(nodes[index].path, "this leg has no steps or no line, and is left out")
            let isLast =
                index == nodes.count - 1
                || missing.contains(index + 1) && self.isBehind(index, missing, nodes)
            let meters = nodes[index]["distance"]?.quantity ?? nodes[index]["summary"]?["length"]?.quantity
            // The line begins where the first leg ends, and ends where the last one begins.
            let place = index == 0 || (isLast && meters == 0) ? index : index + 1
            if let count = self.places?.count, place < count { self.places?.remove(at: place) }
            if isLast, meters != 0, let leg = self.legs.indices.last,
                let step = self.legs[leg].steps.indices.last
            {
                self.legs[leg].steps[step].maneuver.type = .arriveEndOfDirections
            }
        }
    }

    /// Whether all legs behind the one at `index` are missing, too.
    private func isBehind(_ index: Int, _ missing: [Int], _ nodes: [JSONNode]) -> Bool {
        (index..<nodes.count).allSatisfy(missing.contains)
    }
}
