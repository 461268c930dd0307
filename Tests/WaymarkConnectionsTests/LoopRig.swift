import Testing
import WaymarkCodec
import WaymarkConnections
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

/// A core whose connections have sockets with as much room as a test gives them.
struct LoopRig {
    var core: LoopCore
    var now = Instant(nanoseconds: 0)
    /// Everything that the core wanted done and ``take()`` has not returned.
    private(set) var actions: [LoopCore.Action] = []
    private let sockets = Sockets()

    final class Sockets {
        var room: [SocketID: Int] = [:]
        var sent: [SocketID: [UInt8]] = [:]

        func send(_ socket: SocketID, _ bytes: RawSpan) -> Int {
            let count = min(self.room[socket] ?? .max, bytes.byteCount)
            self.room[socket]? -= count
            bytes.extracting(first: count).withUnsafeBytes { self.sent[socket, default: []] += $0 }
            return count
        }
    }

    init(
        waitingBytesMax: Int = .max, waitingBytesPerUserMax: Int = .max, inputBytesMax: Int = .max,
        inputBytesPerUserMax: Int = .max, portionBytes: Int = 32_768
    ) {
        self.core = LoopCore(
            limits: .init(
                waitingBytesMax: waitingBytesMax, waitingBytesPerUserMax: waitingBytesPerUserMax,
                inputBytesMax: inputBytesMax, inputBytesPerUserMax: inputBytesPerUserMax,
                slowConsumerTimeout: .seconds(30), portionBytes: portionBytes))
    }

    mutating func change(_ body: (inout LoopCore, Instant, Send, inout [LoopCore.Action]) -> Void) {
        let sockets = self.sockets
        body(&self.core, self.now, { sockets.send($0, $1) }, &self.actions)
    }

    /// The actions since the last call.
    mutating func take() -> [LoopCore.Action] {
        defer { self.actions = [] }
        return self.actions
    }

    static func socket(_ slot: Int) -> SocketID { SocketID(rawValue: CInt(100 + slot)) }

    /// How many bytes the socket of a connection accepts from now on.
    func setRoom(_ byteCount: Int, of slot: Int) { self.sockets.room[Self.socket(slot)] = byteCount }

    /// What the socket of a connection was sent since the last call.
    func sent(_ slot: Int) -> [UInt8] {
        defer { self.sockets.sent[Self.socket(slot)] = [] }
        return self.sockets.sent[Self.socket(slot)] ?? []
    }

    /// A connection whose endpoint was admitted; what was sent for that is taken.
    mutating func endpoint(
        _ number: UInt64, of payer: Payer? = nil, outbox: Outbox.Limits = Outbox.Limits()
    ) throws -> Int {
        let slot = self.newcomer(number, of: payer, outbox: outbox)
        self.receive(slot, Self.hello(number))
        self.admit(slot, number)
        let admitted = self.take().contains { if case .admit(slot, _) = $0 { true } else { false } }
        try #require(admitted)
        try #require(!self.sent(slot).isEmpty)
        return slot
    }

    /// A connection whose navigation client was admitted; what was sent for that is taken.
    mutating func client(_ number: UInt64) throws -> Int {
        let slot = self.newcomer(number)
        self.receive(slot, Self.hello(number, .navigation))
        self.admit(slot, number)
        _ = self.take()
        try #require(!self.sent(slot).isEmpty)
        return slot
    }

    /// A connection whose observer was admitted; what was sent for that is taken.
    mutating func observer(_ number: UInt64, outbox: Outbox.Limits = Outbox.Limits()) throws -> Int {
        let slot = self.newcomer(number, outbox: outbox)
        self.receive(slot, Self.hello(number, .observer))
        self.admit(slot, number)
        _ = self.take()
        try #require(!self.sent(slot).isEmpty)
        return slot
    }

    /// A connection that has sent nothing.
    mutating func newcomer(
        _ number: UInt64, of payer: Payer? = nil, outbox: Outbox.Limits = Outbox.Limits()
    ) -> Int {
        var slot = 0
        self.change { core, now, _, actions in
            slot = core.add(
                ConnectionID(number), payer: payer ?? Payer(rawValue: number), limits: ConnectionLimits(),
                outbox: outbox,
                allowedRoles: [.vehicle, .navigation, .observer], at: now, into: &actions)
            core.open(slot, Self.socket(slot), at: now, into: &actions)
        }
        return slot
    }

