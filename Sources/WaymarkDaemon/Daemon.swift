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
    let group: MultiThreadedEventLoopGroup
    private let drainTimeout: Duration
    let logger: Logger

    /// Finds what ``start(_:logger:)`` would refuse about the settings, and opens nothing.
    package static func check(_ settings: Settings) throws(DaemonError) {
        _ = try ListenerPlan.all(of: settings)
        if settings.listeners.isEmpty { try PrivateFolder.check(DefaultAddresses.folder) }
    }

    /// Opens all listeners: those of the settings, or the default ones if there are none.
    ///
    /// With a `handover`, goes on with what the process before had.
    package static func start(
        _ settings: Settings, continuing handover: Handover? = nil, logger: Logger
    ) async throws(DaemonError) -> Daemon {
        let plans = try ListenerPlan.all(of: settings)
        if settings.listeners.isEmpty { try PrivateFolder.make(DefaultAddresses.folder) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: settings.threads)
        let driver = Self.driver(settings, group, logger)
        let sockets = await Self.goOn(handover, plans, settings.policy, driver, logger)
        var listeners: [Listener] = []
        do throws(ListenerError) {
            for (plan, socket) in zip(plans, sockets) {
                listeners.append(try await Self.open(plan, socket, driver, group))
            }
        } catch {
            for listener in listeners { await listener.close() }
            await Self.stop(group, logger)
            throw .listener(error)
        }
        for (listener, plan) in zip(listeners, plans) {
            let roles = plan.policy.roles.map { "\($0)" }.sorted().joined(separator: ",")
            logger.notice(
                "listening", metadata: [LogKey.address: "\(listener.address)", LogKey.role: "\(roles)"])
        }
        return Daemon(
            addresses: listeners.map(\.address), listeners: listeners, driver: driver, group: group,
            drainTimeout: settings.drainTimeout, logger: logger)
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
                    "some peers did not leave in time, closing their connections",
                    metadata: [LogKey.count: "\(count)"])
            }
        } catch { /* It never fails. */  }
        await Self.stop(self.group, self.logger)
        self.logger.notice("stopped")
    }

    private static func open(
        _ plan: ListenerPlan, _ socket: HandedOver.Listening?, _ driver: GatewayDriver,
        _ group: MultiThreadedEventLoopGroup
    ) async throws(ListenerError) -> Listener {
        if let socket,
            let listener = try await Listener.goOn(
                socket.descriptor, at: socket.address, policy: plan.policy, driver: driver, group: group)
        {
            return listener
        }
        return try await Listener.open(
            plan.address, permissions: plan.permissions, policy: plan.policy, driver: driver, group: group)
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
                "too few descriptors for all connections, taking fewer",
                metadata: [
                    LogKey.limit: "\(descriptors)", LogKey.count: "\(limits.connections.connectionsMax)",
                ])
        }
        limits.connections.connectionsPerUserMax = settings.connectionsPerUserMax
        limits.connection = settings.connection
        limits.outbox = settings.outbox
        limits.outboxBytesInAllMax = settings.outboxBytesInAllMax
        limits.log.linesMax = settings.logLinesPerPeerMax
        return GatewayDriver(
            loops: group.makeIterator().map { $0 as any EventLoop }, policy: settings.policy, limits: limits,
            logger: logger,
            // CLOCK_MONOTONIC: the next process has the same.
            clock: { Instant(nanoseconds: Int64(NIODeadline.now().uptimeNanoseconds)) })
    }

    static func stop(_ group: MultiThreadedEventLoopGroup, _ logger: Logger) async {
        do { try await group.shutdownGracefully() } catch {
            logger.warning("event loops did not stop cleanly, ignoring", metadata: [LogKey.error: "\(error)"])
        }
    }
}
