import WaymarkModel
import WaymarkProtocol

/// The list in an answer of OSRM's form that holds the routes. Its value is the member's name.
enum OSRMList: String {
    case routes
    /// Of the match service: parts of a trace, each matched separately.
    case matchings
    /// Of the trip service: routes, round or not, through waypoints whose order the engine has chosen.
    case trips
}

/// Reads the waypoints of one route in OSRM's form, between which its legs run.
struct OSRMWaypoints {
    /// The waypoints in the order of the legs.
    private let nodes: [JSONNode]
    private let list: JSONNode

    /// Finds the waypoints of `route`, the one at `index` of `answer`'s `list`; nil if the answer has none.
    init?(_ route: JSONNode, at index: Int, of list: OSRMList, in answer: JSONNode, _ book: inout NoticeBook)
    {
        let places: JSONNode?
        switch list {
        case .routes: places = route["waypoints"] ?? answer["waypoints"]
        case .matchings: places = answer["tracepoints"]
        case .trips: places = answer["waypoints"]
        }
        guard let places, let all = places.elements else { return nil }
        self.list = places
        switch list {
        case .routes: self.nodes = Self.stops(among: all, route.elements("legs"), &book)
        case .matchings:
            self.nodes = Self.ordered(all, of: index, "matchings_index")
            let passed = all.count { $0["matchings_index"]?.integer == index } - self.nodes.count
            if passed > 0 { book.add(places.path, "points that are only passed are no waypoints: \(passed)") }
            let unmatched = all.count { !$0.isObject }
            if unmatched > 0 { book.add(places.path, "points that the engine could not match: \(unmatched)") }
        case .trips:
            let ordered = Self.ordered(all, of: index, "trips_index")
            // Why: a round trip's list omits the return to the first waypoint.
            let isRound = ordered.count == route.elements("legs").count
            self.nodes = ordered + (isRound ? Array(ordered.prefix(1)) : [])
        }
    }

    /// Removes the points that are only passed, and reports them.
    private static func stops(
        among places: [JSONNode], _ legs: [JSONNode], _ book: inout NoticeBook
    ) -> [JSONNode] {
        let passed = Set(
            legs.flatMap { $0.elements("via_waypoints") }.compactMap { $0["waypoint_index"]?.integer })
        for index in passed.sorted() where places.indices.contains(index) {
            book.add(places[index].path, "a point that is passed without a stop is no waypoint")
        }
        return places.indices.filter { !passed.contains($0) }.map { places[$0] }
    }

    /// The waypoints of the matching or trip at `index`, ordered by their `waypoint_index`.
    private static func ordered(_ places: [JSONNode], of index: Int, _ member: String) -> [JSONNode] {
        places.filter { $0[member]?.integer == index }
            .compactMap { place in place["waypoint_index"]?.integer.map { (order: $0, place: place) } }
            .sorted { $0.order < $1.order }.map(\.place)
    }

    /// The places of the waypoints; nil, with a notice, if their number does not fit `legs`.
    func places(legs: Int, _ book: inout NoticeBook) -> [PlaceDraft]? {
        guard self.nodes.count == legs + 1 else {
            book.add(
                self.list.path,
                "\(self.nodes.count) waypoints do not match \(legs) legs; the legs' ends are taken")
            return nil
        }
        return self.nodes.map { node in
            if let moved = node["distance"]?.number { book.addMovedPoint(node.path, meters: moved) }
            var place = PlaceDraft(
                path: node.path, center: node["location"].flatMap(Coordinate.init(lonLat:)),
                isRequested: false)
            place.waypoint.nameVariants = book.fit(variants: [node["name"]?.string ?? ""], at: node.path)
            if let metadata = node["metadata"] {
                place.waypoint.take(MapboxStation(metadata, &book), &book)
            }
            return place
        }
    }
}

/// A charging station on a route of Mapbox for electric vehicles: `metadata` of a waypoint.
struct MapboxStation {
    let path: JSONPath
    let name: String
    let id: String
    let charge: ChargeStop

    /// Nil for metadata of another type.
    init?(_ metadata: JSONNode, _ book: inout NoticeBook) {
        // The second one is a station that the request had among its points.
        let types = ["charging-station", "user-provided-charging-station"]
        guard let type = metadata["type"]?.string, types.contains(type) else {
            book.add(metadata.path, "metadata of no known type are not carried over")
            return nil
        }
        self.path = metadata.path
        self.name = metadata["name"]?.string ?? ""
        self.id = metadata["station_id"]?.string ?? ""
        self.charge = ChargeStop(
            connector: Self.connector(metadata["plug_type"], &book),
            powerWatts: Self.number(metadata["power_kw"], times: 1_000, in: Self.powerWatts, &book),
            chargingTime: Self.number(metadata["charge_time"], times: 1, in: Self.chargingSeconds, &book)
                .map { .seconds(Int64($0)) })
    }

    /// The protocol's ranges.
    private static let powerWatts = 1...Double(ProtocolConstants.powerWattsMax)
    private static let chargingSeconds = 1...Double(ProtocolConstants.chargingTimeSecondsMax)

    /// `node` as a whole number of smaller units; nil for none, and for one out of range, which is reported.
    private static func number(
        _ node: JSONNode?, times factor: Double, in range: ClosedRange<Double>, _ book: inout NoticeBook
    ) -> UInt32? {
        guard let node, node.number != 0 else { return nil }
        let value = node.number.map { ($0 * factor).rounded() }
        guard let value, range.contains(value) else {
            book.add(node.path, "not a number in the range of the protocol; it is left out")
            return nil
        }
        return UInt32(value)
    }

    private static func connector(_ node: JSONNode?, _ book: inout NoticeBook) -> ChargeConnector? {
        guard let node, let name = node.string, !name.isEmpty else { return nil }
        if let connector = self.connectors[name.lowercased()] { return connector }
        book.add(node.path, "\"\(name.prefix(64))\" is no known plug")
        return nil
    }

    /// First Mapbox's names, then those of OCPI, the protocol of station operators.
    private static let connectors: [String: ChargeConnector] = [
        "ccs_combo_type1": .ccs1, "ccs_combo_type2": .ccs2, "chademo": .chademo, "tesla": .nacs,
        "type1": .type1, "type2": .type2, "iec_62196_t1": .type1, "iec_62196_t2": .type2,
        "iec_62196_t1_combo": .ccs1, "iec_62196_t2_combo": .ccs2, "sae_j3400": .nacs, "nacs": .nacs,
        "gbt_ac": .gbTAc, "gbt_dc": .gbTDc, "mcs": .mcs,
    ]
}

extension Waypoint {
    /// Makes this the stop at `station`; nil changes nothing.
    mutating func take(_ station: MapboxStation?, _ book: inout NoticeBook) {
        guard let station else { return }
        self.stopKind = .charging
        self.charge = station.charge
        if !station.name.isEmpty {
            // Why: the name so far is that of the station's road.
            self.nameVariants = book.fit(variants: [station.name], at: station.path)
        }
        guard !station.id.isEmpty else { return }
        // Why: half of an id is a wrong id.
        if station.id.utf8.count > ProtocolConstants.identifierBytesMax {
            book.add(.member(station.path, "station_id"), "an id that is too long is left out")
        } else {
            self.id = station.id
        }
    }
}
