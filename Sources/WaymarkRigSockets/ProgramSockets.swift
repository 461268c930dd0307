internal import ProcessIO
internal import WaymarkFaults
internal import WaymarkHistory
internal import WaymarkProtocol
internal import WaymarkRig
internal import WaymarkScenario

/// The sockets of the programs under test, and which program each of them is: its Hello says so.
struct ProgramSockets {
    /// What follows from what a socket did.
    enum Change {
        case peer(PeerID, (inout ForeignPeer, inout [PeerAction]) -> Void)
        /// A line for the history.
        case log(String)
    }

    private struct Socket {
        let socket: RigSocket
        /// nil before its Hello.
        var peer: PeerID?
        /// What it wrote before.
        var first: [UInt8] = []
    }

    /// In the order of the scenario.
    let peers: [PeerID]
    /// The client that something else starts, which has a name of its own; nil if there is none.
    private let app: PeerID?
    private var open: [Int: Socket] = [:]
    /// The present socket of each program.
    private var current: [PeerID: Int] = [:]
    private var lastNumber = -1
    private(set) var reports: [ReportedProgram]
    private(set) var running: [ProgramUnderTest] = []

    /// What is kept of a program's output for the report.
    private static let linesMax = 10

    init(_ programs: [Scenario.Program]) {
        self.peers = programs.map(\.peer)
        self.app = programs.first { $0.command.words.isEmpty }?.peer
        self.reports = self.peers.map(ReportedProgram.init)
    }

    var sockets: [RigSocket] { self.open.values.map(\.socket) }

    // MARK: Processes

    mutating func started(_ process: ProgramUnderTest) { self.running.append(process) }

    mutating func wrote(_ peer: PeerID, _ line: String) {
        guard let index = self.peers.firstIndex(of: peer) else { return }
        self.reports[index].output = self.reports[index].output.suffix(Self.linesMax - 1) + [line]
    }

    mutating func ended(_ peer: PeerID, _ exit: ChildProcess.Exit) {
        guard let index = self.peers.firstIndex(of: peer) else { return }
        self.reports[index].end = "\(exit)"
    }

    // MARK: Sockets

    /// - Returns: Its number, which is odd.
    mutating func add(_ socket: RigSocket) -> Int {
        self.lastNumber += 2
        self.open[self.lastNumber] = Socket(socket: socket)
        return self.lastNumber
    }

    /// - Returns: nil if nothing follows.
    mutating func handle(_ event: SocketEvent, of number: Int) -> Change? {
        guard let socket = self.open[number] else { return nil }
        guard let peer = socket.peer else { return self.read(event, of: number, socket) }
        if case .closed = event { self.open[number] = nil }
        guard self.current[peer] == number else { return nil }
        switch event {
        case .bytes(let bytes): return .peer(peer) { $0.received(bytes, into: &$1) }
        case .ended: return .peer(peer) { $0.ended(into: &$1) }
        case .writable(let isWritable): return .peer(peer) { program, _ in program.setWritable(isWritable) }
        case .closed:
            self.current[peer] = nil
            return .peer(peer) { $0.closed(into: &$1) }
        case .opened: return nil
        }
    }

    /// Before its Hello.
    private mutating func read(_ event: SocketEvent, of number: Int, _ socket: Socket) -> Change? {
        switch event {
        case .bytes(let bytes):
            let first = socket.first + bytes
            self.open[number]?.first = first
            let peer: PeerID
            switch HelloName(first) {
            case .needsMore: return nil
            case .peer(let named):
                if case .client = named, let app, !self.peers.contains(named) {
                    peer = app
                    break
                }
                guard self.peers.contains(named) else {
                    self.close(number)
                    let known = self.peers.map { "\($0)" }.joined(separator: ", ")
                    return .log("a program says that it is \(named); the scenario has the programs \(known)")
                }
                peer = named
            case .unnamed:
                // The gateway says what is wrong with it.
                guard let only = self.peers.first, self.peers.count == 1 else {
                    self.close(number)
                    return .log("a program does not begin with a Hello that can be read")
                }
                peer = only
            }
            if let old = self.current[peer] { self.close(old) }
            self.current[peer] = number
            self.open[number]?.peer = peer
            return .peer(peer) { $0.connected(first, into: &$1) }
        case .ended, .closed:
            self.close(number)
            return nil
        case .opened, .writable: return nil
        }
    }

    private mutating func close(_ number: Int) { self.open.removeValue(forKey: number)?.socket.close() }

    /// Performs what a program's connection wants.
    mutating func perform(_ order: ForeignPeer.Order, of peer: PeerID) {
        guard let number = self.current[peer], let socket = self.open[number]?.socket else { return }
        switch order {
        case .write(let bytes): socket.write(bytes)
        case .setReading(let isReading): socket.setReading(isReading)
        case .close:
            self.current[peer] = nil
            self.close(number)
        case .reset:
            self.current[peer] = nil
            self.open.removeValue(forKey: number)?.socket.reset()
        }
    }
}
