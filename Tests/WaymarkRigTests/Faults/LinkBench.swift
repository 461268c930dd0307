import WaymarkCodec
import WaymarkFaults
import WaymarkHistory
import WaymarkProtocol
import WaymarkRig

/// A link under faults, and everything that it did.
struct LinkBench {
    /// What arrived on one way of one connection.
    struct Arrived: Equatable {
        var bytes: [UInt8] = []
        var reads: [Int] = []
        var end: LinkFault.Ending?
    }

    private struct Key: Hashable {
        let number: Int
        let way: Way
    }

    static let peer = PeerID.client(ClientID(unchecked: "app"))

    private(set) var link: LinkFaults
    private(set) var now = Instant(nanoseconds: 0)
    private var lanes: [Key: Arrived] = [:]
    private(set) var frames: [CrossedFrame] = []
    private(set) var notes: [FaultRecord] = []
    private(set) var broken: [UInt8] = []
    private(set) var refused: [Int] = []

    /// A link with one open connection, number 1.
    init(seed: UInt64 = 1, pieceGap: Duration = .zero, isOpen: Bool = true) {
        self.link = LinkFaults(Self.peer, seed: seed, pieceGap: pieceGap)
        if isOpen { self.open(1) }
    }

    func arrived(_ way: Way, _ number: Int = 1) -> Arrived {
        self.lanes[Key(number: number, way: way)] ?? Arrived()
    }

    @discardableResult
    mutating func begin(_ fault: LinkFault) -> Int {
        self.change { $0.begin(fault, at: $1, into: &$2) }
    }

    mutating func clear(_ fault: Int) { self.change { $0.clear(fault, at: $1, into: &$2) } }

    mutating func open(_ number: Int) { self.handle(.opened(number)) }

    mutating func send(_ bytes: [UInt8], _ way: Way = .toGateway, on number: Int = 1) {
        self.handle(.bytes(number, way, bytes))
    }

    mutating func handle(_ event: LinkFaults.Event) { self.change { $0.handle(event, at: $1, into: &$2) } }

    /// Lets time pass, from deadline to deadline.
    mutating func pass(_ duration: Duration) {
        let end = self.now + duration
        var count = 0
        while let deadline = self.link.deadline, deadline <= end, count < 100_000 {
            self.now = max(self.now, deadline)
            self.handle(.deadlineReached)
            count += 1
        }
        self.now = end
        self.handle(.deadlineReached)
    }

    private mutating func change<Result>(
        _ body: (inout LinkFaults, Instant, inout [LinkFaults.Action]) -> Result
    ) -> Result {
        var actions: [LinkFaults.Action] = []
        defer { for action in actions { self.perform(action) } }
        return body(&self.link, self.now, &actions)
    }

    private mutating func perform(_ action: LinkFaults.Action) {
        switch action {
        case .accept: break
        case .refuse(let number): self.refused.append(number)
        case .deliver(let number, let way, let bytes):
            self.lanes[Key(number: number, way: way), default: Arrived()].bytes += bytes
            self.lanes[Key(number: number, way: way), default: Arrived()].reads.append(bytes.count)
        case .frame(_, let frame): self.frames.append(frame)
        case .broken(_, _, let bytes): self.broken += bytes
        case .end(let number, let way, let ending):
            self.lanes[Key(number: number, way: way), default: Arrived()].end = ending
        case .note(let note): self.notes.append(note)
        }
    }

    /// The frame of a Ping.
    static func ping(_ nonce: UInt64) -> [UInt8] { Array(Codec.encode(Envelope(.ping(nonce: nonce))).bytes) }
    /// The frame of a publication.
    static func road(_ sequence: UInt64) -> [UInt8] {
        Array(
            Codec.encode(
                Envelope(
                    .publication(.currentRoadName(["Road \(sequence)"])), session: SessionID(1),
                    sequence: sequence)
            ).bytes)
    }
}
