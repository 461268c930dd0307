// libFuzzer target: feeds both ends of the peer session with events and decoded garbage. scripts/fuzz.sh builds and runs it.
//
// Input: a byte that chooses the event, followed by a frame if the event has one.
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
    private var connecting: ConnectingSession
    private var isAcceptingClosed = false
    private var isConnectingClosed = false

    init(bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        let role = Hello.Role.navigation(NavigationHello(client: ClientID(unchecked: "fuzz"), features: []))
        var accepted: [AcceptingSession.Action] = []
        var connected: [ConnectingSession.Action] = []
        self.accepting = AcceptingSession(
            limits: ConnectionLimits(), allowedRoles: [.vehicle, .navigation], at: self.now, into: &accepted)
        self.connecting = ConnectingSession(
            hello: Hello(role: role), limits: ConnectionLimits(), at: self.now, into: &connected)
        self.perform(connected)
    }

    /// Applies one event; false at the end of the input.
    mutating func step() -> Bool {
        guard let choice = self.bytes.popFirst() else { return false }
        self.now = self.now + .milliseconds(Int64(choice) * 20)
        switch choice % 8 {
        case 0: self.accept(.deadlineReached)
        case 1: self.connect(.deadlineReached)
        case 2: self.accept(.admitted(Welcome(resumptionToken: ResumptionToken(high: 1, low: 2))))
        case 3: self.accept(.drainRequested(Goodbye(.shuttingDown)))
        case 4: self.connect(.leaveRequested(Goodbye(.normal)))
        case 5:
            if choice > 250 { self.accept(.transportClosed) } else { _ = self.accepting.notePublication() }
        default: return self.receive(atGateway: choice % 8 == 6)
        }
        return true
    }

    private mutating func receive(atGateway: Bool) -> Bool {
        let result: Result<FrameHeader?, FramingError> = Result { () throws(FramingError) in
            try FrameHeader.read(from: self.bytes.span.bytes, frameBytesMax: 1 << 16)
        }
        switch result {
        case .success(let header?) where self.bytes.count >= header.frameByteCount:
            let frame = Frame(header: header, bytes: self.bytes.prefix(header.frameByteCount))
            self.bytes = self.bytes.dropFirst(header.frameByteCount)
            self.deliver(frame, atGateway: atGateway)
            return true
        case .success: return false
        case .failure(let error):
            if atGateway {
                self.accept(.violated(error))
            } else {
                self.connect(.violated(error.closeCode, reason: "\(error)"))
            }
            return false
        }
    }

    private mutating func deliver(_ frame: Frame, atGateway: Bool) {
        guard !atGateway else { return self.deliverAtGateway(frame) }
        switch Result(catching: { () throws(DecodingError) in try self.decoder.decode(frame) }) {
        case .success(let envelope): self.connect(.received(envelope))
        case .failure(.rejected(let rejection)): self.connect(.rejected(rejection))
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

    private mutating func connect(_ event: ConnectingSession.Event) {
        var actions: [ConnectingSession.Action] = []
        self.connecting.handle(event, at: self.now, into: &actions)
        precondition(!self.isConnectingClosed || actions.isEmpty, "actions after close")
        self.perform(actions)
        precondition(self.isConnectingClosed == (self.connecting.state == .closed))
    }

    private mutating func perform(_ actions: [ConnectingSession.Action]) {
        for action in actions {
            precondition(!self.isConnectingClosed, "a message after close")
            switch action {
            case .send(let message): self.checkReadable(message)
            case .close: self.isConnectingClosed = true
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
