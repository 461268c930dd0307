#if Inspector
    import Foundation
    import Logging
    import Synchronization
    import WaymarkClient
    import WaymarkCodec
    import WaymarkConfiguration
    import WaymarkDaemon
    import WaymarkInspectorServer
    import WaymarkModel
    import WaymarkProtocol

    /// Waits until a condition holds; the time limit of the suite ends that.
    func until(_ condition: () async throws -> Bool) async throws {
        while !(try await condition()) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// A daemon on sockets of its own.
    struct Gateway: Sendable {
        let folder: String
        let daemon: Daemon

        static var newFolder: String {
            FileManager.default.temporaryDirectory.path + "/i-\(UInt32.random(in: 0 ... .max))"
        }

        static func start(
            in folder: String = Self.newFolder, _ change: (inout Settings) -> Void = { _ in }
        ) async throws -> Gateway {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            var settings = Settings()
            var observers = Settings.Listener(address: "unix:\(folder)/o", roles: [.observer])
            observers.visibility = .content
            settings.listeners = [
                Settings.Listener(address: "unix:\(folder)/v", roles: [.vehicle]),
                Settings.Listener(address: "unix:\(folder)/n", roles: [.navigation]), observers,
            ]
            settings.connection.keepalive = .seconds(600)
            settings.waitForPeers(.seconds(600))
            settings.drainTimeout = .seconds(2)
            change(&settings)
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            return Gateway(folder: folder, daemon: try await Daemon.start(settings, logger: logger))
        }

        func address(_ socket: String) -> ServiceAddress { .unix(path: "\(self.folder)/\(socket)") }

        func stop() async { await self.daemon.shutdown(reconnectAfter: .milliseconds(1)) }
    }

    /// Remembers what endpoints sent, as an observer is told.
    final class Witness: Sendable {
        private let sent = Mutex<[Message]>([])

        func handle(_ event: ObservationTap.Event) {
            guard case .received(.observedFrames(let told)) = event, told.direction == .in else { return }
            for frame in Frame.all(in: told.frames) {
                do {
                    let message = try Codec.decode(frame).message
                    self.sent.withLock { $0.append(message) }
                } catch { /* Of no interest. */  }
            }
        }

        func has(_ condition: (Message) -> Bool) -> Bool {
            self.sent.withLock { $0.contains(where: condition) }
        }

        /// Answers to prompts and shared destinations.
        var answers: [Message] {
            self.sent.withLock { sent in
                sent.filter { [.promptAnswer, .destinationShareAnswer].contains($0.type) }
            }
        }
    }

    /// The vehicle `car`, which a client guides, with an endpoint that answers nothing, and a desk that may speak for it.
    struct Drive: Sendable {
        static let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9), nameVariants: ["Here"])

        let gateway: Gateway
        let desk: ActionDesk
        let cluster: VehicleEndpoint
        let client: NavigationClient
        let session: NavigationSession
        let witness = Witness()
        private let tap: ObservationTap

        /// The desk's endpoint is connected. `onWaypoint` answers requests; without it the user of the vehicle is asked.
        static func start(
            _ settings: ActionDesk.Settings = .init(), change: (inout Settings) -> Void = { _ in },
            onWaypoint: @escaping @Sendable (WaypointInquiry) async -> WaypointAnswer = { _ in
                .estimates(TravelEstimates(distanceRemaining: .meters(5))) {}
            }
        ) async throws -> Drive {
            let gateway = try await Gateway.start(change)
            var settings = settings
            settings.address = gateway.address("v")
            let desk = ActionDesk(settings)
            let cluster = try await VehicleEndpoint.connect(
                to: gateway.address("v"), .init(vehicle: "car", endpoint: "cluster"))
            try await desk.act(#"{"vehicle": "car", "action": "connect"}"#)
            let client = try await NavigationClient.connect(to: gateway.address("n"), .init(id: "app"))
            let session = try await client.openSession(
                vehicles: .vehicles(["car"]), onWaypoint: { inquiry, _ in await onWaypoint(inquiry) })
            try await session.start(
                Trip(id: "t", origin: Self.place, destination: Self.place), route: .init())
            try await session.whenAccepted()
            return try await Drive(gateway, desk, cluster, client, session)
        }

        private init(
            _ gateway: Gateway, _ desk: ActionDesk, _ cluster: VehicleEndpoint, _ client: NavigationClient,
            _ session: NavigationSession
        ) async throws {
            (self.gateway, self.desk, self.cluster) = (gateway, desk, cluster)
            (self.client, self.session) = (client, session)
            var configuration = Observer.Configuration(id: "witness")
            configuration.includesFrames = true
            let witness = self.witness
            self.tap = try await ObservationTap.connect(to: gateway.address("o"), configuration) {
                witness.handle($0)
            }
        }

        /// What the inspector's endpoint has answered, when everything has arrived that it sent before.
        func answers() async throws -> [Message] {
            try await self.desk.act(#"{"vehicle": "car", "action": "allow"}"#)
            try await until { self.witness.has { $0.type == .allowNavigation } }
            return self.witness.answers
        }

        func stop() async {
            await self.desk.close()
            await self.tap.close()
            await self.client.close()
            await self.cluster.close()
            await self.gateway.stop()
        }
    }

    /// What a page gets of the actions of a vehicle.
    struct Seen: Decodable, Sendable {
        struct Place: Decodable, Sendable, Hashable {
            var center: [Double]?
            var nameVariants: [String]?
        }
        struct Prompt: Decodable, Sendable {
            let requestID: String
            let waypoint: Place
            let deadline: Double
        }
        struct Share: Decodable, Sendable {
            let shareID: String
            let destination: Place
            let deadline: Double?
        }
        struct Endpoint: Decodable, Sendable {
            struct Held: Decodable, Sendable {
                struct Maneuver: Decodable, Sendable { let id: UInt32 }
                var maneuvers: [Maneuver]?
            }
            struct Received: Decodable, Sendable { let message: String }
            let state: String
            let reason: String?
            let configuration: String?
            let held: Held?
            let received: [Received]?
        }
        struct Done: Decodable, Sendable {
            let id: String
            let action: String
            let text: String
            let state: String
            let outcome: String?
            let requestID: String?
        }

        let endpoint: Endpoint
        let prompt: Prompt?
        let share: Share?
        /// Newest first.
        let done: [Done]
        let at: Double
    }

    extension ActionDesk {
        @discardableResult
        func act(_ body: String) async throws -> String { try await self.act(Data(body.utf8)) }

        func seen(_ vehicle: String = "car") async throws -> Seen {
            try JSONDecoder().decode(Seen.self, from: self.object(vehicle, since: Date()))
        }
    }
#endif
