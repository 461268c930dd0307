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
    func answer(isPreview: Bool = false) -> Answer.Vehicle {
        let records = RecordObjects(source: self.source, state: self.state)
        var answer = Answer.Vehicle(
            number: Int(clamping: self.state.gateway.number), why: self.reasons.map(\.answer),
            vehicle: self.picture.record.map(records.object), client: self.picture.client.map(records.object),
            session: self.picture.session.map(records.object))
        if isPreview { answer.vehicle?.endpoints = nil }
        guard let content = self.picture.content else { return answer }
        answer.routeKey = Self.routeKey(content)
        answer.published = self.states.published.map { JSONPart($0) }
        if let held = self.states.held, let endpoint = self.picture.endpoint {
            answer.held = JSONPart(held)
            answer.heldBy = self.holder(endpoint, content, isPreview: isPreview)
        }
        answer.card = self.card
        answer.arrival = self.arrival(content.state)
        answer.position = self.position
        let batteries = Self.batteries(content.state)
        answer.batteries = batteries == Answer.Batteries() ? nil : batteries
        return answer
    }

    private static func routeKey(_ content: DecodedContent) -> String {
        "\(content.state.session)-\(content.state.generation)-\(content.routeKey)"
    }

    private func holder(
        _ endpoint: EndpointRecord, _ content: DecodedContent, isPreview: Bool
    ) -> Answer.Holder {
        var holder = Answer.Holder(
            endpoint: isPreview ? "preview" : endpoint.endpoint.rawValue, basis: "computed",
            published: Int(clamping: content.sequence), derived: true,
            sent: Int(clamping: self.picture.sentSequence),
            text: "what is published, cut to this endpoint's profile by the rules of the gateway",
            received: endpoint.receipt.map { Int(clamping: $0.receivedSequence) })
        if let connection = endpoint.connection, self.source.hasMeasures, !isPreview {
            let measure = self.source.measures.connections[connection]
            holder.waitingBytes = Int(clamping: measure?.waitingBytes ?? 0)
            holder.conflated = Int(clamping: measure?.conflated ?? 0)
        }
        return holder
    }

    private var card: Answer.Card? {
        guard let state = self.shown, let next = state.nextManeuver else { return nil }
        let glyph = ManeuverGlyph(next)
        let original = self.picture.published?.maneuvers.first { $0.id == next.id } ?? next
        let estimates = state.maneuverEstimates[next.id]
        return Answer.Card(
            maneuver: Int(next.id.rawValue), variants: original.instructionVariants,
            maneuverState: state.maneuverState.name, glyph: glyph.answer, text: glyph.text,
            chosenVariant: next.instructionVariants.first, road: next.roadFollowingManeuverVariants.first,
            exitLabel: next.highwayExitLabel.isEmpty ? nil : next.highwayExitLabel,
            lanes: state.currentLaneGuidance.map { Int($0.rawValue) },
            distanceMeters: estimates.map { Int($0.distanceRemaining.meters) },
            timeSeconds: estimates?.timeRemaining.map { Int($0.components.seconds) },
            display: estimates?.distanceRemainingToDisplay.map(Answer.Display.init))
    }

    private func arrival(_ state: VehicleState) -> Answer.Arrival? {
        if let published = self.picture.session.flatMap({ self.state.estimated[$0.session] }) {
            return Self.arrival(state, published)
        }
        var arrival = Self.arrival(state, min(self.time ?? self.source.end, self.source.end))
        arrival?.basis = "the time that is left, from the time shown: when it was published is not known"
        return arrival
    }

    /// `published`: when the estimates were.
    static func arrival(_ state: VehicleState, _ published: RecordingTime) -> Answer.Arrival? {
        guard let left = state.tripEstimates?.timeRemaining else { return nil }
        let timeZone = state.trip?.destination.timeZone ?? ""
        return Answer.Arrival(
            time: JSON.time((published + left).date), derived: true,
            basis: "the time that is left, from when it was published",
            utcOffsetMinutes: state.trip?.destination.utcOffsetMinutes.map { Int($0) },
            timeZone: timeZone.isEmpty ? nil : timeZone)
    }

    /// Where the vehicle is, derived; the protocol does not say it.
    var position: Answer.Position? {
        guard let left = self.picture.published?.tripEstimates?.distanceRemaining.meters,
            let length = self.lines.length, let place = self.lines.position(metersLeft: Double(left))
        else { return nil }
        return Answer.Position(
            coordinate: ModelJSON.coordinate(place.coordinate), segment: place.segment, derived: true,
            basis: "the point of the line at its length minus the distance that is left",
            lengthMeters: Int(length.rounded()), distanceLeftMeters: Int(left))
    }

    static func batteries(_ state: VehicleState) -> Answer.Batteries {
        let stops = (state.trip?.waypoints ?? []) + [state.trip?.destination].compactMap(\.self)
        let charge = stops.lazy.compactMap(\.charge).first
        return Answer.Batteries(
            arrivalPerMille: charge?.arrivalBatteryPerMille.map { Int($0) },
            departurePerMille: charge?.departureBatteryPerMille.map { Int($0) })
    }

    // MARK: Tables

    /// Rows of maneuvers, lane guidances and segments; destinations are history.
    func tables() -> Answer.Tables {
        Answer.Tables(
            maneuvers: self.maneuvers, laneGuidances: self.laneGuidances, segments: self.segments,
            stops: (self.picture.published?.trip?.waypoints ?? []).map { JSONPart(ModelJSON.waypoint($0)) },
            routeKey: self.picture.content.map(Self.routeKey),
            routeSource: self.picture.record?.routeSource?.name,
            routeFeedback: self.picture.record?.routeFeedback.map(Story.feedback))
    }

    /// The reasons below a path, and for all of the key; their paths are those in the row.
    private func why(_ key: String, _ id: String) -> [Answer.Reason] {
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
            return reason.answer
        }
    }

    private var maneuvers: [Answer.ManeuverRow] {
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
            let (mine, place) = (held[maneuver.id], places[maneuver.id])
            return Answer.ManeuverRow(
                order: index + 1, id: Int(maneuver.id.rawValue), state: standing,
                published: JSONPart(ModelJSON.maneuver(maneuver)), glyph: glyph.answer, text: glyph.text,
                why: self.why("maneuvers", "\(maneuver.id.rawValue)"),
                addedBy: content.maneuverSequences[maneuver.id].map { Int(clamping: $0) },
                estimates: state.maneuverEstimates[maneuver.id].map { JSONPart(ModelJSON.estimates($0)) },
                held: mine.map { JSONPart(ModelJSON.maneuver($0)) },
                chosenVariant: mine?.instructionVariants.first.flatMap {
                    maneuver.instructionVariants.firstIndex(of: $0)
                },
                distanceFromPreviousMeters: maneuver.initialTravelEstimates.map {
                    Int($0.distanceRemaining.meters)
                },
                at: place.map { ModelJSON.coordinate($0.coordinate) }, segment: place?.segment,
                derived: place == nil ? nil : ["at", "segment"])
        }
    }

    private var laneGuidances: [Answer.LaneGuidanceRow] {
        guard let content = self.picture.content else { return [] }
        let state = content.state
        let held = Dictionary((self.picture.held?.laneGuidances ?? []).map { ($0.id, $0) }) { $1 }
        return state.laneGuidances.enumerated().map { index, guidance in
            Answer.LaneGuidanceRow(
                order: index + 1, id: Int(guidance.id.rawValue),
                current: guidance.id == state.currentLaneGuidance,
                linkedFrom: state.maneuvers.filter { $0.linkedLaneGuidance == guidance.id }
                    .map { Int($0.id.rawValue) },
                published: JSONPart(ModelJSON.laneGuidance(guidance)), text: guidance.lanesInWords,
                why: self.why("laneGuidances", "\(guidance.id.rawValue)"),
                held: held[guidance.id].map { JSONPart(ModelJSON.laneGuidance($0)) },
                addedBy: content.laneGuidanceSequences[guidance.id].map { Int(clamping: $0) })
        }
    }

    private var segments: [Joined<JSONPart, Answer.SegmentRow>] {
        guard let state = self.picture.published else { return [] }
        let held = Dictionary((self.picture.held?.segments ?? []).map { ($0.id, $0) }) { $1 }
        return state.segments.enumerated().map { index, segment in
            let length = self.lines.length(of: segment.id)
            let row = Answer.SegmentRow(
                order: index + 1, current: segment.id == state.currentSegment,
                points: .init(
                    published: segment.coordinates.count, held: held[segment.id]?.coordinates.count),
                why: self.why("segments", segment.id), lengthMeters: length.map { Int($0.rounded()) },
                derived: length == nil ? nil : ["lengthMeters"])
            return Joined(JSONPart(StateObjects.segment(segment)), row)
        }
    }

    // MARK: Lines

    /// Points of all lines of an answer.
    private static let pointsMax = 100_000

    func route() -> Answer.Route {
        guard let content = self.picture.content else {
            return Answer.Route(segments: [], maneuvers: [], places: [])
        }
        let state = content.state
        let held = Dictionary((self.picture.held?.segments ?? []).map { ($0.id, $0) }) { $1 }
        let count =
            state.segments.reduce(0) { $0 + $1.coordinates.count }
            + held.values.reduce(0) { $0 + $1.coordinates.count }
        let step = count <= Self.pointsMax ? 1 : (count + Self.pointsMax - 1) / Self.pointsMax
        func line(_ segment: RouteSegment) -> Answer.Line {
            let last = segment.coordinates.count - 1
            let points = segment.coordinates.enumerated().filter {
                $0.offset % step == 0 || $0.offset == last
            }
            return Answer.Line(coordinates: points.map { ModelJSON.coordinate($0.element) })
        }
        var route = Answer.Route(
            routeKey: Self.routeKey(content), truncated: step > 1,
            segments: state.segments.map { segment in
                Answer.RouteSegment(
                    id: segment.id, current: segment.id == state.currentSegment, published: line(segment),
                    why: self.why("segments", segment.id), held: held[segment.id].map(line))
            },
            maneuvers: self.lines.places(of: state.maneuvers).sorted { $0.key < $1.key }.map { id, place in
                Answer.RouteManeuver(
                    id: Int(id.rawValue), coordinate: ModelJSON.coordinate(place.coordinate),
                    segment: place.segment, derived: true)
            },
            places: Self.places(state.trip), position: self.position)
        let all = state.segments.flatMap(\.coordinates) + Self.centers(state.trip)
        if let first = all.first {
            var bounds = (first.latitude, first.longitude, first.latitude, first.longitude)
            for point in all {
                bounds = (
                    min(bounds.0, point.latitude), min(bounds.1, point.longitude),
                    max(bounds.2, point.latitude), max(bounds.3, point.longitude)
                )
            }
            route.bounds = [[bounds.0, bounds.1], [bounds.2, bounds.3]]
        }
        return route
    }

    private static func centers(_ trip: Trip?) -> [Coordinate] {
        guard let trip else { return [] }
        return [trip.origin.center, trip.destination.center] + trip.waypoints.map(\.center)
    }

    private static func places(_ trip: Trip?) -> [Joined<JSONPart, Answer.PlaceRole>] {
        guard let trip else { return [] }
        let all =
            [("origin", trip.origin)] + trip.waypoints.map { ("stop", $0) }
            + [("destination", trip.destination)]
        return all.map { role, waypoint in
            Joined(JSONPart(ModelJSON.waypoint(waypoint)), Answer.PlaceRole(role: role))
        }
    }
}

/// States as JSON objects, without the lines of routes.
enum StateObjects {
    static func object(_ state: VehicleState) -> [String: Any] {
        var short = state
        short.segments = []
        var object = ClusterJSON.object(short)
        object["segments"] = state.segments.map(self.segment)
        return object
    }

    /// The segment with `points` in place of its line, and the number of its speed limits.
    static func segment(_ segment: RouteSegment) -> [String: Any] {
        var short = segment
        (short.coordinates, short.speedLimits) = ([], [])
        var object = ModelJSON.segment(short)
        object["coordinates"] = nil
        if !segment.speedLimits.isEmpty { object["speedLimits"] = segment.speedLimits.count }
        object["points"] = segment.coordinates.count
        return object
    }
}

extension Answer.Display {
    init(_ display: DisplayDistance) {
        self.init(tenths: Int(display.valueTenths), unit: display.unit.name)
    }
}
