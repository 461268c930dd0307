internal import NIOCore
internal import WaymarkHistory

/// A connection that a proxy carries: two sockets, and what became of each.
struct CarriedConnection: Sendable {
    /// One of the two sockets.
    struct End: Sendable {
        /// nil until it is open.
        var socket: RigSocket?
        /// The other end of it writes no more.
        var hasEnded = false
        /// Its end was written.
        var isFinished = false
        /// Nothing happens to it any more.
        var isClosed = false
        var isWritable = true
        var isReading = false
    }

    var told: ProxyConnection
    var peer = End()
    var gateway = End()
    /// What the peer sent before the gateway's socket was open. A channel reads what is there when its peer writes no more, also one that
    /// is not to be read; that is at most what the kernel holds.
    var early: [SocketEvent] = []
    /// The first that ended it.
    var ending: ProxyEnding?
    /// Both sockets were told to close.
    var isClosing = false

    init(_ told: ProxyConnection) { self.told = told }

    /// The end from which the bytes of a way come.
    subscript(sender way: Way) -> End {
        get { way == .toGateway ? self.peer : self.gateway }
        _modify {
            if way == .toGateway { yield &self.peer } else { yield &self.gateway }
        }
    }

    /// The end to which they go.
    subscript(receiver way: Way) -> End {
        get { way == .toGateway ? self.gateway : self.peer }
        _modify {
            if way == .toGateway { yield &self.gateway } else { yield &self.peer }
        }
    }

    var isOver: Bool { self.peer.isClosed && self.gateway.isClosed }

    /// What a socket is to do. Its owner does it with a copy, because closing calls it back at once.
    enum Order: Sendable {
        case none
        case endWriting(RigSocket)
        case close(RigSocket)
        case closeBoth
    }

    /// The end of a way is due: what its receiver is to read, as from a direct connection.
    mutating func end(_ way: Way) -> Order {
        self[receiver: way].isFinished = true
        if self.peer.isFinished, self.gateway.isFinished { return .closeBoth }
        guard !self[receiver: way].isClosed, let socket = self[receiver: way].socket else { return .none }
        return self[sender: way].isClosed ? .close(socket) : .endWriting(socket)
    }

    /// The sender of a way, which had written its end before, is gone: what it sent is still delivered, and nothing is to be sent to it.
    func leave(_ way: Way) -> Order {
        guard self[receiver: way].isFinished, let socket = self[receiver: way].socket else { return .none }
        return .close(socket)
    }
}
