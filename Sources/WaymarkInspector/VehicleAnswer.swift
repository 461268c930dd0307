internal import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// Everything about one vehicle at one time.
struct VehicleAnswer {
    private let picture: VehiclePicture
    private let source: InspectedSource
    private let state: RecordedState
    /// nil: now, or at the end.
    private let time: RecordingTime?
    private let states: PictureStates
    private let reasons: [Reason]
    private let lines: RouteLines

    init(
        _ picture: VehiclePicture, _ source: InspectedSource, _ state: RecordedState, at time: RecordingTime?
    ) {
        (self.picture, self.source, self.state, self.time) = (picture, source, state, time)
        self.states = PictureStates(picture)
        self.reasons = ReasonFinder.reasons(picture, self.states, source)
        self.lines = picture.content?.lines ?? RouteLines([])
    }

    private var shown: VehicleState? { self.picture.held ?? self.picture.published }

    /// `basis`: how it is known what the endpoint holds.
    func object(isPreview: Bool = false) -> [String: Any] {
        let records = RecordObjects(source: self.source, state: self.state)
        var object: [String: Any] = [
            "number": Int(clamping: self.state.gateway.number), "why": self.reasons.map(\.object),
        ]
        if let record = self.picture.record {
            var vehicle = records.object(record)
            if isPreview { vehicle["endpoints"] = nil }
            object["vehicle"] = vehicle
        }
        object.set("client", self.picture.client.map(records.object))
        object.set("session", self.picture.session.map(records.object))
        guard let content = self.picture.content else { return object }
        object["routeKey"] = "\(content.state.session)-\(content.state.generation)-\(content.routeKey)"
        object.set("published", self.states.published)
        if let held = self.states.held, let endpoint = self.picture.endpoint {
            object["held"] = held
            object["heldBy"] = self.holder(endpoint, content, isPreview: isPreview)
        }
        object.set("card", self.card)
        object.set("arrival", self.arrival(content.state))
        object.set("position", self.position)
        object.set(nonEmpty: "batteries", Self.batteries(content.state))
        return object
    }

    private func holder(
        _ endpoint: EndpointRecord, _ content: DecodedContent, isPreview: Bool
    ) -> [String: Any] {
        var object: [String: Any] = [
            "endpoint": isPreview ? "preview" : endpoint.endpoint.rawValue, "basis": "computed",
            "published": Int(clamping: content.sequence), "derived": true,
            "sent": Int(clamping: self.picture.sentSequence),
            "text": "what is published, cut to this endpoint's profile by the rules of the gateway",
        ]
        object.set("received", endpoint.receipt.map { Int(clamping: $0.receivedSequence) })
        if let connection = endpoint.connection, self.source.hasMeasures, !isPreview {
            let measure = self.source.measures.connections[connection]
            object["waitingBytes"] = Int(clamping: measure?.waitingBytes ?? 0)
            object["conflated"] = Int(clamping: measure?.conflated ?? 0)
        }
        return object
    }

    /// The next maneuver as the endpoint shows it.
    private var card: [String: Any]? {
        guard let state = self.shown, let next = state.nextManeuver else { return nil }
        let glyph = ManeuverGlyph(next)
        let original = self.picture.published?.maneuvers.first { $0.id == next.id } ?? next
        var object: [String: Any] = [
            "maneuver": Int(next.id.rawValue), "variants": original.instructionVariants,
            "maneuverState": state.maneuverState.name, "glyph": glyph.object, "text": glyph.text,
        ]
        object.set("chosenVariant", next.instructionVariants.first)
        object.set("road", next.roadFollowingManeuverVariants.first)
        object.set(nonEmpty: "exitLabel", next.highwayExitLabel)
        object.set("lanes", state.currentLaneGuidance.map { Int($0.rawValue) })
        if let estimates = state.maneuverEstimates[next.id] {
            object["distanceMeters"] = Int(estimates.distanceRemaining.meters)
            object.set("timeSeconds", estimates.timeRemaining.map { Int($0.components.seconds) })
            object.set("display", estimates.distanceRemainingToDisplay.map(StateObjects.display))
        }
        return object
    }

    private func arrival(_ state: VehicleState) -> [String: Any]? {
        if let published = self.picture.session.flatMap({ self.state.estimated[$0.session] }) {
            return Self.arrival(state, published)
        }
        var object = Self.arrival(state, min(self.time ?? self.source.end, self.source.end))
        object?["basis"] = "the time that is left, from the time shown: when it was published is not known"
        return object
    }

    /// `published`: when the estimates were.
    static func arrival(_ state: VehicleState, _ published: RecordingTime) -> [String: Any]? {
        guard let left = state.tripEstimates?.timeRemaining else { return nil }
        var object: [String: Any] = [
            "time": JSON.time((published + left).date), "derived": true,
            "basis": "the time that is left, from when it was published",
        ]
        object.set("utcOffsetMinutes", state.trip?.destination.utcOffsetMinutes.map { Int($0) })
        object.set(nonEmpty: "timeZone", state.trip?.destination.timeZone ?? "")
        return object
    }

