internal import Foundation
internal import WaymarkClient
internal import WaymarkGateway
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkTexts

/// Why a cell is empty or cut.
struct Reason: Sendable {
    enum Side: String, Sendable { case published, held }
    enum Kind: String, Sendable, CaseIterable {
        case withheld, notPublished, slots, fitted, conflated, underWay, hidden, noSession
    }

    let side: Side
    var path: String
    let kind: Kind
    let text: String
    var next = ""
    var feature: GuidanceFeature?
    var code: WithholdingReason?
    var limit = ""
    var value: UInt64?

    init(_ side: Side, _ path: String, _ kind: Kind, _ text: String) {
        (self.side, self.path, self.kind, self.text) = (side, path, kind, text)
    }

    var answer: Answer.Reason {
        let value = self.value.map { Int(clamping: $0) }
        return Answer.Reason(
            side: self.side.rawValue, path: self.path, reason: self.kind.rawValue, text: self.text,
            next: self.next.isEmpty ? nil : self.next, feature: self.feature?.rawValue,
            code: self.code?.rawValue, limit: self.limit.isEmpty ? nil : self.limit,
            sequence: self.kind == .underWay ? value : nil, count: self.kind == .conflated ? value : nil,
            value: [.underWay, .conflated].contains(self.kind) ? nil : value)
    }
}

extension Reason {
    /// A feature that is withheld from the endpoint.
    static func withheld(_ path: String, _ feature: GuidanceFeature, _ code: WithholdingReason) -> Reason {
        var reason = Reason(.held, path, .withheld, "\(feature.phrase): \(code.phrase)")
        (reason.feature, reason.code, reason.next) = (feature, code, code.next(feature))
        return reason
    }

    static func limited(
        _ path: String, _ kind: Kind, _ limit: String, _ value: UInt32, _ text: String
    ) -> Reason {
        var reason = Reason(.held, path, kind, text)
        (reason.limit, reason.value) = (limit, UInt64(value))
        return reason
    }
}

extension GuidanceFeature {
    /// What it is, in words.
    package var phrase: String {
        switch self {
        case .maneuvers: "maneuvers"
        case .laneGuidance: "lanes to take"
        case .exitLabels: "names of exits"
        case .currentRoadName: "the name of the road"
        case .routeSegments: "the line of the route"
        case .destinationSharing: "shared destinations"
        case .navigationAlerts: "alerts"
        case .charge: "charging stops and batteries"
        case .timeZone: "the time zone of the arrival"
        case .tripPreviews: "trips to choose from"
        case .requests: "requests of the vehicle"
        case .prompts: "questions to the vehicle's user"
        case .waypointRequests: "requests for a stop"
        case .destinationRequests: "requests for a drive"
        case .receipts: "receipts"
        case .resumption: "resumption after a lost connection"
        case .speedLimit: "speed limits"
        case .tripRequests: "requests to start a trip"
        case .simulatedDrives: "simulated drives"
        }
    }

    /// The keys of the state that it is about.
    var stateKeys: [String] {
        switch self {
        case .maneuvers: ["maneuvers", "upcomingManeuvers", "maneuverEstimates"]
        case .laneGuidance: ["laneGuidances", "currentLaneGuidance"]
        case .currentRoadName: ["currentRoadName"]
        case .routeSegments: ["segments", "currentSegment"]
        case .navigationAlerts: ["alert"]
        case .tripPreviews: ["previews", "selectedPreview"]
        case .speedLimit: ["speedLimit", "nextSpeedLimit"]
        default: []
        }
    }
}

extension WithholdingReason {
    /// Why, in words.
    package var phrase: String {
        switch self {
        case .notRequested: "the endpoint has not asked for it"
        case .noCapacity: "the endpoint, or the gateway, has no room for it"
        case .clientDoesNotProvide: "the client that guides does not provide it"
        case .tripOptedOut: "the trip does not share it"
        case .noConsent: "the user has not agreed to share it"
        case .policy: "the operator of the gateway withholds it"
        case .vehicleDoesNotWant: "the vehicle says that it does not show it now"
        case .unspecified: "the gateway gave no reason"
        }
    }

