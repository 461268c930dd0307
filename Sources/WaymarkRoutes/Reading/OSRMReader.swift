import WaymarkModel
import WaymarkProtocol

/// Reads answers in OSRM's form: OSRM itself, Mapbox Directions, Valhalla with `format=osrm`.
struct OSRMReader {
    /// Points that an engine moved farther than this are reported, in metres.
    static let movedMetersMax = 100.0

    let options: RouteReadingOptions

    static func read(
        _ answer: JSONNode, _ options: RouteReadingOptions
    ) throws(RouteReadingError) -> RouteAnswer {
        guard let routes = answer["routes"]?.elements else {
            throw .missing(path: "routes", expected: "an array")
        }
        guard !routes.isEmpty else { throw .noRoute(path: "routes") }
        var book = NoticeBook()
        OSRMMembers.answer.report(answer, into: &book)
        if routes.count > ProtocolConstants.routeChoicesMax {
            book.add(
                .member(.root, "routes"),
                "of \(routes.count) routes only \(ProtocolConstants.routeChoicesMax) can be offered as choices"
            )
        }
        var read: [EngineRoute] = []
        for route in routes {
            let places = route["waypoints"] ?? answer["waypoints"]
            read.append(try Self(options: options).route(route, places, Self.engine(route, of: answer)))
        }
        return RouteAnswer(routes: read, notices: book.complete)
    }

    static func read(
        bareRoute route: JSONNode, _ options: RouteReadingOptions
    ) throws(RouteReadingError) -> RouteAnswer {
        let engine = Self.engine(route, of: route)
        return RouteAnswer(
            routes: [try Self(options: options).route(route, route["waypoints"], engine)], notices: [])
    }

    /// Who answered: only a guess, from members that only one of them writes.
    private static func engine(_ route: JSONNode, of answer: JSONNode) -> EngineRoute.Engine {
        let isMapbox =
            answer["uuid"] != nil || route["routeOptions"] != nil
            || route.elements("legs").first?.elements("steps").first?.elements("intersections").first?[
                "mapbox_streets_v8"] != nil
        if isMapbox { return .mapbox }
        switch route["weight_name"]?.string {
        case "auto", "bicycle", "pedestrian", "truck", "motorcycle": return .valhalla
        default: return route["voiceLocale"] == nil ? .osrm : .mapbox
        }
    }

    private func route(
        _ route: JSONNode, _ places: JSONNode?, _ engine: EngineRoute.Engine
    ) throws(RouteReadingError) -> EngineRoute {
        guard let legs = route["legs"]?.elements else {
            throw .missing(path: "\(route.path).legs", expected: "an array")
        }
        guard !legs.isEmpty else { throw .noRoute(path: "\(route.path).legs") }
        var draft = RouteDraft(engine: engine, path: route.path)
        OSRMMembers.route.report(route, into: &draft.book)
        draft.distance = route["distance"]?.number
        draft.duration = route["duration"]?.number
        draft.waypoints = self.waypoints(places, legs, &draft.book)
        let steps = try self.steps(of: legs, &draft.book)
        let precision = self.precision(steps, &draft.book)
        let isEnglish = route["voiceLocale"]?.string.map { $0.lowercased().hasPrefix("en") }
        var reader = OSRMLegReader(precision: precision, isEnglish: isEnglish ?? false, book: draft.book)
        for (index, leg) in legs.enumerated() {
            let isLast = index == legs.count - 1
            draft.legs.append(try reader.leg(leg, steps[index], isLast: isLast))
        }
        draft.book = reader.book
        self.settleSides(of: &draft, steps)
        return try RouteBuilder.build(draft)
    }

    private func steps(
        of legs: [JSONNode], _ book: inout NoticeBook
    ) throws(RouteReadingError) -> [[OSRMStep]] {
        var all: [[OSRMStep]] = []
        for leg in legs {
            guard let steps = leg["steps"]?.elements, !steps.isEmpty else {
                throw .missing(
                    path: "\(leg.path).steps",
                    expected: "an array with steps (ask the engine for steps=true)")
            }
            var read: [OSRMStep] = []
            for step in steps { read.append(try OSRMStep(step, &book)) }
            all.append(read)
        }
        return all
    }

