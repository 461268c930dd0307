package import WaymarkHistory
internal import WaymarkModel
package import WaymarkProtocol

/// The keys of messages: those of the lines `frame` of Docs/cluster-json.md.
package enum MessageFields {
    /// The keys of a message of this type; of an unknown type, those of its header.
    package static func keys(of type: MessageType?) -> [FieldKey<CrossedFrame>] {
        Self.header + (type.map(Self.content) ?? []).map { $0.of { $0.message } }
    }

    private static let header: [FieldKey<CrossedFrame>] = [
        .number("session") { $0.frame.header.session.rawValue },
        .number("sequence") { $0.frame.header.sequence },
        .flag("fitted") { $0.frame.header.flags.contains(.fitted) },
        .flag("more") { $0.frame.header.flags.contains(.more) },
        .flag("fromGateway") { $0.frame.header.flags.contains(.gateway) },
    ]

    private static func content(_ type: MessageType) -> [FieldKey<Message>] {
        if MessageType.published.contains(type.rawValue) {
            return PublicationFields.content(type).map {
                $0.of { if case .publication(let publication) = $0 { publication } else { nil } }
            }
        }
        switch type {
        case .hello: return HelloFields.keys
        case .welcome: return Self.welcome
        case .goodbye: return Self.goodbye
        case .error: return Self.error
        case .openSession: return Self.openSession
        case .sessionOpened: return Self.sessionOpened
        case .vehicleChanged:
            return VehicleStatus.fields.map {
                $0.of { if case .vehicleChanged(let status) = $0 { status } else { nil } }
            }
        case .sessionEnded: return Self.sessionEnded
        case .snapshotBegin: return Self.snapshotBegin
        case .sessionSuspended: return Self.sessionSuspended
        case .receipt:
            return Receipt.fields.map {
                $0.of { if case .receipt(let receipt) = $0 { receipt } else { nil } }
            }
        case .receiptReport: return Self.receiptReport
        case .acknowledgement:
            return [
                .number("acknowledged") { if case .acknowledgement(let number) = $0 { number } else { nil } }
            ]
        default: return RequestFields.content(type)
        }
    }

    private static func of<Part>(
        _ part: @escaping @Sendable (Message) -> Part?, _ keys: [FieldKey<Part>]
    ) -> [FieldKey<Message>] {
        keys.map { $0.of(part) }
    }

    private static let welcome: [FieldKey<Message>] = Self.of(
        { if case .welcome(let welcome) = $0 { welcome } else { nil } },
        [
            .flag("resumed") { $0.isResumed }, .text("software") { $0.software },
            .text("instance") { $0.gateway.instance.rawValue }, .number("epoch") { $0.gateway.epoch },
            .number("keepaliveMilliseconds", .milliseconds) { $0.keepaliveMilliseconds },
            .number("receiveFrameBytesMax") { $0.receiveFrameBytesMax },
            .number("sendFrameBytesMax") { $0.sendFrameBytesMax },
            .object("withheld") { WithheldFields($0.features) },
        ])

    private static let goodbye: [FieldKey<Message>] = Self.of(
        { if case .goodbye(let goodbye) = $0 { goodbye } else { nil } }, Self.ofGoodbye)

    // Why with a type: the compiler does not find it out for an optional chain in time.
    private static let ofGoodbye: [FieldKey<Goodbye>] = [
        .choice("code") { $0.code }, .text("reason") { $0.reason },
        .number("reconnectAfterMilliseconds", .milliseconds) { $0.reconnectAfterMilliseconds },
        .text("limit") { $0.limit?.name }, .number("limitValue") { $0.limit?.value },
    ]

    private static let error: [FieldKey<Message>] = Self.of(
        { if case .error(let rejection) = $0 { rejection } else { nil } }, Self.ofError)

    private static let ofError: [FieldKey<Rejection>] = [
        .choice("code") { $0.code }, .text("field") { $0.field }, .text("reason") { $0.reason },
        .text("requestID") { $0.requestID.rawValue },
        .text("limit") { $0.limit?.name }, .number("limitValue") { $0.limit?.value },
        .number("retryAfterMilliseconds", .milliseconds) {
            $0.retryAfterMilliseconds > 0 ? $0.retryAfterMilliseconds : nil
        },
    ]

    private static let openSession: [FieldKey<Message>] = Self.of(
        { if case .openSession(let opening) = $0 { opening } else { nil } },
        [
            .text("requestID") { $0.requestID.rawValue },
            .texts("vehicles") {
                if case .vehicles(let ids) = $0.vehicles { ids.map(\.rawValue) } else { nil }
            },
            .flag("anyThatAsked") { if case .anyThatAsked = $0.vehicles { true } else { nil } },
            .number("receiptsEveryMilliseconds", .milliseconds) { $0.receiptsEveryMilliseconds },
        ])

    private static let sessionOpened: [FieldKey<Message>] = Self.of(
        { if case .sessionOpened(let opened) = $0 { opened } else { nil } },
        [
            .text("requestID") { $0.requestID.rawValue }, .number("openedSession") { $0.session.rawValue },
            .objects("vehicles") { $0.vehicles },
        ])

    private static let sessionEnded: [FieldKey<Message>] = Self.of(
        { if case .sessionEnded(let ended) = $0 { ended } else { nil } },
        [
            .number("endedSession") { $0.session.rawValue },
            .name("endReason", of: StateFields.endReasons) { "\($0.reason)" },
        ])

    private static let snapshotBegin: [FieldKey<Message>] = Self.of(
        { if case .snapshotBegin(let begin) = $0 { begin } else { nil } },
        [
            .choice("snapshot") { $0.kind }, .text("client") { $0.client.rawValue },
            .text("clientDisplayName") { $0.clientDisplayName }, .flag("suspended") { $0.isSuspended },
            .number("receiptsEveryMilliseconds", .milliseconds) { $0.receiptsEveryMilliseconds },
            .object("withheld") { WithheldFields($0.withheld) },
            .number("fromSequence") { $0.fromSequence }, .number("toSequence") { $0.toSequence },
            .number("ageMilliseconds", .milliseconds) { $0.ageMilliseconds },
            .number("estimatesAgeMilliseconds", .milliseconds) { $0.estimatesAgeMilliseconds },
        ])

    private static let sessionSuspended: [FieldKey<Message>] = Self.of(
        { if case .sessionSuspended(let suspended) = $0 { suspended } else { nil } },
        [
            .number("graceMilliseconds", .milliseconds) { $0.graceMilliseconds },
            .number("ageMilliseconds", .milliseconds) { $0.ageMilliseconds },
            .number("estimatesAgeMilliseconds", .milliseconds) { $0.estimatesAgeMilliseconds },
        ])

    private static let receiptReport: [FieldKey<Message>] = Self.of(
        { if case .receiptReport(let report) = $0 { report } else { nil } },
        [.number("gatewaySequence") { $0.gatewaySequence }, .objects("receipts") { $0.endpoints }])
}

