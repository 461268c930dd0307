public import Logging
public import WaymarkModel
package import WaymarkProtocol

/// A question to the vehicle's user: whether to stop on the way.
public struct WaypointPrompt: Sendable, Hashable {
    /// The id of the request that it is about.
    public let id: String
    /// The place at which to stop.
    public let waypoint: Waypoint
    /// The estimates of the trip with the new waypoint.
    public let travelEstimates: TravelEstimates
    /// The time for an answer, counted from the arrival of the prompt; the gateway does not wait longer.
    public let timeout: Duration

    init(_ prompt: Prompt) {
        self.id = prompt.requestID.rawValue
        self.waypoint = prompt.waypoint
        self.travelEstimates = prompt.travelEstimates
        self.timeout = .milliseconds(prompt.deadlineMilliseconds)
    }
}

/// A destination that a client offers to the vehicle.
package struct SharedDestination: Sendable, Hashable {
    /// The session's id on the wire.
    package let session: UInt32
    /// Differs from that of every other open share of the session.
    package let id: String
    package let destination: Waypoint

    package init(session: UInt32, id: String, _ destination: Waypoint) {
        (self.session, self.id, self.destination) = (session, id, destination)
    }
}

/// The limits of what an endpoint can show and store. 0 is no limit.
public struct EndpointLimits: Sendable, Hashable {
    /// The length of the longest road name that it shows, in Unicode scalars.
    public var currentRoadNameLengthMax: UInt32 = 0
    /// The length of the longest name or address of a waypoint that it shows, in Unicode scalars.
    public var destinationNameLengthMax: UInt32 = 0
    /// The length of the longest name of a road after a maneuver that it shows, in Unicode scalars.
    public var roadFollowingManeuverLengthMax: UInt32 = 0
    /// The length of the longest instruction of a maneuver that it shows, in Unicode scalars.
    public var maneuverInstructionLengthMax: UInt32 = 0
    /// The length of the longest instruction of a lane guidance that it shows, in Unicode scalars.
    public var laneInstructionLengthMax: UInt32 = 0
    /// The length of the longest text of an alert and its actions that it shows, in Unicode scalars.
    public var alertTextLengthMax: UInt32 = 0
    /// The number of maneuvers that it can store, counted from the first upcoming maneuver.
    public var maneuversStoredMax: UInt32 = 0
    /// The number of lane guidances that it can store, counted from the current lane guidance.
    public var laneGuidancesStoredMax: UInt32 = 0
    /// The number of points that it can store of a route segment's line; longer lines are thinned.
    public var routeSegmentPointsMax: UInt32 = 0

    /// Creates limits that limit nothing.
    public init() {}
}

extension VehicleEndpoint {
    /// The configuration of an endpoint: who it is, what it shows and what it answers.
    public struct Configuration: Sendable {
        /// The id of the vehicle: 1 ... 64 of A-Z a-z 0-9 . _ : -
        public var vehicle: String
        /// The name of the endpoint, which is unique in the vehicle: 1 ... 64 of the same characters.
        public var endpoint: String
        /// The name for humans; at most 128 bytes.
        public var displayName = ""
        /// Features that the gateway need not send, e.g. `.laneGuidance`.
        public var withoutFeatures: Set<GuidanceFeature> = []
        /// Whether it may ask clients to simulate drives, as test rigs do, see ``VehicleEndpoint/simulateDrive(_:speedFactor:)``.
        public var asksForSimulatedDrives = false
        /// The extensions that it takes or sends, at most 32 names such as `org.example.tyres`.
        public var extensions: Set<String> = []
        /// The limits of what it can show and store.
        public var limits = EndpointLimits()
        /// The largest frame that it takes, header included: 4 096 ... 16 777 216 bytes, or 0 for any. A long route comes in parts then,
        /// see ``VehicleState/isComplete``.
        public var receiveFrameBytesMax: UInt32 = 0
        /// The units in which it shows distances.
        public var distanceUnits = DistanceUnits.asPublished
        /// The locale, a BCP 47 tag; empty if unknown.
        public var locale = ""
        /// Whether the vehicle takes guidance from sessions opened for any vehicle that asked.
        public var isGuidanceWanted = true
        /// The listener's pre-shared key; empty for none.
        public var credential: [UInt8] = []
        /// The policy for reconnecting after a loss.
        public var reconnection = ReconnectionPolicy()
        /// Asks the vehicle's user whether to make a stop; nil: this endpoint is not asked. Its task is cancelled when the
        /// prompt has ended; the answer does not count then.
        public var onPrompt: (@Sendable (WaypointPrompt) async -> Bool)?
        /// Decides whether to accept a destination that the client offers; nil: this endpoint is not asked.
        public var onDestination: (@Sendable (Waypoint) async -> Bool)?
        /// The same, with the outcome to answer; nil: this endpoint does not answer. Used in place of ``onDestination``.
        package var onShare: (@Sendable (SharedDestination) async -> RequestResult?)?
        /// Logs what the library does by itself: connecting, losses, reconnecting, what the gateway refused, and readers that
        /// miss updates. By default nothing is logged.
        public var logger = Logger.disabled
        /// Called with every update before the next message is read: for tools that must see each message.
        ///
        /// No update is dropped. One that takes longer than the keepalive makes the endpoint a slow reader, which the gateway
        /// closes in the end. It must not wait for ``VehicleEndpoint/close()``.
        package var onEveryUpdate: (@Sendable (VehicleUpdate) async -> Void)?

