import Foundation
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// Connections that violate the protocol: `WAYMARK_HOSTILE` of them, by default a thousand.
@Suite(.timeLimit(.minutes(10))) struct HostileTests {
    private static let count =
        ProcessInfo.processInfo.environment["WAYMARK_HOSTILE"].flatMap(Int.init) ?? 1_000

    @Test func `random bytes and mutated frames do not stop the daemon, leak memory or disturb a drive`()
        async throws
    {
        let daemon = try await RunningDaemon.start(["--log-level", "notice"])
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "1", "--route", ProgramTests.route("vaduz-balzers"))
        try await cluster.line(containing: "updateTripEstimates")
        var random = SeededRandom(seed: 2_027)
        let places: [Place] = [
            .unix("\(daemon.folder)/v"), .unix("\(daemon.folder)/n"),
            .tcp(try #require(Self.port(daemon.tcp))),
        ]
        // Why: the allocator needs some connections to reach its working size.
        for index in 0..<Self.count / 4 { Self.attack(places[index % 3], &random) }
        let before = try Self.residentBytes(daemon.program.identifier)
        for index in 0..<Self.count { Self.attack(places[index % 3], &random) }
        // On each event loop, these requests are processed after all hostile connections.
        for _ in 0..<3 {
            let request = try daemon.waymark("request", "route-source", "inactive", "--id", "car")
            #expect(await request.end() == 0)
        }
        let after = try Self.residentBytes(daemon.program.identifier)
        #expect(after < before + 16 * 1_024 * 1_024, "\(before) bytes, then \(after)")
        let descriptors = try FileManager.default.contentsOfDirectory(
            atPath: "/proc/\(daemon.program.identifier)/fd")
        #expect(descriptors.count < 64, "\(descriptors.count) descriptors are open")
        let seen = cluster.lines.map(Self.sequence).max() ?? 0
        try await cluster.line { Self.sequence($0) > seen ? $0 : nil }
        #expect(!cluster.lines.contains { $0.contains("\"connecting\"") && $0 != cluster.lines[0] })
        navigate.signal(SIGINT)
        await navigate.end()
        cluster.signal(SIGINT)
        await cluster.end()
        try await daemon.stop()
    }

    // MARK: Attacks

    private static func attack(_ place: Place, _ random: inout SeededRandom) {
        guard let descriptor = place.connect() else {
            Issue.record("the daemon no longer listens")
            return
        }
        defer { close(descriptor) }
        let bytes = Self.bytes(&random)
        _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        // Some wait for an answer before they disconnect.
        if Bool.random(using: &random) {
            var answer = [UInt8](repeating: 0, count: 256)
            shutdown(descriptor, Int32(SHUT_WR))
            _ = recv(descriptor, &answer, answer.count, 0)
        }
    }

    private static func bytes(_ random: inout SeededRandom) -> [UInt8] {
        guard Bool.random(using: &random) else {
            return (0..<Int.random(in: 1...300, using: &random)).map { _ in
                .random(in: 0...255, using: &random)
            }
        }
        var bytes = Self.conversation
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
        }
        return Array(bytes.prefix(Int.random(in: 1...bytes.count, using: &random)))
    }

    /// Valid messages of a client.
    private static let conversation: [UInt8] = {
        let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9), nameVariants: ["x"])
        let navigation = NavigationHello(client: ClientID(unchecked: "evil"), features: Set(Feature.allCases))
        let opening = OpenSession(requestID: "1", vehicles: .vehicles([VehicleID(unchecked: "other")]))
        let trip = Trip(id: "t", origin: place, destination: place)
        let messages: [Envelope] = [
            Envelope(.hello(Hello(role: .navigation(navigation)))), Envelope(.openSession(opening)),
            Envelope(
                .publication(.startGuidance(trip, generation: 1, RouteInformation())), session: SessionID(1),
                sequence: 1),
            Envelope(.publication(.currentRoadName(["road"])), session: SessionID(1), sequence: 2),
        ]
        return messages.flatMap { Array(Codec.encode($0).bytes) }
    }()

    // MARK: Sockets

    enum Place {
        case unix(String)
        case tcp(UInt16)

        func connect() -> Int32? {
            switch self {
            case .unix(let path):
                var address = sockaddr_un()
                address.sun_family = sa_family_t(AF_UNIX)
                withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
                return Self.connect(AF_UNIX, address)
            case .tcp(let port):
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = port.bigEndian
                address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                return Self.connect(AF_INET, address)
            }
        }

        private static func connect<Address>(_ family: Int32, _ address: Address) -> Int32? {
            let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
            let isConnected = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, UInt32(MemoryLayout<Address>.size)) == 0
                }
            }
            if isConnected { return descriptor }
            close(descriptor)
            return nil
        }
    }

    private static func sequence(_ line: String) -> Int { ProgramTests.object(line)["sequence"] as? Int ?? 0 }

    private static func port(_ address: String) -> UInt16? {
        address.split(separator: ":").last.flatMap { UInt16($0) }
    }

    private static func residentBytes(_ process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)
        let pages = try #require(status.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        return pages * 4_096
    }
}
