internal import WaymarkConfiguration
internal import WaymarkModel
internal import WaymarkProtocol
internal import Yams

/// The steps of a scenario, and what is done in them.
extension ScenarioReader {
    mutating func step(_ node: Node) -> Scenario.Step? {
        let keys = ["name", "at", "after", "when", "within", "do", "fault", "expect"]
        guard let map = self.mapping(node, "a step", keys) else { return nil }
        self.requireOne(of: ["at", "after", "when", "do", "fault", "expect"], map)
        self.exclude("at", "after", map)
        self.exclude("at", "when", map)
        self.exclude("after", "when", map)
        if map.has("when") != map.has("within") {
            let (has, lacks) = map.has("when") ? ("when", "within") : ("within", "when")
            self.fail(map.key(has), "a step with \(has) needs \(lacks)")
        }
        var step = Scenario.Step(at: self.location(node))
        step.name = map["name"].flatMap { self.text($0, "name", 1...128) }
        let position = map["at"].flatMap { self.position($0, "at") }
        let after = map["after"].flatMap { self.duration($0, "after") }
        let within = map["within"].flatMap { self.duration($0, "within") }
        let event = map["when"].flatMap { self.event($0, "when") }
        if let position { step.waiting = .position(position) }
        if let after { step.waiting = .time(after) }
        if let event, let within { step.waiting = .event(event, within: within) }
        step.action = map["do"].flatMap { self.action($0) }
        step.faults = map["fault"].map { self.oneOrMore($0, "fault", 16) { $0.fault($1) } } ?? []
        step.expectations = map["expect"].map { self.expectations($0) } ?? []
        return step
    }

    /// An element, or a list of them.
    mutating func oneOrMore<Element>(
        _ node: Node, _ name: String, _ countMax: Int, _ element: (inout ScenarioReader, Node) -> Element?
    ) -> [Element] {
        guard node.sequence != nil else { return element(&self, node).map { [$0] } ?? [] }
        return self.list(node, name, 1...countMax, element)
    }

    private static let verbsOfVehicles = [
        "request", "withdraw", "answer-prompt", "answer-destination", "cancel", "allow-guidance", "set",
        "route-source", "route-feedback", "want-destination", "select-preview", "zoom", "simulate-drive",
        "respond-to-alert", "read",
    ]
    private static let verbsOfBoth = ["leave", "return"]
    private static let verbsOfClients = [
        "drive", "end", "pause", "resume", "stand-for", "reroute", "alert", "dismiss-alert",
        "share-destination", "preview",
    ]

    private mutating func action(_ node: Node) -> Scenario.Action? {
        let verbs = Self.verbsOfVehicles + Self.verbsOfBoth + Self.verbsOfClients
        guard let map = self.mapping(node, "do", ["as"] + verbs) else { return nil }
        let actor = map["as"].flatMap { self.selector($0, "as") }
        guard let verb = self.exactlyOne(of: verbs, map), let value = map[verb] else { return nil }
        guard let kind = self.kind(verb, value) else { return nil }
        guard let actor = map.has("as") ? self.fitting(actor, verb, map) : self.defaultActor(verb, map) else {
            return nil
        }
        return Scenario.Action(actor: actor, kind: kind, location: self.location(node))
    }

    private mutating func defaultActor(_ verb: String, _ map: ReadMapping) -> PeerSelector? {
        Self.verbsOfClients.contains(verb)
            ? self.onlyClient(map.key(verb), "as")
            : self.fitting(self.onlyVehicle(map.key(verb), "as"), verb, map)
    }

    /// The actor, if it can do this.
    private mutating func fitting(
        _ actor: PeerSelector?, _ verb: String, _ map: ReadMapping
    ) -> PeerSelector? {
        switch actor {
        case nil: return nil
        case .client(let client):
            guard Self.verbsOfVehicles.contains(verb) else { return actor }
            self.fail(map.key(verb), "\(client) is a client, and \(verb) is for vehicles")
        case .vehicle(let vehicle), .endpoint(let vehicle, _):
            if Self.verbsOfClients.contains(verb) {
                self.fail(map.key(verb), "\(vehicle) is a vehicle, and \(verb) is for clients")
                return nil
            }
            guard case .vehicle = actor, !Self.verbsOfBoth.contains(verb) else { return actor }
            self.fail(
                map.key(verb),
                "\(vehicle) has several endpoints: say which by as, e.g. \(self.example(vehicle))")
        }
        return nil
    }

    /// The first endpoint of a vehicle.
    func example(_ vehicle: VehicleID) -> String {
        let endpoint = self.scenario.vehicles.first { $0.id == vehicle }?.endpoints.first
        return endpoint.map { "\(vehicle)/\($0.name)" } ?? vehicle.rawValue
    }

