internal import WaymarkModel
internal import WaymarkRoutes
internal import WaymarkTexts

/// Writes routes as text for people, in lines of at most ``width`` columns: a pure function.
enum RouteTable {
    /// That of an ordinary terminal; also in pipes, so that the text is the same everywhere.
    static let width = 80

    /// All routes of `answer`, each with its notices: one by one, or summed up.
    static func lines(_ answer: RouteAnswer, listsNotices: Bool = false) -> [String] {
        var lines: [String] = []
        for (index, route) in answer.routes.enumerated() {
            if index > 0 { lines.append("") }
            lines += self.header(route, number: index + 1, of: answer.routes.count)
            lines += RouteRows(route).lines
            lines += self.notices(route.notices, listsNotices)
        }
        return lines + self.notices(answer.notices, listsNotices)
    }

    // MARK: Header

    private static func header(_ route: EngineRoute, number: Int, of count: Int) -> [String] {
        let information = route.information
        let stops = information.segments.count - 1
        var facts = [
            self.distance(route.distance), self.time(Double(route.duration.components.seconds)),
            GuidanceText.counted(information.maneuvers.count, "maneuver"),
        ]
        if stops > 0 { facts.append(GuidanceText.counted(stops, "stop")) }
        let charging = route.stopSeconds.dropFirst().dropLast().reduce(0, +)
        if charging > 0 { facts.append("\(self.time(charging)) of charging") }
        if !information.laneGuidances.isEmpty {
            facts.append("lanes at \(GuidanceText.counted(information.laneGuidances.count, "place"))")
        }
        let via = route.summaryVariants.first.map { ", via \($0)" } ?? ""
        let title = "Route \(number) of \(count), by \(self.name(route.engine))\(via)"
        return self.wrapped(title, hanging: 2)
            + self.wrapped("  " + facts.joined(separator: ", "), hanging: 2) + [""]
    }

    private static func name(_ engine: EngineRoute.Engine) -> String {
        switch engine {
        case .osrm: "OSRM"
        case .mapbox: "Mapbox"
        case .valhalla: "Valhalla"
        case .graphhopper: "GraphHopper"
        }
    }

    // MARK: Notices

    private static func notices(_ notices: [RouteNotice], _ listsAll: Bool) -> [String] {
        guard !notices.isEmpty else { return [] }
        if listsAll { return [""] + notices.map { "note: \($0.path): \($0.reason)" } }
        let sums = self.summedUp(notices)
        var lines = [""]
        for sum in sums { lines += self.wrapped("note: \(sum)", hanging: 6) }
        if sums.count < notices.count {
            lines.append("      --notices lists all \(notices.count) of these notes with their places")
        }
        return lines
    }

    /// A sentence for each kind of notice: those that differ only in numbers and places are one kind.
    private static func summedUp(_ notices: [RouteNotice]) -> [String] {
        var kinds: [String: (first: RouteNotice, count: Int)] = [:]
        var order: [String] = []
        var members: [String] = []
        for notice in notices {
            if notice.reason.hasPrefix("not carried over") {
                let name = String(notice.path.split(separator: ".").last ?? "")
                if !members.contains(name) { members.append(name) }
                continue
            }
            let kind = String(notice.reason.filter { !$0.isNumber })
            if kinds[kind] == nil { order.append(kind) }
            kinds[kind, default: (notice, 0)].count += 1
        }
        var sums = order.compactMap { kinds[$0] }.map { kind in
            let more = kind.count > 1 ? " (and \(kind.count - 1) more like this)" : ""
            return "\(kind.first.path): \(kind.first.reason)\(more)"
        }
        if !members.isEmpty { sums.append("not carried over: \(members.joined(separator: ", "))") }
        return sums
    }

    // MARK: Text

    /// In the units that are shown on the road.
    static func distance(_ distance: Distance) -> String {
        GuidanceText.distance(TravelEstimates(distanceRemaining: distance))
    }

    /// In seconds below a minute, else in minutes, from an hour on in hours and minutes.
    static func time(_ seconds: Double) -> String {
        let whole = Int(min(max(seconds, 0), 1e9).rounded())
        if whole < 60 { return "\(whole) s" }
        let minutes = (whole + 30) / 60
        if minutes < 60 { return "\(minutes) min" }
        return minutes % 60 == 0 ? "\(minutes / 60) h" : "\(minutes / 60) h \(minutes % 60) min"
    }

    /// `text` in lines of at most ``width`` columns; the lines after the first begin with `hanging` spaces.
    fileprivate static func wrapped(_ text: String, hanging: Int) -> [String] {
        Terminal.wrapped(text, columns: self.width, hanging: hanging)
    }
}

/// The maneuvers of one route as a table, leg by leg.
private struct RouteRows {
    /// What belongs to a maneuver begins below its type.
    private static let indent = String(repeating: " ", count: 14)

    private let route: EngineRoute
    private let measure: LineMeasure
    private var typeWidth = 8
    private var hasAngles = false
    /// Of signposted exits; 0 where the route has none.
    private var signWidth = 0
    /// An instruction beside its maneuver has at least this many columns, else it has lines of its own.
    private static let instructionWidthMin = 24

    init(_ route: EngineRoute) {
        self.route = route
        self.measure = route.measure
        for maneuver in route.information.maneuvers {
            self.typeWidth = max(self.typeWidth, Self.type(maneuver).count)
            self.hasAngles = self.hasAngles || maneuver.junctionExitAngle != nil
            if !maneuver.highwayExitLabel.isEmpty {
                self.signWidth = max(self.signWidth, 4, min(maneuver.highwayExitLabel.count, 12))
            }
        }
    }

