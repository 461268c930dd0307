internal import NIOCore
internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkProtocol

/// What the gateway wants done on one event loop, in order.
enum Instruction: Sendable {
    // Why indirect: an event is large, and one of some hundred instructions.
    indirect case session(ConnectionID, AcceptingSession.Event)
    case send(ConnectionID, Frame)
    case publish(AudienceID, Span)
    case join(ConnectionID, AudienceID)
    case leave(ConnectionID, AudienceID)
    case purge(ConnectionID, SessionID)
    case purgeShares(ConnectionID, SessionID)
}

/// The connections of one event loop and the audiences that they are in.
final class LoopShard {
    /// Reads the bodies of all connections here, one at a time: an idle connection holds no memory for it.
    let decoder = BodyDecoder()
    /// Writes what the connections here say by themselves.
    let encoder = CachingEncoder()
    /// What all connections here are read into.
    let readBuffer = ReadBuffer()
    /// When they must be told.
    let deadlines: DeadlineTimer
    /// What waits for all endpoints here.
    let waiting: WaitingBytes
    /// The Ping that was sent last: who came at the same time is asked in the same words.
    private var lastPing: (nonce: UInt64, frame: Frame)?
    /// Set once nobody is taken any more.
    private var goodbye: Goodbye?
    /// Set once everybody is held, for those who cannot be.
    var holding: Goodbye?
    private(set) var members = ConnectionTable<ConnectionHandler>()
    /// Connections that were not taken, until they are closed.
    var refused: [ObjectIdentifier: any Channel] = [:]
    private var audiences: [AudienceID: LocalAudience] = [:]
    /// The first and the last of those to be flushed, see ``touch(_:)``: each knows the next.
    private var touched: (first: ConnectionHandler, last: ConnectionHandler)?

    init(waiting: WaitingBytes, deadlines: DeadlineTimer) {
        self.waiting = waiting
        self.deadlines = deadlines
    }

    func add(_ handler: ConnectionHandler) {
        self.members[handler.id] = handler
        // Taken just before everybody was told.
        if let goodbye = self.goodbye { handler.handle(.drainRequested(goodbye)) }
        if let holding { return handler.hold(holding) }
        // Or just before its listener got other rules.
        handler.review()
    }

    /// Has everybody look at the rules again.
    func review(waitingMax: Int) {
        self.waiting.countMax = waitingMax
        for member in self.members.values { member.review() }
    }

    /// Forgets a connection. O(its own audiences).
    func remove(_ id: ConnectionID) {
        guard let member = self.members[id] else { return }
        self.members[id] = nil
        for audience in member.outgoing.audiences { self.leave(member, audience) }
    }

    /// Does one thing that the gateway wants. Whoever is written to is flushed by ``flush()``. Not in the middle of a read.
    func perform(_ instruction: consuming Instruction) {
        switch instruction {
        case .session(let id, let event):
            guard let handler = self.members[id] else { break }
            handler.advance(event)
            self.touch(handler)
        case .send(let id, let frame): self.members[id]?.deliver(frame)
        case .publish(let audience, let span):
            // What was put together for somebody before must not be overtaken.
            self.flush()
            self.audiences[audience]?.deliver(span)
        case .join(let id, let audience): self.join(id, audience)
        case .leave(let id, let audience):
            if let member = self.members[id] { self.leave(member, audience) }
        case .purge(let id, let session): self.members[id]?.purge(session)
        case .purgeShares(let id, let session): self.members[id]?.purge(session, only: .shareDestination)
        }
    }

    /// The gateway has worked off a batch of a connection.
    func finishBatch(of id: ConnectionID) { self.members[id]?.batchDone() }

    /// Does what the gateway wants, all of one turn. `batchesDone` has a connection once for each batch of it that the gateway has
    /// worked off.
    func perform(_ instructions: consuming [Instruction], _ batchesDone: [ConnectionID]) {
        instructions.drain { self.perform($0) }
        self.flush()
        for id in batchesDone { self.finishBatch(of: id) }
    }

    /// Has a connection flushed once all is worked off, or before an audience sends past what was written to it.
    func touch(_ handler: ConnectionHandler) {
        guard !handler.isTouched else { return }
        handler.isTouched = true
        self.touched?.last.touchedNext = handler
        self.touched = (self.touched?.first ?? handler, handler)
    }

    /// Flushes whoever was written to, in the order in which they were: who was asked or answered first waits the least.
    func flush() {
        while let (handler, last) = self.touched {
            self.touched = handler.touchedNext.map { ($0, last) }
            handler.touchedNext = nil
            handler.isTouched = false
            handler.flush()
        }
    }

    /// The same, unless what comes next goes out together with what was written last.
    func flush(before next: ConnectionID) {
        if let (_, last) = self.touched, last.id != next { self.flush() }
    }

    /// A Ping with a nonce.
    func ping(_ nonce: UInt64) -> Frame {
        if let (last, frame) = self.lastPing, last == nonce { return frame }
        let frame = Codec.ping(nonce: nonce)
        self.lastPing = (nonce, frame)
        return frame
    }

    /// Says goodbye to everybody, also to those who are still on their way here.
    func drain(_ goodbye: Goodbye) {
        self.goodbye = goodbye
        for member in self.members.values { member.handle(.drainRequested(goodbye)) }
    }

    /// Closes everything at once.
    func cut() { for member in self.members.values { member.cut() } }

    /// Closes everything at once, also what was not taken. Succeeds when all of it has closed.
    func closeAll(on loop: any EventLoop) -> EventLoopFuture<Void> {
        let channels = self.members.values.compactMap { $0.context?.channel } + self.refused.values
        for channel in channels { channel.close(promise: nil) }
        return EventLoopFuture.andAllComplete(channels.map(\.closeFuture), on: loop)
    }

    // MARK: Audiences

    func join(_ id: ConnectionID, _ audience: AudienceID) {
        guard let member = self.members[id] else { return }
        let joined = self.audiences[audience] ?? LocalAudience(id: audience)
        self.audiences[audience] = joined
        joined.add(member)
    }

    private func leave(_ member: ConnectionHandler, _ audience: AudienceID) {
        guard let left = self.audiences[audience] else { return }
        left.remove(member)
        if left.isEmpty { self.audiences[audience] = nil }
    }
}
