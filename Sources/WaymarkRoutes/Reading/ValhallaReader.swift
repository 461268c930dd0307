import WaymarkModel
import WaymarkProtocol

/// Reads Valhalla's own form, also that of 2014 without travel modes.
struct ValhallaReader {
    let options: RouteReadingOptions

    static func read(
        _ answer: JSONNode, _ options: RouteReadingOptions
    ) throws(RouteReadingError) -> RouteAnswer {
        guard let trip = answer["trip"], trip.isObject else {
            throw .missing(path: "trip", expected: "an object")
        }
        let reader = Self(options: options)
        var book = NoticeBook()
        ValhallaMembers.answer.report(answer, into: &book)
        var routes = [try reader.route(trip)]
        for alternate in answer.elements("alternates") {
            guard let trip = alternate["trip"] else {
                book.add(alternate.path, "an alternate without a trip is left out")
                continue
            }
            routes.append(try reader.route(trip))
        }
        if routes.count > ProtocolConstants.routeChoicesMax {
            book.add(
                .member(.root, "alternates"),
                "of \(routes.count) routes only \(ProtocolConstants.routeChoicesMax) can be offered as choices"
            )
        }
        return RouteAnswer(routes: routes, notices: book.complete)
    }

    static func read(
        bareTrip trip: JSONNode, _ options: RouteReadingOptions
    ) throws(RouteReadingError) -> RouteAnswer {
        RouteAnswer(routes: [try Self(options: options).route(trip)], notices: [])
    }

    private func route(_ trip: JSONNode) throws(RouteReadingError) -> EngineRoute {
        if let status = trip["status"]?.integer, status != 0 {
            let message = trip["status_message"]?.string ?? "no reason given"
            throw .refusedByEngine(code: "\(status)", message: message)
        }
        guard let legs = trip["legs"]?.elements else {
            throw .missing(path: "\(trip.path).legs", expected: "an array")
        }
        guard !legs.isEmpty else { throw .noRoute(path: "\(trip.path).legs") }
        var draft = RouteDraft(engine: .valhalla, path: trip.path)
        ValhallaMembers.trip.report(trip, into: &draft.book)
        let unit = Self.metersPerUnit(trip["units"], &draft.book)
        draft.distance = trip["summary"]?["length"]?.number.map { $0 * unit }
        draft.duration = trip["summary"]?["time"]?.number
        draft.waypoints = Self.waypoints(trip.elements("locations"), legs: legs.count, &draft.book)
        var reader = ValhallaLegReader(metersPerUnit: unit, book: draft.book)
        for (index, leg) in legs.enumerated() {
            draft.legs.append(try reader.leg(leg, isLast: index == legs.count - 1))
        }
        draft.book = reader.book
        if let side = self.options.trafficSide { draft.setSide(side) } else { draft.inferSide() }
        return try RouteBuilder.build(draft)
    }

    private static func metersPerUnit(_ units: JSONNode?, _ book: inout NoticeBook) -> Double {
        switch units?.string {
        case "miles", "mi": return 1_609.344
        case "kilometers", "km", nil: return 1_000
        case .some(let other):
            book.add(units?.path ?? .root, "\"\(other.prefix(64))\" is no known unit; kilometres are assumed")
            return 1_000
        }
    }

    /// The waypoints between the legs; points that are only passed are reported.
    private static func waypoints(_ places: [JSONNode], legs: Int, _ book: inout NoticeBook) -> [Waypoint]? {
        var waypoints: [Waypoint] = []
        for place in places {
            switch place["type"]?.string {
            case "through", "via":
                book.add(place.path, "a point that is passed without a stop is no waypoint")
                continue
            default: break
            }
            guard let latitude = place["lat"]?.number, let longitude = place["lon"]?.number else {
                return nil
            }
            let center = Coordinate(latitude: latitude, longitude: longitude)
            guard center.isOnEarth else { return nil }
            let name = place["name"]?.string ?? ""
            let address = ["street", "city"].compactMap { place[$0]?.string }.joined(separator: ", ")
            waypoints.append(
                Waypoint(
                    center: center, nameVariants: book.fit(variants: [name], at: place.path),
                    addressVariants: book.fit(variants: [address], at: place.path),
                    timeZone: book.fit(
                        place["time_zone_name"]?.string ?? "", bytesMax: ProtocolConstants.shortTextBytesMax,
                        at: place.path)))
        }
        guard waypoints.count == legs + 1 else {
            if !places.isEmpty {
                book.add(
                    .root, "\(waypoints.count) locations do not match \(legs) legs; the legs' ends are taken")
            }
            return nil
        }
        return waypoints
    }
}

/// The members of Valhalla's own form that are read.
enum ValhallaMembers {
    static let answer = UncarriedMembers(
        read: ["alternates", "alternates[].trip"], readWhole: ["trip", "alternates[].trip", "id"])

    static let trip = UncarriedMembers(
        read: [
            "status", "status_message", "units", "language", "summary", "summary.length", "summary.time",
            "locations",
            "locations[].type", "locations[].lat", "locations[].lon", "locations[].name",
            "locations[].street",
            "locations[].city", "locations[].time_zone_name", "legs", "legs[].shape", "legs[].summary",
            "legs[].summary.length",
            "legs[].summary.time", "legs[].maneuvers", "legs[].maneuvers[].type",
            "legs[].maneuvers[].instruction",
            "legs[].maneuvers[].verbal_succinct_transition_instruction",
            "legs[].maneuvers[].verbal_multi_cue",
            "legs[].maneuvers[].bearing_before", "legs[].maneuvers[].bearing_after",
            "legs[].maneuvers[].time",
            "legs[].maneuvers[].length", "legs[].maneuvers[].begin_shape_index",
            "legs[].maneuvers[].end_shape_index", "legs[].maneuvers[].highway",
            "legs[].maneuvers[].roundabout_exit_count", "legs[].maneuvers[].street_names",
            "legs[].maneuvers[].begin_street_names", "legs[].maneuvers[].lanes",
            "legs[].maneuvers[].lanes[].directions", "legs[].maneuvers[].lanes[].valid",
            "legs[].maneuvers[].lanes[].active", "legs[].maneuvers[].sign",
            "legs[].maneuvers[].sign.exit_number_elements",
            "legs[].maneuvers[].sign.exit_number_elements[].text",
            "legs[].maneuvers[].sign.exit_branch_elements",
            "legs[].maneuvers[].sign.exit_branch_elements[].text",
            "legs[].maneuvers[].sign.exit_toward_elements",
            "legs[].maneuvers[].sign.exit_toward_elements[].text",
            "legs[].maneuvers[].sign.exit_name_elements", "legs[].maneuvers[].sign.exit_name_elements[].text",
        ], readWhole: [])
}
