internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkModel
internal import WaymarkProtocol

// What goes wrong in a network, and what is made to go wrong in the gateway to prove that it would be noticed.
extension SimulatedNetwork {
    // MARK: The network

    /// Breaks a connection: what is under way to the gateway ends in the middle, what is under way from it is lost. The gateway
    /// notices later, perhaps after the peer has come back.
    mutating func cut(_ id: ConnectionID) {
        guard let connection = self.connections[id], !connection.isPeerGone else { return }
        self.note { "\($0.name(id)) is cut" }
        self.connections[id]?.toGateway.cut(keeping: self.random.number(0...connection.toGateway.count))
        self.losePeer(id)
    }

    /// The daemon goes and a new one comes: everybody loses the connection, and nothing is remembered.
    mutating func restartGateway() {
        self.note { _ in "the gateway restarts" }
        self.restartCount += 1
        self.happenings.insert(.restarted)
        for id in self.connectionIDs {
            self.losePeer(id)
            self.remove(id)
        }
        self.members = [:]
        self.gatewayDeadline = nil
        self.gateway = Gateway(
            policy: self.policy, coder: Codec.coder,
            firstSession: SessionID(.random(in: 1...1 << 30, using: &self.random)))
        self.predecessor = nil
        self.watch = Watch(grace: self.policy.limits.grace)
        self.withheldAction = nil
    }

    // MARK: Injected

    /// Does to the gateway what it must not do by itself when it refuses a message.
    mutating func injectAfterRejection(_ event: Gateway.Event, _ actions: [Gateway.Action]) {
        guard self.fault == .applyRejected, case .published(let connection, let frames) = event,
            var header = frames.frames.first?.frame.header, case .send(_, let envelope) = actions.first,
            envelope.message.type == .error
        else { return }
        header.sequence += 1
        var none: [Gateway.Action] = []
        self.gateway.handle(.publicationRejected(connection, header), at: self.now, into: &none)
    }

    /// The gateway's actions as they reach the connections, with the injected fault, if there is one.
    mutating func injected(_ actions: [Gateway.Action]) -> [Gateway.Action] {
        guard let fault = self.fault else { return actions }
        return actions.flatMap { self.inject(fault, $0) }
    }

    private mutating func inject(_ fault: InjectedFault, _ action: Gateway.Action) -> [Gateway.Action] {
        switch (fault, action) {
        case (.loseState, .publish(_, let frames)) where frames.beginsWithState && self.random.once(in: 8):
            return []
        case (.loseEvent, .publish(_, let frames)) where !frames.beginsWithState && self.random.once(in: 4):
            return []
        case (.duplicate, .publish) where self.random.once(in: 8): return [action, action]
        case (.reorder, .publish): return self.reorder(action)
        case (.ignorePurge, .purge), (.ignoreLeave, .leave): return []
        case (.loseOutcome, .send(_, let envelope)) where envelope.message.type == .requestOutcome: return []
        case (.changeOutcome, .send(let id, let envelope)):
            guard case .requestOutcome(var outcome) = envelope.message else { return [action] }
            outcome.outcome = outcome.outcome == .accepted ? .gone : .accepted
            return [action, .send(id, Envelope(.requestOutcome(outcome)))]
        case (.beginSecondSession, .send(let id, let envelope)):
            guard case .snapshotEnd = envelope.message else { return [action] }
            let begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "nobody"))
            let other = SessionID(envelope.session.rawValue + 1_000_000)
            return [action, .send(id, Envelope(.snapshotBegin(begin), session: other))]
        case (.loseError, .send(_, let envelope)) where envelope.message.type == .error: return []
        case (.loseErrorField, .send(let id, let envelope)):
            guard case .error(var rejection) = envelope.message else { return [action] }
            rejection.field = ""
            return [.send(id, Envelope(.error(rejection)))]
        case (.loseSnapshotAfterRestart, .sendFrames) where self.restartCount > 0: return []
        case (.loseState, _), (.loseEvent, _), (.duplicate, _), (.reorder, _), (.ignorePurge, _),
            (.ignoreLeave, _),
            (.loseOutcome, _), (.changeOutcome, _), (.beginSecondSession, _), (.ignoreOutboxLimit, _),
            (.applyRejected, _), (.loseError, _), (.loseErrorField, _), (.loseSnapshotAfterRestart, _),
            (.loseWaitingAtHandover, _):
            return [action]
        }
    }

    /// Keeps a publication back until the next one of the same session.
    private mutating func reorder(_ action: Gateway.Action) -> [Gateway.Action] {
        if let withheld = self.withheldAction {
            self.withheldAction = nil
            return [action, withheld]
        }
        guard self.random.once(in: 8) else { return [action] }
        self.withheldAction = action
        return []
    }
}

extension PublishedFrames {
    fileprivate var beginsWithState: Bool { self.frames.first?.key != nil }
}
