import Foundation
import WaymarkModel
import WaymarkProtocol

/// Asks an engine over HTTP and reads what it answers, within limits.
struct EngineConnection: Sendable {
    /// Scheme, host and, where there is one, a path; no slash at the end.
    let address: String
    let limits: RoutingLimits
    let reading: RouteReadingOptions

    init(_ address: String, limits: RoutingLimits, reading: RouteReadingOptions) throws(RoutingError) {
        guard let url = URL(string: address), url.scheme == "http" || url.scheme == "https",
            !(url.host() ?? "").isEmpty
        else { throw .badAddress(address) }
        self.address = String(address.reversed().drop { $0 == "/" }.reversed())
        self.limits = limits
        self.reading = reading
    }

    /// Checks what a caller wants a route through.
    static func check(_ points: [Coordinate]) throws(RoutingError) {
        guard points.count >= 2 else { throw .badPoints("at least an origin and a destination are needed") }
        guard points.count <= ProtocolConstants.routeSegmentsMax + 1 else {
            throw .badPoints("at most \(ProtocolConstants.routeSegmentsMax + 1) points can be on one route")
        }
        if let index = points.firstIndex(where: { !$0.isOnEarth }) {
            throw .badPoints("point \(index + 1) is not on the Earth")
        }
    }

    /// Asks for `url` and reads the answer; `points` are what was asked for, to see how far they were moved.
    func answer(
        to url: String, through points: [Coordinate]
    ) async throws(RoutingError) -> RouteAnswer {
        let fetched = try await self.fetch(url)
        do throws(RouteReadingError) {
            var answer = try RouteReader.read(fetched.bytes, options: self.reading)
            answer.reportMissed(points, limit: self.limits.movedMetersMax)
            return answer
        } catch {
            switch error {
            case .refusedByEngine(let code, let message): throw .refused(code: code, message: message)
            case .tooLarge, .notJSON, .unknownFormat, .noRoute, .missing, .invalid:
                throw .unreadable(address: self.address, status: fetched.status, error)
            }
        }
    }
}
