/// The keys of log metadata, in one place, so that a log can be searched by them.
package enum LogKey {
    /// Where a listener listens.
    package static let address = "address"
    /// A navigation client's id.
    package static let client = "client"
    /// The name of a close or error code.
    package static let code = "code"
    /// A connection, numbered since the process started.
    package static let connection = "connection"
    package static let count = "count"
    /// How long it took.
    package static let duration = "duration"
    /// An endpoint's name within its vehicle.
    package static let endpoint = "endpoint"
    package static let error = "error"
    /// The path of a field within a message.
    package static let field = "field"
    /// Of a session's route; rises with each reroute.
    package static let generation = "generation"
    package static let limit = "limit"
    /// How a request ended.
    package static let outcome = "outcome"
    /// Who is at the other end: a user id, or an IP address.
    package static let peer = "peer"
    /// The user id at the other end of a Unix socket.
    package static let peerUser = "peer-uid"
    package static let reason = "reason"
    package static let role = "role"
    /// A navigation session's id.
    package static let session = "session"
    /// Keys of the configuration file.
    package static let settings = "settings"
    /// The number of a message type.
    package static let type = "type"
    /// A vehicle's id; several, where a session is several vehicles'.
    package static let vehicle = "vehicle"

    /// The journal's field for a key: `WAYMARK_PEER_UID` for `peer-uid`.
    package static func journalField(of key: String) -> String {
        "WAYMARK_" + key.uppercased().replacing("-", with: "_")
    }
}
