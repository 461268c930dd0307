import ExpectedState
import GatewayInMemory
import Sweeps
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// Three guided vehicles, one of whose peers was cut and wants to resume.
struct CutWorld {
    /// The peer whose links die.
    enum Role: CaseIterable {
        /// An endpoint that misses publications.
        case guided
        /// An endpoint in a session without publications. It says nothing but Pongs.
        case empty
        /// An endpoint that does not know the outcome of its request.
        case asking
        /// A client one of whose sessions ended while it was away. It publishes, and opens another session.
        case client
        case observer
    }

    /// The fate of the gateway once the link has died.
    enum Fate: CaseIterable { case lives, crashes, handsOver }

    enum Direction: CaseIterable { case toGateway, toPeer }

    private(set) var host = GatewayHost(tokenSeed: 1)
    private(set) var now = Instant(nanoseconds: 0)
    /// The endpoints in the order of the client's sessions, the client, and the observer if that is tested.
    private(set) var peers: [CutPeer]
    let role: Role
    let tested: Int
    /// The ids of the sessions that must stay.
    private var sessionIDs: [SessionID?] = []

    private static let vehicles = ["car", "van", "bus"]
    private static let app = 3

    init(_ role: Role) throws {
        self.role = role
        self.peers = Self.vehicles.map { CutPeer(.endpoint($0)) } + [CutPeer(.client)]
        if role == .observer { self.peers.append(CutPeer(.observer)) }
        self.tested =
            switch role {
            case .guided, .asking: 0
            case .empty: 1
            case .client: Self.app
            case .observer: 4
            }
        self.peers[Self.app].sessions = Self.vehicles.map { CutPeer.OwnSession(vehicle: $0) }
        for index in [0, 2] { self.peers[Self.app].sessions[index].addPublication() }
        // It opens this one once it is back.
        if role == .client { self.peers[Self.app].sessions[1].isWanted = false }
        for index in self.peers.indices {
            self.peers[index].connect(&self.host, at: self.now)
            try self.rest()
        }
        try self.cutFirst()
    }

    /// Cuts the tested peer off, and lets something happen that it must learn later.
    private mutating func cutFirst() throws {
        if self.role == .asking {
            self.peers[self.tested].ask("w", &self.host)
            self.host.settle(at: self.now)
            // The answer comes, but the endpoint does not read it.
            for _ in 0..<2 { _ = try self.peers[Self.app].pump(&self.host, at: self.now) }
        }
        self.peers[self.tested].cut(.reset, &self.host, at: self.now)
        if self.role == .client {
            self.peers[2].send(.cancelNavigation(.ownNavigationStarted), to: &self.host)
            self.host.settle(at: self.now)
            self.peers[Self.app].sessions[0].addPublication()
            self.peers[Self.app].sessions[1].isWanted = true
        } else {
            self.publish(0)
        }
        try self.rest()
        self.sessionIDs = self.peers[Self.app].sessions.map(\.id)
    }

    /// The client publishes something else for a vehicle, at once if it is connected.
    private mutating func publish(_ index: Int) {
        self.peers[Self.app].sessions[index].addPublication()
        self.peers[Self.app].publish(index, &self.host)
        self.host.settle(at: self.now)
    }

    /// Lets all peers read and answer, until nothing more comes.
    mutating func rest() throws {
        let end = self.now + .milliseconds(20)
        try self.pump()
        while let deadline = self.host.deadline, deadline <= end {
            self.now = max(self.now, deadline)
            self.host.deadlineReached(at: self.now)
            self.host.settle(at: self.now)
            try self.pump()
        }
        self.now = end
    }

    private mutating func pump() throws {
        var isBusy = true
        while isBusy {
            isBusy = false
            for index in self.peers.indices where try self.peers[index].pump(&self.host, at: self.now) {
                isBusy = true
            }
        }
    }

    // MARK: The tested peer

    /// Connects the tested peer, on a link that dies after so many bytes.
    mutating func connect(_ direction: Direction? = nil, after byteCount: Int = .max) throws {
        self.peers[self.tested].connect(
            &self.host, toGateway: direction == .toGateway ? byteCount : .max,
            toPeer: direction == .toPeer ? byteCount : .max, at: self.now)
        try self.rest()
    }

