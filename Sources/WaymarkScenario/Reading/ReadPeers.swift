internal import ProcessIO
internal import WaymarkConfiguration
internal import WaymarkGateway
internal import WaymarkProtocol
internal import Yams

/// The gateway, vehicles and clients of a scenario.
extension ScenarioReader {
    mutating func readGateway(_ node: Node) {
        if case .text("private") = self.literal(node) { return }
        let keys = [
            "settings", "arbitration", "grace", "request", "prompt", "share", "slow-consumer", "keepalive",
        ]
        guard node.mapping != nil else {
            return self.fail(
                node, "gateway must be private, or a mapping with \(keys.joined(separator: ", "))")
        }
        guard let map = self.mapping(node, "gateway", keys) else { return }
        self.requireOne(of: keys, map)
        var gateway = Scenario.PrivateGateway()
        gateway.settings = map["settings"].flatMap { self.reference($0, "settings") }
        gateway.arbitration = map["arbitration"].flatMap {
            self.choice(
                $0, "arbitration", [("refuse", .refuse), ("replace", .replace), ("priority", .priority)])
        }
        gateway.grace = map["grace"].flatMap { self.duration($0, "grace") }
        gateway.request = map["request"].flatMap { self.duration($0, "request") }
        gateway.prompt = map["prompt"].flatMap { self.duration($0, "prompt") }
        gateway.share = map["share"].flatMap { self.duration($0, "share") }
        gateway.slowConsumer = map["slow-consumer"].flatMap { self.duration($0, "slow-consumer") }
        gateway.keepalive = map["keepalive"].flatMap { self.duration($0, "keepalive") }
        self.scenario.gateway = gateway
    }

    mutating func readPeers(_ root: ReadMapping) {
        if let node = root["vehicle"] {
            self.scenario.vehicles =
                self.vehicle(node, "dut", "vehicle").map { [$0] } ?? self.scenario.vehicles
        }
        if let node = root["vehicles"] {
            let vehicles = self.named(node, "vehicles", 64) { $0.vehicle($2, $1, $1) }
            if !vehicles.isEmpty { self.scenario.vehicles = vehicles }
        }
        if let node = root["client"] {
            self.scenario.clients =
                self.client(node, "client", "client").map { [$0] } ?? self.scenario.clients
        }
        if let node = root["clients"] {
            let clients = self.named(node, "clients", 16) { $0.client($2, $1, $1) }
            if !clients.isEmpty { self.scenario.clients = clients }
        }
        let names = Set(self.scenario.vehicles.map(\.id.rawValue))
        for client in self.scenario.clients where names.contains(client.id.rawValue) {
            self.fail(root.node, "\(client.id) is a vehicle and a client")
        }
    }

    /// The values of a mapping from names.
    private mutating func named<Element>(
        _ node: Node, _ what: String, _ countMax: Int,
        _ element: (inout ScenarioReader, String, Node) -> Element?
    ) -> [Element] {
        guard case .mapping(let pairs) = node, (1...countMax).contains(pairs.count) else {
            self.fail(node, "\(what) must be a mapping from 1 to \(countMax) names")
            return []
        }
        return pairs.compactMap { key, value in
            // Why not as a literal: a key is a text, also if it looks like a number.
            guard let name = key.scalar?.string, name != "gateway", VehicleID(name) != nil else {
                self.fail(
                    key,
                    "\(key.scalar?.string ?? "") is not a name: 1 to 64 of A-Z a-z 0-9 . _ : -, and not gateway"
                )
                return nil
            }
            return element(&self, name, value)
        }
    }

    private mutating func vehicle(_ node: Node, _ id: String, _ what: String) -> Scenario.Vehicle? {
        let keys = [
            "endpoint", "profile", "endpoints", "prompts", "destinations", "answer-after", "shows-after",
            "ready",
            "guidance-wanted", "connects", "command", "replay",
        ]
        guard let map = self.mapping(node, what, keys) else { return nil }
        self.exclude("command", "replay", map)
        for key in ["endpoint", "profile", "command"] { self.exclude("endpoints", key, map) }
        var vehicle = Scenario.Vehicle(id: VehicleID(unchecked: id))
        let name = map["endpoint"].flatMap { self.name($0, "endpoint") } ?? "cluster"
        var endpoint = Scenario.Endpoint(name: EndpointName(unchecked: name))
        endpoint.profile = map["profile"].flatMap { self.reference($0, "profile") }
        endpoint.command = map["command"].flatMap { self.command($0) }
        vehicle.endpoints = [endpoint]
        if let endpoints = map["endpoints"] {
            let named = self.named(endpoints, "endpoints", 16) { $0.endpoint($2, $1) }
            if !named.isEmpty { vehicle.endpoints = named }
        }
        vehicle.prompts = map["prompts"].flatMap { self.choice($0, "prompts") } ?? .accept
        vehicle.destinations = map["destinations"].flatMap { self.choice($0, "destinations") } ?? .accept
        vehicle.answerAfter = map["answer-after"].flatMap { self.duration($0, "answer-after") } ?? .zero
        vehicle.showsAfter = map["shows-after"].flatMap { self.duration($0, "shows-after") }
        vehicle.isReady = map["ready"].flatMap { self.flag($0, "ready") } ?? true
        vehicle.guidanceWanted = map["guidance-wanted"].flatMap { self.flag($0, "guidance-wanted") } ?? false
        vehicle.connects = map["connects"].flatMap { self.flag($0, "connects") } ?? true
        vehicle.replay = map["replay"].flatMap { self.replay($0) }
        return vehicle
    }

