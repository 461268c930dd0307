import CAllocations
import Glibc
import ListeningSockets
import Logging
import NIOCore
import NIOEmbedded
import Synchronization
import WaymarkCodec
import WaymarkGateway
import WaymarkProtocol
import WaymarkTransport

/// A workload.
struct Scenario {
    var name: String
    var endpoints: Int
    var framesPerRead = 0
    /// The endpoints have limits below the published texts: each frame is fitted, once for all of them.
    var isFitted = false
    /// Each frame starts guidance again with a segment of this number of points; 0: the frames are small states.
    var routePoints = 0
    /// The client gets Acknowledgements. Counted apart, so that the other scenarios stay comparable.
    var isAcknowledged = false
    /// What an observer of everything beside the client sees; nil: there is none.
    var observed: Visibility?
    /// How many reads the observer is told of at a time.
    var readsPerTelling = 1
    /// Each endpoint is guided by a client of its own, and their frames arrive in turn.
    var isFleet = false
    /// What the endpoints do in a scenario without publications.
    var crowd: Crowd.Activity?

    static let all = [
        Scenario(name: "one", endpoints: 1, framesPerRead: 64),
        Scenario(name: "fan", endpoints: 100, framesPerRead: 64),
        Scenario(name: "lone", endpoints: 100, framesPerRead: 1),
        Scenario(name: "drives", endpoints: 500, framesPerRead: 1, isFleet: true),
        Scenario(name: "fitted", endpoints: 10, framesPerRead: 16, isFitted: true),
        Scenario(name: "route", endpoints: 1, framesPerRead: 1, routePoints: 12_500),
        Scenario(name: "connect", endpoints: 100, crowd: .reconnect),
        Scenario(name: "keepalive", endpoints: 1_000, crowd: .idle),
        Scenario(name: "one-acknowledged", endpoints: 1, framesPerRead: 64, isAcknowledged: true),
        Scenario(name: "lone-acknowledged", endpoints: 100, framesPerRead: 1, isAcknowledged: true),
        Scenario(name: "one-observed", endpoints: 1, framesPerRead: 64, observed: .content),
        Scenario(name: "single", endpoints: 1, framesPerRead: 1),
        Scenario(
            name: "single-observed", endpoints: 1, framesPerRead: 1, observed: .content, readsPerTelling: 16),
        Scenario(name: "fan-observed", endpoints: 100, framesPerRead: 64, observed: .content),
        Scenario(name: "fan-observed-state", endpoints: 100, framesPerRead: 64, observed: .state),
    ]
}

/// A peer: its channel is embedded; bytes that the gateway sends directly go through a real socket.
struct Peer {
    let channel: EmbeddedChannel
    private let ours: CInt
    let theirs: BareSocket

    init(loop: EmbeddedEventLoop) throws {
        self.channel = EmbeddedChannel(loop: loop)
        var pair: [CInt] = [0, 0]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0 else {
            throw Rig.Failure.noSocket(errno)
        }
        self.ours = pair[0]
        self.theirs = BareSocket(descriptor: pair[1])
    }

    /// The last session that the client has opened.
    func openedSession() throws -> SessionID {
        for frame in try self.frames().reversed() {
            if case .sessionOpened(let opened) = try Codec.decode(frame).message { return opened.session }
        }
        throw Rig.Failure.noSession
    }

    /// The frames sent since the last call, through the channel (before the connection was active) or on the socket.
    func frames() throws -> [Frame] {
        var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.frameBytes.upperBound)
        while let buffer = try self.channel.readOutbound(as: ByteBuffer.self) {
            splitter.append(Array(buffer.readableBytesView))
        }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(self.ours, &bytes, bytes.count, CInt(MSG_DONTWAIT)), count > 0 {
            splitter.append(Array(bytes[..<count]))
        }
        var frames: [Frame] = []
        while let frame = try splitter.next() { frames.append(frame) }
        return frames
    }
}

/// The complete gateway, except for the clock and reading from sockets.
struct Station {
    let loop = EmbeddedEventLoop()
    private let driver: GatewayDriver
    private let clock = Clock()
    private let meter = Meter()

    /// The only client of most scenarios.
    static let client = ClientID(unchecked: "app")

    /// What observers see.
    private let visibility: Visibility

