internal import WaymarkGateway
internal import WaymarkProtocol

/// One connection with both its ends: bytes each way, the gateway's session and outbox, the peer's session.
final class SimulatedConnection {
    enum Owner: Hashable {
        case endpoint(Int)
        case app(Int)
        case hostile(Int)
    }

    let id: ConnectionID
    let owner: Owner
    let principal: Principal
    /// Bytes that may be under way to the peer before the gateway's end lets frames wait.
    var windowByteCount: Int
    var toGateway = BytePipe()
    var fromGateway = BytePipe()

    // The gateway's end.
    var session: AcceptingSession
    var deadline: Instant?
    var splitter: FrameAssembler
    var outbox: Outbox
    var isClosed = false
    /// Since when the peer has taken nothing although something waits.
    var stuckSince: Instant?

    // The peer's end.
    /// nil for a hostile peer, which keeps to nothing.
    var peer: ConnectingSession?
    var peerDeadline: Instant?
    var peerSplitter: FrameAssembler
    var isPeerGone = false
    /// The peer reads nothing.
    var isStalled = false

    init(
        id: ConnectionID, owner: Owner, principal: Principal, windowByteCount: Int, limits: ConnectionLimits,
        outbox: Outbox.Limits, at now: Instant, into actions: inout [AcceptingSession.Action]
    ) {
        self.id = id
        self.owner = owner
        self.principal = principal
        self.windowByteCount = windowByteCount
        self.session = AcceptingSession(
            limits: limits, allowedRoles: [.vehicle, .navigation], at: now, into: &actions)
        self.splitter = FrameAssembler(frameBytesMax: limits.frameBytesMax)
        self.peerSplitter = FrameAssembler(frameBytesMax: limits.frameBytesMax)
        self.outbox = Outbox(limits: outbox)
    }

    /// Whether frames for the peer must wait.
    var isFull: Bool { self.fromGateway.count >= self.windowByteCount }
    /// The gateway's end has something to read.
    var hasInput: Bool { !self.isClosed && (self.toGateway.count > 0 || self.toGateway.isEnded) }
    /// The peer's end has something to read.
    var hasOutput: Bool {
        !self.isPeerGone && !self.isStalled && (self.fromGateway.count > 0 || self.fromGateway.isEnded)
    }
}
