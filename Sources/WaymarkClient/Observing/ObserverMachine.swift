internal import WaymarkCodec
package import WaymarkProtocol

/// An observer without its connection: says what it wants to be told, and resumes by the number of its last entry. What it is told is kept
/// by its driver, for example in an `ObservedGateway`.
package struct ObserverMachine: PeerMachine {
    package enum Output: Sendable {
        /// The gateway tells the state again, unless it has resumed this observer.
        case welcomed(Welcome)
        case received(Envelope)
    }

    private let firstHello: ObserverHello
    private let observe: Observe
    private let displayName: String
    private let credential: [UInt8]
    private var token: ResumptionToken?
    private var outgoing: [Message] = []
    private var counterCalls = CounterCalls()
    /// Messages to clients that are not sent yet. What was lost with a connection is not repeated.
    private var simulations: [Message] = []
    private static let simulationsMax = 16
    /// The number of the last entry that was told.
    private var number: UInt64 = 0

    /// - Throws: ``ClientError/rejected(field:reason:limit:)`` for a setting outside of its range.
    package init(
        _ hello: ObserverHello, _ observe: Observe, displayName: String = "", credential: [UInt8] = []
    ) throws(ClientError) {
        self.firstHello = hello
        self.observe = observe
        self.displayName = displayName
        self.credential = credential
        try Codec.check(.hello(self.hello()))
        try Codec.check(.observe(observe))
    }

    package func hello() -> Hello {
        var hello = Hello(role: .observer(self.firstHello))
        hello.displayName = self.displayName
        hello.credential = Credential(self.credential)
        hello.resumptionToken = self.token
        return hello
    }

    /// Always nil.
    package var deadline: Instant? { nil }

    package mutating func deadlineReached(at now: Instant, into outputs: inout [Output]) {}

    package mutating func handle(_ event: PeerEvent, at now: Instant, into outputs: inout [Output]) {
        switch event {
        case .welcomed(let welcome, _):
            self.token = welcome.resumptionToken
            var observe = self.observe
            if welcome.isResumed { observe.afterNumber = self.number }
            self.outgoing = [.observe(observe)]
            self.counterCalls.connect()
            outputs.append(.welcomed(welcome))
        case .received(let envelope):
            self.count(envelope.message)
            outputs.append(.received(envelope))
        // Nothing that an observer knows depends on a message of a newer gateway.
        case .state, .skipped: break
        }
    }

    private mutating func count(_ message: Message) {
        switch message {
        case .observationBegin(let begin): self.number = begin.number
        case .observedRecords(let records): if records.number != 0 { self.number = records.number }
        case .observedEvent(let event): self.number = event.number
        case .observedFrames(let frames): self.number = frames.number
        case .observationGap(let gap): self.number.addSaturating(gap.dropped)
        default: break  // No entry.
        }
    }

    package mutating func dequeueOutgoing(into outputs: inout [Output]) -> [Frame] {
        var messages = self.outgoing
        messages += self.simulations
        (self.outgoing, self.simulations) = ([], [])
        if let question = self.counterCalls.dequeue() { messages.append(.readCounters(question)) }
        return messages.map { Codec.encode(Envelope($0)) }
    }

    // MARK: Simulated drives

    /// Asks a client to simulate a drive, or to stop. Of what waits for a connection the newest 16 are kept.
    ///
    /// - Throws: ``ClientError/rejected(field:reason:limit:)`` for a speed outside of its range.
    package mutating func simulate(_ asked: SimulateDrive) throws(ClientError) {
        try Codec.check(.simulateDrive(asked))
        if self.simulations.count == Self.simulationsMax { self.simulations.removeFirst() }
        self.simulations.append(.simulateDrive(asked))
    }

    // MARK: Counters

    /// Asks for counters; ``apply(_:)`` returns the call with their last part.
    package mutating func readCounters(_ question: ReadCounters, call: Int) {
        self.counterCalls.add(call, question)
    }

    /// The app no longer waits for a call.
    package mutating func abandon(call: Int) { self.counterCalls.remove(call) }

    /// - Returns: The calls that counters are for, and all parts; nil while more parts follow.
    package mutating func apply(_ report: CounterReport) -> (calls: [Int], parts: [CounterReport])? {
        self.counterCalls.apply(report)
    }
}

extension LinkMachine<ObserverMachine> {
    /// - Throws: ``ClientError/rejected(field:reason:limit:)`` for a setting outside of its range.
    init(to address: ServiceAddress, _ configuration: Observer.Configuration) throws(ClientError) {
        let observer = try ObserverMachine(
            try ObserverHello(configuration), try Observe(configuration),
            displayName: configuration.displayName, credential: configuration.credential)
        var random = SystemRandomNumberGenerator()
        self.init(
            observer, to: address, configuration.reconnection, random: SeededRandom(seed: random.next()))
    }
}