    init(acknowledges: Bool = false, visibility: Visibility = .state) {
        self.visibility = visibility
        let clock = self.clock
        var policy = Gateway.Policy()
        if !acknowledges {
            policy.acknowledgements.frames = .init(UInt32.max)
            policy.acknowledgements.delay = .seconds(3_600)
        }
        self.driver = GatewayDriver(
            loops: [self.loop], policy: policy, limits: TransportLimits(),
            logger: Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() },
            clock: { clock.now })
    }

    /// Connects a peer and sends its Hello.
    func connect(_ role: Hello.Role) throws -> Peer {
        let peer = try Peer(loop: self.loop)
        try self.accept(peer)
        self.send(.hello(Hello(role: role)), on: peer)
        return peer
    }

    /// Accepts a connection whose peer has not sent anything.
    func accept(_ peer: Peer) throws {
        var policy = ListenerPolicy(roles: [.vehicle, .navigation, .observer])
        policy.visibility = self.visibility
        let origin = ConnectionOrigin(address: .unix(path: "/listener"), policy: policy)
        let accepted = self.driver.accept(peer.channel, through: origin, from: .user(1_000))
        self.loop.run()
        try accepted.wait()
        try peer.channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait()
        peer.channel.pipeline.fireUserInboundEventTriggered(peer.theirs)
    }

    /// Connects a client and opens a session, see ``Peer/openedSession()``.
    func connectClient(to vehicles: VehicleSelection, as client: ClientID = Self.client) throws -> Peer {
        let hello = NavigationHello(client: client, features: Set(Feature.allCases))
        let peer = try self.connect(.navigation(hello))
        self.send(.openSession(OpenSession(requestID: "r", vehicles: vehicles)), on: peer)
        return peer
    }

    func send(_ message: Message, on peer: Peer) {
        self.read([(ByteBuffer(bytes: Codec.encode(Envelope(message)).bytes), peer)])
    }

    /// Lets each of the connections read once in one tick of the loop, up to the flush of all frames that follow.
    func read(_ reads: [(bytes: ByteBuffer, peer: Peer)]) {
        for (bytes, peer) in reads {
            peer.channel.pipeline.fireChannelRead(bytes)
            peer.channel.pipeline.fireChannelReadComplete()
        }
        self.loop.run()
    }

    /// Measures `work`, and the further turns that the gateway and the loop need for it.
    func measureAll(_ work: () throws -> Void) rethrows {
        try self.measure(work)
        while self.driver.isBusy { self.measure { self.loop.advanceTime(by: .microseconds(20)) } }
    }

    /// Runs the loop until the gateway and the loop have done everything.
    func run() {
        self.loop.run()
        while self.driver.isBusy { self.loop.advanceTime(by: .microseconds(20)) }
    }

    // Callgrind finds it by its name. The compiler must not merge similar calls into one function: then nothing would be counted.
    /// Measures `work`.
    @inline(never)
    func measure(_ work: () throws -> Void) rethrows {
        let before = waymark_allocation_count()
        try work()
        self.meter.allocations += waymark_allocation_count() - before
    }

    /// The number of heap allocations in the measured work.
    var allocations: UInt { self.meter.allocations }

    /// Advances the time and runs the timers that are due.
    func advance(_ time: Duration) {
        self.clock.advance(by: time)
        self.loop.advanceTime(by: TimeAmount(time))
    }
}

private final class Meter {
    var allocations: UInt = 0
}

/// A clock that is advanced explicitly.
private final class Clock: Sendable {
    private let nanoseconds = Atomic<Int64>(0)

    var now: Instant { Instant(nanoseconds: self.nanoseconds.load(ordering: .relaxed)) }

    func advance(by time: Duration) {
        self.nanoseconds.store((self.now + time).nanoseconds, ordering: .relaxed)
    }
}

/// A client that guides the endpoints of a scenario.
struct Rig {
    private let scenario: Scenario
    private let station: Station
    private let client: Peer
    private let endpoints: [Peer]
    private let observer: Witness?
    private var drive: Drive

