internal import WaymarkConfiguration
internal import WaymarkProtocol
internal import Yams

/// The faults of a scenario.
extension ScenarioReader {
    static let faultKeys = [
        "gateway", "link", "kind", "towards", "by", "bytes-per-second", "bytes", "with", "after", "at-byte",
        "times", "for", "every", "kinds",
    ]

    mutating func fault(_ node: Node) -> Scenario.Fault? {
        guard let map = self.mapping(node, "fault", Self.faultKeys) else { return nil }
        return self.fault(map, after: map["after"].flatMap { self.event($0, "after") })
    }

    mutating func fault(_ map: ReadMapping, after: Scenario.Event?) -> Scenario.Fault? {
        let duration = map["for"].flatMap { self.duration($0, "for") }
        guard let target = map.has("gateway") ? self.gatewayFault(map) : self.linkFault(map) else {
            return nil
        }
        var fault = Scenario.Fault(target: target, location: self.location(map.node))
        (fault.after, fault.duration) = (after, duration)
        fault.towards = map["towards"].flatMap { self.choice($0, "towards") } ?? .both
        fault.by = map["by"].flatMap { self.duration($0, "by") } ?? .zero
        fault.bytesPerSecond =
            map["bytes-per-second"].flatMap { self.integer($0, "bytes-per-second", 1...Int(Int32.max)) } ?? 0
        fault.bytes = map["bytes"].flatMap { self.integer($0, "bytes", 1...65_536) } ?? 0
        fault.ending = map["with"].flatMap { self.choice($0, "with") } ?? .rst
        fault.atByte = map["at-byte"].flatMap { self.integer($0, "at-byte", 0...16_777_216) }
        fault.times = map["times"].flatMap { self.integer($0, "times", 1...65_536) }
        fault.every = map["every"].flatMap { self.positive($0, "every") } ?? .zero
        fault.kinds = self.set(map["kinds"], "kinds", 1...13) { reader, node in
            reader.choice(
                node, "kinds", Scenario.Fault.Kind.allCases.filter { $0 != .chaos }.map { ($0.rawValue, $0) })
        }
        return fault
    }

    private mutating func gatewayFault(_ map: ReadMapping) -> Scenario.Fault.Target? {
        let others = map.present(Self.faultKeys.filter { !["gateway", "for", "after"].contains($0) })
        for key in others { self.fail(map.key(key), "a fault of the gateway has no \(key)") }
        return map["gateway"].flatMap { self.choice($0, "gateway") }.map { .gateway($0) }
    }

    private mutating func linkFault(_ map: ReadMapping) -> Scenario.Fault.Target? {
        guard let link = map["link"], let kindNode = map["kind"] else {
            if self.isOpen {
                self.require(["link", "kind"], map)
            } else {
                self.fail(map.node, "a fault needs gateway, or link and kind")
            }
            return nil
        }
        guard let kind: Scenario.Fault.Kind = self.choice(kindNode, "kind") else { return nil }
        self.checkArguments(of: kind, map)
        if case .text("*") = self.literal(link) { return .link(nil, kind) }
        return self.selector(link, "link").map { .link($0, kind) }
    }

    /// What each kind needs, and what the others do not have.
    private mutating func checkArguments(of kind: Scenario.Fault.Kind, _ map: ReadMapping) {
        let rules: [(key: String, kinds: [Scenario.Fault.Kind], isNeeded: Bool)] = [
            ("by", [.delay, .jitter], true), ("bytes-per-second", [.throttle], true),
            ("bytes", [.slice], true), ("every", [.chaos], true), ("kinds", [.chaos], false),
            ("with", [.cut], false), ("at-byte", [.cut, .stall, .corrupt, .halfClose], false),
        ]
        for rule in rules {
            if rule.kinds.contains(kind) {
                if rule.isNeeded, !map.has(rule.key) {
                    self.fail(map.node, "\(kind.rawValue) needs \(rule.key)")
                }
            } else if map.has(rule.key) {
                self.fail(map.key(rule.key), "\(kind.rawValue) has no \(rule.key)")
            }
        }
        if kind == .chaos, !map.has("for") { self.fail(map.node, "chaos needs for") }
    }
}
