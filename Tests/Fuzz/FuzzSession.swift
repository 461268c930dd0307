// libFuzzer target: feeds both ends of the peer session with events and decoded garbage. scripts/fuzz.sh builds and runs it.
//
// Input: a byte that chooses the event, followed by a frame if the event has one. From 128 on, events of a peer are an observer's.
import WaymarkCodec
import WaymarkProtocol

/// libFuzzer calls it with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var run = Run(bytes: Array(UnsafeBufferPointer(start: start, count: count))[...])
    while run.step() {}
    return 0
}

private struct Run {
    private var bytes: ArraySlice<UInt8>
    private var now = Instant(nanoseconds: 0)
    private let decoder = BodyDecoder()
    private var accepting: AcceptingSession
    /// A client and an observer.
    private var connecting: [ConnectingSession] = []
    private var isAcceptingClosed = false
    private var isConnectingClosed = [false, false]

    init(bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        var accepted: [AcceptingSession.Action] = []
        self.accepting = AcceptingSession(
            limits: ConnectionLimits(), allowedRoles: [.vehicle, .navigation, .observer], at: self.now,
            into: &accepted)
        let roles: [Hello.Role] = [
            .navigation(NavigationHello(client: ClientID(unchecked: "fuzz"), features: [])),
            .observer(ObserverHello(observer: ObserverName(unchecked: "fuzz"))),
        ]
        for (peer, role) in roles.enumerated() {
            var connected: [ConnectingSession.Action] = []
            self.connecting.append(
                ConnectingSession(
                    hello: Hello(role: role), limits: ConnectionLimits(), at: self.now, into: &connected))
            self.perform(connected, by: peer)
        }
    }

    /// Applies one event; false at the end of the input.
    mutating func step() -> Bool {
        guard let choice = self.bytes.popFirst() else { return false }
        self.now = self.now + .milliseconds(Int64(choice) * 20)
        let peer = Int(choice / 128)
        switch choice % 8 {
        case 0: self.accept(.deadlineReached)
        case 1: self.connect(.deadlineReached, by: peer)
        case 2: self.accept(.admitted(Welcome(resumptionToken: ResumptionToken(high: 1, low: 2))))
        case 3: self.accept(.drainRequested(Goodbye(.shuttingDown)))
        case 4: self.connect(.leaveRequested(Goodbye(.normal)), by: peer)
        case 5:
            if choice > 250 { self.accept(.transportClosed) } else { _ = self.accepting.notePublication() }
        default: return self.receive(at: choice % 8 == 6 ? nil : peer)
        }
        return true
    }

    /// Reads a frame at a peer; nil: at the gateway.
    private mutating func receive(at peer: Int?) -> Bool {
        let result: Result<FrameHeader?, FramingError> = Result { () throws(FramingError) in
            try FrameHeader.read(from: self.bytes.span.bytes, frameBytesMax: 1 << 16)
        }
        switch result {
        case .success(let header?) where self.bytes.count >= header.frameByteCount:
            let frame = Frame(header: header, bytes: self.bytes.prefix(header.frameByteCount))
            self.bytes = self.bytes.dropFirst(header.frameByteCount)
            self.deliver(frame, at: peer)
            return true
        case .success: return false
        case .failure(let error):
            if let peer {
                self.connect(.violated(error.closeCode, reason: "\(error)"), by: peer)
            } else {
                self.accept(.violated(error))
            }
            return false
        }
    }

    private mutating func deliver(_ frame: Frame, at peer: Int?) {
        guard let peer else { return self.deliverAtGateway(frame) }
        switch Result(catching: { () throws(DecodingError) in try self.decoder.decode(frame) }) {
        case .success(let envelope): self.connect(.received(envelope), by: peer)
        case .failure(.rejected(let rejection)): self.connect(.rejected(rejection), by: peer)
        case .failure(.unknownType): break
        }
    }

    private mutating func deliverAtGateway(_ frame: Frame) {
        switch self.decoder.read(frame, on: &self.accepting) {
        case .forConnection(let message): self.accept(.received(message))
        case .rejected(let rejection): self.accept(.rejected(rejection))
        case .closing(let goodbye): self.accept(.closeRequested(goodbye))
        case .skipped:
            if let report = self.accepting.report(onSkipped: frame.header) { self.checkReadable(report) }
        case .forGateway, .request, .publication: break
        }
    }

    private mutating func accept(_ event: AcceptingSession.Event) {
        var actions: [AcceptingSession.Action] = []
        self.accepting.handle(event, at: self.now, into: &actions)
        precondition(!self.isAcceptingClosed || actions.isEmpty, "actions after close")
        for action in actions {
            precondition(!self.isAcceptingClosed, "a message after close")
            switch action {
            case .send(let message): self.checkReadable(message)
            case .close: self.isAcceptingClosed = true
            case .admit, .gone, .arm: break
            }
        }
        precondition(self.isAcceptingClosed == (self.accepting.state == .closed))
    }

    private mutating func connect(_ event: ConnectingSession.Event, by peer: Int) {
        var actions: [ConnectingSession.Action] = []
        self.connecting[peer].handle(event, at: self.now, into: &actions)
        precondition(!self.isConnectingClosed[peer] || actions.isEmpty, "actions after close")
        self.perform(actions, by: peer)
        precondition(self.isConnectingClosed[peer] == (self.connecting[peer].state == .closed))
    }

    private mutating func perform(_ actions: [ConnectingSession.Action], by peer: Int) {
        for action in actions {
            precondition(!self.isConnectingClosed[peer], "a message after close")
            switch action {
            case .send(let message): self.checkReadable(message)
            case .close: self.isConnectingClosed[peer] = true
            case .welcomed, .deliver, .arm: break
            }
        }
    }

    /// The other end can decode every message that a session sends.
    private func checkReadable(_ message: Message) {
        let read = Result { () throws(DecodingError) in
            try self.decoder.decode(Codec.encode(Envelope(message))).message
        }
        precondition(read == .success(message), "sent a message that cannot be decoded: \(message)")
    }
}
