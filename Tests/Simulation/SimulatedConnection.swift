internal import WaymarkProtocol

/// The peer's end of one connection. The gateway's is in the ``GatewayHost``.
final class SimulatedConnection {
    enum Owner: Hashable {
        case endpoint(Int)
        case app(Int)
        case hostile(Int)
        case observer(Int)
        case attacker(Int)
    }

    let owner: Owner
    /// nil for a hostile peer.
    var peer: ConnectingSession?
    var peerDeadline: Instant?
    var peerSplitter: FrameSplitter
    var isPeerGone = false
    /// The peer reads nothing.
    var isStalled = false

    init(owner: Owner, frameBytesMax: UInt32) {
        self.owner = owner
        self.peerSplitter = FrameSplitter(frameBytesMax: frameBytesMax)
    }
}