    /// Where the vehicle is, derived; the protocol does not say it.
    var position: [String: Any]? {
        guard let left = self.picture.published?.tripEstimates?.distanceRemaining.meters,
            let length = self.lines.length, let place = self.lines.position(metersLeft: Double(left))
        else { return nil }
        return [
            "coordinate": ModelJSON.coordinate(place.coordinate), "segment": place.segment, "derived": true,
            "basis": "the point of the line at its length minus the distance that is left",
            "lengthMeters": Int(length.rounded()), "distanceLeftMeters": Int(left),
        ]
    }

    static func batteries(_ state: VehicleState) -> [String: Any] {
        let stops = (state.trip?.waypoints ?? []) + [state.trip?.destination].compactMap(\.self)
        guard let charge = stops.lazy.compactMap(\.charge).first else { return [:] }
        var object: [String: Any] = [:]
        object.set("arrivalPerMille", charge.arrivalBatteryPerMille.map { Int($0) })
        object.set("departurePerMille", charge.departureBatteryPerMille.map { Int($0) })
        return object
    }

    // MARK: Tables

    /// Rows of maneuvers, lane guidances and segments; destinations are history.
    func tables() -> [String: Any] {
        var object: [String: Any] = [
            "maneuvers": self.maneuvers, "laneGuidances": self.laneGuidances, "segments": self.segments,
            "stops": (self.picture.published?.trip?.waypoints ?? []).map(ModelJSON.waypoint),
        ]
        if let content = self.picture.content {
            object["routeKey"] = "\(content.state.session)-\(content.state.generation)-\(content.routeKey)"
        }
        object.set("routeSource", self.picture.record?.routeSource?.name)
        return object
    }

    /// The reasons below a path, and for all of the key; their paths are those in the row.
    private func why(_ key: String, _ id: String) -> [[String: Any]] {
        let path = "\(key)/\(id)"
        return self.reasons.compactMap { reason in
            var reason = reason
            if reason.path == path || (reason.path == key && reason.side == .held) {
                reason.path = ""
            } else if reason.path.hasPrefix(path + "/") {
                reason.path = String(reason.path.dropFirst(path.count + 1))
            } else {
                return nil
            }
            return reason.object
        }
    }

    private var maneuvers: [[String: Any]] {
        guard let content = self.picture.content else { return [] }
        let state = content.state
        let held = Dictionary((self.picture.held?.maneuvers ?? []).map { ($0.id, $0) }) { $1 }
        let next = state.upcomingManeuvers.first
        let nextIndex = state.maneuvers.firstIndex { $0.id == next }
        let places = self.lines.places(of: state.maneuvers)
        return state.maneuvers.enumerated().map { index, maneuver in
            let glyph = ManeuverGlyph(maneuver)
            let standing =
                maneuver.id == next
                ? "current"
                : nextIndex.map { index > $0 } ?? true ? "upcoming" : "past"
            var row: [String: Any] = [
                "order": index + 1, "id": Int(maneuver.id.rawValue), "state": standing,
                "published": ModelJSON.maneuver(maneuver), "glyph": glyph.object, "text": glyph.text,
                "why": self.why("maneuvers", "\(maneuver.id.rawValue)"),
            ]
            row.set("addedBy", content.maneuverSequences[maneuver.id].map { Int(clamping: $0) })
            row.set("estimates", state.maneuverEstimates[maneuver.id].map(ModelJSON.estimates))
            if let mine = held[maneuver.id] {
                row["held"] = ModelJSON.maneuver(mine)
                row.set(
                    "chosenVariant",
                    mine.instructionVariants.first.flatMap { maneuver.instructionVariants.firstIndex(of: $0) }
                )
            }
            row.set(
                "distanceFromPreviousMeters",
                maneuver.initialTravelEstimates.map { Int($0.distanceRemaining.meters) })
            if let place = places[maneuver.id] {
                row["at"] = ModelJSON.coordinate(place.coordinate)
                row["segment"] = place.segment
                row["derived"] = ["at", "segment"]
            }
            return row
        }
    }

    private var laneGuidances: [[String: Any]] {
        guard let content = self.picture.content else { return [] }
        let state = content.state
        let held = Dictionary((self.picture.held?.laneGuidances ?? []).map { ($0.id, $0) }) { $1 }
        return state.laneGuidances.enumerated().map { index, guidance in
            var row: [String: Any] = [
                "order": index + 1, "id": Int(guidance.id.rawValue),
                "current": guidance.id == state.currentLaneGuidance,
                "linkedFrom": state.maneuvers.filter { $0.linkedLaneGuidance == guidance.id }
                    .map { Int($0.id.rawValue) },
                "published": ModelJSON.laneGuidance(guidance), "text": guidance.lanesInWords,
                "why": self.why("laneGuidances", "\(guidance.id.rawValue)"),
            ]
            row.set("held", held[guidance.id].map(ModelJSON.laneGuidance))
            row.set("addedBy", content.laneGuidanceSequences[guidance.id].map { Int(clamping: $0) })
            return row
        }
    }

