package import WaymarkModel

/// What the gateway must know of a publication to check it, retain it and conflate it: no text, no geometry.
///
/// The codec makes it from the body, in place, once every field is checked.
@safe package struct PublicationOutline: Sendable, Hashable {
    /// What the rules of its type need to know of its content.
    package enum Content: Sendable, Hashable {
        case nothing
        // Why indirect: outlines of states are made all the time. They stay small and are copied without reference counting only if
        // large content, and content with references, is in a box.
        indirect case previews([NamedTrip])
        indirect case start(NamedTrip, Route)
        indirect case route(Route)
        indirect case trip(NamedTrip)
        indirect case maneuvers([ManeuverID])
        indirect case laneGuidances([LaneGuidanceID])
        indirect case segments([Segment])
        case maneuver(ManeuverID)
        case laneGuidance(LaneGuidanceID?)
        indirect case segment(Identifier)
        case maneuverState(ManeuverState)
        case pause(PauseReason)
        case alert(UInt32)
        /// The share's id, and that of its trip; empty: the one that is driven.
        indirect case share(Identifier, trip: Identifier)
        /// Of a type that this build does not know.
        case unrecognizedState(type: UInt16, key: UInt16, isRetained: Bool)
        indirect case `extension`(Extension)
    }

    /// What a trip allows.
    package struct Trip: Sendable, Hashable, Codable {
        package var isDestinationShareable: Bool
        package var routeSegmentsAvailable: Bool

        package init(isDestinationShareable: Bool, routeSegmentsAvailable: Bool) {
            self.isDestinationShareable = isDestinationShareable
            self.routeSegmentsAvailable = routeSegmentsAvailable
        }
    }

    /// A trip as other messages name it, and what it allows.
    package struct NamedTrip: Sendable, Hashable, Codable {
        package var id: Identifier
        /// The ids of its route choices.
        package var routeChoices: [UInt32]
        package var allows: Trip

        package init(id: Identifier, routeChoices: [UInt32], allows: Trip) {
            self.id = id
            self.routeChoices = routeChoices
            self.allows = allows
        }
    }

    /// All that the gateway knows of an extension.
    package struct Extension: Sendable, Hashable {
        package var name: ExtensionName
        /// nil for an event.
        package var key: UInt16?
        package var isRetained: Bool

        package init(name: ExtensionName, of header: FrameHeader) {
            self.init(PublishedExtension(name: name, content: [], of: header))
        }

        init(_ published: PublishedExtension) {
            self.name = published.name
            self.key = published.key
            self.isRetained = published.isRetained
        }
    }

    /// The ids of one route segment and those it refers to.
    package struct Segment: Sendable, Hashable {
        package var id: Identifier
        package var maneuvers: [ManeuverID] = []
        package var laneGuidances: [LaneGuidanceID] = []
        package var currentManeuvers: [ManeuverID] = []
        package var currentLaneGuidance: LaneGuidanceID?
        package var hasSpeedLimits = false

        package init(id: Identifier) { self.id = id }
    }

    /// The ids of a whole route.
    package struct Route: Sendable, Hashable {
        package var maneuvers: [ManeuverID] = []
        package var laneGuidances: [LaneGuidanceID] = []
        package var segments: [Segment] = []
        package var currentSegment: Identifier?
        package var upcomingManeuvers: [ManeuverID] = []
        package var currentLaneGuidance: LaneGuidanceID?
        /// It comes with estimates of the trip, or of the first upcoming maneuver.
        package var hasEstimates = false

        package init() {}
    }

    package let content: Content
    @usableFromInline nonisolated(unsafe) let ruleAddress: UnsafePointer<PublicationRule>
    /// 0 if the message has none.
    package let generation: UInt32

    package init(_ type: MessageType, generation: UInt32 = 0, _ content: Content = .nothing) {
        var address = unsafe PublicationRule.address(for: type.rawValue)
        if case .extension(let named) = content, named.key != nil {
            unsafe address = PublicationRule.addressForExtension(isState: true)
        }
        unsafe self.init(content, address, generation)
    }

    private init(
        _ content: Content, _ ruleAddress: UnsafePointer<PublicationRule>, _ generation: UInt32
    ) {
        self.content = content
        unsafe self.ruleAddress = unsafe ruleAddress
        self.generation = generation
    }

    /// Of a skippable frame of the published range whose type this build does not know: an event, or the state that its flags say.
    package init(unrecognized header: FrameHeader) {
        guard header.flags.contains(.state) else {
            unsafe self.init(.nothing, PublicationRule.address(for: MessageType.published.upperBound), 0)
            return
        }
        let content = Content.unrecognizedState(
            type: header.rawType, key: header.key, isRetained: header.flags.contains(.retained))
        unsafe self.init(content, PublicationRule.addressForUnrecognizedState, 0)
    }
}

