import GatewayInMemory
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// A peer's end of a connection of a ``GatewayHost``: keeps what it read, and answers nothing but Pings.
struct HostPeer {
    let id: ConnectionID
    private(set) var received: [Envelope] = []
    private(set) var isEnded = false
    var answersPings = true
    private var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.frameBytes.upperBound)
    private var sequence: UInt64 = 0

    /// Connects and says `hello`.
    init(_ host: inout GatewayHost, to loop: Int = 0, _ hello: Hello? = nil, at now: Instant) throws {
        self.id = host.connect(PeerOrigin(), to: loop, at: now)
        guard let hello else { return }
        self.send(.hello(hello), to: &host)
        host.settle(at: now)
        try self.read(&host, at: now)
    }

    static func vehicle(_ id: String) -> Hello {
        Hello(
            role: .vehicle(
                VehicleHello(
                    vehicle: VehicleID(unchecked: id), endpoint: EndpointName(unchecked: "cluster"),
                    features: Feature.allCases)))
    }

    static func client(_ id: String) -> Hello {
        Hello(
            role: .navigation(NavigationHello(client: ClientID(unchecked: id), features: Feature.allCases)))
    }

    func send(_ message: Message, to host: inout GatewayHost) {
        host.receive(Array(Codec.encode(Envelope(message)).bytes), on: self.id)
    }

    mutating func publish(_ publication: Publication, in session: SessionID, to host: inout GatewayHost) {
        self.sequence += 1
        let frame = Codec.encode(
            Envelope(.publication(publication), session: session, sequence: self.sequence))
        host.receive(Array(frame.bytes), on: self.id)
    }

    /// Reads what waits, at most `bytesMax` bytes.
    mutating func read(_ host: inout GatewayHost, atMost bytesMax: Int = .max, at now: Instant) throws {
        var left = bytesMax
        while left > 0, !self.isEnded {
            let (bytes, isEnded) = host.takeOutput(of: self.id, atMost: left)
            left -= bytes.count
            self.isEnded = isEnded
            self.splitter.append(bytes)
            host.settle(at: now)
            if bytes.isEmpty { break }
        }
        while let frame = try self.splitter.next() {
            let envelope = try Codec.decode(frame)
            self.received.append(envelope)
            if self.answersPings, case .ping(let nonce, _) = envelope.message {
                self.send(.pong(nonce: nonce), to: &host)
            }
        }
    }

    var messages: [Message] { self.received.map(\.message) }
    var publications: [Publication] {
        self.messages.compactMap { if case .publication(let publication) = $0 { publication } else { nil } }
    }
    var goodbye: CloseCode? {
        self.messages.compactMap { if case .goodbye(let goodbye) = $0 { goodbye.code } else { nil } }.first
    }
}

/// A guided vehicle.
struct HostDrive {
    var host: GatewayHost
    var now = Instant(nanoseconds: 0)
    var vehicle: HostPeer
    var client: HostPeer
    let session: SessionID

    static let trip: Trip = {
        let place = Waypoint(center: Coordinate(latitude: 47.1, longitude: 9.5))
        return Trip(id: "trip", origin: place, destination: place)
    }()

    init(tokenSeed: UInt64 = 1) throws {
        var host = GatewayHost(tokenSeed: tokenSeed)
        let start = Instant(nanoseconds: 0)
        self.vehicle = try HostPeer(&host, HostPeer.vehicle("car"), at: start)
        var client = try HostPeer(&host, HostPeer.client("app"), at: start)
        client.send(
            .openSession(
                OpenSession(requestID: "open", vehicles: .vehicles([VehicleID(unchecked: "car")]))),
            to: &host)
        host.settle(at: start)
        try client.read(&host, at: start)
        self.session =
            client.messages.compactMap {
                if case .sessionOpened(let opened) = $0 { opened.session } else { nil }
            }.first ?? .none
        self.host = host
        self.client = client
        self.publish(.startGuidance(Self.trip, generation: 1, .init()))
        try self.vehicle.read(&self.host, at: self.now)
    }

    mutating func publish(_ publication: Publication) {
        self.client.publish(publication, in: self.session, to: &self.host)
        self.host.settle(at: self.now)
    }

    /// Lets time pass, from deadline to deadline. Both peers read and answer.
    mutating func pass(_ duration: Duration, vehicleReads: Bool = true) throws {
        let end = self.now + duration
        while let deadline = self.host.deadline, deadline <= end {
            self.now = max(self.now, deadline)
            self.host.deadlineReached(at: self.now)
            self.host.settle(at: self.now)
            if vehicleReads { try self.vehicle.read(&self.host, at: self.now) }
            try self.client.read(&self.host, at: self.now)
            self.host.settle(at: self.now)
        }
        self.now = end
    }
}
