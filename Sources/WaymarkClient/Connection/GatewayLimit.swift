internal import WaymarkProtocol

/// A limit of the gateway that a message or a peer is beyond.
public struct GatewayLimit: Sendable, Hashable, CustomStringConvertible {
    /// The name of its row in Docs/protocol.md, "Limits", with `_` between the words, e.g. `connections_per_user_max`.
    public var name: String
    /// Its value, as the operator configured it.
    public var value: UInt64
    /// The time after which the same may be accepted; nil if that is not known.
    public var retryAfter: Duration?

    /// Creates a limit.
    public init(name: String, value: UInt64, retryAfter: Duration? = nil) {
        self.name = name
        self.value = value
        self.retryAfter = retryAfter
    }

    /// The name and the value.
    public var description: String { "\(self.name) is \(self.value)" }
}

extension GatewayLimit {
    /// nil if no limit is the reason. `retryAfterMilliseconds`: 0 if that is not known.
    init?(_ limit: ReachedLimit?, retryAfterMilliseconds: UInt32) {
        guard let limit else { return nil }
        self.init(
            name: limit.name, value: limit.value,
            retryAfter: retryAfterMilliseconds == 0 ? nil : .milliseconds(retryAfterMilliseconds))
    }
}

extension ClientError {
    /// A rejection by the gateway, or one that it would make.
    init(_ rejection: Rejection) {
        self = .rejected(
            field: rejection.field, reason: rejection.reason,
            limit: GatewayLimit(rejection.limit, retryAfterMilliseconds: rejection.retryAfterMilliseconds))
    }

    /// A Goodbye that ends a peer. `seldomDelay`: how long to wait where only another gateway or other settings may accept the peer.
    init(_ goodbye: Goodbye, reason: String, seldomDelay: Duration) {
        let hint = goodbye.reconnectAfterMilliseconds
        let retryAfter: Duration? =
            switch goodbye.code.reconnection {
            case .yes: hint == 0 ? nil : .milliseconds(hint)
            case .seldom: seldomDelay
            case .no: nil
            }
        self = .refused(
            reason: reason, retryAfter: retryAfter,
            limit: GatewayLimit(goodbye.limit, retryAfterMilliseconds: hint))
    }
}
