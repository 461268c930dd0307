public import WaymarkModel
internal import WaymarkProtocol

/// Something that happens to a session, besides what its client publishes.
///
/// For a slow reader only the newest `vehicleChanged`, `routeSource`, `previewSelected`, `routeFeedback` and `received` of each vehicle is
/// queued. Of all events at most 256 are queued; beyond that the oldest are dropped and ``missed(_:)`` tells how many. `ended` is the last
/// event and is never dropped.
public enum SessionEvent: Sendable, Hashable {
    /// A vehicle's part in the session.
    public enum Standing: Sendable, Hashable, CustomStringConvertible {
        /// It receives what is published.
        case joined
        /// It joins when it connects.
        case awaited
        /// Another navigation client guides it.
        case refusedAsBusy
        /// It navigates itself and has not asked for guidance.
        case refusedAsNavigatingItself
        /// The gateway's access rules do not allow this client to guide it.
        case refusedAsNotAuthorized
        /// The gateway does not let it join.
        case refused
        /// It has left.
        case left(EndReason)

        /// The standing, for humans.
        public var description: String {
            switch self {
            case .joined: "joined"
            case .awaited: "awaited"
            case .refusedAsBusy: "refused: another navigation client guides it"
            case .refusedAsNavigatingItself: "refused: it navigates by itself"
            case .refusedAsNotAuthorized: "refused: the gateway's access rules do not allow it"
            case .refused: "refused"
            case .left(let reason): "left: \(reason)"
            }
        }
    }

    /// One endpoint of a vehicle in the session.
    public struct Endpoint: Sendable, Hashable {
        /// The name, which is unique in its vehicle.
        public let name: String
        /// Its display is ready to show.
        public let isReady: Bool
        /// The locale, a BCP 47 tag; empty if unknown.
        public let locale: String
        /// The features that it does not get, and why.
        public let withheld: [GuidanceFeature: WithholdingReason]
    }

    /// The numbers of the last publications that one endpoint has received and shown.
    public struct Receipt: Sendable, Hashable {
        /// The vehicle's id.
        public let vehicle: String
        /// The endpoint's name in the vehicle.
        public let endpoint: String
        /// The last number that it has received.
        public let received: UInt64
        /// The last number that it has shown; at most `received`.
        public let shown: UInt64
        /// The time from when the gateway accepted `received` until the endpoint had received it; nil: not measured.
        public var receivedDelay: Duration?
        /// The time from when the gateway accepted `shown` until its content was on the display; nil: not measured.
        public var shownDelay: Duration?
    }

    /// The answer of a vehicle to an alert.
    public enum AlertAnswer: Sendable, Hashable {
        /// The alert was dismissed.
        case dismissed(AlertDismissal)
        /// The user chose the action with this id.
        case action(UInt32)
    }

    /// A vehicle joined, is awaited, was refused or left; or one of its endpoints connected, left or became ready.
    case vehicleChanged(vehicle: String, standing: Standing, endpoints: [Endpoint])
    /// The vehicle's use of the route.
    case routeSource(vehicle: String, RouteSource)
    /// The vehicle's user selected a trip of the newest previews, and of its route choices this one; nil: the trip's selected one, or its
    /// first. The client shows the previews again, with the trip selected.
    case previewSelected(vehicle: String, endpoint: String, trip: String, routeChoice: UInt32?)
    /// The vehicle says how far it gets on the present route with its charge. A client may insert a stop to charge, and publish the new trip.
    case routeFeedback(vehicle: String, RouteFeedback)
    /// The user of the vehicle wants the destination of a trip preview, or with an empty `trip` of the trip that is driven. Answered by
    /// ``NavigationSession/share(_:ofTrip:shareID:)``, or by nothing.
    case destinationWanted(vehicle: String, endpoint: String, trip: String)
    /// Display settings changed: all of the endpoint; those that were never set are nil.
    case settings(vehicle: String, endpoint: String, DisplaySettings)
    /// The vehicle wants the map larger or smaller.
    case zoom(vehicle: String, ZoomDirection)
    /// The vehicle answered an alert.
    case alertResponse(vehicle: String, alert: UInt32, AlertAnswer)
    /// An endpoint sent content that it and this client agree on.
    case extensionReceived(vehicle: String, endpoint: String, name: String, content: [UInt8])
    /// A waypoint request of a vehicle ended. There is one for each request, also after a lost connection.
    case waypointResult(vehicle: String, RequestEnding)
    /// A vehicle's request to start a trip of the previews ended, like `waypointResult`.
    case startTripResult(vehicle: String, RequestEnding)
    /// A destination share: nil while under way.
    case shareResult(vehicle: String, shareID: String, RequestResult?)
    /// The lowest number that all endpoints have received, and a receipt of each.
    case received(sequence: UInt64, receipts: [Receipt])
    /// The gateway refused a publication; nothing of it was applied. `limit`: the gateway's limit that it is beyond, if that is why.
    case rejected(field: String, reason: String, limit: GatewayLimit? = nil)
    /// The number of events that were dropped here because the reader was too slow.
    case missed(Int)
    /// The session has ended; no event follows.
    case ended(reason: EndReason)
}

extension SessionEvent: FeedElement {
    static var queuedMax: Int { 256 }

