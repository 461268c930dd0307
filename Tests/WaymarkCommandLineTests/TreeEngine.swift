import Foundation
import Synchronization
import WaymarkModel
import WaymarkRoutes

/// A routing engine over a made-up network: one road, and a branch to each place beside it that was asked for.
///
/// It answers as real engines do: points are moved to the network, some of them far, and the way to a stop beside the road leads
/// back along the same branch, on the other carriageway.
final class TreeEngine: RoutingEngine {
    /// A place in the network: on the road, or on a branch so far from the road.
    private struct Place {
        var meters: Double
        var branch: Int?
        var fromRoad = 0.0
    }

    private struct Branch {
        let point: Coordinate
        let meters: Double
        let base: Coordinate
        let end: Coordinate
    }

    /// So near to the network a point is on it, in metres.
    private static let nearMeters = 15.0
    /// No branch leads farther from the road than this, in metres.
    private static let branchMetersMax = 1_500.0
    /// How far the carriageways are apart.
    private static let carriagewayMeters = 8.0

    private let road: [Coordinate]
    private let measure: LineMeasure
    private let branches = Mutex<[Branch]>([])

    init(road: [Coordinate]) {
        self.road = road
        self.measure = LineMeasure(line: road, speeds: Array(repeating: 13, count: road.count - 1))
    }

    var length: Double { self.measure.length }

    func point(at meters: Double) -> Coordinate { self.measure.point(at: meters, on: self.road) }

    func route(through points: [Coordinate]) async throws(RoutingError) -> RouteAnswer {
        let places = points.map(self.place)
        let legs = zip(places, places.dropFirst()).map { Self.leg(self.path(from: $0, to: $1)) }
        let json = "{\"code\":\"Ok\",\"routes\":[{\"legs\":[\(legs.joined(separator: ","))]}]}"
        do throws(RouteReadingError) {
            var answer = try RouteReader.read(Array(json.utf8))
            answer.reportMissed(points, limit: RoutingLimits.stopMetersMax)
            return answer
        } catch { throw .unreadable(address: "tree", status: "200 OK", error) }
    }

    // MARK: The network

    private func place(of point: Coordinate) -> Place {
        let meters = self.measure.nearest(to: point, on: self.road)
        let base = self.point(at: meters)
        if base.meters(to: point) <= Self.nearMeters { return Place(meters: meters) }
        return self.branches.withLock { branches in
            for (index, branch) in branches.enumerated() {
                if branch.point.isAt(point) {
                    return Place(
                        meters: branch.meters, branch: index, fromRoad: branch.base.meters(to: branch.end))
                }
                let line = LineMeasure(line: [branch.base, branch.end], speeds: [1])
                let along = line.nearest(to: point, on: [branch.base, branch.end])
                if line.point(at: along, on: [branch.base, branch.end]).meters(to: point) <= Self.nearMeters {
                    return Place(meters: branch.meters, branch: index, fromRoad: along)
                }
            }
            let distance = base.meters(to: point)
            let missed = max(min(distance / 2, 120), distance - Self.branchMetersMax)
            let end = base.interpolated(to: point, fraction: (distance - missed) / distance)
            branches.append(Branch(point: point, meters: meters, base: base, end: end))
            return Place(meters: meters, branch: branches.count - 1, fromRoad: base.meters(to: end))
        }
    }

    private func path(from: Place, to: Place) -> [Coordinate] {
        if let branch = from.branch, branch == to.branch {
            return self.walk(branch, from: from.fromRoad, to: to.fromRoad)
        }
        var path: [Coordinate] = []
        if let branch = from.branch { path += self.walk(branch, from: from.fromRoad, to: 0) }
        path += self.drive(from: from.meters, to: to.meters)
        if let branch = to.branch { path += self.walk(branch, from: 0, to: to.fromRoad) }
        return path
    }

    private func walk(_ branch: Int, from: Double, to: Double) -> [Coordinate] {
        let (base, end) = self.branches.withLock { ($0[branch].base, $0[branch].end) }
        let length = base.meters(to: end)
        let ends = [from, to].map {
            base.interpolated(to: end, fraction: length > 0 ? min(1, $0 / length) : 0)
        }
        return to < from ? self.otherSide(ends) : ends
    }

    private func drive(from: Double, to: Double) -> [Coordinate] {
        let (low, high) = (min(from, to), max(from, to))
        let between = self.road.indices.filter {
            self.measure.meters[$0] > low && self.measure.meters[$0] < high
        }
        let line = [self.point(at: low)] + between.map { self.road[$0] } + [self.point(at: high)]
        return to < from ? self.otherSide(line.reversed()) : line
    }

    private func otherSide(_ line: [Coordinate]) -> [Coordinate] {
        zip(line, line.dropFirst() + [line[line.count - 1]]).map { here, next in
            here.moved(meters: Self.carriagewayMeters, bearing: here.bearing(to: next) + 90)
        }
    }

    private static func leg(_ path: [Coordinate]) -> String {
        let points = path.map { "[\($0.longitude),\($0.latitude)]" }
        let meters = zip(path, path.dropFirst()).reduce(0) { $0 + $1.0.meters(to: $1.1) }
        func step(_ type: String, _ location: String, _ points: [String], _ meters: Double) -> String {
            """
            {"maneuver":{"type":"\(type)","location":\(location)},"mode":"driving","name":"Road","distance":\(meters),
            "duration":\(meters / 13),"geometry":{"type":"LineString","coordinates":[\(points.joined(separator: ","))]},
            "intersections":[]}
            """
        }
        let last = points[points.count - 1]
        return """
            {"steps":[\(step("depart", points[0], points, meters)),\(step("arrive", last, [last, last], 0))],
            "distance":\(meters),"duration":\(meters / 13)}
            """
    }
}
