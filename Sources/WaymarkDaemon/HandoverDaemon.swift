internal import Glibc
internal import ListeningSockets
internal import Logging
internal import StateCoding
internal import WaymarkConfiguration
internal import WaymarkGateway
internal import WaymarkProtocol
internal import WaymarkTelemetry
internal import WaymarkTransport

// A restart: the old process hands over, the new one takes over.
extension Daemon {
    /// How long peers have to read their pending data.
    private static let writeTimeout = Duration.seconds(1)

    /// Hands all connections, sessions and deadlines over to the next process, and returns when the service manager has stored
    /// them. Peers notice nothing. If it fails, the connections are closed, and peers reconnect with their tokens.
    func handOver() async {
        let began = ContinuousClock.now
        var sockets: [CInt] = []
        defer { for socket in sockets { _ = close(socket) } }
        var listening: [DaemonState.Listening] = []
        for entry in self.listeners.all {
            guard let socket = await entry.listener.release() else { continue }
            sockets.append(socket)
            // The service manager passes its own sockets to the next process anyway.
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
                    "\(LoggedEvent.peersNotFlushed)", metadata: [LogKey.count: "\(detached.cutCount)"])
            }
            try Handover.store(DaemonState(driver: detached.state, listening: listening), sockets)
            self.logger.notice(
                "\(LoggedEvent.handedOver)",
                metadata: [
                    LogKey.count: "\(detached.descriptors.count)",
                    LogKey.duration: "\(ContinuousClock.now - began)",
                ])
        } catch {
            self.logger.warning("\(LoggedEvent.handoverFailed)", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Takes over the state and connections of the previous process, and assigns its listening sockets to the pending
    /// listeners. Peers that the settings no longer allow get a Goodbye.
    func takeOver(_ handover: Handover, _ pending: inout [PendingListener]) async {
        guard var handed = handover.open(self.logger) else { return }
        defer { handed.closeRest() }
        var policies: [ListenAddress: CurrentPolicy] = [:]
        for index in pending.indices {
            let address = pending[index].plan.address
            if pending[index].plan.descriptor == nil {
                pending[index].socket = handed.removeListener(for: address)
            }
            policies[pending[index].socket?.address ?? address] = pending[index].currentPolicy
        }
        for removed in handed.removeListeners() {
            await Listener.discard(removed.descriptor, at: removed.address)
            self.logger.notice(
                "\(LoggedEvent.listenerClosed)", metadata: [LogKey.address: "\(removed.address)"])
        }
        let connections = handed.removeConnections(policies)
        do {
            let state = handed.state.driver
            if let count = try await self.driver.adopt(state, connections, self.settings.policy) {
                self.keepEpoch(of: state)
                self.logger.notice(
                    "\(LoggedEvent.tookOver)",
                    metadata: [LogKey.count: "\(count)", LogKey.limit: "\(state.connections.count)"])
            } else {
                self.logger.warning("\(LoggedEvent.takeoverFailed)")
            }
        } catch {
            self.logger.warning("\(LoggedEvent.takeoverFailed)", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Keeps the epoch of a gateway that began in a process without the file.
    private func keepEpoch(of state: DriverState) {
        do throws(EpochFile.Problem) { try self.epochs?.keep(state.identity.epoch) } catch {
            Self.warn(self.logger, of: error)
        }
    }
}
