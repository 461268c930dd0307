package import WaymarkConfiguration
package import WaymarkGateway
package import WaymarkHistory
package import WaymarkProtocol

/// A drive as a test: what a file `*.scenario.yaml` says. `scenario.schema.json` describes the keys.
package struct Scenario: Sendable, Hashable {
    /// The clock that a scenario wants.
    package enum Clock: String, Sendable, Hashable, CaseIterable {
        /// One process without sockets.
        case virtual
        /// Sockets, and a gateway of its own.
        case real
        /// Virtual, unless a program takes part.
        case either
    }

    package var file: String
    package var about: String?
    package var clock = Clock.either
    package var gateway = PrivateGateway()
    /// Of all clients that name no other.
    package var route: Reference?
    package var startAt: Position?
    /// How many times faster than the engine's speeds.
    package var speed = 1.0
    /// At least one, in the order of the file; without any in the file, `dut`.
    package var vehicles: [Vehicle]
    /// At least one, in the order of the file; without any in the file, `client`.
    package var clients: [Client]
    /// In effect before the first connection.
    package var faults: [Fault] = []
    /// From the first connection on.
    package var expectations: [Expected] = []
    /// One after the other.
    package var steps: [Step] = []
    /// How the drive of the first client ends, as the last of its expectations. nil: the scenario ends with its last step.
    package var ending: Expected?
    package var allowances: [Allowance] = []
    package var seed: UInt64 = 1
    /// The longest that the scenario may take, by its own clock.
    package var atMost = Duration.seconds(3_600)
    /// How long programs under test may take to say their first Hello.
    package var connectWithin = Duration.seconds(10)

    package init(
        file: String, vehicles: [Vehicle] = [Vehicle(id: VehicleID(unchecked: "dut"))],
        clients: [Client] = [Client(id: ClientID(unchecked: "client"))]
    ) {
        (self.file, self.vehicles, self.clients) = (file, vehicles, clients)
    }

    /// Why it cannot be run by the virtual clock: a program takes part.
    package var needsRealClock: Bool {
        self.clock == .real || self.vehicles.contains { $0.endpoints.contains { $0.command != nil } }
            || self.clients.contains { $0.command != nil }
    }
}

extension Scenario {
    /// A name or path in the file, and where it is, so that an error can say so.
    package struct Reference: Sendable, Hashable {
        package let text: String
        package let location: SourceLocation

        package init(_ text: String, at location: SourceLocation) {
            (self.text, self.location) = (text, location)
        }
    }

    /// Where a drive is.
    package enum Position: Sendable, Hashable {
        /// Over all its routes.
        case meters(Double)
        /// Of its first route, 0 to 100.
        case percent(Double)
        /// Since it began.
        case time(Duration)
    }

    /// The gateway of the scenario. nil: the default of the page.
    package struct PrivateGateway: Sendable, Hashable {
        /// A file of waymarkd's settings; its listeners are not used.
        package var settings: Reference?
        package var arbitration: Gateway.Policy.Arbitration?
        package var grace: Duration?
        package var request: Duration?
        package var prompt: Duration?
        package var share: Duration?
        package var slowConsumer: Duration?
        package var keepalive: Duration?
        package init() {}
    }

    /// A program under test: its words, in which `{vehicle}`, `{address}` and others are replaced.
    package struct Command: Sendable, Hashable {
        /// None: something else starts it, and it connects to ``address``.
        package let words: [String]
        package let location: SourceLocation
        /// The address at which the rig listens for it; nil: anywhere.
        package var address: Address?
    }

    /// An address of TCP.
    package struct Address: Sendable, Hashable {
        package let host: String
        package let port: Int

        package init(host: String, port: Int) { (self.host, self.port) = (host, port) }
    }

    /// The same with an app in place of the first client: something else starts it, and it connects to this address, where the rig listens.
    package func withApp(at address: Address) -> Scenario {
        var scenario = self
        guard !scenario.clients.isEmpty else { return scenario }
        var command = Command(words: [], location: SourceLocation(file: self.file, line: 1, column: 1))
        command.address = address
        scenario.clients[0].command = command
        scenario.clients[0].replay = nil
        return scenario
    }

    /// The address at which the rig listens for programs that something else starts; nil if there are none.
    package var appAddress: Address? { self.programs.compactMap(\.command.address).first }

    /// Says what this peer said in a recording.
    package struct Replay: Sendable, Hashable {
        package let recording: Reference
        /// nil: the peer of the same name.
        package let peer: String?
        /// What it receives must be what was recorded.
        package let isCompared: Bool

        package init(
            recording: Reference, peer: String?, isCompared: Bool
        ) {
            self.recording = recording
            self.peer = peer
            self.isCompared = isCompared
        }
    }

