package import Logging
internal import Systemd
internal import WaymarkTelemetry

/// Sends the service manager's watchdog notification after each probe that passes through the gateway's queue and every event
/// loop. If a loop hangs, no probe returns, and the manager restarts the process; if it is only busy, the probe returns later.
package struct Watchdog<Time: Clock>: Sendable where Time.Duration == Duration {
    /// The manager restarts the process after this time without a notification.
    private let interval: Duration
    private let notifier: ServiceNotifier
    private let logger: Logger
    private let clock: Time
    private let probe: @Sendable () async throws -> Void

    /// - Parameters:
    ///   - interval: The value of ``ServiceManager/watchdogInterval()``.
    ///   - notifier: Sends the watchdog notifications.
    ///   - logger: For warnings about slow probes.
    ///   - clock: Measures the probes.
    ///   - probe: Returns when it has passed all queues; throws when the loops have stopped.
    package init(
        interval: Duration, notifier: ServiceNotifier, logger: Logger, clock: Time = ContinuousClock(),
        probe: @escaping @Sendable () async throws -> Void
    ) {
        self.interval = interval
        self.notifier = notifier
        self.logger = logger
        self.clock = clock
        self.probe = probe
    }

    /// Sends four probes per interval, one at a time, until it is cancelled.
    package func run() async {
        do {
            while !Task.isCancelled {
                let start = self.clock.now
                try await self.probe()
                self.evaluate(start.duration(to: self.clock.now))
                try await self.clock.sleep(for: self.interval / 4)
            }
        } catch { /* Cancelled, or the loops have stopped. */  }
    }

    /// Handles a probe that returned after `time`.
    private func evaluate(_ time: Duration) {
        if time < self.interval { self.notifier.tell(.watchdog) }
        guard time > self.interval / 2 else { return }
        self.logger.warning("\(LoggedEvent.loopsSlow)", metadata: [LogKey.duration: "\(time)"])
    }
}
