internal import ProcessIO
internal import WaymarkConfiguration
internal import WaymarkModel
internal import WaymarkProtocol
internal import Yams

/// A mapping whose keys are all known.
struct ReadMapping {
    let node: Node
    /// For errors: `do`, `expect`.
    let name: String
    fileprivate var values: [String: Node] = [:]
    fileprivate var keyNodes: [String: Node] = [:]
    /// A key was misspelt, so what is missing may be this one.
    fileprivate(set) var hasUnknown = false

    subscript(key: String) -> Node? { self.values[key] }
    func has(_ key: String) -> Bool { self.values[key] != nil }
    /// The node of the key, for errors.
    func key(_ key: String) -> Node { self.keyNodes[key] ?? self.node }
    /// Those of some keys that it has, in their order.
    func present(_ keys: [String]) -> [String] { keys.filter(self.has) }
}

extension ScenarioReader {
    // MARK: Structure

    /// A mapping with some of `keys`. Others are errors.
    mutating func mapping(_ node: Node, _ name: String, _ keys: [String]) -> ReadMapping? {
        guard case .mapping(let pairs) = node else {
            self.fail(
                node,
                "\(name) must be a mapping with \(keys.prefix(6).joined(separator: ", "))\(keys.count > 6 ? " …" : "")"
            )
            return nil
        }
        var mapping = ReadMapping(node: node, name: name)
        for (key, value) in pairs {
            let word = key.scalar?.string ?? ""
            guard key.scalar != nil, keys.contains(word) else {
                let hint = Spelling.hint(word, of: keys)
                let others = hint.isEmpty ? "; known are \(keys.joined(separator: ", "))" : hint
                self.fail(key, "unknown key \(word) in \(name)\(others)")
                mapping.hasUnknown = true
                continue
            }
            mapping.values[word] = value
            mapping.keyNodes[word] = key
        }
        return mapping
    }

    mutating func exclude(_ first: String, _ second: String, _ map: ReadMapping) {
        guard map.has(first), map.has(second) else { return }
        self.fail(map.key(second), "\(map.name) has \(first) or \(second), not both")
    }

    mutating func require(_ keys: [String], _ map: ReadMapping) {
        let missing = keys.filter { !map.has($0) }
        if !missing.isEmpty, !map.hasUnknown {
            self.fail(map.node, "\(map.name) needs \(missing.joined(separator: " and "))")
        }
    }

    mutating func requireOne(of keys: [String], _ map: ReadMapping) {
        if map.present(keys).isEmpty, !map.hasUnknown {
            self.fail(map.node, "\(map.name) needs one of \(keys.joined(separator: ", "))")
        }
    }

    /// The one key of several that it has; an error otherwise.
    mutating func exactlyOne(of keys: [String], _ map: ReadMapping) -> String? {
        let present = map.present(keys)
        if present.count == 1 { return present[0] }
        self.requireOne(of: keys, map)
        if present.count > 1 {
            self.fail(map.key(present[1]), "\(map.name) has \(present[0]) or \(present[1]), not both")
        }
        return nil
    }

    /// The elements of a list that can be read. Without a list: none.
    mutating func list<Element>(
        _ node: Node?, _ name: String, _ counts: ClosedRange<Int>,
        _ element: (inout ScenarioReader, Node) -> Element?
    ) -> [Element] {
        guard let node else { return [] }
        guard case .sequence(let elements) = node, counts.contains(elements.count) else {
            self.fail(node, "\(name) must be a list of \(counts.lowerBound) to \(counts.upperBound)")
            return []
        }
        return elements.compactMap { element(&self, $0) }
    }

    /// A list without repetition.
    mutating func set<Element: Hashable>(
        _ node: Node?, _ name: String, _ counts: ClosedRange<Int>,
        _ element: (inout ScenarioReader, Node) -> Element?
    ) -> [Element] {
        let elements = self.list(node, name, counts, element)
        if let node, Set(elements).count < elements.count { self.fail(node, "\(name) has an element twice") }
        return elements
    }

    // MARK: Scalars

