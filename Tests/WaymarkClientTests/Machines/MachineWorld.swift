import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// The library's two machines with a real gateway between them, and no I/O: frames go over as they would on two wires
/// that can be cut after any frame.
struct MachineWorld {
    private static let app = ConnectionID(1)
    private static let cluster = ConnectionID(2)
    /// The extensions that both machines have.
    static let extensions = ["com.example.seats", "org.example.tyres"].map(ExtensionName.init(unchecked:))

    var published: PublishedState
    private(set) var held = HeldState()
    /// What the gateway refused, in words.
    private(set) var refusals: [String] = []
    /// The alerts that the endpoint was shown, one after the other.
    private(set) var shownAlerts: [UInt32] = []
    private var policy = Gateway.Policy()
    private var gateway: Gateway
    private var session = SessionID.none
    private var tokens: [ConnectionID: ResumptionToken] = [:]
    private var audience: AudienceID?
    private var tokensDrawn: UInt64 = 0
    /// Envelopes on their way to the endpoint.
    private var toCluster: [Envelope] = []
    private var isClusterConnected = false
    private var now = Instant(nanoseconds: 0)

    init(
        _ limits: PublishedState.Limits = .init(),
        gatewayLimits change: (inout GatewayLimits) -> Void = { _ in }
    ) {
        change(&self.policy.limits)
        self.gateway = Self.newGateway(self.policy)
        self.published = PublishedState(limits: limits)
        self.connectCluster()
        self.connectApp()
    }

    private static func newGateway(_ policy: Gateway.Policy) -> Gateway {
        Gateway(
            policy: policy, coder: Codec.coder,
            firstSession: SessionID(.random(in: 1...1_000_000)))
    }

    mutating func publish(_ make: (inout PublishedState) -> Publication) throws(ClientError) {
        let publication = make(&self.published)
        try self.published.publish(publication)
    }

    /// The gateway takes frames of this size at most.
    mutating func setFrameBytesMax(_ bytes: Int) { self.published.frameBytesMax = bytes }

    /// Sends what waits, of which only the first `count` frames arrive.
    mutating func send(arriving count: Int = .max) throws {
        for frame in try self.published.dequeuePending(session: self.session).prefix(count) {
            try self.hand(.published(Self.app, PublishedFrames(frame, Codec.outline(of: frame))))
        }
    }

    /// The endpoint reads what is on its way, at most `count` messages.
    mutating func read(_ count: Int = .max) {
        for envelope in self.toCluster.prefix(count) {
            self.held.apply(envelope)
            if case .publication(.showAlert(let alert)) = envelope.message {
                self.shownAlerts.append(alert.id)
            }
        }
        self.toCluster.removeFirst(min(count, self.toCluster.count))
    }

    /// Time passes.
    mutating func wait(_ duration: Duration) {
        self.now = self.now + duration
        self.hand(.deadlineReached)
    }

    /// The operator changes what is withheld from everyone. The client learns it from its next Welcome.
    mutating func withhold(_ features: Set<Feature>) {
        self.policy.withheldFeatures = features
        self.hand(.policyChanged(self.policy))
    }

    /// The same of extensions.
    mutating func withholdExtensions(_ extensions: [ExtensionName]) {
        self.policy.withheldExtensions = Set(extensions)
        self.hand(.policyChanged(self.policy))
    }

    /// The client's connection is lost and comes back.
    mutating func cutApp() {
        self.hand(.departed(Self.app, clean: false))
        self.connectApp()
    }

    /// The endpoint's connection is lost with what is on its way, and comes back.
    mutating func cutCluster() {
        self.hand(.departed(Self.cluster, clean: false))
        self.toCluster = []
        self.connectCluster()
    }

    /// The gateway is replaced by one that knows nothing.
    mutating func restart() {
        self.gateway = Self.newGateway(self.policy)
        self.toCluster = []
        self.connectCluster()
        self.connectApp()
    }

    // MARK: Connecting

    private mutating func connectCluster() {
        self.audience = nil
        var cluster = VehicleHello(
            vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "cluster"),
            features: Set(Feature.allCases))
        cluster.extensions = Self.extensions
        var hello = Hello(role: .vehicle(cluster))
        hello.resumptionToken = self.tokens[Self.cluster]
        (hello.resumeSession, hello.resumeSequence) = self.held.resumption
        self.arrive(Self.cluster, hello)
    }

    private mutating func connectApp() {
        let old = self.session
        var app = NavigationHello(client: ClientID(unchecked: "app"), features: Set(Feature.allCases))
        app.extensions = Self.extensions
        var hello = Hello(role: .navigation(app))
        hello.resumptionToken = self.tokens[Self.app]
        let welcome = self.arrive(Self.app, hello)
        defer {
            let withheld = welcome.features.filter { $0.withheld == .policy }
            self.published.withheld = FeatureSet(withheld.map(\.feature))
            self.published.withheldExtensions = Set(Self.extensions).subtracting(welcome.extensions)
        }
        if let found = welcome.sessions.first(where: { $0.session == old }) {
            self.published.resume(after: found.sequence)
        } else {
            if old != .none { self.published.restart() }
            let opening = OpenSession(
                requestID: "s", vehicles: .vehicles([VehicleID(unchecked: "car")]))
            self.hand(.received(Self.app, .openSession(opening), .none))
        }
    }

    @discardableResult
    private mutating func arrive(_ connection: ConnectionID, _ hello: Hello) -> Welcome {
        self.tokensDrawn += 1
        let token = ResumptionToken(high: 1, low: self.tokensDrawn)
        let actions = self.actions(of: .arrived(connection, hello, .anyone, token: token))
        var welcome = Welcome(resumptionToken: token)
        for case .admit(connection, let said) in actions { welcome = said }
        self.tokens[connection] = welcome.resumptionToken
        if connection == Self.cluster { _ = self.held.welcome(isResumed: welcome.isResumed) }
        self.perform(actions)
        return welcome
    }

    // MARK: The gateway

    private mutating func hand(_ event: Gateway.Event) { self.perform(self.actions(of: event)) }

    private mutating func actions(of event: Gateway.Event) -> [Gateway.Action] {
        var actions: [Gateway.Action] = []
        self.gateway.handle(event, at: self.now, into: &actions)
        return actions
    }

    private mutating func perform(_ actions: [Gateway.Action]) {
        for action in actions {
            switch action {
            case .send(Self.cluster, let envelope): self.toCluster.append(envelope)
            case .sendFrames(Self.cluster, let frames): self.toCluster += frames.compactMap(Self.decoded)
            case .publish(let audience, let frames):
                if audience == self.audience {
                    self.toCluster += frames.frames.compactMap { Self.decoded($0.frame) }
                }
            case .join(Self.cluster, let audience): self.audience = audience
            case .leave(Self.cluster, _): self.audience = nil
            case .send(Self.app, let envelope): self.hear(envelope)
            default: break  // Nothing that these machines see.
            }
        }
    }

    private mutating func hear(_ envelope: Envelope) {
        switch envelope.message {
        case .sessionOpened(let opened): self.session = opened.session
        case .error(let rejection):
            self.refusals.append("\(rejection.field): \(rejection.reason)")
            _ = self.published.reject(rejection.sequence)
        case .acknowledgement(let sequence): self.published.acknowledge(sequence)
        default: break  // Nothing of interest here.
        }
    }

    private static func decoded(_ frame: Frame) -> Envelope? { try? Codec.decode(frame) }
}

extension PublishedState {
    /// What would be sent now.
    func peek(_ session: SessionID) throws -> [Frame] {
        var copy = self
        return try copy.dequeuePending(session: session)
    }
}
