internal import DequeModule
internal import WaymarkGateway
internal import WaymarkProtocol

/// The members of an audience on one event loop.
///
/// The sockets are in an array of their own: a batch for members that keep up reads nothing else of a connection.
struct AudienceMembers {
    let id: AudienceID
    /// The socket of each member; `none` for a member that must get the batch through its ``Output``.
    private(set) var sockets: [SocketID] = []
    /// Their slots in ``LoopCore``.
    private(set) var members: [Int32] = []
    /// The number of batches sent so far; wraps around. Members compare it with ``Connection/Seat/batchCount`` when they need to
    /// know whether something was sent to them.
    var batchCount: UInt32 = 0

    /// Batches that some members were not sent yet, oldest first.
    var deliveries: Deque<Delivery> = []
    /// Members that got deliveries before their turn in the list, or joined after them: the number of the last one. By slot.
    var ahead: [Int: UInt64] = [:]
    private var deliveryCount: UInt64 = 0

    /// A batch that is being sent to one member after the other.
    struct Delivery {
        var batch: SharedBatch
        let number: UInt64
        /// The members before this index were sent it.
        var next = 0
    }

    init(id: AudienceID) { self.id = id }

    var isEmpty: Bool { self.members.isEmpty }
    /// Some members were not sent everything.
    private(set) var isBehind = false

    /// Sends a batch later.
    mutating func queue(_ batch: SharedBatch) {
        self.deliveryCount += 1
        self.deliveries.append(Delivery(batch: batch, number: self.deliveryCount))
        self.isBehind = true
    }

    /// Whether a member was sent a delivery, or joined after it.
    func has(_ delivery: Delivery, _ member: Int, at index: Int) -> Bool {
        index < delivery.next || self.ahead[member].map { $0 >= delivery.number } ?? false
    }

    /// A member has everything that is queued.
    mutating func noteUpToDate(_ member: Int) {
        if self.isBehind { self.ahead[member] = self.deliveryCount }
    }

    /// The oldest delivery is complete.
    mutating func endDelivery() -> ConnectionID {
        let cause = self.deliveries.removeFirst().batch.cause
        self.isBehind = !self.deliveries.isEmpty
        if !self.isBehind { self.ahead = [:] }
        return cause
    }

    /// Counts a batch.
    ///
    /// - Returns: The number of members; more than any loop may send to at once if some were not sent earlier batches.
    mutating func beginBatch() -> Int {
        self.batchCount &+= 1
        return self.isBehind ? .max : self.members.count
    }

    /// - Returns: The member's index.
    mutating func add(_ member: Int, _ socket: SocketID) -> Int {
        self.members.append(Int32(member))
        self.sockets.append(socket)
        return self.members.count - 1
    }

    /// Removes a member, and moves the last member to its index. Amortised O(1).
    ///
    /// - Returns: The member that was moved; nil if none was.
    mutating func remove(at index: Int) -> Int? {
        if self.isBehind {
            self.ahead[Int(self.members[index])] = nil
            self.deliveries[0].next = min(self.deliveries[0].next, self.members.count - 1)
        }
        let member = self.members.removeLast()
        let socket = self.sockets.removeLast()
        self.members.shrinkAfterPeak()
        self.sockets.shrinkAfterPeak()
        guard index < self.members.count else { return nil }
        self.members[index] = member
        self.sockets[index] = socket
        return Int(member)
    }

    mutating func setSocket(_ socket: SocketID, at index: Int) { self.sockets[index] = socket }
}
