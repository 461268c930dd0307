package import WaymarkConfiguration
internal import WaymarkModel
internal import WaymarkProtocol
internal import Yams

/// Everything that is wrong in scenario files.
package struct ScenarioErrors: Error, Sendable, Hashable, CustomStringConvertible {
    /// In the order of the file.
    package let errors: [ConfigurationError]

    /// A line for each error.
    package var description: String { self.errors.map(\.description).joined(separator: "\n") }
}

/// Reads scenario files. All errors are found at once; an unknown key is one.
package struct ScenarioReader {
    let file: String
    /// What is read, for errors.
    let what: String
    private var errors: [ConfigurationError] = []
    var scenario: Scenario
    /// Every name is one of a peer: of the faults of a proxy, which learns who there is as they connect.
    var isOpen = false

    init(file: String, what: String = "a scenario") {
        (self.file, self.what) = (file, what)
        self.scenario = Scenario(file: file)
    }

    /// Reads the text of a file.
    package static func read(_ text: String, file: String) throws(ScenarioErrors) -> Scenario {
        let (scenario, errors) = self.readAll(text, file: file)
        guard errors.isEmpty else { throw ScenarioErrors(errors: errors) }
        return scenario
    }

    /// Reads what can be read of the text of a file, and says what is wrong with the rest, in its order. A scenario with errors cannot be
    /// run, but what it names can be checked.
    package static func readAll(_ text: String, file: String) -> (
        scenario: Scenario, errors: [ConfigurationError]
    ) {
        var reader = ScenarioReader(file: file)
        if let root = reader.compose(text) { reader.readScenario(root) }
        return (reader.scenario, reader.sortedErrors)
    }

    /// Throws what was found, if anything was.
    func throwErrors() throws(ScenarioErrors) {
        guard self.errors.isEmpty else { throw ScenarioErrors(errors: self.sortedErrors) }
    }

    private var sortedErrors: [ConfigurationError] {
        self.errors.enumerated().sorted {
            ($0.element.location.line, $0.element.location.column, $0.offset)
                < ($1.element.location.line, $1.element.location.column, $1.offset)
        }.map(\.element)
    }

    mutating func compose(_ text: String) -> Node? {
        do throws(ConfigurationError) {
            if let root = try StrictYAML.compose(text, file: self.file, what: self.what) { return root }
            self.fail(SourceLocation(file: self.file, line: 1, column: 1), "the file is empty")
        } catch { self.fail(error) }
        return nil
    }

    // MARK: Errors

    func location(_ node: Node) -> SourceLocation { SourceLocation(node.mark, file: self.file) }

    mutating func fail(_ node: Node, _ reason: String) { self.fail(self.location(node), reason) }

    mutating func fail(_ location: SourceLocation, _ reason: String) {
        self.fail(ConfigurationError(location: location, reason: reason))
    }

    private mutating func fail(_ error: ConfigurationError) { self.errors.append(error) }

    // MARK: The file

    private static let keys = [
        "about", "clock", "gateway", "route", "start-at", "speed", "vehicle", "vehicles", "client", "clients",
        "faults", "expect", "steps", "ended", "allow", "seed", "at-most", "connect-within",
    ]

    private mutating func readScenario(_ node: Node) {
        guard let root = self.mapping(node, "the scenario", Self.keys) else { return }
        self.exclude("vehicle", "vehicles", root)
        self.exclude("client", "clients", root)
        self.requireOne(of: ["steps", "expect", "ended"], root)
        // Why first: other parts name vehicles and clients.
        self.readPeers(root)
        self.scenario.about = root["about"].flatMap { self.text($0, "about", 1...512) }
        self.scenario.clock = root["clock"].flatMap { self.choice($0, "clock") } ?? .either
        if let gateway = root["gateway"] { self.readGateway(gateway) }
        self.scenario.route = root["route"].flatMap { self.reference($0, "route") }
        self.scenario.startAt = root["start-at"].flatMap { self.position($0, "start-at") }
        self.scenario.speed = root["speed"].flatMap { self.speed($0, "speed") } ?? 1
        self.scenario.faults = self.list(root["faults"], "faults", 1...64) { $0.fault($1) }
        if let expect = root["expect"] { self.scenario.expectations = self.expectations(expect) }
        self.scenario.steps = self.list(root["steps"], "steps", 1...1_024) { $0.step($1) }
        self.scenario.noteSimulatedDrives()
        self.scenario.ending = root["ended"].flatMap { self.endOfDrive($0) }
        self.scenario.allowances = self.list(root["allow"], "allow", 1...32) { $0.allowance($1) }
        if let seed = root["seed"].flatMap({ self.integer($0, "seed", 0...9_007_199_254_740_991) }) {
            self.scenario.seed = UInt64(seed)
        }
        if let within = root["connect-within"].flatMap({ self.duration($0, "connect-within") }) {
            self.scenario.connectWithin = within
        }
        if let atMost = root["at-most"].flatMap({ self.duration($0, "at-most") }) {
            self.scenario.atMost = atMost
        }
        // A misspelt key would have said something that the checks of the whole miss.
        if !root.hasUnknown { self.checkWhole(node) }
    }

    /// Checks what concerns several parts.
    private mutating func checkWhole(_ node: Node) {
        if self.scenario.clock == .virtual,
            self.scenario.vehicles.contains(where: \.hasCommand)
                || self.scenario.clients.contains(where: { $0.command != nil })
        {
            self.fail(node, "a program takes part, so the clock cannot be virtual")
        }
        for client in self.scenario.clients where client.route == nil && self.scenario.route == nil {
            if client.drivesAtOnce, client.command == nil, client.replay == nil {
                self.fail(node, "\(client.id) drives at once, and has no route")
            }
        }
    }

    private mutating func endOfDrive(_ node: Node) -> Scenario.Expected? {
        guard let reason: SessionEndReason = self.endReason(node, "ended"),
            let first = self.scenario.clients.first
        else { return nil }
        return Scenario.Expected(.ended(reason, within: nil), of: .client(first.id), at: self.location(node))
    }

    private mutating func allowance(_ node: Node) -> Scenario.Allowance? {
        guard let map = self.mapping(node, "allow", ["lint", "of", "reason"]) else { return nil }
        self.require(["lint", "reason"], map)
        let of = map["of"].flatMap { self.selector($0, "of") }
        guard let ruleNode = map["lint"], let rule = self.text(ruleNode, "lint", 1...64),
            let reason = map["reason"].flatMap({ self.text($0, "reason", 8...512) })
        else { return nil }
        let parts = rule.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "LINT",
            parts.allSatisfy({
                !$0.isEmpty && $0.utf8.allSatisfy((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains)
            })
        else {
            self.fail(ruleNode, "\(rule) is not the id of a lint rule, e.g. LINT-LANE-LINK")
            return nil
        }
        return Scenario.Allowance(rule: rule, of: of, reason: reason, location: self.location(node))
    }
}

extension Scenario {
    /// Vehicles that a step lets ask for simulated drives say so in their Hellos.
    fileprivate mutating func noteSimulatedDrives() {
        for action in self.steps.compactMap(\.action) {
            guard case .simulateDrive = action.kind else { continue }
            for index in self.vehicles.indices
            where self.vehicles[index].peers.contains(where: action.actor.contains) {
                self.vehicles[index].asksForSimulatedDrives = true
            }
        }
    }
}

extension Scenario.Vehicle {
    fileprivate var hasCommand: Bool { self.endpoints.contains { $0.command != nil } }
}
