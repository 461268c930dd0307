internal import WaymarkHistory
internal import WaymarkModel
internal import WaymarkProtocol

/// LINT-PROMPT-LATE.
struct PromptLateRule: LintRule {
    private struct Asked: Hashable {
        let endpoint: PeerID
        let request: Identifier
    }

    /// The entry of each Prompt that is not over.
    private var asked: [Asked: Int] = [:]

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        switch step {
        case .message(let endpoint, .toPeer, .prompt(let prompt), _):
            self.asked[Asked(endpoint: endpoint, request: prompt.requestID)] = context.entry
        case .message(let endpoint, .toPeer, .promptOver(let over), _):
            let asked = Asked(endpoint: endpoint, request: over.requestID)
            guard let entry = self.asked.removeValue(forKey: asked), over.outcome == .timedOut else {
                return
            }
            context.find(
                .promptLate, endpoint, .none, values: [("request", over.requestID.rawValue)], entry: entry,
                "\(endpoint) did not answer the prompt \(over.requestID) in time")
        case .connection(let endpoint, .ended):
            // An endpoint whose connection is cut discards its Prompts.
            self.asked = self.asked.filter { $0.key.endpoint != endpoint }
        default: break
        }
    }
}

/// LINT-ALERT-STALE.
struct AlertStaleRule: LintRule {
    /// How long an answer may be under way.
    private static let lateMax = Duration.seconds(1)
    /// How many alerts that are over are remembered for each endpoint.
    private static let overMax = 64

    private struct Alerts {
        var shown: UInt32?
        /// Oldest first.
        var over: [(alert: UInt32, instant: Instant)] = []

        mutating func end(at instant: Instant) {
            guard let shown else { return }
            self.over.append((shown, instant))
            if self.over.count > AlertStaleRule.overMax { self.over.removeFirst() }
            self.shown = nil
        }
    }

    private var alerts: [PeerID: Alerts] = [:]

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        guard case .message(let endpoint, let way, let message, _) = step, endpoint.vehicle != nil else {
            return
        }
        switch (way, message) {
        case (.toPeer, .publication(.showAlert(let alert))):
            if self.alerts[endpoint]?.shown != alert.id {
                self.alerts[endpoint, default: Alerts()].end(at: context.instant)
            }
            self.alerts[endpoint]?.shown = alert.id
        case (.toPeer, .publication(.dismissAlert(let alert, _))):
            if self.alerts[endpoint]?.shown == alert { self.alerts[endpoint]?.end(at: context.instant) }
        case (.toPeer, .snapshotBegin), (.toPeer, .sessionEnded): self.alerts[endpoint] = nil
        case (.toGateway, .alertResponse(let response)):
            self.judge(response.alert, endpoint, &context)
        default: break
        }
    }

    private func judge(_ alert: UInt32, _ endpoint: PeerID, _ context: inout LintContext) {
        guard let alerts = self.alerts[endpoint], alerts.shown != alert,
            let over = alerts.over.last(where: { $0.alert == alert }),
            context.instant - over.instant > Self.lateMax
        else { return }
        context.find(
            .alertStale, endpoint, .none, field: "alert_id", values: [("alert", "\(alert)")],
            "\(endpoint) answers alert \(alert), which was over "
                + "\((context.instant - over.instant).milliseconds) ms before")
    }
}

/// LINT-RECEIPT-WRONG.
struct ReceiptRule: LintRule {
    /// After a snapshot began, receipts of the state before may still be under way.
    private static let graceTime = Duration.seconds(2)
    /// A receipt is missing after so many intervals.
    private static let intervalsMax = 3

    private struct Endpoint {
        let session: SessionID
        let interval: Duration
        let begin: Instant
        /// The highest number that it was sent.
        var sent: UInt64
        var received: UInt64 = 0
        /// What it had been sent, at least ``ReceiptRule/intervalsMax`` intervals apart.
        var samples: (older: UInt64, newer: UInt64, at: Instant)
        /// Since when, and since which entry, it has something to confirm.
        var owes: (instant: Instant, entry: Int)?
        var isTold = false

        var deadline: Instant? {
            guard !self.isTold, self.interval > .zero else { return nil }
            return self.owes.map {
                max($0.instant + self.interval * ReceiptRule.intervalsMax, self.begin + ReceiptRule.graceTime)
            }
        }

        mutating func sample(at now: Instant) {
            guard now - self.samples.at >= self.interval * ReceiptRule.intervalsMax else { return }
            self.samples = (older: self.samples.newer, newer: self.sent, at: now)
        }
    }

    private var endpoints: [PeerID: Endpoint] = [:]

    /// Of the endpoints that owe a receipt: few, or none, of many.
    private var deadlines: [PeerID: Instant] = [:]

