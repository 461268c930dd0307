internal import Foundation
internal import WaymarkModel

/// Reads answers of OSRM, of Mapbox Directions and of Valhalla in its OSRM form.
///
/// - Source: project-osrm.org docs/http.md; Docs/routes.md has the mapping.
enum OSRMReader {
    static func read(_ root: JSONValue, _ options: ReadingOptions) throws(RouteReadingError) -> EngineAnswer {
        if let code = root["code"].text, code.lowercased() != "ok" {
            throw .engineError(code: code, message: root["message"].text ?? "")
        }
        // A bare route object is a route by itself.
        let routes = root["routes"].array ?? [root]
        guard !routes.isEmpty else { throw .invalid(path: "routes", reason: "is empty") }
        var read: [EngineRoute] = []
        for (index, route) in routes.enumerated() {
            var reader = RouteBuilder()
            read.append(try self.route(route, root["waypoints"], "routes[\(index)]", options, &reader))
        }
        return EngineAnswer(routes: read)
    }

    private static func route(
        _ route: JSONValue, _ waypoints: JSONValue, _ path: String, _ options: ReadingOptions,
        _ builder: inout RouteBuilder
    ) throws(RouteReadingError) -> EngineRoute {
        guard let legs = route["legs"].array, !legs.isEmpty else {
            throw .invalid(path: "\(path).legs", reason: "is missing")
        }
        let isMapbox = legs.contains {
            $0["steps"].array?.contains { !$0["bannerInstructions"].isNull } ?? false
        }
        var places: [Waypoint] = []
        var summaries: [String] = []
        for (index, leg) in legs.enumerated() {
            let legPath = "\(path).legs[\(index)]"
            let steps = leg["steps"].array ?? []
            guard !steps.isEmpty else {
                throw .invalid(path: "\(legPath).steps", reason: "is missing or empty")
            }
            if let summary = leg["summary"].text, !summary.isEmpty { summaries.append(summary) }
            builder.beginLeg()
            var walk = StepWalk(
                path: legPath, steps: steps, isLastLeg: index == legs.count - 1, options: options)
            try walk.run(into: &builder)
            let origin = self.waypoint(waypoints.array, index, walk.first)
            let destination = self.waypoint(waypoints.array, index + 1, walk.last)
            if places.isEmpty { places.append(origin) }
            places.append(destination)
            builder.endLeg(from: origin, to: destination)
        }
        return try builder.finish(
            isMapbox ? .mapbox : .osrm, path: path, waypoints: places, meters: route["distance"].number,
            seconds: route["duration"].number, summary: summaries.joined(separator: " – "))
    }

    /// The waypoint at `index` as the engine names it, at its place on the route.
    private static func waypoint(_ waypoints: [JSONValue]?, _ index: Int, _ place: Coordinate) -> Waypoint {
        guard let waypoints, index < waypoints.count else { return Waypoint(center: place) }
        let name = waypoints[index]["name"].text ?? ""
        let center = Geometry.position(waypoints[index]["location"]) ?? place
        return Waypoint(center: center, nameVariants: name.isEmpty ? [] : [String(name.prefix(120))])
    }
}

/// Reads the steps of one leg.
private struct StepWalk {
    let path: String
    let steps: [JSONValue]
    let isLastLeg: Bool
    let options: ReadingOptions
    private(set) var first = Coordinate(latitude: 0, longitude: 0)
    private(set) var last = Coordinate(latitude: 0, longitude: 0)

    init(path: String, steps: [JSONValue], isLastLeg: Bool, options: ReadingOptions) {
        self.path = path
        self.steps = steps
        self.isLastLeg = isLastLeg
        self.options = options
    }

    mutating func run(into builder: inout RouteBuilder) throws(RouteReadingError) {
        for (index, step) in self.steps.enumerated() {
            let stepPath = "\(self.path).steps[\(index)]"
            let location = Geometry.position(step["maneuver"]["location"])
            var line = Geometry.line(step["geometry"], near: location) ?? []
            if line.isEmpty, let location { line = [location] }
            guard let begin = line.first, let end = line.last else {
                throw .invalid(path: stepPath, reason: "has no geometry and no maneuver.location")
            }
            if index == 0 { self.first = begin }
            self.last = end
            builder.append(
                .init(
                    path: stepPath, maneuver: self.maneuver(index, stepPath, &builder),
                    lanes: self.lanes(index, stepPath, &builder), line: line,
                    meters: max(0, step["distance"].number ?? 0),
                    seconds: max(0, step["duration"].number ?? 0),
                    roadNames: self.names(step), isMotorway: self.isMotorway(step)))
        }
    }

    private func names(_ step: JSONValue) -> [String] {
        roadNames(step["name"].text ?? "", step["ref"].text ?? "")
    }

