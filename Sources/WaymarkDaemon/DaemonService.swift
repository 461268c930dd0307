internal import Foundation
package import Logging
internal import NIOCore
internal import ProcessIO
internal import ServiceLifecycle
internal import Systemd
internal import UnixSignals
internal import WaymarkAccess
package import WaymarkConfiguration
internal import WaymarkGateway
internal import WaymarkTelemetry

/// The daemon as a service of swift-service-lifecycle. It runs until it is stopped or idle, then drains or hands over.
/// Meanwhile it reports to the service manager, and reloads its settings on SIGHUP.
package struct DaemonService: Service {
    private let settings: Settings
    private let inherited: InheritedListeners
    private let handover: Handover?
    private let source: SettingsSource
    private let threshold: LogThreshold
    private let reloadsOnHangup: Bool
    private let logger: Logger
    private let notifier: ServiceNotifier
    private let status: StatusReporter

    /// - Parameters:
    ///   - settings: The settings that `source` returned at the start.
    ///   - inherited: The sockets that the service manager passed.
    ///   - handover: The state of the previous process, if it handed one over.
    ///   - source: Reads the settings for a reload.
    ///   - threshold: The log level; a reload may change it.
    ///   - reloadsOnHangup: Whether SIGHUP reloads the settings. If not, this service does not handle SIGHUP.
    ///   - logger: For the daemon's log.
    package init(
        settings: Settings, inheriting inherited: InheritedListeners, continuing handover: Handover?,
        source: SettingsSource, threshold: LogThreshold, reloadsOnHangup: Bool = true,
        logger: Logger
    ) {
        self.settings = settings
        self.inherited = inherited
        self.handover = handover
        self.source = source
        self.threshold = threshold
        self.reloadsOnHangup = reloadsOnHangup
        self.logger = logger
        self.notifier = ServiceNotifier(logger: logger)
        self.status = StatusReporter(notifier: self.notifier)
    }

    package func run() async throws {
        let hangups = self.reloadsOnHangup ? await UnixSignalsSequence(trapping: .sighup) : nil
        if self.settings.policy.access.isOpen { self.logger.notice("\(LoggedEvent.accessOpen)") }
        var daemon = try await Daemon.start(
            self.settings, inheriting: self.inherited, continuing: self.handover, epochs: EpochFile.ofService,
            logger: self.logger)
        var isHandedOver = false
        await withTaskGroup { tasks in
            if let watchdog = self.watchdog(over: daemon) { tasks.addTask { await watchdog.run() } }
            self.notifier.tell(.ready)
            await self.serve(&daemon, hangups)
            self.notifier.tell(.stopping)
            isHandedOver = Handover.hasRestartMark()
            if isHandedOver { await daemon.handOver() } else { await self.drain(daemon) }
            tasks.cancelAll()
        }
        await daemon.stop(isHandedOver: isHandedOver)
    }

    /// Returns when the daemon is stopped or idle.
    private func serve(_ daemon: inout Daemon, _ hangups: UnixSignalsSequence?) async {
        let started = daemon
        // Signals that arrive during a reload cause one more reload, however many they are.
        let (reloads, reload) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup { tasks in
            tasks.addTask {
                if let hangups {
                    for await _ in hangups.cancelOnGracefulShutdown() { reload.yield() }
                } else {
                    await Self.waitForShutdown()
                }
                reload.finish()
            }
            tasks.addTask {
                await started.waitUntilIdle()
                reload.finish()
            }
            tasks.addTask { await self.reportStatus(of: started) }
            if self.settings.fault != .none { tasks.addTask { await self.injectFaults(into: started) } }
            for await _ in reloads { await self.reload(&daemon) }
            tasks.cancelAll()
        }
    }

    private static func waitForShutdown() async {
        do { try await gracefulShutdown() } catch { /* Cancelled because the daemon is idle. */  }
    }

    // MARK: Settings

    private func reload(_ daemon: inout Daemon) async {
        self.notifier.tell(.reloadingNow())
        do {
            let settings = try await self.source.readAgain()
            try await daemon.reload(settings)
            self.threshold.set(Logger.Level(rawValue: settings.logLevel) ?? self.threshold.level)
            self.status.setTrouble(nil)
        } catch {
            self.logger.error("\(LoggedEvent.notReloaded)", metadata: [LogKey.reason: "\(error)"])
            // On one line, because a line break would start another field of the notification.
            self.status.setTrouble(TerminalText.printable("the new settings were rejected: \(error)"))
        }
        self.notifier.tell(.ready)
    }

    // MARK: The service manager

    private func watchdog(over daemon: Daemon) -> Watchdog<ContinuousClock>? {
        do throws(SystemdError) {
            guard let interval = try ServiceManager.watchdogInterval() else { return nil }
            // Why: the manager stops a process that hangs with SIGABRT, and Swift's own handler would return from it.
            signal(SIGABRT, SIG_DFL)
            return Watchdog(interval: interval, notifier: self.notifier, logger: self.logger) {
                try await daemon.probe()
            }
        } catch {
            self.logger.warning("\(LoggedEvent.managerNotReached)", metadata: [LogKey.error: "\(error)"])
            return nil
        }
    }

    private func reportStatus(of daemon: Daemon) async {
        var heap = HeapTrimmer()
        do {
            while !Task.isCancelled {
                let census = try await daemon.census()
                self.status.update(census)
                heap.check(census)
                try await Task.sleep(for: StatusReporter.interval)
            }
        } catch { /* Cancelled at shutdown. */  }
    }

    private func drain(_ daemon: Daemon) async {
        let reporter = DrainReporter(notifier: self.notifier)
        await daemon.drain { reporter.update($0) }
    }

    // MARK: Faults

    private func injectFaults(into daemon: Daemon) async {
        for await _ in await UnixSignalsSequence(trapping: .sigusr2) {
            self.logger.warning(
                "\(LoggedEvent.faultInjected)", metadata: [LogKey.reason: "\(self.settings.fault.rawValue)"])
            daemon.inject(self.settings.fault)
        }
    }
}

extension DaemonService: CustomStringConvertible {
    /// A text without the settings, which may contain keys: a service group keeps this text, and puts it into errors.
    package var description: String { "waymarkd" }
}
