package import Logging
internal import ServiceLifecycle
internal import Systemd
package import WaymarkConfiguration
internal import WaymarkTelemetry

/// The daemon under swift-service-lifecycle: runs until it is told to stop, then drains.
package struct DaemonService: Service {
    private let settings: Settings
    private let handover: Handover?
    private let logger: Logger

    /// - Parameters:
    ///   - settings: The operator's.
    ///   - handover: What the process before left.
    ///   - logger: Hears what an operator should know.
    package init(settings: Settings, continuing handover: Handover? = nil, logger: Logger) {
        self.settings = settings
        self.handover = handover
        self.logger = logger
    }

    package func run() async throws {
        let daemon = try await Daemon.start(
            self.settings, continuing: self.handover, logger: self.logger)
        self.notify(.ready)
        do { try await gracefulShutdown() } catch { /* Cancelled: the same as being told to stop. */  }
        self.notify(.stopping)
        if Handover.takeRestartMark() { await daemon.handOver() } else { await daemon.shutdown() }
    }

    private func notify(_ notification: Notification) {
        do throws(SystemdError) { try ServiceManager.notify(notification) } catch {
            self.logger.warning(
                "the service manager was not reached, ignoring", metadata: [LogKey.error: "\(error)"])
        }
    }
}