    /// The tested peer is cut off at the same byte twice, and then stays.
    mutating func run(
        _ direction: Direction, after byteCount: Int, _ ending: CutEnding, _ fate: Fate
    ) throws {
        for _ in 0..<2 {
            try self.connect(direction, after: byteCount)
            self.peers[self.tested].cut(ending, &self.host, at: self.now)
            if self.role == .client {
                self.peers[Self.app].sessions[0].addPublication()
            } else {
                self.publish(0)
            }
            try self.rest()
        }
        switch fate {
        case .lives: break
        case .crashes: try self.crash()
        case .handsOver: try self.host.restart(at: self.now)
        }
        try self.connect()
        for index in Self.vehicles.indices where self.peers[Self.app].sessions[index].end == nil {
            self.publish(index)
        }
        try self.rest()
    }

    /// Another gateway begins without the state of this one, and the other peers connect to it.
    private mutating func crash() throws {
        self.host = GatewayHost(tokenSeed: 2, lastSession: SessionID(1_000))
        for index in self.peers.indices where index != self.tested {
            self.peers[index].loseLink()
            self.peers[index].connect(&self.host, at: self.now)
        }
        try self.rest()
    }

    /// Byte counts at which the links of the tested peer die: around each end of a frame, and those of a part of all.
    func byteCounts(_ direction: Direction, _ part: SweepPart?) throws -> [Int] {
        var world = self
        try world.connect()
        let link = world.peers[world.tested].link
        let ends = (direction == .toGateway ? link?.sentEnds : link?.readEnds) ?? []
        let all = 0...(ends.last ?? 0)
        let edges = ends.flatMap { [$0 - 1, $0, $0 + 1] }.filter { all.contains($0) }
        return Set(edges + [0, 1] + (part?.cases(of: all) ?? [])).sorted()
    }

    // MARK: What must hold at the end

    /// The mistakes after a run.
    func problems(_ fate: Fate) -> [String] {
        var problems = self.peers.flatMap { peer in
            peer.faults.map { "\(peer.kind) \($0)" } + peer.goodbyes.map { "\(peer.kind) is closed: \($0)" }
        }
        func expect(_ isRight: Bool, _ problem: @autoclosure () -> String) {
            if !isRight { problems.append(problem()) }
        }
        let app = self.peers[Self.app]
        expect(
            self.peers[self.tested].isResumed == (fate != .crashes),
            "resumed is \(self.peers[self.tested].isResumed as Any)")
        for (session, endpoint) in zip(app.sessions, self.peers) {
            if session.end == nil {
                expect(session.id == endpoint.session, "\(session.vehicle) holds \(endpoint.session)")
                expect(session.drive == endpoint.drive, "\(session.vehicle) holds \(endpoint.drive)")
                expect(session.sequence == session.publications.count, "\(session.vehicle) is behind")
            } else {
                expect(endpoint.session == .none, "\(session.vehicle) holds \(endpoint.session)")
            }
        }
        if fate != .crashes {
            for (id, session) in zip(self.sessionIDs, app.sessions) where id != nil {
                expect(session.id == id, "\(session.vehicle) has another session")
            }
            let end: SessionEndReason? = self.role == .client ? .ownNavigationStarted : nil
            expect(app.sessions[2].end == end, "the end is \(app.sessions[2].end as Any)")
        }
        if self.role == .asking {
            let outcomes = self.peers[self.tested].outcomes["w"] ?? []
            expect(outcomes.count == 1, "the outcomes are \(outcomes)")
            expect(fate == .crashes || outcomes == [.busy], "the outcome is \(outcomes)")
            expect(app.asked == ["w"], "the client was shown \(app.asked)")
        }
        if self.role == .observer { problems += self.problems(ofObserver: self.peers[self.tested].observed) }
        return problems
    }