    private func waypoints(_ places: JSONNode?, _ legs: [JSONNode], _ book: inout NoticeBook) -> [Waypoint]? {
        let passed = Set(
            legs.flatMap { $0.elements("via_waypoints") }.compactMap { $0["waypoint_index"]?.integer })
        guard let places, let all = places.elements else { return nil }
        for index in passed.sorted() where all.indices.contains(index) {
            book.add(all[index].path, "a point that is passed without a stop is no waypoint")
        }
        let elements = all.indices.filter { !passed.contains($0) }.map { all[$0] }
        guard elements.count == legs.count + 1 else {
            book.add(
                places.path,
                "\(elements.count) waypoints do not match \(legs.count) legs; the legs' ends are taken")
            return nil
        }
        var waypoints: [Waypoint] = []
        for element in elements {
            guard let center = element["location"].flatMap(Coordinate.init(lonLat:)) else {
                book.add(element.path, "no location; the legs' ends are taken")
                return nil
            }
            if let moved = element["distance"]?.number, moved > Self.movedMetersMax {
                book.add(
                    element.path,
                    "the engine moved this point by \(Int(min(moved, 1e9))) m to the nearest road")
            }
            let name = element["name"]?.string ?? ""
            waypoints.append(
                Waypoint(center: center, nameVariants: book.fit(variants: [name], at: element.path)))
        }
        return waypoints
    }

    /// Of steps that do not tell by themselves.
    private func precision(_ legs: [[OSRMStep]], _ book: inout NoticeBook) -> Polyline.Precision {
        for step in legs.joined() {
            if let precision = step.precision { return precision }
        }
        if let step = legs.joined().first(where: { $0.polyline != nil }) {
            book.add(step.path, "no location to tell the polyline's precision by; five digits are assumed")
        }
        return .five
    }

    /// Gives every maneuver a traffic side: asked for, said, said nearby, seen at roundabouts, or right.
    private func settleSides(of draft: inout RouteDraft, _ steps: [[OSRMStep]]) {
        if let side = self.options.trafficSide { return draft.setSide(side) }
        let said = steps.joined().compactMap(\.side)
        guard let first = said.first else { return draft.inferSide() }
        var side = first
        for leg in draft.legs.indices {
            for step in draft.legs[leg].steps.indices {
                side = steps[leg][step].side ?? side
                draft.legs[leg].steps[step].maneuver.trafficSide = side
            }
        }
    }
}

extension RouteDraft {
    /// All maneuvers are on `side`.
    mutating func setSide(_ side: TrafficSide) {
        for leg in self.legs.indices {
            for step in self.legs[leg].steps.indices {
                self.legs[leg].steps[step].maneuver.trafficSide = side
            }
        }
    }

    /// Takes the side from the roundabouts, else the right one, and reports it.
    mutating func inferSide() {
        var inference = TrafficSideInference()
        for leg in self.legs {
            for (step, next) in zip(leg.steps, leg.steps.dropFirst())
            where step.maneuver.junctionType == .roundabout && next.maneuver.type == .exitRoundabout
                && step.pointIndex < next.pointIndex && next.pointIndex < leg.points.count
            {
                inference.add(around: leg.points[step.pointIndex...next.pointIndex])
            }
        }
        let side = inference.side ?? .right
        self.setSide(side)
        let word = side == .left ? "left" : "right"
        let reason = inference.side == nil ? "assumed" : "taken from the way roundabouts are driven"
        self.book.add(self.path, "the engine does not say on which side traffic drives: \(word) is \(reason)")
    }
}

extension Coordinate {
    /// A GeoJSON position: longitude, latitude and, if it is in range, altitude.
    init?(lonLat node: JSONNode) {
        guard let numbers = node.elements?.map(\.number), numbers.count >= 2, let longitude = numbers[0],
            let latitude = numbers[1]
        else { return nil }
        self.init(latitude: latitude, longitude: longitude)
        guard self.isOnEarth else { return nil }
        if numbers.count > 2, let altitude = numbers[2], ProtocolConstants.altitudeMeters.contains(altitude) {
            self.altitude = altitude
        }
    }
}
