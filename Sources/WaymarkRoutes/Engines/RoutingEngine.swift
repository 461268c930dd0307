internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
package import WaymarkModel

/// Why a live engine gave no route.
package enum RoutingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The engine cannot be reached.
    case unreachable(url: String, reason: String)
    /// It answered with something that is not a route.
    case unreadable(RouteReadingError)

    package var description: String {
        switch self {
        case .unreachable(let url, let reason):
            "the engine at \(url) cannot be reached: \(reason); is it running?"
        case .unreadable(let error): "\(error)"
        }
    }
}

/// A routing engine over HTTP.
package struct RoutingEngine: Sendable, Hashable {
    /// Whose API it speaks.
    package enum Kind: String, Sendable, Hashable, CaseIterable { case valhalla, osrm }

    /// An answer larger than this is not read, in bytes.
    private static let answerBytesMax = 64 * 1_048_576
    /// How far an engine may move a point before it is reported, in metres.
    private static let snapDistanceMax = 200.0

    package let kind: Kind
    /// Without a slash at the end, e.g. `http://127.0.0.1:8002`.
    package let url: String
    package var timeout: Duration = .seconds(15)

    /// Reads `valhalla=URL` or `osrm=URL`; nil if it is of another form.
    package init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])), parts[1].hasPrefix("http") else {
            return nil
        }
        self.kind = kind
        self.url = String(parts[1].hasSuffix("/") ? parts[1].dropLast() : parts[1])
    }

    /// Computes a route through `waypoints`, at least two.
    package func route(through waypoints: [Waypoint]) async throws(RoutingError) -> EngineAnswer {
        var request: HTTPClientRequest
        switch self.kind {
        case .valhalla:
            request = HTTPClientRequest(url: "\(self.url)/route")
            request.method = .POST
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: self.valhallaQuery(waypoints)))
        case .osrm:
            let points = waypoints.map { "\($0.center.longitude),\($0.center.latitude)" }.joined(
                separator: ";")
            request = HTTPClientRequest(
                url:
                    "\(self.url)/route/v1/driving/\(points)?steps=true&overview=full&geometries=polyline6&annotations=false"
            )
        }
        let body = try await self.execute(request)
        do throws(RouteReadingError) {
            var answer = try RouteReader.read(Data(body.readableBytesView))
            for index in answer.routes.indices { self.reportMoves(&answer.routes[index], waypoints) }
            return answer
        } catch {
            throw .unreadable(error)
        }
    }

    private func execute(_ request: HTTPClientRequest) async throws(RoutingError) -> ByteBuffer {
        do {
            let response = try await HTTPClient.shared.execute(
                request, timeout: .milliseconds(Int64(self.timeout / .milliseconds(1))))
            return try await response.body.collect(upTo: Self.answerBytesMax)
        } catch {
            throw .unreachable(url: self.url, reason: "\(error)")
        }
    }

    private func valhallaQuery(_ waypoints: [Waypoint]) -> [UInt8] {
        let locations = waypoints.map { "{\"lat\":\($0.center.latitude),\"lon\":\($0.center.longitude)}" }
        return Array(
            "{\"locations\":[\(locations.joined(separator: ","))],\"costing\":\"auto\",\"turn_lanes\":true}"
                .utf8)
    }

    private func reportMoves(_ route: inout EngineRoute, _ wanted: [Waypoint]) {
        for (index, waypoint) in wanted.enumerated() where index < route.waypoints.count {
            let meters = route.waypoints[index].center.distance(to: waypoint.center)
            if meters > Self.snapDistanceMax {
                route.notices.append(
                    RouteNotice(
                        path: "waypoints[\(index)]", reason: "the engine moved it by \(Int(meters)) m"))
            }
            if route.waypoints[index].nameVariants.isEmpty {
                route.waypoints[index].nameVariants = waypoint.nameVariants
            }
        }
    }
}
