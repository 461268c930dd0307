/// The keys of log metadata.
package enum LogKey {
    /// A listener's address.
    package static let address = "address"
    /// A navigation client's id.
    package static let client = "client"
    /// The name of a close code or an error code.
    package static let code = "code"
    /// A connection, numbered since the process started.
    package static let connection = "connection"
    package static let count = "count"
    package static let duration = "duration"
    /// An endpoint's name within its vehicle.
    package static let endpoint = "endpoint"
    package static let error = "error"
    /// The path of a field within a message.
    package static let field = "field"
    /// The generation of a session's route; each reroute increases it.
    package static let generation = "generation"
    package static let limit = "limit"
    /// The most work of one event, of one run of the gateway, and of one round of an event loop.
    package static let longestEvent = "longest-event"
    package static let longestRun = "longest-run"
    package static let longestRound = "longest-round"
    /// An observer's id.
    package static let observer = "observer"
    /// The peers that can connect to a listener.
    package static let openTo = "open-to"
    /// The outcome of a vehicle's request.
    package static let outcome = "outcome"
    /// The user id or IP address of the peer.
    package static let peer = "peer"
    /// The user id of a peer on a Unix socket.
    package static let peerUser = "peer-uid"
    package static let reason = "reason"
    package static let role = "role"
    /// The file and line of the access rule or key that decided.
    package static let rule = "rule"
    /// A navigation session's id.
    package static let session = "session"
    /// Keys of the configuration file.
    package static let settings = "settings"
    /// The number of a message type.
    package static let type = "type"
    /// A vehicle's id, or an array of ids when a session guides several vehicles.
    package static let vehicle = "vehicle"

    /// The journal field of a key: `WAYMARK_PEER_UID` for `peer-uid`.
    package static func journalField(of key: String) -> String {
        "WAYMARK_" + key.uppercased().replacing("-", with: "_")
    }
}
