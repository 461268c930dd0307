/// The reason why a connection is closed, sent in a Goodbye.
///
/// - Source: `waymark.v1.CloseCode`; Docs/protocol.md, "Close codes".
package enum CloseCode: UInt32, Error, Sendable, Hashable, CaseIterable {
    case normal = 1
    case shuttingDown = 2
    case badMagic = 3
    case unsupportedVersion = 4
    case frameTooLarge = 5
    case unknownMessageType = 7
    case unexpectedMessage = 8
    case handshakeTimeout = 9
    case handshakeInvalid = 10
    case roleNotAllowed = 11
    case notAuthorized = 12
    case idInUse = 13
    case takenOver = 14
    case keepaliveTimeout = 15
    case slowConsumer = 16
    case tooManyConnections = 17
    case tooManyErrors = 18
    case resourceLimit = 19
    /// Never sent: the meaning of a code that this build does not know.
    case internalError = 20
    /// Reserved.
    case moved = 21
    /// Reserved.
    case rateLimited = 22
    case notAuthenticated = 23
    case rulesChanged = 24

    /// Whether, and when, to connect again with the same Hello.
    package enum Reconnection: String, Sendable, Hashable {
        case yes
        /// The wait is at least ``ProtocolConstants/seldomMinutesMin``: only another gateway or configuration may accept it.
        case seldom
        case no
    }

    /// Whether, and when, to connect again with the same Hello.
    package var reconnection: Reconnection {
        switch self {
        case .shuttingDown, .handshakeTimeout, .idInUse, .keepaliveTimeout, .slowConsumer,
            .tooManyConnections,
            .tooManyErrors, .resourceLimit, .internalError, .moved, .rateLimited, .rulesChanged:
            .yes
        case .badMagic, .unsupportedVersion, .frameTooLarge, .unknownMessageType, .unexpectedMessage,
            .handshakeInvalid, .roleNotAllowed, .notAuthorized:
            .seldom
        case .normal, .takenOver, .notAuthenticated: .no
        }
    }
}

/// The reason why a message was rejected. The connection stays open.
///
/// - Source: `waymark.v1.ErrorCode`; Docs/protocol.md, "Errors".
package enum ErrorCode: UInt32, Error, Sendable, Hashable, CaseIterable {
    case malformed = 1
    case invalidText = 2
    case outOfRange = 3
    case missing = 4
    case unknownReference = 5
    case duplicate = 6
    case wrongState = 7
    case staleGeneration = 8
    case sequenceGap = 9
    case unknownSession = 10
    case vehicleBusy = 11
    case vehicleNavigatesItself = 12
    case notGranted = 13
    case limitReached = 14
    case inconsistent = 15
    case notAuthorized = 17
    case ignored = 18
}

/// A limit that a message or a peer is beyond.
package struct ReachedLimit: Sendable, Hashable {
    /// The name of its row in Docs/protocol.md, "Limits", with `_` between the words.
    package var name: String
    package var value: UInt64

    package init(_ name: String, _ value: some BinaryInteger) {
        self.name = name
        self.value = UInt64(clamping: value)
    }
}

/// Why a message was rejected. Nothing of it was applied.
package struct Rejection: Error, Sendable, Hashable {
    package var code: ErrorCode
    /// The path of the field in the proto, e.g. `maneuvers[3].id`; empty for the message as a whole.
    package var field: String
    /// A sentence.
    package var reason: String
    /// The limit that the message is beyond, if that is why.
    package var limit: ReachedLimit?
    /// The time after which the same message may be accepted; 0 if that is not known.
    package var retryAfterMilliseconds: UInt32 = 0
    /// The rejected frame's type, session and sequence number.
    package var messageType: UInt16 = 0
    package var session: SessionID = .none
    package var sequence: UInt64 = 0
    /// The request that the message named; empty for none.
    package var requestID: Identifier = ""

    package init(_ code: ErrorCode, field: String = "", reason: String, limit: ReachedLimit? = nil) {
        self.code = code
        self.field = field
        self.reason = reason
        self.limit = limit
    }

    /// The same rejection, with the type, session and sequence number of the rejected frame.
    package func of(_ header: FrameHeader) -> Rejection {
        var rejection = self
        rejection.messageType = header.rawType
        rejection.session = header.session
        rejection.sequence = header.sequence
        return rejection
    }
}
