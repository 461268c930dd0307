package import Logging
internal import Systemd
internal import WaymarkTelemetry

/// Tells the service manager that the daemon is alive, but only after a probe has gone through the queues that everything else
/// goes through. A loop that hangs lets no probe back, and the manager ends the process; one that is only busy lets it back later.
package struct Watchdog<Time: Clock>: Sendable where Time.Duration == Duration {
    /// The manager acts when it has heard nothing for so long.
    private let interval: Duration
    private let notifier: ServiceNotifier
    private let logger: Logger
    private let clock: Time
    private let probe: @Sendable () async throws -> Void

    /// Watches nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - interval: What ``ServiceManager/watchdogInterval()`` says.
    ///   - notifier: Gets the signs of life.
    ///   - logger: Hears of probes that take long.
    ///   - clock: Measures the probes.
    ///   - probe: Returns when it is through; throws when there is nothing to go through any more.
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

    /// Probes four times in each interval, one probe at a time; returns when it is cancelled.
    package func run() async {
        do {
            while !Task.isCancelled {
                let start = self.clock.now
                try await self.probe()
                self.judge(start.duration(to: self.clock.now))
                try await self.clock.sleep(for: self.interval / 4)
            }
        } catch { /* Cancelled, or the loops have ended. */  }
    }

    /// A probe came back after `time`.
    private func judge(_ time: Duration) {
        if time < self.interval { self.notifier.tell(.watchdog) }
        guard time > self.interval / 2 else { return }
        self.logger.warning("\(LoggedEvent.loopsSlow)", metadata: [LogKey.duration: "\(time)"])
    }
}