    var deadline: Instant? { self.deadlines.values.min() }

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        self.follow(step, &context)
        switch step {
        case .message(let peer, _, _, _), .connection(let peer, _):
            self.deadlines[peer] = self.endpoints[peer]?.deadline
        default: break
        }
    }

    private mutating func follow(_ step: LintStep, _ context: inout LintContext) {
        switch step {
        case .message(let peer, .toPeer, .snapshotBegin(let begin), let header):
            self.endpoints[peer] = Endpoint(
                session: header.session, interval: .milliseconds(begin.receiptsEveryMilliseconds),
                begin: context.instant, sent: begin.toSequence,
                samples: (older: 0, newer: 0, at: context.instant))
        case .message(let peer, .toPeer, .sessionEnded, _), .connection(let peer, .ended),
            .message(let peer, .toPeer, .publication(.finishGuidance), _),
            .message(let peer, .toPeer, .publication(.cancelGuidance), _):
            self.endpoints[peer] = nil
        case .message(let peer, .toPeer, .publication, let header):
            guard var endpoint = self.endpoints[peer], endpoint.session == header.session else { return }
            endpoint.sample(at: context.instant)
            endpoint.sent = max(endpoint.sent, header.sequence)
            if endpoint.owes == nil { endpoint.owes = (context.instant, context.entry) }
            self.endpoints[peer] = endpoint
        case .message(let peer, .toGateway, .receipt(let receipt), let header):
            guard var endpoint = self.endpoints[peer],
                header.session == .none || header.session == endpoint.session
            else { return }
            endpoint.sample(at: context.instant)
            self.endpoints[peer] = endpoint
            self.judge(receipt, peer, endpoint, &context)
            self.endpoints[peer]?.received = max(endpoint.received, receipt.receivedSequence)
            self.endpoints[peer]?.owes = nil
            self.endpoints[peer]?.isTold = false
        default: break
        }
    }

    private func judge(
        _ receipt: Receipt, _ peer: PeerID, _ endpoint: Endpoint, _ context: inout LintContext
    ) {
        guard context.instant - endpoint.begin >= Self.graceTime else { return }
        let number = receipt.receivedSequence
        let reason: String
        if number < endpoint.received {
            reason = "after it had confirmed \(endpoint.received)"
        } else if number > endpoint.sent {
            reason = "and was sent no more than \(endpoint.sent)"
        } else if number < endpoint.samples.older {
            reason = "and had \(endpoint.samples.older) more than \(Self.intervalsMax) intervals before"
        } else {
            return
        }
        context.find(
            .receiptWrong, peer, endpoint.session, field: "received_sequence",
            values: [
                ("received", "\(number)"), ("before", "\(endpoint.received)"), ("sent", "\(endpoint.sent)"),
            ],
            "\(peer) confirms \(number), \(reason)")
    }

    mutating func deadlineReached(_ world: LintWorld, _ context: inout LintContext) {
        let late = self.deadlines.filter { $0.value <= context.instant }.keys
        for peer in late.sorted(by: { $0.description < $1.description }) {
            guard let endpoint = self.endpoints[peer] else { continue }
            self.endpoints[peer]?.isTold = true
            self.deadlines[peer] = nil
            context.find(
                .receiptWrong, peer, endpoint.session, values: [("interval", "\(endpoint.interval)")],
                entry: endpoint.owes?.entry,
                "\(peer) sent no receipt in \(Self.intervalsMax) intervals of "
                    + "\(endpoint.interval.milliseconds) ms")
        }
    }
}

/// LINT-RESUME-FORGOTTEN.
struct ResumeForgottenRule: LintRule {
    private struct Kept {
        let token: ResumptionToken
        let grace: Duration
        /// When its connection ended.
        var cut: Instant?
    }

    private var kept: [PeerID: Kept] = [:]
    /// They have said Goodbye on their connection, and do not read what crosses it.
    private var leaving: Set<PeerID> = []

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        switch step {
        case .message(let peer, .toPeer, .welcome(let welcome), _):
            guard !self.leaving.contains(peer) else { return }
            // Observers are not told tokens: they see 0.
            let isHidden = welcome.resumptionToken == ResumptionToken(high: 0, low: 0)
            self.kept[peer] =
                isHidden
                ? nil
                : Kept(
                    token: welcome.resumptionToken, grace: .milliseconds(welcome.graceMilliseconds))
        case .message(let peer, .toGateway, .goodbye, _):
            self.kept[peer] = nil
            self.leaving.insert(peer)
        case .message(let peer, .toPeer, .goodbye(let goodbye), _):
            if goodbye.code.reconnection != .yes { self.kept[peer] = nil }
        case .connection(let peer, .ended):
            self.leaving.remove(peer)
            if self.kept[peer]?.cut == nil { self.kept[peer]?.cut = context.instant }
        case .message(let peer, .toGateway, .hello(let hello), _):
            guard let kept = self.kept[peer], hello.resumptionToken != kept.token,
                context.instant - (kept.cut ?? context.instant) <= kept.grace
            else { return }
            self.kept[peer] = nil
            context.find(
                .resumeForgotten, peer, .none, field: "resumption_token",
                hello.resumptionToken == nil
                    ? "\(peer) came back without its token" : "\(peer) came back with another token")
        default: break
        }
    }
}

/// LINT-READ-SLOW.
struct ReadSlowRule: LintRule {
    /// Endpoints whose closing was told.
    private var told: Set<PeerID> = []

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        switch step {
        case .message(let peer, .toPeer, .goodbye(let goodbye), _):
            self.judge(goodbye.code, peer, &context)
        case .connection(let peer, .ended(let code)):
            if let code { self.judge(code, peer, &context) }
            self.told.remove(peer)
        default: break
        }
    }

    private mutating func judge(_ code: CloseCode, _ peer: PeerID, _ context: inout LintContext) {
        guard peer.vehicle != nil, [.slowConsumer, .keepaliveTimeout].contains(code),
            self.told.insert(peer).inserted
        else { return }
        context.find(
            .readSlow, peer, .none, field: "code", values: [("code", "\(code)")],
            code == .slowConsumer
                ? "\(peer) did not read what the gateway sent" : "\(peer) did not answer the gateway")
    }
}
