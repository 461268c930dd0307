package import WaymarkModel

extension RoutingEngine {
    /// Computes the way through `waypoints`: origin, stops in order, destination.
    ///
    /// The routes' waypoints are the given ones, with their names, thresholds and charging plans, where they were asked for;
    /// an engine knows only where the roads are.
    package func route(through waypoints: [Waypoint]) async throws(RoutingError) -> RouteAnswer {
        try await self.routes(through: waypoints, choices: 1)
    }

    /// Computes up to `choices` ways through `waypoints`, as ``route(through:)`` does one.
    package func routes(
        through waypoints: [Waypoint], choices: Int
    ) async throws(RoutingError) -> RouteAnswer {
        let points = waypoints.map(\.center)
        var answer =
            choices > 1
            ? try await self.routes(through: points, choices: choices) : try await self.route(through: points)
        for index in answer.routes.indices { answer.routes[index].take(waypoints) }
        return answer
    }
}

extension EngineRoute {
    /// Replaces the engine's waypoints, if there are as many.
    package mutating func take(_ waypoints: [Waypoint]) {
        guard waypoints.count == self.waypoints.count else { return }
        self.waypoints = waypoints
        for index in self.information.segments.indices {
            self.information.segments[index].origin = waypoints[index]
            self.information.segments[index].destination = waypoints[index + 1]
        }
    }

    /// The stop that is the nearest to one that was asked for gets its kind.
    package mutating func takeKind(of stop: Waypoint) {
        guard let kind = stop.stopKind else { return }
        let nearest = self.waypoints.indices.dropFirst().dropLast().min {
            self.waypoints[$0].center.meters(to: stop.center)
                < self.waypoints[$1].center.meters(to: stop.center)
        }
        guard let nearest else { return }
        var waypoints = self.waypoints
        waypoints[nearest].stopKind = kind
        self.take(waypoints)
    }
}

/// Where a new stop goes among those that are still ahead.
package enum StopOrder {
    /// Where among `stops` a new one makes the way longer by the least, as the crow flies; never behind the destination.
    ///
    /// - Parameters:
    ///   - stop: The new stop.
    ///   - position: Where the vehicle is.
    ///   - stops: The stops ahead and the destination, in order; not empty.
    /// - Returns: The index at which to insert `stop`; the destination stays the last.
    package static func index(of stop: Waypoint, from position: Coordinate, in stops: [Waypoint]) -> Int {
        let places = [position] + stops.map(\.center)
        let detours = zip(places, places.dropFirst()).map { from, to in
            from.meters(to: stop.center) + stop.center.meters(to: to) - from.meters(to: to)
        }
        return detours.indices.min { detours[$0] < detours[$1] } ?? 0
    }
}
