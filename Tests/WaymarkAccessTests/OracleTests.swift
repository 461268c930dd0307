import Testing
import WaymarkAccess

/// Compares ``AccessPolicy`` with an oracle that looks at every rule in its order, and matches patterns by recursion.
@Suite struct OracleTests {
    @Test(arguments: 0..<20)
    func `random rules and questions get the oracle's answers`(_ seed: UInt64) {
        var random = Random(seed: seed)
        // 100 000 sets of rules in all, each with a question.
        for round in 0..<5_000 {
            let world = RandomWorld(&random)
            let question = Question(&random)
            let policy = world.policy
            let grant = policy.grant(of: question.subject, as: question.role, client: question.client)
            let decision = policy.decision(grant, on: question.vehicle)
            let expected = Oracle(world: world).answer(question, isAdmission: false)
            let admission = Oracle(world: world).answer(question, isAdmission: true)
            // The rule that decides says so itself; the answer to the operator's question relies on that.
            var mismatch: AccessRule.Mismatch?
            if case .rule(let rule) = decision.reason {
                mismatch = rule.mismatch(
                    question.subject, as: question.role, client: question.client, vehicle: question.vehicle)
            }
            // Only clients are asked about by class.
            let vehicles = policy.vehicleClass(of: question.vehicle)
            let isSameByClass =
                question.role != .navigation || policy.mayGuide(grant, vehicles) == decision.isAllowed
            // Why not one expectation each: they take longer than the comparisons.
            let isRight =
                isSameByClass && Answer(decision) == expected && Answer(policy.admission(grant)) == admission
                && mismatch == nil
            guard isRight else {
                Issue.record("seed \(seed), round \(round): \(question) \(world)")
                return
            }
        }
    }

    /// Each kind of answer must be frequent, so that the comparison means something.
    @Test func `every kind of answer occurs often`() {
        var random = Random(seed: 99)
        var counts: [Answer.Kind: Int] = [:]
        for _ in 0..<4_000 {
            let world = RandomWorld(&random)
            let question = Question(&random)
            counts[Oracle(world: world).answer(question, isAdmission: false).kind, default: 0] += 1
        }
        for kind in Answer.Kind.allCases { #expect(counts[kind, default: 0] > 100, "\(kind): \(counts)") }
    }
}

/// What an answer consists of, for the comparison.
private struct Answer: Equatable {
    enum Kind: CaseIterable { case open, allowed, refused, noRule, key }

    var kind: Kind
    /// The line of the rule.
    var line = 0
    var priorityMax: Int32?
    var isAllowed: Bool

    init(_ kind: Kind) {
        self.kind = kind
        self.isAllowed = kind == .open || kind == .allowed
    }

    init(_ decision: AccessDecision) {
        switch decision.reason {
        case .open: self.kind = .open
        case .noRule: self.kind = .noRule
        case .key: self.kind = .key
        case .rule(let rule):
            self.kind = rule.isAllowed ? .allowed : .refused
            self.line = rule.origin.line
        }
        self.priorityMax = decision.priorityMax
        self.isAllowed = decision.isAllowed
    }
}

private struct Question: CustomStringConvertible {
    var subject = AccessSubject()
    var role: AccessRole
    var vehicle: String
    var client: String?

    init(_ random: inout Random) {
        if random.chance(70) { self.subject.user = UInt32(random.below(3)) }
        self.subject.groups = (0..<random.below(3)).map { _ in UInt32(random.below(3)) }
        if random.chance(50) { self.subject.key = random.key() }
        self.role = AccessRole.allCases[random.below(3)]
        self.vehicle = random.id()
        if self.role == .navigation { self.client = random.id() }
    }

    var description: String { "\(self.subject) \(self.role) \(self.vehicle) \(self.client ?? "")" }
}

/// Rules as plain values, from which the policy and the oracle are made.
private struct RandomWorld: CustomStringConvertible {
    struct Rule {
        var isAllowed: Bool
        var roles: Set<AccessRole>
        /// 0: anyone, 1: users, 2: groups, 3: keys.
        var kind: Int
        var numbers: Set<UInt32>
        var names: Set<String>
        var vehicles: [String]?
        var clients: [String]?
        var priorityMax: Int32?
    }

    struct Limits {
        var roles: Set<AccessRole>?
        var vehicles: [String]?
        var clients: [String]?
    }

    var rules: [Rule] = []
    var keys: [String: Limits] = [:]

    init(_ random: inout Random) {
        for _ in 0..<random.below(6) {
            self.rules.append(
                Rule(
                    isAllowed: random.chance(60), roles: random.roles(), kind: random.below(4),
                    numbers: Set((0...random.below(2)).map { _ in UInt32(random.below(3)) }),
                    names: Set((0...random.below(2)).map { _ in random.key() }), vehicles: random.globs(),
                    clients: random.globs(), priorityMax: random.chance(30) ? Int32(random.below(9)) : nil))
        }
        for name in ["k0", "k1"] where random.chance(30) {
            self.keys[name] = Limits(
                roles: random.chance(50) ? random.roles() : nil, vehicles: random.globs(),
                clients: random.globs())
        }
    }

