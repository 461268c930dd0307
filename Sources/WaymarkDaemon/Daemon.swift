package import ListeningSockets
package import Logging
internal import NIOCore
internal import NIOPosix
package import WaymarkConfiguration
package import WaymarkGateway
internal import WaymarkProtocol
internal import WaymarkTelemetry
package import WaymarkTransport

/// The gateway, its transport and its listeners.
package struct Daemon: Sendable {
    typealias Entry = OpenListeners.Entry

    /// The current settings.
    var settings: Settings
    let listeners = OpenListeners()
    let inherited: InheritedListeners
    let driver: GatewayDriver
    let group: MultiThreadedEventLoopGroup
    let logger: Logger
    /// nil: epochs are times of the clock.
    let epochs: EpochFile?

    /// The bound addresses, in the order of the settings.
    package var addresses: [ListenAddress] { self.listeners.all.map(\.listener.address) }

    /// Reports every error in the settings that ``start(_:inheriting:continuing:logger:)`` would report, except those that depend
    /// on inherited sockets. Opens nothing.
    package static func check(_ settings: Settings) throws(DaemonError) {
        try ListenerPlan.check(settings)
        if settings.listeners.isEmpty { try PrivateFolder.check(DefaultAddresses.folder) }
    }

    /// Opens the listeners of the settings, or the default ones if there are none. With a `handover`, first takes over the
    /// sessions and connections of the previous process. `epochs` keeps the epochs of a gateway with a name.
    package static func start(
        _ settings: Settings, inheriting inherited: InheritedListeners = .none,
        continuing handover: Handover? = nil, epochs: EpochFile? = nil, logger: Logger
    ) async throws(DaemonError) -> Daemon {
        var pending = try Self.plans(for: settings, inherited).map { PendingListener($0) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: settings.threads)
        let daemon = Daemon(
            settings: settings, inherited: inherited, driver: Self.driver(settings, epochs, group, logger),
            group: group, logger: logger, epochs: epochs)
        if let handover { await daemon.takeOver(handover, &pending) }
        do throws(DaemonError) { daemon.listeners.all = try await daemon.open(pending) } catch {
            await daemon.stop()
            throw error
        }
        for entry in daemon.listeners.all { daemon.announce(entry) }
        daemon.setIdleExit()
        return daemon
    }

    /// Plans the listeners of the settings. Creates the folder of the default ones.
    static func plans(
        for settings: Settings, _ inherited: InheritedListeners
    ) throws(DaemonError) -> [ListenerPlan] {
        let plans = try ListenerPlan.all(of: settings, inheriting: inherited)
        if settings.listeners.isEmpty, inherited.sockets.isEmpty {
            try PrivateFolder.make(DefaultAddresses.folder)
        }
        return plans
    }

    /// Opens all listeners or none.
    func open(_ pending: [PendingListener]) async throws(DaemonError) -> [Entry] {
        var entries: [Entry] = []
        do throws(ListenerError) {
            for pendingListener in pending {
                let listener = try await pendingListener.open(self.driver, self.group)
                entries.append(Entry(plan: pendingListener.plan, listener: listener))
            }
        } catch {
            for entry in entries { await entry.listener.close() }
            throw .listener(error)
        }
        return entries
    }

    func announce(_ entry: Entry) {
        let roles = entry.plan.policy.roles.map { "\($0)" }.sorted().joined(separator: ",")
        let needsKey = !entry.plan.policy.keys.isEmpty
        self.logger.notice(
            "\(LoggedEvent.listening)",
            metadata: [
                LogKey.address: "\(entry.listener.address)", LogKey.role: "\(roles)",
                LogKey.openTo: "\(Reach.text(of: entry.listener.address, needsKey: needsKey))",
            ])
    }

    /// Counts the vehicles, endpoints, sessions, clients and open requests.
    package func census() async throws -> Gateway.Census { try await self.driver.census() }

    /// Returns when everything that is queued now, at the gateway and on every event loop, has been processed.
    ///
    /// - Throws: If the event loops have stopped.
    package func probe() async throws { try await self.driver.probe() }

    /// Injects a fault into the last event loop.
    package func inject(_ fault: Settings.Fault) {
        for loop in self.group.makeIterator().suffix(1) { FaultHook.inject(fault, into: loop) }
    }

    /// Stops listening, sends all peers a Goodbye, and returns when they have disconnected or `times.drain` has passed.
    package func shutdown(reconnectAfter: Duration = .seconds(1)) async {
        await self.drain(reconnectAfter: reconnectAfter)
        await self.stop()
    }

    /// The first part of ``shutdown(reconnectAfter:)``. The event loops still run afterwards.
    ///
    /// - Parameters:
    ///   - reconnectAfter: The delay after which peers are asked to reconnect.
    ///   - report: Called about once a second with the number of remaining connections.
    package func drain(
        reconnectAfter: Duration = .seconds(1), report: @escaping @Sendable (Int) -> Void = { _ in }
    ) async {
        for entry in self.listeners.all { await entry.listener.close() }
        let goodbye = Goodbye(
            .shuttingDown, reason: "the gateway is shutting down",
            reconnectAfterMilliseconds: UInt32(clamping: reconnectAfter.milliseconds))
        let emptied = self.driver.drain(goodbye, within: self.settings.drainTimeout)
        await withTaskGroup { tasks in
            tasks.addTask { await self.reportConnections(to: report) }
            do {
                let count = try await emptied.get()
                if count > 0 {
                    self.logger.warning(
                        "\(LoggedEvent.peersDidNotLeave)", metadata: [LogKey.count: "\(count)"])
                }
            } catch { /* The future never fails. */  }
            tasks.cancelAll()
        }
    }

    private func reportConnections(to report: @Sendable (Int) -> Void) async {
        do {
            while !Task.isCancelled {
                report(try await self.driver.connectionCount())
                try await Task.sleep(for: .seconds(1))
            }
        } catch { /* Cancelled when all peers have disconnected. */  }
    }

    /// The second part of ``shutdown(reconnectAfter:)`` or of ``handOver()``: stops the event loops.
    ///
    /// - Parameter isHandedOver: Whether the next process continues the connections.
    package func stop(isHandedOver: Bool = false) async {
        do {
            try await self.logLongestWork()
            try await self.driver.end()
            try await self.group.shutdownGracefully()
        } catch {
            self.logger.warning("\(LoggedEvent.loopsDidNotStop)", metadata: [LogKey.error: "\(error)"])
        }
        if !isHandedOver { self.logger.notice("\(LoggedEvent.stopped)") }
    }

    private func logLongestWork() async throws {
        guard self.logger.logLevel <= .debug else { return }
        let (event, run, round) = try await self.driver.longestWork()
        self.logger.debug(
            "\(LoggedEvent.workDone)",
            metadata: [
                LogKey.longestEvent: "\(event)", LogKey.longestRun: "\(run)",
                LogKey.longestRound: "\(round)",
            ])
    }

    private static func driver(
        _ settings: Settings, _ epochs: EpochFile?, _ group: MultiThreadedEventLoopGroup, _ logger: Logger
    ) -> GatewayDriver {
        let (identity, problem) = GatewayIdentity.beginning(named: settings.instance, keeping: epochs)
        if let problem { Self.warn(logger, of: problem) }
        return GatewayDriver(
            loops: group.makeIterator().map { $0 as any EventLoop }, policy: settings.policy,
            identity: identity,
            limits: self.limits(of: settings, logger), logger: logger,
            // CLOCK_MONOTONIC, which is the same in the next process, so that deadlines can be handed over.
            clock: { Instant(nanoseconds: Int64(NIODeadline.now().uptimeNanoseconds)) })
    }

    static func warn(_ logger: Logger, of problem: EpochFile.Problem) {
        logger.warning("\(LoggedEvent.epochNotKept)", metadata: [LogKey.reason: "\(problem)"])
    }

    /// Gives each user the share of the connections that the settings give it, also if there are fewer, and leaves places for peers
    /// that say Hello.
    package static func divide(_ limits: inout ConnectionLedger.Limits, _ settings: Settings) {
        let share = Double(limits.connectionsMax) / Double(max(1, settings.connectionsMax))
        limits.connectionsPerUserMax = max(1, Int(Double(settings.connectionsPerUserMax) * min(1, share)))
        limits.handshakesMax = min(settings.handshakesMax, max(1, limits.connectionsMax / 2))
        limits.handshakesPerUserMax = min(
            settings.handshakesPerUserMax, max(1, limits.connectionsPerUserMax / 4))
    }

    /// The limits of the settings, reduced to what the descriptor limit allows.
    static func limits(of settings: Settings, _ logger: Logger) -> TransportLimits {
        var limits = TransportLimits()
        let descriptors = DescriptorLimit.raise()
        (limits.connections.connectionsMax, limits.refusalsMax) = DescriptorLimit.share(
            descriptors, connectionsMax: settings.connectionsMax, loops: settings.threads)
        if limits.connections.connectionsMax < settings.connectionsMax {
            logger.warning(
                "\(LoggedEvent.tooFewDescriptors)",
                metadata: [
                    LogKey.limit: "\(descriptors)", LogKey.count: "\(limits.connections.connectionsMax)",
                ])
        }
        Self.divide(&limits.connections, settings)
        (limits.failures.burst, limits.failures.perMinute) = (
            settings.failuresMax, settings.failuresPerMinute
        )
        limits.failureDelay = settings.failureDelay
        limits.connection = settings.connection
        limits.outbox = settings.outbox
        limits.outboxBytesInAllMax = settings.outboxBytesInAllMax
        limits.outboxBytesPerUserMax = settings.outboxBytesPerUserMax
        limits.inputBytesInAllMax = settings.inputBytesInAllMax
        limits.inputBytesPerUserMax = settings.inputBytesPerUserMax
        limits.log.linesMax = settings.logLinesPerPeerMax
        return limits
    }
}
