package import WaymarkModel
internal import WaymarkProtocol

/// The keys of messages about requests, and of those of vehicles.
enum RequestFields {
    static func content(_ type: MessageType) -> [FieldKey<Message>] {
        switch type {
        case .waypointRequest: Self.waypointRequest
        case .destinationRequest: Self.destinationRequest
        case .startTripRequest: Self.startTripRequest
        case .selectPreview: Self.selectPreview
        case .withdrawRequest:
            [
                .text("requestID") {
                    if case .withdrawRequest(let of) = $0 { of.requestID.rawValue } else { nil }
                }
            ]
        case .requestAnswer: Self.requestAnswer
        case .prompt: Self.prompt
        case .promptAnswer: Self.promptAnswer
        case .promptOver: Self.promptOver
        case .requestOutcome: Self.requestOutcome
        case .cancelNavigation:
            [.choice("cancelReason") { if case .cancelNavigation(let reason) = $0 { reason } else { nil } }]
        case .updateRouteSource: Self.updateRouteSource
        case .vehicleSettings: Self.vehicleSettings
        case .zoomCluster: Self.zoomCluster
        case .alertResponse: Self.alertResponse
        case .vehicleExtension: Self.vehicleExtension
        case .simulateDrive: Self.simulateDrive
        case .destinationShareWanted: Self.destinationShareWanted
        case .updateRouteFeedback: Self.updateRouteFeedback
        case .destinationShareAnswer: Self.shareAnswer
        case .destinationShareStatus: Self.shareStatus
        default: []  // Says no more than its name, or is for observers.
        }
    }

    private static func of<Part>(
        _ part: @escaping @Sendable (Message) -> Part?, _ keys: [FieldKey<Part>]
    ) -> [FieldKey<Message>] {
        keys.map { $0.of(part) }
    }

    private static let waypointRequest: [FieldKey<Message>] = Self.of(
        { if case .waypointRequest(let request) = $0 { request } else { nil } },
        [
            .text("requestID") { $0.requestID.rawValue }, .object("waypoint") { $0.waypoint },
            .text("segment") { $0.segment.rawValue }, .text("vehicle") { $0.vehicle?.rawValue },
        ])

    private static let destinationRequest: [FieldKey<Message>] = Self.of(
        { if case .destinationRequest(let request) = $0 { request } else { nil } },
        [
            .text("requestID") { $0.requestID.rawValue }, .object("destination") { $0.destination },
            .text("vehicle") { $0.vehicle?.rawValue },
        ])

    private static let startTripRequest: [FieldKey<Message>] = Self.of(
        { if case .startTripRequest(let request) = $0 { request } else { nil } },
        [
            .text("requestID") { $0.requestID.rawValue }, .text("trip") { $0.trip.rawValue },
            .number("routeChoice") { $0.routeChoice }, .text("vehicle") { $0.vehicle?.rawValue },
        ])

    private static let selectPreview: [FieldKey<Message>] = Self.of(
        { if case .selectPreview(let selection) = $0 { selection } else { nil } },
        [.text("trip") { $0.trip.rawValue }, .number("routeChoice") { $0.routeChoice }]
            + Self.source { $0.source })

    private static let requestAnswer: [FieldKey<Message>] = Self.of(
        { if case .requestAnswer(let answer) = $0 { answer } else { nil } },
        [
            .text("requestID") { $0.requestID.rawValue }, .text("vehicle") { $0.vehicle.rawValue },
            .name("answer", of: ["estimates", "ownPrompt", "accept", "decline", "acceptWithPreview"]) {
                switch $0.answer {
                case .estimates: "estimates"
                case .ownPrompt: "ownPrompt"
                case .accept: "accept"
                case .acceptWithPreview: "acceptWithPreview"
                case .decline: "decline"
                }
            },
            .choice("outcome") { if case .decline(let outcome) = $0.answer { outcome } else { nil } },
            .object("travelEstimates") {
                if case .estimates(let estimates) = $0.answer { estimates } else { nil }
            },
        ])

    private static let prompt: [FieldKey<Message>] = Self.of(
        { if case .prompt(let prompt) = $0 { prompt } else { nil } },
        [
            .text("requestID") { $0.requestID.rawValue }, .object("waypoint") { $0.waypoint },
            .object("travelEstimates") { $0.travelEstimates },
            .number("deadlineMilliseconds", .milliseconds) { $0.deadlineMilliseconds },
        ])

    private static let promptAnswer: [FieldKey<Message>] = Self.of(
        { if case .promptAnswer(let answer) = $0 { answer } else { nil } },
        [.text("requestID") { $0.requestID.rawValue }, .flag("accepted") { $0.isAccepted }])

    private static let promptOver: [FieldKey<Message>] = Self.of(
        { if case .promptOver(let over) = $0 { over } else { nil } },
        [.text("requestID") { $0.requestID.rawValue }, .choice("outcome") { $0.outcome }])

