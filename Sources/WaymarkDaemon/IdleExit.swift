internal import Logging
internal import NIOCore
internal import WaymarkConfiguration
internal import WaymarkTelemetry
internal import WaymarkTransport

// Leaving when nobody is connected.
extension Daemon {
    /// `times.idle-exit`; nil unless somebody else keeps all sockets open.
    static func idleExit(_ settings: Settings, _ plans: [ListenerPlan], _ logger: Logger) -> Duration? {
        guard settings.idleExit > .zero else { return nil }
        if let own = plans.first(where: { $0.descriptor == nil }) {
            logger.warning(
                "\(LoggedEvent.idleExitIgnored)",
                metadata: [LogKey.address: "\(own.address)"])
            return nil
        }
        return settings.idleExit
    }

    /// Returns when nobody has been connected for `times.idle-exit`: then no listener accepts any more, and who connects
    /// waits for the next process. Returns when it is cancelled, too; do so before ``shutdown(reconnectAfter:)``. Once.
    ///
    /// - Returns: Whether it is idle.
    @discardableResult
    package func waitUntilIdle() async -> Bool {
        await withTaskCancellationHandler {
            do {
                repeat {
                    // Unless somebody came at the last moment.
                    for listener in self.listeners { await listener.resume() }
                    try await self.driver.idle(for: self.idleExit).get()
                    for listener in self.listeners { await listener.pause() }
                } while try await !self.driver.isIdle()
                self.logger.notice("\(LoggedEvent.idle)")
                return true
            } catch { return false /* Cancelled. */ }
        } onCancel: {
            self.driver.endIdleWait()
        }
    }
}
