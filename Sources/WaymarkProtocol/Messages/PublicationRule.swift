/// What the protocol says of one type of publication. ``table`` has a rule for each; session content, retained state, fitting, the
/// client and Docs/protocol.md, "Publications", follow from it.
///
/// A plain value without references: one is looked up for each frame.
package struct PublicationRule: Sendable {
    /// How a slow endpoint is served.
    package enum Kind: UInt8, Sendable, Hashable {
        /// Never skipped.
        case event
        /// Only the newest matters.
        case state
        /// Only the newest for each maneuver matters.
        case statePerManeuver
    }

    /// When it may be published.
    package enum Phases: UInt8, Sendable, Hashable {
        case any
        /// While the vehicle is guided: active or paused.
        case guided
        case paused

        @inlinable package func contains(_ phase: SessionPhase) -> Bool {
            switch (self, phase) {
            case (.any, _), (.guided, .active), (.guided, .paused), (.paused, .paused): true
            case (.guided, .preview), (.guided, .ended), (.paused, .preview), (.paused, .active),
                (.paused, .ended):
                false
            }
        }
    }

    /// The generation that it must carry.
    package enum Generation: UInt8, Sendable, Hashable {
        /// It has none.
        case none
        case current
        /// One that is higher than all before.
        case new
        /// A new one if it has a route, the current one otherwise.
        case newWithRoute
    }

    /// What a route consists of.
    package enum RoutePart: UInt8, Sendable, Hashable {
        case maneuvers, laneGuidances, segments
        case wholeRoute
    }

    /// What it makes void of what was published before.
    package struct Voids: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let pause = Voids(rawValue: 1)
        package static let maneuverState = Voids(rawValue: 2)
        package static let alert = Voids(rawValue: 4)
        /// All with ``PublicationRule/isOfRoute``.
        package static let route = Voids(rawValue: 8)
        package static let everything = Voids(rawValue: 16)
    }

    /// What is kept of it for endpoints that join later.
    package enum Retention: UInt8, Sendable, Hashable {
        case nothing
        /// The newest of its type; of a state per maneuver, the newest for each.
        case newest
        /// Each one.
        case all
    }

    /// Which properties of an endpoint can change what it is sent. Without any it gets the published bytes.
    package struct Fitting: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let distanceUnits = Fitting(rawValue: 1)
        package static let maneuverSlots = Fitting(rawValue: 2)
        package static let laneGuidanceSlots = Fitting(rawValue: 4)
        package static let roadNameLength = Fitting(rawValue: 8)
        /// Several, depending on its content.
        package static let content = Fitting(rawValue: 16)
    }

    /// nil: a type that this build does not know.
    package let type: MessageType?
    package let kind: Kind
    /// The feature that a client must provide to publish it, and without which an endpoint does not get it. A route needs others,
    /// depending on its content.
    package let feature: Feature?
    package let phases: Phases
    package let generation: Generation
    package let adds: RoutePart?
    /// It names parts of the route, which must have been added.
    package let refersTo: RoutePart?
    package let voids: Voids
    package let retention: Retention
    /// A new route makes it void.
    package let isOfRoute: Bool
    package let fittedBy: Fitting
    /// The field that takes most of its memory; empty for none.
    package let largestField: StaticString

    init(
        _ type: MessageType?, _ kind: Kind, needs feature: Feature? = nil, in phases: Phases,
        generation: Generation = .none, adds: RoutePart? = nil, refersTo: RoutePart? = nil, voids: Voids = [],
        retains retention: Retention, isOfRoute: Bool = false, fittedBy: Fitting = [],
        largest largestField: StaticString = ""
    ) {
        self.type = type
        self.kind = kind
        self.feature = feature
        self.phases = phases
        self.generation = generation
        self.adds = adds
        self.refersTo = refersTo
        self.voids = voids
        self.retention = retention
        self.isOfRoute = isOfRoute
        self.fittedBy = fittedBy
        self.largestField = largestField
    }
}

extension PublicationRule {
    /// Of a skippable type that this build does not know: forwarded as an event.
    @usableFromInline package static let unrecognized = PublicationRule(
        nil, .event, in: .any, retains: .nothing)

    /// The rule for a type number of the published range.
    @inlinable package static func rule(for rawType: UInt16) -> PublicationRule {
        let index = Int(rawType & 0xFF)
        return index < self.table.count ? self.table[index] : self.unrecognized
    }
}
