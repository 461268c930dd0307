package import WaymarkModel

/// What can be granted or withheld.
///
/// - Source: `waymark.v1.Feature`.
package enum Feature: UInt32, Sendable, Hashable, CaseIterable, Codable {
    case maneuvers = 1
    case laneGuidance = 2
    case exitLabels = 3
    case currentRoadName = 4
    case routeSegments = 5
    case destinationSharing = 6
    case navigationAlerts = 7
    case charge = 8
    case timeZone = 9
    case tripPreviews = 10
    case requests = 11
    case prompts = 12
    case waypointRequests = 13
    case destinationRequests = 14
    case receipts = 15
    case resumption = 16
    case speedLimit = 17
    case tripRequests = 18
    case simulatedDrives = 19
}

/// The reason why a feature is withheld.
///
/// - Source: `waymark.v1.WithheldReason`.
package enum WithheldReason: UInt32, Sendable, Hashable, CaseIterable {
    case notRequested = 1
    case noCapacity = 2
    case clientDoesNotProvide = 3
    case tripOptedOut = 4
    case noConsent = 5
    case policy = 6
    case vehicleDoesNotWant = 8
}

/// One feature and what became of it.
package struct FeatureGrant: Sendable, Hashable {
    package var feature: Feature
    /// nil: granted.
    package var withheld: WithheldReason?

    package init(_ feature: Feature, withheld: WithheldReason? = nil) {
        self.feature = feature
        self.withheld = withheld
    }
}

/// The limits of what one vehicle endpoint can store and show. 0 means "no limit".
///
/// - Source: `waymark.v1.VehicleLimits`; lengths in Unicode scalars.
package struct VehicleLimits: Defaultable {
    package var currentRoadNameLengthMax: UInt32 = 0
    package var destinationNameLengthMax: UInt32 = 0
    package var roadFollowingManeuverLengthMax: UInt32 = 0
    package var maneuverInstructionLengthMax: UInt32 = 0
    package var laneInstructionLengthMax: UInt32 = 0
    package var alertTextLengthMax: UInt32 = 0
    /// Counted from the first upcoming maneuver.
    package var maneuversStoredMax: UInt32 = 0
    /// Counted from the current lane guidance.
    package var laneGuidancesStoredMax: UInt32 = 0
    /// Longer lines are thinned.
    package var routeSegmentPointsMax: UInt32 = 0

    package init() {}
}

/// The way in which an endpoint wants things to look.
package struct VehiclePreferences: Sendable, Hashable, Codable {
    package var distanceUnits: DistanceUnits = .asPublished
    /// BCP 47; empty when not said.
    package var locale: String = ""

    package init() {}
}

/// What a vehicle endpoint says of itself.
package struct VehicleHello: Sendable, Hashable, Codable {
    package var vehicle: VehicleID
    package var endpoint: EndpointName
    /// What it wants and what it may do.
    package var features: FeatureSet
    @BoxedIfCustom package var limits = VehicleLimits()
    package var preferences = VehiclePreferences()
    /// It accepts guidance from sessions for any vehicle that asked.
    package var guidanceWanted = false
    /// The largest frame that it takes, header included; 0: any.
    package var receiveFrameBytesMax: UInt32 = 0
    /// It wants an Error with IGNORED for each of its messages that is ignored.
    package var reportsIgnored = false
    /// The extensions that it takes or sends.
    package var extensions: [ExtensionName] = []

    package init(vehicle: VehicleID, endpoint: EndpointName, features: FeatureSet) {
        self.vehicle = vehicle
        self.endpoint = endpoint
        self.features = features
    }

    package init(vehicle: VehicleID, endpoint: EndpointName, features: some Sequence<Feature>) {
        self.init(vehicle: vehicle, endpoint: endpoint, features: FeatureSet(features))
    }
}

/// What a navigation client says of itself.
package struct NavigationHello: Sendable, Hashable, Codable {
    package var client: ClientID
    /// What it provides and handles.
    package var features: FeatureSet
    /// Higher wins, -1 000 ... 1 000.
    package var priority: Int32 = 0
    /// The largest frame that it takes, header included; 0: any.
    package var receiveFrameBytesMax: UInt32 = 0
    /// It wants an Error with IGNORED for each of its messages that is ignored.
    package var reportsIgnored = false
    /// The extensions that it publishes or handles.
    package var extensions: [ExtensionName] = []

    package init(client: ClientID, features: FeatureSet) {
        self.client = client
        self.features = features
    }

    package init(client: ClientID, features: some Sequence<Feature>) {
        self.init(client: client, features: FeatureSet(features))
    }
}

/// Limits that later versions may raise, by negotiation.
package struct NegotiatedLimits: Sendable, Hashable, Codable {
    /// As without negotiation. 0 means the same in an offer.
    package static let page = NegotiatedLimits()

    package var vehiclesPerSessionMax = UInt32(ProtocolConstants.vehiclesPerSessionMax)
    package var extensionStatesMax = UInt32(ProtocolConstants.extensionStatesMax)
    package var routeSegmentsMax = UInt32(ProtocolConstants.routeSegmentsMax)
    package var coordinatesMax = UInt32(ProtocolConstants.coordinatesMax)

    package init() {}
}

