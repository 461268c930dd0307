internal import WaymarkClient
internal import WaymarkHistory
internal import WaymarkProtocol
internal import WaymarkScenario

/// Lets the replayed peers of one recording speak in its order, over sockets.
///
/// What crosses different connections has no order there. So a peer says something only after all that others said before it in the
/// recording, and, if all peers are replayed, after they have received what they had received before it.
struct ReplayOrder: Sendable {
    /// Between what two peers do: the gateway may read the younger of two connections first.
    private static let gap = Duration.milliseconds(5)
    /// After everything has been said, what is under way may arrive for so long.
    private static let tail = Duration.seconds(1)

    private struct Connection: Hashable {
        let peer: PeerID
        let index: Int
    }

    private let peers: [PeerID]
    /// Whether what peers receive comes of replayed peers alone.
    private let isComplete: Bool
    /// Who said something last, and when.
    private var last: (peer: PeerID, at: Instant)?
    /// Since when frames are missing, without which the next does not speak.
    private var waitsSince: Instant?
    /// Connections that do not get what they had got: they are not waited for any more.
    private var givenUp: Set<Connection> = []
    /// When everything had been said.
    private var saidAllAt: Instant?
    private(set) var deadline: Instant?
    private(set) var isOver = false

    init(_ peers: [PeerID], isComplete: Bool) {
        (self.peers, self.isComplete) = (peers, isComplete)
    }

    /// Nothing is permitted yet.
    func hold(_ run: inout VirtualRun) {
        for peer in self.peers { run.change(peer, as: ReplayPeer.self) { $0.permit(0, at: $1, into: &$2) } }
    }

    /// Permits what is due.
    mutating func advance(_ run: inout VirtualRun) throws(RunError) {
        self.deadline = nil
        while let next = self.next(in: run) {
            // It waits for what it answers.
            guard !next.isPermitted else { return }
            guard next.time <= run.now else { return self.deadline = next.time }
            if let last, last.peer != next.peer, last.at + Self.gap > run.now {
                return self.deadline = last.at + Self.gap
            }
            guard self.haveReceived(before: next.order, in: run) else { return }
            self.waitsSince = nil
            self.last = (next.peer, run.now)
            run.change(next.peer, as: ReplayPeer.self) { $0.permit(next.order, at: $1, into: &$2) }
            try run.settle()
        }
        self.finish(in: run)
    }

    private func next(in run: VirtualRun) -> ReplayPeer.Next? {
        self.peers.compactMap { run.peer($0, as: ReplayPeer.self)?.upcoming }.min { $0.order < $1.order }
    }

    private mutating func haveReceived(before order: Int, in run: VirtualRun) -> Bool {
        let late = self.late(before: order, in: run)
        guard !late.isEmpty else { return true }
        let since = self.waitsSince ?? run.now
        self.waitsSince = since
        guard since + ReplayPeer.patience <= run.now else {
            self.deadline = since + ReplayPeer.patience
            return false
        }
        self.givenUp.formUnion(late)
        return true
    }

    /// Connections that have not received all that they had in the recording.
    private func late(before order: Int, in run: VirtualRun) -> [Connection] {
        guard self.isComplete else { return [] }
        return self.peers.compactMap { id in
            guard let peer = run.peer(id, as: ReplayPeer.self), peer.lacks(before: order) else { return nil }
            let connection = Connection(peer: id, index: peer.connection)
            return self.givenUp.contains(connection) ? nil : connection
        }
    }

    private mutating func finish(in run: VirtualRun) {
        let since = self.saidAllAt ?? run.now
        self.saidAllAt = since
        self.isOver =
            since + Self.tail <= run.now || self.isComplete && self.late(before: .max, in: run).isEmpty
        if !self.isOver { self.deadline = since + Self.tail }
    }
}

extension ScenarioStage {
    /// The orders of all recordings, for a run over sockets.
    mutating func orderReplays() {
        let replays = self.scenario.replays
        for text in Set(replays.map(\.replay.recording.text)).sorted() {
            guard let conversation = self.inputs.recordings[text] else { continue }
            let peers = replays.filter { $0.replay.recording.text == text }.map(\.peer)
            let order = ReplayOrder(
                peers,
                isComplete: conversation.omissions.isEmpty && Set(conversation.peers).isSubset(of: peers))
            order.hold(&self.run)
            self.replayOrders.append(order)
        }
    }

    mutating func advanceReplays() throws(RunError) {
        for index in self.replayOrders.indices { try self.replayOrders[index].advance(&self.run) }
    }

    /// Peers have more to say, or to receive, that a comparison needs.
    var isReplaying: Bool {
        self.scenario.replays.contains(where: \.replay.isCompared)
            && !self.replayOrders.allSatisfy(\.isOver)
    }

    /// When ``advanceReplays()`` is due, whatever arrives before.
    var replayDeadline: Instant? { self.replayOrders.compactMap(\.deadline).min() }

    /// All replayed peers.
    var replayed: [ReplayPeer] {
        self.scenario.replays.compactMap { self.run.peer($0.peer, as: ReplayPeer.self) }
    }

    /// Why it cannot be replayed: the gateway refuses a peer, or no connection could be opened.
    var replayProblem: String? {
        let peers = self.replayed
        if let refusal = peers.lazy.compactMap(\.refusal).first { return refusal }
        guard !self.replayOrders.isEmpty else { return nil }
        guard peers.contains(where: \.hasNeverConnected),
            !peers.contains(where: \.hasConnected)
        else { return nil }
        for entry in self.run.history.entries.reversed() {
            if case .connection(let peer, .refused(let reason)) = entry.kind {
                return "\(peer) cannot connect: \(reason)"
            }
        }
        return nil
    }
}