    private mutating func kind(_ verb: String, _ node: Node) -> Scenario.Action.Kind? {
        switch verb {
        case "request": return self.request(node).map { .request($0) }
        case "withdraw": return self.text(node, verb, 1...64).map { .withdraw($0) }
        case "answer-prompt": return self.answer(node, verb).map { .answerPrompt(accept: $0) }
        case "answer-destination": return self.answer(node, verb).map { .answerDestination(accept: $0) }
        case "cancel":
            return self.choice(node, verb, CancelReason.allCases.map { ("\($0)", $0) }).map { .cancel($0) }
        case "allow-guidance": return self.isSet(node, verb) ? .allowGuidance : nil
        case "set": return self.settings(node).map { .set($0) }
        case "route-source": return self.word(node, verb).map { .routeSource($0) }
        case "select-preview": return self.selection(node)
        case "route-feedback": return self.feedback(node).map { .routeFeedback($0) }
        case "want-destination":
            if node.bool == true { return .wantDestination(trip: "") }
            return self.text(node, verb, 1...128).map { .wantDestination(trip: $0) }
        case "zoom": return self.word(node, verb).map { .zoom($0) }
        case "simulate-drive": return self.simulation(node, verb)
        case "respond-to-alert": return self.alertResponse(node)
        case "read": return self.reading(node)
        case "leave": return self.choice(node, verb).map { .leave($0) }
        case "return":
            return self.choice(node, verb, [("with-token", true), ("as-new", false)]).map {
                .comeBack(withToken: $0)
            }
        default: return self.kindOfClient(verb, node)
        }
    }

    private mutating func kindOfClient(_ verb: String, _ node: Node) -> Scenario.Action.Kind? {
        switch verb {
        case "drive": return self.drive(node)
        case "end": return self.choice(node, verb).map { .end($0) }
        case "pause": return self.word(node, verb).map { .pause($0) }
        case "resume": return self.isSet(node, verb) ? .resume : nil
        case "stand-for": return self.duration(node, verb).map { .standFor($0) }
        case "reroute": return self.reroute(node)
        case "alert": return self.alert(node).map { .alert($0) }
        case "dismiss-alert": return self.id(node, verb).map { .dismissAlert($0) }
        case "share-destination": return self.isSet(node, verb) ? .shareDestination : nil
        default: return .preview(self.list(node, verb, 0...12) { $0.reference($1, "preview") })
        }
    }

    // MARK: Of vehicles

    private mutating func answer(_ node: Node, _ verb: String) -> Bool? {
        self.choice(node, verb, [("accept", true), ("decline", false)])
    }

    /// An id on the wire: not 0.
    private mutating func id(_ node: Node, _ name: String) -> UInt32? {
        self.integer(node, name, 1...Int(UInt32.max)).map { UInt32($0) }
    }

    private mutating func request(_ node: Node) -> Scenario.Action.Request? {
        let keys = ["waypoint", "destination", "trip", "route-choice", "name", "segment", "stop-kind", "id"]
        guard let map = self.mapping(node, "request", keys),
            let kind = self.exactlyOne(of: ["waypoint", "destination", "trip"], map)
        else { return nil }
        var place: Scenario.Action.Request.Place?
        if kind == "trip" {
            for key in ["name", "segment", "stop-kind"] { self.exclude("trip", key, map) }
            let choice = map["route-choice"].flatMap { self.id($0, "route-choice") }
            place = map["trip"].flatMap { self.text($0, "trip", 1...128) }.map {
                .trip($0, routeChoice: choice)
            }
        } else {
            self.exclude(kind, "route-choice", map)
            place = map[kind].flatMap { self.place($0, kind) }.map {
                kind == "waypoint" ? .waypoint($0) : .destination($0)
            }
        }
        guard let place else { return nil }
        var request = Scenario.Action.Request(place: place)
        request.name = map["name"].flatMap { self.text($0, "name", 0...512) } ?? ""
        request.segment = map["segment"].flatMap { self.text($0, "segment", 0...128) } ?? ""
        request.stopKind = map["stop-kind"].flatMap { self.word($0, "stop-kind") }
        request.id = map["id"].flatMap { self.text($0, "id", 1...64) }
        return request
    }

    private mutating func selection(_ node: Node) -> Scenario.Action.Kind? {
        guard let map = self.mapping(node, "select-preview", ["trip", "route-choice"]) else { return nil }
        self.require(["trip"], map)
        let choice = map["route-choice"].flatMap { self.id($0, "route-choice") }
        return map["trip"].flatMap { self.text($0, "trip", 1...128) }.map {
            .selectPreview(trip: $0, routeChoice: choice)
        }
    }

    private mutating func settings(_ node: Node) -> Scenario.Action.Settings? {
        let keys = ["ready", "contentStyle", "compass", "speedLimit", "limitedUserInterfaces"]
        guard let map = self.mapping(node, "set", keys) else { return nil }
        self.requireOne(of: keys, map)
        var settings = Scenario.Action.Settings()
        settings.isReady = map["ready"].flatMap { self.flag($0, "ready") }
        settings.contentStyle = map["contentStyle"].flatMap { self.word($0, "contentStyle") }
        settings.compass = map["compass"].flatMap { self.word($0, "compass") }
        settings.speedLimit = map["speedLimit"].flatMap { self.word($0, "speedLimit") }
        if let limited = map["limitedUserInterfaces"] {
            let bits = self.set(limited, "limitedUserInterfaces", 0...2) { reader, node -> UInt32? in
                reader.choice(node, "limitedUserInterfaces", [("keyboard", 1), ("lists", 2)])
            }
            settings.limitedUserInterfaces = bits.reduce(0, |)
        }
        return settings
    }

