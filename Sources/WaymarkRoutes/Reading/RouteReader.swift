package import WaymarkModel
import WaymarkProtocol

/// How to read an answer.
package struct RouteReadingOptions: Sendable, Hashable {
    /// The side on which traffic drives, whatever the engine says; nil believes the engine.
    package var trafficSide: TrafficSide?
    /// More bytes than this are refused.
    package var bytesMax = 64 * 1_024 * 1_024

    package init(trafficSide: TrafficSide? = nil) { self.trafficSide = trafficSide }
}

/// What a routing engine answered: the best route first, then alternatives.
package struct RouteAnswer: Sendable, Hashable {
    /// At least one.
    package var routes: [EngineRoute]
    /// What could not be carried over of the answer as a whole; each route has notices of its own.
    package var notices: [RouteNotice]

    package init(routes: [EngineRoute], notices: [RouteNotice]) {
        self.routes = routes
        self.notices = notices
    }

    /// The routes as the driver may choose among them, with ids from 1 in the order of ``routes``; at most 3.
    package var choices: [RouteChoice] {
        self.routes.prefix(ProtocolConstants.routeChoicesMax).enumerated().map { index, route in
            RouteChoice(
                id: UInt32(index + 1), summaryVariants: route.summaryVariants,
                travelEstimates: TravelEstimates(
                    distanceRemaining: route.distance, timeRemaining: route.duration))
        }
    }

    /// The trip of the route at `index`, with all choices.
    package func trip(id: String, choosing index: Int = 0) -> Trip {
        let waypoints = self.routes[index].waypoints
        return Trip(
            id: id, origin: waypoints[0], destination: waypoints[waypoints.count - 1],
            waypoints: Array(waypoints.dropFirst().dropLast()), routeChoices: self.choices,
            selectedRouteChoice: UInt32(index + 1))
    }
}

/// Reads the answers of OSRM, Mapbox Directions, Valhalla (both forms) and GraphHopper, told apart by what is in them.
package enum RouteReader {
    /// Reads `bytes`, one JSON text.
    ///
    /// - Throws: Every case of `RouteReadingError`; never a route that breaks the promises of ``EngineRoute``.
    package static func read(
        _ bytes: [UInt8], options: RouteReadingOptions = RouteReadingOptions()
    ) throws(RouteReadingError) -> RouteAnswer {
        guard bytes.count <= options.bytesMax else {
            throw .tooLarge(bytes: bytes.count, bytesMax: options.bytesMax)
        }
        let answer = JSONNode(try JSONParser.parse(bytes))
        guard answer.isObject else { throw .unknownFormat(found: answer.value.kind) }
        if let refusal = self.refusal(answer) { throw refusal }
        if answer["trip"] != nil { return try ValhallaReader.read(answer, options) }
        if answer["routes"] != nil { return try OSRMReader.read(answer, options) }
        if answer["paths"] != nil { return try GraphHopperReader.read(answer, options) }
        if let legs = answer["legs"] {
            let isValhalla = legs.elements?.first?["shape"] != nil
            return isValhalla
                ? try ValhallaReader.read(bareTrip: answer, options)
                : try OSRMReader.read(bareRoute: answer, options)
        }
        guard case .object(let members) = answer.value else { throw .unknownFormat(found: "no object") }
        let names = members.keys.sorted().prefix(8).map { "\"\($0.prefix(32))\"" }
        throw .unknownFormat(
            found: names.isEmpty ? "an empty object" : "an object of \(names.joined(separator: ", "))")
    }

    /// What the engine says when it has no route; nil for an answer that may have one.
    private static func refusal(_ answer: JSONNode) -> RouteReadingError? {
        let message = answer["message"]?.string ?? answer["error"]?.string ?? answer["status_message"]?.string
        if let code = answer["code"]?.string, code != "Ok" {
            return .refusedByEngine(code: code, message: message ?? "no reason given")
        }
        if let code = answer["error_code"]?.integer {
            return .refusedByEngine(code: "\(code)", message: message ?? "no reason given")
        }
        if let status = answer["status"]?.integer, status != 0, answer["legs"] == nil {
            return .refusedByEngine(code: "\(status)", message: message ?? "no reason given")
        }
        let hasRoutes = ["trip", "routes", "paths", "legs"].contains { answer[$0] != nil }
        guard !hasRoutes, let message else { return nil }
        return .refusedByEngine(code: "", message: message)
    }
}
