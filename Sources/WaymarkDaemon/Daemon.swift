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
    typealias Entry = Entrances.Entry

    /// What holds now.
    var settings: Settings
    let entrances = Entrances()
    let inherited: InheritedListeners
    let driver: GatewayDriver
    let group: MultiThreadedEventLoopGroup
    let logger: Logger

    /// As bound, in the order of the settings.
    package var addresses: [ListenAddress] { self.entrances.all.map(\.listener.address) }

    /// Finds what ``start(_:inheriting:logger:)`` would refuse about the settings, whatever is handed over, and opens
    /// nothing.
    package static func check(_ settings: Settings) throws(DaemonError) {
        try ListenerPlan.check(settings)
        if settings.listeners.isEmpty { try PrivateFolder.check(DefaultAddresses.folder) }
    }

    /// Opens all listeners: those of the settings, or the default ones if there are none.
    ///
    /// With a `handover`, goes on with what the process before had.
    package static func start(
        _ settings: Settings, inheriting inherited: InheritedListeners = .none,
        continuing handover: Handover? = nil, logger: Logger
    ) async throws(DaemonError) -> Daemon {
        var openings = try Self.plans(for: settings, inherited).map { Opening($0) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: settings.threads)
        let daemon = Daemon(
            settings: settings, inherited: inherited, driver: Self.driver(settings, group, logger),
            group: group, logger: logger)
        if let handover { await daemon.goOn(handover, &openings) }
        do throws(DaemonError) { daemon.entrances.all = try await daemon.open(openings) } catch {
            await daemon.stop()
            throw error
        }
        for entry in daemon.entrances.all { daemon.announce(entry) }
        daemon.setIdleExit()
        return daemon
    }

    /// The listeners of the settings. The default ones have a folder, which is made.
    static func plans(
        for settings: Settings, _ inherited: InheritedListeners
    ) throws(DaemonError) -> [ListenerPlan] {
        let plans = try ListenerPlan.all(of: settings, inheriting: inherited)
        if settings.listeners.isEmpty, inherited.sockets.isEmpty {
            try PrivateFolder.make(DefaultAddresses.folder)
        }
        return plans
    }

    /// Opens all or none.
    func open(_ openings: [Opening]) async throws(DaemonError) -> [Entry] {
        var entries: [Entry] = []
        do throws(ListenerError) {
            for opening in openings {
                let listener = try await opening.open(self.driver, self.group)
                entries.append(Entry(plan: opening.plan, listener: listener))
            }
        } catch {
            for entry in entries { await entry.listener.close() }
            throw .listener(error)
        }
        return entries
    }

    func announce(_ entry: Entry) {
        let roles = entry.plan.policy.roles.map { "\($0)" }.sorted().joined(separator: ",")
        self.logger.notice(
            "\(LoggedEvent.listening)",
            metadata: [LogKey.address: "\(entry.listener.address)", LogKey.role: "\(roles)"])
    }

    /// How many there are now.
    package func census() async throws -> Gateway.Census { try await self.driver.census() }

    /// Returns when the gateway's queue and that of every event loop have been gone through, and everything that waited in them
    /// has been done.
    ///
    /// - Throws: When the loops have stopped.
    package func probe() async throws { try await self.driver.probe() }

    /// Brings a fault about on the last event loop.
    package func provoke(_ fault: Settings.Fault) {
        for loop in self.group.makeIterator().suffix(1) { FaultHook.provoke(fault, on: loop) }
    }

    /// Stops listening, says goodbye to all peers, and returns when they are gone or the drain timeout is over.
    package func shutdown(reconnectAfter: Duration = .seconds(1)) async {
        await self.drain(reconnectAfter: reconnectAfter)
        await self.stop()
    }

    /// The first part of ``shutdown(reconnectAfter:)``: afterwards the event loops still run.
    ///
    /// - Parameters:
    ///   - reconnectAfter: When the peers are asked to come back.
    ///   - report: Told how many connections are left, about once a second.
    package func drain(
        reconnectAfter: Duration = .seconds(1), report: @escaping @Sendable (Int) -> Void = { _ in }
    ) async {
        for entry in self.entrances.all { await entry.listener.close() }
        let goodbye = Goodbye(
            .shuttingDown, reason: "the gateway is going down",
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
            } catch { /* It never fails. */  }
            tasks.cancelAll()
        }
    }

    private func reportConnections(to report: @Sendable (Int) -> Void) async {
        do {
            while !Task.isCancelled {
                report(try await self.driver.connectionCount())
                try await Task.sleep(for: .seconds(1))
            }
        } catch { /* All have gone. */  }
    }

    /// The second part of ``shutdown(reconnectAfter:)``, or of ``handOver()``: then another process goes on.
    package func stop(isContinued: Bool = false) async {
        do {
            try await self.driver.end()
            try await self.group.shutdownGracefully()
        } catch {
            self.logger.warning("\(LoggedEvent.loopsDidNotStop)", metadata: [LogKey.error: "\(error)"])
        }
        if !isContinued { self.logger.notice("\(LoggedEvent.stopped)") }
    }

    private static func driver(
        _ settings: Settings, _ group: MultiThreadedEventLoopGroup, _ logger: Logger
    ) -> GatewayDriver {
        GatewayDriver(
            loops: group.makeIterator().map { $0 as any EventLoop }, policy: settings.policy,
            limits: self.limits(of: settings, logger), logger: logger,
            // CLOCK_MONOTONIC: the next process has the same.
            clock: { Instant(nanoseconds: Int64(NIODeadline.now().uptimeNanoseconds)) })
    }

    /// What the settings allow, as far as the system does.
    static func limits(of settings: Settings, _ logger: Logger) -> TransportLimits {
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
        return limits
    }
}
