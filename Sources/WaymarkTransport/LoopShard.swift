internal import NIOCore
internal import OrderedCollections
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
struct LoopShard {
    private var connections: [ConnectionID: ConnectionHandler] = [:]
    private var audiences: [AudienceID: OrderedSet<ConnectionID>] = [:]

    mutating func add(_ handler: ConnectionHandler) { self.connections[handler.id] = handler }

    mutating func remove(_ id: ConnectionID) {
        self.connections[id] = nil
        for audience in self.audiences.keys { self.leave(id, audience) }
    }

    /// Does what the gateway wants; each connection is flushed once.
    mutating func perform(_ instructions: [Instruction]) {
        var touched: OrderedSet<ConnectionID> = []
        for instruction in instructions {
            switch instruction {
            case .session(let id, let event): self.connections[id]?.handle(event)
            case .send(let id, let frames):
                for frame in frames { self.connections[id]?.write(frame, key: nil) }
                touched.append(id)
            case .publish(let audience, let span):
                for id in self.audiences[audience] ?? [] {
                    self.connections[id]?.write(span)
                    touched.append(id)
                }
            case .join(let id, let audience):
                if self.connections[id] != nil { self.audiences[audience, default: []].append(id) }
            case .leave(let id, let audience): self.leave(id, audience)
            case .purge(let id, let session): self.connections[id]?.purge(session)
            case .batchDone(let id): self.connections[id]?.batchDone()
            }
        }
        for id in touched { self.connections[id]?.flush() }
    }

    /// Every connection of this loop.
    var handlers: [ConnectionHandler] { Array(self.connections.values) }

    private mutating func leave(_ id: ConnectionID, _ audience: AudienceID) {
        self.audiences[audience]?.remove(id)
        if self.audiences[audience]?.isEmpty == true { self.audiences[audience] = nil }
    }
}
