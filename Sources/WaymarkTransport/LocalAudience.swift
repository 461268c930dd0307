internal import NIOCore
internal import WaymarkGateway

/// The members of an audience on one event loop.
///
/// What it takes to send to them lies side by side: a delivery to one that keeps up looks nothing up, and touches nothing of the
/// connection but its socket.
final class LocalAudience {
    let id: AudienceID
    /// The straight way to each member; nil for one whose connection must be asked. First, because every delivery asks.
    private var sockets: [BareSocket?] = []
    private var members: [ConnectionHandler] = []
    /// Spans that were delivered so far; wraps around. So a member need not be told that it was spoken to.
    private(set) var spanCount: UInt32 = 0

    init(id: AudienceID) { self.id = id }

    var isEmpty: Bool { self.members.isEmpty }

    /// Sends what the audience shares to each member.
    func deliver(_ span: Span) {
        var span = span
        let buffer = span.buffer
        let bytes = buffer.readableBytesSpan
        self.spanCount &+= 1
        // Nobody joins or leaves meanwhile, but ways may be closed: a channel lets go of its handler in a turn of its own.
        for index in self.sockets.indices {
            let sentCount = self.sockets[index]?.send(bytes) ?? 0
            guard sentCount < bytes.byteCount else { continue }
            self.members[index].deliver(&span, after: sentCount)
        }
    }

    /// Lets a connection in, unless it is in.
    func add(_ member: ConnectionHandler) {
        guard member.outgoing.join(self, at: self.members.count) else { return }
        self.members.append(member)
        self.sockets.append(member.outgoing.straight)
    }

    /// Lets a connection go, and the last member have its seat. O(1).
    func remove(_ member: ConnectionHandler) {
        guard let index = member.outgoing.leave(self) else { return }
        let last = self.members.removeLast()
        let socket = self.sockets.removeLast()
        guard index < self.members.count else { return }
        self.members[index] = last
        self.sockets[index] = socket
        last.outgoing.move(in: self, to: index)
    }

    /// A member can be reached straight from now on, or no more.
    func setWay(_ socket: BareSocket?, ofMemberAt index: Int) { self.sockets[index] = socket }
}
