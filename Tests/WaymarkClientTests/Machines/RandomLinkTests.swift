import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// Whatever the transport, the gateway and the app do, and in whatever order.
@Suite struct RandomLinkTests {
    /// What a driver of one endpoint has done, and what it must never be told to do.
    private struct World {
        private enum Transport { case none, connecting, open }

        var link: LinkMachine<EndpointMachine>
        private var now = Instant(nanoseconds: 0)
        private var transport = Transport.none
        private var isWriting = false
        private var isHalfClosed = false
        private var made: Set<Int> = []
        private(set) var answered: [Int] = []
        private(set) var isClosed = false
        private(set) var faults: [String] = []

        init(_ random: inout SeededRandom) throws {
            let hello = VehicleHello(
                vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "c"),
                features: Feature.allCases)
            let machine = try EndpointMachine(hello, random: SeededRandom(seed: random.next()))
            self.link = LinkMachine(
                machine, to: .unix(path: "/test"), .init(firstAttemptsMax: 10),
                random: SeededRandom(seed: random.next()))
        }

        mutating func handle(_ event: LinkEvent) {
            var actions: [LinkAction<EndpointMachine.Output>] = []
            self.link.handle(event, at: self.now, into: &actions)
            self.perform(actions)
        }

        mutating func use(_ body: (inout EndpointMachine, inout [EndpointMachine.Output]) -> Void) {
            var actions: [LinkAction<EndpointMachine.Output>] = []
            self.link.use(at: self.now, into: &actions, body)
            self.perform(actions)
        }

        private mutating func require(_ isRight: Bool, _ fault: String) {
            if !isRight { self.faults.append(fault) }
        }

        private mutating func perform(_ actions: [LinkAction<EndpointMachine.Output>]) {
            for action in actions {
                self.require(!self.isClosed, "after the end: \(action)")
                switch action {
                case .connect:
                    self.require(self.transport == .none, "a second transport")
                    self.transport = .connecting
                case .write(let bytes):
                    self.require(self.transport == .open && !self.isHalfClosed, "a write to no transport")
                    self.require(!self.isWriting && !bytes.isEmpty, "a second write")
                    self.isWriting = true
                case .halfClose:
                    self.require(!self.isHalfClosed && !self.isWriting, "half-closed early, or twice")
                    self.isHalfClosed = true
                case .closeTransport: self.require(self.transport == .open, "closes nothing")
                case .state(.closed): self.isClosed = true
                case .output(.requestEnded(let call, _)), .output(.guidanceEnded(let call, _)):
                    self.answered.append(call)
                case .state, .output, .log: break
                }
            }
            self.require(self.isClosed || self.link.deadline != nil || self.transport != .none, "stuck")
        }

        mutating func step(_ random: inout SeededRandom) {
            switch Int.random(in: 0..<12, using: &random) {
            case 0 where self.transport == .connecting:
                (self.transport, self.isWriting, self.isHalfClosed) = (.open, false, false)
                self.handle(.transportOpened)
            case 1 where self.transport != .none && Bool.random(using: &random):
                self.transport = .none
                self.handle(.transportClosed(nil))
            case 2...3 where self.isWriting && self.transport == .open:
                self.isWriting = false
                self.handle(.wrote)
            case 4...6 where self.transport == .open: self.hear(&random)
            case 7...8: self.call(&random)
            case 9: self.reachDeadline()
            case 10: self.now = self.now + .milliseconds(Int.random(in: 0..<300, using: &random))
            case 11 where Int.random(in: 0..<40, using: &random) == 0: self.handle(.close)
            default: self.handle(.deadlineReached)
            }
        }

        mutating func reachDeadline() {
            if let deadline = self.link.deadline { self.now = max(self.now, deadline) }
            self.handle(.deadlineReached)
        }

        private mutating func hear(_ random: inout SeededRandom) {
            let session = SessionID(UInt32.random(in: 1...2, using: &random))
            var welcome = Welcome(resumptionToken: ResumptionToken(high: 1, low: 2))
            welcome.isResumed = Bool.random(using: &random)
            var messages: [Message] = [
                .ping(nonce: 1), .snapshotEnd, .publication(.currentRoadName(["A"])),
                .snapshotBegin(SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))),
                .sessionEnded(SessionEnded(session: session, reason: .finished)),
                .requestOutcome(
                    RequestOutcome(
                        requestID: "1", vehicle: VehicleID(unchecked: "car"), outcome: .accepted)),
                .goodbye(Goodbye(.shuttingDown)),
            ]
            // Anything else before a Welcome, and a second one, end the connection.
            let isWelcomed = if case .connected = self.link.state { true } else { false }
            let isRight = Int.random(in: 0..<100, using: &random) > 0
            if isWelcomed != isRight { messages = [.welcome(welcome)] }
            guard let message = messages.randomElement(using: &random) else { return }
            var bytes = Array(Codec.encode(Envelope(message, session: session, sequence: 1)).bytes)
            if Int.random(in: 0..<200, using: &random) == 0 { bytes.removeLast() }
            self.handle(.received(bytes))
        }

        private mutating func call(_ random: inout SeededRandom) {
            let call = self.made.count
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                self.made.insert(call)
                self.use { $0.requestDestination(place, id: "\(call % 3)", call: call, into: &$1) }
            case 1:
                self.made.insert(call)
                let reason: CancellationReason = call.isMultiple(of: 2) ? .userStopped : .ownNavigationStarted
                self.use { $0.cancelNavigation(reason, call: call, into: &$1) }
            case 2: self.use { $0.abandon(call: call / 2, into: &$1) }
            default: self.use { $0.update(DisplaySettings(compass: .enabled), into: &$1) }
            }
        }

        /// Every call was answered once.
        var isAnswered: Bool { self.answered.sorted() == self.made.sorted() }
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `a link asks for nothing impossible, and answers every call once`(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var world = try World(&random)
        world.handle(.open)
        for _ in 0..<400 where !world.isClosed { world.step(&random) }
        world.handle(.close)
        // The gateway does nothing more.
        while !world.isClosed { world.reachDeadline() }
        #expect(world.faults.isEmpty)
        #expect(world.isClosed && world.isAnswered)
    }
}