    func replaces(_ older: SessionEvent) -> Bool {
        switch (self, older) {
        case (.vehicleChanged(let new, _, _), .vehicleChanged(let old, _, _)): new == old
        case (.routeSource(let new, _), .routeSource(let old, _)): new == old
        case (.previewSelected(let new, _, _, _), .previewSelected(let old, _, _, _)): new == old
        case (.routeFeedback(let new, _), .routeFeedback(let old, _)): new == old
        case (.received, .received): true
        // Settings do not replace each other: each has only what changed.
        case (.vehicleChanged, _), (.routeSource, _), (.routeFeedback, _), (.received, _), (.settings, _),
            (.zoom, _), (.destinationWanted, _),
            (.alertResponse, _), (.extensionReceived, _), (.waypointResult, _), (.shareResult, _),
            (.previewSelected, _), (.startTripResult, _), (.rejected, _), (.missed, _),
            (.ended, _):
            false
        }
    }

    static func missed(_ count: Int, before next: SessionEvent) -> SessionEvent? { .missed(count) }
}

extension SessionEvent.Standing {
    /// Why the vehicle does not join; nil if it may.
    var refusal: VehicleRefusal? {
        switch self {
        case .refusedAsBusy: .busy
        case .refusedAsNavigatingItself: .navigatesItself
        case .refusedAsNotAuthorized: .notAuthorized
        case .refused: .unrecognized
        case .joined, .awaited, .left: nil
        }
    }

    init(_ standing: VehicleStanding) {
        switch standing {
        case .joined: self = .joined
        case .awaited: self = .awaited
        case .refused(.vehicleBusy): self = .refusedAsBusy
        case .refused(.vehicleNavigatesItself): self = .refusedAsNavigatingItself
        case .refused(.notAuthorized): self = .refusedAsNotAuthorized
        case .refused: self = .refused
        case .left(let reason): self = .left(EndReason(reason))
        }
    }
}

extension SessionEvent {
    /// The event that a message of the gateway about one session stands for; nil if it is none.
    init?(_ message: Message) {
        switch message {
        case .vehicleChanged(let status):
            self = .vehicleChanged(
                vehicle: status.vehicle.rawValue, standing: Standing(status.standing),
                endpoints: status.endpoints.map(Endpoint.init))
        case .updateRouteSource(let update):
            self = .routeSource(vehicle: update.vehicle?.rawValue ?? "", update.routeSource)
        case .selectPreview(let selection):
            self = .previewSelected(
                vehicle: selection.source?.vehicle.rawValue ?? "",
                endpoint: selection.source?.endpoint.rawValue ?? "", trip: selection.trip.rawValue,
                routeChoice: selection.routeChoice)
        case .updateRouteFeedback(let update):
            self = .routeFeedback(vehicle: update.vehicle?.rawValue ?? "", update.feedback)
        case .destinationShareWanted(let wanted):
            self = .destinationWanted(
                vehicle: wanted.source?.vehicle.rawValue ?? "",
                endpoint: wanted.source?.endpoint.rawValue ?? "", trip: wanted.trip.rawValue)
        case .vehicleSettings(let settings):
            self = .settings(
                vehicle: settings.source?.vehicle.rawValue ?? "",
                endpoint: settings.source?.endpoint.rawValue ?? "", DisplaySettings(settings))
        case .zoomCluster(let zoom):
            self = .zoom(vehicle: zoom.source?.vehicle.rawValue ?? "", zoom.direction)
        case .alertResponse(let response):
            self = .alertResponse(
                vehicle: response.source?.vehicle.rawValue ?? "", alert: response.alert,
                AlertAnswer(response.response))
        case .vehicleExtension(let sent):
            self = .extensionReceived(
                vehicle: sent.source?.vehicle.rawValue ?? "",
                endpoint: sent.source?.endpoint.rawValue ?? "", name: sent.name.rawValue,
                content: sent.content)
        case .destinationShareStatus(let status):
            self = .shareResult(
                vehicle: status.vehicle.rawValue, shareID: status.shareID.rawValue, status.stage.result)
        case .receiptReport(let report):
            self = .received(
                sequence: report.endpoints.map(\.receipt.receivedSequence).min() ?? 0,
                receipts: report.endpoints.map(Receipt.init))
        default: return nil  // The others are answered, or are not for clients.
        }
    }
}

extension SessionEvent.Endpoint {
    init(_ status: EndpointStatus) {
        self.init(
            name: status.endpoint.rawValue, isReady: status.isReady, locale: status.locale,
            withheld: [GuidanceFeature: WithholdingReason](status.withheld))
    }
}

extension SessionEvent.AlertAnswer {
    init(_ response: AlertResponse.Response) {
        switch response {
        case .dismissed(let dismissal): self = .dismissed(dismissal)
        case .action(let action): self = .action(action)
        }
    }
}

extension SessionEvent.Receipt {
    init(_ receipt: EndpointReceipt) {
        self.init(
            vehicle: receipt.vehicle.rawValue, endpoint: receipt.endpoint.rawValue,
            received: receipt.receipt.receivedSequence, shown: receipt.receipt.shownSequence,
            receivedDelay: receipt.receivedDelayMicroseconds.map { .microseconds($0) },
            shownDelay: receipt.shownDelayMicroseconds.map { .microseconds($0) })
    }
}

extension DestinationShareStatus.Stage {
    /// nil while under way.
    var result: RequestResult? {
        switch self {
        case .willShare: nil
        case .didShare: .accepted
        case .didFailToShare(let outcome): RequestResult(outcome)
        }
    }
}
