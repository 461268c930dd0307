package import Foundation
package import WaymarkModel

/// Why an answer could not be read.
package enum RouteReadingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text is not JSON; the reason says where.
    case notJSON(reason: String)
    /// It is JSON, but no engine's answer that is known here.
    case unknownFormat
    /// The engine says that it has no route.
    case engineError(code: String, message: String)
    /// Something that must be there is not, or makes no sense.
    case invalid(path: String, reason: String)

    package var description: String {
        switch self {
        case .notJSON(let reason): "not JSON: \(reason)"
        case .unknownFormat: "not an answer of OSRM, Mapbox Directions or Valhalla: no routes and no trip"
        case .engineError(let code, let message): "the engine answered \(code): \(message)"
        case .invalid(let path, let reason): "\(path): \(reason)"
        }
    }
}

/// What the file does not say.
package struct ReadingOptions: Sendable, Hashable {
    /// Overrides the side of traffic; nil takes the engine's, or right where it says nothing.
    package var trafficSide: TrafficSide?

    package init(trafficSide: TrafficSide? = nil) { self.trafficSide = trafficSide }
}

/// An engine's answer: the chosen route first, then the alternatives.
package struct EngineAnswer: Sendable, Hashable {
    package var routes: [EngineRoute]

    /// The route to drive.
    package var chosen: EngineRoute { self.routes[0] }

    /// The routes as a trip's choices, at most 3.
    package var routeChoices: [RouteChoice] {
        self.routes.prefix(3).enumerated().map { index, route in
            RouteChoice(
                id: UInt32(index + 1), summaryVariants: route.summary.isEmpty ? [] : [route.summary],
                travelEstimates: TravelEstimates(
                    distanceRemaining: route.distance, timeRemaining: route.duration))
        }
    }
}

/// Reads answers of routing engines; finds out by itself whose they are.
package enum RouteReader {
    /// Reads an answer.
    package static func read(
        _ data: Data, options: ReadingOptions = .init()
    ) throws(RouteReadingError) -> EngineAnswer {
        let root = try JSONValue.parse(data)
        if !root["trip"].isNull { return try ValhallaReader.read(root, options) }
        if root["routes"].array != nil || root["legs"].array != nil {
            return try OSRMReader.read(root, options)
        }
        if let code = root["code"].text {
            throw .engineError(code: code, message: root["message"].text ?? "")
        }
        if let code = root["error_code"].integer ?? root["status"].integer {
            let message = root["error"].text ?? root["status_message"].text ?? ""
            throw .engineError(code: "\(code)", message: message)
        }
        throw .unknownFormat
    }
}