    static func hello(
        _ number: UInt64, _ role: AcceptingSession.Role = .vehicle, reportsIgnored: Bool = false
    ) -> [UInt8] {
        let hello: Hello.Role
        switch role {
        case .vehicle:
            var vehicle = VehicleHello(
                vehicle: VehicleID(unchecked: "v\(number)"), endpoint: EndpointName(unchecked: "e"),
                features: Set(Feature.allCases))
            vehicle.reportsIgnored = reportsIgnored
            hello = .vehicle(vehicle)
        case .navigation:
            var navigation = NavigationHello(
                client: ClientID(unchecked: "c\(number)"), features: Set(Feature.allCases))
            navigation.reportsIgnored = reportsIgnored
            hello = .navigation(navigation)
        case .observer:
            var observer = ObserverHello(observer: ObserverName(unchecked: "o\(number)"))
            observer.reportsIgnored = reportsIgnored
            hello = .observer(observer)
        }
        return self.bytes([Envelope(.hello(Hello(role: hello)))])
    }

    static func welcome(_ number: UInt64) -> Welcome {
        var welcome = Welcome(resumptionToken: ResumptionToken(high: 1, low: number))
        welcome.software = "test"
        return welcome
    }

    /// The gateway admits a connection.
    mutating func admit(_ slot: Int, _ number: UInt64) {
        self.handle(.admitted(Self.welcome(number)), on: slot)
    }

    mutating func handle(_ event: AcceptingSession.Event, on slot: Int) {
        self.change { core, now, send, actions in
            core.handle(event, on: slot, at: now, send, into: &actions)
        }
    }

    /// The round that the core planned.
    mutating func work() {
        self.change { core, now, send, actions in core.work(at: now, send, into: &actions) }
    }

    /// The frames that the socket of a connection was sent since the last call.
    func messages(_ slot: Int) throws -> [Message] {
        var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.frameBytes.upperBound)
        splitter.append(self.sent(slot))
        var messages: [Message] = []
        while let frame = try splitter.next() { messages.append(try Codec.decode(frame).message) }
        return messages
    }

    mutating func receive(_ slot: Int, _ bytes: [UInt8]) {
        self.change { core, now, send, actions in
            core.receive(slot, bytes.span.bytes, isReadOver: true, at: now, send, into: &actions)
        }
    }

    mutating func perform(_ instructions: [Instruction]) {
        var work = (instructions, [ProcessedBatch]())
        self.change { core, now, send, actions in
            core.perform(&work.0, &work.1, at: now, send, into: &actions)
        }
    }

    /// The portions that the channel of a connection was given.
    mutating func portions(_ slot: Int) -> [UInt8] {
        self.take().flatMap { action -> [UInt8] in
            if case .write(slot, let portion) = action { Array(portion) } else { [] }
        }
    }

    mutating func channelWrote(_ slot: Int) {
        self.change { core, now, send, actions in
            core.channelWrote(slot, at: now, send, into: &actions)
        }
    }

    // MARK: Frames

    static let session = SessionID(7)

    static func roadName(_ sequence: UInt64, _ name: String = "Road") -> Envelope {
        Envelope(.publication(.currentRoadName([name])), session: self.session, sequence: sequence)
    }

    static func alert(_ sequence: UInt64, _ title: String = "Jam") -> Envelope {
        Envelope(
            .publication(.showAlert(NavigationAlert(id: UInt32(sequence), titleVariants: [title]))),
            session: self.session, sequence: sequence)
    }

    static func bytes(_ envelopes: [Envelope]) -> [UInt8] {
        envelopes.flatMap { Array(Codec.encode($0).bytes) }
    }

    static func batch(_ envelopes: [Envelope]) -> SharedBatch {
        var batch = SharedBatch()
        for envelope in envelopes {
            guard case .publication(let publication) = envelope.message else { continue }
            batch.append(PublishedFrames(Codec.encode(envelope), publication.outline))
        }
        return batch
    }
}
