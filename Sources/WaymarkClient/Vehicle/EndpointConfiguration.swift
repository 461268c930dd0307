public import WaymarkModel
internal import WaymarkProtocol

/// The vehicle's user is asked whether to stop on the way.
public struct WaypointPrompt: Sendable, Hashable {
    /// Names the prompt: the id of the request that it is about.
    public let id: String
    /// Where to stop.
    public let waypoint: Waypoint
    /// Of the trip with the new waypoint.
    public let travelEstimates: TravelEstimates
    /// From its arrival until the gateway gives up.
    public let timeout: Duration

    init(_ prompt: Prompt) {
        self.id = prompt.requestID
        self.waypoint = prompt.waypoint
        self.travelEstimates = prompt.travelEstimates
        self.timeout = .milliseconds(prompt.deadlineMilliseconds)
    }
}

/// What an endpoint can show and store. 0 is no limit.
public struct EndpointLimits: Sendable, Hashable {
    /// In Unicode scalars.
    public var currentRoadNameLengthMax: UInt32 = 0
    /// In Unicode scalars.
    public var destinationNameLengthMax: UInt32 = 0
    /// In Unicode scalars.
    public var roadFollowingManeuverLengthMax: UInt32 = 0
    /// In Unicode scalars.
    public var maneuverInstructionLengthMax: UInt32 = 0
    /// In Unicode scalars.
    public var laneInstructionLengthMax: UInt32 = 0
    /// In Unicode scalars.
    public var alertTextLengthMax: UInt32 = 0
    /// Counted from the first upcoming maneuver.
    public var maneuversStoredMax: UInt32 = 0
    /// Counted from the current lane guidance.
    public var laneGuidancesStoredMax: UInt32 = 0
    /// Longer lines are thinned.
    public var routeSegmentPointsMax: UInt32 = 0

    /// No limits.
    public init() {}
}

extension VehicleEndpoint {
    /// Who the endpoint is, what it wants and what it answers.
    public struct Configuration: Sendable {
        /// 1 ... 64 of A-Z a-z 0-9 . _ : -
        public var vehicle: String
        /// Unique in the vehicle; same alphabet.
        public var endpoint: String
        /// For humans; at most 128 bytes.
        public var displayName = ""
        /// Names of features not wanted, as in `waymark.v1.Feature`, e.g. `laneGuidance`, `routeSegments`.
        public var withoutFeatures: Set<String> = []
        /// What it can show and store.
        public var limits = EndpointLimits()
        /// In which units it shows distances.
        public var distanceUnits = DistanceUnits.asPublished
        /// BCP 47.
        public var locale = ""
        /// Takes guidance from sessions opened for any vehicle that asked.
        public var isGuidanceWanted = true
        /// The listener's pre-shared key; empty for none.
        public var credential: [UInt8] = []
        /// How to come back after a loss.
        public var reconnection = ReconnectionPolicy()
        /// Told of everything received, one at a time, as ``VehicleEndpoint/updates`` is.
        public var onUpdate: (@Sendable (VehicleUpdate) async -> Void)?
        /// Told of everything received before anything further is read: for tools that must see every message.
        ///
        /// Nothing is left out, however slow it is; but one that takes longer than the keepalive makes the endpoint a slow
        /// reader, which the gateway closes in the end. It must not wait for ``VehicleEndpoint/close()``.
        public var onEveryUpdate: (@Sendable (VehicleUpdate) async -> Void)?
        /// Asks the vehicle's user. Its task is cancelled when the prompt is over; the answer does not count then.
        public var onPrompt: (@Sendable (WaypointPrompt) async -> Bool)?
        /// Whether the vehicle's user is asked here without `onPrompt`: by reading ``VehicleEndpoint/updates`` and
        /// ``VehicleEndpoint/answerPrompt(_:isAccepted:)``.
        public var takesPrompts = false
        /// Whether to take a shared destination.
        public var onDestination: (@Sendable (Waypoint) async -> Bool)?
        /// Whether shared destinations are taken here without `onDestination`: by reading ``VehicleEndpoint/updates`` and
        /// ``VehicleEndpoint/answerShare(_:isTaken:)``.
        public var takesDestinations = false
        /// Told where the connection stands, as ``VehicleEndpoint/connectionStates`` is.
        public var onConnection: (@Sendable (ConnectionState) async -> Void)?

        /// A configuration for one endpoint.
        public init(vehicle: String, endpoint: String) {
            self.vehicle = vehicle
            self.endpoint = endpoint
        }
    }
}

extension VehicleHello {
    /// What an endpoint of this configuration says of itself.
    ///
    /// - Throws: ``ClientError/invalid(_:)`` naming the id that is not one, or the feature that is not known.
    init(_ configuration: VehicleEndpoint.Configuration) throws(ClientError) {
        guard let vehicle = VehicleID(configuration.vehicle) else {
            throw .invalid("the vehicle id \(configuration.vehicle) must be 1 to 64 of A-Z a-z 0-9 . _ : -")
        }
        guard let name = EndpointName(configuration.endpoint) else {
            throw .invalid(
                "the endpoint name \(configuration.endpoint) must be 1 to 64 of A-Z a-z 0-9 . _ : -")
        }
        let names = Set(Feature.allCases.map { "\($0)" })
        // Or content that is not wanted would be received because of a typo.
        if let unknown = configuration.withoutFeatures.subtracting(names).min() {
            throw .invalid(
                "\(unknown) is not a feature; the features are \(names.sorted().joined(separator: ", "))")
        }
        var features = Set(Feature.allCases)
        features.subtract([.waypointRequests, .destinationRequests])
        features = features.filter { !configuration.withoutFeatures.contains("\($0)") }
        if configuration.onPrompt == nil, !configuration.takesPrompts { features.remove(.prompts) }
        if configuration.onDestination == nil, !configuration.takesDestinations {
            features.remove(.destinationSharing)
        }
        self.init(vehicle: vehicle, endpoint: name, features: features)
        self.limits = VehicleLimits(configuration.limits)
        self.preferences.distanceUnits = configuration.distanceUnits
        self.preferences.locale = configuration.locale
        self.guidanceWanted = configuration.isGuidanceWanted
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
