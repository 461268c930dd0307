internal import ProcessIO
internal import WaymarkConfiguration
internal import WaymarkHistory
internal import WaymarkProtocol
internal import Yams

/// The expectations of a scenario, and its events.
extension ScenarioReader {
    private static let words = [
        "message", "prints", "eventually", "always", "never", "sometimes", "rate", "gap", "in-order",
        "exactly",
        "unchanged", "shown-within", "outcome", "holds-what-was-published", "ended",
    ]
    private static let waiting = [
        "message", "prints", "eventually", "outcome", "in-order", "holds-what-was-published", "ended",
    ]
    private static let ofEvents = ["of", "message", "where", "state", "prints", "count"]
    private static let lasting = ["always", "never", "rate", "gap", "exactly", "unchanged", "shown-within"]

    mutating func expectations(_ node: Node) -> [Scenario.Expected] {
        self.oneOrMore(node, "expect", 256) { $0.expectation($1) }
    }

    private mutating func expectation(_ node: Node) -> Scenario.Expected? {
        let keys = ["of", "because", "when", "within", "for", "where"] + Self.words
        guard let map = self.mapping(node, "expect", keys) else { return nil }
        guard let word = self.exactlyOne(of: Self.words, map), let value = map[word] else { return nil }
        self.checkTimes(word, map)
        let because = map["because"].flatMap { self.text($0, "because", 1...512) }
        let when = map["when"].flatMap { self.event($0, "when") }
        guard let of = map["of"].map({ self.selector($0, "of") }) ?? self.onlyVehicle(map.key(word), "of"),
            let read = self.word(word, value, of, map)
        else { return nil }
        var expected = Scenario.Expected(read, of: of, at: self.location(node))
        (expected.because, expected.when) = (because, when)
        return expected
    }

    private mutating func checkTimes(_ word: String, _ map: ReadMapping) {
        if map.has("where"), word != "message", word != "prints" {
            self.fail(map.key("where"), "\(word) has no where of its own")
        }
        if Self.waiting.contains(word) {
            if !map.has("within") { self.fail(map.key(word), "\(word) needs within") }
        } else if map.has("within") {
            self.fail(
                map.key("within"), "\(word) has no within\(Self.lasting.contains(word) ? ", but for" : "")")
        }
        if !Self.lasting.contains(word), map.has("for") {
            self.fail(
                map.key("for"), "\(word) has no for\(Self.waiting.contains(word) ? ", but within" : "")")
        }
        if word == "unchanged", !map.has("for") { self.fail(map.key(word), "unchanged needs for") }
    }

    private mutating func word(
        _ word: String, _ value: Node, _ of: PeerSelector, _ map: ReadMapping
    ) -> Scenario.Word? {
        let within = map["within"].flatMap { self.duration($0, "within") }
        let lasts = map["for"].flatMap { self.duration($0, "for") }
        let wait = within ?? .zero  // Without a time there was an error.
        switch word {
        case "message":
            return self.message(value, where: map["where"], of).map { .message($0, within: wait) }
        case "prints":
            return self.line(value, where: map["where"], of).map { .prints($0, within: wait) }
        case "eventually": return self.state(value, of).map { .eventually($0, within: wait) }
        case "always": return self.state(value, of).map { .always($0, for: lasts) }
        case "never": return self.stateOrEvent(value, word, of).map { .never($0, for: lasts) }
        case "sometimes": return self.stateOrEvent(value, word, of).map { .sometimes($0) }
        case "rate": return self.rate(value, of, lasts)
        case "gap": return self.gap(value, of, lasts)
        case "in-order":
            let events = self.list(value, word, 2...64) { $0.messageOrEvent($1, of) }
            return events.count > 1 ? .inOrder(events, within: wait) : nil
        case "exactly": return self.exactly(value, of, lasts)
        case "unchanged":
            guard self.endpoint(of, value) != nil else { return nil }
            let paths = self.set(value, word, 1...64) { $0.path($1) }
            return paths.isEmpty ? nil : .unchanged(paths, for: lasts ?? .zero)
        case "shown-within": return self.shownWithin(value, of, lasts)
        case "outcome":
            return self.choice(value, word, Outcome.allCases.map { ("\($0)", $0) }).map {
                .outcome($0, within: wait)
            }
        case "holds-what-was-published":
            guard self.isSet(value, word), self.endpoint(of, value) != nil else { return nil }
            return .holdsWhatWasPublished(within: wait)
        default: return self.endReason(value, word).map { .ended($0, within: within) }
        }
    }

