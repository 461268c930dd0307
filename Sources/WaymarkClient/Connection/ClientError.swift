/// Why something could not be done. The description says what to do.
public enum ClientError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The transport could not be opened, or what listens there is not a gateway.
    case cannotConnect(ServiceAddress, reason: String)
    /// The gateway closed the connection, and coming back the same way cannot help.
    case refused(reason: String)
    /// An id or a text is not allowed, or something is too large; nothing was sent. Change the argument it names.
    case invalid(String)
    /// A field is out of its range, refers to what is not there, or the gateway does not allow it now; nothing of the
    /// message was applied. Change the field it names.
    case rejected(field: String, reason: String)
    /// No vehicle takes the session: the first one that was named, and why. `reason` is a sentence about all that were
    /// named. Open the session again when the vehicle is free.
    case vehicleRefused(vehicle: String, VehicleRefusal, reason: String)
    /// What was asked for may or may not have happened: the connection was lost, or too much waited, before the outcome
    /// was known. Ask again if it still matters.
    case interrupted(String)
    /// The session is over. Open another one.
    case sessionEnded(reason: String)
    /// ``NavigationClient/close()`` or ``VehicleEndpoint/close()`` was called.
    case closed
    /// The task that waited was cancelled. Nothing that it asked for happens later.
    case cancelled

    /// What happened and what to do.
    public var description: String {
        switch self {
        case .cannotConnect(let address, let reason):
            "cannot connect to \(address): \(reason)"
        case .refused(let reason): "the gateway refused the connection: \(reason)"
        case .invalid(let reason): reason
        case .rejected(let field, let reason):
            field.isEmpty
                ? "a message was refused: \(reason)" : "\(field) was refused: \(reason)"
        case .vehicleRefused(_, _, let reason): "no vehicle takes the session: \(reason)"
        case .interrupted(let reason): "the outcome is not known: \(reason)"
        case .sessionEnded(let reason): "the session is over: \(reason)"
        case .closed: "the connection was closed by this program"
        case .cancelled: "the task that waited was cancelled"
        }
    }
}
