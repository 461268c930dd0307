internal import WaymarkGateway
internal import WaymarkProtocol

/// The members of an audience on one event loop.
///
/// The sockets lie side by side: a batch for members that keep up touches nothing of a connection but its socket.
struct Audience {
    let id: AudienceID
    /// Of each member; `none` for one that the batch must be written to by ``LoopCore``.
    private(set) var sockets: [SocketID] = []
    /// Their slots in ``LoopCore``.
    private(set) var members: [Int] = []
    /// The number of batches sent so far; wraps around. So no member need be told that it was sent one.
    var batchCount: UInt32 = 0

    var isEmpty: Bool { self.members.isEmpty }

    /// - Returns: The member's index.
    mutating func add(_ member: Int, _ socket: SocketID) -> Int {
        self.members.append(member)
        self.sockets.append(socket)
        return self.members.count - 1
    }

    /// Removes a member, whose index the last member gets. O(1).
    ///
    /// - Returns: The member that has the index now; nil if it was the last one's.
    mutating func remove(at index: Int) -> Int? {
        let member = self.members.removeLast()
        let socket = self.sockets.removeLast()
        guard index < self.members.count else { return nil }
        self.members[index] = member
        self.sockets[index] = socket
        return member
    }

    mutating func setSocket(_ socket: SocketID, at index: Int) { self.sockets[index] = socket }
}