    package enum Reply: String, Sendable, Hashable, CaseIterable { case accept, decline, ignore }

    package struct Vehicle: Sendable, Hashable {
        package var id: VehicleID
        /// At least one.
        package var endpoints: [Endpoint] = [Endpoint(name: EndpointName(unchecked: "cluster"))]
        package var prompts = Reply.accept
        package var destinations = Reply.accept
        package var answerAfter = Duration.zero
        package var isReady = true
        /// The time after which what its endpoints have received is on their displays; nil: they say nothing of it.
        package var showsAfter: Duration?
        package var guidanceWanted = false
        /// false: only when a step says `return`.
        package var connects = true
        /// A step asks a client for a simulated drive.
        package var asksForSimulatedDrives = false
        package var replay: Replay?
        package init(id: VehicleID) { self.id = id }

        /// The peers of the vehicle in a history.
        package var peers: [PeerID] { self.endpoints.map { .endpoint(self.id, $0.name) } }
    }

    package struct Endpoint: Sendable, Hashable {
        package var name: EndpointName
        /// nil: everything.
        package var profile: Reference?
        package var command: Command?
        package init(name: EndpointName) { self.name = name }
    }

    package struct Client: Sendable, Hashable {
        package enum Selection: Sendable, Hashable { case all, anyThatAsked, named([VehicleID]) }
        /// What it waits for before it starts guidance.
        package enum Waiting: String, Sendable, Hashable, CaseIterable {
            case nothing, joined, ready
            /// It shows its trip to choose from, and a vehicle starts it.
            case tripRequest = "trip-request"
        }
        package enum WaypointReply: String, Sendable, Hashable, CaseIterable {
            case accept, decline, ignore
            case ownPrompt = "own-prompt"
        }

        package var id: ClientID
        /// nil: the scenario's.
        package var route: Reference?
        package var startAt: Position?
        package var speed: Double?
        package var vehicles = Selection.all
        /// false: only when a step says `drive`.
        package var drivesAtOnce = true
        package var waitsFor = Waiting.joined
        package var priority: Int32 = 0
        package var onWaypoint = WaypointReply.accept
        package var onDestination = Reply.accept
        package var onStartTrip = Reply.accept
        package var answerAfter = Duration.zero
        /// The route with an accepted stop. nil: the same route, with the stop among its waypoints.
        package var detour: Reference?
        /// How often it wants to know what displays have received; nil: not at all.
        package var receipts: Duration?
        package var withoutFeatures: [Feature] = []
        /// It stands until it is asked to simulate its drive.
        package var simulatesWhenAsked = false
        /// false: only when a step says `return`.
        package var connects = true
        package var command: Command?
        package var replay: Replay?
        package init(id: ClientID) { self.id = id }

        package var peer: PeerID { .client(self.id) }
    }

    /// A lint rule that does not fail the scenario.
    package struct Allowance: Sendable, Hashable {
        package let rule: String
        package let of: PeerSelector?
        package let reason: String
        package let location: SourceLocation

        package init(
            rule: String, of: PeerSelector?, reason: String, location: SourceLocation
        ) {
            self.rule = rule
            self.of = of
            self.reason = reason
            self.location = location
        }
    }
}

/// Whose connections or states are meant.
package enum PeerSelector: Sendable, Hashable, CustomStringConvertible {
    case endpoint(VehicleID, EndpointName)
    /// All endpoints of a vehicle.
    case vehicle(VehicleID)
    case client(ClientID)

    package func contains(_ peer: PeerID) -> Bool {
        switch (self, peer) {
        case (.endpoint(let vehicle, let endpoint), .endpoint(let other, let name)):
            vehicle == other && endpoint == name
        case (.vehicle(let vehicle), .endpoint(let other, _)): vehicle == other
        case (.client(let client), .client(let other)): client == other
        case (.endpoint, .client), (.vehicle, .client), (.client, .endpoint): false
        }
    }

    /// The endpoint of a state word, which the reader allows no others.
    var endpoint: PeerID {
        switch self {
        case .endpoint(let vehicle, let endpoint): .endpoint(vehicle, endpoint)
        case .vehicle(let vehicle): .endpoint(vehicle, EndpointName(unchecked: "cluster"))
        case .client(let client): .client(client)
        }
    }

    package var description: String {
        switch self {
        case .endpoint(let vehicle, let endpoint): "\(vehicle)/\(endpoint)"
        case .vehicle(let vehicle): vehicle.rawValue
        case .client(let client): client.rawValue
        }
    }
}
