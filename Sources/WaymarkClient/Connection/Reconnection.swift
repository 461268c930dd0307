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

    /// Creates a policy.
    public init(
        firstDelay: Duration = .milliseconds(100), delayMax: Duration = .seconds(10),
        firstAttemptsMax: Int = 1
    ) {
        self.firstDelay = firstDelay
        self.delayMax = delayMax
        self.firstAttemptsMax = firstAttemptsMax
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
    func delay(hint: Duration, random: Double) -> Duration {
        let doubled = self.policy.firstDelay * (1 << min(max(self.failures - 1, 0), 20))
        return max(hint, min(doubled, self.policy.delayMax) * (1 + random / 4))
    }
}
