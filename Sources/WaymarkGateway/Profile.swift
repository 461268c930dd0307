package import WaymarkModel
package import WaymarkProtocol

/// What fitting depends on. Endpoints with equal profiles share their bytes.
package struct Profile: Sendable, Hashable, Codable {
    /// The features that are content: what a session may withhold from an endpoint.
    package static let contentFeatures: [Feature] = [
        .maneuvers, .laneGuidance, .exitLabels, .currentRoadName, .routeSegments, .destinationSharing,
        .navigationAlerts, .charge, .timeZone, .tripPreviews, .speedLimit,
    ]

    @BoxedIfCustom package private(set) var limits: VehicleLimits
    package let distanceUnits: DistanceUnits
    /// The logarithm to base 2 of the size of the largest frame; 0 for any.
    ///
    /// Why powers of two: endpoints whose sizes differ a little share their bytes, and a user's endpoints have few profiles.
    private var frameBytesExponent: UInt8
    /// Content features that are withheld.
    package let withheld: FeatureSet

    /// The extensions that the endpoint gets.
    package let extensions: Extensions

    /// Extensions of a session.
    package enum Extensions: Sendable, Hashable, Codable {
        /// All that its client uses.
        case all
        /// These, in order.
        case only([ExtensionName])
    }

    /// Creates a profile; ``isIdentity`` if there is nothing to cut.
    package init(
        limits: VehicleLimits = .init(), distanceUnits: DistanceUnits = .asPublished,
        withheld: FeatureSet = [], extensions: Extensions = .all, frameBytesMax: UInt32 = 0
    ) {
        var limits = limits
        var withheld = withheld
        // Limits on withheld content, and features that are part of it, make no difference. With the same values for them, such
        // profiles are equal and share an audience.
        if withheld.contains(.laneGuidance) {
            limits.laneGuidancesStoredMax = 0
            limits.laneInstructionLengthMax = 0
        }
        if withheld.contains(.maneuvers) {
            withheld.insert(.exitLabels)
            limits.maneuversStoredMax = 0
            limits.maneuverInstructionLengthMax = 0
            limits.roadFollowingManeuverLengthMax = 0
        }
        if withheld.contains(.currentRoadName) { limits.currentRoadNameLengthMax = 0 }
        if withheld.contains(.navigationAlerts) { limits.alertTextLengthMax = 0 }
        if withheld.contains(.routeSegments) { limits.routeSegmentPointsMax = 0 }
        let isSmall = 1..<ProtocolConstants.frameBytes.upperBound ~= frameBytesMax
        self.frameBytesExponent = isSmall ? UInt8(31 - frameBytesMax.leadingZeroBitCount) : 0
        self.limits = limits
        self.distanceUnits = distanceUnits
        self.withheld = withheld
        self.extensions = extensions
    }

    /// The largest frame, header included.
    package var frameBytesMax: Int { self.frameBytesExponent == 0 ? .max : 1 << Int(self.frameBytesExponent) }

    /// For an endpoint for whose profile there is no room: trips and the events of guidance, without content. Extensions all or none: what
    /// always has room must not be of as many kinds as there are endpoints.
    package var bare: Profile {
        var bare = self.extensions == .all ? Self.withoutContent : Self.withoutAll
        bare.frameBytesExponent = self.frameBytesExponent
        return bare
    }

    /// Whether there is room for it always.
    package var isBare: Bool { self == self.bare }

    private static let withoutContent = Profile(withheld: FeatureSet(Self.contentFeatures))
    private static let withoutAll = Profile(withheld: FeatureSet(Self.contentFeatures), extensions: .only([]))

    /// The profile of an endpoint from which `withheld` is withheld, and that gets these extensions.
    package init(hello: VehicleHello, withheld: FeatureSet, extensions: Extensions = .all) {
        self.init(
            limits: hello.limits, distanceUnits: hello.preferences.distanceUnits, withheld: withheld,
            extensions: extensions, frameBytesMax: hello.receiveFrameBytesMax)
    }

    /// The endpoint stores a part of the route only: what it is sent depends on where in the route it is.
    package var isWindowed: Bool {
        self.limits.maneuversStoredMax > 0 || self.limits.laneGuidancesStoredMax > 0
    }

    /// Nothing is cut: the endpoint receives the published bytes themselves.
    package var isIdentity: Bool { self == Self.identity }

    private static let identity = Profile()
}
