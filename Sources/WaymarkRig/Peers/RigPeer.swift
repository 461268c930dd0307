package import WaymarkClient
package import WaymarkProtocol

/// A peer of a run: a simulated vehicle endpoint or navigation client. A value without clock and I/O, like the machine in it.
package protocol RigPeer: Sendable {
    var id: PeerID { get }
    /// What its Hello says that it can store; nil for a client.
    var storage: VehicleLimits? { get }
    /// When to hand in ``LinkEvent/deadlineReached``.
    var deadline: Instant? { get }
    mutating func handle(_ event: LinkEvent, at now: Instant, into actions: inout [PeerAction])
}

/// What a peer of a run wants done.
package enum PeerAction: Sendable, Hashable {
    /// Open a transport. Answered by ``LinkEvent/transportOpened`` or ``LinkEvent/transportClosed(_:)``.
    case connect
    /// Answered by ``LinkEvent/wrote``.
    case write([UInt8])
    case halfClose
    /// Answered by ``LinkEvent/transportClosed(_:)``.
    case closeTransport
    /// A line for the history.
    case log(String)
}
