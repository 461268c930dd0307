package import WaymarkClient
package import WaymarkHistory
package import WaymarkModel
package import WaymarkProtocol
package import WaymarkScenario

/// A simulated endpoint of a vehicle: the client library's machine, and what its user does.
package struct RigVehicle: RigPeer {
    /// What the vehicle's user does.
    package struct Behaviour: Sendable, Hashable {
        package var prompts = Reply.accept
        package var destinations = Reply.accept
        package var answerAfter = Duration.zero
        /// Whether its display is ready, once it is connected.
        package var isReady = true
        /// The time after which what it has received is on its display; nil: it says nothing of it.
        package var showsAfter: Duration?

        package init() {}
    }

    /// How something that the vehicle asked for has ended, by the number of the call.
    package struct Result: Sendable, Hashable {
        package enum Kind: Sendable, Hashable {
            case request(RequestResult)
            case guidance(EndReason)
        }

        package let call: Int
        package let kind: Kind
    }

    package typealias Output = EndpointMachine.Output

    private enum Question: Sendable, Hashable {
        case prompt(Identifier)
        case share(Identifier, SessionID)
    }

    package let id: PeerID
    package let hello: VehicleHello
    package var behaviour: Behaviour
    /// In the order in which they were known.
    package private(set) var results: [Result] = []
    /// Changes what the machine wants, as a faulty cluster would; nil: nothing.
    package var mutation: (@Sendable (Output) -> [Output])?
    private var link: LinkMachine<EndpointMachine>
    private var answers: [(due: Instant, question: Question)] = []
    /// What it was asked and has not answered, oldest first.
    private var open: [Question] = []
    private static let openMax = 16
    /// Numbers that are not on the display yet, oldest first.
    private var showing: [(due: Instant, session: UInt32, sequence: UInt64)] = []
    /// A display that is later shows something newer next.
    private static let showingMax = 1_024
    /// It is not connected and does not try: not yet, or not any more.
    private var isAway = true
    private var hasSetReady = false
    private var nextCall = 0
    private var random: SeededRandom

    /// An endpoint that connects at ``LinkEvent/open``. What it is asked follows from `behaviour`: prompts and destinations that it
    /// would ignore are none of its features only if `hello` says so.
    ///
    /// - Throws: What is wrong with the Hello.
    package init(_ hello: VehicleHello, _ behaviour: Behaviour = .init(), seed: UInt64) throws(ClientError) {
        self.id = .endpoint(hello.vehicle, hello.endpoint)
        self.hello = hello
        self.behaviour = behaviour
        self.random = SeededRandom(seed: seed)
        let machine = try EndpointMachine(hello, random: SeededRandom(seed: self.random.next()))
        self.link = LinkMachine(inRun: machine, &self.random)
    }

    package var storage: VehicleLimits? { self.hello.limits }
    /// What the endpoint has received.
    package var state: VehicleState { self.link.peer.state }
    package var connection: ConnectionState { self.link.state }

    package var deadline: Instant? {
        let link = self.isAway ? nil : self.link.deadline
        let shown = self.isAway ? nil : self.showing.first?.due
        return [link, self.answers.map(\.due).min(), shown].compactMap(\.self).min()
    }

    // MARK: Events

    package mutating func handle(_ event: LinkEvent, at now: Instant, into actions: inout [PeerAction]) {
        if case .open = event { self.isAway = false }
        guard !self.isAway else { return }
        if case .deadlineReached = event {
            self.answerWhatIsDue(at: now, into: &actions)
            self.showWhatIsDue(at: now, into: &actions)
        }
        var linkActions: [LinkAction<Output>] = []
        self.link.handle(event, at: now, into: &linkActions)
        self.perform(linkActions, at: now, into: &actions)
    }

    private mutating func perform(
        _ linkActions: [LinkAction<Output>], at now: Instant, into actions: inout [PeerAction]
    ) {
        for action in linkActions {
            switch action {
            case .state(let state): self.change(state, at: now, into: &actions)
            case .output(let output):
                for output in self.mutation?(output) ?? [output] {
                    self.perform(output, at: now, into: &actions)
                }
            default: actions += [PeerAction](action)
            }
        }
    }

    private mutating func change(
        _ state: ConnectionState, at now: Instant, into actions: inout [PeerAction]
    ) {
        if state == .connecting { self.showing = [] }
        guard case .connected = state, self.behaviour.isReady, !self.hasSetReady else { return }
        self.hasSetReady = true
        self.use(at: now, into: &actions) { $0.update(DisplaySettings(isReadyToShow: true), into: &$1) }
    }

    private mutating func perform(_ output: Output, at now: Instant, into actions: inout [PeerAction]) {
        switch output {
        case .requestEnded(let call, let ending):
            self.results.append(.init(call: call, kind: .request(ending.result)))
        case .guidanceEnded(let call, let reason):
            self.results.append(.init(call: call, kind: .guidance(reason)))
        case .ask(let prompt):
            self.ask(.prompt(Identifier(prompt.id)), self.behaviour.prompts, at: now, into: &actions)
        case .stopAsking(let id): self.forget(.prompt(id))
        case .offer(let share, _, let session):
            self.ask(.share(share, session), self.behaviour.destinations, at: now, into: &actions)
        case .log(let note): actions.append(.log(note.line))
        case .told(let update): self.show(update, at: now, into: &actions)
        case .refused: break
        }
    }

    private mutating func show(_ update: VehicleUpdate, at now: Instant, into actions: inout [PeerAction]) {
        guard let delay = self.behaviour.showsAfter, update.state.isWhole, update.state.sequence > 0,
            self.showing.count < Self.showingMax
        else { return }
        self.showing.append((now + delay, update.state.session, update.state.sequence))
        self.showWhatIsDue(at: now, into: &actions)
    }

    private mutating func showWhatIsDue(at now: Instant, into actions: inout [PeerAction]) {
        let due = self.showing.prefix { $0.due <= now }
        guard let last = due.last else { return }
        self.showing.removeFirst(due.count)
        // Numbers begin anew in another session.
        guard last.session == self.state.session else { return }
        self.use(at: now, into: &actions) { endpoint, _ in endpoint.markShown(last.sequence, at: now) }
    }

    private mutating func ask(
        _ question: Question, _ reply: Reply, at now: Instant, into actions: inout [PeerAction]
    ) {
        self.open.append(question)
        if self.open.count > Self.openMax { self.open.removeFirst() }
        guard reply != .ignore else { return }
        self.answers.append((now + self.behaviour.answerAfter, question))
        self.answerWhatIsDue(at: now, into: &actions)
    }

    private mutating func forget(_ question: Question) {
        self.answers.removeAll { $0.question == question }
        self.open.removeAll { $0 == question }
    }

    private mutating func answerWhatIsDue(at now: Instant, into actions: inout [PeerAction]) {
        for (_, question) in self.answers.filter({ $0.due <= now }) {
            let reply: Reply =
                switch question {
                case .prompt: self.behaviour.prompts
                case .share: self.behaviour.destinations
                }
            self.answer(question, reply == .accept, at: now, into: &actions)
        }
    }

    private mutating func answer(
        _ question: Question, _ isAccepted: Bool, at now: Instant, into actions: inout [PeerAction]
    ) {
        self.forget(question)
        self.use(at: now, into: &actions) { endpoint, outputs in
            switch question {
            case .prompt(let id): endpoint.answerPrompt(id, isAccepted: isAccepted, into: &outputs)
            case .share(let id, let session):
                endpoint.answerShare(id, isAccepted: isAccepted, session, into: &outputs)
            }
        }
    }

    // MARK: What the user does

    /// Lets the endpoint do something, e.g. zoom.
    package mutating func use(
        at now: Instant, into actions: inout [PeerAction],
        _ body: (inout EndpointMachine, inout [Output]) -> Void
    ) {
        guard !self.isAway else { return }
        var linkActions: [LinkAction<Output>] = []
        self.link.use(at: now, into: &linkActions, body)
        self.perform(linkActions, at: now, into: &actions)
    }

    /// Asks for a stop on the way, or a drive.
    ///
    /// - Returns: The number under which ``results`` has the outcome.
    package mutating func request(
        _ place: Waypoint, isDestination: Bool = false, segment: String = "", id: String? = nil,
        at now: Instant, into actions: inout [PeerAction]
    ) -> Int {
        self.nextCall += 1
        let call = self.nextCall
        self.use(at: now, into: &actions) { endpoint, outputs in
            if isDestination {
                endpoint.requestDestination(place, id: id, call: call, into: &outputs)
            } else {
                endpoint.requestWaypoint(place, segment: segment, id: id, call: call, into: &outputs)
            }
        }
        return call
    }

    /// Asks for the start of a trip of the previews.
    ///
    /// - Returns: The number under which ``results`` has the outcome.
    package mutating func startTrip(
        _ trip: String, routeChoice: UInt32? = nil, id: String? = nil, at now: Instant,
        into actions: inout [PeerAction]
    ) -> Int {
        self.nextCall += 1
        let call = self.nextCall
        self.use(at: now, into: &actions) { endpoint, outputs in
            endpoint.startTrip(trip, routeChoice: routeChoice, id: id, call: call, into: &outputs)
        }
        return call
    }

    /// Takes back what was asked for.
    package mutating func withdraw(_ call: Int, at now: Instant, into actions: inout [PeerAction]) {
        self.use(at: now, into: &actions) { $0.abandon(call: call, into: &$1) }
    }

    /// Ends guidance.
    ///
    /// - Returns: The number under which ``results`` has the end.
    package mutating func cancel(
        _ reason: CancellationReason, at now: Instant, into actions: inout [PeerAction]
    ) -> Int {
        self.nextCall += 1
        let call = self.nextCall
        self.use(at: now, into: &actions) { $0.cancelNavigation(reason, call: call, into: &$1) }
        return call
    }

    /// Answers the oldest prompt that is open: one that its behaviour ignores, or answers later.
    ///
    /// - Returns: Whether there was one.
    package mutating func answerPrompt(
        _ isAccepted: Bool, at now: Instant, into actions: inout [PeerAction]
    ) -> Bool {
        guard let question = self.open.first(where: { if case .prompt = $0 { true } else { false } }) else {
            return false
        }
        self.answer(question, isAccepted, at: now, into: &actions)
        return true
    }

    /// The same for a destination that a client offers.
    package mutating func answerDestination(
        _ isAccepted: Bool, at now: Instant, into actions: inout [PeerAction]
    ) -> Bool {
        guard let question = self.open.first(where: { if case .share = $0 { true } else { false } }) else {
            return false
        }
        self.answer(question, isAccepted, at: now, into: &actions)
        return true
    }

    // MARK: Leaving and coming back

    /// Leaves; with `cut` it is away until it returns.
    package mutating func leave(_ how: Leaving, at now: Instant, into actions: inout [PeerAction]) {
        switch how {
        case .goodbye: self.handle(.close, at: now, into: &actions)
        case .cut:
            guard !self.isAway else { return }
            self.isAway = true
            actions.append(.closeTransport)
        }
    }

    /// Comes back after it left: with the token of its last Welcome and what it holds, or as an endpoint that was just switched on.
    ///
    /// - Throws: What is wrong with the Hello.
    package mutating func comeBack(
        withToken: Bool, at now: Instant, into actions: inout [PeerAction]
    ) throws(ClientError) {
        guard self.isAway || self.link.isFinished else { return }
        self.isAway = false
        self.hasSetReady = false
        var machine = self.link.peer
        if !withToken {
            machine = try EndpointMachine(self.hello, random: SeededRandom(seed: self.random.next()))
        }
        self.link = LinkMachine(inRun: machine, &self.random)
        self.handle(.open, at: now, into: &actions)
    }
}
