package import ArgumentParser
internal import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol
package import WaymarkTexts

package struct Cluster: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Be an instrument cluster, or watch one.",
        usage: "waymark cluster --id <id> [<options>]",
        discussion: """
            In a terminal it draws, asks the user, and its keys send the vehicle's requests. With --json it prints one \
            object per line, see Docs/cluster-json.md. Otherwise it prints a line for every step and every maneuver.

            Without a terminal, and with --watch, it only watches: the vehicle does not become ready by it, it asks for \
            no guidance and answers nothing. --accept-prompts makes it a cluster that answers, and --commands one that \
            does what the lines of standard input say: waypoint LAT LON, destination LAT LON, select TRIP [ROUTE], \
            start [TRIP [ROUTE]], withdraw, yes, no, cancel, own, allow, quit. Its end is that of standard input.
            """)

    @Option(help: "The vehicle's id.") var id: String
    @Option(help: "The endpoint's name in the vehicle.") var endpoint = "cluster"
    @OptionGroup var connection: ConnectionOptions
    @Option(
        help:
            "What the cluster can do: a profile that ships (\(Resources.profileNames.joined(separator: ", "))), or a file.",
        completion: .file(extensions: ["json"]))
    var profile = "full"
    @Option(help: "The largest frame that the cluster takes, in bytes, 4096 to 16777216: a small device.")
    var receiveFrameBytesMax: UInt32?
    @Flag(help: "Print one JSON object per line.") var json = false
    @Option(
        help:
            """
            With --json, print the retained state after each change: not at all, only what changed (default), in full, or \
            in full where all of it has arrived, as a driver sees it.
            """
    )
    var states: ClusterJSON.States?
    @Option(
        help:
            "Who answers questions to the user. Default: ask in a terminal, otherwise only watch."
    )
    var acceptPrompts: ClusterApp.Prompts?
    @Flag(help: "Only watch, also in a terminal.") var watch = false
    @Flag(help: "Do what the lines of standard input say, and end when it does.") var commands = false
    @Option(help: "End with status 0 when guidance ends so; `ended` means either.") var until:
        ClusterApp.Until?
    @Option(
        help:
            "End after so many seconds of being connected: with status 1 if --until was not reached, else with 0."
    )
    var timeout: Double?

    package init() {}

    package func validate() throws {
        if let timeout { _ = try duration(seconds: timeout, option: "--timeout") }
        if let receiveFrameBytesMax, !ProtocolConstants.frameBytes.contains(receiveFrameBytesMax) {
            throw ValidationError("--receive-frame-bytes-max must be 4096 to 16777216")
        }
        if self.states != nil, !self.json { throw ValidationError("--states needs --json") }
        if self.watch, self.acceptPrompts != nil {
            throw ValidationError("--watch answers nothing, so it cannot have --accept-prompts")
        }
        if self.commands, self.watch || self.acceptPrompts != nil {
            throw ValidationError("--commands answers prompts, so it cannot have --watch or --accept-prompts")
        }
    }

    package func run() async throws {
        let address = try self.connection.address(default: .defaultVehicle)
        let profile: ClusterProfile
        do { profile = try ClusterProfile.load(self.profile) } catch {
            throw CommandFailure("--profile: \(error)")
        }
        let isDrawing = !self.json && !self.commands && Terminal.isInteractive
        let keyboard = isDrawing || self.acceptPrompts == .ask ? Keyboard() : nil
        if self.acceptPrompts == .ask, keyboard == nil {
            throw ValidationError("--accept-prompts ask needs a terminal to ask in; use yes or no")
        }
        let app = ClusterApp(self.options(isDrawing: isDrawing, hasKeyboard: keyboard != nil))
        if app.options.prompts == nil, !self.watch {
            Terminal.note("only watching; --accept-prompts makes this a cluster that is ready and answers")
        }
        if isDrawing { Terminal.beginDrawing() }
        defer {
            keyboard?.restore()
            if isDrawing { Terminal.endDrawing() }
        }
        try await interruptible { try await self.show(app, keyboard, address, profile) }
    }

    private func options(isDrawing: Bool, hasKeyboard: Bool) -> ClusterApp.Options {
        var options = ClusterApp.Options()
        options.title = "\(self.id)/\(self.endpoint)"
        options.output = self.json ? .json : isDrawing ? .screen : .lines
        let asks = self.commands || isDrawing && hasKeyboard
        options.prompts = self.watch ? nil : self.acceptPrompts ?? (asks ? .ask : nil)
        options.takesDestinations = self.commands
        options.until = self.until
        options.states = self.states ?? .changes
        options.keys = options.prompts == nil ? ClusterApp.watchingKeys : ClusterApp.keys
        return options
    }

    private func show(
        _ app: ClusterApp, _ keyboard: Keyboard?, _ address: ServiceAddress, _ profile: ClusterProfile
    ) async throws {
        let configuration = try self.configuration(profile, app)
        let cluster: VehicleEndpoint
        do throws(ClientError) {
            await app.apply(.connecting)
            cluster = try await self.connection.waitingForGateway { () throws(ClientError) in
                do throws(ClientError) {
                    return try await VehicleEndpoint.connect(to: address, configuration)
                } catch {
                    // On the screen the note of ``waitingForGateway`` is soon drawn over.
                    if let wait = self.connection.wait, app.options.output == .screen {
                        await app.show("waiting up to \(secondsText(wait)): \(error)")
                    }
                    throw error
                }
            }
        } catch {
            await app.connectionFailed(error)
            throw failure(error)
        }
        await app.attach(cluster)
        if app.options.prompts != nil { await cluster.setReady(true) }
        let end = await self.end(of: app, keyboard)
        await cluster.close()
        if case .failed(let error) = end { throw CommandFailure("\(error)") }
        if let until, end != .reached {
            let limit = end == .timedOut ? " within \(secondsText(self.timeout ?? 0))" : ""
            throw CommandFailure("--until \(until) was not reached\(limit)")
        }
    }

    /// Waits until the cluster is to end, also because this task was cancelled.
    private func end(of app: ClusterApp, _ keyboard: Keyboard?) async -> ClusterApp.End {
        let keys = keyboard?.keys
        let typist = Task {
            if let keys { for await key in keys { await app.press(key) } }
            guard self.commands else { return }
            for await line in InputLines().lines { await app.obey(line) }
            await app.finish()
        }
        let clock = Task {
            while !Task.isCancelled {
                do { try await Task.sleep(for: .seconds(1)) } catch { return }
                await app.draw()
            }
        }
        let timer = Task {
            guard let timeout else { return }
            do { try await Task.sleep(for: .seconds(timeout)) } catch { return }
            await app.finish(.timedOut)
        }
        defer { for task in [typist, clock, timer] { task.cancel() } }
        for await end in app.ends { return end }
        await app.finish()
        return .asked
    }

    private func configuration(
        _ profile: ClusterProfile, _ app: ClusterApp
    ) throws -> VehicleEndpoint.Configuration {
        var configuration = VehicleEndpoint.Configuration(vehicle: self.id, endpoint: self.endpoint)
        configuration.credential = try self.connection.key()
        configuration.reconnection.refusalDelay = nil
        configuration.limits = profile.limits
        configuration.receiveFrameBytesMax = self.receiveFrameBytesMax ?? profile.receiveFrameBytesMax
        configuration.withoutFeatures = profile.without
        configuration.distanceUnits = profile.distanceUnits
        configuration.locale = profile.locale
        configuration.extensions = profile.extensions
        configuration.isGuidanceWanted = app.options.prompts != nil
        if app.options.prompts != nil {
            configuration.onPrompt = { await app.ask($0) }
            configuration.onDestination = { await app.ask($0) }
        }
        let delay = profile.readDelay
        configuration.onEveryUpdate = { update in
            await app.apply(update)
            if delay > .zero {
                do { try await Task.sleep(for: delay) } catch { /* Ending: no need to wait. */  }
            }
        }
        return configuration
    }
}

extension ClusterApp.Prompts: ExpressibleByArgument {}
extension ClusterApp.Until: ExpressibleByArgument {}
extension ClusterJSON.States: ExpressibleByArgument {}
