internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkModel
internal import WaymarkProtocol

/// Checks every event that the gateway processes and every action that follows. Injects the faults that lie between the gateway and
/// its connections.
final class GatewayInspector: GatewayTap {
    var watch: Watch
    var service = ServiceWatch()
    private var ages = AgeWatch()
    /// Off with attackers: they publish in many sessions at a time, which ``AgeWatch`` cannot tell apart.
    var checksAges = true
    /// Violations that were not yet collected.
    var violations: [(Promise, String)] = []
    var happenings: Set<Happening> = []
    /// Trace lines that were not yet collected; empty unless tracing is on.
    var lines: [String] = []
    /// The gateway before the last handover. It handles the same events, to compare its actions.
    var predecessor: Gateway?
    private let isTraced: Bool
    let fault: InjectedFault?
    private let grace: Duration
    /// The network's.
    let source: RandomSource
    /// The generator for what each socket accepts.
    var sockets: [ConnectionID: SeededRandom] = [:]
    /// Connections that were removed.
    var removed: [ConnectionID] = []
    /// Connections that were closed with SLOW_CONSUMER.
    var slowConsumers: [ConnectionID] = []
    private var random: SeededRandom
    private var hasRestarted = false
    /// Checks that what an observer of everything holds is what the gateway holds.
    var observers = ObserverCheck()
    private var members: [AudienceID: [ConnectionID]] = [:]
    /// The action that an injected fault delays.
    private var withheldAction: Gateway.Action?

    init(
        grace: Duration, _ rules: SimulatedRules, isTraced: Bool, fault: InjectedFault?,
        _ random: SeededRandom, _ source: RandomSource
    ) {
        self.source = source
        self.watch = Watch(grace: grace, rules)
        self.grace = grace
        self.isTraced = isTraced
        self.fault = fault
        self.observers.losesRecords = fault == .loseRecord
        self.random = random
    }

    /// The gateway was replaced by an empty one, which has the rules of the last reload.
    func restart() {
        self.watch = Watch(grace: self.grace, self.watch.access.reloads.last ?? self.watch.access.rules)
        self.service.restart()
        self.ages = AgeWatch()
        self.observers.reset()
        self.predecessor = nil
        self.withheldAction = nil
        self.members = [:]
        self.hasRestarted = true
    }

    private func report(_ promise: Promise, _ text: String) { self.violations.append((promise, text)) }

    func note(_ line: @autoclosure () -> String) { if self.isTraced { self.lines.append(line()) } }

    func processed(
        _ event: Gateway.Event, at now: Instant, before: Gateway, _ gateway: inout Gateway,
        _ actions: inout [Gateway.Action]
    ) {
        self.note("gateway <- \(event.line)")
        if let problem = self.observers.see(event, actions, of: &gateway, at: now) {
            self.report(.observerSeesWhatIs, problem)
        }
        if case .eventRejected = event { self.happenings.insert(.eventRejected) }
        self.watch.see(event, at: now, hasSteps: before.hasSteps)
        if self.watch.requests.hasSeenTwins { self.happenings.insert(.equivalentRequests) }
        self.watch.access.setChanging(before.hasSteps(of: nil) || gateway.hasSteps(of: nil))
        self.service.see(event, before, gateway)
        self.violations += self.service.violations
        self.service.violations = []
        self.compareWithPredecessor(event, actions, at: now)
        self.injectAfterRejection(event, actions, &gateway, at: now)
        if case .published(let connection, let frames) = event, frames.single.count > 1 {
            self.checkBatch(connection, frames.single, before, gateway, at: now)
        } else if case .stepDue = event {
            // A batch that goes on was checked frame by frame when it began.
        } else if !before.hasSteps {
            // Otherwise what was left to be done for the peer is done before its message is looked at.
            self.checkRejection(of: event, actions, before, gateway, at: now)
        }
        actions = self.injected(actions)
        self.ages.see(
            event, accepting: gateway.counters.framesPublished.total &- before.counters.framesPublished.total,
            at: now)
        for action in actions { self.see(action) }
        if self.checksAges { self.violations += self.ages.violations }
        self.ages.violations = []
        self.watch.access.setChanging(gateway.hasSteps(of: nil))
        let isDue = gateway.armed.map { $0 <= now } ?? false
        self.watch.check(isBehind: isDue || gateway.hasSteps(of: nil))
    }

    private func see(_ action: Gateway.Action) {
        self.note("gateway -> \(action.line)")
        var members: [ConnectionID] = []
        switch action {
        case .publish(let audience, _): members = self.members[audience] ?? []
        case .join(let id, let audience): self.members[audience, default: []].append(id)
        case .leave(let id, let audience): self.members[audience]?.removeAll { $0 == id }
        case .sendFrames(_, let frames):
            if frames.contains(where: { $0.header.flags.contains(.more) }) {
                self.happenings.insert(.divided)
            }
        case .send(_, let envelope):
            if let happening = Happening(envelope.message) { self.happenings.insert(happening) }
        case .admit, .observe, .refuse, .forward, .purge, .purgeShares, .close, .arm, .note: break
        }
        self.ages.see(action)
        self.watch.see(action, members: members)
    }

