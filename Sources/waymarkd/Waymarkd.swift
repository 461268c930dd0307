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
        discussion: """
            Addresses are tcp:HOST:PORT (port 0 lets the system choose) or unix:/path. Exits with status 78 if the \
            settings are wrong, with 1 if it cannot start, with 0 once it was told to stop.
            """,
        version: Software.name)

    @Option(help: "Read settings from this YAML file.") var config: String?
    @Option(help: "Listen here for vehicles; may be given several times.") var vehicleListen: [String] = []
    @Option(help: "Listen here for navigation clients; may be given several times.") var navigationListen:
        [String] = []
    @Flag(help: "Read the settings, say whether they are right, and exit.") var checkConfig = false
    @Option(help: "trace, debug, info, notice, warning, error or critical.", transform: Self.level)
    var logLevel: Logger.Level?

    func run() async throws {
        let settings = try self.readSettings()
        if self.checkConfig {
            do throws(DaemonError) { try Daemon.check(settings) } catch {
                Self.complain("\(error)")
                throw error.exitCode
            }
            return print("the configuration is right")
        }
        let level = self.logLevel ?? Logger.Level(rawValue: settings.logLevel) ?? .info
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let logger = Logger(label: "waymarkd")
        let group = ServiceGroup(
            services: [
                DaemonService(settings: settings, continuing: Handover.take(logger), logger: logger)
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "lifecycle") { _ in SwiftLogNoOpLogHandler() })
        do {
            try await group.run()
        } catch let error as DaemonError {
            logger.error("cannot start", metadata: ["reason": "\(error)"])
            throw error.exitCode
        }
    }

    @Sendable private static func level(_ name: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: name) else {
            throw ValidationError("\(name) is not a log level")
        }
        return level
    }

    /// The file's settings and those of the command line.
    private func readSettings() throws -> Settings {
        var settings = try self.readFile()
        for address in self.vehicleListen {
            settings.listeners.append(.init(address: address, roles: [.vehicle]))
        }
        for address in self.navigationListen {
            settings.listeners.append(.init(address: address, roles: [.navigation]))
        }
        return settings
    }

    private func readFile() throws -> Settings {
        guard let config = self.config else { return Settings() }
        let text: String
        do { text = try String(contentsOfFile: config, encoding: .utf8) } catch {
            Self.complain("\(config) cannot be read: \(error.localizedDescription)")
            throw ExitCode.failure
        }
        do throws(ConfigurationError) { return try Configuration.read(text, file: config) } catch {
            Self.complain("\(error)")
            throw ExitCode.wrongSettings
        }
    }

    private static func complain(_ sentence: String) {
        FileHandle.standardError.write(Data("waymarkd: \(sentence)\n".utf8))
    }
}

extension ExitCode {
    /// EX_CONFIG of sysexits.h: trying again without a change is of no use.
    fileprivate static let wrongSettings = ExitCode(78)
}

extension DaemonError {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .setting: .wrongSettings
        case .folder, .listener: .failure
        }
    }
}
