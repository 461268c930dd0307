package import ArgumentParser
internal import Foundation
internal import WaymarkClient
internal import WaymarkModel

package struct Cluster: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Be an instrument cluster.",
        discussion: """
            In a terminal it draws, and keys send the vehicle's requests. With --json it prints one object per line, see
            Docs/cluster-json.md. Otherwise it prints a line for every maneuver.
            """)

    @Option(help: "The vehicle's id.") var id: String
    @Option(help: "The endpoint's name in the vehicle.") var endpoint = "cluster"
    @OptionGroup var connection: ConnectionOptions
    @Option(
        help:
            "What the cluster can do: a profile that ships (\(Resources.profileNames.joined(separator: ", "))), or a file.",
        completion: .file(extensions: ["json"]))
    var profile = "full"
    @Flag(help: "Print one JSON object per line.") var json = false
    @Option(help: "Who answers when the user is asked; without it ask in a terminal, else yes.")
    var acceptPrompts: ClusterApp.Prompts?
    @Option(help: "End with status 0 when guidance ends so; ended is of any kind.") var until:
        ClusterApp.Until?

    package init() {}

    package func run() async throws {
        let address = try self.connection.address(default: .defaultVehicle)
        let profile: ClusterProfile
        do { profile = try ClusterProfile.load(self.profile) } catch {
            throw ValidationError("--profile: \(error)")
        }
        let isDrawing = !self.json && Terminal.isInteractive
        let keyboard = isDrawing ? Keyboard() : nil
        let app = ClusterApp(
            title: "\(self.id)/\(self.endpoint)", output: self.json ? .json : isDrawing ? .screen : .lines,
            prompts: self.acceptPrompts ?? (keyboard == nil ? .yes : .ask), until: self.until)
        if isDrawing { Terminal.beginDrawing() }
        defer {
            keyboard?.restore()
            if isDrawing { Terminal.endDrawing() }
        }
        let configuration = try self.configuration(profile, app)
        try await interruptible({ await app.finish() }) {
            try await self.show(app, keyboard, address, configuration)
        }
    }

    private func show(
        _ app: ClusterApp, _ keyboard: Keyboard?, _ address: ServiceAddress,
        _ configuration: VehicleEndpoint.Configuration
    ) async throws {
        let cluster: VehicleEndpoint
        do throws(ClientError) {
            cluster = try await VehicleEndpoint.connect(to: address, configuration)
        } catch {
            throw failure(error)
        }
        await app.attach(cluster)
        await cluster.setReady(true)
        let keys = keyboard?.keys
        let typist = Task { if let keys { for await key in keys { await app.press(key) } } }
        var error: ClientError?
        for await end in app.ends {
            error = end
            break
        }
        typist.cancel()
        await cluster.close()
        if let error { throw CommandFailure("\(error)") }
        if self.until != nil, await !app.isUntilReached { throw ExitCode.failure }
    }

    private func configuration(
        _ profile: ClusterProfile, _ app: ClusterApp
    ) throws -> VehicleEndpoint.Configuration {
        var configuration = VehicleEndpoint.Configuration(vehicle: self.id, endpoint: self.endpoint)
        configuration.credential = try self.connection.key()
        configuration.limits = profile.limits
        configuration.withoutFeatures = profile.without
        configuration.distanceUnits = profile.distanceUnits
        configuration.locale = profile.locale
        configuration.onPrompt = { await app.ask($0) }
        configuration.onDestination = { await app.ask($0) }
        configuration.onConnection = { await app.take($0) }
        let delay = profile.readDelay
        configuration.onEveryUpdate = { update in
            await app.take(update)
            if delay > .zero {
                do { try await Task.sleep(for: delay) } catch { /* Ending: no need to wait. */  }
            }
        }
        return configuration
    }
}

extension ClusterApp.Prompts: ExpressibleByArgument {}
extension ClusterApp.Until: ExpressibleByArgument {}
