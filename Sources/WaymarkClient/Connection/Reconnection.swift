internal import WaymarkProtocol

/// The state of a connection.
public enum ConnectionState: Sendable, Hashable {
    /// Connecting for the first time, or again after a loss.
    case connecting
    /// Connected; `resumed` if the gateway still knows this client or endpoint.
    case connected(resumed: Bool)
    /// Closed for good; the error says why.
    case closed(ClientError)
}

/// The waits before attempts to reconnect after a loss: each wait is twice as long as the one before.
public struct ReconnectionPolicy: Sendable, Hashable {
    /// The wait after the first failure.
    public var firstDelay: Duration
    /// The longest wait. After a connection that lasted at least as long, the next wait is `firstDelay` again.
    public var delayMax: Duration
    /// Attempts to connect for the first time; further losses are always followed by new attempts.
    public var firstAttemptsMax: Int
    /// The shortest wait after a refusal that only another gateway or another configuration can lift, such as that of a role or a
    /// version; less than 10 minutes counts as 10 minutes. nil: such a refusal ends the connection for good, with its reason, as it
    /// always does before the first Welcome.
    public var refusalDelay: Duration?

    /// Creates a policy.
    public init(
        firstDelay: Duration = .milliseconds(100), delayMax: Duration = .seconds(10),
        firstAttemptsMax: Int = 1, refusalDelay: Duration? = .seconds(600)
    ) {
        self.firstDelay = firstDelay
        self.delayMax = delayMax
        self.firstAttemptsMax = firstAttemptsMax
        self.refusalDelay = refusalDelay
    }
}

/// Counts failures and says how long to wait.
struct Backoff: Sendable, Hashable {
    private let policy: ReconnectionPolicy
    /// Attempts in a row that were refused or lost before ``ReconnectionPolicy/delayMax``.
    private(set) var failures = 0

    init(_ policy: ReconnectionPolicy) { self.policy = policy }

    /// A connection has ended.
    ///
    /// - Parameter lifetime: From Welcome to the end; nil if there was no Welcome.
    mutating func connectionEnded(after lifetime: Duration?) {
        if let lifetime, lifetime >= self.policy.delayMax { self.failures = 0 }
        self.failures += 1
    }

    /// How long to wait before the next attempt: at least `hint`, which the gateway sent; `random`, 0 ..< 1, adds up to a
    /// quarter of jitter.
    func delay(after reconnection: CloseCode.Reconnection = .yes, hint: Duration, random: Double) -> Duration
    {
        let doubled = self.policy.firstDelay * (1 << min(max(self.failures - 1, 0), 20))
        var delay = min(doubled, self.policy.delayMax)
        if reconnection == .seldom { delay = self.seldomDelay }
        return max(hint, delay * (1 + random / 4))
    }

    /// The shortest wait after a refusal that only another gateway or other settings can lift.
    var seldomDelay: Duration {
        max(self.policy.refusalDelay ?? .zero, .seconds(60 * ProtocolConstants.seldomMinutesMin))
    }

    /// Whether the peer connects again after a Goodbye with such a code. `isFirst`: it was never welcomed, and the app waits for the reason.
    func allows(_ reconnection: CloseCode.Reconnection, isFirst: Bool) -> Bool {
        switch reconnection {
        case .yes: true
        case .seldom: !isFirst && self.policy.refusalDelay != nil
        case .no: false
        }
    }
}