    private mutating func feedback(_ node: Node) -> Scenario.Action.Feedback? {
        let keys = ["stops", "first-unreachable", "generation"]
        guard let map = self.mapping(node, "route-feedback", keys) else { return nil }
        self.requireOne(of: ["stops", "first-unreachable"], map)
        let stops = self.list(map["stops"], "stops", 0...65) { $0.stop($1) }
        let segment = map["first-unreachable"].flatMap { self.text($0, "first-unreachable", 1...128) }
        let generation = map["generation"].flatMap { self.id($0, "generation") }
        return Scenario.Action.Feedback(
            stops: stops, firstUnreachableSegment: segment, generation: generation)
    }

    /// A charge in 1/1000, or a word.
    private mutating func stop(_ node: Node) -> StopFeedback? {
        if node.int != nil {
            return self.integer(node, "a stop", 0...1_000).map {
                StopFeedback(arrivalBatteryPerMille: UInt16($0))
            }
        }
        return self.choice(
            node, "a stop",
            [
                ("reachable", StopFeedback(reachability: .reachable)),
                ("unreachable", StopFeedback(reachability: .unreachable)), ("unknown", StopFeedback()),
            ])
    }

    private mutating func alertResponse(_ node: Node) -> Scenario.Action.Kind? {
        guard let map = self.mapping(node, "respond-to-alert", ["alert", "action"]) else { return nil }
        self.require(["alert"], map)
        let action = map["action"].flatMap { self.id($0, "action") }
        return map["alert"].flatMap { self.id($0, "alert") }.map { .respondToAlert($0, action: action) }
    }

    /// `start`, `stop`, or a start with a speed.
    private mutating func simulation(_ node: Node, _ verb: String) -> Scenario.Action.Kind? {
        guard node.mapping != nil else {
            let action: SimulationAction? = self.word(node, verb)
            return action.map { .simulateDrive($0, speed: 1) }
        }
        guard let map = self.mapping(node, verb, ["speed"]) else { return nil }
        self.require(["speed"], map)
        guard let value = map["speed"], let speed = self.speed(value, "speed") else { return nil }
        guard (0.01...1_000).contains(speed) else {
            self.fail(value, "speed must be 0.01 to 1000")
            return nil
        }
        return .simulateDrive(.start, speed: speed)
    }

    private mutating func reading(_ node: Node) -> Scenario.Action.Kind? {
        let keys = ["nothing-for", "bytes-per-second"]
        guard let map = self.mapping(node, "read", keys), let key = self.exactlyOne(of: keys, map),
            let value = map[key]
        else { return nil }
        if key == "nothing-for" { return self.duration(value, key).map { .read(.nothing(for: $0)) } }
        return self.integer(value, key, 0...Int(Int32.max)).map { .read(.bytesPerSecond($0)) }
    }

    // MARK: Of clients

    private mutating func drive(_ node: Node) -> Scenario.Action.Kind? {
        guard let map = self.mapping(node, "drive", ["route", "start-at", "speed"]) else { return nil }
        return .drive(
            route: map["route"].flatMap { self.reference($0, "route") },
            startAt: map["start-at"].flatMap { self.position($0, "start-at") },
            speed: map["speed"].flatMap { self.speed($0, "speed") })
    }

    private mutating func reroute(_ node: Node) -> Scenario.Action.Kind? {
        guard let map = self.mapping(node, "reroute", ["route", "reason"]) else { return nil }
        self.require(["route"], map)
        let reason: RerouteReason = map["reason"].flatMap { self.word($0, "reason") } ?? .unknown
        return map["route"].flatMap { self.reference($0, "route") }.map { .reroute($0, reason) }
    }

    private mutating func alert(_ node: Node) -> Scenario.Action.Alert? {
        let keys = ["id", "title", "subtitle", "actions", "for", "notification", "priority"]
        guard let map = self.mapping(node, "alert", keys) else { return nil }
        self.require(["id", "title"], map)
        let subtitle = map["subtitle"].flatMap { self.text($0, "subtitle", 0...512) }
        let actions = self.list(map["actions"], "actions", 0...2) { $0.text($1, "an action", 1...512) }
        let duration = map["for"].flatMap { self.duration($0, "for") }
        let notification: NotificationStyle? = map["notification"].flatMap { self.word($0, "notification") }
        let priority: AlertPriority? = map["priority"].flatMap { self.word($0, "priority") }
        guard let id = map["id"].flatMap({ self.id($0, "id") }),
            let title = map["title"].flatMap({ self.text($0, "title", 1...512) })
        else { return nil }
        return Scenario.Action.Alert(
            id: id, title: title, subtitle: subtitle ?? "", actions: actions, duration: duration,
            notification: notification, priority: priority)
    }
}
