package import WaymarkModel

/// One endpoint of a vehicle, as observers are told it.
package struct EndpointRecord: Sendable, Hashable {
    package var endpoint: EndpointName
    /// nil while it is disconnected and may resume.
    package var connection: ConnectionID?
    /// Since when it is connected, or until when it may resume.
    package var instant = Instant(nanoseconds: 0)
    /// What it asked for.
    package var features: FeatureSet = []
    package var limits = VehicleLimits()
    /// The largest frame that it takes; 0: any.
    package var receiveFrameBytesMax: UInt32 = 0
    package var preferences = VehiclePreferences()
    /// The session that it is in.
    package var session = SessionID.none
    /// The audience that it is in; 0: none.
    package var audience: UInt64 = 0
    /// What is withheld from it in the session, but for what the trip does not share.
    package var withheld: [FeatureGrant] = []
    package var settings = VehicleSettings()
    /// Its last receipt in the session.
    package var receipt: Receipt?
    /// The times that publications take to it; nil: not measured.
    package var delays: EndpointDelays?

    package init(_ endpoint: EndpointName) { self.endpoint = endpoint }
}

/// One vehicle, as observers are told it.
package struct VehicleRecord: Sendable, Hashable {
    package var vehicle: VehicleID
    /// The session that it is in, or that waits for it.
    package var session = SessionID.none
    package var navigatesItself = false
    /// It ended guidance and has not asked for it again.
    package var hasStopped = false
    package var isGuidanceWanted = false
    package var routeSource: RouteSource?
    /// The last one of the session, perhaps of an earlier route.
    package var routeFeedback: RouteFeedback?
    /// In the order of their names. None: a session waits for the vehicle.
    package var endpoints: [EndpointRecord] = []
    /// Empty while only a session waits for it.
    package var owner = ""

    package init(_ vehicle: VehicleID) { self.vehicle = vehicle }
}

/// One navigation client, as observers are told it.
package struct ClientRecord: Sendable, Hashable {
    package var client: ClientID
    /// nil while it is disconnected and may resume.
    package var connection: ConnectionID?
    /// Since when it is connected, or until when it may resume.
    package var instant = Instant(nanoseconds: 0)
    package var granted: FeatureSet = []
    package var priority: Int32 = 0
    package var displayName = ""
    package var owner = ""

    package init(_ client: ClientID) { self.client = client }
}

/// One session, as observers are told it.
package struct SessionRecord: Sendable, Hashable {
    package var session: SessionID
    package var client: ClientID
    /// The request that opened it.
    package var requestID: Identifier = ""
    package var isForAnyThatAsked = false
    package var phase = SessionPhase.preview
    /// Of its route; 0: none.
    package var generation: UInt32 = 0
    package var isSuspended = false
    /// The alert that is shown.
    package var alert: UInt32?
    /// What the trip does not share.
    package var optedOut: FeatureSet = []
    /// Destination shares that are under way.
    package var sharesOpen: UInt32 = 0

    package init(_ session: SessionID, of client: ClientID) {
        self.session = session
        self.client = client
    }
}

/// Names a request.
package struct RequestKey: Sendable, Hashable, Comparable, Codable {
    package var vehicle: VehicleID
    package var requestID: Identifier

    package init(vehicle: VehicleID, requestID: Identifier) {
        self.vehicle = vehicle
        self.requestID = requestID
    }

    package static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.vehicle == rhs.vehicle ? lhs.requestID < rhs.requestID : lhs.vehicle < rhs.vehicle
    }
}

/// One open request, as observers are told it.
package struct RequestRecord: Sendable, Hashable {
    /// How far it has come.
    package enum Stage: UInt32, Sendable, Hashable, CaseIterable {
        /// The client has it.
        case asked = 1
        /// The vehicle's user is asked by the gateway.
        case prompting = 2
        /// The client asks the user by itself.
        case ownPrompt = 3
    }

    package var key: RequestKey
    /// The type of the request.
    package var messageType: UInt16 = 0
    package var session = SessionID.none
    /// The client that was asked last.
    package var client: ClientID
    package var stage = Stage.asked
    /// When the gateway gives up.
    package var deadline = Instant(nanoseconds: 0)

    package init(_ key: RequestKey, to client: ClientID) {
        self.key = key
        self.client = client
    }
}

/// A part of the retained frames of a session.
package struct RetainedFrames: Sendable, Hashable {
    package var session: SessionID
    /// Whole frames.
    package var frames: [UInt8]
    package var isRedacted = false
    /// Frames of the session that were told before are forgotten.
    package var isFirst = false

    package init(_ session: SessionID, _ frames: [UInt8]) {
        self.session = session
        self.frames = frames
    }
}

/// Gateway to observer: records, each whole. Each replaces the one with the same key.
package struct ObservedRecords: Sendable, Hashable {
    /// 0: part of the present state.
    package var number: UInt64 = 0
    package var instant = Instant(nanoseconds: 0)
    package var vehicles: [VehicleRecord] = []
    package var clients: [ClientRecord] = []
    package var sessions: [SessionRecord] = []
    package var requests: [RequestRecord] = []
    package var retained: [RetainedFrames] = []
    package var vehiclesGone: [VehicleID] = []
    package var clientsGone: [ClientID] = []
    package var sessionsGone: [SessionID] = []
    package var requestsGone: [RequestKey] = []
    /// The last part of the present state.
    package var isLast = false

    package init() {}
}