    private var segments: [[String: Any]] {
        guard let state = self.picture.published else { return [] }
        let held = Dictionary((self.picture.held?.segments ?? []).map { ($0.id, $0) }) { $1 }
        return state.segments.enumerated().map { index, segment in
            var points: [String: Any] = ["published": segment.coordinates.count]
            points.set("held", held[segment.id]?.coordinates.count)
            var row = StateObjects.segment(segment)
            row["order"] = index + 1
            row["current"] = segment.id == state.currentSegment
            row["points"] = points
            row["why"] = self.why("segments", segment.id)
            if let length = self.lines.length(of: segment.id) {
                row["lengthMeters"] = Int(length.rounded())
                row["derived"] = ["lengthMeters"]
            }
            return row
        }
    }

    // MARK: Lines

    /// Points of all lines of an answer.
    private static let pointsMax = 100_000

    func route() -> [String: Any] {
        guard let content = self.picture.content else {
            return ["segments": [Any](), "maneuvers": [Any](), "places": [Any]()]
        }
        let state = content.state
        let held = Dictionary((self.picture.held?.segments ?? []).map { ($0.id, $0) }) { $1 }
        let count =
            state.segments.reduce(0) { $0 + $1.coordinates.count }
            + held.values.reduce(0) { $0 + $1.coordinates.count }
        let step = count <= Self.pointsMax ? 1 : (count + Self.pointsMax - 1) / Self.pointsMax
        func coordinates(_ segment: RouteSegment) -> [String: Any] {
            let last = segment.coordinates.count - 1
            let points = segment.coordinates.enumerated().filter {
                $0.offset % step == 0 || $0.offset == last
            }
            return ["coordinates": points.map { ModelJSON.coordinate($0.element) }]
        }
        var object: [String: Any] = [
            "routeKey": "\(state.session)-\(state.generation)-\(content.routeKey)", "truncated": step > 1,
            "segments": state.segments.map { segment in
                var object: [String: Any] = [
                    "id": segment.id, "current": segment.id == state.currentSegment,
                    "published": coordinates(segment), "why": self.why("segments", segment.id),
                ]
                object.set("held", held[segment.id].map(coordinates))
                return object
            },
            "maneuvers": self.lines.places(of: state.maneuvers).sorted { $0.key < $1.key }.map { id, place in
                [
                    "id": Int(id.rawValue), "coordinate": ModelJSON.coordinate(place.coordinate),
                    "segment": place.segment, "derived": true,
                ] as [String: Any]
            },
            "places": Self.places(state.trip),
        ]
        object.set("position", self.position)
        let all = state.segments.flatMap(\.coordinates) + Self.centers(state.trip)
        if let first = all.first {
            var bounds = (first.latitude, first.longitude, first.latitude, first.longitude)
            for point in all {
                bounds = (
                    min(bounds.0, point.latitude), min(bounds.1, point.longitude),
                    max(bounds.2, point.latitude), max(bounds.3, point.longitude)
                )
            }
            object["bounds"] = [[bounds.0, bounds.1], [bounds.2, bounds.3]]
        }
        return object
    }

    private static func centers(_ trip: Trip?) -> [Coordinate] {
        guard let trip else { return [] }
        return [trip.origin.center, trip.destination.center] + trip.waypoints.map(\.center)
    }

    private static func places(_ trip: Trip?) -> [[String: Any]] {
        guard let trip else { return [] }
        let all =
            [("origin", trip.origin)] + trip.waypoints.map { ("stop", $0) }
            + [("destination", trip.destination)]
        return all.map { role, waypoint in ModelJSON.waypoint(waypoint).merging(["role": role]) { $1 } }
    }
}

/// States as JSON objects, without the lines of routes.
enum StateObjects {
    static func object(_ state: VehicleState) -> [String: Any] {
        var short = state
        for index in short.segments.indices { short.segments[index].coordinates = [] }
        var object = ClusterJSON.object(short)
        object["segments"] = state.segments.map(self.segment)
        return object
    }

    /// With `points` in place of its line.
    static func segment(_ segment: RouteSegment) -> [String: Any] {
        var short = segment
        short.coordinates = []
        var object = ModelJSON.segment(short)
        object["coordinates"] = nil
        object["points"] = segment.coordinates.count
        return object
    }

    static func display(_ display: DisplayDistance) -> [String: Any] {
        ["tenths": Int(display.valueTenths), "unit": display.unit.name]
    }
}
