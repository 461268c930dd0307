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
        for entry in self.entrances.all {
            guard let socket = await entry.listener.release() else { continue }
            sockets.append(socket)
            // What the service manager opened it will hand over by itself.
            guard entry.plan.descriptor == nil, let cookie = SocketCookie(socket) else { continue }
            listening.append(DaemonState.Listening(address: entry.listener.address, cookie: cookie))
        }
        do {
            let goodbye = Goodbye(
                .shuttingDown, reason: "the gateway restarts", reconnectAfterMilliseconds: 1_000)
            let detached = try await self.driver.detach(goodbye, within: Self.writeTimeout)
            sockets += detached.descriptors
            if detached.cutCount > 0 {
                self.logger.warning(
                    "\(LoggedEvent.peersDidNotTake)", metadata: [LogKey.count: "\(detached.cutCount)"])
            }
            try Handover.store(DaemonState(driver: detached.state, listening: listening), sockets)
            self.logger.notice(
                "\(LoggedEvent.leftToNext)",
                metadata: [
                    LogKey.count: "\(detached.descriptors.count)",
                    LogKey.duration: "\(ContinuousClock.now - began)",
                ])
        } catch {
            self.logger.warning("\(LoggedEvent.cannotLeave)", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Goes on with what the process before left, and lets each of the listeners that are about to be opened have the socket that
    /// it had. Peers that these do not allow get a Goodbye.
    func goOn(_ handover: Handover, _ openings: inout [Opening]) async {
        guard var handed = handover.open(self.logger) else { return }
        defer { handed.closeRest() }
        var rules: [ListenAddress: ListenerRules] = [:]
        for index in openings.indices {
            let address = openings[index].plan.address
            if openings[index].plan.descriptor == nil {
                openings[index].socket = handed.takeListener(for: address)
            }
            rules[openings[index].socket?.address ?? address] = openings[index].rules
        }
        for gone in handed.takeListeners() {
            await Listener.discard(gone.descriptor, at: gone.address)
            self.logger.notice("\(LoggedEvent.listenerClosed)", metadata: [LogKey.address: "\(gone.address)"])
        }
        let connections = handed.takeConnections(rules)
        do {
            let state = handed.state.driver
            if let count = try await self.driver.adopt(state, connections, self.settings.policy) {
                self.logger.notice(
                    "\(LoggedEvent.wentOn)",
                    metadata: [LogKey.count: "\(count)", LogKey.limit: "\(state.connections.count)"])
            } else {
                self.logger.warning("\(LoggedEvent.cannotGoOn)")
            }
        } catch {
            self.logger.warning("\(LoggedEvent.cannotGoOn)", metadata: [LogKey.error: "\(error)"])
        }
    }
}
