package import Logging
internal import Synchronization
package import Systemd
internal import WaymarkTelemetry

/// Sends notifications to the service manager, if there is one. A failure is logged once, and again only after a success.
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

    /// Sends several notifications in one message.
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
