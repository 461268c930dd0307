internal import Logging
internal import WaymarkProtocol
internal import WaymarkTelemetry

/// An event of one connection for the log. Each is logged once, where it is handled.
enum PeerNotice: Sendable {
    /// A connection was accepted.
    case came
    /// The gateway admitted the peer.
    case admitted
    /// A message was rejected; the connection stays open.
    case rejected(Rejection)
    /// This side closes the connection.
    case closing(Goodbye)
    /// The transport of an admitted peer has closed.
    case left
    /// The transport of a peer that was never admitted has closed.
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
    /// The log line for a connection that closes with this code.
    fileprivate var notice: (level: Logger.Level, event: LoggedEvent) {
        switch self {
        case .normal, .shuttingDown, .takenOver, .moved: (.debug, .connectionClosing)
        case .handshakeTimeout, .keepaliveTimeout: (.info, .peerSilent)
        case .slowConsumer, .rateLimited: (.warning, .peerTooSlow)
        case .badMagic, .unsupportedVersion, .frameTooLarge, .unknownMessageType, .unexpectedMessage,
            .handshakeInvalid, .tooManyErrors:
            (.warning, .protocolBroken)
        case .roleNotAllowed, .notAuthorized, .notAuthenticated, .rulesChanged, .idInUse, .tooManyConnections,
            .resourceLimit:
            (.warning, .peerRefused)
        case .internalError: (.error, .programError)
        }
    }
}
