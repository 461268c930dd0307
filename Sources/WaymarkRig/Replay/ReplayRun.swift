internal import WaymarkClient
package import WaymarkHistory
package import WaymarkProtocol
internal import WaymarkScenario
internal import WaymarkTexts

/// Which peers of a recording a replay stands for.
package enum ReplaySide: String, Sendable, Hashable, CaseIterable {
    case client, vehicle, both

    package func contains(_ peer: PeerID) -> Bool {
        switch self {
        case .client: peer.vehicle == nil
        case .vehicle: peer.vehicle != nil
        case .both: true
        }
    }
}

/// What came of a replay.
package struct ReplayResult: Sendable {
    package internal(set) var history: History
    /// Those that said what they said in the recording, in the order in which they connected.
    package internal(set) var peers: [ReplayPeer] = []
    /// When it was over.
    package internal(set) var end = Instant(nanoseconds: 0)
    package internal(set) var clock = RunClock.virtual

    init(history: History) { self.history = history }

    /// What came of ``Scenario/init(replaying:as:speed:)`` over sockets.
    package init(_ result: ScenarioResult, _ history: History) {
        (self.history, self.peers) = (history, result.replayed)
        (self.end, self.clock) = (result.end, result.clock)
    }

    package var sentCount: Int { self.peers.map(\.sentCount).reduce(0, +) }
}

/// A recording in virtual time: its peers say what they said, in its order, to a new gateway.
package struct ReplayRun {
    private let conversation: RecordedConversation
    private var run: VirtualRun
    private let replayed: Set<PeerID>
    /// Simulated endpoints, and whether they were connected before.
    private var simulated: Set<PeerID> = []

    /// After the last entry of the recording, what is under way may arrive for so long.
    private static let tail = Duration.seconds(1)

    /// Replays a recording to its end.
    ///
    /// - Parameters:
    ///   - conversation: What is in the recording.
    ///   - side: Its peers of this side; those of the other are simulated.
    ///   - settings: Of the gateway, which are not in a recording; nil: the default, with the grace time of the recording's.
    /// - Returns: What came of it.
    /// - Throws: ``ReplayError``.
    package static func run(
        _ conversation: RecordedConversation, as side: ReplaySide = .both,
        _ settings: VirtualRun.Settings? = nil
    ) throws(ReplayError) -> ReplayResult {
        var replay = try ReplayRun(conversation, side, settings ?? conversation.settings)
        do throws(RunError) { try replay.runToEnd() } catch {
            switch error {
            case .historyFull: throw .tooLarge
            case .standsStill(let instant):
                throw .run("at \(ClockText.seconds(instant)) s, things happen without end")
            }
        }
        var result = ReplayResult(history: replay.run.history)
        result.peers = conversation.peers.compactMap { replay.run.peer($0, as: ReplayPeer.self) }
        result.end = replay.run.now
        if let refusal = result.peers.lazy.compactMap(\.refusal).first { throw .run(refusal) }
        return result
    }

    private init(
        _ conversation: RecordedConversation, _ side: ReplaySide, _ settings: VirtualRun.Settings
    ) throws(ReplayError) {
        self.conversation = conversation
        self.run = VirtualRun(settings)
        self.replayed = Set(conversation.peers.filter(side.contains))
        for peer in conversation.peers {
            if self.replayed.contains(peer) {
                self.run.add(try ReplayPeer(conversation, of: peer))
            } else if let hello = conversation.connections.first(where: { $0.peer == peer })?.hello.vehicle {
                var behaviour = RigVehicle.Behaviour()
                (behaviour.prompts, behaviour.destinations) = (.ignore, .ignore)
                do throws(ClientError) {
                    self.run.add(try RigVehicle(hello, behaviour, seed: self.run.newSeed()))
                } catch { throw .run("\(peer) cannot be simulated: \(error)") }
            }
        }
    }

    // MARK: Running

    private mutating func runToEnd() throws(RunError) {
        for peer in self.replayed.sorted(by: { "\($0)" < "\($1)" }) {
            // Nothing is permitted yet: it only begins to count.
            self.run.change(peer, as: ReplayPeer.self) { $0.permit(0, at: $1, into: &$2) }
            self.run.tell(peer, .open)
        }
        var faults = self.conversation.gatewayLines[...]
        for (index, place) in self.conversation.lines(of: Set(self.conversation.peers)) {
            let connection = self.conversation.connections[index]
            let line = connection.lines[place]
            while let fault = faults.first, fault.order < line.order {
                faults.removeFirst()
                try self.begin(fault)
            }
            try self.pass(to: line.instant)
            if self.replayed.contains(connection.peer) {
                try self.permit(line, connection.peer)
            } else {
                self.simulate(line, connection)
                try self.run.settle()
            }
        }
        for fault in faults { try self.begin(fault) }
        try self.pass(to: self.conversation.end + Self.tail)
    }

    private mutating func pass(to instant: Instant) throws(RunError) {
        while self.run.now < instant { _ = try self.run.advance(to: instant) }
    }

    private mutating func begin(_ fault: RecordedConversation.GatewayLine) throws(RunError) {
        try self.pass(to: fault.instant)
        do { try self.run.begin(fault.fault, for: fault.until.map { $0 - self.run.now }) } catch {
            self.run.history.append(.log(nil, "\(error)"), at: self.run.now)
        }
        try self.run.settle()
    }

    /// Lets a peer say a line. It may have to wait, and then so does what others said later.
    private mutating func permit(_ line: RecordedConversation.Line, _ id: PeerID) throws(RunError) {
        self.run.change(id, as: ReplayPeer.self) { $0.permit(line.order, at: $1, into: &$2) }
        try self.run.settle()
        while let peer = self.run.peer(id, as: ReplayPeer.self), !peer.isBeyond(line.order),
            let deadline = peer.deadline
        {
            _ = try self.run.advance(to: max(deadline, self.run.now))
        }
    }

    // MARK: Simulated endpoints

    /// An endpoint comes and goes, and its user does, as in the recording; the rest it does by itself.
    private mutating func simulate(
        _ line: RecordedConversation.Line, _ connection: RecordedConversation.Connection
    ) {
        switch line.kind {
        case .sent(let frame) where frame.header.type == .hello: self.connect(connection)
        case .sent(let frame):
            let crossed = CrossedFrame(frame, of: connection.peer, .toGateway, sent: line.instant)
            self.run.change(connection.peer, as: RigVehicle.self) { peer, now, actions in
                if let message = crossed.message { peer.repeat(message, at: now, into: &actions) }
            }
        case .left:
            self.run.change(connection.peer, as: RigVehicle.self) { $0.leave(.cut, at: $1, into: &$2) }
        case .received, .lostFrame: break
        }
    }

    private mutating func connect(_ connection: RecordedConversation.Connection) {
        guard !self.simulated.insert(connection.peer).inserted else {
            return self.run.tell(connection.peer, .open)
        }
        self.run.change(connection.peer, as: RigVehicle.self) { peer, now, actions in
            do throws(ClientError) {
                try peer.comeBack(withToken: connection.isResumed, at: now, into: &actions)
            } catch { actions.append(.log("\(error)")) }
        }
    }
}

