package import WaymarkModel

/// An OSRM service, or one that speaks like it.
package struct OSRMEngine: RoutingEngine {
    /// How one travels: the profile the service was started with.
    package var profile = "driving"

    private let connection: EngineConnection

    /// - Parameters:
    ///   - address: E.g. `http://127.0.0.1:5000`, without `/route/v1`.
    ///   - limits: What an answer may cost.
    ///   - reading: How to read answers.
    /// - Throws: `.badAddress`.
    package init(
        _ address: String, limits: RoutingLimits = RoutingLimits(),
        reading: RouteReadingOptions = RouteReadingOptions()
    ) throws(RoutingError) {
        self.connection = try EngineConnection(address, limits: limits, reading: reading)
    }

    /// Computes the way through `points`, each of which but the first and last is a stop.
    package func route(through points: [Coordinate]) async throws(RoutingError) -> RouteAnswer {
        try await self.routes(through: points, choices: 1)
    }

    /// Computes up to `choices` ways, as far as the service's setting `--max-alternatives` allows.
    package func routes(
        through points: [Coordinate], choices: Int
    ) async throws(RoutingError) -> RouteAnswer {
        try EngineConnection.check(points)
        let path = points.map { "\(Self.degrees($0.longitude)),\(Self.degrees($0.latitude))" }
            .joined(separator: ";")
        let alternatives = choices > 1 ? "\(choices - 1)" : "false"
        let query =
            "steps=true&annotations=duration&geometries=polyline6&overview=false&alternatives=\(alternatives)"
        let url = "\(self.connection.address)/route/v1/\(self.profile)/\(path)?\(query)"
        return try await self.connection.answer(to: url, through: points)
    }

    /// With six digits and never with an exponent, which the service would not read.
    private static func degrees(_ value: Double) -> String {
        let millionths = Int64((value * 1e6).rounded())
        let fraction = "\(abs(millionths) % 1_000_000)"
        let zeros = String(repeating: "0", count: 6 - fraction.count)
        return "\(millionths < 0 ? "-" : "")\(abs(millionths) / 1_000_000).\(zeros)\(fraction)"
    }
}