/// First frame on every connection, from the peer that connected.
package struct Hello: Sendable, Hashable, Codable {
    package enum Role: Sendable, Hashable, Codable {
        case vehicle(VehicleHello)
        case navigation(NavigationHello)
        case observer(ObserverHello)
    }

    /// Minor versions of major version 1 that the peer speaks.
    package var versions: ClosedRange<UInt32> = ProtocolConstants.versions
    package var role: Role
    package var displayName = ""
    package var software = ""
    /// The listener's pre-shared key; empty for none.
    package var credential = Credential()
    /// nil: the gateway's default.
    package var keepaliveMilliseconds: UInt32?
    /// The largest frame that the peer sends, header included; nil: the largest that the gateway takes.
    package var sendFrameBytesMax: UInt32?
    package var resumptionToken: ResumptionToken?
    /// With a token: the session of a vehicle endpoint, and the sequence number that it received last.
    package var resumeSession: SessionID = .none
    package var resumeSequence: UInt64 = 0
    /// The highest limits that the peer can use; nil: those of the page.
    package var negotiatedLimits: NegotiatedLimits?

    package init(role: Role) { self.role = role }

    package var reportsIgnored: Bool {
        switch self.role {
        case .vehicle(let vehicle): vehicle.reportsIgnored
        case .navigation(let navigation): navigation.reportsIgnored
        case .observer(let observer): observer.reportsIgnored
        }
    }

    /// The largest frame that the peer takes, header included; 0: any.
    package var receiveFrameBytesMax: UInt32 {
        switch self.role {
        case .vehicle(let vehicle): vehicle.receiveFrameBytesMax
        case .navigation(let navigation): navigation.receiveFrameBytesMax
        case .observer(let observer): observer.receiveFrameBytesMax
        }
    }
}

/// A session's phase, as told to a client that resumes.
///
/// - Source: `waymark.v1.SessionPhase`.
package enum SessionPhase: UInt32, Sendable, Hashable, CaseIterable, Codable {
    case preview = 1
    case active = 2
    case paused = 3
    case ended = 4
}

/// A session of a client that resumes.
package struct ResumedSession: Sendable, Hashable, Codable {
    package var session: SessionID
    /// The last sequence number that the gateway has received.
    package var sequence: UInt64
    package var phase: SessionPhase
    /// Only when ended.
    package var endReason: SessionEndReason?

    package init(
        session: SessionID, sequence: UInt64, phase: SessionPhase, endReason: SessionEndReason? = nil
    ) {
        self.session = session
        self.sequence = sequence
        self.phase = phase
        self.endReason = endReason
    }
}

/// The gateway's answer to a Hello that it accepts.
package struct Welcome: Sendable, Hashable {
    /// The agreed minor version.
    package var version: UInt32 = ProtocolConstants.versions.upperBound
    /// Every feature the role knows.
    package var features: [FeatureGrant] = []
    package var keepaliveMilliseconds: UInt32 = 0
    /// The largest frame that the gateway takes from the peer, header included.
    package var receiveFrameBytesMax: UInt32 = 0
    /// The largest frame that the gateway sends to the peer, header included.
    package var sendFrameBytesMax: UInt32 = 0
    package var resumptionToken: ResumptionToken
    /// The gateway accepted the token in the Hello, and the peer has resumed.
    package var isResumed = false
    package var sessions: [ResumedSession] = []
    package var graceMilliseconds: UInt32 = 0
    package var requestsOpenMax: UInt32 = 0
    package var software = ""
    /// What holds on the connection: the lower of what both sides offer. This build offers the limits of the page, below which no offer is.
    package var negotiatedLimits = NegotiatedLimits.page
    package var gateway = GatewayIdentity.unnamed
    /// Only for observers.
    package var visibility: Visibility?
    /// Those of the Hello that the gateway forwards for this peer.
    package var extensions: [ExtensionName] = []

    package init(resumptionToken: ResumptionToken) { self.resumptionToken = resumptionToken }
}

/// Last frame on a connection, from either side.
package struct Goodbye: Sendable, Hashable {
    package var code: CloseCode
    package var reason: String
    /// 0: no hint.
    package var reconnectAfterMilliseconds: UInt32
    /// The limit that the peer is beyond, if that is why.
    package var limit: ReachedLimit?

    package init(
        _ code: CloseCode, reason: String = "", reconnectAfterMilliseconds: UInt32 = 0,
        limit: ReachedLimit? = nil
    ) {
        self.code = code
        self.reason = reason
        self.reconnectAfterMilliseconds = reconnectAfterMilliseconds
        self.limit = limit
    }
}

extension Hello {
    /// The extensions that the peer uses; none of observers.
    package var extensions: [ExtensionName] {
        switch self.role {
        case .vehicle(let vehicle): vehicle.extensions
        case .navigation(let navigation): navigation.extensions
        case .observer: []
        }
    }

    /// The part of a vehicle's endpoint; nil for other roles.
    package var vehicle: VehicleHello? { if case .vehicle(let vehicle) = self.role { vehicle } else { nil } }
    /// The part of a navigation client; nil for other roles.
    package var navigation: NavigationHello? {
        if case .navigation(let navigation) = self.role { navigation } else { nil }
    }
}