    var lines: [String] {
        var lines = [
            self.cells(number: "#", after: "after", type: "maneuver", angle: "angle", sign: "exit")
                + (self.hasRoomBeside ? "instruction" : "")
        ].map { String($0.reversed().drop { $0 == " " }.reversed()) }
        let segments = self.route.information.segments
        for (index, segment) in segments.enumerated() {
            if segments.count > 1 {
                lines += self.heading(index, segment)
            }
            for id in segment.maneuvers {
                let maneuver = self.route.information.maneuvers[Int(id.rawValue) - 1]
                lines += self.row(maneuver, isFirst: id == segment.maneuvers.first)
            }
            if index + 1 < segments.count { lines += self.stop(segment.destination) }
        }
        return lines
    }

    // MARK: Legs

    private func heading(_ index: Int, _ segment: RouteSegment) -> [String] {
        let indices = self.route.segmentIndices
        let start = self.measure.meters[indices[index]]
        let end = index + 1 < indices.count ? self.measure.meters[indices[index + 1]] : self.measure.length
        let departure = self.measure.seconds(atMeters: start, now: .infinity)
        let seconds = self.measure.seconds(atMeters: end) - departure
        let text =
            "Leg \(index + 1) of \(indices.count): \(Story.name(segment.origin)) to "
            + "\(Story.name(segment.destination)), \(RouteTable.distance(.meters(rounding: end - start))), "
            + RouteTable.time(seconds)
        return RouteTable.wrapped(text, hanging: 2)
    }

    /// What is done at a stop, if that is known.
    private func stop(_ waypoint: Waypoint) -> [String] {
        guard let kind = waypoint.stopKind else { return [] }
        var facts = [kind.name]
        if let time = waypoint.charge?.chargingTime {
            facts.append(RouteTable.time(Double(time.components.seconds)))
        }
        if let watts = waypoint.charge?.powerWatts {
            facts.append(watts < 1_000 ? "\(watts) W" : "\((watts + 500) / 1_000) kW")
        }
        if let connector = waypoint.charge?.connector { facts.append(connector.name) }
        if !waypoint.id.isEmpty { facts.append("station \(waypoint.id)") }
        return Self.below(facts.joined(separator: ", "), hanging: 0)
    }

    // MARK: Maneuvers

    /// Whether instructions stand beside their maneuvers, which is so where enough columns are left.
    private var hasRoomBeside: Bool {
        let cells = self.cells(number: "", after: "", type: "", angle: "", sign: "")
        return RouteTable.width - cells.count >= Self.instructionWidthMin
    }

    /// `text` in lines of its own, below the maneuver's type.
    private static func below(_ text: String, hanging: Int) -> [String] {
        RouteTable.wrapped(Self.indent + text, hanging: Self.indent.count + hanging)
    }

    private func row(_ maneuver: Maneuver, isFirst: Bool) -> [String] {
        let label = maneuver.highwayExitLabel
        let hasLongLabel = label.count > self.signWidth
        let distance = maneuver.initialTravelEstimates.map { RouteTable.distance($0.distanceRemaining) } ?? ""
        let cells = self.cells(
            number: "\(maneuver.id.rawValue)", after: isFirst ? "" : distance, type: Self.type(maneuver),
            angle: maneuver.junctionExitAngle.map { "\($0.degrees)°" } ?? "", sign: hasLongLabel ? "" : label)
        let instruction = maneuver.instructionVariants.first ?? ""
        var lines: [String]
        if self.hasRoomBeside {
            lines = RouteTable.wrapped(cells + instruction, hanging: cells.count)
        } else {
            lines = RouteTable.wrapped(cells, hanging: 0)
            if !instruction.isEmpty { lines += Self.below(instruction, hanging: 0) }
        }
        if hasLongLabel { lines += Self.below("exit \(label)", hanging: 5) }
        if let id = maneuver.linkedLaneGuidance {
            let lanes = self.route.information.laneGuidances[Int(id.rawValue) - 1]
            lines += Self.below("lanes \(GuidanceText.lanes(lanes))", hanging: 6)
        }
        return lines
    }

    /// The type's name; a stop on the way is not a destination. A roundabout's exit is in the type, or stands beside it.
    private static func type(_ maneuver: Maneuver) -> String {
        if maneuver.isIntermediateWaypoint {
            switch maneuver.type {
            case .arriveAtDestinationLeft: return "stop on the left"
            case .arriveAtDestinationRight: return "stop on the right"
            default: return "stop"
            }
        }
        let exit = maneuver.type.roundaboutExit == nil ? maneuver.roundaboutExitNumber : nil
        return maneuver.type.name + (exit.map { ", exit \($0)" } ?? "")
    }

    /// The columns before the instruction; angles and signposted exits only where the route has any.
    private func cells(number: String, after: String, type: String, angle: String, sign: String) -> String {
        var cells = [Self.right(number, 3), Self.right(after, 7), Self.left(type, self.typeWidth)]
        if self.hasAngles { cells.append(Self.right(angle, 5)) }
        if self.signWidth > 0 { cells.append(Self.left(sign, self.signWidth)) }
        return cells.joined(separator: "  ") + "  "
    }

    private static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
