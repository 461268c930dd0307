package import WaymarkClient
internal import WaymarkHistory
internal import WaymarkModel
internal import WaymarkProtocol

/// The names of features, and of the reasons for which they are withheld.
enum WithheldNames {
    static let features = GuidanceFeature.allCases.map(\.rawValue)
    static let reasons = WithholdingReason.allCases.map(\.rawValue)
}

extension WithheldFields {
    init(_ withheld: [GuidanceFeature: WithholdingReason]) {
        self.reasons = Dictionary(
            withheld.map { ($0.key.rawValue, $0.value.rawValue) }, uniquingKeysWith: { first, _ in first })
    }

    /// Of a message, which also lists what is granted.
    init(_ grants: [FeatureGrant]) {
        self.reasons = Dictionary(
            grants.compactMap { grant in grant.withheld.map { ("\(grant.feature)", "\($0)") } },
            uniquingKeysWith: { first, _ in first })
    }
}

/// The newest estimates of one maneuver.
package struct EstimatesOfManeuver: FieldObject {
    let maneuver: ManeuverID
    let estimates: TravelEstimates

    package static let fields: [FieldKey<EstimatesOfManeuver>] =
        [.number("maneuver") { $0.maneuver.rawValue }] + TravelEstimates.fields.map { $0.of { $0.estimates } }
}

extension VehicleState.ExtensionState: FieldObject {
    package static let fields: [FieldKey<VehicleState.ExtensionState>] = [
        .text("name") { $0.name },
        .number("key") { UInt32($0.key) },
        .text("content") { $0.content.base64 },
    ]
}

/// The keys of an endpoint's state: those of the lines `state` of Docs/cluster-json.md, and those that the rig derives.
enum StateFields {
    static let phases = ["idle", "preview", "active", "paused", "ended"]
    static let endReasons = SessionEndReason.allCases.filter { $0 != .unrecognized }.map { "\($0)" }

    /// All keys on the first level.
    static let keys: [FieldKey<EndpointHistory.Moment>] = Self.held + Self.derived

    /// As in Docs/cluster-json.md.
    static let held: [FieldKey<EndpointHistory.Moment>] = Self.route + Self.plain + Self.others

    private static let route: [FieldKey<EndpointHistory.Moment>] = [
        .name("phase", of: Self.phases) { Self.phase($0.state.phase) },
        .word("pauseReason") { if case .paused(let reason, _) = $0.state.phase { reason } else { nil } },
        .texts("pauseDescription") { if case .paused(_, let text) = $0.state.phase { text } else { nil } },
        .name("endReason", of: Self.endReasons) {
            if case .ended(let reason) = $0.state.phase { reason.word } else { nil }
        },
        .number("session") { $0.state.session },
        .text("client") { $0.state.client },
        .flag("suspended") { $0.state.isSuspended },
        .object("withheld") { WithheldFields($0.state.withheld) },
        .number("generation") { $0.state.generation },
        .objects("previews") { $0.state.previews },
        .text("selectedPreview") { $0.state.selectedPreview },
        .object("trip") { $0.state.trip },
        .objects("maneuvers") { $0.state.maneuvers },
        .numbers("upcomingManeuvers", .none, { Double($0.rawValue) }) { $0.state.upcomingManeuvers },
        .word("maneuverState") { $0.state.maneuverState },
        .objects("laneGuidances") { $0.state.laneGuidances },
        .number("currentLaneGuidance") { $0.state.currentLaneGuidance?.rawValue },
        .objects("segments") { $0.state.segments },
        .text("currentSegment") { $0.state.currentSegment },
    ]

    private static let plain: [FieldKey<EndpointHistory.Moment>] = MessageType.allCases.flatMap { type in
        PlainStates.fields(of: type).map { $0.of { $0.state.plain } }
    }

    private static let others: [FieldKey<EndpointHistory.Moment>] = [
        .object("tripEstimates") { $0.state.tripEstimates },
        .word("timeRemainingColor") { $0.state.timeRemainingColor },
        .objects("maneuverEstimates") { moment in
            moment.state.maneuverEstimates.sorted { $0.key < $1.key }
                .map { EstimatesOfManeuver(maneuver: $0.key, estimates: $0.value) }
        },
        .object("speedLimit") { $0.state.speedLimit },
        .object("nextSpeedLimit") { $0.state.nextSpeedLimit },
        .object("alert") { $0.state.alert },
        .objects("extensions") { $0.state.extensions },
    ]

