internal import WaymarkModel
internal import WaymarkProtocol

/// The keys of publications.
enum PublicationFields {
    static func content(_ type: MessageType) -> [FieldKey<Publication>] {
        switch type {
        case .tripPreviews: Self.tripPreviews
        case .startGuidance: Self.startGuidance
        case .updateTrip: [.object("trip") { if case .updateTrip(let trip) = $0 { trip } else { nil } }]
        case .addManeuvers:
            [.objects("maneuvers") { if case .addManeuvers(let added, _) = $0 { added } else { nil } }]
                + Self.generation
        case .addLaneGuidances:
            [
                .objects("laneGuidances") {
                    if case .addLaneGuidances(let added, _) = $0 { added } else { nil }
                }
            ]
                + Self.generation
        case .addRouteSegments:
            [.objects("segments") { if case .addRouteSegments(let added, _) = $0 { added } else { nil } }]
                + Self.generation
        case .upcomingManeuvers:
            [
                .numbers("upcomingManeuvers", .none, { Double($0.rawValue) }) {
                    if case .upcomingManeuvers(let ids, _) = $0 { ids } else { nil }
                }
            ] + Self.generation
        case .currentLaneGuidance:
            [
                .number("currentLaneGuidance") {
                    if case .currentLaneGuidance(let id, _) = $0 { id?.rawValue ?? 0 } else { nil }
                }
            ] + Self.generation
        case .updateManeuverState:
            [.word("maneuverState") { if case .maneuverState(let state, _) = $0 { state } else { nil } }]
                + Self.generation
        case .updateTripEstimates: Self.tripEstimates
        case .updateManeuverEstimates: Self.maneuverEstimates
        case .currentRouteSegment:
            [.text("currentSegment") { if case .currentRouteSegment(let id, _) = $0 { id } else { nil } }]
                + Self.generation
        case .pauseGuidance: Self.pauseGuidance
        case .resumeGuidance: Self.resumeGuidance
        case .showAlert: [.object("alert") { if case .showAlert(let alert) = $0 { alert } else { nil } }]
        case .dismissAlert: Self.dismissAlert
        case .shareDestination: Self.shareDestination
        case .updateSpeedLimit: Self.speedLimit
        case .publishExtension: Self.publishExtension
        // The end of guidance says no more than its name.
        default:
            PlainStates.fields(of: type).map { field in
                field.of { if case .plain(let state) = $0 { PlainStates(state) } else { nil } }
            }
        }
    }

    private static let generation: [FieldKey<Publication>] = [
        .number("generation") { publication -> UInt32? in
            switch publication {
            case .startGuidance(_, let generation, _), .addManeuvers(_, let generation),
                .addLaneGuidances(_, let generation), .addRouteSegments(_, let generation),
                .upcomingManeuvers(_, let generation), .currentLaneGuidance(_, let generation),
                .maneuverState(_, let generation), .maneuverEstimates(_, _, let generation),
                .currentRouteSegment(_, let generation), .resumeGuidance(let generation, _, _):
                generation
            default: nil
            }
        }
    ]

    private static let tripPreviews: [FieldKey<Publication>] = [
        .objects("trips") { if case .tripPreviews(let trips, _) = $0 { trips } else { nil } },
        .text("selected") { if case .tripPreviews(_, let selected) = $0 { selected } else { nil } },
    ]

    private static let startGuidance: [FieldKey<Publication>] =
        [.object("trip") { if case .startGuidance(let trip, _, _) = $0 { trip } else { nil } }]
        + Self.generation
        + FieldKey.route { if case .startGuidance(_, _, let route) = $0 { route } else { nil } }

    private static let resumeGuidance: [FieldKey<Publication>] =
        Self.generation
        + [.word("rerouteReason") { if case .resumeGuidance(_, let reason, _) = $0 { reason } else { nil } }]
        + FieldKey.route { if case .resumeGuidance(_, _, let route) = $0 { route } else { nil } }

    private static let tripEstimates: [FieldKey<Publication>] = [
        .object("tripEstimates") { if case .tripEstimates(let estimates, _) = $0 { estimates } else { nil } },
        .word("timeRemainingColor") { if case .tripEstimates(_, let color) = $0 { color } else { nil } },
    ]

    private static let speedLimit: [FieldKey<Publication>] = [
        .object("speedLimit") { if case .speedLimit(let limit, _) = $0 { limit } else { nil } },
        .object("nextSpeedLimit") { if case .speedLimit(_, let next) = $0 { next } else { nil } },
    ]

    private static let maneuverEstimates: [FieldKey<Publication>] =
        [
            .number("maneuver") {
                if case .maneuverEstimates(let id, _, _) = $0 { id.rawValue } else { nil }
            },
            .object("travelEstimates") {
                if case .maneuverEstimates(_, let estimates, _) = $0 { estimates } else { nil }
            },
        ] + Self.generation

    private static let pauseGuidance: [FieldKey<Publication>] = [
        .word("pauseReason") { if case .pauseGuidance(let reason, _) = $0 { reason } else { nil } },
        .texts("pauseDescription") { if case .pauseGuidance(_, let text) = $0 { text } else { nil } },
    ]

    private static let dismissAlert: [FieldKey<Publication>] = [
        .number("alertID") { if case .dismissAlert(let id, _) = $0 { id } else { nil } },
        .word("dismissal") { if case .dismissAlert(_, let dismissal) = $0 { dismissal } else { nil } },
    ]

    private static let publishExtension: [FieldKey<Publication>] = [
        .text("name") {
            if case .publishExtension(let published) = $0 { published.name.rawValue } else { nil }
        },
        .number("key") {
            if case .publishExtension(let published) = $0 { published.key.map { UInt32($0) } } else { nil }
        },
        .text("content") {
            if case .publishExtension(let published) = $0 { published.content.base64 } else { nil }
        },
    ]

    private static let shareDestination: [FieldKey<Publication>] = [
        .text("shareID") { if case .shareDestination(let id, _, _) = $0 { id } else { nil } },
        .object("destination") {
            if case .shareDestination(_, let destination, _) = $0 { destination } else { nil }
        },
        .text("trip") { if case .shareDestination(_, _, let trip) = $0 { trip } else { nil } },
    ]
}
