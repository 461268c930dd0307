internal import Logging

extension Logger {
    /// What the configurations log to unless the app gives a logger of its own: nothing.
    static let disabled = Logger(label: "waymark.client") { _ in SwiftLogNoOpLogHandler() }
}

/// The keys of log metadata.
enum PeerLogKey {
    static let address = "address"
    static let client = "client"
    /// Until the next attempt to connect.
    static let delay = "delay"
    static let endpoint = "endpoint"
    static let error = "error"
    /// The path of a field within a message.
    static let field = "field"
    static let reason = "reason"
    /// Whether the gateway still knew this peer.
    static let resumed = "resumed"
    /// A navigation session's id on the wire.
    static let session = "session"
    static let vehicle = "vehicle"
}
