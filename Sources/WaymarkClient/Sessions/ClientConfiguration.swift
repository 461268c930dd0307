public import Logging

/// The vehicles of a session.
public enum SessionVehicles: Sendable, Hashable {
    /// These vehicles, now or when they connect.
    case vehicles([String])
    /// Every vehicle that wants guidance and is free.
    case anyThatAsked
}

extension NavigationClient {
    /// The configuration of a client: who it is and what it answers.
    public struct Configuration: Sendable {
        /// The id of the client: 1 ... 64 of A-Z a-z 0-9 . _ : -
        public var id: String
        /// The name for humans; at most 128 bytes.
        public var displayName = ""
        /// The priority of the client, -1 000 ... 1 000; higher wins.
        public var priority: Int32 = 0
        /// The listener's pre-shared key; empty for none.
        public var credential: [UInt8] = []
        /// The largest frame that it takes, header included: 4 096 ... 16 777 216 bytes, or 0 for any. What is longer comes in several
        /// frames, and is read as one message.
        public var receiveFrameBytesMax: UInt32 = 0
        /// The policy for reconnecting after a loss.
        public var reconnection = ReconnectionPolicy()
        /// The extensions that the client publishes or handles, at most 32 names such as `org.example.tyres`.
        public var extensions: Set<String> = []
        /// Answers a vehicle that asks for a drive. nil: the gateway does not ask this client. The task of the closure is cancelled when
        /// the request ends.
        public var onDestination: (@Sendable (DestinationInquiry) async -> DestinationAnswer)?
        /// Simulates a drive, or stops to, when a vehicle or an observer asks for it: from now on the client moves along its routes by itself. Called
        /// in order, and must return at once. nil: the gateway does not ask this client.
        public var onSimulateDrive: (@Sendable (SimulatedDrive) -> Void)?
        /// Logs what the library does by itself: connecting, losses, reconnecting, restored sessions, what the gateway
        /// refused, and readers that miss events. By default nothing is logged.
        public var logger = Logger.disabled

        /// Creates a configuration for the client named `id`.
        public init(id: String) { self.id = id }
    }
}