        /// Creates a configuration for one endpoint.
        public init(vehicle: String, endpoint: String) {
            self.vehicle = vehicle
            self.endpoint = endpoint
        }
    }
}

extension VehicleHello {
    /// The Hello of an endpoint with this configuration.
    ///
    /// - Throws: ``ClientError/invalid(_:)`` naming the id that is not allowed.
    package init(_ configuration: VehicleEndpoint.Configuration) throws(ClientError) {
        guard let vehicle = VehicleID(configuration.vehicle) else {
            throw .invalid("the vehicle id \(configuration.vehicle) must be 1 to 64 of A-Z a-z 0-9 . _ : -")
        }
        guard let name = EndpointName(configuration.endpoint) else {
            throw .invalid(
                "the endpoint name \(configuration.endpoint) must be 1 to 64 of A-Z a-z 0-9 . _ : -")
        }
        var features = Set(Feature.allCases)
        features.subtract([.waypointRequests, .destinationRequests, .tripRequests])
        features = features.filter { !configuration.withoutFeatures.contains(GuidanceFeature($0)) }
        if configuration.onPrompt == nil { features.remove(.prompts) }
        if !configuration.asksForSimulatedDrives { features.remove(.simulatedDrives) }
        if configuration.onDestination == nil, configuration.onShare == nil {
            features.remove(.destinationSharing)
        }
        self.init(vehicle: vehicle, endpoint: name, features: features)
        self.limits = VehicleLimits(configuration.limits)
        self.receiveFrameBytesMax = configuration.receiveFrameBytesMax
        self.preferences.distanceUnits = configuration.distanceUnits
        self.preferences.locale = configuration.locale
        self.guidanceWanted = configuration.isGuidanceWanted
        self.extensions = try ExtensionName.list(configuration.extensions)
    }
}

extension ExtensionName {
    /// The names of a configuration, in order.
    ///
    /// - Throws: ``ClientError/invalid(_:)`` naming one that is not allowed.
    static func list(_ names: Set<String>) throws(ClientError) -> [ExtensionName] {
        var list: [ExtensionName] = []
        for text in names {
            guard let name = ExtensionName(text) else { throw .invalid("\(text) \(ExtensionName.form)") }
            list.append(name)
        }
        return list.sorted()
    }
}

extension VehicleLimits {
    fileprivate init(_ limits: EndpointLimits) {
        self.init()
        self.currentRoadNameLengthMax = limits.currentRoadNameLengthMax
        self.destinationNameLengthMax = limits.destinationNameLengthMax
        self.roadFollowingManeuverLengthMax = limits.roadFollowingManeuverLengthMax
        self.maneuverInstructionLengthMax = limits.maneuverInstructionLengthMax
        self.laneInstructionLengthMax = limits.laneInstructionLengthMax
        self.alertTextLengthMax = limits.alertTextLengthMax
        self.maneuversStoredMax = limits.maneuversStoredMax
        self.laneGuidancesStoredMax = limits.laneGuidancesStoredMax
        self.routeSegmentPointsMax = limits.routeSegmentPointsMax
    }
}
