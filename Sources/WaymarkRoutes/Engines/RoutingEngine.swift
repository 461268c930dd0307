package import WaymarkModel

/// Computes routes.
package protocol RoutingEngine: Sendable {
    /// Computes the way through `points`: origin, stops in order, destination.
    ///
    /// Points that the engine moved far to a road are reported in the routes' notices.
    func route(through points: [Coordinate]) async throws(RoutingError) -> RouteAnswer

    /// Computes up to `choices` ways through `points`, the best one first. Engines offer several between two points only.
    func routes(through points: [Coordinate], choices: Int) async throws(RoutingError) -> RouteAnswer
}

extension RoutingEngine {
    /// The one way of an engine without alternatives.
    package func routes(
        through points: [Coordinate], choices: Int
    ) async throws(RoutingError) -> RouteAnswer { try await self.route(through: points) }
}

/// Why there is no route. Each says what can be done about it.
package enum RoutingError: Error, Sendable, Hashable {
    /// Fewer than two points, or one that is not on the Earth: the caller's mistake.
    case badPoints(String)
    /// Not an `http` or `https` address: correct the setting.
    case badAddress(String)
    /// curl(1), which asks, cannot be started: install it.
    case noClient(String)
    /// No server answers there: start the engine, or correct the address.
    case unreachable(address: String, reason: String)
    /// No complete answer in time: try again, or allow more time.
    case timedOut(address: String, after: Duration)
    /// The answer is larger than allowed: ask for a shorter route, or allow more.
    case tooLarge(address: String, bytesMax: Int)
    /// The engine has no route: choose other points. `message` is the engine's; `code` may be empty.
    case refused(code: String, message: String)
    /// The answer is not a route: the server is not a routing engine, or has failed. `status` is HTTP's, e.g. "404 Not Found".
    case unreadable(address: String, status: String, RouteReadingError)
    /// The caller's task was cancelled.
    case cancelled
}

extension RoutingError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .badPoints(let reason): "no route through these points: \(reason)"
        case .badAddress(let address): "\"\(address)\" is not an http or https address"
        case .noClient(let reason): "\(reason); it asks routing engines: install the package curl"
        case .unreachable(let address, let reason):
            "no routing engine answers at \(address) (\(reason)): start it, or correct the address"
        case .timedOut(let address, let after):
            "no answer from \(address) within \(after): ask again, or allow more time"
        case .tooLarge(let address, let bytesMax):
            "the answer of \(address) is larger than \(bytesMax) bytes: ask for a shorter route"
        case .refused("", let message): "the routing engine found no route: \(message)"
        case .refused(let code, let message): "the routing engine found no route: \(code): \(message)"
        case .unreadable(let address, let status, let reason):
            "what \(address) answered (HTTP \(status)) is no route: \(reason); is it a routing engine?"
        case .cancelled: "the request for a route was cancelled"
        }
    }
}

/// Limits for one request to an engine.
package struct RoutingLimits: Sendable, Hashable {
    /// From the request to the last byte of the answer.
    package var deadline = Duration.seconds(20)
    /// A larger answer is refused.
    package var bytesMax = 32 * 1_024 * 1_024
    /// Points that the engine moved farther than this are reported, in metres. A stop farther from the route is not counted.
    package var movedMetersMax = Self.stopMetersMax

    /// A route that comes at least this close to a point, in metres, counts as leading there.
    package static let stopMetersMax = 250.0

    package init() {}
}

extension EngineRoute {
    /// How far from each of `points`, in metres, the route begins, stops or ends; nil for another number of points.
    package func metersMissed(_ points: [Coordinate]) -> [Double]? {
        let ends = (self.segmentIndices + [self.line.count - 1]).map { self.line[$0] }
        guard ends.count == points.count else { return nil }
        return zip(points, ends).map { $0.meters(to: $1) }
    }
}

extension RouteAnswer {
    /// Reports the points that a route passes only at a distance of more than `limit` metres. A route that does not lead to its
    /// destination ends with `arriveEndOfDirections`.
    package mutating func reportMissed(_ points: [Coordinate], limit: Double) {
        for index in self.routes.indices {
            guard let missed = self.routes[index].metersMissed(points) else {
                let ends = self.routes[index].segmentIndices.count + 1
                self.routes[index].notices.append(
                    RouteNotice(path: "$", reason: "\(points.count) points were asked for, \(ends) came back")
                )
                continue
            }
            // Why: the answer itself may say of the same points how far they were moved.
            self.routes[index].notices.removeAll(where: \.isMovedPoint)
            self.routes[index].notices += missed.enumerated().compactMap { number, meters in
                RouteNotice(movedPoint: "point \(number + 1)", meters: meters, limit: limit)
            }
            if let last = missed.last, last > limit { self.routes[index].endDirections() }
        }
    }
}

extension EngineRoute {
    /// Ends the directions before the destination.
    fileprivate mutating func endDirections() {
        guard let last = self.information.maneuvers.indices.last else { return }
        self.information.maneuvers[last].type = .arriveEndOfDirections
    }
}