    init(_ scenario: Scenario) throws {
        self.scenario = scenario
        let station = Station(
            acknowledges: scenario.isAcknowledged, visibility: scenario.observed ?? .state)
        self.station = station
        self.endpoints = try (0..<scenario.endpoints).map { index in
            var vehicle = VehicleHello(
                vehicle: Self.vehicle(index), endpoint: EndpointName(unchecked: "e\(index)"),
                features: Set(Feature.allCases))
            if scenario.isFitted {
                vehicle.limits.maneuverInstructionLengthMax = 12
                vehicle.limits.currentRoadNameLengthMax = 8
            }
            return try station.connect(.vehicle(vehicle))
        }
        self.client = try station.connectClient(
            to: .vehicles(Set((0..<scenario.endpoints).map(Self.vehicle)).sorted()))
        self.drive = Drive(session: try self.client.openedSession())
        self.observer = scenario.observed == nil ? nil : try Witness(on: station)
        self.read(ByteBuffer(bytes: self.drive.start()))
        _ = try self.countDelivered()
        try self.observer?.readAll()
    }

    /// Ten endpoints belong to one vehicle: the gateway allows sixteen.
    private static func vehicle(_ endpoint: Int) -> VehicleID { VehicleID(unchecked: "v\(endpoint / 10)") }

    /// The bytes of the next `count` reads.
    mutating func reads(_ count: Int) -> [ByteBuffer] {
        let scenario = self.scenario
        return (0..<count).map { _ in
            let isRoute = scenario.routePoints > 0
            return ByteBuffer(
                bytes: isRoute
                    ? self.drive.start(points: scenario.routePoints)
                    : self.drive.states(scenario.framesPerRead))
        }
    }

    func read(_ bytes: ByteBuffer) { self.station.read([(bytes, self.client)]) }

    /// Reads the frames delivered to the endpoints since the last call.
    ///
    /// - Returns: The number of frames.
    func countDelivered() throws -> Int {
        try self.endpoints.reduce(0) { try $0 + $1.frames().count }
    }

    /// Processes a number of reads, and checks that every endpoint received every frame.
    mutating func run(_ reads: Int) throws -> Report {
        var delivered = 0
        var untold = 0
        for (index, read) in self.reads(reads).enumerated() {
            self.station.measureAll { self.read(read) }
            delivered += try self.countDelivered()
            guard let observer else { continue }
            // Once as they came, and once as they went to the only audience.
            untold += 2 * self.scenario.framesPerRead
            guard (index + 1).isMultiple(of: self.scenario.readsPerTelling) || index + 1 == reads else {
                continue
            }
            self.station.measureAll { self.station.advance(.milliseconds(10)) }
            try observer.expect(publications: untold)
            untold = 0
        }
        let frames = reads * self.scenario.framesPerRead
        let expected = frames * self.scenario.endpoints
        guard delivered == expected else { throw Failure.lost(delivered: delivered, expected: expected) }
        return Report(frames: frames, deliveries: delivered, allocations: self.station.allocations)
    }

    enum Failure: Error {
        case noSession
        case noSocket(CInt)
        case lost(delivered: Int, expected: Int)
        case unexpected([Message])
    }
}

/// The amount of measured work.
struct Report: CustomStringConvertible {
    /// The number of received frames; for a crowd, of reconnections or Pings.
    var frames: Int
    /// The number of sent frames.
    var deliveries: Int
    /// The number of heap allocations.
    var allocations: UInt

    var description: String {
        "frames \(self.frames) deliveries \(self.deliveries) allocations \(self.allocations)"
    }
}

/// `HotPath SCENARIO READS`: processes a number of reads (of each drive; in request scenarios, requests of each vehicle with their
/// answers) and checks the result.
@main
enum HotPath {
    static func main() throws {
        let words = CommandLine.arguments.dropFirst()
        guard let name = words.first, let reads = words.last.flatMap(Int.init), words.count == 2 else {
            return self.explain()
        }
        if let scenario = Scenario.all.first(where: { $0.name == name }) {
            if let activity = scenario.crowd {
                var crowd = try Crowd(scenario.endpoints, activity)
                print(try crowd.run(reads))
            } else if scenario.isFleet {
                var fleet = try Fleet(scenario.endpoints)
                print(try fleet.run(reads))
            } else {
                var rig = try Rig(scenario)
                print(try rig.run(reads))
            }
        } else if let scenario = RequestScenario.all.first(where: { $0.name == name }) {
            var rig = try RequestRig(scenario)
            print(try rig.run(reads))
        } else {
            self.explain()
        }
    }

    private static func explain() {
        let names = Scenario.all.map(\.name) + RequestScenario.all.map(\.name)
        print("usage: HotPath \(names.joined(separator: "|")) READS")
    }
}
