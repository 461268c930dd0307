import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// A peer's machine whose driver is the test: no socket, no clock.
struct DrivenPeer<Machine: PeerMachine> {
    private(set) var link: LinkMachine<Machine>
    private(set) var now = Instant(nanoseconds: 0)
    private(set) var outputs: [Machine.Output] = []
    private(set) var states: [ConnectionState] = []
    private(set) var notes: [PeerNote] = []
    /// When it wanted to connect.
    private(set) var attempts: [Instant] = []
    private(set) var isConnecting = false
    private(set) var isConnected = false
    private(set) var isHalfClosed = false
    /// It wants its transport closed.
    private(set) var wantsEnd = false
    /// The transport takes a write at once.
    var isFast = true
    /// Everything that it has written, one entry for each write.
    private(set) var writes: [[UInt8]] = []
    /// What the other end has not read.
    private var unread = FrameSplitter(frameBytesMax: 16_777_216)

    init(_ machine: Machine, seed: UInt64 = 1, _ policy: ReconnectionPolicy = .init()) {
        self.link = LinkMachine(
            machine, to: .unix(path: "/test"), policy, random: SeededRandom(seed: seed))
    }

    mutating func handle(_ event: LinkEvent) {
        if case .transportOpened = event { (self.isConnecting, self.isConnected) = (false, true) }
        if case .transportClosed = event {
            (self.isConnecting, self.isConnected) = (false, false)
            (self.isHalfClosed, self.wantsEnd) = (false, false)
            self.unread = FrameSplitter(frameBytesMax: 16_777_216)
        }
        var actions: [LinkAction<Machine.Output>] = []
        self.link.handle(event, at: self.now, into: &actions)
        self.perform(actions)
    }

    mutating func use<Value, Failure>(
        _ body: (inout Machine, inout [Machine.Output]) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var actions: [LinkAction<Machine.Output>] = []
        defer { self.perform(actions) }
        return try self.link.use(at: self.now, into: &actions, body)
    }

    private mutating func perform(_ actions: [LinkAction<Machine.Output>]) {
        for action in actions {
            switch action {
            case .connect:
                self.isConnecting = true
                self.attempts.append(self.now)
            case .write(let bytes):
                self.writes.append(bytes)
                self.unread.append(bytes)
                if self.isFast { self.handle(.wrote) }
            case .halfClose: self.isHalfClosed = true
            case .closeTransport: self.wantsEnd = true
            case .state(let state): self.states.append(state)
            case .output(let output): self.outputs.append(output)
            case .log(let note): self.notes.append(note)
            }
        }
    }

    /// Time passes; deadlines on the way are reached.
    mutating func advance(to instant: Instant) {
        while let deadline = self.link.deadline, deadline <= instant {
            self.now = max(self.now, deadline)
            self.handle(.deadlineReached)
        }
        self.now = instant
    }

    mutating func wait(_ duration: Duration) { self.advance(to: self.now + duration) }

    /// Time passes up to the next deadline.
    mutating func waitForDeadline() { if let deadline = self.link.deadline { self.advance(to: deadline) } }

    // MARK: The other end

    /// Removes and returns the frames that the other end reads now.
    mutating func read() -> [Frame] {
        var frames: [Frame] = []
        while let frame = try? self.unread.next() { frames.append(frame) }
        return frames
    }

    mutating func readMessages() -> [Message] { self.read().compactMap { try? Codec.decode($0).message } }

    /// The gateway says something.
    mutating func hear(_ message: Message, session: SessionID = .none, sequence: UInt64 = 0) {
        let frame = Codec.encode(Envelope(message, session: session, sequence: sequence))
        self.handle(.received(Array(frame.bytes)))
    }

    mutating func welcome(
        isResumed: Bool = false, sessions: [ResumedSession] = [], keepalive: UInt32 = 10_000
    ) {
        var welcome = Welcome(resumptionToken: ResumptionToken(high: 1, low: 2))
        welcome.keepaliveMilliseconds = keepalive
        (welcome.receiveFrameBytesMax, welcome.sendFrameBytesMax) = (1_048_576, 16_777_216)
        welcome.isResumed = isResumed
        welcome.sessions = sessions
        self.hear(.welcome(welcome))
    }

    /// Connects and is welcomed.
    mutating func open(keepalive: UInt32 = 10_000) {
        self.handle(.open)
        self.handle(.transportOpened)
        self.welcome(keepalive: keepalive)
        _ = self.read()
    }

    /// Removes and returns what the app has learnt.
    mutating func takeOutputs() -> [Machine.Output] {
        defer { self.outputs = [] }
        return self.outputs
    }
}

extension DrivenPeer<EndpointMachine> {
    static func endpoint(
        seed: UInt64 = 1, _ change: (inout VehicleEndpoint.Configuration) -> Void = { _ in }
    ) throws -> Self {
        var configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "cluster")
        configuration.onPrompt = { _ in true }
        configuration.onDestination = { _ in true }
        change(&configuration)
        let machine = try EndpointMachine(VehicleHello(configuration), random: SeededRandom(seed: seed))
        return DrivenPeer(machine, seed: seed, configuration.reconnection)
    }

    /// The results of calls, by their numbers.
    var results: [Int: [RequestResult]] {
        self.outputs.reduce(into: [:]) { results, output in
            guard case .requestEnded(let call, let ending) = output else { return }
            results[call, default: []].append(ending.result)
        }
    }
}

extension DrivenPeer<ObserverMachine> {
    static func observer() throws -> Self {
        let machine = try ObserverMachine(
            ObserverHello(observer: ObserverName(unchecked: "observer")), Observe())
        return DrivenPeer(machine)
    }
}

extension DrivenPeer<ClientMachine> {
    static func client(
        seed: UInt64 = 1, _ change: (inout NavigationClient.Configuration) -> Void = { _ in }
    ) throws -> Self {
        var configuration = NavigationClient.Configuration(id: "app")
        configuration.onDestination = { _ in .accept }
        change(&configuration)
        let machine = try ClientMachine(NavigationHello(configuration))
        return DrivenPeer(machine, seed: seed, configuration.reconnection)
    }

    mutating func publish(_ publication: Publication, in session: Identifier) throws(ClientError) {
        try self.use { (client, outputs) throws(ClientError) in
            try client.publish(publication, in: session, into: &outputs)
        }
    }

    mutating func openSession(
        answersWaypoints: Bool = false, answersStarts: Bool = false, call: Int = 0
    ) throws(ClientError) -> Identifier {
        try self.use { (client, _) throws(ClientError) in
            try client.open(
                .vehicles(["car"]), answersWaypoints: answersWaypoints, answersStarts: answersStarts,
                call: call)
        }
    }
}
