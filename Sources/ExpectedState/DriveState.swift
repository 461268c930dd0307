package import WaymarkModel
package import WaymarkProtocol

/// An element of a route with an id.
protocol Identified: Hashable {
    associatedtype ID: Hashable
    var id: ID { get }
}

extension Maneuver: Identified {}
extension LaneGuidance: Identified {}

/// The state of a drive, as its publisher has published it or as an endpoint has received it.
package struct DriveState: Hashable, Sendable {
    /// How many maneuvers and lane guidances can be stored; 0 for no limit.
    package let maneuversMax: Int
    package let laneGuidancesMax: Int
    package var previews: Publication?
    /// nil without guidance.
    package var trip: Trip?
    package var generation: UInt32 = 0
    package var maneuvers: [Maneuver] = []
    package var upcoming: [ManeuverID] = []
    /// The last non-empty list of upcoming maneuvers.
    package var lastUpcoming: [ManeuverID] = []
    package var laneGuidances: [LaneGuidance] = []
    package var currentLaneGuidance: LaneGuidanceID?
    /// The last current lane guidance that was not nil.
    package var lastLaneGuidance: LaneGuidanceID?
    package var segments: [RouteSegment] = []
    package var currentSegment: String?
    package var roadName: [String] = []
    package var maneuverState: ManeuverState?
    package var tripEstimates: TravelEstimates?
    package var speedLimit: SpeedLimit?
    package var nextSpeedLimit: SpeedLimitAhead?
    package var maneuverEstimates: [ManeuverID: TravelEstimates] = [:]
    package var pause: Publication?
    package var alert: NavigationAlert?
    /// States of types that no build knows.
    package var extensions = RetainedExtensions()
    /// The retained states of extensions with names, by key.
    package var named: [UInt16: PublishedExtension] = [:]
    /// States of other types, as they are on the wire.
    package var others: [MessageType: Publication] = [:]

    package init(maneuversMax: Int = 0, laneGuidancesMax: Int = 0) {
        self.maneuversMax = maneuversMax
        self.laneGuidancesMax = laneGuidancesMax
    }

    /// Applies a publication.
    package mutating func apply(_ publication: Publication) {
        switch publication {
        case .tripPreviews: self.previews = publication
        case .startGuidance(let trip, let generation, let route):
            self.clear()
            self.trip = trip
            self.begin(route, generation)
        case .updateTrip(let trip): self.trip = trip
        case .addManeuvers(let added, _): self.add(added)
        case .addLaneGuidances(let added, _): self.add(added)
        case .addRouteSegments(let added, _): self.segments += added
        case .upcomingManeuvers(let ids, _): self.move(to: ids)
        case .currentLaneGuidance(let id, _): self.move(to: id)
        case .plain(.currentRoadName(let variants)): self.roadName = variants
        case .maneuverState(let state, _): self.maneuverState = state
        case .tripEstimates(let estimates, _): self.tripEstimates = estimates
        case .speedLimit(let limit, let next): (self.speedLimit, self.nextSpeedLimit) = (limit, next)
        case .maneuverEstimates(let id, let estimates, _): self.maneuverEstimates[id] = estimates
        case .currentRouteSegment(let id, _): self.currentSegment = id
        case .pauseGuidance:
            self.pause = publication
            self.maneuverState = nil
        case .resumeGuidance(let generation, _, let route):
            self.pause = nil
            if let route { self.begin(route, generation) }
        case .showAlert(let alert): self.alert = alert
        case .dismissAlert: self.alert = nil
        case .finishGuidance, .cancelGuidance: self.clear()
        case .publishExtension(let published):
            if let key = published.key { self.named[key] = published.isRetained ? published : nil }
        default: if publication.rule.kind == .state { self.others[publication.type] = publication }
        }
    }

    package mutating func clear() {
        self = DriveState(maneuversMax: self.maneuversMax, laneGuidancesMax: self.laneGuidancesMax)
    }

    private mutating func move(to ids: [ManeuverID]) {
        self.upcoming = ids
        if !ids.isEmpty { self.lastUpcoming = ids }
    }

    private mutating func move(to id: LaneGuidanceID?) {
        self.currentLaneGuidance = id
        if let id { self.lastLaneGuidance = id }
    }

    private mutating func begin(_ route: RouteInformation, _ generation: UInt32) {
        self.generation = generation
        self.maneuvers = []
        self.upcoming = []
        self.lastUpcoming = []
        self.laneGuidances = []
        self.currentLaneGuidance = nil
        self.lastLaneGuidance = nil
        self.add(route.maneuvers)
        self.add(route.laneGuidances)
        self.move(to: route.upcomingManeuvers)
        self.move(to: route.currentLaneGuidance)
        self.segments = route.segments
        self.currentSegment = route.currentSegment ?? route.segments.first?.id
        self.maneuverState = nil
        self.others = self.others.filter { !$1.rule.isOfRoute }
        self.tripEstimates = route.tripTravelEstimates
        (self.speedLimit, self.nextSpeedLimit) = (nil, nil)
        self.maneuverEstimates = [:]
        if let first = route.upcomingManeuvers.first {
            self.maneuverEstimates[first] = route.maneuverTravelEstimates
        }
    }

    private mutating func add(_ added: [Maneuver]) {
        let dropped = Self.add(added, to: &self.maneuvers, countMax: self.maneuversMax)
        for maneuver in dropped { self.maneuverEstimates[maneuver.id] = nil }
        self.upcoming.removeAll { id in dropped.contains { $0.id == id } }
    }

    private mutating func add(_ added: [LaneGuidance]) {
        let dropped = Self.add(added, to: &self.laneGuidances, countMax: self.laneGuidancesMax)
        if dropped.contains(where: { $0.id == self.currentLaneGuidance }) { self.currentLaneGuidance = nil }
    }

    /// Keeps the `countMax` newest elements and returns those that it drops. An element that is added again counts as new.
    private static func add<Element: Identified>(
        _ added: [Element], to stored: inout [Element], countMax: Int
    ) -> [Element] {
        stored.removeAll { old in added.contains { $0.id == old.id } }
        stored += added
        guard countMax > 0, stored.count > countMax else { return [] }
        let dropped = stored.prefix(stored.count - countMax)
        stored.removeFirst(dropped.count)
        return Array(dropped)
    }

    /// The fields that differ, with both values.
    package func differences(from other: DriveState) -> [DriveDifference] {
        var differences: [DriveDifference] = []
        func compare<Value: Equatable & Sendable>(_ name: String, _ path: (DriveState) -> Value) {
            let (mine, theirs) = (path(self), path(other))
            if mine != theirs {
                differences.append(DriveDifference(name: name, mine: mine, theirs: theirs))
            }
        }
        compare("previews") { $0.previews }
        compare("trip") { $0.trip }
        compare("generation") { $0.generation }
        compare("maneuvers") { $0.maneuvers.map(\.id.rawValue) }
        compare("upcoming") { $0.upcoming.map(\.rawValue) }
        compare("laneGuidances") { $0.laneGuidances.map(\.id.rawValue) }
        compare("currentLaneGuidance") { $0.currentLaneGuidance?.rawValue }
        if differences.isEmpty {
            compare("maneuvers") { $0.maneuvers }
            compare("laneGuidances") { $0.laneGuidances }
        }
        compare("segments") { $0.segments }
        compare("ids of segments") { $0.segments.map { Identifier($0.id) } }
        compare("currentSegment") { $0.currentSegment.map { Identifier($0) } }
        compare("roadName") { $0.roadName }
        compare("maneuverState") { $0.maneuverState }
        compare("tripEstimates") { $0.tripEstimates }
        compare("speedLimit") { $0.speedLimit }
        compare("nextSpeedLimit") { $0.nextSpeedLimit }
        // By key: the order of a dictionary is another in each process.
        for id in Set(self.maneuverEstimates.keys).union(other.maneuverEstimates.keys).sorted(by: {
            $0.rawValue < $1.rawValue
        }) {
            compare("maneuverEstimates of \(id.rawValue)") { $0.maneuverEstimates[id] }
        }
        compare("pause") { $0.pause }
        compare("alert") { $0.alert }
        for type in Set(self.others.keys).union(other.others.keys).sorted(by: { $0.rawValue < $1.rawValue }) {
            compare("\(type)") { $0.others[type] }
        }
        compare("extensions") { $0.extensions }
        compare("extensions with names") { $0.named }
        return differences
    }
}

/// A field in which two drives differ.
package struct DriveDifference: Sendable, CustomStringConvertible {
    package let name: String
    package let mine: any Sendable
    package let theirs: any Sendable

    package var description: String { "\(self.name): \(self.mine) / \(self.theirs)" }
}
