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
    /// The transport has closed.
    case ended

    var level: Logger.Level {
        switch self {
        case .came, .admitted, .rejected, .ended: .debug
        case .closing(let goodbye): goodbye.code.notice.level
        }
    }

    /// Always the same, so that a log can be searched for it.
    var sentence: Logger.Message {
        switch self {
        case .came: "a connection came"
        case .admitted: "a peer was admitted"
        case .rejected: "refused a message"
        case .closing(let goodbye): goodbye.code.notice.sentence
        case .ended: "a connection ended"
        }
    }

    /// Codes, fields and ids; never a value that a peer sent.
    var metadata: Logger.Metadata {
        switch self {
        case .came, .admitted, .ended: [:]
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
    fileprivate var notice: (level: Logger.Level, sentence: Logger.Message) {
        switch self {
        case .normal, .shuttingDown, .takenOver: (.debug, "closing a connection")
        case .handshakeTimeout, .keepaliveTimeout: (.info, "a peer is silent, closing its connection")
        case .slowConsumer: (.warning, "a peer reads too slowly, closing its connection")
        case .badMagic, .unsupportedVersion, .frameTooLarge, .malformedFrame, .unknownMessageType,
            .unexpectedMessage, .handshakeInvalid, .tooManyErrors:
            (.warning, "a peer broke the protocol, closing its connection")
        case .roleNotAllowed, .notAuthorized, .idInUse, .tooManyConnections, .resourceLimit:
            (.warning, "refused a peer")
        case .internalError: (.error, "closing a connection after an error of this program")
        }
    }
}