    private static let requestOutcome: [FieldKey<Message>] = Self.of(
        { if case .requestOutcome(let outcome) = $0 { outcome } else { nil } },
        [
            .text("requestID") { $0.requestID.rawValue }, .choice("outcome") { $0.outcome },
            .text("client") { $0.client?.rawValue ?? "" }, .flag("previewFollows") { $0.previewFollows },
            .choice("cause") { $0.cause }, .text("endpoint") { $0.endpoint?.rawValue ?? "" },
        ])

    private static let updateRouteSource: [FieldKey<Message>] = Self.of(
        { if case .updateRouteSource(let update) = $0 { update } else { nil } },
        [.word("routeSource") { $0.routeSource }, .text("vehicle") { $0.vehicle?.rawValue }])

    private static let updateRouteFeedback: [FieldKey<Message>] = Self.of(
        { if case .updateRouteFeedback(let update) = $0 { update } else { nil } },
        [
            .number("generation") { $0.feedback.generation }, .objects("stops") { $0.feedback.stops },
            .text("firstUnreachableSegment") { $0.feedback.firstUnreachableSegment ?? "" },
            .text("vehicle") { $0.vehicle?.rawValue },
        ])

    private static let destinationShareWanted: [FieldKey<Message>] = Self.of(
        { if case .destinationShareWanted(let wanted) = $0 { wanted } else { nil } },
        [.text("trip") { $0.trip.rawValue }] + Self.source { $0.source })

    private static let vehicleSettings: [FieldKey<Message>] = Self.of(
        { if case .vehicleSettings(let settings) = $0 { settings } else { nil } },
        [
            .word("compass") { $0.compass }, .word("speedLimit") { $0.speedLimit },
            .word("contentStyle") { $0.contentStyle },
            .number("limitedUserInterfaces") { $0.limitedUserInterfaces },
            .flag("ready") { $0.isReadyToShow },
        ] + Self.source { $0.source })

    private static let zoomCluster: [FieldKey<Message>] = Self.of(
        { if case .zoomCluster(let zoom) = $0 { zoom } else { nil } },
        [.word("zoomDirection") { $0.direction }] + Self.source { $0.source })

    private static let vehicleExtension: [FieldKey<Message>] = Self.of(
        { if case .vehicleExtension(let sent) = $0 { sent } else { nil } },
        [
            .text("name") { $0.name.rawValue },
            .text("content") { $0.content.base64 },
        ] + Self.source { $0.source })

    private static let simulateDrive: [FieldKey<Message>] = Self.of(
        { if case .simulateDrive(let asked) = $0 { asked } else { nil } },
        [
            .word("simulationAction") { $0.action },
            .number("speedPercent") { (asked: SimulateDrive) -> UInt32? in
                asked.speedPercent == 0 ? nil : asked.speedPercent
            },
            .text("client") { $0.client?.rawValue }, .text("vehicle") { $0.vehicle?.rawValue },
            .text("endpoint") { $0.endpoint?.rawValue },
        ])

    private static let alertResponse: [FieldKey<Message>] = Self.of(
        { if case .alertResponse(let response) = $0 { response } else { nil } },
        [
            .number("alertID") { $0.alert },
            .word("dismissal") { if case .dismissed(let dismissal) = $0.response { dismissal } else { nil } },
            .number("action") { if case .action(let action) = $0.response { action } else { nil } },
        ] + Self.source { $0.source })

    private static let shareAnswer: [FieldKey<Message>] = Self.of(
        { if case .destinationShareAnswer(let answer) = $0 { answer } else { nil } },
        [.text("shareID") { $0.shareID.rawValue }, .choice("outcome") { $0.outcome }])

    private static let shareStatus: [FieldKey<Message>] = Self.of(
        { if case .destinationShareStatus(let status) = $0 { status } else { nil } },
        [
            .text("shareID") { $0.shareID.rawValue }, .text("vehicle") { $0.vehicle.rawValue },
            .name("stage", of: ["willShare", "didShare", "didFailToShare"]) {
                switch $0.stage {
                case .willShare: "willShare"
                case .didShare: "didShare"
                case .didFailToShare: "didFailToShare"
                }
            },
            .choice("outcome") { if case .didFailToShare(let outcome) = $0.stage { outcome } else { nil } },
        ])

    /// Which endpoint a message on its way to the client comes from.
    private static func source<Root>(
        _ read: @escaping @Sendable (Root) -> EndpointPath?
    ) -> [FieldKey<Root>] {
        [
            .text("vehicle") { read($0)?.vehicle.rawValue },
            .text("endpoint") { read($0)?.endpoint.rawValue },
        ]
    }
}

extension StopFeedback: FieldObject {
    package static let fields: [FieldKey<StopFeedback>] = [
        .quantity("arrivalBatteryPerMille") { $0.arrivalBatteryPerMille },
        .word("reachability") { $0.reachability },
    ]
}
