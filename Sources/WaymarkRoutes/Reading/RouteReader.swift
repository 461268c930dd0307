public import WaymarkModel
import WaymarkProtocol

/// The options for reading a routing engine's answer.
public struct RouteReadingOptions: Sendable, Hashable {
    /// The side on which traffic drives; nil for the engine's.
    public var trafficSide: TrafficSide?
    /// The size in bytes of the largest answer that is read; a larger one is refused with
    /// ``RouteReadingError/tooLarge(bytes:bytesMax:)``.
    public var bytesMax = 64 * 1_024 * 1_024

    /// Creates options; without a side, the engine's applies.
    public init(trafficSide: TrafficSide? = nil) { self.trafficSide = trafficSide }
}

/// A routing engine's answer: the best route first, then alternatives.
public struct RouteAnswer: Sendable, Hashable {
    /// The routes of the answer; at least one.
    public package(set) var routes: [EngineRoute]
    /// Notices about the answer as a whole; each route has its own.
    public package(set) var notices: [RouteNotice]
    /// Whether the routes are alternatives of one trip. False for the matchings of a trace, and for several round trips: each
    /// of those is a trip of its own.
    public package(set) var areAlternatives: Bool

    package init(routes: [EngineRoute], notices: [RouteNotice], areAlternatives: Bool = true) {
        self.routes = routes
        self.notices = notices
        self.areAlternatives = areAlternatives
    }

    /// The most routes that a driver can choose from.
    package static let choicesMax = ProtocolConstants.routeChoicesMax

    /// The routes that the driver can choose from, with ids from 1 in the order of ``routes``; at most 3.
    ///
    /// Without alternatives these are the choices of the first route's trip.
    public var choices: [RouteChoice] { self.choices(with: 0) }

    /// The choices of the trip to which the route at `index` belongs.
    private func choices(with index: Int) -> [RouteChoice] {
        let indices =
            self.areAlternatives
            ? Array(self.routes.indices.prefix(ProtocolConstants.routeChoicesMax)) : [index]
        return indices.map { index in
            let route = self.routes[index]
            return RouteChoice(
                id: UInt32(index + 1), summaryVariants: route.summaryVariants,
                travelEstimates: TravelEstimates(
                    distanceRemaining: route.distance, timeRemaining: route.duration))
        }
    }

    /// The trip of the route at `index`, with all choices.
    public func trip(id: String, choosing index: Int = 0) -> Trip {
        let waypoints = self.routes[index].waypoints
        let choices = self.choices(with: index)
        return Trip(
            id: id, origin: waypoints[0], destination: waypoints[waypoints.count - 1],
            waypoints: Array(waypoints.dropFirst().dropLast()), routeChoices: choices,
            selectedRouteChoice: choices.map(\.id).first { $0 == UInt32(index + 1) })
    }

    /// The trip of the route at `index` as previews show it: with the estimates of the route.
    public func preview(id: String, choosing index: Int = 0) -> Trip {
        var trip = self.trip(id: id, choosing: index)
        trip.travelEstimates = TravelEstimates(
            distanceRemaining: self.routes[index].distance, timeRemaining: self.routes[index].duration)
        return trip
    }
}

/// Reads the answers of OSRM, Mapbox Directions, Valhalla (both forms) and GraphHopper. It recognises the engine by the
/// answer's content.
public enum RouteReader {
    /// Reads `bytes`, one JSON text.
    ///
    /// - Throws: ``RouteReadingError``, whose description says what is wrong and where.
    public static func read(
        _ bytes: [UInt8], options: RouteReadingOptions = RouteReadingOptions()
    ) throws(RouteReadingError) -> RouteAnswer {
        guard bytes.count <= options.bytesMax else {
            throw .tooLarge(bytes: bytes.count, bytesMax: options.bytesMax)
        }
        if let reason = ForeignAnswer.reason(bytes) { throw .notJSON(line: 1, column: 1, reason: reason) }
        let answer = JSONNode(try JSONParser.parse(bytes))
        guard answer.isObject else { throw .unknownFormat(found: answer.value.kind) }
        if let refusal = self.refusal(answer) { throw refusal }
        if answer["trip"] != nil { return try ValhallaReader.read(answer, options) }
        if answer["routes"] != nil {
            if let engine = ForeignAnswer.engine(answer) { throw .unknownFormat(found: engine) }
            return try OSRMReader.read(answer, .routes, options)
        }
        for list in [OSRMList.matchings, .trips] where answer[list.rawValue] != nil {
            return try OSRMReader.read(answer, list, options)
        }
        if answer["paths"] != nil { return try GraphHopperReader.read(answer, options) }
        if let legs = answer["legs"] {
            let isValhalla = legs.elements?.first?["shape"] != nil
            return isValhalla
                ? try ValhallaReader.read(bareTrip: answer, options)
                : try OSRMReader.read(bareRoute: answer, options)
        }
        if let name = ForeignAnswer.name(of: answer) { throw .unknownFormat(found: name) }
        guard case .object(let members) = answer.value else { throw .unknownFormat(found: "no object") }
        let names = members.keys.sorted().prefix(8).map { "\"\($0.prefix(32))\"" }
        throw .unknownFormat(
            found: names.isEmpty ? "an empty object" : "an object of \(names.joined(separator: ", "))")
    }

    /// The engine's error if it has no route; nil for an answer that may have one.
    static func refusal(_ answer: JSONNode) -> RouteReadingError? {
        let message = self.message(answer)
        let reason = message ?? answer["title"]?.string ?? "no reason given"
        if answer["route_geometry"] != nil || answer["route_instructions"] != nil { return nil }
        if let code = answer["code"]?.string, code.lowercased() != "ok" {
            return .refusedByEngine(code: code, message: reason)
        }
        if let code = answer["error_code"]?.integer {
            return .refusedByEngine(code: "\(code)", message: reason)
        }
        if let status = answer["status"]?.integer, status != 0, status != 200, answer["legs"] == nil {
            return .refusedByEngine(code: "\(status)", message: reason)
        }
        let lists = ["trip", "routes", "matchings", "trips", "paths", "legs"]
        guard lists.allSatisfy({ answer[$0]?.elements?.isEmpty ?? (answer[$0] == nil) }) else { return nil }
        // Why: Google sends "ZERO_RESULTS" with an empty list. A status in lower case may come from any program.
        if let status = answer["status"]?.string, status.uppercased() != "OK",
            message != nil || status.allSatisfy({ $0.isUppercase || $0 == "_" })
        {
            return .refusedByEngine(code: status, message: reason)
        }
        guard lists.allSatisfy({ answer[$0] == nil }), let message else { return nil }
        let code = answer["error"]?["code"]
        return .refusedByEngine(code: code?.string ?? code?.integer.map(String.init) ?? "", message: message)
    }

    /// The engine's error message; nil for none, and for that of a success.
    private static func message(_ answer: JSONNode) -> String? {
        let status = answer["status"]
        let isSuccess = status?.integer == 0 || status?.integer == 200 || status?.string?.lowercased() == "ok"
        for name in ["message", "error", "error_message"] + (isSuccess ? [] : ["status_message"]) {
            if let words = answer[name]?.string { return words }
        }
        let error = answer["error"]
        return (error?["message"] ?? error?["description"] ?? answer["detailedError"]?["message"])?.string
    }
}
