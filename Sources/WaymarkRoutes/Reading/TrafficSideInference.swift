import WaymarkModel

/// Infers the traffic side from the direction around roundabouts, for engines that do not say.
struct TrafficSideInference {
    private var left = 0
    private var right = 0

    /// Counts one drive around a roundabout, from the point of entering it to the point of leaving it.
    mutating func add(around points: ArraySlice<Coordinate>) {
        var turned = 0.0
        var last: Double?
        for (from, to) in zip(points, points.dropFirst()) where from != to {
            let bearing = from.bearing(to: to)
            if let last {
                turned += (bearing - last + 540).truncatingRemainder(dividingBy: 360) - 180
            }
            last = bearing
        }
        // Why: a smaller angle is a bend, or a roundabout with too few points to decide.
        guard abs(turned) > 20 else { return }
        if turned > 0 { self.left += 1 } else { self.right += 1 }
    }

    /// The side: left-hand traffic drives clockwise around a roundabout; nil if unknown.
    var side: TrafficSide? {
        self.left == self.right ? nil : self.left > self.right ? .left : .right
    }
}
