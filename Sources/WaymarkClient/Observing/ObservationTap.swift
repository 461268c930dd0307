package import WaymarkProtocol

/// An observer that hands every message of the gateway on as it is, for tools that record them.
///
/// It reconnects after a loss and continues where it was. Each message is handed on before the next one is read: if the tool is too
/// slow, the gateway drops entries and tells how many.
package actor ObservationTap {
    package enum Event: Sendable {
        case state(ConnectionState)
        case welcomed(Welcome)
        case received(Message)
    }

    var link: LinkMachine<ObserverMachine>
    var driver: ChannelDriver
    private let handler: @Sendable (Event) -> Void
    private var isConnected = false
    /// Calls of ``catchUp()``.
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Connects to a gateway's socket for observers; returns with the Welcome. From then on `handler` is called with everything, in
    /// order.
    ///
    /// - Throws: As ``Observer/connect(to:_:)``.
    package static func connect(
        to address: ServiceAddress, _ configuration: Observer.Configuration,
        _ handler: @escaping @Sendable (Event) -> Void
    ) async throws(ClientError) -> ObservationTap {
        let tap = try ObservationTap(address, configuration, handler)
        try await tap.open()
        return tap
    }

    private init(
        _ address: ServiceAddress, _ configuration: Observer.Configuration,
        _ handler: @escaping @Sendable (Event) -> Void
    ) throws(ClientError) {
        self.driver = ChannelDriver(address, configuration.logger)
        self.link = try LinkMachine(to: address, configuration)
        self.handler = handler
    }

    /// Reads on until everything was told that the gateway had to tell when this was called. Takes at most two seconds, also when its task
    /// is cancelled.
    package func catchUp() async {
        guard self.isConnected else { return }
        let timer = Task {
            do { try await Task.sleep(for: .seconds(2)) } catch { return }
            self.endCatchingUp()
        }
        await withCheckedContinuation { waiter in
            self.waiters.append(waiter)
            // Why: counters have their place between what is told.
            self.use { observer, _ in observer.readCounters(ReadCounters(), call: 0) }
        }
        timer.cancel()
    }

    /// Asks for all counters, and what waits for each connection and what each session has. The answer comes as ``Event/received(_:)``.
    /// Without a connection nothing is asked.
    package func readMeasures() {
        guard self.isConnected else { return }
        var question = ReadCounters()
        (question.wantsConnections, question.wantsSessions) = (true, true)
        self.use { observer, _ in observer.readCounters(question, call: 0) }
    }

    private func endCatchingUp() {
        for waiter in self.waiters { waiter.resume() }
        self.waiters = []
    }

    /// Ends the connection. Takes at most two seconds, also when its task is cancelled.
    package func close() async { await self.closeLink() }
}

extension ObservationTap: PeerDriver {
    func perform(_ output: ObserverMachine.Output) {
        switch output {
        case .welcomed(let welcome): self.handler(.welcomed(welcome))
        case .received(let envelope):
            self.handler(.received(envelope.message))
            guard case .counters(let report) = envelope.message else { return }
            if self.use({ observer, _ in observer.apply(report) }) != nil { self.endCatchingUp() }
        }
    }

    func connectionChanged(to state: ConnectionState) {
        if case .connected = state { self.isConnected = true } else { self.isConnected = false }
        if !self.isConnected { self.endCatchingUp() }
        self.handler(.state(state))
    }
}