extension Receipt: FieldObject {
    package static let fields: [FieldKey<Receipt>] = [
        .number("received") { $0.receivedSequence }, .number("shown") { $0.shownSequence },
        .number("receivedNanoseconds") { $0.receivedNanoseconds },
        .number("shownNanoseconds") { $0.shownNanoseconds },
    ]
}

extension EndpointReceipt: FieldObject {
    package static let fields: [FieldKey<EndpointReceipt>] =
        [.text("vehicle") { $0.vehicle.rawValue }, .text("endpoint") { $0.endpoint.rawValue }]
        + [
            .number("received") { $0.receipt.receivedSequence },
            .number("shown") { $0.receipt.shownSequence },
            .number("receivedDelayMicroseconds") { $0.receivedDelayMicroseconds },
            .number("shownDelayMicroseconds") { $0.shownDelayMicroseconds },
        ]
}

extension EndpointStatus: FieldObject {
    package static let fields: [FieldKey<EndpointStatus>] = [
        .text("endpoint") { $0.endpoint.rawValue }, .flag("ready") { $0.isReady },
        .text("locale") { $0.locale }, .object("withheld") { WithheldFields($0.withheld) },
    ]
}

extension VehicleStatus: FieldObject {
    package static let fields: [FieldKey<VehicleStatus>] = [
        .text("vehicle") { $0.vehicle.rawValue },
        .name("standing", of: ["joined", "awaited", "refused", "left"]) {
            switch $0.standing {
            case .joined: "joined"
            case .awaited: "awaited"
            case .refused: "refused"
            case .left: "left"
            }
        },
        .choice("code") { if case .refused(let code) = $0.standing { code } else { nil } },
        .name("endReason", of: StateFields.endReasons) {
            if case .left(let reason) = $0.standing { "\(reason)" } else { nil }
        },
        .objects("endpoints") { $0.endpoints },
    ]
}

/// The keys of a Hello, of each role.
private enum HelloFields {
    static let keys: [FieldKey<Message>] = Self.ofHello.map {
        $0.of { if case .hello(let hello) = $0 { hello } else { nil } }
    }

    private static let ofHello: [FieldKey<Hello>] = [
        .name("role", of: ["vehicle", "navigation", "observer"]) {
            switch $0.role {
            case .vehicle: "vehicle"
            case .navigation: "navigation"
            case .observer: "observer"
            }
        },
        .text("vehicle") { $0.vehicle?.vehicle.rawValue },
        .text("endpoint") { $0.vehicle?.endpoint.rawValue },
        .text("client") { $0.navigation?.client.rawValue },
        .text("observer") {
            if case .observer(let observer) = $0.role { observer.observer.rawValue } else { nil }
        },
        .texts("features") { ($0.vehicle?.features ?? $0.navigation?.features)?.map { "\($0)" } },
        .flag("guidanceWanted") { $0.vehicle?.guidanceWanted },
        .number("priority") { $0.navigation?.priority },
        .text("software") { $0.software }, .text("displayName") { $0.displayName },
    ]
}
