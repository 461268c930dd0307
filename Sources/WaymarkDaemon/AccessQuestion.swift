internal import ProcessIO
internal import WaymarkAccess
package import WaymarkConfiguration
internal import WaymarkGateway
internal import WaymarkProtocol

/// Why a question of access cannot be answered.
package struct AccessQuestionError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
}

/// A question of the operator: "user=phone guide bus-7".
package struct AccessQuestion: Sendable, Hashable {
    /// The verbs for the roles.
    private static let verbs: [(verb: String, role: AccessRole)] = [
        ("be", .vehicle), ("guide", .navigation), ("observe", .observer), ("simulate", .simulate),
    ]
    package static let example = "user=phone guide bus-7 as=phone-1 priority=5"

    private var subject = AccessSubject()
    /// The subject as the operator wrote it.
    private var names: [String] = []
    private var role: AccessRole
    private var vehicle: String
    private var client: String?
    private var priority: Int32?

    /// The answer to a question.
    package struct Answer: Sendable, Hashable {
        package let isAllowed: Bool
        package let lines: [String]
    }

    /// Reads a question. Looks users and groups up by their names.
    package init(_ text: String, _ settings: Settings) throws(AccessQuestionError) {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        let verbs = words.indices.filter { index in Self.verbs.contains { $0.verb == words[index] } }
        guard let verb = verbs.first, let role = Self.verbs.first(where: { $0.verb == words[verb] })?.role
        else { throw Self.error("there is no verb: be, guide, observe or simulate") }
        guard verb + 1 < words.count, !words[verb + 1].contains("=") else {
            throw Self.error("there is no vehicle behind \"\(words[verb])\"")
        }
        guard VehicleID(words[verb + 1]) != nil else {
            throw Self.error("\(words[verb + 1]) is not a vehicle id")
        }
        self.role = role
        self.vehicle = words[verb + 1]
        var known: Set<String> = []
        for (index, word) in words.enumerated() where index != verb && index != verb + 1 {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            guard parts.count == 2, !parts[1].isEmpty else {
                throw Self.error("\"\(word)\" is not understood")
            }
            guard known.insert(parts[0]).inserted || parts[0] == "group" else {
                throw Self.error("\(parts[0])= is given twice")
            }
            try self.read(parts[0], parts[1], settings)
        }
        guard role.concernsClients || self.client == nil else {
            throw Self.error("as= belongs to \"guide\" and \"simulate\"")
        }
        guard role == .navigation || self.priority == nil else {
            throw Self.error("priority= belongs to \"guide\"")
        }
    }

    private mutating func read(
        _ name: String, _ value: String, _ settings: Settings
    ) throws(AccessQuestionError) {
        switch name {
        case "user":
            guard let user = Account.user(value) else { throw Self.error("there is no user \(value)") }
            self.subject.user = user
            self.subject.groups += Account.groups(ofUser: user)
            self.names.append(value == "\(user)" ? "user \(user)" : "user \(value) (\(user))")
        case "group":
            guard let group = Account.group(value) else { throw Self.error("there is no group \(value)") }
            self.subject.groups.append(group)
            self.names.append(value == "\(group)" ? "group \(group)" : "group \(value) (\(group))")
        case "key":
            let isKnown = settings.listeners.contains { listener in
                listener.keys.contains { $0.name == value } || (listener.key != nil && listener.name == value)
            }
            guard isKnown else { throw Self.error("no listener has a key named \(value)") }
            self.subject.key = value
            self.names.append("key \(value)")
        case "as":
            guard ClientID(value) != nil else { throw Self.error("\(value) is not a client id") }
            self.client = value
        case "priority":
            guard let priority = Int32(value), ProtocolConstants.priority.contains(priority) else {
                throw Self.error("priority= must be an integer, -1000 to 1000")
            }
            self.priority = priority
        default: throw Self.error("\"\(name)=\" is not understood")
        }
    }

    private static func error(_ reason: String) -> AccessQuestionError {
        AccessQuestionError(description: "\(reason); ask for example \"\(Self.example)\"")
    }

    // MARK: Answering

    /// What the settings say, which rule decides, and why the rules before it do not.
    package func answer(_ settings: Settings) -> Answer {
        let policy = settings.policy.access
        let decision = policy.decision(
            policy.grant(of: self.subject, as: self.role, client: self.client), on: self.vehicle)
        var lines = ["\(decision.isAllowed ? "allowed" : "refused"): \(self.sentence(decision))"]
        lines.append(self.reason(decision))
        for rule in policy.rules {
            guard
                let mismatch = rule.mismatch(
                    self.subject, as: self.role, client: self.client, vehicle: self.vehicle)
            else { break }
            if case .key = decision.reason { break }
            lines.append("  not \(rule.origin) (\(rule.text)): \(self.text(mismatch))")
        }
        return Answer(isAllowed: decision.isAllowed, lines: lines)
    }

    private func sentence(_ decision: AccessDecision) -> String {
        let subject = self.names.isEmpty ? "a peer without user and key" : self.names.joined(separator: ", ")
        let verb = Self.verbs.first { $0.role == self.role }?.verb ?? ""
        let client = self.client.map { " as \($0)" } ?? ""
        let may = decision.isAllowed ? "may" : "may not"
        var priority = ""
        if decision.isAllowed, self.role == .navigation {
            switch (self.priority, decision.priorityMax) {
            case (nil, nil): break
            case (nil, let cap?): priority = ", with a priority of at most \(cap)"
            case (let asked?, nil): priority = ", with priority \(asked)"
            case (let asked?, let cap?):
                priority = ", with priority \(min(asked, cap))\(asked > cap ? " instead of \(asked)" : "")"
            }
        }
        return "\(subject) \(may) \(verb) \(self.vehicle)\(client)\(priority)"
    }

    private func reason(_ decision: AccessDecision) -> String {
        switch decision.reason {
        case .open: "there are no rules"
        case .rule(let rule): "the rule at \(rule.origin) decides: \(rule.text)"
        case .noRule: "no rule applies, so the answer is no"
        case .key(let name, let mismatch, let origin):
            "the key \(name) at \(origin) decides: \(self.text(mismatch))"
        }
    }

    private func text(_ mismatch: AccessRule.Mismatch) -> String {
        switch mismatch {
        case .role: "it does not name the role \(self.role.rawValue)"
        case .subject: "it is about others"
        case .client:
            self.client.map { "it is about other clients than \($0)" }
                ?? "it is about certain clients, and the question names none (as=)"
        case .vehicle: "it is about other vehicles than \(self.vehicle)"
        }
    }
}