    /// After a handover the gateway must emit exactly the actions that it would have emitted without one.
    private func compareWithPredecessor(
        _ event: Gateway.Event, _ actions: [Gateway.Action], at now: Instant
    ) {
        guard self.predecessor != nil else { return }
        var expected: [Gateway.Action] = []
        self.predecessor?.handle(event, at: now, into: &expected)
        if expected != actions {
            self.report(
                .restartLosesNothing,
                "after the handover the gateway emits \(actions), without it \(expected)")
        }
    }

    /// A batch must have the same effect as its frames one by one.
    private func checkBatch(
        _ connection: ConnectionID, _ frames: [PublishedFrames], _ before: Gateway, _ gateway: Gateway,
        at now: Instant
    ) {
        var expected = before
        for frame in frames {
            let earlier = expected
            var actions: [Gateway.Action] = []
            expected.handle(.published(connection, frame), at: now, into: &actions)
            Self.doSteps(of: connection, &expected, at: now)
            self.checkRejection(of: .published(connection, frame), actions, earlier, expected, at: now)
        }
        var gateway = gateway
        Self.doSteps(of: connection, &gateway, at: now)
        // Only the counters are compared: endpoints that get room in the middle of a batch are notified at its end.
        let (batch, single) = (gateway.counters, expected.counters)
        if batch.framesPublished != single.framesPublished || batch.framesRejected != single.framesRejected
            || batch.framesUnchanged != single.framesUnchanged
        {
            self.report(
                .equalAtRest,
                "a batch of \(connection) differs from its \(frames.count) frames: \(batch), \(single)")
        }
    }

    private static func doSteps(of connection: ConnectionID, _ gateway: inout Gateway, at now: Instant) {
        var actions: [Gateway.Action] = []
        while gateway.hasSteps(of: connection) {
            gateway.handle(.stepDue(of: connection), at: now, into: &actions)
        }
    }

    /// A rejected message must have no effect but the error, which says why, and a note; and, if it uses up a number, an Acknowledgement
    /// now or later.
    private func checkRejection(
        of event: Gateway.Event, _ actions: [Gateway.Action], _ before: Gateway, _ gateway: Gateway,
        at now: Instant
    ) {
        let effects = actions.count { Self.isEffect($0, of: event) }
        for case .send(let id, let envelope) in actions {
            guard case .error(let rejection) = envelope.message else { continue }
            if effects != 1 {
                self.report(.rejectionChangesNothing, "the rejection for \(id) had other effects")
            }
            // An endpoint does not name the client that the rules do not let it ask.
            let hasNoField = rejection.messageType == MessageType.simulateDrive.rawValue
            if rejection.reason.isEmpty
                || (rejection.code.concernsField && rejection.field.isEmpty && !hasNoField)
            {
                self.report(
                    .rejectionChangesNothing, "the error for \(id) lacks its reason or field: \(rejection)")
            }
            var expected = before
            // A rejected publication consumes its sequence number, as if the codec had rejected it.
            if case .published(let connection, let frames) = event, let (frame, _) = frames.frames.first {
                var none: [Gateway.Action] = []
                expected.handle(.publicationRejected(connection, frame.header), at: now, into: &none)
            }
            if expected != gateway {
                self.report(.rejectionChangesNothing, "\(rejection) changed the gateway's state")
            }
        }
    }

    private static func isEffect(_ action: Gateway.Action, of event: Gateway.Event) -> Bool {
        switch (event, action) {
        case (_, .note), (.published, .arm): false
        case (.published, .send(_, let envelope)): envelope.message.type != .acknowledgement
        default: true
        }
    }

    // MARK: Injected faults

    /// Changes the gateway's state after a rejection, which the gateway itself must not do.
    private func injectAfterRejection(
        _ event: Gateway.Event, _ actions: [Gateway.Action], _ gateway: inout Gateway, at now: Instant
    ) {
        guard self.fault == .applyRejected, case .published(let connection, let frames) = event,
            var header = frames.frames.first?.frame.header, case .send(_, let envelope) = actions.first,
            envelope.message.type == .error
        else { return }
        header.sequence += 1
        var none: [Gateway.Action] = []
        gateway.handle(.publicationRejected(connection, header), at: now, into: &none)
    }

    /// The gateway's actions with the injected fault applied, if there is one.
    private func injected(_ actions: [Gateway.Action]) -> [Gateway.Action] {
        guard let fault = self.fault else { return actions }
        return actions.flatMap { self.inject(fault, $0) }
    }

