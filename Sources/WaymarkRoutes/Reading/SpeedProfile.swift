import WaymarkModel

/// The engine's own speeds along a leg.
enum SpeedProfile {
    /// Metres per second between neighbouring points of `leg`, one fewer than points.
    ///
    /// Computed from the times between points if the engine has them, else from each step's length and time. Then all speeds are
    /// scaled so that the leg takes as long as the engine says: times between points do not include waiting at junctions.
    static func speeds(of leg: LegDraft) -> [Double] {
        guard leg.points.count > 1 else { return [] }
        let lengths = zip(leg.points, leg.points.dropFirst()).map { $0.meters(to: $1) }
        let length = lengths.reduce(0, +)
        let average = Self.speed(meters: length, seconds: leg.duration)
        var speeds = Self.stepSpeeds(of: leg, lengths, fallback: average ?? RouteBuilder.defaultSpeed)
        for (index, seconds) in leg.pointDurations.enumerated() where index < speeds.count {
            speeds[index] = Self.speed(meters: lengths[index], seconds: seconds) ?? speeds[index]
        }
        if let average, length > 0 {
            let seconds = zip(lengths, speeds).reduce(0) { $0 + $1.0 / $1.1 }
            let factor = average * seconds / length
            if factor.isFinite, factor > 0 { speeds = speeds.map { Self.inRange($0 * factor) } }
        }
        return speeds
    }

    private static func stepSpeeds(of leg: LegDraft, _ lengths: [Double], fallback: Double) -> [Double] {
        var speeds = Array(repeating: Self.inRange(fallback), count: lengths.count)
        for (index, step) in leg.steps.enumerated() {
            let end = index + 1 < leg.steps.count ? leg.steps[index + 1].pointIndex : lengths.count
            guard step.pointIndex < end, end <= lengths.count else { continue }
            let range = step.pointIndex..<end
            if let speed = Self.speed(meters: lengths[range].reduce(0, +), seconds: step.duration) {
                for point in range { speeds[point] = speed }
            }
        }
        return speeds
    }

    private static func speed(meters: Double, seconds: Double?) -> Double? {
        guard let seconds, seconds > 0, meters > 0, (meters / seconds).isFinite else { return nil }
        return Self.inRange(meters / seconds)
    }

    private static func inRange(_ speed: Double) -> Double {
        min(max(speed, RouteBuilder.speeds.lowerBound), RouteBuilder.speeds.upperBound)
    }
}
