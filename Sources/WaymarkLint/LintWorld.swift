package import WaymarkHistory
internal import WaymarkModel
package import WaymarkProtocol

/// What an entry means, for rules.
package enum LintStep: Sendable {
    /// A client published this in a session, and it fits.
    case published(SessionID, PeerID, Publication)
    /// A client sent a publication that does not fit its session, or whose session is not open.
    case misplaced(SessionID, PeerID)
    /// A client sent a publication whose body is not allowed.
    case malformed(SessionID, PeerID, FrameHeader, Rejection)
    /// A session is over for its client.
    case ended(SessionID, PeerID)
    /// Any other message, and publications that came to an endpoint.
    case message(PeerID, Way, Message, FrameHeader)
    /// A frame of a type that this build does not know.
    case unknown(PeerID, Way, FrameHeader)
    case connection(PeerID, History.Connection)
}

/// What each client sent in each session, and which peers are connected.
package struct LintWorld: Sendable {
    /// How many ended sessions are remembered.
    private static let endedMax = 1_024
    /// How many sessions are followed whose opening was not seen: a client may send any number.
    private static let foundMax = 4_096

    package private(set) var sessions: [SessionID: SessionView] = [:]
    /// Sessions that are not followed until they end: the routes of all would take more than ``routeBytesMax``. Those that took most are
    /// chosen.
    package private(set) var unjudged: Set<SessionID> = []
    /// The most that the routes of all sessions may take, in bytes of the frames that brought them. Decoded they take several times as much.
    let routeBytesMax: Int
    private var routeByteCount = 0
    /// When sessions ended for their clients.
    private var ended: [SessionID: Instant] = [:]
    private var endedOrder: [SessionID] = []
    private var disconnected: Set<PeerID> = []
    /// A fault removed or changed what they sent, so that the gateway may reject what was right.
    private var disturbed: Set<PeerID> = []
    /// Any fault happened to their connection.
    private var faulted: Set<PeerID> = []

    package init(routeBytesMax: Int = .max) { self.routeBytesMax = routeBytesMax }

    package func isConnected(_ peer: PeerID) -> Bool { !self.disconnected.contains(peer) }

    /// Faults changed what the peer said on its present connection.
    package func isDisturbed(_ peer: PeerID) -> Bool { self.disturbed.contains(peer) }

    /// Any fault happened to the peer's present connection.
    package func isFaulted(_ peer: PeerID) -> Bool { self.faulted.contains(peer) }

    /// When a session ended for its client; nil if it has not, or long ago.
    package func end(of session: SessionID) -> Instant? { self.ended[session] }

    // MARK: Entries

    /// Applies an entry; returns what it means, if rules can judge that.
    package mutating func apply(_ entry: History.Entry) -> LintStep? {
        switch entry.kind {
        case .frame(let crossed): return self.apply(crossed, at: entry.instant)
        case .connection(let peer, let change):
            self.apply(change, of: peer, at: entry.instant)
            return .connection(peer, change)
        case .fault(let fault):
            if let peer = fault.peer {
                self.faulted.insert(peer)
                if Self.disturbing.contains(fault.kind) { self.disturbed.insert(peer) }
            }
            return nil
        case .broken(let peer, .toGateway, _):
            self.disturbed.insert(peer)
            return nil
        case .broken, .step, .log: return nil
        }
    }

    private static let disturbing: Set = ["drop", "duplicate", "reorder", "corrupt"]

    private mutating func apply(_ change: History.Connection, of peer: PeerID, at instant: Instant) {
        let isConnected: Bool
        switch change {
        case .admitted: isConnected = true
        case .ended: isConnected = false
        case .connecting, .refused: return
        }
        if isConnected { self.disconnected.remove(peer) } else { self.disconnected.insert(peer) }
        if isConnected {
            self.disturbed.remove(peer)
            self.faulted.remove(peer)
        }
        for id in self.sessions.keys where self.sessions[id]?.client == peer {
            self.sessions[id]?.setConnected(isConnected, at: instant)
        }
    }

    private mutating func apply(_ crossed: CrossedFrame, at instant: Instant) -> LintStep? {
        if crossed.way == .toGateway {
            if crossed.delivery != .whole { self.disturbed.insert(crossed.peer) }
        } else if crossed.delivery == .dropped {
            return nil  // The peer never had it.
        }
        // What a fault changed is no mistake of the peer.
        guard crossed.delivery != .corrupted else { return nil }
        let header = crossed.frame.header
        if crossed.way == .toGateway, case .client = crossed.peer,
            MessageType.published.contains(header.rawType)
        {
            return self.publication(crossed, header, at: instant)
        }
        guard let message = crossed.message else {
            return crossed.rejection == nil ? .unknown(crossed.peer, crossed.way, header) : nil
        }
        if case .client = crossed.peer, crossed.way == .toPeer {
            self.apply(toClient: message, crossed.peer, at: instant)
            if case .sessionEnded(let end) = message, end.session != .none {
                return .ended(end.session, crossed.peer)
            }
        }
        return .message(crossed.peer, crossed.way, message, header)
    }

    private mutating func publication(
        _ crossed: CrossedFrame, _ header: FrameHeader, at instant: Instant
    ) -> LintStep? {
        if let rejection = crossed.rejection {
            return .malformed(header.session, crossed.peer, header, rejection)
        }
        guard case .publication(let publication)? = crossed.message,
            !self.unjudged.contains(header.session)
        else { return nil }
        if header.session != .none, self.sessions[header.session] == nil,
            self.ended[header.session] == nil, self.sessions.count < Self.foundMax
        {
            // Of a history that began after the session was opened.
            self.open(header.session, of: crossed.peer, at: instant)
        }
        guard self.sessions[header.session]?.client == crossed.peer,
            self.sessions[header.session]?.apply(publication, at: instant) == true
        else { return .misplaced(header.session, crossed.peer) }
        self.countRoute(publication, crossed.frame.bytes.count, header.session)
        return .published(header.session, crossed.peer, publication)
    }

    private mutating func apply(toClient message: Message, _ client: PeerID, at instant: Instant) {
        switch message {
        case .sessionOpened(let opened):
            self.open(opened.session, of: client, at: instant)
        case .sessionEnded(let end): self.end(end.session, at: instant)
        case .welcome(let welcome):
            // What the gateway no longer knows is over without a SessionEnded.
            let known = Set(welcome.sessions.lazy.filter { $0.phase != .ended }.map(\.session))
            for id in self.sessions.keys.sorted()
            where self.sessions[id]?.client == client && !known.contains(id) {
                self.end(id, at: instant)
            }
        default: break
        }
    }

    private mutating func open(_ id: SessionID, of client: PeerID, at instant: Instant) {
        self.routeByteCount -= self.sessions[id]?.routeByteCount ?? 0
        self.unjudged.remove(id)
        self.sessions[id] = SessionView(
            id, of: client, isConnected: self.isConnected(client), at: instant)
        if self.ended.removeValue(forKey: id) != nil { self.endedOrder.removeAll { $0 == id } }
    }

    private mutating func end(_ id: SessionID, at instant: Instant) {
        self.unjudged.remove(id)
        guard id != .none, let session = self.sessions.removeValue(forKey: id) else { return }
        self.routeByteCount -= session.routeByteCount
        self.ended[id] = instant
        self.endedOrder.append(id)
        if self.endedOrder.count > Self.endedMax {
            self.ended[self.endedOrder.removeFirst()] = nil
        }
    }

    // MARK: Memory

    private mutating func countRoute(_ publication: Publication, _ byteCount: Int, _ id: SessionID) {
        let before = self.sessions[id]?.routeByteCount ?? 0
        let after =
            switch publication.rule.adds {
            case .wholeRoute: publication.outline.route == nil ? before : byteCount
            case .maneuvers, .laneGuidances, .segments: before + byteCount
            case nil: before
            }
        guard after != before else { return }
        self.sessions[id]?.routeByteCount = after
        self.routeByteCount += after - before
        if self.routeByteCount > self.routeBytesMax { self.forgetLongestRoutes() }
    }

    private mutating func forgetLongestRoutes() {
        for session in self.sessions.mapValues(\.routeByteCount).largest(above: self.routeBytesMax) {
            self.routeByteCount -= self.sessions.removeValue(forKey: session)?.routeByteCount ?? 0
            self.unjudged.insert(session)
        }
    }
}
