internal import NIOCore
internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkProtocol

/// What the gateway wants done on one event loop, in order.
enum Instruction: Sendable {
    case session(ConnectionID, AcceptingSession.Event)
    case send(ConnectionID, [Frame])
    case publish(AudienceID, Span)
    case join(ConnectionID, AudienceID)
    case leave(ConnectionID, AudienceID)
    case purge(ConnectionID, SessionID)
    case batchDone(ConnectionID)
}

/// The connections of one event loop and the audiences that they are in.
final class LoopShard {
    struct Member {
        let handler: ConnectionHandler
        // Why no set: there is one, if any.
        var audiences: [AudienceID] = []
    }

    /// Reads the bodies of all connections here, one at a time: an idle connection holds no memory for it.
    let decoder = BodyDecoder()
    /// What all connections here are read into.
    let readBuffer = ReadBuffer()
    /// When they must be told.
    let deadlines: DeadlineTimer
    /// What waits for all endpoints here.
    let waiting: WaitingBytes
    /// Set once nobody is taken any more.
    private var goodbye: Goodbye?
    /// Set once everybody is held, for those who cannot be.
    var holding: Goodbye?
    private(set) var members: [ConnectionID: Member] = [:]
    // Why the handlers themselves: each of them is asked for on every delivery.
    private var audiences: [AudienceID: [ConnectionID: ConnectionHandler]] = [:]

    init(waiting: WaitingBytes, deadlines: DeadlineTimer) {
        self.waiting = waiting
        self.deadlines = deadlines
    }

    func add(_ handler: ConnectionHandler) {
        self.members[handler.id] = Member(handler: handler)
        // Taken just before everybody was told.
        if let goodbye = self.goodbye { handler.handle(.drainRequested(goodbye)) }
        if let holding { return handler.hold(holding) }
        // Or just before its listener got other rules.
        handler.review()
    }

    /// Has everybody look at the rules again.
    func review(waitingMax: Int) {
        self.waiting.countMax = waitingMax
        for member in self.members.values { member.handler.review() }
    }

    /// Forgets a connection. O(its own audiences).
    func remove(_ id: ConnectionID) {
        guard let member = self.members.removeValue(forKey: id) else { return }
        for audience in member.audiences { self.drop(id, from: audience) }
    }

    /// Does what the gateway wants; each connection is flushed once.
    func perform(_ instructions: [Instruction]) {
        var touched: [ConnectionHandler] = []
        for instruction in instructions {
            switch instruction {
            case .session(let id, let event):
                guard let handler = self.members[id]?.handler else { break }
                handler.advance(event)
                touched.append(handler)
            case .send(let id, let frames):
                guard let handler = self.members[id]?.handler else { break }
                handler.deliver(frames)
                touched.append(handler)
            case .publish(let audience, let span):
                guard let handlers = self.audiences[audience]?.values else { break }
                for handler in handlers where handler.deliver(span) { touched.append(handler) }
            case .join(let id, let audience): self.join(id, audience)
            case .leave(let id, let audience):
                self.members[id]?.audiences.removeAll { $0 == audience }
                self.drop(id, from: audience)
            case .purge(let id, let session): self.members[id]?.handler.purge(session)
            case .batchDone(let id): self.members[id]?.handler.batchDone()
            }
        }
        for handler in touched { handler.flush() }
    }

    /// Says goodbye to everybody, also to those who are still on their way here.
    func drain(_ goodbye: Goodbye) {
        self.goodbye = goodbye
        for member in self.members.values { member.handler.handle(.drainRequested(goodbye)) }
    }

    /// Closes everything at once.
    func cut() { for member in self.members.values { member.handler.cut() } }

    func join(_ id: ConnectionID, _ audience: AudienceID) {
        guard let handler = self.members[id]?.handler else { return }
        guard self.audiences[audience, default: [:]].updateValue(handler, forKey: id) == nil else { return }
        self.members[id]?.audiences.append(audience)
    }

    private func drop(_ id: ConnectionID, from audience: AudienceID) {
        self.audiences[audience]?[id] = nil
        if self.audiences[audience]?.isEmpty == true { self.audiences[audience] = nil }
    }
}