extension PublicationOutline {
    package static func == (lhs: PublicationOutline, rhs: PublicationOutline) -> Bool {
        lhs.rule.rawType == rhs.rule.rawType && lhs.generation == rhs.generation
            && lhs.content == rhs.content
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.rule.rawType)
        hasher.combine(self.generation)
        hasher.combine(self.content)
    }
}

extension PublicationOutline {
    /// What the protocol says of its type.
    @inlinable package var rule: PublicationRule {
        @inline(__always) get { unsafe self.ruleAddress.pointee }
    }

    /// nil: a type that this build does not know.
    package var type: MessageType? { self.rule.type }

    /// The key of a state; nil for an event.
    @inlinable package var conflationKey: ConflationKey? {
        switch self.rule.kind {
        case .event: return nil
        case .state: return ConflationKey(rawType: self.rule.rawType, item: 0)
        case .statePerManeuver:
            guard case .maneuver(let maneuver) = self.content else { return nil }
            return ConflationKey(rawType: self.rule.rawType, item: maneuver.rawValue)
        case .stateByKey:
            switch self.content {
            case .unrecognizedState(let type, let key, _):
                return ConflationKey(rawType: type, item: UInt32(key))
            case .extension(let named):
                return named.key.map { ConflationKey(rawType: self.rule.rawType, item: UInt32($0)) }
            default: return nil
            }
        }
    }

    /// Whether the session has estimates after it; nil if it leaves those before as they are.
    package var hasEstimates: Bool? {
        switch self.rule.rawType {
        case MessageType.updateTripEstimates.rawValue, MessageType.updateManeuverEstimates.rawValue: true
        default: self.route?.hasEstimates
        }
    }

    /// Whether it is a state of which the header of its frame says that it is retained.
    package var isRetainedByHeader: Bool {
        switch self.content {
        case .unrecognizedState(_, _, let isRetained): isRetained
        case .extension(let named): named.isRetained
        default: false
        }
    }

    /// The extension that it is of; nil for other publications.
    package var extensionName: ExtensionName? {
        if case .extension(let named) = self.content { named.name } else { nil }
    }

    /// The whole route that the publication contains; nil for none.
    package var route: Route? {
        guard case .wholeRoute = self.rule.adds else { return nil }
        return switch self.content {
        case .start(_, let route), .route(let route): route
        default: nil
        }
    }
}

/// Of two states with the same key only the newer one matters to a slow endpoint. Events have none.
///
/// - Source: Docs/protocol.md, "Conflation".
package struct ConflationKey: Sendable, Hashable, Codable {
    package var type: UInt16
    /// Which one of the type: a maneuver's id, the key in the header, or 0.
    package var item: UInt32

    package init(type: MessageType, item: UInt32 = 0) {
        self.type = type.rawValue
        self.item = item
    }

    @inlinable package init(rawType: UInt16, item: UInt32) {
        self.type = rawType
        self.item = item
    }
}

extension PublicationOutline.NamedTrip {
    init(_ trip: WaymarkModel.Trip) {
        self.init(
            id: Identifier(trip.id), routeChoices: trip.routeChoices.map(\.id),
            allows: PublicationOutline.Trip(
                isDestinationShareable: trip.isDestinationShareable,
                routeSegmentsAvailable: trip.routeSegmentsAvailable))
    }
}

extension PublicationOutline.Segment {
    init(_ segment: RouteSegment) {
        self.init(id: Identifier(segment.id))
        self.maneuvers = segment.maneuvers
        self.laneGuidances = segment.laneGuidances
        self.currentManeuvers = segment.currentManeuvers
        self.currentLaneGuidance = segment.currentLaneGuidance
        self.hasSpeedLimits = !segment.speedLimits.isEmpty
    }
}

extension PublicationOutline.Route {
    init(_ route: RouteInformation) {
        self.init()
        self.maneuvers = route.maneuvers.map(\.id)
        self.laneGuidances = route.laneGuidances.map(\.id)
        self.segments = route.segments.map(PublicationOutline.Segment.init)
        self.currentSegment = route.currentSegment.map { Identifier($0) }
        self.upcomingManeuvers = route.upcomingManeuvers
        self.currentLaneGuidance = route.currentLaneGuidance
        self.hasEstimates = route.tripTravelEstimates != nil || route.maneuverTravelEstimates != nil
    }
}
