import Foundation
import WaymarkClient
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkRoutes

/// A virtual run with one vehicle, `dut/cluster`, and one client, `app`.
struct Stage {
    static let vehicle = PeerID.endpoint(VehicleID(unchecked: "dut"), EndpointName(unchecked: "cluster"))
    static let client = PeerID.client(ClientID(unchecked: "app"))

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
    var vehicle: RigVehicle? { self.run.peer(Self.vehicle, as: RigVehicle.self) }
    var client: RigClient? { self.run.peer(Self.client, as: RigClient.self) }
    var history: History { self.run.history }

    mutating func drive(
        _ route: String = "heidelberg-lanes", _ options: GuideMachine.Options = .init()
    ) throws {
        let plan = RigClient.Plan(try Self.route(route), .vehicles(["dut"]), options)
        try self.run.change(Self.client, as: RigClient.self) { try $0.drive(plan, at: $1, into: &$2) }
    }

    mutating func pass(_ duration: Duration) throws { try self.run.run(until: self.now + duration) }

    mutating func asVehicle<Value>(
        _ body: (inout RigVehicle, Instant, inout [PeerAction]) throws -> Value
    ) rethrows -> Value? { try self.run.change(Self.vehicle, as: RigVehicle.self, body) }

    mutating func asClient<Value>(
        _ body: (inout RigClient, Instant, inout [PeerAction]) throws -> Value
    ) rethrows -> Value? { try self.run.change(Self.client, as: RigClient.self, body) }

    /// A route that ships.
    static func route(_ name: String) throws -> RouteAnswer {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Sources/WaymarkCommandLine/Resources/routes/\(name).json")
        return try RouteReader.read(Array(try Data(contentsOf: file)))
    }

    // MARK: The history

    var frames: [(instant: Instant, frame: CrossedFrame)] {
        self.history.entries.compactMap { entry in
            if case .frame(let frame) = entry.kind { (entry.instant, frame) } else { nil }
        }
    }

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