extension RigVehicle {
    /// Does what its user did in a recording.
    fileprivate mutating func `repeat`(
        _ message: Message, at now: Instant, into actions: inout [PeerAction]
    ) {
        switch message {
        case .goodbye: self.leave(.goodbye, at: now, into: &actions)
        case .waypointRequest(let request):
            _ = self.request(
                request.waypoint, segment: request.segment.rawValue, id: request.requestID.rawValue, at: now,
                into: &actions)
        case .destinationRequest(let request):
            _ = self.request(
                request.destination, isDestination: true, id: request.requestID.rawValue, at: now,
                into: &actions)
        case .startTripRequest(let request):
            _ = self.startTrip(
                request.trip.rawValue, routeChoice: request.routeChoice, id: request.requestID.rawValue,
                at: now, into: &actions)
        case .selectPreview(let selection):
            self.use(at: now, into: &actions) {
                $0.selectPreview(
                    trip: selection.trip.rawValue, routeChoice: selection.routeChoice, into: &$1)
            }
        case .withdrawRequest(let withdrawn):
            self.use(at: now, into: &actions) { $0.withdrawRequest(withdrawn.requestID.rawValue, into: &$1) }
        case .promptAnswer(let answer): _ = self.answerPrompt(answer.isAccepted, at: now, into: &actions)
        case .destinationShareAnswer(let answer):
            _ = self.answerDestination(answer.outcome == .accepted, at: now, into: &actions)
        case .cancelNavigation(let reason):
            let reason: CancellationReason = reason == .userStopped ? .userStopped : .ownNavigationStarted
            _ = self.cancel(reason, at: now, into: &actions)
        case .allowNavigation: self.use(at: now, into: &actions) { endpoint, _ in endpoint.allowNavigation() }
        default: break  // What the endpoint says by itself.
        }
    }
}

extension RecordedConversation.Connection {
    /// The gateway accepted the token of its Hello.
    var isResumed: Bool { self.welcome?.isResumed ?? false }

    var welcome: Welcome? {
        for line in self.lines {
            if case .received(let crossed) = line.kind, case .welcome(let welcome)? = crossed.message {
                return welcome
            }
        }
        return nil
    }
}
