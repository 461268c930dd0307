/// Why something could not be done. The description says what to do.
public enum ClientError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The transport could not be opened.
    case cannotConnect(ServiceAddress, reason: String)
    /// The gateway closed the connection, and coming back the same way cannot help.
    case refused(reason: String)
    /// An id, a text or a value is not allowed; nothing was sent.
    case invalid(String)
    /// The gateway refused a message; nothing of it was applied.
    case rejected(field: String, reason: String)
    /// The session is over.
    case sessionEnded(reason: String)
    /// ``NavigationClient/close()`` or ``VehicleEndpoint/close()`` was called.
    case closed

    /// What happened and what to do.
    public var description: String {
        switch self {
        case .cannotConnect(let address, let reason):
            "cannot connect to \(address): \(reason); is waymarkd running, and does it listen there?"
        case .refused(let reason): "the gateway refused the connection: \(reason)"
        case .invalid(let reason): reason
        case .rejected(let field, let reason):
            field.isEmpty
                ? "the gateway refused a message: \(reason)" : "the gateway refused \(field): \(reason)"
        case .sessionEnded(let reason): "the session is over: \(reason)"
        case .closed: "the connection was closed by this program"
        }
    }
}

/// Where a connection stands.
public enum ConnectionState: Sendable, Hashable {
    /// Not connected yet, or trying again.
    case connecting
    /// Connected; `resumed` when the gateway still knew this peer.
    case connected(resumed: Bool)
    /// Over for good.
    case closed(ClientError)
}

/// How to come back after a connection is lost: waiting twice as long after each failure.
public struct ReconnectionPolicy: Sendable, Hashable {
    /// After the first failure.
    public var firstDelay: Duration
    /// The longest wait.
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

    /// The wait after `failures` failures in a row, with up to a quarter of jitter by `random` in 0 ..< 1.
    func delay(afterFailures failures: Int, random: Double) -> Duration {
        let doubled = self.firstDelay * (1 << min(max(failures - 1, 0), 20))
        return min(doubled, self.delayMax) * (1 + random / 4)
    }
}
