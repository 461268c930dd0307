package import WaymarkClient
package import WaymarkHistory
package import WaymarkProtocol

/// A peer of a run: a simulated vehicle endpoint or navigation client. A value without clock and I/O, like the machine in it.
package protocol RigPeer: Sendable {
    var id: PeerID { get }
    /// What its Hello says that it can store; nil for a client.
    var storage: VehicleLimits? { get }
    /// When to hand in ``LinkEvent/deadlineReached``.
    var deadline: Instant? { get }
    /// It is a program: its Hello says what it can store.
    var isForeign: Bool { get }
    /// Whether it reads now; bytes wait otherwise.
    var mayReceive: Bool { get }
    mutating func handle(_ event: LinkEvent, at now: Instant, into actions: inout [PeerAction])
    /// Its transport was reset, and is gone.
    mutating func reset(at now: Instant, into actions: inout [PeerAction])
}

extension RigPeer {
    package var isForeign: Bool { false }
    package var mayReceive: Bool { true }
    package mutating func reset(at now: Instant, into actions: inout [PeerAction]) {
        self.handle(.transportClosed(nil), at: now, into: &actions)
    }
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

extension [PeerAction] {
    /// What a link wants of its transport or says to people; none for what it tells its peer.
    init(_ action: LinkAction<some Sendable>) {
        self =
            switch action {
            case .connect: [.connect]
            case .write(let bytes): [.write(bytes)]
            case .halfClose: [.halfClose]
            case .closeTransport: [.closeTransport]
            case .log(let note): [.log(note.line)]
            case .state, .output: []
            }
    }
}

extension PeerNote {
    /// As a history has it. Why without the address: a peer's machine does not know where the gateway of its run listens.
    var line: String {
        let address = "\(VirtualRun.address)"
        let values = self.values.filter { $0.text != address }.map { value in
            "\(value.key)=\(value.text.split(separator: address, omittingEmptySubsequences: false).joined(separator: "the gateway"))"
        }
        return ([self.text] + values).joined(separator: " ")
    }
}

extension LinkMachine {
    /// A peer of a run: it waits for a gateway that is not there yet. A refusal ends it, as no run lasts until it may be lifted.
    init(inRun peer: Peer, _ random: inout SeededRandom) {
        var reconnection = ReconnectionPolicy()
        reconnection.firstAttemptsMax = .max
        reconnection.refusalDelay = nil
        self.init(
            peer, to: VirtualRun.address, reconnection, random: SeededRandom(seed: random.next()))
    }
}