    private mutating func rate(_ node: Node, _ of: PeerSelector, _ lasts: Duration?) -> Scenario.Word? {
        guard let map = self.mapping(node, "rate", ["message", "where", "at-most", "at-least", "per"]) else {
            return nil
        }
        self.require(["per"], map)
        self.requireOne(of: ["at-most", "at-least"], map)
        let atMost = map["at-most"].flatMap { self.integer($0, "at-most", 0...Int(Int32.max)) }
        let atLeast = map["at-least"].flatMap { self.integer($0, "at-least", 1...Int(Int32.max)) }
        guard let message = self.publication(map, of),
            let per = map["per"].flatMap({ self.positive($0, "per") })
        else { return nil }
        return .rate(message, atMost: atMost, atLeast: atLeast, per: per, for: lasts)
    }

    private mutating func gap(_ node: Node, _ of: PeerSelector, _ lasts: Duration?) -> Scenario.Word? {
        guard let map = self.mapping(node, "gap", ["message", "where", "below"]) else { return nil }
        self.require(["below"], map)
        guard let message = self.publication(map, of),
            let below = map["below"].flatMap({ self.positive($0, "below") })
        else { return nil }
        return .gap(message, below: below, for: lasts)
    }

    private mutating func shownWithin(
        _ node: Node, _ of: PeerSelector, _ lasts: Duration?
    ) -> Scenario.Word? {
        if case .client(let client) = of {
            self.fail(node, "\(client) is a client, and shows nothing; name a vehicle or an endpoint by of")
            return nil
        }
        return self.positive(node, "shown-within").map { .shownWithin($0, for: lasts) }
    }

    mutating func positive(_ node: Node, _ name: String) -> Duration? {
        guard let duration = self.duration(node, name) else { return nil }
        if duration == .zero { self.fail(node, "\(name) must be more than nothing") }
        return duration
    }

    private mutating func exactly(_ node: Node, _ of: PeerSelector, _ lasts: Duration?) -> Scenario.Word? {
        guard let map = self.mapping(node, "exactly", ["count", "message", "where"]) else { return nil }
        self.require(["count", "message"], map)
        let count = map["count"].flatMap { self.integer($0, "count", 0...Int(Int32.max)) }
        guard let name = map["message"], let message = self.message(name, where: map["where"], of), let count
        else { return nil }
        return .exactly(count, message, for: lasts)
    }

    // MARK: Messages

    /// The message of a rate or gap; every publication if it names none.
    private mutating func publication(_ map: ReadMapping, _ of: PeerSelector) -> MessagePattern? {
        if let name = map["message"] { return self.message(name, where: map["where"], of) }
        guard let fields = map["where"] else { return MessagePattern(nil, of: of) }
        self.fail(fields, "\(map.name) needs message, whose fields where names")
        return nil
    }

    mutating func message(_ node: Node, where fields: Node?, _ of: PeerSelector) -> MessagePattern? {
        guard let type = self.messageType(node) else { return nil }
        guard let fields else { return MessagePattern(type, of: of) }
        return self.fields(fields, "where", of: .message(type)).map {
            MessagePattern(type, of: of, where: $0)
        }
    }

    private mutating func messageType(_ node: Node) -> UInt16? {
        guard let text = self.text(node, "message", 1...64) else { return nil }
        if let type = MessageType.allCases.first(where: { "\($0)" == text }) { return type.rawValue }
        if text.hasPrefix("0x"), text.utf8.count == 6,
            text == text.prefix(2) + text.dropFirst(2).uppercased(),
            let raw = UInt16(text.dropFirst(2), radix: 16)
        {
            return raw
        }
        let hint = Spelling.hint(text, of: MessageType.allCases.map { "\($0)" })
        self.fail(
            node, "\(text) is no message\(hint.isEmpty ? "; names are those of Docs/cluster-json.md" : hint)")
        return nil
    }

    // MARK: Lines

    /// A line that a program prints.
    private mutating func line(_ node: Node, where groups: Node?, _ of: PeerSelector) -> LinePattern? {
        guard let expression = self.text(node, "prints", 1...512) else { return nil }
        do throws(FieldError) {
            var conditions: [LinePattern.Group] = []
            if let groups {
                guard case .mapping(let pairs) = groups, (1...16).contains(pairs.count) else {
                    self.fail(groups, "where must be a mapping from 1 to 16 named groups to conditions")
                    return nil
                }
                for (key, value) in pairs {
                    guard let name = self.text(key, "a group", 1...32),
                        let literal = self.conditionLiteral(value)
                    else { return nil }
                    conditions.append(try LinePattern.Group(name, literal))
                }
            }
            return try LinePattern(expression, of: of, where: conditions)
        } catch {
            self.fail(node, "\(error)")
            return nil
        }
    }

    // MARK: Events

    /// A message that crosses, or a state that begins to hold.
    mutating func event(_ node: Node, _ name: String) -> Scenario.Event? {
        guard let map = self.mapping(node, name, Self.ofEvents) else { return nil }
        guard let of = map["of"].map({ self.selector($0, "of") }) ?? self.onlyVehicle(node, "of") else {
            return nil
        }
        return self.event(map, of)
    }

