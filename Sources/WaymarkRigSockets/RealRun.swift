internal import ListeningSockets
internal import Logging
package import NIOCore
internal import NIOPosix
internal import ProcessIO
package import WaymarkClient
package import WaymarkHistory
internal import WaymarkProtocol
internal import WaymarkRecording
package import WaymarkRig
package import WaymarkScenario

/// A scenario over sockets and by the real clock: with a daemon of its own or a gateway that runs already, and with programs.
///
/// Everything that is decided is decided by ``ScenarioRun``, as in virtual time. This actor, on an event loop of its own sockets, hands in
/// what happens to sockets, processes and the clock, and performs what is ordered.
package actor RealRun: SocketOwner {
    package struct Options: Sendable {
        /// The path of a `waymarkd`; nil: the one in this program.
        package var daemon: String?
        /// Gateways that run already: of vehicles and of clients. nil: a daemon of the run's own.
        package var against: (vehicles: ServiceAddress, clients: ServiceAddress)?
        package init() {}

        /// Runs against gateways at these addresses: none, one, or that of vehicles and that of clients.
        package init(against addresses: [ServiceAddress]) {
            self.against = addresses.first.map { ($0, addresses.last ?? $0) }
        }
    }

    package nonisolated let loop: any EventLoop
    @safe package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe self.loop.executor.asUnownedSerialExecutor()
    }

    private let options: Options
    private let description: Scenario
    private let inputs: ScenarioInputs
    private var scenario: ScenarioRun
    private let clock = ContinuousClock()
    private var origin: ContinuousClock.Instant
    /// The same instant by the system's clock.
    private var began = RecordingTime.now
    private var folder: RunFolder?
    private var guardian: Guardian?
    private var daemon: PrivateDaemon?
    /// What happens to the daemon's process, one after the other.
    private var daemonWork: Task<Void, Never>?
    /// To the gateway.
    private var sockets: [ConnectionID: RigSocket] = [:]
    /// Of a gateway that runs already: where each socket connects that is not open yet, and where one was open.
    private var targets: [ConnectionID: ServiceAddress] = [:]
    private var reached: Set<ServiceAddress> = []
    /// They are not wanted any more, and not open yet.
    private var unwanted: Set<ConnectionID> = []
    private var programs: ProgramSockets
    private var listener: SocketListener?
    /// What happened while orders were performed.
    private var events: [(event: SocketEvent, number: Int)] = []
    private var isBusy = false
    private var timer: Scheduled<Void>?
    private var armed: Instant?
    private var latenessMax = Duration.zero
    private var isOver = false
    private var isGatewayToBlame = false
    private var isLeaving = false
    private var waiter: CheckedContinuation<Void, Never>?

    /// Runs a scenario, which has no obstacles for the real clock, to its end. It returns what came of it, and everything that happened.
    /// `code`: what steps also do, by their index.
    package static func run(
        _ scenario: Scenario, _ inputs: ScenarioInputs, seed: UInt64? = nil, _ options: Options = Options(),
        mutations: RunMutations = RunMutations(), code: [Int: StepCode] = [:]
    ) async -> (result: ScenarioResult, history: History) {
        do throws(ClientError) {
            let run = try RealRun(scenario, inputs, seed, options, mutations, code)
            return await run.run()
        } catch {
            var result = ScenarioResult(file: scenario.file)
            (result.about, result.seed) = (scenario.about ?? "", seed ?? scenario.seed)
            (result.clock, result.problem) = (.real, "\(error)")
            return (result, History())
        }
    }

    private init(
        _ scenario: Scenario, _ inputs: ScenarioInputs, _ seed: UInt64?, _ options: Options,
        _ mutations: RunMutations, _ code: [Int: StepCode]
    ) throws(ClientError) {
        self.loop = MultiThreadedEventLoopGroup.singleton.any()
        (self.options, self.description, self.inputs) = (options, scenario, inputs)
        self.programs = ProgramSockets(scenario.programs)
        self.origin = self.clock.now
        self.scenario = try ScenarioRun(scenario, inputs, .real, seed: seed, mutations, code)
    }

    // MARK: From begin to end

    private func run() async -> (result: ScenarioResult, history: History) {
        do {
            try await self.prepare()
            await withCheckedContinuation {
                self.waiter = $0
                self.begin()
            }
        } catch { self.scenario.fail("\(error)") }
        var (result, history) = self.scenario.finish()
        result.began = self.began
        result.latenessMax = self.latenessMax
        result.programs = self.programs.reports
        if self.isGatewayToBlame { result.gatewayLog = self.daemon?.lastLines(10) ?? [] }
        if self.options.against != nil { await self.leave() }
        await self.clean()
        self.folder?.remove()
        return (result, history)
    }

    /// Starts the gateway, and listens for programs.
    private func prepare() async throws {
        let folder = try RunFolder()
        self.folder = folder
        let guardian = try Guardian(folder)
        self.guardian = guardian
        if self.options.against == nil {
            let settings = try self.description.daemonSettings(
                self.inputs, socket: PrivateDaemon.socket(in: folder))
            let daemon = try PrivateDaemon(self.options.daemon, settings: settings, folder, guardian) {
                [weak self] problem in self?.hand { $0.failGateway(problem) }
            }
            self.daemon = daemon
            self.isGatewayToBlame = true
            try await daemon.start()
            self.isGatewayToBlame = false
        }
        guard !self.programs.peers.isEmpty else { return }
        let app = self.description.appAddress
        self.listener = try await SocketListener.open(
            .tcp(host: app?.host ?? "127.0.0.1", port: app?.port ?? 0), number: 0, for: self)
    }

    private func begin() {
        (self.origin, self.began) = (self.clock.now, .now)
        self.takeTurn {
            self.scenario.begin()
            self.perform()
            for program in self.description.programs { self.start(program) }
            self.proceed()
        }
    }

    /// All peers say Goodbye: a gateway that stays must not keep them for the next run.
    private func leave() async {
        await withCheckedContinuation {
            self.waiter = $0
            self.timer = self.loop.scheduleTask(in: .seconds(2)) { self.assumeIsolated { $0.finish() } }
            (self.isOver, self.isLeaving) = (false, true)
            self.advance { run in for peer in run.peers { run.tell(peer, .close) } }
        }
    }

    /// Ends everything that was started.
    private func clean() async {
        self.isOver = true
        self.timer?.cancel()
        for socket in self.sockets.values { socket.reset() }
        for socket in self.programs.sockets { socket.close() }
        await self.listener?.close()
        await withTaskGroup { group in
            for program in self.programs.running { group.addTask { await program.end() } }
        }
        await self.daemonWork?.value
        await self.daemon?.end()
    }

    private func fail(_ problem: String) {
        self.scenario.fail(problem)
        self.finish()
    }

    private func failGateway(_ problem: String) {
        self.isGatewayToBlame = true
        self.fail(problem)
    }

    private func finish() {
        self.isOver = true
        self.waiter?.resume()
        self.waiter = nil
    }

    /// From another thread.
    private nonisolated func hand(_ body: @escaping @Sendable (isolated RealRun) -> Void) {
        self.loop.execute { self.assumeIsolated { if !$0.isOver { body($0) } } }
    }

    // MARK: Time

    private var now: Instant { Instant(nanoseconds: 0) + (self.clock.now - self.origin) }

    /// Hands something to the run, and does what follows.
    private func advance(_ body: (inout VirtualRun) -> Void = { _ in }) {
        guard !self.isOver else { return }
        self.takeTurn {
            self.scenario.catchUp(to: self.now, body)
            self.proceed()
        }
    }

    /// Does something that gives orders, and then what sockets did meanwhile.
    private func takeTurn(_ body: () -> Void) {
        guard !self.isBusy else { return body() }
        self.isBusy = true
        defer { self.isBusy = false }
        body()
        self.handleEvents()
    }

    private func proceed() {
        guard !self.isLeaving else {
            self.perform()
            if self.sockets.isEmpty { self.finish() }
            return
        }
        let isOver = self.scenario.proceed()
        self.perform()
        if isOver { self.finish() } else { self.arm() }
    }

    private func arm() {
        let deadline = self.scenario.deadline
        guard deadline != self.armed else { return }
        self.timer?.cancel()
        self.armed = deadline
        let delay = TimeAmount.nanoseconds(max(0, (deadline - self.now).nanoseconds))
        self.timer = self.loop.scheduleTask(in: delay) { self.assumeIsolated { $0.reach(deadline) } }
    }

    private func reach(_ deadline: Instant) {
        self.armed = nil
        self.latenessMax = max(self.latenessMax, self.now - deadline)
        self.advance()
    }

    // MARK: Orders

    private func perform() {
        for order in self.scenario.withRun({ $0.takeSocketOrders() }) { self.perform(order) }
        for order in self.scenario.withRun({ $0.takeProcessOrders() }) { self.perform(order) }
        for peer in self.programs.peers {
            let orders = self.scenario.withRun { run in
                run.change(peer, as: ForeignPeer.self) { program, _, _ in program.takeOrders() }
            }
            for order in orders ?? [] { self.programs.perform(order, of: peer) }
        }
    }

    private func perform(_ order: SocketGateway.Order) {
        switch order {
        case .connect(let id, let peer):
            let address = self.address(for: peer)
            if self.options.against != nil { self.targets[id] = address }
            RigSocket.connect(to: address, as: Self.number(of: id), for: self)
        case .write(let id, let bytes): self.sockets[id]?.write(bytes)
        case .endWriting(let id): self.sockets[id]?.endWriting()
        case .close(let id): self.sockets[id]?.close()
        case .reset(let id):
            if let socket = self.sockets[id] { socket.reset() } else { self.unwanted.insert(id) }
        case .setReading(let id, let isReading): self.sockets[id]?.setReading(isReading)
        }
    }

    private func address(for peer: PeerID) -> ServiceAddress {
        if let against = self.options.against {
            return peer.vehicle == nil ? against.clients : against.vehicles
        }
        return .unix(path: self.folder.map(PrivateDaemon.socket) ?? "")
    }

    private func perform(_ order: ProcessOrder) {
        guard let daemon else { return }
        let before = self.daemonWork
        self.daemonWork = Task {
            await before?.value
            do throws(ChildProcess.Failure) {
                switch order {
                case .kill: await daemon.kill()
                case .start: try await daemon.start()
                case .stop: await daemon.stop()
                case .resume: await daemon.resume()
                case .restart: try await daemon.restart()
                }
            } catch { self.failGateway("\(error)") }
        }
    }

    // MARK: Sockets

    /// The numbers of sockets: even of those to the gateway, odd of programs.
    private static func number(of id: ConnectionID) -> Int { Int(id.rawValue) * 2 }

    package func accepted(_ socket: RigSocket, by listener: Int) -> Int {
        socket.setReading(true)
        return self.programs.add(socket)
    }

    package func handle(_ event: SocketEvent, of number: Int) {
        self.events.append((event, number))
        // Why: what a socket does while orders are performed comes behind them. Unix sockets connect at once.
        self.takeTurn {}
    }

    private func handleEvents() {
        while !self.events.isEmpty {
            let (event, number) = self.events.removeFirst()
            if number.isMultiple(of: 2) {
                self.handle(event, of: ConnectionID(UInt64(number / 2)))
            } else {
                self.handle(event, ofProgram: number)
            }
        }
    }

    private func handle(_ event: SocketEvent, of id: ConnectionID) {
        switch event {
        case .opened(let socket):
            if let target = self.targets.removeValue(forKey: id) { self.reached.insert(target) }
            guard !self.isOver, self.unwanted.remove(id) == nil else { return socket.reset() }
            self.sockets[id] = socket
            self.advance { $0.socketOpened(id) }
        case .bytes(let bytes): self.advance { $0.socketReceived(bytes, on: id) }
        case .ended: self.advance { $0.socketEnded(id) }
        case .writable(let isWritable): self.advance { $0.socketIsWritable(id, isWritable) }
        case .closed(let reason):
            let wasOpen = self.sockets.removeValue(forKey: id) != nil
            self.unwanted.remove(id)
            let reason = reason ?? "it is gone"
            if let target = self.targets.removeValue(forKey: id), !self.reached.contains(target), !self.isOver
            {
                return self.fail("no gateway can be reached at \(target): \(reason)")
            }
            self.advance { if wasOpen { $0.socketClosed(id) } else { $0.socketFailed(id, reason) } }
        }
    }

    private func handle(_ event: SocketEvent, ofProgram number: Int) {
        guard let change = self.programs.handle(event, of: number) else { return }
        switch change {
        case .peer(let peer, let body):
            self.advance { run in
                run.change(peer, as: ForeignPeer.self) { program, _, actions in body(&program, &actions) }
            }
        case .log(let line): self.advance { $0.history.append(.log(nil, line), at: $0.now) }
        }
    }

    // MARK: Programs

    private func start(_ program: Scenario.Program) {
        guard let guardian, case .tcp(let host, let port)? = self.listener?.address,
            !program.command.words.isEmpty
        else { return }
        let peer = program.peer
        do throws(ChildProcess.Failure) {
            let process = try ProgramUnderTest(
                peer, program.words(host: host, port: port), in: self.inputs.folder, guardian,
                onLine: { line in self.hand { $0.wrote(peer, line) } },
                onExit: { exit in self.hand { $0.ended(peer, exit) } })
            self.programs.started(process)
        } catch { self.scenario.fail("\(error)") }
    }

    private func wrote(_ peer: PeerID, _ line: String) {
        self.programs.wrote(peer, line)
        self.advance { $0.history.append(.log(peer, line), at: $0.now) }
    }

    private func ended(_ peer: PeerID, _ exit: ChildProcess.Exit) {
        self.programs.ended(peer, exit)
        if exit.isFailedStart { return self.fail("the program of \(peer) cannot be started") }
        self.takeTurn {
            self.scenario.catchUp(to: self.now)
            self.scenario.programEnded(peer, "\(exit)")
            self.proceed()
        }
    }
}