    var policy: AccessPolicy {
        let rules = self.rules.enumerated().map { line, rule in
            var made = AccessRule(
                allow: rule.isAllowed, rule.roles, origin: AccessOrigin(file: "f", line: line))
            made.subjects =
                [.anyone, .users(rule.numbers), .groups(rule.numbers), .keys(rule.names)][rule.kind]
            made.vehicles = rule.vehicles.map { GlobList($0.compactMap { Glob($0) }) }
            made.clients = rule.clients.map { GlobList($0.compactMap { Glob($0) }) }
            made.priorityMax = rule.priorityMax
            return made
        }
        let keys = self.keys.mapValues { limits in
            var made = KeyLimits(origin: AccessOrigin(file: "f", line: 0))
            made.roles = limits.roles
            made.vehicles = limits.vehicles.map { GlobList($0.compactMap { Glob($0) }) }
            made.clients = limits.clients.map { GlobList($0.compactMap { Glob($0) }) }
            return made
        }
        return AccessPolicy(rules: rules, keys: keys)
    }

    var description: String { "\(self.rules) \(self.keys)" }
}

private struct Oracle {
    var world: RandomWorld

    func answer(_ question: Question, isAdmission: Bool) -> Answer {
        if let key = question.subject.key, let limits = self.world.keys[key] {
            let isRoleRefused = !(limits.roles?.contains(question.role) ?? true)
            let isClientRefused =
                question.role == .navigation && !self.matches(limits.clients, question.client)
            let isVehicleRefused = !isAdmission && !self.matches(limits.vehicles, question.vehicle)
            if isRoleRefused || isClientRefused || isVehicleRefused { return Answer(.key) }
        }
        if self.world.rules.isEmpty { return Answer(.open) }
        for (line, rule) in self.world.rules.enumerated() where self.isAbout(rule, question) {
            if isAdmission {
                // A refusal of some vehicles leaves others.
                if !rule.isAllowed, rule.vehicles != nil { continue }
            } else if !self.matches(rule.vehicles, question.vehicle) {
                continue
            }
            var answer = Answer(rule.isAllowed ? .allowed : .refused)
            answer.line = line
            answer.priorityMax = rule.priorityMax
            return answer
        }
        return Answer(.noRule)
    }

    private func isAbout(_ rule: RandomWorld.Rule, _ question: Question) -> Bool {
        guard rule.roles.contains(question.role) else { return false }
        if question.role == .navigation, !self.matches(rule.clients, question.client) { return false }
        switch rule.kind {
        case 0: return true
        case 1: return rule.numbers.contains { $0 == question.subject.user }
        case 2: return !rule.numbers.isDisjoint(with: question.subject.groups)
        default: return rule.names.contains { $0 == question.subject.key }
        }
    }

    private func matches(_ patterns: [String]?, _ id: String?) -> Bool {
        guard let patterns else { return true }
        let id = Array((id ?? "").utf8)
        return patterns.contains { self.matches(Array($0.utf8)[...], id[...]) }
    }

    private func matches(_ pattern: ArraySlice<UInt8>, _ id: ArraySlice<UInt8>) -> Bool {
        guard let first = pattern.first else { return id.isEmpty }
        let rest = pattern.dropFirst()
        if first == UInt8(ascii: "*") {
            return self.matches(rest, id) || (!id.isEmpty && self.matches(pattern, id.dropFirst()))
        }
        guard let byte = id.first, first == UInt8(ascii: "?") || first == byte else { return false }
        return self.matches(rest, id.dropFirst())
    }
}

/// SplitMix64.
private struct Random {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    private mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var value = self.state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func below(_ count: Int) -> Int { Int(self.next() % UInt64(count)) }
    mutating func chance(_ percent: Int) -> Bool { self.below(100) < percent }
    mutating func key() -> String { "k\(self.below(3))" }

    /// 1 to 5 letters of a small alphabet, so that patterns often match.
    mutating func id() -> String { (0...self.below(5)).map { _ in ["a", "b"][self.below(2)] }.joined() }

    mutating func globs() -> [String]? {
        if self.chance(40) { return nil }
        return (0...self.below(2)).map { _ in
            (0...self.below(4)).map { _ in ["a", "b", "*", "?"][self.below(4)] }.joined()
        }
    }

    mutating func roles() -> Set<AccessRole> {
        Set((0...self.below(3)).map { _ in AccessRole.allCases[self.below(3)] })
    }
}