    private func problems(ofObserver observed: ObservedGateway) -> [String] {
        guard observed.isComplete else { return ["the observer was not told the whole state"] }
        var problems: [String] = []
        if Set(observed.vehicles.keys.map(\.rawValue)) != Set(Self.vehicles) {
            problems.append("the observer knows \(observed.vehicles.keys)")
        }
        for session in self.peers[Self.app].sessions {
            let roads = observed.retained[session.id ?? .none]?.frames.compactMap { frame in
                if case .publication(.plain(.currentRoadName(let road)))? = try? Codec.decode(frame).message {
                    road
                } else {
                    nil
                }
            }
            let road = session.drive.roadName
            if roads ?? [] != (road.isEmpty ? [] : [road]) {
                problems.append("the observer knows the roads \(roads as Any) of \(session.vehicle)")
            }
        }
        return problems
    }

    // MARK: A late Hello

    /// A Hello of the tested peer arrives after so many bytes late: the peer has left its link and resumed on another.
    ///
    /// - Returns: The code of the Goodbye on the first link.
    mutating func resumeBeforeLateHello(after byteCount: Int) throws -> CloseCode? {
        var late = try HostPeer(&self.host, at: self.now)
        let hello = self.peers[self.tested].helloBytes
        self.host.receive(Array(hello.prefix(byteCount)), on: late.id)
        self.host.settle(at: self.now)
        try self.connect()
        self.host.receive(Array(hello.dropFirst(byteCount)), on: late.id)
        self.host.settle(at: self.now)
        try late.read(&self.host, at: self.now)
        for index in Self.vehicles.indices where self.peers[Self.app].sessions[index].end == nil {
            self.publish(index)
        }
        try self.rest()
        return late.goodbye
    }

    /// The length of the tested peer's Hello in bytes.
    var helloByteCount: Int { self.peers[self.tested].helloBytes.count }
}

/// Links that die at any byte of a handshake, in either direction: the peer is resumed by the token that it has, and nothing is lost or
/// there twice. `WAYMARK_CUTS=all` cuts at every byte, `2/5` at every fifth from the third on.
@Suite struct HandshakeCutTests {
    private static let part = SweepPart("WAYMARK_CUTS") ?? SweepPart(text: "0/8")

    @Test(arguments: CutWorld.Role.allCases, CutWorld.Fate.allCases)
    func `a peer whose link dies at any byte of the handshake comes back as if it had not`(
        _ role: CutWorld.Role, _ fate: CutWorld.Fate
    ) throws {
        let world = try CutWorld(role)
        for direction in CutWorld.Direction.allCases {
            for byteCount in try world.byteCounts(direction, Self.part) {
                for ending in CutEnding.allCases {
                    var run = world
                    try run.run(direction, after: byteCount, ending, fate)
                    let problems = run.problems(fate)
                    guard problems.isEmpty else {
                        Issue.record("\(byteCount) bytes \(direction), \(ending): \(problems)")
                        return
                    }
                }
            }
        }
    }

    /// An observer has no id: a Hello with a token that is not valid is another observer's.
    @Test(arguments: CutWorld.Role.allCases.filter { $0 != .observer })
    func `a Hello that arrives after the peer has resumed on a later connection disturbs nothing`(
        _ role: CutWorld.Role
    ) throws {
        let world = try CutWorld(role)
        for byteCount in 0...world.helloByteCount {
            var run = world
            let code = try run.resumeBeforeLateHello(after: byteCount)
            #expect(code == (byteCount == world.helloByteCount ? .takenOver : .idInUse))
            #expect(run.problems(.lives).isEmpty, "\(byteCount) bytes")
        }
    }

    /// The older token ends with the first frame, so a recorded token cannot resume for ever.
    @Test func `an older token is worth nothing once the peer has said something`() throws {
        for (role, isValid) in [(CutWorld.Role.empty, true), (.asking, false)] {
            var world = try CutWorld(role)
            let hello = world.peers[world.tested].helloBytes
            try world.connect()
            #expect(try world.isResumed(by: hello) == isValid)
        }
    }
}

extension CutWorld {
    /// Whether a Hello is resumed on a new connection, after the tested peer was cut off.
    mutating func isResumed(by hello: [UInt8]) throws -> Bool? {
        self.peers[self.tested].cut(.reset, &self.host, at: self.now)
        var peer = try HostPeer(&self.host, at: self.now)
        self.host.receive(hello, on: peer.id)
        self.host.settle(at: self.now)
        try peer.read(&self.host, at: self.now)
        guard case .welcome(let welcome)? = peer.messages.first else { return nil }
        return welcome.isResumed
    }
}
