internal import WaymarkClient
internal import WaymarkConfiguration
internal import WaymarkHistory
internal import WaymarkProtocol
internal import WaymarkScenario

// What a test says, checked against the run, as what a scenario file says. An error names the argument or the key.
extension Rig {
    /// Whose connection or state is meant.
    private func subject(_ name: PeerName?, _ peer: (any Peer)?) throws(RigError) -> PeerSelector {
        if let name = name ?? peer?.name { return try self.selector(name) }
        guard self.scenario.vehicles.count == 1 else {
            throw RigError("of", "there are \(self.scenario.vehicles.count) vehicles: say which is meant")
        }
        return ScenarioReader.selector(self.scenario.vehicles[0])
    }

    func resolve(
        _ expectation: Expectation, _ peer: (any Peer)?, at location: SourceLocation
    ) throws(RigError) -> Scenario.Expected {
        let subject = try self.subject(expectation.subject, peer)
        let word = try self.word(expectation.word, subject, at: location)
        var expected = Scenario.Expected(word, of: subject, at: location)
        if let reason = expectation.reason {
            try Check.text(reason, "because", 1...512)
            expected.because = reason
        }
        if let event = expectation.event { expected.when = try self.resolve(event, subject, at: location) }
        return expected
    }

    /// An event; `subject` is meant where it names no peer.
    func resolve(
        _ event: Event, _ subject: PeerSelector?, at location: SourceLocation
    ) throws(RigError) -> Scenario.Event {
        let of: PeerSelector
        if let name = event.subject {
            of = try self.selector(name)
        } else if let subject {
            of = subject
        } else {
            of = try self.subject(nil, nil)
        }
        try Check.number(event.count, "occurrence", 1...1_000_000)
        return Scenario.Event(
            pattern: try self.pattern(event.kind, of), count: event.count, location: location)
    }

    private func pattern(_ kind: Event.Kind, _ of: PeerSelector) throws(RigError) -> EventPattern {
        switch kind {
        case .message(let draft): .message(try self.pattern(draft, of))
        case .state(let conditions): .state(try self.pattern(conditions, of))
        }
    }

    private func pattern(_ draft: MessageDraft, _ of: PeerSelector) throws(RigError) -> MessagePattern {
        guard let name = draft.name else {
            guard draft.conditions.isEmpty else {
                throw RigError("where", "needs a message, whose fields it names")
            }
            return MessagePattern(nil, of: of)
        }
        guard let type = MessageType.allCases.first(where: { "\($0)" == name.rawValue }) else {
            throw RigError("message", "\(name) is no message")
        }
        let place = FieldPath.Place.message(type.rawValue)
        return MessagePattern(type.rawValue, of: of, where: try Self.conditions(draft.conditions, of: place))
    }

    private func pattern(
        _ conditions: [FieldCondition], _ of: PeerSelector
    ) throws(RigError) -> StatePattern {
        guard (1...32).contains(conditions.count) else {
            throw RigError("state", "must have 1 to 32 conditions")
        }
        return StatePattern(of: try self.endpoint(of), try Self.conditions(conditions, of: .state))
    }

    /// The only endpoint that is meant.
    private func endpoint(_ of: PeerSelector) throws(RigError) -> PeerID {
        switch of {
        case .endpoint(let vehicle, let endpoint): return .endpoint(vehicle, endpoint)
        case .vehicle(let vehicle):
            throw RigError("of", "\(vehicle) has several endpoints: name one, by its endpoint(_:)")
        case .client(let client):
            throw RigError("of", "\(client) is a client, and has no state; name a vehicle or an endpoint")
        }
    }

    private func word(
        _ word: Expectation.Word, _ of: PeerSelector, at location: SourceLocation
    ) throws(RigError) -> Scenario.Word {
        switch word {
        case .message, .rate, .gap, .exactly: return try self.messageWord(word, of)
        case .eventually(let fields, let within):
            try Check.duration(within, "within")
            return .eventually(try self.pattern(fields, of), within: within)
        case .always(let fields, let lasts):
            try Check.duration(lasts, "for")
            return .always(try self.pattern(fields, of), for: lasts)
        case .never(let kind, let lasts):
            try Check.duration(lasts, "for")
            return .never(try self.pattern(kind, of), for: lasts)
        case .sometimes(let kind): return .sometimes(try self.pattern(kind, of))
        case .inOrder(let events, let within):
            try Check.duration(within, "within")
            try Check.number(events.count, "events.count", 2...64)
            var resolved: [Scenario.Event] = []
            for event in events { resolved.append(try self.resolve(event, of, at: location)) }
            return .inOrder(resolved, within: within)
        case .unchanged(let keys, let lasts):
            try Check.duration(lasts, "for")
            try Check.number(keys.count, "fields.count", 1...64)
            _ = try self.endpoint(of)
            var paths: [FieldPath] = []
            for key in keys { paths.append(try Self.path(key, of: .state)) }
            return .unchanged(paths, for: lasts)
        case .shownWithin(let limit, let lasts):
            try Check.duration(limit, "shownWithin", isPositive: true)
            try Check.duration(lasts, "for")
            if case .client(let client) = of {
                throw RigError(
                    "of", "\(client) is a client, and shows nothing; name a vehicle or an endpoint")
            }
            return .shownWithin(limit, for: lasts)
        case .outcome(let result, let within):
            try Check.duration(within, "within")
            guard let outcome = Outcome(rawValue: result.rawValue) else {
                throw RigError("outcome", "\(result) is no outcome of the protocol")
            }
            return .outcome(outcome, within: within)
        case .holdsWhatWasPublished(let within):
            try Check.duration(within, "within")
            _ = try self.endpoint(of)
            return .holdsWhatWasPublished(within: within)
        case .ended(let reason, let within):
            try Check.duration(within, "within")
            let known = SessionEndReason.allCases.filter { $0 != .unrecognized }
            guard let end = known.first(where: { "\($0)" == reason.word }) else {
                throw RigError(
                    "ended", "\(reason.word) is not one of \(known.map { "\($0)" }.joined(separator: ", "))")
            }
            return .ended(end, within: within)
        }
    }

    private func messageWord(
        _ word: Expectation.Word, _ of: PeerSelector
    ) throws(RigError) -> Scenario.Word {
        switch word {
        case .message(let draft, let within):
            try Check.duration(within, "within")
            return .message(try self.pattern(draft, of), within: within)
        case .rate(let draft, let atMost, let atLeast, let per, let lasts):
            try Check.number(atMost, "atMost", 0...Int(Int32.max))
            try Check.number(atLeast, "atLeast", 1...Int(Int32.max))
            guard (atMost, atLeast) != (nil, nil) else { throw RigError("rate", "needs atMost or atLeast") }
            try Check.duration(per, "per", isPositive: true)
            try Check.duration(lasts, "for")
            return .rate(try self.pattern(draft, of), atMost: atMost, atLeast: atLeast, per: per, for: lasts)
        case .gap(let draft, let below, let lasts):
            try Check.duration(below, "below", isPositive: true)
            try Check.duration(lasts, "for")
            return .gap(try self.pattern(draft, of), below: below, for: lasts)
        case .exactly(let count, let draft, let lasts):
            try Check.number(count, "count", 0...Int(Int32.max))
            try Check.duration(lasts, "for")
            return .exactly(count, try self.pattern(draft, of), for: lasts)
        case .eventually, .always, .never, .sometimes, .inOrder, .unchanged, .shownWithin, .outcome,
            .holdsWhatWasPublished, .ended:
            throw RigError("expect", "is no word about messages")
        }
    }
}
