import WaymarkModel

/// One step of OSRM's form, as written in the answer.
struct OSRMStep {
    let path: JSONPath
    let node: JSONNode
    /// As written; empty for none.
    let kindName: String
    let kind: OSRMManeuver.Kind?
    let direction: TurnDirection?
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

    init(_ node: JSONNode, _ book: inout NoticeBook) throws(RouteReadingError) {
        guard node.isObject else { throw .missing(path: node.path.description, expected: "a step") }
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
        let angle = Self.angle(from: self.bearingBefore, to: self.bearingAfter)
        self.direction = Self.direction(maneuver, self.kind, angle, &book)
        self.exit = maneuver["exit"].flatMap { Self.exit($0, &book) }
        self.location = maneuver["location"].flatMap(Coordinate.init(lonLat:))
        self.geometry = node["geometry"]
        self.polyline = node["geometry"]?.string.map { Self.repaired($0, at: node.path, &book) }
        self.isFerry = node["mode"]?.string == "ferry"
        self.name = node["name"]?.string ?? ""
        self.reference = node["ref"]?.string ?? ""
        self.intersections = node.elements("intersections")
        switch node["driving_side"]?.string {
        case "left": self.side = .left
        case "right": self.side = .right
        default: self.side = nil
        }
    }

    /// The direction of the modifier or, for a maneuver that needs one, of the bearings.
    private static func direction(
        _ maneuver: JSONNode, _ kind: OSRMManeuver.Kind?, _ angle: Angle?, _ book: inout NoticeBook
    ) -> TurnDirection? {
        if let word = maneuver["modifier"]?.string {
            let spaced = word.lowercased().split { $0 == " " || $0 == "_" || $0 == "-" }.joined(
                separator: " ")
            if let direction = TurnDirection(rawValue: spaced == "u turn" ? "uturn" : spaced) {
                return direction
            }
            if !word.isEmpty { book.add(maneuver.path, "\"\(word.prefix(64))\" is no known modifier") }
        }
        guard kind == nil || kind == .turn || kind == .endOfRoad, let angle else { return nil }
        book.add(maneuver.path, "no modifier; the direction is taken from the bearings")
        return TurnDirection(angle)
    }

    /// Restores the backslashes of a polyline that was written without escaping them.
    ///
    /// There are such recorded answers: `\f` was read as a form feed, which no polyline contains.
    private static func repaired(_ text: String, at path: JSONPath, _ book: inout NoticeBook) -> String {
        let letters: [Unicode.Scalar: String] = [
            "\u{8}": "\\b", "\u{C}": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
        ]
        guard text.unicodeScalars.contains(where: { letters[$0] != nil }) else { return text }
        book.add(.member(path, "geometry"), "a backslash in the polyline was not escaped; it was put back")
        return text.unicodeScalars.map { letters[$0] ?? String($0) }.joined()
    }

    /// An exit's number, or nil and a notice.
    static func exit(_ node: JSONNode, _ book: inout NoticeBook) -> UInt8? {
        if let exit = node.integer, (1...255).contains(exit) { return UInt8(exit) }
        book.add(node.path, "not an exit's number, 1 to 255")
        return nil
    }

    /// The angle between two bearings; nil when one is missing.
    static func angle(from before: Double?, to after: Double?) -> Angle? {
        guard let before, let after else { return nil }
        return .degrees(rounding: after - before)
    }

    /// Five or six digits: the precision in which the polyline begins at the maneuver; nil if unknown.
    ///
    /// Decided for each step separately, since some answers mix both.
    var precisionByLocation: Polyline.Precision? {
        guard let text = self.polyline, let location = self.location else { return nil }
        var nearest: (precision: Polyline.Precision, meters: Double)?
        for precision in Polyline.Precision.allCases {
            do throws(Polyline.Mistake) {
                guard let meters = try Polyline.decode(text, precision).first?.meters(to: location) else {
                    continue
                }
                if nearest.map({ meters < $0.meters }) ?? true { nearest = (precision, meters) }
            } catch {
                continue  // Why: not readable in this precision, so it is not the right one.
            }
        }
        return nearest?.precision
    }

    /// Five or six digits: the precision in which the polyline is as long as the step; nil if unknown.
    var precisionByLength: Polyline.Precision? {
        self.polyline.flatMap { .fitting([$0], meters: self.node["distance"]?.number) }
    }

    /// The step's points.
    ///
    /// Without a geometry these are the locations of its intersections.
    func points(
        _ precision: Polyline.Precision, _ book: inout NoticeBook
    ) throws(RouteReadingError) -> [Coordinate] {
        if let text = self.polyline {
            do throws(Polyline.Mistake) {
                let points = try Polyline.decode(
                    text, self.precisionByLocation ?? self.precisionByLength ?? precision)
                if !points.isEmpty { return points }
            } catch {
                throw .invalid(path: "\(self.path).geometry", reason: "\(error)")
            }
        } else if let positions = self.geometry?["coordinates"]?.elements {
            var points: [Coordinate] = []
            for position in positions {
                guard let point = Coordinate(lonLat: position) else {
                    throw .invalid(path: "\(position.path)", reason: "not a position on the Earth")
                }
                points.append(point)
            }
            if !points.isEmpty { return points }
        }
        let places =
            [self.location].compactMap(\.self)
            + self.intersections.dropFirst().compactMap { $0["location"].flatMap(Coordinate.init(lonLat:)) }
        guard !places.isEmpty else {
            throw .missing(
                path: "\(self.path).geometry", expected: "a polyline, a GeoJSON line or a location")
        }
        book.add(self.path, "no geometry; the places of its intersections are taken")
        return places
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
