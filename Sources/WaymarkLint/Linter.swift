package import WaymarkHistory
package import WaymarkProtocol

/// Judges a history by all rules. A value: entries go in, in order, and findings come out.
///
/// It works while a run goes on and on a finished history, with the same findings.
package struct Linter: Sendable {
    /// The rules of one session.
    private struct SessionRules: Sendable {
        var rules: [any SessionRule] = Linter.ofSession.map { $0.init() }
        var deadline: Instant?

        mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
            for index in self.rules.indices { self.rules[index].see(step, session, &context) }
            self.updateDeadline()
        }

        mutating func decide(_ session: SessionView, _ context: inout LintContext, at deadline: Instant) {
            guard self.deadline == deadline else { return }
            for index in self.rules.indices where self.rules[index].deadline == deadline {
                self.rules[index].deadlineReached(session, &context)
            }
            self.updateDeadline()
        }

        private mutating func updateDeadline() {
            self.deadline = self.rules.lazy.compactMap(\.deadline).min()
        }
    }

    /// How often a rule found something.
    package struct Count: Sendable, Hashable {
        package let rule: LintID
        package var found = 0
        /// Of these, how many were left out because there were too many.
        package var omitted = 0
        /// Why they are expected; nil if they are not.
        package let allowance: String?
    }

    /// How many findings of one rule are told; the others are counted.
    package static let findingsMax = 100

    private var world: LintWorld
    private var rules = Self.peerRules
    private var sessionRules: [SessionID: SessionRules] = [:]
    /// The keys of the above, ascending: what is found must not depend on hashing.
    private var order: [SessionID] = []
    private var counts: [Count]
    private var instant = Instant(nanoseconds: .min)
    private var lastEntry = 0
    /// No rule of a session decides before; nil if none waits.
    private var earliest: Instant?
    /// When the next rule decides, if nothing happens until then. O(sessions).
    package var deadline: Instant? {
        [self.peerDeadline, self.sessionDeadline].compactMap(\.self).min()
    }
    private var peerDeadline: Instant? { self.rules.lazy.compactMap(\.deadline).min() }
    private var sessionDeadline: Instant? { self.sessionRules.values.lazy.compactMap(\.deadline).min() }

    private static let peerRules: [any LintRule] = [
        ContradictionRule(), RequestRerouteRule(), CancelIgnoredRule(), RejectedRule(), PromptLateRule(),
        AlertStaleRule(), ReceiptRule(), ResumeForgottenRule(), ReadSlowRule(), ResumeCursorRule(),
        PromptUnaskedRule(), PeerSilentRule(), AnswerTwiceRule(), FeatureUnusedRule(), PreviewUnknownRule(),
        StartGuidanceRule(), ConnectFastRule(),
    ]

    private static let ofSession: [any SessionRule.Type] = [
        ManeuverKindRule.self, ManeuverAngleRule.self, LaneLinkRule.self, LaneStaleRule.self,
        LaneHighlightRule.self, EstimatesOtherRule.self,
        TripRisesRule.self, ManeuverRisesRule.self, ManeuverFartherRule.self, UpcomingNoneRule.self,
        UpcomingOrderRule.self, StateDistanceRule.self, TextOrderRule.self, DistanceDisplayRule.self,
        SegmentJoinRule.self, SegmentManeuversRule.self, RateRule.self, SilenceRule.self,
        TimeDistanceRule.self, TripStaysRule.self, RouteEstimatesRule.self, StateOrderRule.self,
        EstimatesSameRule.self, ManeuverSingleRule.self, AlertQuietRule.self,
        SpeedSameRule.self, SpeedDistanceRule.self, SpeedValueRule.self,
        PreviewEstimatesRule.self, TimeJumpsRule.self, ManeuverLaterRule.self, ManeuverStaysRule.self,
        EstimatesDifferRule.self, LaneArrowRule.self, LaneLaterRule.self, RoadNextRule.self,
        SegmentLineRule.self, SegmentBehindRule.self, StartAgainRule.self, AlertFloodRule.self,
        UpcomingSingleRule.self, TextLongRule.self,
    ]

    /// A linter that expects what `allowances` say. Of two for one rule the last counts. It judges sessions whose routes take up to
    /// `routeBytesMax` in all, see ``unjudgedCount``.
    package init(allowing allowances: [LintAllowance] = [], routeBytesMax: Int = .max) {
        self.world = LintWorld(routeBytesMax: routeBytesMax)
        self.counts = LintID.allCases.map { rule in
            Count(rule: rule, allowance: allowances.last { $0.rule == rule }?.reason)
        }
    }

    // MARK: What is found

    /// For each rule, in the order of ``LintID/allCases``.
    package var summary: [Count] { self.counts }

    /// Allowances of which nothing was found: they can be removed.
    package var unusedAllowances: [LintAllowance] {
        self.counts.filter { $0.found == 0 }.compactMap { count in
            count.allowance.map { LintAllowance(count.rule, reason: $0) }
        }
    }

    /// How much was found that is not allowed.
    package var findingCount: Int {
        self.counts.reduce(0) { $0 + ($1.allowance == nil ? $1.found : 0) }
    }

    /// The number of sessions that are not judged until they end, because the routes of all would take more than is allowed.
    package var unjudgedCount: Int { self.world.unjudged.count }

    /// Judges a whole history, and what is missing at its end.
    package mutating func judge(_ history: History) -> [Finding] {
        var findings: [Finding] = []
        for entry in history.entries { findings += self.see(entry) }
        return findings
    }

    /// Sees the next entry.
    ///
    /// - Returns: What rules find that is not allowed, also of those whose deadline was before the entry.
    package mutating func see(_ entry: History.Entry) -> [Finding] {
        var findings = self.decide(before: entry.instant)
        self.instant = max(self.instant, entry.instant)
        self.lastEntry = entry.index
        let unjudgedCount = self.unjudgedCount
        guard let step = self.world.apply(entry) else { return findings }
        if self.unjudgedCount > unjudgedCount { self.forgetSessions() }
        var context = LintContext(at: entry.instant, entry: entry.index)
        self.tell(step, &context)
        findings += self.counted(context.findings)
        return findings
    }

    /// Nothing has happened up to an instant, and nothing more happens at it.
    package mutating func advance(to instant: Instant) -> [Finding] {
        let findings = self.decide(before: instant + .nanoseconds(1))
        self.instant = max(self.instant, instant)
        return findings
    }

    /// What happens meanwhile is not known: forgets everything but the counts.
    package mutating func forget() {
        self.world = LintWorld(routeBytesMax: self.world.routeBytesMax)
        (self.rules, self.sessionRules, self.order) = (Self.peerRules, [:], [])
        self.earliest = nil
    }

    // MARK: Rules

    private mutating func tell(_ step: LintStep, _ context: inout LintContext) {
        for index in self.rules.indices { self.rules[index].see(step, self.world, &context) }
        switch step {
        case .published(let session, _, let publication):
            self.tell(.published(publication), session, &context)
        case .connection(let peer, let change):
            guard change.changesPresence else { break }
            for session in self.order where self.world.sessions[session]?.client == peer {
                self.tell(.connection, session, &context)
            }
        case .ended, .malformed, .misplaced, .message, .unknown: break
        }
        self.forgetSessions(after: step)
    }

    /// Sessions begin and end by messages to their clients; their rules go with them.
    private mutating func forgetSessions(after step: LintStep) {
        switch step {
        case .ended, .message(.client, .toPeer, .welcome, _): self.forgetSessions()
        case .message(.client, .toPeer, .sessionOpened(let opened), _):
            // An id may be that of a session of a gateway before.
            self.sessionRules[opened.session] = nil
            self.order.removeAll { $0 == opened.session }
        default: break
        }
    }

    /// Forgets the rules of sessions that are not followed any more.
    private mutating func forgetSessions() {
        self.order.removeAll { self.world.sessions[$0] == nil }
        self.sessionRules = self.sessionRules.filter { self.world.sessions[$0.key] != nil }
    }

    private mutating func tell(_ step: SessionStep, _ id: SessionID, _ context: inout LintContext) {
        guard let session = self.world.sessions[id] else { return }
        if self.sessionRules[id] == nil {
            self.sessionRules[id] = SessionRules()
            self.order.insert(id, at: self.order.firstIndex { $0 > id } ?? self.order.count)
        }
        self.sessionRules[id]?.see(step, session, &context)
        self.expect(self.sessionRules[id]?.deadline)
    }

    /// Lets all rules decide whose deadline is before an instant, in the order of the deadlines.
    private mutating func decide(before instant: Instant) -> [Finding] {
        var findings: [Finding] = []
        while let deadline = self.deadline(before: instant) {
            var context = LintContext(at: max(deadline, self.instant), entry: self.lastEntry)
            for index in self.rules.indices where self.rules[index].deadline == deadline {
                self.rules[index].deadlineReached(self.world, &context)
            }
            for id in self.order {
                guard let session = self.world.sessions[id] else { continue }
                self.sessionRules[id]?.decide(session, &context, at: deadline)
            }
            findings += self.counted(context.findings)
        }
        return findings
    }

    private mutating func expect(_ deadline: Instant?) {
        guard let deadline else { return }
        self.earliest = min(self.earliest ?? deadline, deadline)
    }

    /// The next deadline, if it is before an instant. Sessions are looked at only once one of them may have such a deadline.
    private mutating func deadline(before instant: Instant) -> Instant? {
        if let earliest, earliest < instant { self.earliest = self.sessionDeadline }
        guard let next = [self.peerDeadline, self.earliest].compactMap(\.self).min(), next < instant else {
            return nil
        }
        return next
    }

    private mutating func counted(_ findings: [Finding]) -> [Finding] {
        guard !findings.isEmpty else { return [] }
        return findings.filter { finding in
            guard !finding.rule.dependsOnTime || !self.world.isFaulted(finding.peer),
                let index = self.counts.firstIndex(where: { $0.rule == finding.rule })
            else { return false }
            self.counts[index].found += 1
            guard self.counts[index].allowance == nil else { return false }
            if self.counts[index].found > Self.findingsMax {
                self.counts[index].omitted += 1
                return false
            }
            return true
        }
    }
}

extension History.Connection {
    /// The peer's connection began or ended.
    fileprivate var changesPresence: Bool {
        switch self {
        case .admitted, .ended: true
        case .connecting, .refused: false
        }
    }
}
