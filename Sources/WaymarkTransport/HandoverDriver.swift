internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import Synchronization
internal import WaymarkCodec
internal import WaymarkConnections
package import WaymarkGateway
package import WaymarkProtocol

// Hands a driver's gateway and connections over to the driver of another process.
//
// The state is consistent because it is collected while nothing changes: first no connection is read any more, then the gateway
// processes what was read, then the output is written to the kernel, and only then are the sockets detached.
extension GatewayDriver {
    /// Stops, and detaches the gateway and all connections. Pending output has up to `timeout` to reach the kernel; peers that do
    /// not read it in time are disconnected and can resume with their tokens. A connection that cannot be handed over gets
    /// `goodbye`. Call it once, when no listener accepts any more; the driver must not be used afterwards.
    ///
    /// - Throws: What the event loops throw once they are shut down.
    package func detach(_ goodbye: Goodbye, within timeout: Duration) async throws -> DetachedDriver {
        for (loop, shard) in self.shards { try await loop.submit { shard.value.suspend(goodbye) }.get() }
        try await self.gatewayLoop.submit {
            self.state.value.isDetaching = true
            self.disarm()
            self.tellObserversAtOnce()
        }.get()
        try await self.settle()
        let drained = self.shards.map { loop, shard in
            loop.flatSubmit { shard.value.whenDrained(within: timeout) }
        }
        try await EventLoopFuture.andAllSucceed(drained, on: self.gatewayLoop).get()
        var cutCount = 0
        for (loop, shard) in self.shards { cutCount += try await loop.submit { shard.value.release() }.get() }
        try await self.settle()
        var connections: [HandoverConnection] = []
        var descriptors: [CInt] = []
        var totals = LoopTotals()
        for (loop, shard) in self.shards {
            for (state, descriptor) in try await loop.submit({ shard.value.detach() }).get() {
                connections.append(state)
                descriptors.append(descriptor)
            }
            totals.add(try await loop.submit { shard.value.totals }.get())
        }
        let (detached, loopTotals) = (connections, totals)
        let state = try await self.gatewayLoop.submit {
            self.disarm()
            return DriverState(
                gateway: GatewayState(self.state.value.core.gateway),
                nextConnection: self.state.value.nextConnection, connections: detached,
                failures: self.failures.withLock { $0.entries },
                observation: self.state.value.core.observationState,
                tallies: self.state.value.core.tallies(with: loopTotals))
        }.get()
        return DetachedDriver(state: state, descriptors: descriptors, cutCount: cutCount)
    }

    /// Returns when the gateway has processed all events, its instructions have been performed, and no further events followed.
    private func settle() async throws {
        var isSettled = false
        while !isSettled {
            var count = 0
            for (loop, shard) in self.shards {
                count += try await loop.submit { shard.value.handlerCount }.get()
            }
            let known = count
            isSettled = try await self.gatewayLoop.submit {
                defer { self.state.value.core.hasRun = false }
                let state = self.state.value
                return !state.core.hasRun && !state.core.hasPending && state.ledger.count == known
            }.get()
        }
    }

    /// Takes over the gateway and the connections that another driver detached. Call it once, before any listener accepts.
    ///
    /// - Parameters:
    ///   - state: The state of the other driver.
    ///   - connections: The connections whose sockets were found, which this driver owns from now on, each with the current policy
    ///     of its listener: a peer that the policy no longer allows gets a Goodbye. The other connections of `state` are lost; their
    ///     peers can resume with their tokens.
    ///   - policy: The operator's current policy.
    /// - Returns: The number of connections that continue; nil if the gateway's state cannot be read: then all are closed.
    /// - Throws: What the event loops throw once they are shut down.
    package func adopt(
        _ state: DriverState, _ connections: [(HandoverConnection, CInt, CurrentPolicy)],
        _ policy: Gateway.Policy
    ) async throws -> Int? {
        guard let gateway = state.gateway.gateway(policy: policy, coder: Codec.coder) else {
            for (_, descriptor, _) in connections { _ = close(descriptor) }
            return nil
        }
        try await self.gatewayLoop.submit {
            self.state.value.adopt(gateway, state, at: self.clock())
            self.state.value.nextConnection = state.nextConnection
            self.failures.withLock { $0.restore(state.failures ?? []) }
            // Until every connection is attached, see `resume`.
            self.state.value.core.isPaused = true
            for (index, (connection, _, _)) in connections.enumerated() {
                let detached = connection.connection
                self.state.value.ledger.restore(
                    detached.id, connection.source, isFinished: detached.isAdmitted)
                self.state.value.core.assign(
                    detached.id, to: index % self.shards.count, payer: connection.source.payer,
                    in: detached.audiences)
                self.state.value.idle.connectionOpened()
            }
        }.get()
        let channels = connections.enumerated().map { index, entry in
            self.open(entry.0, entry.1, entry.2, shard: index % self.shards.count)
        }
        let opened = try await EventLoopFuture.whenAllComplete(channels, on: self.gatewayLoop).get()
        for (result, (connection, _, _)) in zip(opened, connections) {
            switch result {
            case .success: break
            // The peer disconnected during the handover.
            case .failure: self.left(connection.connection.id)
            }
        }
        return try await self.resume(policy)
    }

    private func open(
        _ connection: HandoverConnection, _ descriptor: CInt, _ currentPolicy: CurrentPolicy, shard index: Int
    ) -> EventLoopFuture<any Channel> {
        let (loop, shard) = self.shards[index]
        return ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    var slot = 0
                    shard.value.change(for: self) { core, now, actions in
                        slot = core.adopt(
                            connection.connection, payer: connection.source.payer, outbox: self.limits.outbox,
                            at: now, into: &actions)
                    }
                    let handler = ConnectionHandler(
                        slot: slot, connection, currentPolicy: currentPolicy, socket: channel.bareSocket,
                        driver: self, shard: shard.value
                    )
                    try self.add(handler, to: channel, shard)
                }
            }
            .withConnectedSocket(descriptor)
    }

    /// Called when all connections are attached: reports those that were lost to the gateway, ends what the policy no longer allows, and
    /// reads the others again.
    ///
    /// - Returns: The number of connections that continue.
    private func resume(_ policy: Gateway.Policy) async throws -> Int {
        try await self.gatewayLoop.submit {
            let state = self.state.value
            let connections = Array(state.core.gateway.connections) + state.core.observers
            let lost = connections.filter { state.ledger.source(of: $0) == nil }.sorted()
            state.core.isPaused = false
            for id in lost { self.submit([.departed(id, clean: false)], from: id) }
            self.submit([.policyChanged(policy)], from: nil)
            self.run()
        }.get()
        var count = 0
        for (loop, shard) in self.shards { count += try await loop.submit { shard.value.resume() }.get() }
        return count
    }
}
