/// The reason why a call failed. The description says what happened and what to do.
public enum ClientError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The connection could not be opened, or the listener there is not a gateway.
    case cannotConnect(ServiceAddress, reason: String)
    /// The gateway closed the connection, and the library does not connect again. `retryAfter`: when the same may be accepted, nil if
    /// never or not known; `limit`: the limit that this peer was beyond, if that is why.
    case refused(reason: String, retryAfter: Duration? = nil, limit: GatewayLimit? = nil)
    /// An id or a text is not allowed, or something is too large; nothing was sent. Change the argument it names.
    case invalid(String)
    /// A field is out of its range, refers to something unknown, or the gateway does not allow it now; nothing of the
    /// message was applied. Change the field it names. `limit`: the gateway's limit that the message is beyond, if that is why.
    case rejected(field: String, reason: String, limit: GatewayLimit? = nil)
    /// Every vehicle named for a session refuses it: the first one and its refusal. `reason` is a sentence about all of
    /// them. Open the session again when the vehicle is free.
    case vehicleRefused(vehicle: String, VehicleRefusal, reason: String)
    /// The outcome is unknown: the connection was lost, or too much waited to be sent. Ask again if it still matters.
    case interrupted(String)
    /// The session has ended. Open another one.
    indirect case sessionEnded(EndReason)
    /// ``NavigationClient/close()``, ``VehicleEndpoint/close()`` or ``Observer/close()`` was called.
    case closed
    /// The task that waited was cancelled. Nothing that it asked for happens later.
    case cancelled

    /// A text that says what happened and what to do.
    public var description: String {
        switch self {
        case .cannotConnect(let address, let reason):
            "cannot connect to \(address): \(reason)"
        case .refused(let reason, _, let limit):
            "the gateway refused the connection: \(reason)" + (limit.map { " (\($0))" } ?? "")
        case .invalid(let reason): reason
        case .rejected(let field, let reason, let limit):
            (field.isEmpty
                ? "a message was refused: \(reason)" : "\(field) was refused: \(reason)")
                + (limit.map { " (\($0))" } ?? "")
        case .vehicleRefused(_, _, let reason): "no vehicle takes the session: \(reason)"
        case .interrupted(let reason): "the outcome is not known: \(reason)"
        case .sessionEnded(let reason): "the session is over: \(reason)"
        case .closed: "the connection was closed by this program"
        case .cancelled: "the task that waited was cancelled"
        }
    }
}
