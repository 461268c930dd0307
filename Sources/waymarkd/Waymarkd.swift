internal import ArgumentParser
internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals
internal import WaymarkConfiguration
internal import WaymarkDaemon
internal import WaymarkProtocol
internal import WaymarkTransport

@main
struct Waymarkd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "waymarkd",
        abstract: "Streams guidance from navigation clients to vehicles.",
        discussion: "Addresses are tcp:HOST:PORT (port 0 lets the system choose) or unix:/path.",
        version: Software.name)

    @Option(help: "Read settings from this YAML file.") var config: String?
    @Option(help: "Listen here for vehicles; may be given several times.") var vehicleListen: [String] = []
    @Option(help: "Listen here for navigation clients; may be given several times.") var navigationListen:
        [String] = []
    @Flag(help: "Read the settings, say whether they are right, and exit.") var checkConfig = false
    @Option(help: "trace, debug, info, notice, warning, error or critical.") var logLevel: String?

    func run() async throws {
        var settings = try self.readSettings()
        for address in self.vehicleListen {
            settings.listeners.append(.init(address: address, roles: [.vehicle]))
        }
        for address in self.navigationListen {
            settings.listeners.append(.init(address: address, roles: [.navigation]))
        }
        if self.checkConfig { return print("the configuration is right") }
        if settings.listeners.isEmpty { settings.listeners = try DefaultAddresses.listeners() }
        guard let level = Logger.Level(rawValue: self.logLevel ?? settings.logLevel) else {
            throw ValidationError("\(self.logLevel ?? "") is not a log level")
        }
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let logger = Logger(label: "waymarkd")
        let group = ServiceGroup(
            services: [DaemonService(settings: settings, logger: logger)],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "lifecycle") { _ in SwiftLogNoOpLogHandler() })
        do {
            try await group.run()
        } catch let error as DaemonError {
            logger.error("cannot start", metadata: ["reason": "\(error)"])
            throw ExitCode.failure
        }
    }

    private func readSettings() throws -> Settings {
        guard let config = self.config else { return Settings() }
        let text: String
        do { text = try String(contentsOfFile: config, encoding: .utf8) } catch {
            throw ValidationError("\(config) cannot be read: \(error.localizedDescription)")
        }
        do throws(ConfigurationError) { return try Configuration.read(text, file: config) } catch {
            throw ValidationError("\(error)")
        }
    }
}
