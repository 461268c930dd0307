package import Logging
internal import Synchronization
package import Systemd
internal import WaymarkTelemetry

/// Tells the service manager, or nobody where there is none. What does not reach it is logged once, until something does again.
package final class ServiceNotifier: Sendable {
    private let logger: Logger
    private let send: @Sendable ([Notification]) throws(SystemdError) -> Bool
    private let isBroken = Mutex(false)

    package init(
        logger: Logger,
        send: @escaping @Sendable ([Notification]) throws(SystemdError) -> Bool = ServiceManager.notify
    ) {
        self.logger = logger
        self.send = send
    }

    package func tell(_ notifications: Notification...) { self.tell(notifications) }

    /// In one message.
    package func tell(_ notifications: [Notification]) {
        guard !notifications.isEmpty else { return }
        do throws(SystemdError) {
            _ = try self.send(notifications)
            self.isBroken.withLock { $0 = false }
        } catch {
            let wasBroken = self.isBroken.withLock { isBroken in
                defer { isBroken = true }
                return isBroken
            }
            guard !wasBroken else { return }
            self.logger.warning(
                "\(LoggedEvent.managerNotReached)", metadata: [LogKey.error: "\(error)"])
        }
    }
}
