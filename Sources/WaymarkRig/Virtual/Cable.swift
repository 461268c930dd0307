internal import GatewayInMemory
internal import WaymarkClient
internal import WaymarkFaults
internal import WaymarkProtocol

/// A peer of a virtual run with its link and its connections.
struct Cable: Sendable {
    /// One connection, from the peer's sockets to the gateway's.
    struct Connection: Sendable {
        let number: Int
        /// nil once the gateway's end is gone.
        var end: ConnectionID?
        /// What the peer wrote and the link has not read.
        var outgoing = BytePipe()
        /// The peer's machine waits for its sockets to accept what it wrote.
        var isWriting = false
        /// The link was told that the peer has closed.
        var isEndTold = false
        /// The peer has closed, and reads nothing more.
        var isLeft = false

        /// Both ends are gone, and the link knows.
        var isOver: Bool { self.end == nil && self.isLeft && self.isEndTold }
    }

    var peer: any RigPeer
    var faults: LinkFaults
    var pace = ReadPace()
    /// What a faulty peer sends and reads instead.
    var mutation: FrameMutation?
    /// Those that have not ended at both ends, oldest first.
    var connections: [Connection] = []
    var lastNumber = 0
    /// The peer waits for a transport.
    var isConnecting = false
    /// Over sockets: the socket that is being connected.
    var pending: ConnectionID?
    /// The peer's present connection; nil while it has none.
    var current: Int?
    /// Of the last Goodbye on it.
    var goodbye: CloseCode?

    /// The number of the connection with this end.
    func number(of end: ConnectionID) -> Int? { self.connections.first { $0.end == end }?.number }

    func index(of number: Int) -> Int? { self.connections.firstIndex { $0.number == number } }
}

extension [Cable.Connection] {
    /// Changes the connection of a number, if it is there.
    mutating func change(_ number: Int, _ body: (inout Cable.Connection) -> Void) {
        if let index = self.firstIndex(where: { $0.number == number }) { body(&self[index]) }
    }
}
