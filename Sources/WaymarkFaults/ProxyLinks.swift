package import WaymarkHistory
package import WaymarkProtocol
package import WaymarkScenario

/// The links of a proxy: whose each connection is, and what the faults do to it.
///
/// A value without clock and I/O. A connection's peer is known from its Hello; until then its bytes wait. Each peer has one
/// ``LinkFaults``, which outlives its connections, so that a fault that happens twice happens twice to a peer that comes back.
package struct ProxyLinks: Sendable {
    package enum Action: Sendable, Hashable {
        /// The connection may be carried to the gateway.
        case connect(Int)
        /// It is reset before anything crosses it.
        case refuse(Int)
        /// Its Hello was read; nil: it has none.
        case named(Int, PeerID?)
        case deliver(Int, Way, [UInt8])
        case end(Int, Way, LinkFault.Ending)
        case note(FaultRecord)
    }

    /// Why a fault cannot be begun or cleared.
    package enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        case nameTaken(String), tooMany, noSuchFault(String)

        package var description: String {
            switch self {
            case .nameTaken(let name): "name: there is a fault \(name) already"
            case .tooMany: "fault: there are \(ProxyLinks.faultsMax) faults; clear one first"
            case .noSuchFault(let name): "clear: there is no fault \(name)"
            }
        }
    }

    /// A fault as a list shows it.
    package struct Listed: Sendable, Hashable {
        package enum Stage: String, Sendable, Hashable { case waiting, acting, over }
        package let name: String
        package let text: String
        package let stage: Stage
    }

    package static let faultsMax = ProxyFaults.countMax
    /// More connections at a time are refused.
    package static let connectionsMax = 1_000
    /// The links of so many peers are kept; then those without connections are forgotten, oldest first.
    package static let linksMax = 2_000
    /// Sockets join pieces that are sent at once.
    package static let pieceGap = Duration.milliseconds(1)
    /// How the peers of connections without a Hello are called, with the connection's number. Not a name that a peer can have.
    package static let unnamedPrefix = "?"
    /// The peer of a fault of all connections, before they say who they are.
    package static let unnamed = ProxyFault.unnamedPeer

    private struct SetFault: Sendable {
        let name: String
        let fault: ProxyFault
        let since: Instant
        /// Of an event of other peers: how often it has happened, and when often enough.
        var matches = 0
        var begunAt: Instant?
        /// Its numbers in the links on which it was begun.
        var numbers: [PeerID: Int] = [:]
    }

    private struct Link: Sendable {
        var faults: LinkFaults
        var connectionCount = 0
        var deadline: Instant?

        mutating func change(
            at now: Instant, _ actions: inout [LinkFaults.Action],
            _ body: (inout LinkFaults, inout [LinkFaults.Action]) -> Void
        ) {
            self.faults.now = now
            body(&self.faults, &actions)
            self.deadline = self.faults.deadline
        }
    }

    private let seed: UInt64
    private var faults: [SetFault] = []
    private var faultCount = 0
    private var links: [PeerID: Link] = [:]
    /// In the order in which they were first seen.
    private var peers: [PeerID] = []
    /// What connections sent before their Hello was whole.
    private var unread: [Int: [UInt8]] = [:]
    private var owners: [Int: PeerID] = [:]
    private var now = Instant(nanoseconds: 0)

    package init(seed: UInt64) { self.seed = seed }

    // MARK: Faults

    /// Begins a fault.
    ///
    /// - Returns: Its name.
    @discardableResult
    package mutating func begin(
        _ fault: ProxyFault, at now: Instant, into actions: inout [Action]
    ) throws(Failure) -> String {
        self.now = now
        self.faults = self.faults.filter { !self.isExpired($0) }
        guard self.faults.count < Self.faultsMax else { throw .tooMany }
        if let name = fault.name, self.faults.contains(where: { $0.name == name }) { throw .nameTaken(name) }
        let name = fault.name ?? self.newName()
        self.faults.append(SetFault(name: name, fault: fault, since: now))
        for peer in self.peers {
            self.links[peer]?.faults.tellsFrames = self.faults.contains { $0.fault.follows(peer) }
        }
        let connected = self.peers.filter {
            self.links[$0]?.connectionCount ?? 0 > 0 && fault.concerns($0)
        }
        let isMomentary = fault.isMomentary && !connected.isEmpty
        for peer in isMomentary ? connected : self.peers {
            self.begin(self.faults.count - 1, on: peer, &actions)
        }
        // Else it would happen again to each peer that connects later.
        if isMomentary { self.faults.removeLast() }
        return name
    }

    private mutating func newName() -> String {
        repeat { self.faultCount += 1 } while self.faults.contains { $0.name == "fault-\(self.faultCount)" }
        return "fault-\(self.faultCount)"
    }

    /// Ends a fault. What it held back arrives.
    package mutating func clear(
        _ name: String, at now: Instant, into actions: inout [Action]
    ) throws(Failure) {
        self.now = now
        guard let index = self.faults.firstIndex(where: { $0.name == name }) else {
            throw .noSuchFault(name)
        }
        let fault = self.faults.remove(at: index)
        for peer in self.peers {
            guard let number = fault.numbers[peer] else { continue }
            self.change(peer, &actions) { $0.clear(number, at: now, into: &$1) }
        }
    }

    /// Ends all faults, also those that chaos has begun.
    package mutating func clearAll(at now: Instant, into actions: inout [Action]) {
        self.now = now
        self.faults = []
        for peer in self.peers { self.change(peer, &actions) { $0.clearAll(at: now, into: &$1) } }
    }

    /// The faults, in the order in which they were begun.
    package var list: [Listed] {
        self.faults.map { Listed(name: $0.name, text: $0.fault.text, stage: self.stage($0)) }
    }

    private func stage(_ fault: SetFault) -> Listed.Stage {
        guard !self.isExpired(fault) else { return .over }
        let stages = fault.numbers.map { self.links[$0.key]?.faults.stage(of: $0.value) }
        if stages.contains(.acting) { return .acting }
        return stages.isEmpty || stages.contains(.waiting) ? .waiting : .over
    }

    private func isExpired(_ fault: SetFault) -> Bool {
        guard let duration = fault.fault.fault.duration else { return false }
        guard fault.fault.fault.after != nil else { return self.now - fault.since >= duration }
        return fault.begunAt.map { self.now - $0 >= duration } ?? false
    }

    private mutating func begin(_ index: Int, on peer: PeerID, _ actions: inout [Action]) {
        let set = self.faults[index]
        guard set.fault.concerns(peer), set.numbers[peer] == nil else { return }
        let elapsed = self.now - (set.begunAt ?? set.since)
        guard let fault = set.fault.linkFault(of: peer, elapsed: elapsed, hasBegun: set.begunAt != nil) else {
            return
        }
        var number = 0
        self.change(peer, &actions) { number = $0.begin(fault, at: $0.now, into: &$1) }
        self.faults[index].numbers[peer] = number
    }

    // MARK: Connections

    /// Every connection is refused, also before it says who it is.
    private var refusesAll: Bool {
        self.faults.contains { set in
            let fault = set.fault.fault
            guard case .link(nil, .refuse) = fault.target else { return false }
            return fault.after == nil && fault.times == nil && !self.isExpired(set)
        }
    }

    /// A peer has connected. Answered by `connect` or `refuse`.
    package mutating func opened(_ number: Int, at now: Instant, into actions: inout [Action]) {
        self.now = now
        guard self.owners.count + self.unread.count < Self.connectionsMax else {
            return actions.append(.refuse(number))
        }
        guard !self.refusesAll else {
            let record = FaultRecord(
                LinkFault.Name.refuse.rawValue, of: .client(Self.unnamed), "the connection is refused")
            actions += [.note(record), .refuse(number)]
            return
        }
        self.unread[number] = []
        actions.append(.connect(number))
    }

    /// Bytes were read.
    package mutating func received(
        _ bytes: [UInt8], of number: Int, _ way: Way, at now: Instant, into actions: inout [Action]
    ) {
        self.now = now
        guard var begun = self.unread[number] else {
            return self.handle(.bytes(number, way, bytes), &actions)
        }
        guard way == .toGateway else {
            self.name(number, nil, &actions)
            return self.handle(.bytes(number, way, bytes), &actions)
        }
        begun += bytes
        self.unread[number] = begun
        switch HelloName(begun) {
        case .needsMore: break
        case .peer(let peer): self.name(number, peer, &actions)
        case .unnamed: self.name(number, nil, &actions)
        }
    }

    /// The sender of this way has closed it.
    package mutating func ended(
        _ number: Int, _ way: Way, _ ending: LinkFault.Ending, at now: Instant, into actions: inout [Action]
    ) {
        self.now = now
        if self.unread[number] != nil { self.name(number, nil, &actions) }
        self.handle(.ended(number, way, ending), &actions)
    }

    /// Both sockets of a connection are closed.
    package mutating func closed(_ number: Int, at now: Instant, into actions: inout [Action]) {
        self.now = now
        self.unread[number] = nil
        guard let peer = self.owners.removeValue(forKey: number) else { return }
        var rest: [Action] = []
        self.change(peer, &rest) {
            $0.handle(.ended(number, .toGateway, .reset), at: $0.now, into: &$1)
        }
        actions += rest.filter { if case .note = $0 { true } else { false } }
        self.links[peer]?.connectionCount -= 1
        // No other connection can be its peer's.
        if Self.isUnnamed(peer) { self.forget(peer) }
    }

    /// Whether it is the peer of a connection without a Hello.
    package static func isUnnamed(_ peer: PeerID) -> Bool {
        if case .client(let client) = peer { client.rawValue.hasPrefix(Self.unnamedPrefix) } else { false }
    }

    /// Whether the sender of this way is to be read.
    package func mayRead(_ number: Int, _ way: Way) -> Bool {
        guard let peer = self.owners[number] else { return self.unread[number] != nil }
        return self.links[peer]?.faults.mayRead(number, way) ?? true
    }

    /// The peer of a connection has said who it is, or cannot.
    private mutating func name(_ number: Int, _ named: PeerID?, _ actions: inout [Action]) {
        guard let bytes = self.unread.removeValue(forKey: number) else { return }
        let peer = named ?? .client(ClientID(unchecked: "\(Self.unnamedPrefix)\(number)"))
        self.owners[number] = peer
        actions.append(.named(number, named))
        self.addLink(peer, &actions)
        self.links[peer]?.connectionCount += 1
        self.handle(.opened(number), &actions)
        if !bytes.isEmpty { self.handle(.bytes(number, .toGateway, bytes), &actions) }
    }

    private mutating func addLink(_ peer: PeerID, _ actions: inout [Action]) {
        guard self.links[peer] == nil else { return }
        if self.peers.count >= Self.linksMax { self.forgetOldest() }
        var link = Link(
            faults: LinkFaults(peer, seed: self.seed(of: peer), pieceGap: Self.pieceGap))
        link.faults.tellsFrames = self.faults.contains { $0.fault.follows(peer) }
        self.links[peer] = link
        self.peers.append(peer)
        for index in self.faults.indices { self.begin(index, on: peer, &actions) }
    }

    private mutating func forgetOldest() {
        guard let index = self.peers.firstIndex(where: { self.links[$0]?.connectionCount == 0 }) else {
            return
        }
        self.forget(self.peers[index])
    }

    private mutating func forget(_ peer: PeerID) {
        self.peers.removeAll { $0 == peer }
        self.links[peer] = nil
        for fault in self.faults.indices { self.faults[fault].numbers[peer] = nil }
    }

    /// Why not in the order of arrival: it is not the same in two runs.
    private func seed(of peer: PeerID) -> UInt64 {
        // FNV-1a.
        peer.description.utf8.reduce(self.seed ^ 0xCBF2_9CE4_8422_2325) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
    }

    // MARK: Time

    /// When to call ``deadlineReached(at:into:)``.
    package var deadline: Instant? { self.links.values.lazy.compactMap(\.deadline).min() }

    package mutating func deadlineReached(at now: Instant, into actions: inout [Action]) {
        self.now = now
        for peer in self.peers {
            guard let deadline = self.links[peer]?.deadline, deadline <= now else { continue }
            self.change(peer, &actions) { $0.handle(.deadlineReached, at: now, into: &$1) }
        }
    }

    // MARK: Links

    private mutating func handle(_ event: LinkFaults.Event, _ actions: inout [Action]) {
        guard let peer = self.owners[event.number] else { return }
        self.change(peer, &actions) { $0.handle(event, at: $0.now, into: &$1) }
    }

    /// Changes a link, and hands on what it does.
    private mutating func change(
        _ peer: PeerID, _ actions: inout [Action],
        _ body: (inout LinkFaults, inout [LinkFaults.Action]) -> Void
    ) {
        var done: [LinkFaults.Action] = []
        self.links[peer]?.change(at: self.now, &done, body)
        var frames: [CrossedFrame] = []
        for action in done {
            switch action {
            case .accept, .broken: break
            case .refuse(let number): actions.append(.refuse(number))
            case .deliver(let number, let way, let bytes): actions.append(.deliver(number, way, bytes))
            case .end(let number, let way, let ending): actions.append(.end(number, way, ending))
            case .note(let record): actions.append(.note(record))
            case .frame(_, let frame): frames.append(frame)
            }
        }
        for frame in frames where frame.delivery != .dropped { self.follow(frame, &actions) }
    }

    /// Begins the faults of other peers that wait for this frame.
    private mutating func follow(_ frame: CrossedFrame, _ actions: inout [Action]) {
        for index in self.faults.indices where self.faults[index].begunAt == nil {
            let set = self.faults[index]
            guard set.fault.follows(frame) else { continue }
            self.faults[index].matches += 1
            guard self.faults[index].matches == set.fault.fault.after?.count ?? 1 else { continue }
            self.faults[index].begunAt = self.now
            for peer in self.peers { self.begin(index, on: peer, &actions) }
        }
    }
}

extension LinkFaults.Event {
    /// The connection's; no connection has a negative one.
    fileprivate var number: Int {
        switch self {
        case .opened(let number), .bytes(let number, _, _), .ended(let number, _, _): number
        case .deadlineReached: -1
        }
    }
}
