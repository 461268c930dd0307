import Foundation
package import WaymarkModel

/// A Valhalla service, asked in its own JSON, with lanes.
package struct ValhallaEngine: RoutingEngine {
    /// How one travels, in Valhalla's words, e.g. "auto", "truck", "motor_scooter".
    package var costing = "auto"
    /// The language of instructions, BCP 47; Valhalla falls back on English.
    package var language = "en-US"

    /// Whether to ask for the speed limits of each route, too.
    package var readsSpeedLimits = false

    private let connection: EngineConnection

    /// - Parameters:
    ///   - address: E.g. `http://127.0.0.1:8002`, without `/route`.
    ///   - limits: What an answer may cost.
    ///   - reading: How to read answers; they do not say on which side traffic drives.
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

    /// Computes up to `choices` ways between two points, and one through more.
    package func routes(
        through points: [Coordinate], choices: Int
    ) async throws(RoutingError) -> RouteAnswer {
        try EngineConnection.check(points)
        let body = Body(
            locations: points.map { Body.Location(lat: $0.latitude, lon: $0.longitude, type: "break") },
            costing: self.costing, units: "kilometers", language: self.language, turn_lanes: true,
            alternates: choices > 1 && points.count == 2 ? choices - 1 : nil)
        let json: String
        do {
            json = String(decoding: try JSONEncoder().encode(body), as: UTF8.self)
        } catch {
            // Why: only numbers that are not finite cannot be written, and those were refused above.
            throw .badPoints("\(error)")
        }
        let query = json.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let url = "\(self.connection.address)/route?json=\(query)"
        var answer = try await self.connection.answer(to: url, through: points)
        if self.readsSpeedLimits { await self.connection.addSpeedLimits(to: &answer, costing: self.costing) }
        return answer
    }

    /// - Source: https://valhalla.github.io/valhalla/api/turn-by-turn/api-reference/
    private struct Body: Encodable {
        struct Location: Encodable {
            let lat: Double
            let lon: Double
            let type: String
        }

        let locations: [Location]
        let costing: String
        let units: String
        let language: String
        let turn_lanes: Bool
        /// The number of ways to compute beside the best one; nil for none.
        let alternates: Int?
    }
}
