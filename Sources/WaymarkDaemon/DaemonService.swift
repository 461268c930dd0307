internal import Foundation
package import Logging
internal import NIOCore
internal import ProcessIO
internal import ServiceLifecycle
internal import Systemd
internal import UnixSignals
package import WaymarkConfiguration
internal import WaymarkTelemetry

/// The daemon under swift-service-lifecycle: runs until it is told to stop or is idle, then drains. On the way it keeps the
/// service manager informed, and reads its settings again on SIGHUP.
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
    ///   - settings: As `source` has read them first.
    ///   - inherited: The sockets that the service manager opened.
    ///   - handover: What the process before left.
    ///   - source: Where to read the settings again.
    ///   - threshold: What the log goes by.
    ///   - reloadsOnHangup: Whether SIGHUP has the settings read again; without that it is left alone.
    ///   - logger: Hears what an operator should know.
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
        self.warn(of: self.settings)
        var daemon = try await Daemon.start(
            self.settings, inheriting: self.inherited, continuing: self.handover, logger: self.logger)
        var isContinued = false
        await withTaskGroup { tasks in
            if let watchdog = self.watchdog(over: daemon) { tasks.addTask { await watchdog.run() } }
            self.notifier.tell(.ready)
            await self.serve(&daemon, hangups)
            self.notifier.tell(.stopping)
            isContinued = Handover.takeRestartMark()
            if isContinued { await daemon.handOver() } else { await self.drain(daemon) }
            tasks.cancelAll()
        }
        await daemon.stop(isContinued: isContinued)
    }

    /// Returns when the daemon is told to stop, or is idle.
    private func serve(_ daemon: inout Daemon, _ hangups: UnixSignalsSequence?) async {
        let started = daemon
        // Several that come during one reload are one.
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
            if self.settings.fault != .none { tasks.addTask { await self.provokeFaults(in: started) } }
            for await _ in reloads { await self.reload(&daemon) }
            tasks.cancelAll()
        }
    }

    private static func waitForShutdown() async {
        do { try await gracefulShutdown() } catch { /* The daemon is idle. */  }
    }

    // MARK: Settings

    private func warn(of settings: Settings) {
        guard let exposure = settings.exposure else { return }
        self.logger.warning("\(LoggedEvent.keyExposed)", metadata: [LogKey.reason: "\(exposure)"])
    }

    private func reload(_ daemon: inout Daemon) async {
        self.notifier.tell(.reloadingNow())
        do {
            let settings = try self.source.read()
            try await daemon.reload(settings)
            self.threshold.set(Logger.Level(rawValue: settings.logLevel) ?? self.threshold.level)
            self.status.setTrouble(nil)
            self.warn(of: settings)
        } catch {
            self.logger.error("\(LoggedEvent.notReloaded)", metadata: [LogKey.reason: "\(error)"])
            // On one line: a notification has its fields on lines of their own.
            self.status.setTrouble(TerminalText.printable("the new settings were rejected: \(error)"))
        }
        self.notifier.tell(.ready)
    }

    // MARK: The service manager

    private func watchdog(over daemon: Daemon) -> Watchdog<ContinuousClock>? {
        do throws(SystemdError) {
            guard let interval = try ServiceManager.watchdogInterval() else { return nil }
            // Why: by SIGABRT the manager ends a process that hangs. Swift's own handler would come back from it.
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
        do {
            while !Task.isCancelled {
                self.status.see(try await daemon.census())
                try await Task.sleep(for: StatusReporter.interval)
            }
        } catch { /* Told to stop. */  }
    }

    private func drain(_ daemon: Daemon) async {
        let reporter = DrainReporter(notifier: self.notifier)
        await daemon.drain { reporter.see($0) }
    }

    // MARK: Faults

    private func provokeFaults(in daemon: Daemon) async {
        for await _ in await UnixSignalsSequence(trapping: .sigusr2) {
            self.logger.warning(
                "\(LoggedEvent.faultProvoked)", metadata: [LogKey.reason: "\(self.settings.fault.rawValue)"])
            daemon.provoke(self.settings.fault)
        }
    }
}
