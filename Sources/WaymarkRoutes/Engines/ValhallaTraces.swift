import Foundation
import WaymarkModel

extension EngineConnection {
    /// The longest wait for the speed limits of a route, which must not delay a new route for long.
    private static let traceDeadline = Duration.seconds(5)
    /// The legs of a route that are traced. The requests are made at the same time.
    private static let tracedLegsMax = 8
    /// A longer request does not fit into an argument of curl(1).
    private static let requestBytesMax = 120_000

    /// Adds the speed limits of Valhalla's routes in `answer`. A route itself has none: each leg's line is traced.
    ///
    /// A failure is reported in the route's notices; the route is as good without.
    func addSpeedLimits(to answer: inout RouteAnswer, costing: String) async {
        for index in answer.routes.indices {
            let route = answer.routes[index]
            do throws(RoutingError) {
                answer.routes[index] = try await self.withSpeedLimits(route, costing: costing)
            } catch {
                answer.routes[index].notices.append(
                    RouteNotice(path: "$", reason: "no speed limits: \(error)"))
                // The next route would wait as long.
                return
            }
            if route.segmentIndices.count > Self.tracedLegsMax {
                answer.routes[index].notices.append(
                    RouteNotice(
                        path: "$", reason: "no speed limits behind the first \(Self.tracedLegsMax) legs"))
            }
        }
    }

    /// The route with the limits of its traces.
    private func withSpeedLimits(
        _ route: EngineRoute, costing: String
    ) async throws(RoutingError) -> EngineRoute {
        let traces = try await self.traces(of: route, costing: costing)
        var route = route
        do throws(RouteReadingError) {
            try route.addSpeedLimits(ofTraces: traces)
        } catch {
            throw .unreadable(address: self.address, status: "200", error)
        }
        return route
    }

    /// The answers for the legs of `route`, in order; nil for a leg that is too long to ask for.
    private func traces(of route: EngineRoute, costing: String) async throws(RoutingError) -> [[UInt8]?] {
        let lines = route.segmentRanges.prefix(Self.tracedLegsMax).map { Array(route.line[$0]) }
        var answers = Array(repeating: Result<[UInt8]?, RoutingError>.success(nil), count: lines.count)
        await withTaskGroup(of: LegAnswer.self) { group in
            for (leg, line) in lines.enumerated() {
                group.addTask {
                    do throws(RoutingError) {
                        return LegAnswer(
                            leg: leg, result: .success(try await self.trace(of: line, costing: costing)))
                    } catch {
                        return LegAnswer(leg: leg, result: .failure(error))
                    }
                }
            }
            for await answer in group { answers[answer.leg] = answer.result }
        }
        var traces: [[UInt8]?] = []
        for answer in answers { traces.append(try answer.get()) }
        return traces
    }

    /// The answer to the trace of one leg.
    private struct LegAnswer: Sendable {
        let leg: Int
        let result: Result<[UInt8]?, RoutingError>
    }

    private func trace(of line: [Coordinate], costing: String) async throws(RoutingError) -> [UInt8]? {
        let body = TraceRequest(encoded_polyline: Polyline.encode(line, .six), costing: costing)
        let json: String
        do {
            json = String(decoding: try JSONEncoder().encode(body), as: UTF8.self)
        } catch {
            throw .badPoints("\(error)")
        }
        guard line.count > 1, json.utf8.count <= Self.requestBytesMax else { return nil }
        let url = "\(self.address)/trace_attributes"
        let deadline = min(Self.traceDeadline, self.limits.deadline)
        return try await self.fetch(url, posting: json, within: deadline).bytes
    }
}

/// - Source: https://valhalla.github.io/valhalla/api/map-matching/api-reference/
private struct TraceRequest: Encodable {
    struct Filters: Encodable {
        let attributes = [
            "edge.speed_limit", "edge.begin_shape_index", "edge.end_shape_index", "shape",
            "admin.country_code",
        ]
        let action = "include"
    }

    let encoded_polyline: String
    /// The line is the engine's own: it follows the edges, and its points stay as they are.
    let shape_match = "walk_or_snap"
    let costing: String
    let units = "kilometers"
    let filters = Filters()
}
