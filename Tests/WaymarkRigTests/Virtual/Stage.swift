import FaultCells
import RecordedRoutes
import WaymarkClient
import WaymarkCodec
import WaymarkGuidance
import WaymarkHistory
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkRoutes

/// A virtual run with one vehicle, `dut/cluster`, and one client, `app`.
struct Stage {
    static let vehicle = PeerID.ofVehicle
    static let client = PeerID.ofClient

    var run: VirtualRun

    init(
        _ seed: UInt64 = 1, _ settings: VirtualRun.Settings = .init(),
        vehicle: RigVehicle.Behaviour = .init(), client: RigClient.Behaviour = .init(),
        limits: VehicleLimits = .init(), connects: Bool = true, mutation: FrameMutation? = nil
    ) throws {
        var settings = settings
        settings.seed = seed
        var run = VirtualRun(settings)
        var hello = VehicleHello(
            vehicle: VehicleID(unchecked: "dut"), endpoint: EndpointName(unchecked: "cluster"),
            features: Feature.allCases)
        hello.limits = limits
        run.add(try RigVehicle(hello, vehicle, seed: run.newSeed()), mutation)
        let navigation = NavigationHello(client: ClientID(unchecked: "app"), features: Feature.allCases)
        run.add(try RigClient(navigation, client, seed: run.newSeed()))
        self.run = run
        guard connects else { return }
        self.run.tell(Self.vehicle, .open)
        self.run.tell(Self.client, .open)
    }

    var now: Instant { self.run.now }
    var vehicle: RigVehicle? { self.run.vehicle }
    var client: RigClient? { self.run.client }
    var history: History { self.run.history }

    mutating func drive(
        _ route: String = "heidelberg-lanes", _ options: GuideMachine.Options = .init()
    ) throws {
        try self.run.drive(route, options)
    }

    mutating func pass(_ duration: Duration) throws { try self.run.run(until: self.now + duration) }

    mutating func asVehicle<Value>(
        _ body: (inout RigVehicle, Instant, inout [PeerAction]) throws -> Value
    ) rethrows -> Value? { try self.run.asVehicle(body) }

    mutating func asClient<Value>(
        _ body: (inout RigClient, Instant, inout [PeerAction]) throws -> Value
    ) rethrows -> Value? { try self.run.asClient(body) }

    /// A route that ships.
    static func route(_ name: String) throws -> RouteAnswer { try RouteAnswer.shipped(name) }

    // MARK: The history

    var frames: [(instant: Instant, frame: CrossedFrame)] { self.history.frames }

    /// What reached a peer, or the gateway from it, since an instant.
    func messages(
        _ peer: PeerID, _ way: Way, since begin: Instant = Instant(nanoseconds: 0)
    ) -> [Message] {
        self.frames.filter {
            $0.instant >= begin && $0.frame.peer == peer && $0.frame.way == way
                && $0.frame.delivery != .dropped
        }.compactMap(\.frame.message)
    }

    func connections(_ peer: PeerID) -> [(instant: Instant, event: History.Connection)] {
        self.history.entries.compactMap { entry in
            if case .connection(peer, let event) = entry.kind { (entry.instant, event) } else { nil }
        }
    }

    /// Every entry, with every byte.
    var trace: String {
        self.history.entries.map { entry in
            var text = "\(entry.index) \(entry.instant.nanoseconds) "
            switch entry.kind {
            case .frame(let frame):
                text += "\(frame.peer) \(frame.way) \(frame.delivery) \(frame.sent.nanoseconds) "
                text += frame.frame.bytes.map { String($0, radix: 16) }.joined(separator: " ")
            case .broken(let peer, let way, let bytes): text += "\(peer) \(way) \(bytes)"
            case .connection(let peer, let event): text += "\(peer) \(event)"
            case .fault(let fault): text += "\(fault.kind) \(fault.text)"
            case .step(let number, let step): text += "\(number) \(step)"
            case .log(_, let line): text += line
            }
            return text + "\n"
        }.joined()
    }
}

extension Duration {
    /// Since the beginning.
    var instant: Instant { Instant(nanoseconds: 0) + self }
}