    /// What to do about it.
    func next(_ feature: GuidanceFeature) -> String {
        switch self {
        case .notRequested: "Add \(feature.rawValue) to the features of the endpoint's Hello."
        case .noCapacity:
            "Raise limits.profiles-per-session of waymarkd, or let endpoints have the same limits."
        case .clientDoesNotProvide: "Add \(feature.rawValue) to the features of the client's Hello."
        case .tripOptedOut:
            feature == .routeSegments
                ? "The client sets routeSegmentsAvailable of the trip."
                : "The client sets isDestinationShareable of the trip."
        case .noConsent: "Add the vehicle to route-sharing-vehicles in the settings of waymarkd."
        case .vehicleDoesNotWant:
            "The endpoint sets speedLimit of its settings to another value than disabled."
        case .policy: "Remove \(feature.rawValue) from withheld-features in the settings of waymarkd."
        case .unspecified: ""
        }
    }
}

/// Compares what is published with what an endpoint holds, and says why they differ.
struct ReasonFinder {
    private let picture: VehiclePicture
    private let states: PictureStates
    private let source: InspectedSource
    private var reasons: [Reason] = []

    /// More are left out.
    static let countMax = 1_000

    static func reasons(
        _ picture: VehiclePicture, _ states: PictureStates, _ source: InspectedSource
    ) -> [Reason] {
        var finder = ReasonFinder(picture: picture, states: states, source: source)
        finder.find()
        return Array(finder.reasons.prefix(Self.countMax))
    }

    private init(picture: VehiclePicture, states: PictureStates, source: InspectedSource) {
        (self.picture, self.states, self.source) = (picture, states, source)
    }

    private mutating func find() {
        guard let published = self.picture.published else { return self.noSession() }
        self.notPublished(published)
        if let held = self.picture.held, let endpoint = self.picture.endpoint {
            self.held(published, held, endpoint)
        }
        // What concerns everything is behind what concerns one cell.
        if !self.source.showsContent { self.reasons.append(self.hidden("")) }
    }

    private func hidden(_ path: String) -> Reason {
        var reason = Reason(
            .published, path, .hidden,
            self.source.isRedacted
                ? "places and texts are removed by --redact"
                : "places and texts are hidden by the settings of the listener")
        reason.next = self.source.isRedacted ? "" : "`observe: content` of the listener shows them."
        return reason
    }

    private mutating func held(_ published: VehicleState, _ held: VehicleState, _ endpoint: EndpointRecord) {
        self.withheld()
        self.maneuvers(published, held, endpoint)
        self.laneGuidances(published, held, endpoint)
        self.texts(published, held, endpoint)
        self.segments(published, held, endpoint)
        self.others(held, endpoint)
        self.arrival(endpoint)
    }

    private mutating func noSession() {
        var text = "no client guides the vehicle"
        var next = "A client opens a session for it, e.g. `waymark navigate --vehicle \(self.picture.id)`."
        if let record = self.picture.record {
            if record.navigatesItself {
                text = "the vehicle navigates by itself"
                next = "It allows guidance again, e.g. `waymark request allow --id \(self.picture.id)`."
            } else if record.hasStopped {
                text = "the vehicle's user ended guidance"
                next = "The vehicle asks for guidance again."
            } else if record.session != .none {
                text = "a session waits for the vehicle"
                next = "An endpoint of the vehicle connects."
            }
        }
        var reason = Reason(.published, "", .noSession, text)
        reason.next = next
        self.reasons.append(reason)
    }

