import GatewayInMemory
internal import WaymarkAccess
internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkProtocol

/// One connection: a pipe in each direction, the channel at the gateway's end, and the peer's session.
///
/// The gateway's end is in a ``LoopCore``. Its socket is a pipe of limited size: it accepts what fits, sometimes less, and nothing once
/// the peer has closed. The channel writes the rest when there is room.
final class SimulatedConnection {
    enum Owner: Hashable {
        case endpoint(Int)
        case app(Int)
        case hostile(Int)
        case observer(Int)
        case attacker(Int)
    }

    let id: ConnectionID
    let owner: Owner
    let principal: Principal
    let subject: AccessSubject
    let payer: Payer
    /// The loop and the slot of the gateway's end.
    let loop: Int
    var slot: LoopCore.Slot
    /// The number of bytes that the pipe to the peer holds.
    var windowByteCount: Int
    var toGateway = BytePipe()
    var fromGateway = BytePipe()

    // The gateway's end.
    /// The bytes that the channel has to write.
    private(set) var channel: [UInt8] = []
    /// The channel has a portion whose completion it has not yet reported.
    private var hasPortion = false
    /// The gateway's end closes once the channel has written its bytes.
    private(set) var isClosed = false
    private var random: SeededRandom

    // The peer's end.
    /// nil for a hostile peer.
    var peer: ConnectingSession?
    var peerDeadline: Instant?
    var peerSplitter: FrameSplitter
    var isPeerGone = false
    /// The peer reads nothing.
    var isStalled = false

    init(
        id: ConnectionID, owner: Owner, principal: Principal, subject: AccessSubject, payer: Payer,
        loop: Int, slot: LoopCore.Slot,
        windowByteCount: Int, frameBytesMax: UInt32, _ random: SeededRandom
    ) {
        self.id = id
        self.owner = owner
        self.principal = principal
        self.subject = subject
        self.payer = payer
        self.loop = loop
        self.slot = slot
        self.windowByteCount = windowByteCount
        self.peerSplitter = FrameSplitter(frameBytesMax: frameBytesMax)
        self.random = random
    }

    var socket: SocketID { SocketID(rawValue: CInt(truncatingIfNeeded: self.id.rawValue)) }
    /// The gateway's end has something to read.
    var hasInput: Bool { !self.isClosed && (self.toGateway.count > 0 || self.toGateway.isEnded) }
    /// The peer's end has something to read.
    var hasOutput: Bool {
        !self.isPeerGone && !self.isStalled && (self.fromGateway.count > 0 || self.fromGateway.isEnded)
    }
    /// No bytes are in transit to the peer.
    var isSilent: Bool {
        self.fromGateway.count == 0 && self.channel.isEmpty && self.peerSplitter.isEmpty
    }

    private var room: Int {
        self.windowByteCount == .max ? .max : max(0, self.windowByteCount - self.fromGateway.count)
    }

    // MARK: The gateway's end

    /// Sends bytes on the socket.
    ///
    /// - Returns: The number of bytes that the socket accepts.
    func accept(_ bytes: RawSpan) -> Int {
        guard !self.isPeerGone else { return 0 }
        var count = min(self.room, bytes.byteCount)
        if self.windowByteCount != .max, self.random.once(in: 8) { count = self.random.number(0...count) }
        unsafe bytes.extracting(first: count).withUnsafeBytes { unsafe self.fromGateway.write($0) }
        return count
    }

    /// Gives the channel a portion.
    func write(_ portion: ArraySlice<UInt8>) {
        self.channel += portion
        self.hasPortion = true
    }

    /// Appends `rest`, and closes the gateway's end once the channel has written all its bytes.
    func close(behind rest: [UInt8]) {
        self.channel += rest
        self.isClosed = true
    }

    /// Lets the channel write as much as the pipe has room for, or everything.
    ///
    /// - Returns: Whether a portion has been written completely.
    func pump(ignoringWindow: Bool = false) -> Bool {
        let count = self.isPeerGone ? 0 : min(ignoringWindow ? .max : self.room, self.channel.count)
        self.fromGateway.write(self.channel.prefix(count))
        self.channel.removeFirst(count)
        guard self.channel.isEmpty else { return false }
        if self.isClosed { self.fromGateway.end() }
        defer { self.hasPortion = false }
        return self.hasPortion
    }
}
