import Foundation
import Logging
import Testing
import WaymarkClient
import WaymarkConfiguration
import WaymarkDaemon
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

/// A daemon on sockets of its own.
struct Service {
    let folder: String
    var daemon: Daemon

    var vehicle: ServiceAddress { .unix(path: "\(self.folder)/v") }
    var navigation: ServiceAddress { .unix(path: "\(self.folder)/n") }
    var observer: ServiceAddress { .unix(path: "\(self.folder)/o") }

    static func start(_ change: (inout Settings) -> Void = { _ in }) async throws -> Service {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "wm-\(UInt32.random(in: 0 ... .max))"
        ).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return Service(folder: folder, daemon: try await Self.daemon(folder, change))
    }

    static func daemon(_ folder: String, _ change: (inout Settings) -> Void = { _ in }) async throws -> Daemon
    {
        var settings = Settings()
        var observers = Settings.Listener(address: "unix:\(folder)/o", roles: [.observer])
        observers.visibility = .content
        settings.listeners = [
            .init(address: "unix:\(folder)/v", roles: [.vehicle]),
            .init(address: "unix:\(folder)/n", roles: [.navigation]),
            .init(address: "tcp:127.0.0.1:0", roles: [.vehicle]),
            observers,
        ]
        settings.drainTimeout = .seconds(2)
        // Other tests may keep a peer of this one waiting for long.
        settings.connection.handshakeTimeout = .seconds(600)
        settings.connection.keepalive = .seconds(600)
        change(&settings)
        return try await Daemon.start(
            settings, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    func stop() async {
        await self.daemon.shutdown(reconnectAfter: .milliseconds(1))
        do { try FileManager.default.removeItem(atPath: self.folder) } catch { Issue.record(error) }
    }
}

/// Records an endpoint's updates, and lets a test wait for a state.
actor Witness {
    private(set) var state = VehicleState()
    private(set) var names: [String] = []
    private var waiting:
        [(condition: @Sendable (VehicleState) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

    func record(_ update: VehicleUpdate) {
        self.state = update.state
        self.names.append(update.name)
        self.waiting.removeAll { waiting in
            guard waiting.condition(update.state) else { return false }
            waiting.continuation.resume()
            return true
        }
    }

    func wait(for condition: @escaping @Sendable (VehicleState) -> Bool) async {
        if condition(self.state) { return }
        await withCheckedContinuation { self.waiting.append((condition, $0)) }
    }

    static func endpoint(
        _ name: String, at address: ServiceAddress, vehicle: String = "car", prompts: Bool? = nil
    ) async throws -> (VehicleEndpoint, Witness) {
        let witness = Witness()
        var configuration = VehicleEndpoint.Configuration(vehicle: vehicle, endpoint: name)
        configuration.reconnection = ReconnectionPolicy(
            firstDelay: .milliseconds(5), delayMax: .milliseconds(50), firstAttemptsMax: 3)
        configuration.onEveryUpdate = { await witness.record($0) }
        if let prompts { configuration.onPrompt = { _ in prompts } }
        return (try await VehicleEndpoint.connect(to: address, configuration), witness)
    }
}

let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9), nameVariants: ["Here"])
let trip = Trip(id: "t", origin: place, destination: place)
let route = RouteInformation(
    maneuvers: (1...3).map { Maneuver(id: ManeuverID(rawValue: $0), type: .leftTurn) },
    upcomingManeuvers: [ManeuverID(rawValue: 1)])

func navigation(_ id: String, at address: ServiceAddress) async throws -> NavigationClient {
    var configuration = NavigationClient.Configuration(id: id)
    configuration.reconnection = ReconnectionPolicy(
        firstDelay: .milliseconds(5), delayMax: .milliseconds(50), firstAttemptsMax: 3)
    configuration.onDestination = { _ in .accept }
    return try await NavigationClient.connect(to: address, configuration)
}

/// For tests that lose connections.
let quick = ReconnectionPolicy(firstDelay: .milliseconds(1), delayMax: .milliseconds(5))