    private mutating func notPublished(_ state: VehicleState) {
        let client = self.picture.session?.client.rawValue ?? "the client"
        func note(_ path: String, _ isEmpty: Bool, _ text: String) -> Reason? {
            isEmpty ? Reason(.published, path, .notPublished, text) : nil
        }
        let hasSegments = state.trip?.routeSegmentsAvailable ?? true
        self.reasons += [
            note("trip", state.trip == nil, "\(client) has not begun guidance"),
            note("maneuvers", state.maneuvers.isEmpty, "\(client) has published no maneuvers"),
            note(
                "upcomingManeuvers", state.upcomingManeuvers.isEmpty,
                "\(client) says that no maneuver is upcoming"),
            note("laneGuidances", state.laneGuidances.isEmpty, "\(client) has published no lane guidance"),
            note(
                "currentLaneGuidance", state.currentLaneGuidance == nil,
                "\(client) says that no lanes are to be shown now"),
            note(
                "segments", state.segments.isEmpty,
                hasSegments
                    ? "\(client) has published no segments"
                    : "the trip says that no route segments are available"),
            // Without texts, it is empty in any case.
            state.currentRoadName.isEmpty && !self.source.showsContent
                ? self.hidden("currentRoadName")
                : note(
                    "currentRoadName", state.currentRoadName.isEmpty,
                    "\(client) has not published the name of the road"),
            note(
                "tripEstimates", state.tripEstimates == nil,
                "\(client) has published no estimates of the trip"),
            note(
                "maneuverEstimates", state.maneuverEstimates.isEmpty,
                "\(client) has published no estimates of a maneuver"),
            note(
                "speedLimit", state.speedLimit == nil, "\(client) has published no speed limit"),
            note(
                "nextSpeedLimit", state.nextSpeedLimit == nil,
                "\(client) says that no other speed limit is known ahead"),
            note("previews", state.previews.isEmpty, "\(client) offers no trips"),
            note("alert", state.alert == nil, "\(client) shows no alert"),
        ].compactMap(\.self)
    }

    private mutating func arrival(_ endpoint: EndpointRecord) {
        if self.picture.isUnderWay {
            let newest = self.picture.sentSequence
            var reason = Reason(
                .held, "", .underWay,
                "the endpoint has confirmed up to \(endpoint.receipt?.receivedSequence ?? 0) of \(newest)")
            reason.value = newest
            self.reasons.append(reason)
        }
        guard let connection = endpoint.connection,
            let measure = self.source.measures.connections[connection],
            self.source.measures.hasConflated(connection)
        else { return }
        var reason = Reason(
            .held, "", .conflated,
            "\(measure.conflated) states were replaced by newer ones while they waited for the endpoint to read"
        )
        reason.value = measure.conflated
        self.reasons.append(reason)
    }