    private mutating func endpoint(_ node: Node, _ name: String) -> Scenario.Endpoint? {
        guard let map = self.mapping(node, name, ["profile", "command"]) else { return nil }
        var endpoint = Scenario.Endpoint(name: EndpointName(unchecked: name))
        endpoint.profile = map["profile"].flatMap { self.reference($0, "profile") }
        endpoint.command = map["command"].flatMap { self.command($0) }
        return endpoint
    }

    private mutating func client(_ node: Node, _ id: String, _ what: String) -> Scenario.Client? {
        let keys = [
            "route", "start-at", "speed", "vehicles", "drives", "waits-for", "priority", "on-waypoint",
            "on-destination", "on-start-trip", "answer-after", "detour", "receipts", "without-features",
            "simulates",
            "connects", "command",
            "replay",
        ]
        guard let map = self.mapping(node, what, keys) else { return nil }
        self.exclude("command", "replay", map)
        var client = Scenario.Client(id: ClientID(unchecked: id))
        client.route = map["route"].flatMap { self.reference($0, "route") }
        client.startAt = map["start-at"].flatMap { self.position($0, "start-at") }
        client.speed = map["speed"].flatMap { self.speed($0, "speed") }
        if let vehicles = map["vehicles"] { client.vehicles = self.selection(vehicles) ?? .all }
        client.drivesAtOnce =
            map["drives"].flatMap { self.choice($0, "drives", [("at-once", true), ("when-told", false)]) }
            ?? true
        client.waitsFor = map["waits-for"].flatMap { self.choice($0, "waits-for") } ?? .joined
        client.priority = Int32(map["priority"].flatMap { self.integer($0, "priority", -1_000...1_000) } ?? 0)
        client.onWaypoint = map["on-waypoint"].flatMap { self.choice($0, "on-waypoint") } ?? .accept
        client.onDestination = map["on-destination"].flatMap { self.choice($0, "on-destination") } ?? .accept
        client.onStartTrip = map["on-start-trip"].flatMap { self.choice($0, "on-start-trip") } ?? .accept
        client.answerAfter = map["answer-after"].flatMap { self.duration($0, "answer-after") } ?? .zero
        client.detour = map["detour"].flatMap { self.reference($0, "detour") }
        client.receipts = map["receipts"].flatMap { self.receipts($0) }
        let features = Feature.allCases.map { ("\($0)", $0) }
        client.withoutFeatures = self.set(
            map["without-features"], "without-features", 1...features.count
        ) {
            reader, node in
            reader.choice(node, "without-features", features)
        }
        client.simulatesWhenAsked = map["simulates"].flatMap { self.flag($0, "simulates") } ?? false
        client.connects = map["connects"].flatMap { self.flag($0, "connects") } ?? true
        client.command = map["command"].flatMap { self.command($0) }
        client.replay = map["replay"].flatMap { self.replay($0) }
        return client
    }

    private mutating func receipts(_ node: Node) -> Duration? {
        guard let every = self.duration(node, "receipts") else { return nil }
        let range = ProtocolConstants.receiptsMilliseconds
        guard Duration.milliseconds(range.lowerBound) <= every, every <= .milliseconds(range.upperBound)
        else {
            self.fail(node, "receipts must be \(range.lowerBound)ms to \(range.upperBound / 1_000)s")
            return nil
        }
        return every
    }

    private mutating func selection(_ node: Node) -> Scenario.Client.Selection? {
        if case .text("any-that-asked") = self.literal(node) { return .anyThatAsked }
        guard node.sequence != nil else {
            self.fail(node, "vehicles must be any-that-asked, or a list of names")
            return nil
        }
        let known = self.scenario.vehicles.map(\.id.rawValue)
        let names = self.set(node, "vehicles", 1...64) { reader, node -> String? in
            guard let name = reader.name(node, "vehicles") else { return nil }
            if !known.contains(name) {
                reader.fail(node, "\(name) is no vehicle of this scenario\(Spelling.hint(name, of: known))")
            }
            return name
        }
        return .named(names.map { VehicleID(unchecked: $0) })
    }

    private mutating func command(_ node: Node) -> Scenario.Command? {
        let words = self.list(node, "command", 1...64) { $0.text($1, "a word of command", 0...4_096) }
        return words.isEmpty ? nil : Scenario.Command(words: words, location: self.location(node))
    }

    private mutating func replay(_ node: Node) -> Scenario.Replay? {
        guard let map = self.mapping(node, "replay", ["recording", "peer", "compare"]) else { return nil }
        self.require(["recording"], map)
        let peer = map["peer"].flatMap { self.peerName($0) }
        let isCompared = map["compare"].flatMap { self.flag($0, "compare") } ?? false
        guard let recording = map["recording"].flatMap({ self.reference($0, "recording") }) else {
            return nil
        }
        return Scenario.Replay(recording: recording, peer: peer, isCompared: isCompared)
    }

    /// The peer of a recording, which need not be one of the scenario.
    private mutating func peerName(_ node: Node) -> String? {
        guard let text = self.text(node, "peer", 1...129) else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ VehicleID(String($0)) != nil }) else {
            self.fail(node, "\(text) is not the name of a peer, e.g. dut/cluster")
            return nil
        }
        return text
    }
}
