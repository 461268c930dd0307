package import ArgumentParser
internal import Foundation
internal import Logging
internal import ProcessIO
internal import ServiceLifecycle
internal import UnixSignals
internal import WaymarkConfiguration
internal import WaymarkDaemon
internal import WaymarkProtocol
internal import WaymarkTelemetry

/// The daemon.
package struct Waymarkd: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "waymarkd",
        abstract: "Streams guidance from navigation clients to vehicles.",
        discussion: """
            Addresses are tcp:HOST:PORT (port 0 lets the system choose) or unix:/path. Exits with status 78 if the \
            settings are wrong, with 64 if the command line is, with 1 if it cannot start or if the answer to --explain is no, with 0 \
            once it was told to stop or is idle.
            """,
        version: Software.name)

    @Option(
        help: "Read settings from this YAML file.", completion: .file(extensions: ["yaml", "yml"]))
    var config: String?
    @Option(help: "Listen here for vehicles; may be given several times.") var vehicleListen: [String] = []
    @Option(help: "Listen here for navigation clients; may be given several times.") var navigationListen:
        [String] = []
    @Option(help: "Listen here for observers; may be given several times.") var observerListen: [String] = []
    @Flag(
        help:
            "Reload the settings on SIGHUP. This is the default under a service manager (NOTIFY_SOCKET); otherwise SIGHUP stops the daemon."
    )
    var reloadOnHangup = false
    @Flag(help: "Check the settings and exit.") var checkConfig = false
    @Option(
        help: ArgumentHelp(
            "With --check-config: say which access rule answers a question such as \"\(AccessQuestion.example)\".",
            valueName: "question"))
    var explain: String?
    @Option(
        help: "trace, debug, info, notice, warning, error or critical.",
        completion: .list(Logger.Level.allCases.map(\.rawValue)), transform: Self.level)
    var logLevel: Logger.Level?

    package init() {}

    package func validate() throws {
        if self.explain != nil, !self.checkConfig { throw ValidationError("--explain needs --check-config") }
    }

    package func run() async throws {
        let source = self.source
        // A check refuses whatever a reload refuses: it decides whether `systemctl reload` succeeds.
        let settings = try Self.read(source, isReload: self.checkConfig)
        if self.checkConfig { return try Self.check(settings, self.explain) }
        let hangup = Hangup.response(
            isReloadWanted: self.reloadOnHangup, environment: ProcessInfo.processInfo.environment)
        let threshold = LogThreshold(Logger.Level(rawValue: settings.logLevel) ?? .info)
        LoggingSystem.bootstrap { label in ServiceLog.handler(label: label, threshold: threshold) }
        let logger = Logger(label: "waymarkd")
        defer { ServiceLog.flush() }
        do {
            let (inherited, handover) = try InheritedListeners.receive()
            let service = DaemonService(
                settings: settings, inheriting: inherited, continuing: handover, source: source,
                threshold: threshold, reloadsOnHangup: hangup == .reload, logger: logger)
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
                    gracefulShutdownSignals: [.sigterm, .sigint] + (hangup == .end ? [.sighup] : []),
                    logger: Logger(label: "lifecycle") { _ in SwiftLogNoOpLogHandler() }))
            try await group.run()
        } catch let error as DaemonError {
            logger.error("\(LoggedEvent.cannotStart)", metadata: [LogKey.reason: "\(error)"])
            throw error.exitCode
        }
    }

    @Sendable private static func level(_ name: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: name) else {
            throw ValidationError("\(name) is not a log level")
        }
        return level
    }

    /// The file, and what the command line says beside it.
    private var source: SettingsSource {
        SettingsSource(
            file: self.config,
            listeners: self.vehicleListen.map { .init(address: $0, roles: [.vehicle]) }
                + self.navigationListen.map { .init(address: $0, roles: [.navigation]) }
                + self.observerListen.map { .init(address: $0, roles: [.observer]) },
            logLevel: self.logLevel?.rawValue)
    }

    private static func read(_ source: SettingsSource, isReload: Bool) throws -> Settings {
        do throws(SettingsError) { return try source.read(isReload: isReload) } catch {
            Self.complain("\(error)")
            switch error {
            case .unreadable: throw ExitCode.failure
            case .wrong, .empty: throw ExitCode.wrongSettings
            }
        }
    }

    /// What a start or a reload would refuse before it opens a socket; then the answer to a question of access.
    private static func check(_ settings: Settings, _ question: String?) throws {
        do throws(DaemonError) { try Daemon.check(settings) } catch {
            Self.complain("\(error)")
            throw error.exitCode
        }
        guard let question else { return Terminal.line("configuration OK") }
        try Self.explain(question, settings)
    }

    private static func explain(_ text: String, _ settings: Settings) throws {
        let question: AccessQuestion
        do throws(AccessQuestionError) { question = try AccessQuestion(text, settings) } catch {
            throw ValidationError("--explain: \(error)")
        }
        let answer = question.answer(settings)
        for line in answer.lines { Terminal.line(line) }
        if !answer.isAllowed { throw ExitCode.failure }
    }

    private static func complain(_ sentence: String) { Terminal.note("waymarkd: \(sentence)") }
}

extension ExitCode {
    /// EX_CONFIG of sysexits.h: trying again without a change is of no use.
    fileprivate static let wrongSettings = ExitCode(78)
}

extension DaemonError {
    fileprivate var exitCode: ExitCode {
        switch self {
        // A listener without a location comes from the command line.
        case .setting(let listener, _): listener.location == nil ? .validationFailure : .wrongSettings
        case .inherited, .abstract, .stray: .wrongSettings
        case .folder, .listener, .serviceManager: .failure
        }
    }
}
