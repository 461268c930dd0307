internal import WaymarkProtocol

/// The reason why a session, or a vehicle's part in it, has ended.
public enum EndReason: Sendable, Hashable, CustomStringConvertible {
    /// The navigation client has arrived.
    case finished
    /// The navigation client stopped.
    case cancelledByClient
    /// The vehicle navigates itself: no client may guide it until it allows guidance or asks for a drive.
    case ownNavigationStarted
    /// The vehicle's user stopped guidance.
    case userStopped
    /// Another navigation client has taken over.
    case replaced
    /// The navigation client was away for longer than the gateway waits.
    case clientGone
    /// The vehicle was away for longer than the gateway waits.
    case vehicleGone
    /// The gateway's access rules no longer allow it.
    case notAuthorized
    /// The session ended while this program was not connected, and the gateway no longer knows why.
    case endedWhileAway
    /// The gateway was restarted and refused to open the session again: the field and the reason that it gave.
    case notRestored(field: String, reason: String)
    /// The connection is closed for good, or a call returned before the session's end was known: see the error.
    case connectionClosed(ClientError)
    /// There was no session to end.
    case noSession
    /// It has not ended: this endpoint may not make requests for its vehicle.
    case notAllowed
    /// A reason that this build does not know.
    case unrecognized

    /// The reason in one word, as the protocol names it.
    public var word: String {
        switch self {
        case .finished: "finished"
        case .cancelledByClient: "cancelledByClient"
        case .ownNavigationStarted: "ownNavigationStarted"
        case .userStopped: "userStopped"
        case .replaced: "replaced"
        case .clientGone: "clientGone"
        case .vehicleGone: "vehicleGone"
        case .notAuthorized: "notAuthorized"
        case .endedWhileAway: "endedWhileAway"
        case .notRestored: "notRestored"
        case .connectionClosed: "connectionClosed"
        case .noSession: "noSession"
        case .notAllowed: "notAllowed"
        case .unrecognized: "unrecognized"
        }
    }

    /// The reason in words, for humans.
    public var description: String {
        switch self {
        case .finished: "arrived"
        case .cancelledByClient: "the navigation client stopped guidance"
        case .ownNavigationStarted: "the vehicle navigates by itself now"
        case .userStopped: "the vehicle's user stopped guidance"
        case .replaced: "another navigation client has taken over"
        case .clientGone: "the navigation client was away for too long"
        case .vehicleGone: "the vehicle was away for too long"
        case .notAuthorized: "the gateway's access rules no longer allow it"
        case .endedWhileAway: "it ended while this program was not connected"
        case .notRestored(let field, let reason):
            "the gateway was restarted and does not accept the session again: \(field.isEmpty ? "" : "\(field): ")\(reason)"
        case .connectionClosed(let error): "\(error)"
        case .noSession: "there was no guidance to end"
        case .notAllowed: "guidance continues: this endpoint may not end it"
        case .unrecognized: "for a reason that this version does not know"
        }
    }
}

extension EndReason {
    init(_ reason: SessionEndReason?) {
        switch reason {
        case .finished: self = .finished
        case .cancelledByClient: self = .cancelledByClient
        case .ownNavigationStarted: self = .ownNavigationStarted
        case .userStopped: self = .userStopped
        case .replaced: self = .replaced
        case .clientGone: self = .clientGone
        case .vehicleGone: self = .vehicleGone
        case .notAuthorized: self = .notAuthorized
        case .unrecognized, nil: self = .unrecognized
        }
    }
}