    private static func phase(_ phase: VehicleState.Phase) -> String {
        switch phase {
        case .idle: "idle"
        case .preview: "preview"
        case .active: "active"
        case .paused: "paused"
        case .ended: "ended"
        }
    }

    /// Of the connection, and of what the display shows.
    private static let derived: [FieldKey<EndpointHistory.Moment>] = [
        .flag("connected") { $0.isConnected },
        .flag("resumed") { $0.isConnected && $0.isResumed },
        .number("missed") { $0.missed },
        .name("shows", of: ["fresh", "stale", "none", "stale-or-none"]) { $0.shows },
        .object("next") { NextFields(state: $0.state) },
        .object("lanes") { LanesFields(state: $0.state) },
    ]

    /// Keys that are of the connection, so that they count also while a snapshot is not complete.
    static let ofConnection: Set<String> = ["connected", "resumed", "shows"]
}

extension EndpointHistory.Moment {
    /// What a display shows: `stale` is what an endpoint holds that is not connected, or whose client is not.
    var shows: String {
        guard self.state.session != 0, self.state.isComplete else { return "none" }
        return self.isConnected && !self.state.isSuspended ? "fresh" : "stale"
    }
}

/// The first upcoming maneuver.
package struct NextFields: FieldObject {
    private let id: ManeuverID?
    private let maneuver: Maneuver?
    private let estimates: TravelEstimates?

    init(state: VehicleState) {
        self.id = state.upcomingManeuvers.first
        self.maneuver = state.nextManeuver
        self.estimates = self.id.flatMap { state.maneuverEstimates[$0] }
    }

    package static let fields: [FieldKey<NextFields>] = [
        .number("id") { $0.id?.rawValue },
        .word("type") { $0.maneuver?.type },
        .number("distance", .meters) { $0.estimates?.distanceRemaining.meters },
        FieldKey("displayed", .number(.meters)) { $0.displayed.map { .number($0) } },
        .number("time", .seconds) { $0.estimates?.timeRemaining?.components.seconds },
        .text("road") { $0.maneuver?.roadFollowingManeuverVariants.first },
        .text("instruction") { $0.maneuver?.instructionVariants.first },
        .number("exitAngle", .degrees) { $0.maneuver?.junctionExitAngle?.degrees },
        .word("junction") { $0.maneuver?.junctionType },
        .word("side") { $0.maneuver?.trafficSide },
    ]

    /// The distance to display, in metres.
    private var displayed: Double? {
        guard let display = self.estimates?.distanceRemainingToDisplay else { return nil }
        let value = Double(display.valueTenths) / 10
        switch display.unit {
        case .meters: return value
        case .kilometers: return value * 1_000
        case .miles: return value * 1_609.344
        case .feet: return value * 0.3048
        case .yards: return value * 0.9144
        case .unrecognized: return nil
        }
    }
}

/// The lanes to show now. Lanes have numbers from 1, from the left.
package struct LanesFields: FieldObject {
    private let guidance: LaneGuidance?

    init(state: VehicleState) {
        self.guidance = state.currentLaneGuidance.flatMap { id in state.laneGuidances.first { $0.id == id } }
    }

    package static let fields: [FieldKey<LanesFields>] = [
        .number("count") { $0.guidance?.lanes.count ?? 0 },
        .numbers("highlighted") { $0.numbers { $0.highlightedAngle != nil } },
        .numbers("preferred") { $0.numbers { $0.status == .preferred } },
        .numbers("good") { $0.numbers { $0.status == .good } },
        .text("instruction") { $0.guidance?.instructionVariants.first },
    ]

    private func numbers(_ condition: (Lane) -> Bool) -> [Int] {
        (self.guidance?.lanes ?? []).enumerated().filter { condition($1) }.map { $0.offset + 1 }
    }
}
