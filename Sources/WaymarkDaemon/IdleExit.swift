internal import Logging
internal import NIOCore
internal import WaymarkConfiguration
internal import WaymarkTelemetry
internal import WaymarkTransport

// Exiting when no peer is connected.
extension Daemon {
    /// Applies `times.idle-exit` to ``waitUntilIdle()``. It is ignored if the daemon opened a listener itself, because then no other
    /// process would keep that socket open.
    func setIdleExit() {
        var time: Duration?
        if self.settings.idleExit > .zero {
            if let own = self.listeners.all.first(where: { $0.plan.descriptor == nil }) {
                self.logger.warning(
                    "\(LoggedEvent.idleExitIgnored)", metadata: [LogKey.address: "\(own.listener.address)"])
            } else {
                time = self.settings.idleExit
            }
        }
        self.driver.setIdleTime(time)
    }

    /// Returns when no peer has been connected for `times.idle-exit`, or when it is cancelled. When the daemon is idle, its
    /// listeners no longer accept, and new connections wait for the next process.
    ///
    /// Call it once, and cancel it before ``shutdown(reconnectAfter:)``.
    package func waitUntilIdle() async {
        await withTaskCancellationHandler {
            do {
                repeat {
                    // Again if a peer connected just before the listeners paused.
                    for entry in self.listeners.all { await entry.listener.resume() }
                    try await self.driver.waitUntilIdle().get()
                    for entry in self.listeners.all { await entry.listener.pause() }
                } while try await !self.driver.isIdle()
                self.logger.notice("\(LoggedEvent.idle)")
            } catch { /* Cancelled. */  }
        } onCancel: {
            self.driver.endIdleWait()
        }
    }
}
