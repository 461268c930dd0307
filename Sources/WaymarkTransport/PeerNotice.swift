internal import Logging
internal import WaymarkProtocol
internal import WaymarkTelemetry

/// What an operator may want to know of one connection. Each thing is said once, where it is handled.
enum PeerNotice: Sendable {
    /// A connection was accepted.
    case came
    /// A Hello was taken.
    case admitted
    /// A body was refused; the connection goes on.
    case rejected(Rejection)
    /// This side closes the connection.
    case closing(Goodbye)
    /// The transport of a peer that was admitted has closed.
    case left
    /// That of one that never was.
    case ended

    var level: Logger.Level {
        switch self {
        case .came, .rejected, .ended: .debug
        case .admitted, .left: .info
        case .closing(let goodbye): goodbye.code.notice.level
        }
    }

    var event: LoggedEvent {
        switch self {
        case .came: .connectionCame
        case .admitted: .peerAdmitted
        case .rejected: .messageRefused
        case .closing(let goodbye): goodbye.code.notice.event
        case .left: .peerLeft
        case .ended: .connectionEnded
        }
    }

    /// Codes, fields and ids; never a value that a peer sent.
    var metadata: Logger.Metadata {
        switch self {
        case .came, .admitted, .left, .ended: [:]
        case .rejected(let rejection):
            [
                LogKey.code: "\(rejection.code)", LogKey.field: "\(rejection.field)",
                LogKey.type: "\(rejection.messageType)", LogKey.session: "\(rejection.session.rawValue)",
            ]
        case .closing(let goodbye): [LogKey.code: "\(goodbye.code)", LogKey.reason: "\(goodbye.reason)"]
        }
    }
}

extension CloseCode {
    /// What closing a connection with this code means to an operator.
    fileprivate var notice: (level: Logger.Level, event: LoggedEvent) {
        switch self {
        case .normal, .shuttingDown, .takenOver: (.debug, .connectionClosing)
        case .handshakeTimeout, .keepaliveTimeout: (.info, .peerSilent)
        case .slowConsumer: (.warning, .peerTooSlow)
        case .badMagic, .unsupportedVersion, .frameTooLarge, .malformedFrame, .unknownMessageType,
            .unexpectedMessage, .handshakeInvalid, .tooManyErrors:
            (.warning, .protocolBroken)
        case .roleNotAllowed, .notAuthorized, .idInUse, .tooManyConnections, .resourceLimit:
            (.warning, .peerRefused)
        case .internalError: (.error, .programError)
        }
    }
}
