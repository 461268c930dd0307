import Glibc
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// Waymark itself. Each endpoint is the only one of its vehicle. An endpoint is ready when it has the complete snapshot of its
/// session, which is compared byte by byte with the client's publications.
struct WaymarkDialect: Dialect {
    /// The limit of vehicles that a session can name. A larger stream uses the vehicles that asked for guidance.
    static let namedMax = ProtocolConstants.vehiclesPerSessionMax

    private let plan: Plan
    private let software = "waymark-bench"
    /// The start of each stream's session.
    private var starts: [Frame] = []
    private var sessions: [SessionID]
    /// By connection number: whether it has received the start of its session.
    private var holdsStart: [Bool]
    /// The tokens of the last Welcomes, by connection number.
    private var tokens: [Int: ResumptionToken] = [:]

    init(_ plan: Plan) {
        self.plan = plan
        let streams = plan.connectionStreams
        self.sessions = Array(repeating: .none, count: streams)
        self.holdsStart = Array(repeating: false, count: plan.endpoints(of: streams - 1).upperBound)
        self.starts = (0..<streams).map { _ in self.start(session: .none) }
    }

    mutating func greeting(of peer: Peer) -> [UInt8] {
        var hello = Hello(role: self.role(of: peer))
        hello.software = self.software
        self.holdsStart[peer.number] = false
        hello.keepaliveMilliseconds = UInt32(self.plan.keepalive * 1_000)
        hello.resumptionToken = self.tokens.removeValue(forKey: peer.number)
        return self.bytes(.hello(hello))
    }

    var farewell: [UInt8] { self.bytes(.goodbye(Goodbye(.normal))) }

    func frameLength(_ bytes: UnsafeRawBufferPointer) throws(LoadError) -> Int? {
        guard bytes.count >= FrameHeader.byteCount else { return nil }
        guard bytes.hasPrefix("WM\u{1}") else { throw .unexpected("not a frame: \(bytes.excerpt)") }
        return FrameHeader.byteCount + Int(bytes.bigEndian(8, as: UInt32.self))
    }

    mutating func take(_ frame: UnsafeRawBufferPointer, for peer: Peer) throws(LoadError) -> Reaction {
        let raw: UInt16 = frame.bigEndian(4)
        switch MessageType(rawValue: raw) {
        case .welcome: return try self.welcomed(frame, peer)
        case .sessionOpened: return try self.opened(frame, peer)
        case .snapshotEnd:
            guard self.holdsStart[peer.number] else { throw .unexpected("a snapshot without the start") }
            return Reaction(isReady: true)
        case .pong: return Reaction(isReady: peer.role == .publisher)
        case .ping:
            var pong = Array(frame)
            pong[5] = UInt8(truncatingIfNeeded: MessageType.pong.rawValue)
            return Reaction(reply: pong)
        case .waypointRequest: return Reaction(reply: try self.decline(frame))
        case .requestOutcome:
            guard peer.role == .endpoint else { return Reaction() }
            return Reaction(answered: try self.outcome(frame))
        case .startGuidance:
            guard frame.elementsEqual(self.starts[peer.stream].bytes) else {
                throw .unexpected("a snapshot that differs from the publications")
            }
            self.holdsStart[peer.number] = true
            return Reaction()
        case .snapshotBegin, .vehicleChanged, .sessionSuspended, .sessionRestored, .acknowledgement:
            return Reaction()
        case .goodbye, .error, .sessionEnded: throw .closed("\(try self.decoded(frame))")
        case _: throw .unexpected("a frame of type \(raw) that differs from the published ones")
        }
    }

    func templates(of payload: Template, stream: Int) -> (sent: Template, received: Template) {
        var bytes: [UInt8] = []
        FrameHeader(
            type: self.plan.payload.type.rawValue, bodyLength: UInt32(payload.bytes.count),
            session: self.sessions[stream]
        ).write(to: &bytes)
        var template = payload.framed(by: bytes)
        // Number 1 started guidance.
        template.patches.append(.sequence(16, first: 2))
        return (template, template)
    }

    func request(_ number: Int, from peer: Peer) -> [UInt8] {
        let place = Waypoint(
            center: Coordinate(latitude: 47.1395, longitude: 9.5228), nameVariants: ["Charging"])
        return self.bytes(
            .waypointRequest(WaypointRequest(requestID: Identifier(Self.name("", number)), waypoint: place)))
    }
}