    private func isMotorway(_ step: JSONValue) -> Bool {
        let classes = step["intersections"].array?.first?["classes"].array?.compactMap(\.text) ?? []
        return classes.contains("motorway")
    }

    private func maneuver(_ index: Int, _ path: String, _ builder: inout RouteBuilder) -> Maneuver {
        let step = self.steps[index]
        let wire = step["maneuver"]
        let type = wire["type"].text ?? ""
        var side = TrafficSide.right
        if let override = self.options.trafficSide {
            side = override
        } else if let said = step["driving_side"].text {
            side = said == "left" ? .left : .right
        } else {
            builder.note(self.path, "no driving_side; taken as right")
        }
        let exit = wire["exit"].integer.flatMap { (1...255).contains($0) ? UInt8($0) : nil }
        let modifier = OSRMMapping.Modifier(rawValue: wire["modifier"].text ?? "")
        if let text = wire["modifier"].text, modifier == nil {
            builder.note("\(path).maneuver.modifier", "\(text) is not known; taken as none")
        }
        if !OSRMMapping.knownTypes.contains(type) {
            builder.note(
                "\(path).maneuver.type", "\(type.isEmpty ? "none" : type) is not known; taken as turn")
        }
        let mode = (step["mode"].text, index > 0 ? self.steps[index - 1]["mode"].text : nil)
        let mapped = OSRMMapping.type(
            type, modifier, exit: exit,
            change: (isFerry: mode.0 == "ferry", wasFerry: mode.1 == "ferry"),
            highways: self.highwayChange(index))
        var maneuver = Maneuver(id: ManeuverID(rawValue: 1), type: mapped, trafficSide: side)
        maneuver.junctionType = OSRMMapping.isRoundabout(type) ? .roundabout : .intersection
        maneuver.roundaboutExitNumber = OSRMMapping.isRoundabout(type) ? exit : nil
        maneuver.isIntermediateWaypoint = type == "arrive" && !self.isLastLeg
        maneuver.roadFollowingManeuverVariants = self.names(step)
        maneuver.highwayExitLabel = step["exits"].text ?? ""
        maneuver.instructionVariants = self.instructions(step, type, modifier, exit)
        self.setAngles(of: &maneuver, step, type)
        return maneuver
    }

    /// Whether a fork or merge leads from one motorway to another one.
    private func highwayChange(_ index: Int) -> Bool {
        guard index > 0 else { return false }
        let (before, after) = (self.steps[index - 1], self.steps[index])
        let (from, to) = (before["ref"].text ?? "", after["ref"].text ?? "")
        return self.isMotorway(before) && self.isMotorway(after) && !from.isEmpty && !to.isEmpty && from != to
    }

    private func instructions(
        _ step: JSONValue, _ type: String, _ modifier: OSRMMapping.Modifier?, _ exit: UInt8?
    ) -> [String] {
        var variants = [step["maneuver"]["instruction"].text].compactMap { $0 }
        var short = OSRMMapping.words(type, modifier, exit)
        variants.append(short)
        let name = step["name"].text ?? step["ref"].text ?? ""
        if !name.isEmpty, type != "arrive" {
            short += " onto \(name)"
            variants.append(short)
        }
        if let toward = step["destinations"].text { variants.append("\(short) toward \(toward)") }
        return variants
    }

    private func setAngles(of maneuver: inout Maneuver, _ step: JSONValue, _ type: String) {
        guard type != "depart", let before = step["maneuver"]["bearing_before"].integer else { return }
        if type != "arrive", let after = step["maneuver"]["bearing_after"].integer {
            maneuver.junctionExitAngle = .degrees(after - before)
        }
        guard let junction = step["intersections"].array?.first, let bearings = junction["bearings"].array
        else { return }
        let out = junction["out"].integer
        let entry = junction["in"].integer
        let angles = bearings.enumerated().compactMap { index, bearing in
            index == out || index == entry ? nil : bearing.integer.map { Angle.degrees($0 - before) }
        }
        maneuver.junctionElementAngles = Set(angles).subtracting(
            [maneuver.junctionExitAngle].compactMap { $0 }
        ).sorted()
    }

    // MARK: Lanes

    /// The lanes at the maneuver: of its own junction, which is the first of its step.
    private func lanes(_ index: Int, _ path: String, _ builder: inout RouteBuilder) -> LaneGuidance? {
        guard let lanes = self.steps[index]["intersections"].array?.first?["lanes"].array, !lanes.isEmpty
        else {
            return nil
        }
        if lanes.count > 32 {
            builder.note("\(path).intersections[0].lanes", "more than 32 lanes; the others are left out")
        }
        let side =
            self.options.trafficSide ?? (self.steps[index]["driving_side"].text == "left" ? .left : .right)
        return LaneGuidance(
            id: LaneGuidanceID(rawValue: 1), lanes: lanes.prefix(32).map { LaneMapping.lane($0, side) })
    }
}
