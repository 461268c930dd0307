internal import WaymarkModel
internal import WaymarkProtocol

/// Something that happened in a gateway.
public struct GatewayEvent: Sendable, Hashable {
    /// The kind of an event.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The gateway accepted a peer.
        case admitted
        /// The gateway accepted a peer, and the peer resumed.
        case resumed
        /// The gateway closes a connection. Code: why.
        case closing
        /// A peer has gone. Code: 1 after its Goodbye, 0 otherwise.
        case departed
        /// The gateway rejected a message that it could not read. Code: why.
        case rejected
        /// The access rules refused a peer.
        case helloRefused
        /// A client opened a session.
        case sessionOpened
        /// A client was refused vehicles. Code: why.
        case vehiclesRefused
        /// A vehicle that asked for guidance joined a session.
        case joined
        /// A vehicle left its session. Code: why.
        case left
        /// Guidance began. Code: the route's generation.
        case started
        /// Guidance is paused. Code: why.
        case paused
        /// Guidance continues along the same route.
        case continued
        /// Guidance continues along another route. Code: its generation.
        case rerouted
        /// The client of a session is away.
        case suspended
        /// The client of a session is back.
        case restored
        /// A session ended. Code: why.
        case sessionEnded
        /// A vehicle asks a client to stop on the way.
        case stopRequested
        /// A vehicle asks a client for a drive.
        case driveRequested
        /// A vehicle asks its client to start a trip of the previews.
        case startRequested
        /// A request ended. Code: the outcome. Reason: the ``ResultCause`` as it is named here.
        case requestEnded
        /// A newer gateway told it; this build does not know what it is.
        case unknown
    }

    /// The kind of the event.
    public let kind: Kind
    /// The vehicles that it is about; empty also if the access rules hide them.
    public let vehicles: [String]
    /// The client that it is about; empty for none.
    public let client: String
    /// The peer of the connection that it is about: `VEHICLE/ENDPOINT` or a client; empty for none.
    public let peer: String
    /// The session's id on the wire; 0 for none.
    public let session: UInt32
    /// The id of the request that it is about; empty for none.
    public let requestID: String
    /// The code; each kind says what it means.
    public let code: UInt32
    /// The code as the protocol names it, e.g. `finished`; empty where it is only a number.
    public let codeName: String
    /// The rule that decided, or another reason; empty for none.
    public let reason: String

    init(_ event: ObservedEvent, peer: String) {
        self.kind = ObservedKind(rawValue: event.kind).map(Kind.init) ?? .unknown
        self.vehicles = event.vehicles.map(\.rawValue)
        self.client = event.client?.rawValue ?? ""
        self.peer = peer
        self.session = event.session.rawValue
        self.requestID = event.request.rawValue
        self.code = event.code
        self.codeName = event.codeName
        self.reason = event.reason
    }
}

extension GatewayEvent.Kind {
    init(_ kind: ObservedKind) {
        self =
            switch kind {
            case .admitted: .admitted
            case .resumed: .resumed
            case .closing: .closing
            case .departed: .departed
            case .rejected: .rejected
            case .helloRefused: .helloRefused
            case .sessionOpened: .sessionOpened
            case .vehiclesRefused: .vehiclesRefused
            case .joined: .joined
            case .left: .left
            case .started: .started
            case .paused: .paused
            case .continued: .continued
            case .rerouted: .rerouted
            case .suspended: .suspended
            case .restored: .restored
            case .sessionEnded: .sessionEnded
            case .stopRequested: .stopRequested
            case .driveRequested: .driveRequested
            case .startRequested: .startRequested
            case .requestEnded: .requestEnded
            }
    }

    /// As on the wire.
    var observedKind: ObservedKind? {
        ObservedKind.allCases.first { GatewayEvent.Kind($0) == self }
    }
}
