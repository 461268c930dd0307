import WaymarkModel

/// One step of OSRM's form, as written in the answer.
struct OSRMStep {
    let path: JSONPath
    let node: JSONNode
    /// As written; empty for none.
    let kindName: String
    let kind: OSRMManeuver.Kind?
    /// That of the modifier; nil if there is none that is known.
    let modifier: TurnDirection?
    /// 1 ... 255; nil for none.
    let exit: UInt8?
    let bearingBefore: Double?
    let bearingAfter: Double?
    let location: Coordinate?
    let geometry: JSONNode?
    /// The geometry, where it is a polyline.
    let polyline: String?
    let isFerry: Bool
    let name: String
    let reference: String
    let side: TrafficSide?
    let intersections: [JSONNode]

    /// Nil, with a notice, for a value that is no step.
    init?(_ node: JSONNode, _ book: inout NoticeBook) {
        guard node.isObject else {
            book.add(node.path, "not a step; it is left out")
            return nil
        }
        let maneuver = node["maneuver"] ?? JSONNode(.object([:]), at: .member(node.path, "maneuver"))
        self.path = node.path
        self.node = node
        self.kindName = (maneuver["type"] ?? maneuver["maneuver_type"])?.string ?? ""
        self.kind = OSRMManeuver.Kind(name: self.kindName)
        self.bearingBefore = maneuver["bearing_before"]?.number
        self.bearingAfter = maneuver["bearing_after"]?.number
        if self.kind == nil {
            book.add(maneuver.path, "\"\(self.kindName.prefix(64))\" is no known type; it reads as a turn")
        }
        self.modifier = Self.modifier(maneuver, &book)
        self.exit = maneuver["exit"].flatMap { Self.exit($0, &book) }
        self.location = maneuver["location"].flatMap(Coordinate.init(lonLat:))
        self.geometry = node["geometry"]
        self.polyline = node["geometry"]?.string
        self.isFerry = node["mode"]?.string == "ferry"
        self.name = node["name"]?.string ?? ""
        self.reference = node["ref"]?.string ?? ""
        self.intersections = node.elements("intersections")
        // It is where the maneuver is.
        self.intersections.first?.passOver("location")
        switch node["driving_side"]?.string {
        case "left": self.side = .left
        case "right": self.side = .right
        default: self.side = nil
        }
    }

    private static func modifier(_ maneuver: JSONNode, _ book: inout NoticeBook) -> TurnDirection? {
        guard let word = maneuver["modifier"]?.string, !word.isEmpty else { return nil }
        let spaced = word.lowercased().split { $0 == " " || $0 == "_" || $0 == "-" }.joined(separator: " ")
        if let direction = TurnDirection(rawValue: spaced == "u turn" ? "uturn" : spaced) {
            return direction
        }
        book.add(maneuver.path, "\"\(word.prefix(64))\" is no known modifier")
        return nil
    }

    /// Whether a roundabout is driven from here.
    var isRing: Bool { self.kind == .roundaboutTurn || (self.kind?.entersRoundabout ?? false) }

    /// Whether the maneuver means nothing without a direction.
    var needsDirection: Bool { self.kind == nil || self.kind == .turn || self.kind == .endOfRoad }

    /// The roads of the maneuver's intersection.
    var roads: ManeuverDirections.Roads {
        let junction = self.intersections.first
        return ManeuverDirections.Roads(
            bearings: (junction?.elements("bearings") ?? []).map(\.number), entry: junction?["in"]?.integer,
            exit: junction?["out"]?.integer)
    }

    /// An exit's number, or nil and a notice.
    static func exit(_ node: JSONNode, _ book: inout NoticeBook) -> UInt8? {
        if let exit = node.integer, (1...255).contains(exit) { return UInt8(exit) }
        book.add(node.path, "not an exit's number, 1 to 255")
        return nil
    }

    /// Five or six digits: the precision in which the polyline begins at the maneuver or is as long as the step; nil if unknown.
    ///
    /// Decided for each step separately, since some answers mix both.
    var precisionByEvidence: Polyline.Precision? {
        let meters = self.node["distance"]?.quantity.flatMap { $0 > 0 ? $0 : nil }
        let evidence = LineEvidence(meters: meters, start: self.location)
        guard let text = self.polyline, !evidence.isEmpty else { return nil }
        return Polyline.Precision.fitting(text, evidence)
    }

    /// The step's points.
    ///
    /// Without a geometry these are the locations of its intersections.
    ///
    /// - Parameters:
    ///   - precision: That of a polyline of which nothing is known.
    ///   - next: Where the next step begins.
    ///   - book: Gets a notice about each repair.
    /// - Returns: At least one point.
    /// - Throws: The geometry's mistake, if the locations do not make a line either.
    func points(
        _ precision: Polyline.Precision, until next: Coordinate?, _ book: inout NoticeBook
    ) throws(RouteReadingError) -> [Coordinate] {
        let meters = self.node["distance"]?.quantity
        let evidence = LineEvidence(meters: meters, start: self.location, end: next)
        let isKnown = self.location != nil || (meters ?? 0) > 0
        let others = Polyline.Precision.allCases.filter { $0 != precision && isKnown }
        let units = ([precision] + others).map(\.unitsPerDegree)
        let places = self.places(until: next)
        do throws(RouteReadingError) {
            if let points = try self.geometry?.line(units: units, evidence: evidence, &book) { return points }
        } catch {
            guard places.count > 1 else { throw error }
            book.add(self.path, "\(error); the places of its intersections are taken")
            return places
        }
        guard let first = places.first else {
            throw .missing(
                path: "\(self.path).geometry", expected: "a polyline, a GeoJSON line or a location")
        }
        book.add(self.path, "no geometry; the places of its intersections are taken")
        return self.kind == .arrive ? [first] : places
    }

    /// The places of the step's intersections, and where the next step begins.
    private func places(until next: Coordinate?) -> [Coordinate] {
        [self.location].compactMap(\.self)
            + self.intersections.dropFirst().compactMap { $0["location"].flatMap(Coordinate.init(lonLat:)) }
            + [next].compactMap(\.self)
    }

    /// Whether the road at an intersection of this step is a motorway.
    func isMotorway(at intersection: JSONNode?) -> Bool {
        guard let intersection else { return false }
        if let roadClass = intersection["mapbox_streets_v8"]?["class"]?.string {
            return roadClass == "motorway"
        }
        return intersection.elements("classes").contains { $0.string == "motorway" }
    }
}
