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
        var book = NoticeBook()
        var trips = [trip]
        for alternate in answer.elements("alternates") {
            if let trip = alternate["trip"] {
                trips.append(trip)
            } else {
                book.add(alternate.path, "an alternate without a trip is left out")
            }
        }
        let routes = try book.readable(trips) { (trip: JSONNode) throws(RouteReadingError) in
            try Self(options: options).route(trip)
        }
        answer.passOver("trip")
        for alternate in answer.elements("alternates") { alternate.passOver("trip") }
        UncarriedMembers.report(answer, into: &book)
        book.addChoices(routes.count, at: "alternates")
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
        let unit = Self.metersPerUnit(trip["units"], &draft.book)
        draft.distance = trip["summary"]?["length"]?.quantity.map { $0 * unit }
        draft.duration = trip["summary"]?["time"]?.quantity
        draft.places = Self.places(trip.elements("locations"), legs: legs.count, &draft.book)
        var reader = ValhallaLegReader(metersPerUnit: unit, book: draft.book)
        let isReadable = legs.map(ValhallaLegReader.isReadable)
        guard let last = isReadable.lastIndex(of: true) else {
            // The error says what is missing.
            _ = try reader.leg(legs[0], isLast: true)
            throw .noRoute(path: "\(trip.path).legs")
        }
        for (index, leg) in legs.enumerated() where isReadable[index] {
            draft.legs.append(try reader.leg(leg, isLast: index == last))
        }
        draft.book = reader.book
        draft.leaveOut(legs.indices.filter { !isReadable[$0] }, of: legs)
        // It says that a route was found.
        trip.passOver("status_message")
        UncarriedMembers.report(trip, into: &draft.book)
        draft.settleSides(self.options)
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
    private static func places(_ nodes: [JSONNode], legs: Int, _ book: inout NoticeBook) -> [PlaceDraft]? {
        var places: [PlaceDraft] = []
        for node in nodes {
            switch node["type"]?.string {
            case "through", "via":
                book.add(node.path, "a point that is passed without a stop is no waypoint")
                continue
            default: places.append(self.place(node, &book))
            }
        }
        guard places.count == legs + 1 else {
            if let first = nodes.first {
                book.add(
                    first.path,
                    "\(places.count) locations do not match \(legs) legs; the legs' ends are taken")
            }
            return nil
        }
        return places
    }

    private static func place(_ node: JSONNode, _ book: inout NoticeBook) -> PlaceDraft {
        var place = PlaceDraft(path: node.path, isRequested: true)
        if let latitude = node["lat"]?.number, let longitude = node["lon"]?.number {
            let center = Coordinate(latitude: latitude, longitude: longitude)
            place.center = center.isOnEarth ? center : nil
        }
        let name = node["name"]?.string ?? ""
        let address = ["street", "city"].compactMap { node[$0]?.string }.joined(separator: ", ")
        place.waypoint.nameVariants = book.fit(variants: [name], at: node.path)
        place.waypoint.addressVariants = book.fit(variants: [address], at: node.path)
        place.waypoint.timeZone = book.fit(
            node["time_zone_name"]?.string ?? "", bytesMax: ProtocolConstants.shortTextBytesMax,
            at: node.path)
        place.waypoint.utcOffsetMinutes = self.utcOffset(node["time_zone_offset"], &book)
        return place
    }

    /// Minutes east of UTC of e.g. "-06:00"; nil for none, and for one out of range, which is reported.
    private static func utcOffset(_ node: JSONNode?, _ book: inout NoticeBook) -> Int16? {
        guard let node, let text = node.string, !text.isEmpty else { return nil }
        if text == "Z" { return 0 }
        let numbers = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard let sign = text.first, sign == "+" || sign == "-", (1...2).contains(numbers.count),
            numbers.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isNumber) }), let hours = Int(numbers[0]),
            let minutes = numbers.count == 2 ? Int(numbers[1]) : 0, minutes < 60,
            hours * 60 + minutes <= 840
        else {
            book.add(node.path, "not an offset from UTC, at most 14 hours")
            return nil
        }
        return Int16((hours * 60 + minutes) * (sign == "-" ? -1 : 1))
    }
}
