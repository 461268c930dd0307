internal import WaymarkClient
internal import WaymarkInspector
internal import WaymarkModel
internal import WaymarkTexts

/// The limits and features of the inspector's endpoint of a vehicle, as a display.
struct ConnectedConfiguration: Sendable {
    let name: String
    let profile: ClusterProfile
}

/// What is done for a vehicle.
enum VehicleAction: Sendable {
    case waypoint(Waypoint, segment: String)
    case destination(Waypoint)
    case selectPreview(String, route: UInt32?)
    case startTrip(String, route: UInt32?)
    case withdraw(String)
    case cancel(CancellationReason)
    case allow
    case routeSource(RouteSource)
    case answerPrompt(String, Bool)
    case answerShare(String, RequestResult)
    case settings(DisplaySettings)
    /// The id of a trip preview; empty: the trip that is driven.
    case wantDestination(String)
    case zoom(ZoomDirection)
    case alert(UInt32, action: UInt32)
    /// A connection; without a configuration it only speaks.
    case connect(ConnectedConfiguration?)
    case disconnect

    /// - Throws: `invalid`, with the field.
    init(_ name: String, _ fields: JSONFields) throws(InspectorError) {
        switch name {
        case "waypoint":
            let segment = fields.has("segment") ? try fields.text("segment", max: 64) : ""
            self = .waypoint(try fields.waypoint("waypoint"), segment: segment)
        case "destination": self = .destination(try fields.waypoint("destination"))
        case "selectPreview":
            self = .selectPreview(try fields.text("tripID", max: 128), route: try Self.route(fields))
        case "startTrip":
            self = .startTrip(try fields.text("tripID", max: 128), route: try Self.route(fields))
        case "withdraw": self = .withdraw(try fields.text("requestID", max: 64))
        case "cancel":
            let reason = try fields.word("reason", of: CancellationReason.allCases.map { "\($0)" })
            self = .cancel(CancellationReason.allCases.first { "\($0)" == reason } ?? .userStopped)
        case "allow": self = .allow
        case "routeSource": self = .routeSource(try Self.value("routeSource", fields))
        case "answerPrompt":
            self = .answerPrompt(try fields.text("requestID", max: 64), try fields.flag("accepted"))
        case "answerShare":
            self = .answerShare(try fields.text("shareID", max: 64), try Self.outcome(fields))
        case "settings": self = .settings(try Self.settings(fields))
        case "wantDestination":
            self = .wantDestination(fields.has("trip") ? try fields.text("trip", max: 128) : "")
        case "zoom": self = .zoom(try Self.value("zoomDirection", fields))
        case "alert":
            let alert = UInt32(try fields.number("alertID", 0...Int(UInt32.max)))
            if fields.has("response") { _ = try fields.word("response", of: ["dismiss"]) }
            let action = fields.has("response") ? 0 : try fields.number("actionID", 1...Int(UInt32.max))
            self = .alert(alert, action: UInt32(action))
        case "connect": self = .connect(fields.has("profile") ? try Self.configuration(fields) : nil)
        default: self = .disconnect
        }
    }

    private static func configuration(
        _ fields: JSONFields
    ) throws(InspectorError) -> ConnectedConfiguration {
        let name = fields.has("profileName") ? try fields.text("profileName", max: 64) : "a configuration"
        let text = try fields.data("profile")
        do {
            return ConnectedConfiguration(name: name, profile: try ClusterProfile.parse(text, "profile"))
        } catch {
            throw InspectorError(.invalid, field: "profile", "\(error)")
        }
    }

    /// The id of a route choice; nil for 0 or none: the trip's selected one.
    private static func route(_ fields: JSONFields) throws(InspectorError) -> UInt32? {
        guard fields.has("routeChoice") else { return nil }
        let id = UInt32(try fields.number("routeChoice", 0...Int(UInt32.max)))
        return id == 0 ? nil : id
    }

    private static func value<Value: WireEnumeration>(
        _ name: String, _ fields: JSONFields
    ) throws(InspectorError) -> Value {
        let word = try fields.word(name, of: Value.allKnown.map(\.name))
        guard let value = Value.allKnown.first(where: { $0.name == word }) else {
            throw InspectorError(.invalid, field: name, "is not known")
        }
        return value
    }

    /// `accepted`, or one of the outcomes.
    private static func outcome(_ fields: JSONFields) throws(InspectorError) -> RequestResult {
        guard !fields.has("outcome") else {
            let word = try fields.word("outcome", of: RequestResult.allCases.map { "\($0)" })
            return RequestResult.allCases.first { "\($0)" == word } ?? .declinedByUser
        }
        return try fields.flag("accepted") ? .accepted : .declinedByUser
    }

    private static func settings(_ fields: JSONFields) throws(InspectorError) -> DisplaySettings {
        var settings = DisplaySettings()
        if fields.has("compass") { settings.compass = try self.value("compass", fields) }
        if fields.has("speedLimit") { settings.speedLimit = try self.value("speedLimit", fields) }
        if fields.has("contentStyle") { settings.contentStyle = try self.value("contentStyle", fields) }
        if fields.has("ready") { settings.isReadyToShow = try fields.flag("ready") }
        if fields.has("limitedUserInterfaces") {
            settings.limitedUserInterfaces = LimitableUserInterfaces(
                rawValue: UInt32(try fields.number("limitedUserInterfaces", 0...3)))
        }
        guard settings != DisplaySettings() else {
            throw InspectorError(.invalid, field: "action", "settings must name at least one setting")
        }
        return settings
    }

    /// Whether another program answers it, which can take long.
    var isAnswered: Bool {
        switch self {
        case .waypoint, .destination, .startTrip, .cancel: true
        case .selectPreview, .withdraw, .allow, .routeSource, .answerPrompt, .answerShare, .settings,
            .wantDestination, .zoom,
            .alert, .connect, .disconnect:
            false
        }
    }

    /// For people. `isRedacted`: without places.
    func text(isRedacted: Bool) -> String {
        switch self {
        case .waypoint(let place, _):
            isRedacted ? "asked for a stop" : "asked for a stop at \(Story.name(place))"
        case .destination(let place):
            isRedacted ? "asked for a drive" : "asked for a drive to \(Story.name(place))"
        case .selectPreview(let trip, let route): "selected \(Self.name(trip, route, isRedacted))"
        case .startTrip(let trip, let route): "asked to start \(Self.name(trip, route, isRedacted))"
        case .withdraw: "withdrew a request"
        case .cancel(let reason): "ended guidance: \(reason)"
        case .allow: "allowed clients to guide the vehicle"
        case .routeSource(let source): "route source: \(source.name)"
        case .answerPrompt(_, let isAccepted): isAccepted ? "accepted the stop" : "declined the stop"
        case .answerShare(_, let result): "answered the shared destination: \(result)"
        case .settings(let settings): "settings: \(settings)"
        case .wantDestination: "asked the client for the destination"
        case .zoom(let direction): "asked the client to zoom \(direction.name)"
        case .alert(_, let action):
            action == 0 ? "dismissed the alert" : "chose action \(action) of the alert"
        case .connect(let configuration): configuration.map { "connected as \($0.name)" } ?? "connected"
        case .disconnect: "disconnected"
        }
    }

    private static func name(_ trip: String, _ route: UInt32?, _ isRedacted: Bool) -> String {
        isRedacted ? "a trip" : "the trip \(trip)" + (route.map { ", route \($0)" } ?? "")
    }
}
