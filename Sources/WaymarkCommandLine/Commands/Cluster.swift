package import ArgumentParser
internal import Foundation
internal import Synchronization
internal import WaymarkClient
internal import WaymarkModel

/// Reads an address; the error names the option.
func address(_ text: String?, default fallback: ServiceAddress) throws -> ServiceAddress {
    guard let text else { return fallback }
    guard let address = ServiceAddress(text) else {
        throw ValidationError("--connect \(text) is not an address; use tcp:HOST:PORT or unix:/path")
    }
    return address
}

package struct Cluster: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Be an instrument cluster.",
        discussion:
            "In a terminal it draws; with --json it prints one object per line, see Docs/cluster-json.md.")

    @Option(help: "The vehicle's id.") var id: String
    @Option(help: "The endpoint's name in the vehicle.") var endpoint = "cluster"
    @Option(help: "Where the gateway takes vehicles.") var connect: String?
    @Option(help: "A profile that ships (full, short-text, ...) or a file.") var profile = "full"
    @Flag(help: "Print one JSON object per line.") var json = false
    @Option(help: "Answer to prompts: yes or no.") var acceptPrompts = "yes"
    @Option(help: "End with status 0 at: finished, cancelled, ended (of any kind).") var until: String?

    package init() {}

    package func run() async throws {
        let address = try address(self.connect, default: .defaultVehicle)
        let profile: ClusterProfile
        do { profile = try ClusterProfile.load(self.profile) } catch { throw CommandFailure("\(error)") }
        let (done, finish) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let isDrawing = !self.json && Terminal.isInteractive
        if isDrawing { Terminal.clear() }
        let (json, until, id) = (self.json, self.until, self.id)
        var configuration = VehicleEndpoint.Configuration(vehicle: self.id, endpoint: self.endpoint)
        configuration.limits = profile.limits
        configuration.withoutFeatures = profile.without
        configuration.distanceUnits = profile.distanceUnits
        configuration.locale = profile.locale
        let isAccepting = self.acceptPrompts == "yes"
        configuration.onPrompt = { _ in isAccepting }
        configuration.onDestination = { _ in isAccepting }
        configuration.onConnection = { state in
            if json {
                Terminal.line(ClusterJSON.connection("\(state)"))
            } else if !isDrawing {
                Terminal.note("\(state)")
            }
            if case .closed = state { finish.finish() }
        }
        let last = Mutex("")
        configuration.onUpdate = { update in
            if json {
                Terminal.line(ClusterJSON.update(update))
                if update.name != "snapshotBegin" { Terminal.line(ClusterJSON.state(update.state)) }
            } else {
                let lines = ClusterScreen.lines(update.state, title: id)
                if isDrawing { Terminal.draw(lines) } else { Self.printChange(lines, last) }
            }
            if Self.isReached(until, update.state) { finish.finish() }
            if profile.readDelay > .zero {
                do { try await Task.sleep(for: profile.readDelay) } catch { /* Ending: no need to wait. */  }
            }
        }
        let cluster: VehicleEndpoint
        do throws(ClientError) {
            cluster = try await VehicleEndpoint.connect(to: address, configuration)
        } catch {
            throw CommandFailure("\(error)")
        }
        await cluster.setReady(true)
        for await _ in done {}
        await cluster.close()
    }

    private static func isReached(_ until: String?, _ state: VehicleState) -> Bool {
        guard let until, case .ended(let reason) = state.phase else { return false }
        return until == "ended" || reason == until || (until == "cancelled" && reason != "finished")
    }

    /// Without a terminal: a line when the maneuver or the phase changes.
    private static func printChange(_ lines: [String], _ last: borrowing Mutex<String>) {
        let line = lines.count > 3 ? lines[3].trimmingCharacters(in: .whitespaces) : ""
        let isNew = last.withLock { last in
            defer { last = line }
            return last != line
        }
        if isNew, !line.isEmpty { Terminal.line(line) }
    }
}
