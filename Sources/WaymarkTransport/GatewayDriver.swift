package import NIOCore
internal import WaymarkCodec
package import WaymarkGateway
package import WaymarkProtocol

/// Owns the gateway on one event loop, and the connections on all of them.
///
/// Connections hand in events in batches, one per read; the gateway's actions go back as one list of instructions for
/// each event loop, with consecutive frames for an audience in one shared buffer.
package final class GatewayDriver: Sendable {
    private let gatewayLoop: any EventLoop
    private let state: NIOLoopBoundBox<State>
    private let shards: [(loop: any EventLoop, shard: NIOLoopBoundBox<LoopShard>)]
    private let clock: @Sendable () -> Instant

    /// What lives on the gateway's loop.
    private struct State {
        var gateway: Gateway
        var ledger: ConnectionLedger
        var places: [ConnectionID: Int] = [:]
        var users: [ConnectionID: UInt32?] = [:]
        var nextConnection: UInt64 = 0
        var pending: [([Gateway.Event], ConnectionID?)] = []
        var isRunning = false
        var timer: Scheduled<Void>?
        var isDraining = false
        var emptied: EventLoopPromise<Void>?
    }

    /// Creates a driver whose gateway lives on the first loop of `loops`.
    package init(
        loops: [any EventLoop], policy: Gateway.Policy, connections: ConnectionLedger.Limits,
        clock: @escaping @Sendable () -> Instant
    ) {
        precondition(!loops.isEmpty, "a driver needs an event loop")
        self.gatewayLoop = loops[0]
        self.clock = clock
        let coder = Gateway.Coder(
            decode: { frame in
                do throws(DecodingError) {
                    guard case .publication(let publication) = try Codec.decode(frame).message else {
                        return nil
                    }
                    return publication
                } catch { return nil }  // A type that this build does not know.
            },
            encode: { Codec.encode($0) })
        let gateway = Gateway(
            policy: policy, coder: coder, firstSession: SessionID(.random(in: 1 ... .max)))
        self.state = NIOLoopBoundBox.makeBoxSendingValue(
            State(gateway: gateway, ledger: ConnectionLedger(limits: connections)), eventLoop: loops[0])
        self.shards = loops.map { ($0, NIOLoopBoundBox.makeBoxSendingValue(LoopShard(), eventLoop: $0)) }
    }

    /// How many there are now.
    package func census() async throws -> Gateway.Census {
        try await self.gatewayLoop.submit { self.state.value.gateway.census }.get()
    }

    // MARK: Connections

    /// Counts a new connection; nil if there are too many.
    func register(_ loop: any EventLoop, user: UInt32?) -> EventLoopFuture<ConnectionID?> {
        let index = self.shards.firstIndex { $0.loop === loop } ?? 0
        return self.gatewayLoop.submit {
            guard !self.state.value.isDraining, self.state.value.ledger.add(user) else { return nil }
            self.state.value.nextConnection += 1
            let id = ConnectionID(self.state.value.nextConnection)
            self.state.value.places[id] = index
            self.state.value.users[id] = user
            return id
        }
    }

    /// Makes a connection known on its own loop.
    func attach(_ handler: ConnectionHandler, on loop: any EventLoop) {
        guard let (_, shard) = self.shards.first(where: { $0.loop === loop }) else { return }
        shard.value.add(handler)
    }

    /// Forgets a connection whose transport has closed. Called on its loop.
    func detach(_ id: ConnectionID, on loop: any EventLoop) {
        self.shards.first { $0.loop === loop }?.shard.value.remove(id)
        self.gatewayLoop.execute {
            guard self.state.value.places.removeValue(forKey: id) != nil else { return }
            if let user = self.state.value.users.removeValue(forKey: id) {
                self.state.value.ledger.remove(user)
            }
            self.succeedIfEmpty()
        }
    }

    // MARK: Events in

    /// Hands events to the gateway, in order.
    func submit(_ events: [Gateway.Event], from connection: ConnectionID?) {
        if self.gatewayLoop.inEventLoop {
            self.state.value.pending.append((events, connection))
            self.run()
        } else {
            self.gatewayLoop.execute {
                self.state.value.pending.append((events, connection))
                self.run()
            }
        }
    }

    /// Works off what is pending. Actions that lead to further events at once append to it.
    private func run() {
        guard !self.state.value.isRunning else { return }
        self.state.value.isRunning = true
        while !self.state.value.pending.isEmpty {
            let batches = self.state.value.pending
            self.state.value.pending.removeAll(keepingCapacity: true)
            var plan = Plan(count: self.shards.count)
            var actions: [Gateway.Action] = []
            for (events, connection) in batches {
                let now = self.clock()
                for event in events { self.state.value.gateway.handle(event, at: now, into: &actions) }
                for action in actions { self.plan(action, &plan) }
                actions.removeAll(keepingCapacity: true)
                if let connection { self.instruct(connection, .batchDone(connection), &plan) }
            }
            self.execute(plan)
        }
        self.state.value.isRunning = false
    }

    // MARK: Actions out

    /// Instructions per loop, as they build up over a batch.
    private struct Plan {
        var instructions: [[Instruction]]
        var span: (audience: AudienceID, span: Span)?
        init(count: Int) { self.instructions = Array(repeating: [], count: count) }

        /// Ends the span that was being put together: what comes now must come behind it.
        mutating func endSpan() {
            guard let (audience, span) = self.span else { return }
            self.span = nil
            for index in self.instructions.indices {
                self.instructions[index].append(.publish(audience, span))
            }
        }
    }

    private func plan(_ action: Gateway.Action, _ plan: inout Plan) {
        switch action {
        case .publish(let audience, let frame, let key): self.extend(&plan, audience, frame, key)
        case .admit(let id, var welcome):
            welcome.software = Software.name
            self.instruct(id, .session(id, .admitted(welcome)), &plan)
        case .refuse(let id, let goodbye), .close(let id, let goodbye):
            self.instruct(id, .session(id, .closeRequested(goodbye)), &plan)
        case .send(let id, let envelope): self.instruct(id, .send(id, [Codec.encode(envelope)]), &plan)
        case .sendFrames(let id, let frames): self.instruct(id, .send(id, frames), &plan)
        case .join(let id, let audience): self.instruct(id, .join(id, audience), &plan)
        case .leave(let id, let audience): self.instruct(id, .leave(id, audience), &plan)
        case .purge(let id, let session): self.instruct(id, .purge(id, session), &plan)
        case .arm(let deadline): self.arm(deadline)
        }
    }

    private func extend(
        _ plan: inout Plan, _ audience: AudienceID, _ frame: Frame, _ key: ConflationKey?
    ) {
        if plan.span?.audience != audience { plan.endSpan() }
        if plan.span == nil { plan.span = (audience, Span(buffer: ByteBuffer(), frames: [])) }
        plan.span?.span.buffer.writeBytes(frame.bytes)
        plan.span?.span.frames.append((frame, key))
    }

    private func instruct(_ id: ConnectionID, _ instruction: Instruction, _ plan: inout Plan) {
        plan.endSpan()
        guard let place = self.state.value.places[id] else { return }
        plan.instructions[place].append(instruction)
    }

    private func execute(_ plan: Plan) {
        var plan = plan
        plan.endSpan()
        for (index, instructions) in plan.instructions.enumerated() where !instructions.isEmpty {
            let (loop, shard) = self.shards[index]
            // Never at once, also on the same loop: a connection may be in the middle of a read.
            loop.execute { shard.value.perform(instructions) }
        }
    }

    private func arm(_ deadline: Instant) {
        self.state.value.timer?.cancel()
        let delay = max(0, deadline.nanoseconds - self.clock().nanoseconds)
        self.state.value.timer = self.gatewayLoop.scheduleTask(in: .nanoseconds(delay)) {
            self.submit([.deadlineReached], from: nil)
        }
    }

    // MARK: Going down

    /// Says goodbye to everybody; done when all connections are closed.
    package func drain(_ goodbye: Goodbye) -> EventLoopFuture<Void> {
        let emptied = self.gatewayLoop.makePromise(of: Void.self)
        self.gatewayLoop.execute {
            self.state.value.isDraining = true
            self.state.value.emptied = emptied
            self.state.value.timer?.cancel()
            self.succeedIfEmpty()
        }
        for (loop, shard) in self.shards {
            loop.execute {
                for handler in shard.value.handlers { handler.handle(.drainRequested(goodbye)) }
            }
        }
        return emptied.futureResult
    }

    private func succeedIfEmpty() {
        guard self.state.value.isDraining, self.state.value.places.isEmpty else { return }
        self.state.value.emptied?.succeed()
        self.state.value.emptied = nil
    }
}

/// What this build calls itself.
package enum Software {
    package static let version = "0.1.0"
    package static let name = "waymark \(version)"
}
