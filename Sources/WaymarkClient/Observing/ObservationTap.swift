internal import Logging
internal import WaymarkCodec
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

    private let observerHello: ObserverHello
    private let credential: [UInt8]
    private let observe: Observe
    private let logger: Logger
    private let handler: @Sendable (Event) -> Void
    private var link: Link?
    private var token: ResumptionToken?
    /// Of the last entry.
    private var observed = EntryNumber()
    private var outgoing: [Message] = []

    /// Connects to a gateway's socket for observers; returns with the Welcome. From then on `handler` is called with everything, in
    /// order.
    ///
    /// - Throws: As ``Observer/connect(to:_:)``.
    package static func connect(
        to address: ServiceAddress, _ configuration: Observer.Configuration,
        _ handler: @escaping @Sendable (Event) -> Void
    ) async throws(ClientError) -> ObservationTap {
        let tap = ObservationTap(
            configuration, try ObserverHello(configuration), try Observe(configuration), handler)
        try await tap.open(address, configuration.reconnection)
        return tap
    }

    private init(
        _ configuration: Observer.Configuration, _ hello: ObserverHello, _ observe: Observe,
        _ handler: @escaping @Sendable (Event) -> Void
    ) {
        self.observerHello = hello
        self.credential = configuration.credential
        self.observe = observe
        self.logger = configuration.logger
        self.handler = handler
    }

    private func open(_ address: ServiceAddress, _ policy: ReconnectionPolicy) async throws(ClientError) {
        try Codec.check(.hello(self.hello()))
        try Codec.check(.observe(self.observe))
        let link = Link(address: address, reconnection: policy, logger: self.logger, owner: self)
        self.link = link
        try await link.open()
    }

    /// Ends the connection. Takes at most two seconds, also when its task is cancelled.
    package func close() async { await self.link?.close() }
}

extension ObservationTap: LinkOwner {
    func hello() -> Hello {
        var hello = Hello(role: .observer(self.observerHello))
        hello.credential = self.credential
        hello.resumptionToken = self.token
        return hello
    }

    func linkStateChanged(_ state: ConnectionState) {
        if case .closed = state { self.link = nil }
        self.handler(.state(state))
    }

    func welcomed(_ welcome: Welcome, frameBytesMax: Int) async {
        self.token = welcome.resumptionToken
        var observe = self.observe
        if welcome.isResumed { observe.afterNumber = self.observed.last }
        self.outgoing = [.observe(observe)]
        self.handler(.welcomed(welcome))
    }

    func received(_ envelope: Envelope) async {
        self.observed.apply(envelope.message)
        self.handler(.received(envelope.message))
    }

    /// Nothing that is recorded depends on a message of a newer gateway.
    func skipped(_ header: FrameHeader) {}

    func dequeueOutgoing() -> [Frame] {
        defer { self.outgoing = [] }
        return self.outgoing.map { Codec.encode(Envelope($0)) }
    }
}

/// The number of the last entry that an observer was told.
private struct EntryNumber: Sendable {
    private(set) var last: UInt64 = 0

    mutating func apply(_ message: Message) {
        switch message {
        case .observationBegin(let begin): self.last = begin.number
        case .observedRecords(let records): if records.number != 0 { self.last = records.number }
        case .observedEvent(let event): self.last = event.number
        case .observedFrames(let frames): self.last = frames.number
        case .observationGap(let gap): self.last += gap.dropped
        default: break
        }
    }
}
