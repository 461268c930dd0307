import WaymarkModel
import WaymarkProtocol

/// Reads answers in OSRM's form: OSRM itself, Mapbox Directions, Valhalla with `format=osrm`.
struct OSRMReader {
    let options: RouteReadingOptions

    /// Reads the routes of `answer` in its member `list`.
    static func read(
        _ answer: JSONNode, _ list: OSRMList, _ options: RouteReadingOptions
    ) throws(RouteReadingError) -> RouteAnswer {
        guard let routes = answer[list.rawValue]?.elements else {
            throw .missing(path: list.rawValue, expected: "an array")
        }
        guard !routes.isEmpty else { throw .noRoute(path: list.rawValue) }
        var book = NoticeBook()
        OSRMMembers.answer.report(answer, into: &book)
        if list != .routes, routes.count > 1 {
            book.add(
                .member(.root, list.rawValue),
                "the \(routes.count) \(list.rawValue) are no alternatives: each is a route of its own")
        } else if routes.count > ProtocolConstants.routeChoicesMax {
            book.add(
                .member(.root, list.rawValue),
                "of \(routes.count) routes only \(ProtocolConstants.routeChoicesMax) can be offered as choices"
            )
        }
        var read: [EngineRoute] = []
        for (index, route) in routes.enumerated() {
            let reader = Self(options: options)
            read.append(try reader.route(route, at: index, of: list, in: answer))
        }
        return RouteAnswer(routes: read, notices: book.complete, areAlternatives: list == .routes)
    }

    static func read(
        bareRoute route: JSONNode, _ options: RouteReadingOptions
    ) throws(RouteReadingError) -> RouteAnswer {
        let reader = Self(options: options)
        return RouteAnswer(routes: [try reader.route(route, at: 0, of: .routes, in: route)], notices: [])
    }

    /// The engine, guessed from members that only one engine writes.
    private static func engine(_ route: JSONNode, of answer: JSONNode) -> EngineRoute.Engine {
        let isMapbox =
            answer["uuid"] != nil || route["routeOptions"] != nil
            || route.elements("legs").first?.elements("steps").first?.elements("intersections").first?[
                "mapbox_streets_v8"] != nil
        if isMapbox { return .mapbox }
        let maneuver = route.elements("legs").first?.elements("steps").first?["maneuver"]
        // Why: OSRM itself sends no instructions.
        let hasWords = route["voiceLocale"] != nil || maneuver?["instruction"] != nil
        switch route["weight_name"]?.string {
        case "auto", "bicycle", "bus", "golf_cart", "low_speed_vehicle", "motor_scooter", "motorcycle",
            "pedestrian", "taxi", "truck":
            return .valhalla
        default: return hasWords ? .mapbox : .osrm
        }
    }

    private func route(
        _ route: JSONNode, at index: Int, of list: OSRMList, in answer: JSONNode
    ) throws(RouteReadingError) -> EngineRoute {
        guard let legs = route["legs"]?.elements else {
            throw .missing(path: "\(route.path).legs", expected: "an array")
        }
        guard !legs.isEmpty else { throw .noRoute(path: "\(route.path).legs") }
        var draft = RouteDraft(engine: Self.engine(route, of: answer), path: route.path)
        OSRMMembers.route.report(route, into: &draft.book)
        draft.distance = route["distance"]?.number
        draft.duration = route["duration"]?.number
        let places = OSRMWaypoints(route, at: index, of: list, in: answer, &draft.book)
        draft.waypoints = places?.waypoints(legs: legs.count, &draft.book)
        let steps = try self.steps(of: legs, &draft.book)
        let precision = self.precision(steps, route, &draft.book)
        var reader = OSRMLegReader(precision: precision, book: draft.book)
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

    /// The precision for steps whose own is unknown: that of the other steps, else the one whose total length fits.
    private func precision(
        _ legs: [[OSRMStep]], _ route: JSONNode, _ book: inout NoticeBook
    ) -> Polyline.Precision {
        let steps = legs.joined().filter { $0.polyline != nil }
        guard let silent = steps.first(where: { $0.location == nil }) else { return .five }
        for step in steps {
            if let precision = step.precisionByLocation { return precision }
        }
        let legMeters = route.elements("legs").compactMap { $0["distance"]?.number }.reduce(0, +)
        let fitting =
            steps.lazy.compactMap(\.precisionByLength).first
            ?? Polyline.Precision.fitting(
                steps.compactMap(\.polyline), meters: route["distance"]?.number ?? legMeters)
        let missing = "no location to tell the polyline's precision by"
        book.add(
            silent.path,
            fitting.map { "\(missing): \($0.rawValue) digits are taken, because the length fits" }
                ?? "\(missing), and no distance: five digits are assumed")
        return fitting ?? .five
    }

    /// Sets the traffic side of every maneuver: from the options, the answer, a nearby maneuver or the roundabouts; else right.
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
    /// Sets the side of all maneuvers.
    mutating func setSide(_ side: TrafficSide) {
        for leg in self.legs.indices {
            for step in self.legs[leg].steps.indices {
                self.legs[leg].steps[step].maneuver.trafficSide = side
            }
        }
    }

    /// Infers the side from the roundabouts, else assumes the right one, and reports it.
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
