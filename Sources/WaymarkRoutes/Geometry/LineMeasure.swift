import Foundation
package import WaymarkModel

/// Distances and travel times along a line.
package struct LineMeasure: Sendable, Hashable {
    /// Metres from the start to each point; ascending.
    package let meters: [Double]
    /// Seconds from the start to the arrival at each point, at the line's speeds; ascending.
    package let seconds: [Double]
    /// Seconds spent at points, by their index; all above 0.
    private let stops: [Int: Double]

    /// Measures `line`, driven at `speeds` in metres per second, one fewer than points.
    ///
    /// - Parameters:
    ///   - line: At least one point.
    ///   - speeds: Finite, above 0.
    ///   - stops: Seconds spent at points, by their index.
    package init(line: [Coordinate], speeds: [Double], stops: [Int: Double] = [:]) {
        var meters = [0.0]
        var seconds = [0.0]
        for index in speeds.indices where index + 1 < line.count {
            let length = line[index].meters(to: line[index + 1])
            meters.append(meters[index] + length)
            seconds.append(seconds[index] + (stops[index] ?? 0) + length / speeds[index])
        }
        self.meters = meters
        self.seconds = seconds
        self.stops = stops
    }

    /// The length of the whole line in metres.
    package var length: Double { self.meters[self.meters.count - 1] }

    /// The time for the whole line in seconds.
    package var duration: Double { self.seconds[self.seconds.count - 1] }

    /// The time at all stops in seconds.
    package var stopSeconds: Double { self.stops.values.reduce(0, +) }

    /// The index of the last point at or before `meters`, except the line's last point, unless the line has only one.
    package func index(atMeters meters: Double) -> Int { Self.index(of: meters, in: self.meters) }

    /// The time of arrival at `meters`, in seconds from the start.
    package func seconds(atMeters meters: Double) -> Double {
        let index = self.index(atMeters: meters)
        guard meters > self.meters[index], index + 1 < self.meters.count,
            self.meters[index + 1] > self.meters[index]
        else { return self.seconds[index] }
        let length = self.meters[index + 1] - self.meters[index]
        let fraction = min(1, (meters - self.meters[index]) / length)
        let departure = self.departure(index)
        return departure + (self.seconds[index + 1] - departure) * fraction
    }

    /// The time at `meters`: at a stop, `now` limited to the stay; elsewhere the time of passing.
    package func seconds(atMeters meters: Double, now: Double?) -> Double {
        let arrival = self.seconds(atMeters: meters)
        let index = self.index(atMeters: meters)
        guard let now, let stop = self.stops[index], meters == self.meters[index] else { return arrival }
        return min(max(arrival, now), arrival + stop)
    }

    /// The distance at `seconds`, in metres from the start.
    package func meters(atSeconds seconds: Double) -> Double {
        let index = Self.index(of: seconds, in: self.seconds)
        let departure = self.departure(index)
        guard index + 1 < self.seconds.count, self.seconds[index + 1] > departure else {
            return self.meters[index]
        }
        let fraction = min(1, max(0, (seconds - departure) / (self.seconds[index + 1] - departure)))
        return self.meters[index] + (self.meters[index + 1] - self.meters[index]) * fraction
    }

    /// The time of departure from the point at `index`.
    private func departure(_ index: Int) -> Double { self.seconds[index] + (self.stops[index] ?? 0) }

    private static func index(of value: Double, in values: [Double]) -> Int {
        var (low, high) = (0, values.count - 1)
        while low + 1 < high {
            let middle = (low + high) / 2
            if values[middle] <= value { low = middle } else { high = middle }
        }
        return low
    }
}

extension LineMeasure {
    /// The point at `meters` along `line`.
    package func point(at meters: Double, on line: [Coordinate]) -> Coordinate {
        let index = self.index(atMeters: meters)
        guard index + 1 < line.count, self.meters[index + 1] > self.meters[index] else { return line[index] }
        let fraction = (meters - self.meters[index]) / (self.meters[index + 1] - self.meters[index])
        // Why: exactly the line's own points at both ends, without rounding.
        if fraction <= 0 { return line[index] }
        return fraction >= 1
            ? line[index + 1] : line[index].interpolated(to: line[index + 1], fraction: fraction)
    }

    /// The distance along `line` to the position nearest to `point`, in metres; the first one of several. O(points).
    package func nearest(to point: Coordinate, on line: [Coordinate]) -> Double {
        self.pass(of: point, on: line, within: 0...self.length) { _ in false }.meters
    }

    /// The distance along `line` at which it first passes `point`, in metres, within `range` from the line's start. O(points).
    ///
    /// The first local minimum within ``passMeters`` of the global one.
    package func firstPass(
        of point: Coordinate, on line: [Coordinate], within range: ClosedRange<Double>
    ) -> Double {
        let nearest = self.pass(of: point, on: line, within: range) { _ in false }
        let limit = nearest.distance + Self.passMeters
        return self.pass(of: point, on: line, within: range) { $0 > limit }.meters
    }

    /// The maximum distance between two passes of one road in opposite directions, in metres: separate carriageways and rounding.
    private static let passMeters = 50.0

    /// The position nearest to `point` within `range`, and its distance. Stops at the first point whose distance satisfies `isPassed`
    /// after one whose distance does not.
    private func pass(
        of point: Coordinate, on line: [Coordinate], within range: ClosedRange<Double>,
        isPassed: (Double) -> Bool
    ) -> (meters: Double, distance: Double) {
        let begin = self.point(at: range.lowerBound, on: line)
        var nearest = (meters: range.lowerBound, distance: begin.meters(to: point))
        var isNear = !isPassed(nearest.distance)
        for index in line.indices.dropLast() where self.meters[index + 1] > range.lowerBound {
            guard self.meters[index] < range.upperBound else { break }
            let length = self.meters[index + 1] - self.meters[index]
            guard length > 0 else { continue }
            // Why: for one piece of the line the Earth is flat enough to measure along and across the piece.
            let turn = (line[index].bearing(to: point) - line[index].bearing(to: line[index + 1])) * .pi / 180
            let offset = line[index].meters(to: point) * cos(turn)
            let (low, high) = (
                max(0, range.lowerBound - self.meters[index]),
                min(length, range.upperBound - self.meters[index])
            )
            let along = min(high, max(low, offset))
            let place = line[index].interpolated(to: line[index + 1], fraction: along / length)
            let distance = place.meters(to: point)
            if distance < nearest.distance { nearest = (self.meters[index] + along, distance) }
            if !isPassed(distance) { isNear = true } else if isNear { break }
        }
        return nearest
    }
}