    private mutating func withheld() {
        for (feature, code) in self.picture.withheld.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            for key in feature.stateKeys { self.reasons.append(.withheld(key, feature, code)) }
        }
    }

    // MARK: Elements

    private func reason(_ feature: GuidanceFeature, _ path: String) -> Reason? {
        self.picture.withheld[feature].map { .withheld(path, feature, $0) }
    }

    private mutating func maneuvers(
        _ published: VehicleState, _ held: VehicleState, _ endpoint: EndpointRecord
    ) {
        guard self.picture.withheld[.maneuvers] == nil else { return }
        let known = Dictionary(held.maneuvers.map { ($0.id, $0) }) { $1 }
        let limits = endpoint.limits
        let next = published.upcomingManeuvers.first
        let nextIndex = published.maneuvers.firstIndex { $0.id == next } ?? 0
        for (index, maneuver) in published.maneuvers.enumerated() {
            let path = "maneuvers/\(maneuver.id.rawValue)"
            guard let mine = known[maneuver.id] else {
                var reason = Reason.limited(
                    path, .slots, "maneuversStored", limits.maneuversStoredMax,
                    "the endpoint stores \(limits.maneuversStoredMax) maneuvers, and this is not among the next ones"
                )
                if index >= nextIndex {
                    reason.next = "It is sent when it is among the next \(limits.maneuversStoredMax)."
                }
                self.reasons.append(reason)
                continue
            }
            guard mine != maneuver else { continue }
            self.variants(
                path + "/instructionVariants", maneuver.instructionVariants, mine.instructionVariants,
                "maneuverInstruction", limits.maneuverInstructionLengthMax)
            self.variants(
                path + "/roadFollowingManeuverVariants", maneuver.roadFollowingManeuverVariants,
                mine.roadFollowingManeuverVariants, "roadFollowingManeuver",
                limits.roadFollowingManeuverLengthMax)
            if mine.highwayExitLabel != maneuver.highwayExitLabel {
                self.reasons += [self.reason(.exitLabels, path + "/highwayExitLabel")].compactMap(\.self)
            }
            if mine.linkedLaneGuidance != maneuver.linkedLaneGuidance {
                self.reasons += [self.reason(.laneGuidance, path + "/linkedLaneGuidance")].compactMap(\.self)
            }
            if mine.initialTravelEstimates != maneuver.initialTravelEstimates {
                self.units(path + "/initialTravelEstimates", endpoint)
            }
        }
    }

    private mutating func laneGuidances(
        _ published: VehicleState, _ held: VehicleState, _ endpoint: EndpointRecord
    ) {
        guard self.picture.withheld[.laneGuidance] == nil else { return }
        let known = Dictionary(held.laneGuidances.map { ($0.id, $0) }) { $1 }
        let limits = endpoint.limits
        for guidance in published.laneGuidances {
            let path = "laneGuidances/\(guidance.id.rawValue)"
            guard let mine = known[guidance.id] else {
                self.reasons.append(
                    .limited(
                        path, .slots, "laneGuidancesStored", limits.laneGuidancesStoredMax,
                        "the endpoint stores \(limits.laneGuidancesStoredMax) lane guidances, and this is not among the next ones"
                    ))
                continue
            }
            self.variants(
                path + "/instructionVariants", guidance.instructionVariants, mine.instructionVariants,
                "laneInstruction", limits.laneInstructionLengthMax)
        }
    }

    private mutating func segments(
        _ published: VehicleState, _ held: VehicleState, _ endpoint: EndpointRecord
    ) {
        guard self.picture.withheld[.routeSegments] == nil else { return }
        if let longest = self.picture.content?.longestRouteFrame, longest > self.frameBytesMax {
            self.reasons.append(
                .limited(
                    "segments", .fitted, "frameBytes", endpoint.receiveFrameBytesMax,
                    "a frame of \(longest) bytes is longer than the \(self.frameBytesMax) that are sent to the endpoint: it is sent in parts, and lines that do not fit are thinned"
                ))
        }
        let known = Dictionary(held.segments.map { ($0.id, $0) }) { $1 }
        for segment in published.segments {
            guard let mine = known[segment.id] else { continue }
            if mine.speedLimits.count != segment.speedLimits.count {
                self.reasons += [self.reason(.speedLimit, "segments/\(segment.id)/speedLimits")].compactMap(
                    \.self)
            }
            guard mine.coordinates != segment.coordinates else { continue }
            let pointsMax = endpoint.limits.routeSegmentPointsMax
            let isByPoints = pointsMax > 0 && mine.coordinates.count >= Int(pointsMax)
            let isByBytes = self.frameBytesMax < .max && !isByPoints
            self.reasons.append(
                .limited(
                    "segments/\(segment.id)/coordinates", .fitted,
                    isByBytes ? "frameBytes" : "routeSegmentPoints",
                    isByBytes ? endpoint.receiveFrameBytesMax : pointsMax,
                    "thinned from \(segment.coordinates.count) points to \(mine.coordinates.count)"))
        }
    }

    /// What differs and has no reason yet.
    private mutating func others(_ held: VehicleState, _ endpoint: EndpointRecord) {
        var differences = JSONDifferences()
        differences.find(self.states.published ?? [:], self.states.held ?? [:])
        let converts = endpoint.preferences.distanceUnits != .asPublished
        for path in differences.found.map(\.path) where path != "withheld" {
            let isExplained = self.reasons.contains { reason in
                reason.side == .held && !reason.path.isEmpty
                    && ("\(path)/".hasPrefix("\(reason.path)/") || reason.path.hasPrefix("\(path)/"))
            }
            guard !isExplained else { continue }
            let parts = path.split(separator: "/")
            let element = parts.prefix(2).joined(separator: "/")
            let id = parts.dropFirst().first.flatMap { UInt32($0) }
            switch parts.first {
            case "upcomingManeuvers": self.outOfSlots(path, endpoint)
            case "maneuverEstimates" where !held.maneuvers.contains { $0.id.rawValue == id }:
                self.outOfSlots(element, endpoint)
            case "maneuverEstimates" where converts: self.units(element, endpoint)
            case _ where converts && path.contains("display"): self.units(path, endpoint)
            case _ where self.frameBytesMax < .max: self.shortened(path)
            default:
                self.reasons.append(
                    Reason(.held, path, .fitted, "cut to the limits of the endpoint by the rules of fitting"))
            }
        }
    }

    private mutating func outOfSlots(_ path: String, _ endpoint: EndpointRecord) {
        let countMax = endpoint.limits.maneuversStoredMax
        self.reasons.append(
            .limited(
                path, .slots, "maneuversStored", countMax, "the endpoint stores \(countMax) maneuvers"))
    }

    private mutating func texts(
        _ published: VehicleState, _ held: VehicleState, _ endpoint: EndpointRecord
    ) {
        let limits = endpoint.limits
        if self.picture.withheld[.currentRoadName] == nil {
            self.variants(
                "currentRoadName", published.currentRoadName, held.currentRoadName, "currentRoadName",
                limits.currentRoadNameLengthMax)
        }
        if held.tripEstimates != published.tripEstimates { self.units("tripEstimates", endpoint) }
        if self.picture.withheld[.speedLimit] == nil, held.nextSpeedLimit != published.nextSpeedLimit {
            self.units("nextSpeedLimit", endpoint)
        }
        if let alert = published.alert, let mine = held.alert {
            self.variants(
                "alert/titleVariants", alert.titleVariants, mine.titleVariants, "alertText",
                limits.alertTextLengthMax)
            self.variants(
                "alert/subtitleVariants", alert.subtitleVariants, mine.subtitleVariants, "alertText",
                limits.alertTextLengthMax)
        }
        guard let trip = published.trip, let mine = held.trip else { return }
        self.place("trip/origin", trip.origin, mine.origin, limits)
        self.place("trip/destination", trip.destination, mine.destination, limits)
        for (index, (theirs, mine)) in zip(trip.waypoints, mine.waypoints).enumerated() {
            self.place("trip/waypoints/\(index)", theirs, mine, limits)
        }
    }

    private mutating func place(_ path: String, _ theirs: Waypoint, _ mine: Waypoint, _ limits: VehicleLimits)
    {
        let limit = limits.destinationNameLengthMax
        self.variants(
            path + "/nameVariants", theirs.nameVariants, mine.nameVariants, "destinationName", limit)
        self.variants(
            path + "/addressVariants", theirs.addressVariants, mine.addressVariants, "destinationName", limit)
        if theirs.charge != mine.charge {
            self.reasons += [self.reason(.charge, path + "/charge")].compactMap(\.self)
        }
        if theirs.timeZone != mine.timeZone || theirs.utcOffsetMinutes != mine.utcOffsetMinutes {
            self.reasons += [self.reason(.timeZone, path + "/timeZone")].compactMap(\.self)
        }
    }

    // MARK: Values

    private mutating func variants(
        _ path: String, _ theirs: [String], _ mine: [String], _ limit: String, _ value: UInt32
    ) {
        guard mine != theirs else { return }
        let fitting = mine.filter { theirs.contains($0) }
        guard value > 0, theirs.contains(where: { $0.count > Int(value) }) else {
            return self.shortened(path)
        }
        let unit = "\(value) characters"
        var reason = Reason.limited(
            path, .fitted, limit, value,
            fitting.isEmpty
                ? mine.isEmpty
                    ? "nothing fits into \(unit)" : "no variant fits into \(unit): the shortest is cut"
                : "\(fitting.count) of \(theirs.count) variants fit\(fitting.count == 1 ? "s" : "") into \(unit)"
        )
        if fitting.isEmpty { reason.next = "The client can publish a variant of at most \(unit)." }
        self.reasons.append(reason)
    }

    /// The size of the largest frame that the endpoint is sent.
    private var frameBytesMax: Int { self.picture.profile?.frameBytesMax ?? .max }

    /// Texts or lines were left out, so that a frame is not too long.
    private mutating func shortened(_ path: String) {
        guard self.frameBytesMax < .max, let endpoint = self.picture.endpoint else { return }
        self.reasons.append(
            .limited(
                path, .fitted, "frameBytes", endpoint.receiveFrameBytesMax,
                "shortened, so that its frame has at most \(self.frameBytesMax) bytes"))
    }

    private mutating func units(_ path: String, _ endpoint: EndpointRecord) {
        self.reasons.append(
            Reason(
                .held, path, .fitted,
                "distances are converted to \(endpoint.preferences.distanceUnits.name), as the endpoint asks")
        )
    }
}
