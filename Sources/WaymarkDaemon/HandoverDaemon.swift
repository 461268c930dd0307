internal import Glibc
internal import Logging
internal import StateCoding
internal import WaymarkConfiguration
internal import WaymarkGateway
internal import WaymarkProtocol
internal import WaymarkTelemetry
internal import WaymarkTransport

// The end of a daemon that another one follows, and the beginning of that one.
extension Daemon {
    /// How long peers have to take what was written to them. A healthy one has taken it.
    private static let writeTimeout = Duration.seconds(1)

    /// Leaves everything to the next process: no connection is closed, and nobody is said goodbye to. Returns when the service
    /// manager has it. If it cannot be had, connections are closed, and peers come back by their tokens.
    func handOver() async {
        let began = ContinuousClock.now
        var sockets: [CInt] = []
        defer { for socket in sockets { _ = close(socket) } }
        var listening: [DaemonState.Listening] = []
        for listener in self.listeners {
            guard let socket = await listener.release() else { continue }
            sockets.append(socket)
            guard let cookie = SocketCookie(socket) else { continue }
            listening.append(DaemonState.Listening(address: listener.address, cookie: cookie))
        }
        do {
            let goodbye = Goodbye(
                .shuttingDown, reason: "the gateway restarts", reconnectAfterMilliseconds: 1_000)
            let detached = try await self.driver.detach(goodbye, within: Self.writeTimeout)
            sockets += detached.descriptors
            if detached.cutCount > 0 {
                self.logger.warning(
                    "some peers did not take what was written to them, closing their connections",
                    metadata: [LogKey.count: "\(detached.cutCount)"])
            }
            try Handover.store(DaemonState(driver: detached.state, listening: listening), sockets)
            self.logger.notice(
                "left everything to the next process",
                metadata: [
                    LogKey.count: "\(detached.descriptors.count)",
                    LogKey.duration: "\(ContinuousClock.now - began)",
                ])
        } catch {
            self.logger.warning(
                "cannot leave anything to the next process, clients have to come back",
                metadata: [LogKey.error: "\(error)"])
        }
        await Self.stop(self.group, self.logger)
    }

    /// Has `driver` go on with what the process before left, as far as the plans still allow.
    ///
    /// - Returns: For each plan the listening socket that it had.
    static func goOn(
        _ handover: Handover?, _ plans: [ListenerPlan], _ policy: Gateway.Policy, _ driver: GatewayDriver,
        _ logger: Logger
    ) async -> [HandedOver.Listening?] {
        guard var handed = handover?.open(logger) else { return plans.map { _ in nil } }
        defer { handed.closeRest() }
        let sockets = plans.map { handed.takeListener(for: $0.address) }
        var policies: [ListenAddress: ListenerPolicy] = [:]
        for (plan, socket) in zip(plans, sockets) { policies[socket?.address ?? plan.address] = plan.policy }
        let connections = handed.takeConnections(policies)
        do {
            let known = handed.state.driver.connections.count
            if let count = try await driver.adopt(handed.state.driver, connections, policy) {
                logger.notice(
                    "went on with the connections of the process before",
                    metadata: [LogKey.count: "\(count)", LogKey.limit: "\(known)"])
            } else {
                logger.warning("cannot go on with what the process before left, clients have to come back")
            }
        } catch {
            logger.warning(
                "cannot go on with what the process before left, clients have to come back",
                metadata: [LogKey.error: "\(error)"])
        }
        return sockets
    }
}
