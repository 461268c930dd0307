internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import WaymarkCodec
package import WaymarkGateway
package import WaymarkProtocol

// How everything that a driver has goes over to the driver of another process.
//
// Nothing is torn, because nothing moves: first nobody is read any more, then the gateway works off what was read, then what
// was written goes to the kernel, and only then are the sockets taken.
extension GatewayDriver {
    /// Stops, and lets go of the gateway and all connections. What is under way to a peer is given up to `timeout` to get to
    /// the kernel; peers that do not take it are cut, and come back by their tokens. A connection that cannot be handed over
    /// gets `goodbye`. Called once, when no listener accepts any more; the driver is of no use afterwards.
    ///
    /// - Throws: What the event loops throw once they are shut down.
    package func detach(_ goodbye: Goodbye, within timeout: Duration) async throws -> DetachedDriver {
        for (loop, shard) in self.shards { try await loop.submit { shard.value.hold(goodbye) }.get() }
        try await self.gatewayLoop.submit {
            self.state.value.isDetaching = true
            self.disarm()
        }.get()
        try await self.settle()
        let written = self.shards.map { loop, shard in
            loop.flatSubmit { shard.value.whenWritten(on: loop, within: timeout) }
        }
        try await EventLoopFuture.andAllSucceed(written, on: self.gatewayLoop).get()
        var cutCount = 0
        for (loop, shard) in self.shards { cutCount += try await loop.submit { shard.value.letGo() }.get() }
        try await self.settle()
        var connections: [ConnectionState] = []
        var descriptors: [CInt] = []
        for (loop, shard) in self.shards {
            for (state, descriptor) in try await loop.submit({ shard.value.detach() }).get() {
                connections.append(state)
                descriptors.append(descriptor)
            }
        }
        let handed = connections
        let state = try await self.gatewayLoop.submit {
            self.disarm()
            return DriverState(
                gateway: GatewayState(self.state.value.gateway),
                nextConnection: self.state.value.nextConnection, connections: handed)
        }.get()
        return DetachedDriver(state: state, descriptors: descriptors, cutCount: cutCount)
    }

    /// Returns when the gateway has worked off everything, its instructions are done, and they led to nothing further.
    private func settle() async throws {
        var isSettled = false
        while !isSettled {
            var count = 0
            for (loop, shard) in self.shards { count += try await loop.submit { shard.value.count }.get() }
            let known = count
            isSettled = try await self.gatewayLoop.submit {
                defer { self.state.value.hasRun = false }
                let state = self.state.value
                return !state.hasRun && state.pending.isEmpty && state.places.count == known
            }.get()
        }
    }

    /// Takes over what another driver let go of, and goes on with all of it at once. Called once, before any listener accepts.
    ///
    /// - Parameters:
    ///   - state: What the other driver left.
    ///   - connections: Those whose sockets are there, which are owned from now on, each with the listener's rules of today: who
    ///     may not stay by these gets a Goodbye. The others of `state` are gone: their peers may come back by their tokens.
    ///   - policy: The operator's, of today.
    /// - Returns: How many go on; nil if the gateway's state cannot be read: then everything is closed.
    /// - Throws: What the event loops throw once they are shut down.
    package func adopt(
        _ state: DriverState, _ connections: [(ConnectionState, CInt, ListenerRules)],
        _ policy: Gateway.Policy
    ) async throws -> Int? {
        guard let gateway = state.gateway.gateway(policy: policy, coder: Codec.coder) else {
            for (_, descriptor, _) in connections { _ = close(descriptor) }
            return nil
        }
        try await self.gatewayLoop.submit {
            self.state.value.adopt(gateway)
            self.state.value.nextConnection = state.nextConnection
            // Until everybody is there, see `goOn`.
            self.state.value.isHeld = true
            for (index, (connection, _, _)) in connections.enumerated() {
                let shard = index % self.shards.count
                self.state.value.ledger.restore(connection.source.user)
                self.state.value.places[connection.id] = Place(shard: shard, source: connection.source)
                for audience in connection.audiences { self.state.value.join(connection.id, audience) }
                self.state.value.idle.came()
            }
        }.get()
        let channels = connections.enumerated().map { index, entry in
            self.open(entry.0, entry.1, entry.2, shard: index % self.shards.count)
        }
        let opened = try await EventLoopFuture.whenAllComplete(channels, on: self.gatewayLoop).get()
        for (result, (connection, _, _)) in zip(opened, connections) {
            switch result {
            case .success: break
            // Closed while nobody looked.
            case .failure: self.gatewayLoop.execute { self.forget(connection.id) }
            }
        }
        return try await self.goOn()
    }

    private func open(
        _ connection: ConnectionState, _ descriptor: CInt, _ rules: ListenerRules, shard index: Int
    ) -> EventLoopFuture<any Channel> {
        let (loop, shard) = self.shards[index]
        return ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = ConnectionHandler(
                        connection, rules: rules, driver: self, shard: shard.value)
                    try self.add(handler, to: channel, shard)
                    for audience in connection.audiences { shard.value.join(connection.id, audience) }
                }
            }
            .withConnectedSocket(descriptor)
    }

    /// Everybody is there: lets the gateway hear who is not, and connections be read.
    ///
    /// - Returns: How many go on.
    private func goOn() async throws -> Int {
        try await self.gatewayLoop.submit {
            let places = self.state.value.places
            let gone = self.state.value.gateway.connections.filter { places[$0] == nil }.sorted()
            self.state.value.isHeld = false
            if let deadline = self.state.value.gateway.armed { self.arm(deadline) }
            self.submit(gone.map { .departed($0, clean: false) }, from: nil)
            self.run()
        }.get()
        var count = 0
        for (loop, shard) in self.shards { count += try await loop.submit { shard.value.goOn() }.get() }
        return count
    }
}

extension LoopShard {
    /// How many connections there are, those that are closing among them.
    var count: Int { self.members.count }

    /// Holds every connection, also those that are still on their way here.
    func hold(_ goodbye: Goodbye) {
        self.holding = goodbye
        for member in self.members.values { member.hold(goodbye) }
    }

    /// Succeeds when what was written to all of them is the kernel's, or they have closed, or the time is over.
    func whenWritten(on loop: any EventLoop, within timeout: Duration) -> EventLoopFuture<Void> {
        let all = loop.makePromise(of: Void.self)
        let deadline = loop.scheduleTask(in: .nanoseconds(timeout.nanoseconds)) { all.succeed() }
        let written = self.members.values.compactMap { $0.whenWritten() }
        EventLoopFuture.andAllComplete(written, on: loop).whenComplete { _ in
            deadline.cancel()
            all.succeed()
        }
        return all.futureResult
    }

    /// See ``ConnectionHandler/letGo()``.
    ///
    /// - Returns: How many were closed.
    func letGo() -> Int { self.members.values.count { $0.letGo() } }

    func detach() -> [(state: ConnectionState, descriptor: CInt)] {
        self.members.values.compactMap { member in
            guard let (detached, descriptor) = member.detach() else { return nil }
            var state = detached
            state.audiences = member.outgoing.audiences.sorted { $0.rawValue < $1.rawValue }
            return (state, descriptor)
        }
    }

    /// See ``ConnectionHandler/goOn()``.
    ///
    /// - Returns: How many go on.
    func goOn() -> Int { self.members.values.count { $0.goOn() } }
}
