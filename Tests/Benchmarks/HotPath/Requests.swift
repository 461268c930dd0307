import NIOCore
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

/// A number of vehicles send their client a waypoint request in the same tick of the loop. The client declines all requests in one
/// read, and the vehicles send the next ones.
struct RequestScenario {
    var name: String
    var vehicles: Int

    static let all = [
        RequestScenario(name: "request", vehicles: 1), RequestScenario(name: "requests", vehicles: 64),
    ]
}

/// A client that guides the vehicles of a scenario and declines all their requests.
struct RequestRig {
    private let station = Station(acknowledges: true)
    private let client: Peer
    private let vehicles: [(id: VehicleID, endpoint: Peer)]
    private var count = 0

    init(_ scenario: RequestScenario) throws {
        let station = self.station
        self.vehicles = try (0..<scenario.vehicles).map { index in
            let id = VehicleID(unchecked: "v\(1_000_000 + index)")
            let hello = VehicleHello(
                vehicle: id, endpoint: EndpointName(unchecked: "cluster"), features: Set(Feature.allCases))
            return (id, try station.connect(.vehicle(hello)))
        }
        self.client = try station.connectClient(to: .vehicles(self.vehicles.map(\.id)))
        var drive = Drive(session: try self.client.openedSession())
        station.read([(ByteBuffer(bytes: drive.start()), self.client)])
        // So that the gateway's timer does not wait for an Acknowledgement.
        station.advance(.milliseconds(500))
        _ = try self.takeFrames()
    }

    /// Sends `times` requests from every vehicle.
    mutating func run(_ times: Int) throws -> Report {
        var messages = 0
        for _ in 0..<times { messages += try self.askAll() }
        return Report(
            frames: times * self.vehicles.count, deliveries: messages, allocations: self.station.allocations)
    }

    /// Sends a request from every vehicle, and the client's answers.
    ///
    /// - Returns: The number of messages sent by the gateway. Each was compared with the expected one: the request to the client, and
    ///   the outcome to both.
    private mutating func askAll() throws -> Int {
        self.count += 1
        let request: Identifier = "\(10_000_000 + self.count)"
        let waypoint = Waypoint(center: Coordinate(latitude: 1, longitude: 2), nameVariants: ["Charging"])
        let message = Self.bytes(
            .waypointRequest(WaypointRequest(requestID: request, waypoint: waypoint)))
        self.readMeasured(self.vehicles.map { (message, $0.endpoint) })
        let asked = self.vehicles.map {
            Message.waypointRequest(
                WaypointRequest(requestID: request, waypoint: waypoint, vehicle: $0.id))
        }
        try Self.expect(asked, at: self.client)
        var answers = ByteBuffer()
        for vehicle in self.vehicles {
            let answer = RequestAnswer(requestID: request, vehicle: vehicle.id, answer: .decline(.busy))
            answers.writeImmutableBuffer(Self.bytes(.requestAnswer(answer)))
        }
        self.readMeasured([(answers, self.client)])
        let outcomes = self.vehicles.map {
            Message.requestOutcome(
                RequestOutcome(
                    requestID: request, vehicle: $0.id, outcome: .busy, client: Station.client,
                    cause: .clientAnswered))
        }
        try Self.expect(outcomes, at: self.client)
        for (vehicle, outcome) in zip(self.vehicles, outcomes) {
            try Self.expect([outcome], at: vehicle.endpoint)
        }
        return asked.count + 2 * outcomes.count
    }

    private func readMeasured(_ reads: [(bytes: ByteBuffer, peer: Peer)]) {
        self.station.measureAll { self.station.read(reads) }
    }

    private func takeFrames() throws -> Int {
        try self.vehicles.reduce(self.client.frames().count) { try $0 + $1.endpoint.frames().count }
    }

    private static func expect(_ messages: [Message], at peer: Peer) throws {
        let received = try peer.frames().map { try Codec.decode($0).message }
        guard received == messages else { throw Rig.Failure.unexpected(received) }
    }

    private static func bytes(_ message: Message) -> ByteBuffer {
        ByteBuffer(bytes: Codec.encode(Envelope(message)).bytes)
    }
}
