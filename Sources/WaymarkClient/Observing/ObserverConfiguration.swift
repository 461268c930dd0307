public import Logging
internal import WaymarkProtocol

extension Observer {
    /// The configuration of an observer: who it is and what it is told.
    ///
    /// Each list that is not empty restricts what it is told; something must concern one of each such list.
    public struct Configuration: Sendable {
        /// The id, which is for humans and need not be unique: 1 ... 64 of A-Z a-z 0-9 . _ : -
        public var id: String
        /// The name for humans; at most 128 bytes.
        public var displayName = ""
        /// The vehicles that it is told about; at most 64, empty for all.
        public var vehicles: [String] = []
        /// The clients that it is told about; at most 64, empty for all.
        public var clients: [String] = []
        /// The sessions that it is told about; at most 64, empty for all.
        public var sessions: [UInt32] = []
        /// The kinds of events that it is told; empty for all. Frames are not restricted by it.
        public var kinds: Set<GatewayEvent.Kind> = []
        /// Whether it is told the state: who is connected, which sessions and requests there are. Without it, ``Observer/state``
        /// names the gateway only.
        public var includesState = true
        /// Whether it is told events, see ``GatewayEvent``.
        public var includesEvents = true
        /// Whether it is told the frames of all peers, which are many.
        public var includesFrames = false
        /// The listener's pre-shared key; empty for none.
        public var credential: [UInt8] = []
        /// The largest frame that it takes, header included: 4 096 ... 16 777 216 bytes, or 0 for any. What is longer comes in several
        /// frames, and is read as one message.
        public var receiveFrameBytesMax: UInt32 = 0
        /// The policy for reconnecting after a loss.
        public var reconnection = ReconnectionPolicy()
        /// Logs what the library does by itself: connecting, losses, reconnecting, and readers that miss updates. By default
        /// nothing is logged.
        public var logger = Logger.disabled
        /// Called with every update before the next message is read: for tools that must see each. No update is dropped here;
        /// an observer that reads too slowly is told by the gateway how much it missed.
        package var onEveryUpdate: (@Sendable (GatewayUpdate) -> Void)?
        /// Called with every state of the connection, in order with the updates.
        package var onEveryConnectionState: (@Sendable (ConnectionState) -> Void)?

        /// Creates a configuration for the observer named `id`.
        public init(id: String = "observer") { self.id = id }
    }
}

extension ObserverHello {
    /// - Throws: ``ClientError/invalid(_:)`` if the id is not allowed.
    init(_ configuration: Observer.Configuration) throws(ClientError) {
        guard let name = ObserverName(configuration.id) else {
            throw .invalid("the observer id \(configuration.id) must be 1 to 64 of A-Z a-z 0-9 . _ : -")
        }
        self.init(observer: name)
        self.receiveFrameBytesMax = configuration.receiveFrameBytesMax
    }
}

extension Observe {
    /// - Throws: ``ClientError/invalid(_:)`` naming the id that is not allowed.
    init(_ configuration: Observer.Configuration) throws(ClientError) {
        self.init()
        for text in configuration.vehicles {
            guard let id = VehicleID(text) else {
                throw .invalid("the vehicle id \(text) must be 1 to 64 of A-Z a-z 0-9 . _ : -")
            }
            self.vehicles.append(id)
        }
        for text in configuration.clients {
            guard let id = ClientID(text) else {
                throw .invalid("the client id \(text) must be 1 to 64 of A-Z a-z 0-9 . _ : -")
            }
            self.clients.append(id)
        }
        self.sessions = configuration.sessions.map { SessionID($0) }
        self.kinds = configuration.kinds.compactMap(\.observedKind).map(\.rawValue).sorted()
        (self.wantsState, self.wantsEvents) = (configuration.includesState, configuration.includesEvents)
        self.wantsFrames = configuration.includesFrames
    }
}
