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
    /// A message of which the peer has not read all frames.
    var partial = PartialMessage()
    /// The largest frame that the peer takes.
    let receiveFrameBytesMax: Int
    var isPeerGone = false
    /// The peer reads nothing.
    var isStalled = false

    /// `receiveFrameBytesMax`: 0 for any.
    init(owner: Owner, receiveFrameBytesMax: UInt32) {
        self.owner = owner
        let upperBound = ProtocolConstants.frameBytes.upperBound
        self.receiveFrameBytesMax = Int(receiveFrameBytesMax > 0 ? receiveFrameBytesMax : upperBound)
        self.peerSplitter = FrameSplitter(frameBytesMax: upperBound)
    }
}