extension WaymarkDialect {
    private func role(of peer: Peer) -> Hello.Role {
        guard peer.role == .endpoint else {
            return .navigation(
                NavigationHello(
                    client: ClientID(unchecked: "client-\(peer.stream)"), features: Set(Feature.allCases)))
        }
        var vehicle = VehicleHello(
            vehicle: VehicleID(unchecked: Self.name("v", peer.number)),
            endpoint: EndpointName(unchecked: "cluster"),
            features: Set(Feature.allCases))
        vehicle.guidanceWanted = !self.isNamed(peer.stream)
        return .vehicle(vehicle)
    }

    /// Whether a stream's session names its vehicles.
    private func isNamed(_ stream: Int) -> Bool { self.plan.endpoints(of: stream).count <= Self.namedMax }

    private mutating func welcomed(
        _ frame: UnsafeRawBufferPointer, _ peer: Peer
    ) throws(LoadError) -> Reaction {
        guard peer.role == .publisher else {
            guard self.plan.mode == .storm else { return Reaction() }
            if case .welcome(let welcome) = try self.decoded(frame) {
                self.tokens[peer.number] = welcome.resumptionToken
            }
            return Reaction()
        }
        let vehicles = self.plan.endpoints(of: peer.stream).map { VehicleID(unchecked: Self.name("v", $0)) }
        return Reaction(
            reply: self.bytes(
                .openSession(
                    OpenSession(
                        requestID: "open",
                        vehicles: self.isNamed(peer.stream) ? .vehicles(vehicles) : .anyThatAsked))))
    }

    private mutating func opened(_ frame: UnsafeRawBufferPointer, _ peer: Peer) throws(LoadError) -> Reaction
    {
        guard case .sessionOpened(let opened) = try self.decoded(frame) else { return Reaction() }
        self.sessions[peer.stream] = opened.session
        self.starts[peer.stream] = self.start(session: opened.session)
        // The answer to the Ping after it shows that the gateway has processed it.
        return Reaction(reply: self.starts[peer.stream].bytes + self.bytes(.ping(nonce: 1)))
    }

    private func start(session: SessionID) -> Frame {
        let start = Payload.start(points: self.plan.snapshotPoints, generation: 1)
        return Codec.encode(Envelope(.publication(start), session: session, sequence: 1))
    }

    /// A client's answer to a request, built from the request's bytes: the request's id comes first, the vehicle last, both with
    /// eight characters.
    private func decline(_ frame: UnsafeRawBufferPointer) throws(LoadError) -> [UInt8] {
        let body = FrameHeader.byteCount
        let end = frame.count - 10
        guard end >= body + 10, frame[body] == 0x0A, frame[body + 1] == 8, frame[end] == 0x22,
            frame[end + 1] == 8
        else { throw .unexpected("a request with an unexpected form") }
        var answer: [UInt8] = []
        FrameHeader(type: MessageType.requestAnswer.rawValue, bodyLength: 24).write(to: &answer)
        answer += frame[body..<body + 10]
        answer += [0x12, 8]
        answer += frame[(end + 2)...]
        return answer + [0x18, 4, 0x28, UInt8(Outcome.busy.rawValue)]
    }

    /// The number of the request that a RequestOutcome is about.
    private func outcome(_ frame: UnsafeRawBufferPointer) throws(LoadError) -> Int {
        let body = FrameHeader.byteCount
        guard frame.count >= body + 10, frame[body] == 0x0A, frame[body + 1] == 8,
            let number = Int(frame.text(body + 2..<body + 10))
        else { throw .unexpected("the outcome of an unknown request") }
        return number
    }

    private func decoded(_ frame: UnsafeRawBufferPointer) throws(LoadError) -> Message {
        let bytes = Array(frame)
        do {
            guard let header = try FrameHeader.read(from: bytes.span.bytes, frameBytesMax: .max) else {
                throw LoadError.unexpected("a partial frame")
            }
            return try Codec.decode(Frame(header: header, bytes: bytes[...])).message
        } catch { throw .unexpected("\(error)") }
    }

    private func bytes(_ message: Message) -> [UInt8] { Array(Codec.encode(Envelope(message)).bytes) }

    /// A name of eight characters.
    private static func name(_ prefix: String, _ number: Int) -> String {
        let digits = "\(number)"
        return prefix + String(repeating: "0", count: 8 - prefix.utf8.count - digits.utf8.count) + digits
    }
}
