/// What the protocol says of one type of publication. ``table`` has a rule for each; session content, retained state, fitting, the
/// client and Docs/protocol.md, "Publications", follow from it.
///
/// It is constant, and without references: an outline points to its rule, so that nothing is looked up for a frame.
package struct PublicationRule: Sendable {
    /// What a slow endpoint may skip.
    package enum Kind: Sendable, Hashable {
        /// Never skipped.
        case event
        /// Only the newest matters.
        case state
        /// Only the newest for each maneuver matters.
        case statePerManeuver
        /// Only the newest for each key in the header matters. Of extensions, and of types that this build does not know.
        case stateByKey
    }

    /// When it may be published.
    package enum Phases: Sendable, Hashable {
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
    package enum Generation: Sendable, Hashable {
        /// It has none.
        case none
        case current
        /// One that is higher than all before.
        case new
        /// A new one if it has a route, the current one otherwise.
        case newWithRoute
    }

    /// What a route consists of.
    package enum RoutePart: Sendable, Hashable {
        case maneuvers, laneGuidances, segments
        case wholeRoute
    }

    /// What it makes void of what was published before.
    package struct Voids: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8
        @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let pause = Voids(rawValue: 1)
        package static let maneuverState = Voids(rawValue: 2)
        package static let alert = Voids(rawValue: 4)
        /// All with ``PublicationRule/isOfRoute``.
        package static let route = Voids(rawValue: 8)
        package static let everything = Voids(rawValue: 16)
    }

    /// What is kept of it for endpoints that join later.
    package enum Retention: Sendable, Hashable {
        case nothing
        /// The newest of its type; of a state per maneuver, the newest for each.
        case newest
        /// Each one.
        case all
    }

    /// The properties of an endpoint to which a publication is fitted. Without any, every endpoint gets the published bytes.
    package struct Fitting: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8
        @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

        @inlinable package static var distanceUnits: Fitting { Fitting(rawValue: 1) }
        @inlinable package static var maneuverSlots: Fitting { Fitting(rawValue: 2) }
        @inlinable package static var laneGuidanceSlots: Fitting { Fitting(rawValue: 4) }
        @inlinable package static var roadNameLength: Fitting { Fitting(rawValue: 8) }
        /// Several, depending on its content.
        @inlinable package static var content: Fitting { Fitting(rawValue: 16) }
        @inlinable package static var extensionName: Fitting { Fitting(rawValue: 32) }

        // Why not that of `OptionSet`: it is called through a witness table, for each frame and audience.
        @inlinable package func contains(_ other: Fitting) -> Bool { self.rawValue & other.rawValue != 0 }
    }

    /// nil: a type that this build does not know.
    package let type: MessageType?
    /// The number of ``type``; 0 if that is nil.
    package let rawType: UInt16
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
        self.rawType = type?.rawValue ?? 0
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
    package static let unrecognized = PublicationRule(nil, .event, in: .any, retains: .nothing)
    /// The same of one that its client calls a state. Its flags say whether it is retained.
    static let unrecognizedState = PublicationRule(nil, .stateByKey, in: .any, retains: .newest)
    /// The rule of an extension that is an event. It is not in ``table``, since only the header of a frame tells it from ``extensionState``.
    package static let extensionEvent = PublicationRule(
        .publishExtension, .event, in: .any, retains: .nothing, fittedBy: .extensionName, largest: "content")
    /// The rule of an extension that is a state.
    package static let extensionState = PublicationRule(
        .publishExtension, .stateByKey, in: .any, retains: .newest, fittedBy: .extensionName,
        largest: "content")

    /// The rule for a type number of the published range; of an extension, that of an event.
    package static func rule(for rawType: UInt16) -> PublicationRule {
        unsafe self.address(for: rawType).pointee
    }

    /// Where the rule for a type number is: for good, so that an outline can point to it.
    static func address(for rawType: UInt16) -> UnsafePointer<PublicationRule> {
        if rawType == MessageType.publishExtension.rawValue {
            return unsafe self.addressForExtension(isState: false)
        }
        return unsafe self.addresses + min(Int(rawType & 0xFF), self.table.count)
    }

    /// Where ``unrecognizedState`` is.
    static var addressForUnrecognizedState: UnsafePointer<PublicationRule> {
        unsafe self.addresses + (self.table.count + 1)
    }

    /// The address of ``extensionEvent`` or ``extensionState``.
    static func addressForExtension(isState: Bool) -> UnsafePointer<PublicationRule> {
        unsafe self.addresses + (self.table.count + (isState ? 3 : 2))
    }

    /// ``table``, and behind it those that it does not have. Never freed.
    private nonisolated(unsafe) static let addresses: UnsafePointer<PublicationRule> = {
        let rules =
            PublicationRule.table + [.unrecognized, .unrecognizedState, .extensionEvent, .extensionState]
        let memory = UnsafeMutableBufferPointer<PublicationRule>.allocate(capacity: rules.count)
        _ = unsafe memory.initialize(from: rules)
        guard let start = memory.baseAddress else { preconditionFailure("a table without rules") }
        return unsafe UnsafePointer(start)
    }()
}
