internal import Foundation
public import WaymarkClient
internal import WaymarkModel

/// The addresses of a gateway that belongs to one test.
public struct PrivateGateway: Sendable {
    /// For navigation clients.
    public let navigation: ServiceAddress
    /// For vehicles.
    public let vehicle: ServiceAddress
}

/// Runs `body` beside a `waymarkd` on sockets in a folder of its own. `waymarkd` is the program's path.
public func withPrivateGateway<Result>(
    waymarkd: String = "/usr/bin/waymarkd", _ body: (PrivateGateway) async throws -> Result
) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "gateway-\(UUID())").path
    try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let gateway = PrivateGateway(
        navigation: .unix(path: "\(folder)/navigation"), vehicle: .unix(path: "\(folder)/vehicle"))
    let process = Process()
    process.executableURL = URL(filePath: waymarkd)
    process.arguments = [
        "--navigation-listen", "\(gateway.navigation)", "--vehicle-listen", "\(gateway.vehicle)",
    ]
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer {
        process.terminate()
        process.waitUntilExit()
        do { try FileManager.default.removeItem(atPath: folder) } catch { print("\(folder) is left") }
    }
    return try await body(gateway)
}

/// Tries to connect for some seconds, because the gateway may still be starting.
public let patient = ReconnectionPolicy(
    firstDelay: .milliseconds(20), delayMax: .milliseconds(200), firstAttemptsMax: 100)

/// A cluster sees the destination of a trip.
///
/// - Returns: The destination's name.
public func destinationSeen(by vehicle: String, through gateway: PrivateGateway) async throws -> String? {
    var cluster = VehicleEndpoint.Configuration(vehicle: vehicle, endpoint: "cluster")
    cluster.reconnection = patient
    var app = NavigationClient.Configuration(id: "app")
    app.reconnection = patient
    return try await withVehicleEndpoint(to: gateway.vehicle, cluster) { cluster in
        await cluster.setReady(true)
        return try await withNavigationClient(to: gateway.navigation, app) { client in
            let session = try await client.openSession(vehicles: .vehicles([vehicle]))
            try await session.whenReady(vehicle)
            try await session.start(exampleTrip, route: .init())
            for await state in await cluster.states where state.phase == .active {
                return state.trip?.destination.nameVariants.first
            }
            return nil
        }
    }
}