    private mutating func event(_ map: ReadMapping, _ of: PeerSelector) -> Scenario.Event? {
        let count = map["count"].flatMap { self.integer($0, "count", 1...1_000_000) }
        guard let kind = self.exactlyOne(of: ["message", "state", "prints"], map), let value = map[kind]
        else {
            return nil
        }
        if kind == "state", map.has("where") { self.fail(map.key("where"), "where needs message or prints") }
        let pattern: EventPattern? =
            switch kind {
            case "message": self.message(value, where: map["where"], of).map { .message($0) }
            case "prints": self.line(value, where: map["where"], of).map { .line($0) }
            default: self.state(value, of).map { .state($0) }
            }
        return pattern.map { Scenario.Event(pattern: $0, count: count, location: self.location(map.node)) }
    }

    /// A message's name, or an event, of an expectation of `of`.
    private mutating func messageOrEvent(_ node: Node, _ of: PeerSelector) -> Scenario.Event? {
        guard node.mapping != nil else {
            guard let message = self.message(node, where: nil, of) else { return nil }
            return Scenario.Event(pattern: .message(message), count: nil, location: self.location(node))
        }
        guard let map = self.mapping(node, "in-order", Self.ofEvents) else { return nil }
        return (map["of"].map { self.selector($0, "of") } ?? of).flatMap { self.event(map, $0) }
    }

    /// A state, or an event, of an expectation of `of`.
    private mutating func stateOrEvent(_ node: Node, _ word: String, _ of: PeerSelector) -> EventPattern? {
        let keys = Self.ofEvents
        guard let pairs = node.mapping, pairs.contains(where: { keys.contains($0.key.string ?? "") }) else {
            return self.state(node, of).map { .state($0) }
        }
        guard let map = self.mapping(node, word, keys) else { return nil }
        if map.has("count") { self.fail(map.key("count"), "\(word) has no count; exactly counts messages") }
        return (map["of"].map { self.selector($0, "of") } ?? of).flatMap { self.event(map, $0)?.pattern }
    }

    // MARK: States

    /// The only endpoint that is meant.
    private mutating func endpoint(_ of: PeerSelector, _ node: Node) -> PeerID? {
        switch of {
        case .endpoint(let vehicle, let endpoint): return .endpoint(vehicle, endpoint)
        case .vehicle(let vehicle):
            self.fail(
                node, "\(vehicle) has several endpoints: say which by of, e.g. \(self.example(vehicle))")
        case .client(let client):
            self.fail(node, "\(client) is a client, and has no state; name an endpoint by of")
        }
        return nil
    }

    private mutating func state(_ node: Node, _ of: PeerSelector) -> StatePattern? {
        let fields = self.fields(node, "a state", of: .state)
        guard let endpoint = self.endpoint(of, node), let fields else { return nil }
        return StatePattern(of: endpoint, fields)
    }

    private mutating func fields(_ node: Node, _ name: String, of place: FieldPath.Place) -> FieldConditions?
    {
        guard case .mapping(let pairs) = node, (1...32).contains(pairs.count) else {
            self.fail(node, "\(name) must be a mapping from 1 to 32 keys to conditions")
            return nil
        }
        let elements = pairs.compactMap { key, value -> FieldConditions.Element? in
            guard let path = self.path(key, place), let literal = self.conditionLiteral(value) else {
                return nil
            }
            do throws(FieldError) {
                return FieldConditions.Element(path: path, condition: try Condition(literal, for: path))
            } catch {
                self.fail(value, "\(error)")
                return nil
            }
        }
        return FieldConditions(elements)
    }

    /// A key of the state.
    private mutating func path(_ node: Node) -> FieldPath? { self.path(node, .state) }

    private mutating func path(_ node: Node, _ place: FieldPath.Place) -> FieldPath? {
        guard case .text(let text) = self.literal(node) else {
            self.fail(node, "a key must be a text")
            return nil
        }
        do throws(FieldError) { return try FieldPath(text, of: place) } catch {
            self.fail(node, "\(error)")
            return nil
        }
    }

    /// A scalar, a list of scalars, or `{contains: scalar}`.
    private mutating func conditionLiteral(_ node: Node) -> Literal? {
        switch node {
        case .scalar: return self.literal(node)
        case .sequence:
            let elements = self.list(node, "a condition", 0...64) { $0.element($1) }
            return elements.count == node.sequence?.count ? .list(elements) : nil
        case .mapping:
            guard let map = self.mapping(node, "a condition", ["contains"]) else { return nil }
            self.require(["contains"], map)
            return map["contains"].flatMap { self.element($0) }.map { .contains($0) }
        case .alias: return nil
        }
    }

    private mutating func element(_ node: Node) -> Literal? {
        guard let literal = self.literal(node), literal != .null else {
            self.fail(node, "must be a text, a number, true or false")
            return nil
        }
        return literal
    }
}
