internal import NIOCore
internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkProtocol

/// What the gateway wants done on one event loop, in order.
enum Instruction: Sendable {
    // Why indirect: an event is large, and one of some hundred instructions.
    indirect case session(ConnectionID, AcceptingSession.Event)
    case send(ConnectionID, [Frame])
    case publish(AudienceID, Span)
    case join(ConnectionID, AudienceID)
    case leave(ConnectionID, AudienceID)
    case purge(ConnectionID, SessionID)
}

/// The connections of one event loop and the audiences that they are in.
final class LoopShard {
    struct Member {
        let handler: ConnectionHandler
        /// Where it sits in each audience that it is in. Few: at most one for each session of its vehicle.
        fileprivate var places: [(audience: AudienceID, index: Int)] = []

        var audiences: [AudienceID] { self.places.map(\.audience) }
    }

    /// A member of an audience. What it takes to send to it is here, so that a delivery looks nothing up.
    private struct Seat {
        let outgoing: Outgoing
        let handler: ConnectionHandler
    }

    /// Reads the bodies of all connections here, one at a time: an idle connection holds no memory for it.
    let decoder = BodyDecoder()
    /// Writes what the connections here say.
    let encoder = CrowdEncoder()
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
    /// Connections that were not taken, until they are closed.
    var refused: [ObjectIdentifier: any Channel] = [:]
    private var audiences: [AudienceID: [Seat]] = [:]

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
        for (audience, index) in member.places { self.vacate(index, of: audience) }
    }

    /// Does what the gateway wants; each connection is flushed once. `batchesDone` has a connection once for each batch of it
    /// that the gateway has worked off. Not in the middle of a read.
    func perform(_ instructions: [Instruction], _ batchesDone: [ConnectionID]) {
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
            case .publish(let audience, let span): self.publish(span, to: audience, &touched)
            case .join(let id, let audience): self.join(id, audience)
            case .leave(let id, let audience): self.leave(id, audience)
            case .purge(let id, let session): self.members[id]?.handler.purge(session)
            }
        }
        for handler in touched { handler.flush() }
        for id in batchesDone { self.members[id]?.handler.batchDone() }
    }

    private func publish(_ span: Span, to audience: AudienceID, _ touched: inout [ConnectionHandler]) {
        guard let seats = self.audiences[audience] else { return }
        let bytes = span.buffer.readableBytesSpan
        for seat in seats {
            let sentCount = seat.outgoing.sendStraight(bytes)
            guard sentCount < bytes.byteCount else { continue }
            if seat.handler.deliver(span, after: sentCount) { touched.append(seat.handler) }
        }
    }

    /// Says goodbye to everybody, also to those who are still on their way here.
    func drain(_ goodbye: Goodbye) {
        self.goodbye = goodbye
        for member in self.members.values { member.handler.handle(.drainRequested(goodbye)) }
    }

    /// Closes everything at once.
    func cut() { for member in self.members.values { member.handler.cut() } }

    /// Closes everything at once, also what was not taken. Succeeds when all of it has closed.
    func closeAll(on loop: any EventLoop) -> EventLoopFuture<Void> {
        let channels = self.members.values.compactMap { $0.handler.context?.channel } + self.refused.values
        for channel in channels { channel.close(promise: nil) }
        return EventLoopFuture.andAllComplete(channels.map(\.closeFuture), on: loop)
    }

    // MARK: Audiences

    func join(_ id: ConnectionID, _ audience: AudienceID) {
        guard let member = self.members[id], !member.audiences.contains(audience) else { return }
        let seat = Seat(outgoing: member.handler.outgoing, handler: member.handler)
        self.members[id]?.places.append((audience, self.audiences[audience]?.count ?? 0))
        self.audiences[audience, default: []].append(seat)
    }

    private func leave(_ id: ConnectionID, _ audience: AudienceID) {
        guard let place = self.members[id]?.places.firstIndex(where: { $0.audience == audience }),
            let index = self.members[id]?.places.remove(at: place).index
        else { return }
        self.vacate(index, of: audience)
    }

    /// Lets the last one of an audience have the seat. O(1).
    private func vacate(_ index: Int, of audience: AudienceID) {
        guard let last = self.audiences[audience]?.popLast(), let count = self.audiences[audience]?.count
        else { return }
        guard count > 0 else { return self.audiences[audience] = nil }
        guard index < count else { return }
        self.audiences[audience]?[index] = last
        let id = last.handler.id
        guard let place = self.members[id]?.places.firstIndex(where: { $0.audience == audience }) else {
            return
        }
        self.members[id]?.places[place].index = index
    }
}
