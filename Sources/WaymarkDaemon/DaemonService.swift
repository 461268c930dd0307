package import Logging
internal import ServiceLifecycle
internal import Systemd
package import WaymarkConfiguration
internal import WaymarkTelemetry

/// The daemon under swift-service-lifecycle: runs until it is told to stop or is idle, then drains.
package struct DaemonService: Service {
    private let settings: Settings
    private let inherited: InheritedListeners
    private let logger: Logger

    package init(settings: Settings, inheriting inherited: InheritedListeners, logger: Logger) {
        self.settings = settings
        self.inherited = inherited
        self.logger = logger
    }

    package func run() async throws {
        let daemon = try await Daemon.start(self.settings, inheriting: self.inherited, logger: self.logger)
        self.notify(.ready)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await daemon.waitUntilIdle() }
            group.addTask {
                do { try await gracefulShutdown() } catch { /* Cancelled: the same as being told to stop. */
                }
            }
            await group.next()
            group.cancelAll()
        }
        self.notify(.stopping)
        await daemon.shutdown()
    }

    private func notify(_ notification: Notification) {
        do throws(SystemdError) { try ServiceManager.notify(notification) } catch {
            self.logger.warning(
                "\(LoggedEvent.managerNotReached)", metadata: [LogKey.error: "\(error)"])
        }
    }
}
