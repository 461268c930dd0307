package import Logging
internal import NIOCore
internal import NIOPosix
package import WaymarkConfiguration
package import WaymarkGateway
internal import WaymarkProtocol
internal import WaymarkTelemetry
package import WaymarkTransport

/// Gateway, transport and listeners, put together.
package struct Daemon: Sendable {
    /// As bound, in the order of the settings.
    package let addresses: [ListenAddress]
    let listeners: [Listener]
    let driver: GatewayDriver
    private let group: MultiThreadedEventLoopGroup
    private let drainTimeout: Duration
    /// After which time without a connection to leave; nil: never.
    let idleExit: Duration?
    private let inherited: InheritedListeners
    let logger: Logger

    /// Finds what ``start(_:inheriting:logger:)`` would refuse about the settings, whatever is handed over, and opens
    /// nothing.
    package static func check(_ settings: Settings) throws(DaemonError) {
        try ListenerPlan.check(settings)
        if settings.listeners.isEmpty { try PrivateFolder.check(DefaultAddresses.folder) }
    }

    /// Opens all listeners: those of the settings, or the default ones if there are none.
    package static func start(
        _ settings: Settings, inheriting inherited: InheritedListeners = .none, logger: Logger
    ) async throws(DaemonError) -> Daemon {
        let plans = try ListenerPlan.all(of: settings, inheriting: inherited)
        if settings.listeners.isEmpty, inherited.sockets.isEmpty {
            try PrivateFolder.make(DefaultAddresses.folder)
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: settings.threads)
        let driver = Self.driver(settings, group, logger)
        var listeners: [Listener] = []
        do throws(ListenerError) {
            for plan in plans { listeners.append(try await plan.open(driver, group)) }
        } catch {
            for listener in listeners { await listener.close() }
            await Self.stop(group, logger)
            throw .listener(error)
        }
        for (listener, plan) in zip(listeners, plans) {
            let roles = plan.policy.roles.map { "\($0)" }.sorted().joined(separator: ",")
            logger.notice(
                "\(LoggedEvent.listening)",
                metadata: [LogKey.address: "\(listener.address)", LogKey.role: "\(roles)"])
        }
        return Daemon(
            addresses: listeners.map(\.address), listeners: listeners, driver: driver, group: group,
            drainTimeout: settings.drainTimeout, idleExit: Self.idleExit(settings, plans, logger),
            inherited: inherited, logger: logger)
    }

    /// How many there are now.
    package func census() async throws -> Gateway.Census { try await self.driver.census() }

    /// Stops listening, says goodbye to all peers, and returns when they are gone or the drain timeout is over.
    package func shutdown(reconnectAfter: Duration = .seconds(1)) async {
        for listener in self.listeners { await listener.close() }
        let goodbye = Goodbye(
            .shuttingDown, reason: "the gateway is going down",
            reconnectAfterMilliseconds: UInt32(clamping: reconnectAfter.milliseconds))
        do {
            let count = try await self.driver.drain(goodbye, within: self.drainTimeout).get()
            if count > 0 {
                self.logger.warning(
                    "\(LoggedEvent.peersDidNotLeave)",
                    metadata: [LogKey.count: "\(count)"])
            }
        } catch { /* It never fails. */  }
        await Self.stop(self.group, self.logger)
        self.logger.notice("\(LoggedEvent.stopped)")
    }

    private static func driver(
        _ settings: Settings, _ group: MultiThreadedEventLoopGroup, _ logger: Logger
    ) -> GatewayDriver {
        var limits = TransportLimits()
        let descriptors = DescriptorLimit.raise()
        (limits.connections.connectionsMax, limits.refusalsMax) = DescriptorLimit.share(
            descriptors, connectionsMax: settings.connectionsMax)
        if limits.connections.connectionsMax < settings.connectionsMax {
            logger.warning(
                "\(LoggedEvent.tooFewDescriptors)",
                metadata: [
                    LogKey.limit: "\(descriptors)", LogKey.count: "\(limits.connections.connectionsMax)",
                ])
        }
        limits.connections.connectionsPerUserMax = settings.connectionsPerUserMax
        limits.connection = settings.connection
        limits.outbox = settings.outbox
        limits.outboxBytesInAllMax = settings.outboxBytesInAllMax
        limits.log.linesMax = settings.logLinesPerPeerMax
        let start = NIODeadline.now()
        return GatewayDriver(
            loops: group.makeIterator().map { $0 as any EventLoop }, policy: settings.policy, limits: limits,
            logger: logger,
            clock: { Instant(nanoseconds: (NIODeadline.now() - start).nanoseconds) })
    }

    private static func stop(_ group: MultiThreadedEventLoopGroup, _ logger: Logger) async {
        do { try await group.shutdownGracefully() } catch {
            logger.warning("\(LoggedEvent.loopsDidNotStop)", metadata: [LogKey.error: "\(error)"])
        }
    }
}
