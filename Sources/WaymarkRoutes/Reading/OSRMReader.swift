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
        let read = try book.readable(routes) { (route: JSONNode) throws(RouteReadingError) in
            try Self(options: options).route(
                route, at: route.path.index ?? 0, of: list, in: answer)
        }
        UncarriedMembers.report(answer, into: &book, except: [list.rawValue])
        if list != .routes, routes.count > 1 {
            book.add(
                .member(.root, list.rawValue),
                "the \(routes.count) \(list.rawValue) are no alternatives: each is a route of its own")
        } else {
            book.addChoices(read.count, at: list.rawValue)
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
        draft.distance = route["distance"]?.quantity
        draft.duration = route["duration"]?.quantity
        let places = OSRMWaypoints(route, at: index, of: list, in: answer, &draft.book)
        draft.places = places?.places(legs: legs.count, &draft.book)
        let steps = try self.steps(of: legs, &draft.book)
        let precision = self.precision(steps, route, &draft.book)
        var reader = OSRMLegReader(precision: precision, book: draft.book)
        let last = steps.lastIndex { !$0.isEmpty }
        for (index, leg) in legs.enumerated() where !steps[index].isEmpty {
            draft.legs.append(try reader.leg(leg, steps[index], isLast: index == last))
        }
        draft.book = reader.book
        draft.leaveOut(legs.indices.filter { steps[$0].isEmpty }, of: legs)
        // The overview repeats the line of the steps.
        route.passOver("geometry")
        UncarriedMembers.report(route, into: &draft.book)
        draft.settleSides(self.options)
        return try RouteBuilder.build(draft)
    }

    private func steps(
        of legs: [JSONNode], _ book: inout NoticeBook
    ) throws(RouteReadingError) -> [[OSRMStep]] {
        var all: [[OSRMStep]] = []
        for leg in legs {
            var read: [OSRMStep] = []
            for node in leg.elements("steps") {
                if let step = OSRMStep(node, &book) { read.append(step) }
            }
            all.append(read)
        }
        guard all.contains(where: { !$0.isEmpty }) else {
            throw .missing(
                path: "\(legs.first?.path ?? .root).steps",
                expected: "an array with steps (ask the engine for steps=true)")
        }
        return all
    }

    /// The precision for steps whose own is unknown: that of the other steps, else the one whose total length fits.
    private func precision(
        _ legs: [[OSRMStep]], _ route: JSONNode, _ book: inout NoticeBook
    ) -> Polyline.Precision {
        let steps = legs.joined().filter { $0.polyline != nil }
        guard let silent = steps.first(where: { $0.location == nil }) else { return .five }
        for step in steps where step.location != nil {
            if let precision = step.precisionByEvidence { return precision }
        }
        let legMeters = route.elements("legs").compactMap { $0["distance"]?.quantity }.reduce(0, +)
        let fitting =
            steps.lazy.compactMap(\.precisionByEvidence).first
            ?? Polyline.Precision.fitting(
                steps.compactMap(\.polyline), meters: route["distance"]?.quantity ?? legMeters)
        let missing = "no location to tell the polyline's precision by"
        book.add(
            silent.path,
            fitting.map { "\(missing): \($0.rawValue) digits are taken, because the length fits" }
                ?? "\(missing), and no distance: five digits are assumed")
        return fitting ?? .five
    }
}

extension RouteDraft {
    /// Sets the traffic side of every maneuver: that of the options or, if these have none, as ``TrafficSides`` settles it.
    mutating func settleSides(_ options: RouteReadingOptions) {
        guard let side = options.trafficSide else { return TrafficSides.settle(&self) }
        for leg in self.legs.indices {
            for step in self.legs[leg].steps.indices {
                self.legs[leg].steps[step].maneuver.trafficSide = side
            }
        }
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