    private func inject(_ fault: InjectedFault, _ action: Gateway.Action) -> [Gateway.Action] {
        switch (fault, action) {
        case (.loseState, .publish(_, let frames)) where frames.beginsWithState && self.random.once(in: 2):
            return []
        case (.loseEvent, .publish(_, let frames)) where !frames.beginsWithState && self.random.once(in: 4):
            return []
        case (.duplicate, .publish) where self.random.once(in: 8): return [action, action]
        case (.reorder, .publish): return self.reorder(action)
        case (.ignorePurge, .purge), (.ignoreLeave, .leave): return []
        case (.loseOutcome, .send(_, let envelope)) where envelope.message.type == .requestOutcome: return []
        case (.loseVehicleEvent, .send(_, let envelope))
        where [.simulateDrive, .vehicleExtension].contains(envelope.message.type): return []
        case (.changeOutcome, .send(let id, let envelope)):
            guard case .requestOutcome(var outcome) = envelope.message else { return [action] }
            outcome.outcome = outcome.outcome == .accepted ? .gone : .accepted
            return [action, .send(id, Envelope(.requestOutcome(outcome)))]
        case (.confuseIDs, .send(let id, let envelope)):
            guard case .requestOutcome(var outcome) = envelope.message,
                let twin = EquivalentIDs.twin(of: outcome.requestID)
            else { return [action] }
            outcome.requestID = twin
            return [.send(id, Envelope(.requestOutcome(outcome), session: envelope.session))]
        case (.beginSecondSession, .send(let id, let envelope)):
            guard case .snapshotEnd = envelope.message else { return [action] }
            let begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "absent"))
            let other = SessionID(envelope.session.rawValue + 1_000_000)
            return [action, .send(id, Envelope(.snapshotBegin(begin), session: other))]
        case (.loseError, .send(_, let envelope)) where envelope.message.type == .error: return []
        case (.loseErrorField, .send(let id, let envelope)):
            guard case .error(var rejection) = envelope.message else { return [action] }
            rejection.field = ""
            return [.send(id, Envelope(.error(rejection)))]
        case (.loseSnapshotAfterRestart, .sendFrames) where self.hasRestarted: return []
        case (.wrongCursor, .send(let id, let envelope)), (.staleAge, .send(let id, let envelope)):
            guard case .snapshotBegin(var begin) = envelope.message else { return [action] }
            if fault == .wrongCursor { begin.toSequence += 1 }
            if fault == .staleAge { begin.ageMilliseconds = (begin.ageMilliseconds ?? 0) + 100 }
            return [.send(id, Envelope(.snapshotBegin(begin), session: envelope.session, flags: .gateway))]
        case (.loseAcknowledgement, .send(_, let envelope))
        where envelope.message.type == .acknowledgement && self.random.once(in: 2): return []
        case (.acknowledgeTooMuch, .send(let id, let envelope)):
            guard case .acknowledgement(let sequence) = envelope.message else { return [action] }
            return [
                .send(id, Envelope(.acknowledgement(sequence: sequence + 1), session: envelope.session))
            ]
        case (.loseExtensions, .sendFrames(let id, let frames)):
            return [.sendFrames(id, frames.filter { $0.header.type != nil })]
        case (.loseMore, .sendFrames(let id, let frames)): return [.sendFrames(id, frames.map(\.withoutMore))]
        case (.loseState, _), (.loseEvent, _), (.duplicate, _), (.reorder, _), (.ignorePurge, _),
            (.ignoreLeave, _),
            (.loseOutcome, _), (.loseVehicleEvent, _), (.changeOutcome, _), (.confuseIDs, _),
            (.beginSecondSession, _),
            (.ignoreOutboxLimit, _),
            (.applyRejected, _), (.loseError, _), (.loseErrorField, _), (.loseSnapshotAfterRestart, _),
            (.loseExtensions, _), (.loseWaitingAtHandover, _), (.loseByte, _), (.overtakeChannel, _),
            (.writeAfterGoodbye, _), (.ignoreRules, _), (.ignoreBudgets, _), (.ignoreQuotas, _),
            (.loseAcknowledgement, _), (.acknowledgeTooMuch, _), (.wrongCursor, _), (.staleAge, _),
            (.ignoreSizes, _), (.loseMore, _), (.loseRecord, _), (.ignoreShares, _):
            return [action]
        }
    }

    /// Delays a publication until after the next one.
    private func reorder(_ action: Gateway.Action) -> [Gateway.Action] {
        if let withheld = self.withheldAction {
            self.withheldAction = nil
            return [action, withheld]
        }
        guard self.random.once(in: 8) else { return [action] }
        self.withheldAction = action
        return []
    }
}

extension Frame {
    fileprivate var withoutMore: Frame {
        var header = self.header
        header.flags.remove(.more)
        return Frame(header: header, body: self.body)
    }
}

extension PublishedFrames {
    fileprivate var beginsWithState: Bool { self.frames.first?.key != nil }
}

extension ErrorCode {
    /// Whether an error with this code must name a field.
    fileprivate var concernsField: Bool {
        switch self {
        case .invalidText, .outOfRange, .missing, .unknownReference, .duplicate, .staleGeneration,
            .vehicleBusy, .vehicleNavigatesItself, .inconsistent, .notAuthorized:
            true
        case .malformed, .wrongState, .sequenceGap, .unknownSession, .notGranted, .limitReached, .ignored:
            false
        }
    }
}
