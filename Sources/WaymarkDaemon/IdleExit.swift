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
        self.resumeIdleExit()
        guard self.settings.idleExit > .zero, let own = self.ownListener else { return }
        self.logger.warning(
            "\(LoggedEvent.idleExitIgnored)", metadata: [LogKey.address: "\(own.listener.address)"])
    }

    /// Keeps the daemon from becoming idle until ``setIdleExit()`` or ``resumeIdleExit()``.
    func suspendIdleExit() { self.driver.setIdleTime(nil) }

    /// Lets the daemon become idle again, by the settings and listeners that it has.
    func resumeIdleExit() {
        let exits = self.settings.idleExit > .zero && self.ownListener == nil
        self.driver.setIdleTime(exits ? self.settings.idleExit : nil)
    }

    /// A listener that the daemon opened itself.
    private var ownListener: Entry? { self.listeners.all.first { $0.plan.descriptor == nil } }

    /// Returns when no peer has been connected for `times.idle-exit`, or when it is cancelled. When the daemon is idle, its
    /// listeners no longer accept, and new connections wait for the next process.
    ///
    /// Call it once, and cancel it before ``shutdown(reconnectAfter:)``.
    package func waitUntilIdle() async {
        await withTaskCancellationHandler {
            do {
                repeat {
                    // Again if a peer connected, or a reload began, just before the listeners paused.
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
