internal import WaymarkGateway
internal import WaymarkProtocol

/// The members of an audience on one event loop.
///
/// The sockets are in an array of their own: a batch for members that keep up reads nothing else of a connection.
struct Audience {
    let id: AudienceID
    /// The socket of each member; `none` for a member that must get the batch through its ``Output``.
    private(set) var sockets: [SocketID] = []
    /// Their slots in ``LoopCore``.
    private(set) var members: [Int] = []
    /// The number of batches sent so far; wraps around. Members compare it with ``Connection/Seat/batchCount`` when they need to
    /// know whether something was sent to them.
    var batchCount: UInt32 = 0

    var isEmpty: Bool { self.members.isEmpty }

    /// - Returns: The member's index.
    mutating func add(_ member: Int, _ socket: SocketID) -> Int {
        self.members.append(member)
        self.sockets.append(socket)
        return self.members.count - 1
    }

    /// Removes a member, and moves the last member to its index. O(1).
    ///
    /// - Returns: The member that was moved; nil if none was.
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