    /// A scalar as YAML 1.2 reads it, so that editors and this reader agree.
    func literal(_ node: Node) -> Literal? {
        guard case .scalar(let scalar) = node else { return nil }
        let text = scalar.string
        guard scalar.style == .plain || scalar.style == .any else { return .text(text) }
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .flag(true)
        case "false", "False", "FALSE": return .flag(false)
        default: return Self.number(text).map(Literal.number) ?? .text(text)
        }
    }

    private static func number(_ text: String) -> Double? {
        let isNumber = text.utf8.allSatisfy {
            ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) || "+-.eE".utf8.contains($0)
        }
        guard isNumber, let number = Double(text), number.isFinite else { return nil }
        return number
    }

    mutating func text(_ node: Node, _ name: String, _ lengths: ClosedRange<Int>) -> String? {
        guard case .text(let text) = self.literal(node), lengths.contains(text.unicodeScalars.count) else {
            let hint =
                if case .text = self.literal(node) {
                    " of \(lengths.lowerBound) to \(lengths.upperBound) letters"
                } else if node.scalar != nil { "; write \"\(node.scalar?.string ?? "")\"" } else { "" }
            self.fail(node, "\(name) must be a text\(hint)")
            return nil
        }
        return text
    }

    mutating func flag(_ node: Node, _ name: String) -> Bool? {
        guard case .flag(let flag) = self.literal(node) else {
            self.fail(node, "\(name) must be true or false")
            return nil
        }
        return flag
    }

    /// `true`, of a key that has no other value.
    mutating func isSet(_ node: Node, _ name: String) -> Bool {
        guard case .flag(true) = self.literal(node) else {
            self.fail(node, "\(name) must be true")
            return false
        }
        return true
    }

    mutating func integer(_ node: Node, _ name: String, _ range: ClosedRange<Int>) -> Int? {
        guard case .number(let number) = self.literal(node), let whole = Int(exactly: number),
            range.contains(whole)
        else {
            self.fail(node, "\(name) must be a whole number, \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return whole
    }

    mutating func speed(_ node: Node, _ name: String) -> Double? {
        guard case .number(let number) = self.literal(node), number > 0, number <= 10_000 else {
            self.fail(node, "\(name) must be a number above 0, at most 10000")
            return nil
        }
        return number
    }

    /// One of the words of an enumeration of the scenario.
    mutating func choice<Value: CaseIterable & RawRepresentable>(_ node: Node, _ name: String) -> Value?
    where Value.RawValue == String {
        self.choice(node, name, Value.allCases.map { ($0.rawValue, $0) })
    }

    /// One of the words of an enumeration of the protocol.
    mutating func word<Value: WireEnumeration>(
        _ node: Node, _ name: String, without: [Value] = []
    ) -> Value? {
        self.choice(node, name, Value.allKnown.filter { !without.contains($0) }.map { ($0.name, $0) })
    }

    mutating func choice<Value>(_ node: Node, _ name: String, _ values: [(String, Value)]) -> Value? {
        if case .text(let text) = self.literal(node), let value = values.first(where: { $0.0 == text }) {
            return value.1
        }
        let names = values.map(\.0)
        let word = node.scalar?.string ?? "that"
        let hint = Spelling.hint(word, of: names)
        self.fail(
            node,
            hint.isEmpty
                ? "\(name) must be one of \(names.joined(separator: ", "))"
                : "\(word) is no value of \(name)\(hint)")
        return nil
    }

    mutating func endReason(_ node: Node, _ name: String) -> SessionEndReason? {
        let reasons = SessionEndReason.allCases.filter { $0 != .unrecognized }
        return self.choice(node, name, reasons.map { ("\($0)", $0) })
    }

    /// A route, a profile or a file.
    mutating func reference(_ node: Node, _ name: String) -> Scenario.Reference? {
        self.text(node, name, 1...1_024).map { Scenario.Reference($0, at: self.location(node)) }
    }

    mutating func name(_ node: Node, _ what: String) -> String? {
        guard let text = self.text(node, what, 1...64) else { return nil }
        guard text != "gateway", text.utf8.allSatisfy(VehicleID.isAllowed) else {
            self.fail(node, "\(text) is not a name: 1 to 64 of A-Z a-z 0-9 . _ : -, and not gateway")
            return nil
        }
        return text
    }

    // MARK: Quantities

    mutating func duration(_ node: Node, _ name: String) -> Duration? {
        guard let (value, unit) = self.quantity(node), let duration = Self.duration(value, unit) else {
            let hint = self.quantity(node)?.unit == "m" ? "; minutes are min" : ""
            self.fail(node, "\(name) must be a time, e.g. 300ms, 2s, 5min or 1h\(hint)")
            return nil
        }
        return self.bounded(duration, node, name)
    }

    mutating func position(_ node: Node, _ name: String) -> Scenario.Position? {
        if let (value, unit) = self.quantity(node) {
            if let duration = Self.duration(value, unit) {
                return self.bounded(duration, node, name).map { .time($0) }
            }
            switch unit {
            case "m": return .meters(Double(value) / 1_000)
            case "km": return .meters(Double(value))
            case "%" where value <= 100_000: return .percent(Double(value) / 1_000)
            default: break
            }
        }
        self.fail(node, "\(name) must be a position, e.g. 600m, 3km or 50%, or a time, e.g. 90s")
        return nil
    }

    /// A year is the most, so that instants cannot overflow.
    private mutating func bounded(_ duration: Duration, _ node: Node, _ name: String) -> Duration? {
        if duration <= .seconds(8_760 * 3_600) { return duration }
        self.fail(node, "\(name) can be at most 8760h")
        return nil
    }

    private static func duration(_ thousandths: Int, _ unit: Substring) -> Duration? {
        switch unit {
        case "ms": .microseconds(thousandths)
        case "s": .milliseconds(thousandths)
        case "min": .milliseconds(thousandths * 60)
        case "h": .milliseconds(thousandths * 3_600)
        default: nil
        }
    }

    /// At most 9 digits, at most 3 decimals, and a unit; in thousandths.
    private func quantity(_ node: Node) -> (thousandths: Int, unit: Substring)? {
        guard case .text(let text) = self.literal(node) else { return nil }
        func digits(_ text: Substring) -> Substring { text.prefix { $0.isASCII && $0.isNumber } }
        let whole = digits(text[...])
        var rest = text[whole.endIndex...]
        var decimals: Substring = ""
        if rest.first == "." {
            decimals = digits(rest.dropFirst())
            guard (1...3).contains(decimals.count) else { return nil }
            rest = rest[decimals.endIndex...]
        }
        guard (1...9).contains(whole.count),
            let value = Int(whole + decimals + String(repeating: "0", count: 3 - decimals.count))
        else { return nil }
        return (value, rest)
    }

    mutating func place(_ node: Node, _ name: String) -> Coordinate? {
        if case .sequence(let parts) = node, parts.count == 2,
            case .number(let latitude) = self.literal(parts[0]),
            case .number(let longitude) = self.literal(parts[1]),
            abs(latitude) <= 90, abs(longitude) <= 180
        {
            return Coordinate(latitude: latitude, longitude: longitude)
        }
        self.fail(node, "\(name) must be [latitude, longitude] in degrees")
        return nil
    }

    // MARK: Peers

    /// `VEHICLE/ENDPOINT`, or the name of a client, an observer or a vehicle, of which all endpoints are meant.
    mutating func openSelector(_ text: String, _ node: Node, _ name: String) -> PeerSelector? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let isName = parts.allSatisfy {
            (1...64).contains($0.utf8.count) && $0.utf8.allSatisfy(VehicleID.isAllowed)
        }
        guard isName, parts.count <= 2 else {
            let all = name == "link" ? ", or * for all" : ""
            self.fail(node, "\(name) must be VEHICLE/ENDPOINT or the name of a client or vehicle\(all)")
            return nil
        }
        let vehicle = VehicleID(unchecked: String(parts[0]))
        guard parts.count == 2 else { return .vehicle(vehicle) }
        return .endpoint(vehicle, EndpointName(unchecked: String(parts[1])))
    }

    /// A client, a vehicle or an endpoint of the scenario.
    mutating func selector(_ node: Node, _ name: String) -> PeerSelector? {
        guard let text = self.text(node, name, 1...129) else { return nil }
        guard !self.isOpen else { return self.openSelector(text, node, name) }
        if let client = self.scenario.clients.first(where: { $0.id.rawValue == text }) {
            return .client(client.id)
        }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        if let vehicle = self.scenario.vehicles.first(where: { $0.id.rawValue == parts[0] }) {
            if parts.count == 1 { return Self.selector(vehicle) }
            if let endpoint = vehicle.endpoints.first(where: { $0.name.rawValue == parts[1] }) {
                return .endpoint(vehicle.id, endpoint.name)
            }
        }
        let names =
            self.scenario.vehicles.flatMap { vehicle in
                [vehicle.id.rawValue] + vehicle.endpoints.map { "\(vehicle.id)/\($0.name)" }
            } + self.scenario.clients.map(\.id.rawValue)
        let hint = Spelling.hint(text, of: names)
        self.fail(
            node,
            "\(text) is no peer of this scenario"
                + (hint.isEmpty ? "; it has \(names.joined(separator: ", "))" : hint))
        return nil
    }

    /// The only endpoint of a vehicle, or all of them.
    package static func selector(_ vehicle: Scenario.Vehicle) -> PeerSelector {
        vehicle.endpoints.count == 1
            ? .endpoint(vehicle.id, vehicle.endpoints[0].name) : .vehicle(vehicle.id)
    }

    /// The only vehicle.
    mutating func onlyVehicle(_ node: Node, _ key: String) -> PeerSelector? {
        guard self.scenario.vehicles.count == 1, let vehicle = self.scenario.vehicles.first else {
            self.fail(node, "the scenario has \(self.scenario.vehicles.count) vehicles: say which by \(key)")
            return nil
        }
        return Self.selector(vehicle)
    }

    mutating func onlyClient(_ node: Node, _ key: String) -> PeerSelector? {
        guard self.scenario.clients.count == 1, let client = self.scenario.clients.first else {
            self.fail(node, "the scenario has \(self.scenario.clients.count) clients: say which by \(key)")
            return nil
        }
        return .client(client.id)
    }
}
