internal import Logging
internal import NIOCore
internal import WaymarkConfiguration
internal import WaymarkTelemetry
internal import WaymarkTransport

// Leaving when nobody is connected.
extension Daemon {
    /// Has ``waitUntilIdle()`` go by the settings: by `times.idle-exit`, but only if somebody else keeps all sockets open.
    func setIdleExit() {
        var time: Duration?
        if self.settings.idleExit > .zero {
            if let own = self.entrances.all.first(where: { $0.plan.descriptor == nil }) {
                self.logger.warning(
                    "\(LoggedEvent.idleExitIgnored)", metadata: [LogKey.address: "\(own.listener.address)"])
            } else {
                time = self.settings.idleExit
            }
        }
        self.driver.setIdleTime(time)
    }

    /// Returns when nobody has been connected for `times.idle-exit`: then no listener accepts any more, and who connects
    /// waits for the next process. Returns when it is cancelled, too; do so before ``shutdown(reconnectAfter:)``. Once.
    package func waitUntilIdle() async {
        await withTaskCancellationHandler {
            do {
                repeat {
                    // Unless somebody came at the last moment.
                    for entry in self.entrances.all { await entry.listener.resume() }
                    try await self.driver.waitUntilIdle().get()
                    for entry in self.entrances.all { await entry.listener.pause() }
                } while try await !self.driver.isIdle()
                self.logger.notice("\(LoggedEvent.idle)")
            } catch { /* Cancelled. */  }
        } onCancel: {
            self.driver.endIdleWait()
        }
    }
}
