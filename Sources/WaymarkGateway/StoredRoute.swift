internal import WaymarkModel
internal import WaymarkProtocol

/// The route of a session in full: what every ``FittedView`` of the session takes its windows from.
///
/// Kept once per session, and only while an endpoint in it stores a part of the route.
struct StoredRoute: Sendable, Hashable {
    /// Of the present route; 0 before the first.
    private(set) var generation: UInt32 = 0
    private(set) var maneuvers = Stock<Maneuver>()
    private(set) var laneGuidances = Stock<LaneGuidance>()
    /// The newest estimates of each maneuver that has some.
    private(set) var estimates: [ManeuverID: TravelEstimates] = [:]
    /// Fields of all these that this build does not know; nil for none.
    private var unknown: UnknownFields.Parts?

    init() {}

    /// Sets what was named last.
    mutating func name(_ upcoming: [ManeuverID], _ laneGuidance: LaneGuidanceID?) {
        self.maneuvers.name(upcoming)
        self.laneGuidances.name(laneGuidance.map { [$0] } ?? [])
    }

    /// The fields that this build does not know, for frames that are made from publications of a generation; nil for none.
    func unknown(of generation: UInt32) -> UnknownFields.Parts? {
        generation == self.generation ? self.unknown : nil
    }

    /// Applies a publication that was validated before. `unknown` are its fields that this build does not know.
    mutating func apply(_ publication: Publication, _ unknown: UnknownFields? = nil) {
        switch publication {
        case .startGuidance(_, let generation, let route), .resumeGuidance(let generation, _, let route?):
            self.replace(by: route, generation)
        case .addManeuvers(let added, _): self.maneuvers.add(added)
        case .addLaneGuidances(let added, _): self.laneGuidances.add(added)
        case .upcomingManeuvers(let ids, _): self.maneuvers.name(ids)
        case .currentLaneGuidance(let id, _): self.laneGuidances.name(id.map { [$0] } ?? [])
        case .maneuverEstimates(let id, let estimates, _): self.estimates[id] = estimates
        default: break
        }
        if unknown != nil || self.unknown != nil { self.keep(unknown, of: publication) }
    }

    private mutating func keep(_ unknown: UnknownFields?, of publication: Publication) {
        if case .maneuverEstimates(let id, _, _) = publication { self.unknown?[.estimates(id)] = nil }
        guard let parts = unknown?.partsOfRoute, !parts.isEmpty else { return }
        if self.unknown == nil { self.unknown = [:] }
        self.unknown?.merge(parts) { $1 }
    }

    private mutating func replace(by route: RouteInformation, _ generation: UInt32) {
        self = StoredRoute()
        self.generation = generation
        self.maneuvers.add(route.maneuvers)
        self.maneuvers.name(route.upcomingManeuvers)
        self.laneGuidances.add(route.laneGuidances)
        self.laneGuidances.name(route.currentLaneGuidance.map { [$0] } ?? [])
        if let first = route.upcomingManeuvers.first { self.estimates[first] = route.maneuverTravelEstimates }
    }
}

extension PublicationOutline {
    /// Whether it can change a ``StoredRoute``.
    var isOfStoredRoute: Bool {
        self.rule.isOfStoredRoute && (self.rule.adds != .wholeRoute || self.route != nil)
    }
}

extension PublicationRule {
    /// Whether publications of its type can change a ``StoredRoute``.
    var isOfStoredRoute: Bool {
        switch self.adds ?? self.refersTo {
        case .maneuvers, .laneGuidances, .wholeRoute: true
        case .segments, nil: false
        }
    }
}

/// What a route has many of, in order, each with an id of its own.
protocol RouteElement: Sendable, Hashable {
    associatedtype ID: Sendable, Hashable
    var id: ID { get }
}

extension Maneuver: RouteElement {}
extension LaneGuidance: RouteElement {}

/// All elements of one kind in the order of the route, and those that were named last as upcoming or current.
struct Stock<Element: RouteElement>: Sendable, Hashable {
    private(set) var elements: [Element] = []
    private var indices: [Element.ID: Int] = [:]
    /// Nearest first.
    private var named: [Element.ID] = []

    /// Appends elements to the route.
    mutating func add(_ added: [Element]) {
        for element in added {
            self.indices[element.id] = self.elements.count
            self.elements.append(element)
        }
    }

    /// Sets which elements are upcoming or current. Naming none leaves the window where it is.
    mutating func name(_ ids: [Element.ID]) { if !ids.isEmpty { self.named = ids } }

    /// The index in the route of an element; nil for one that was never added.
    func index(of id: Element.ID) -> Int? { self.indices[id] }

    /// The indices of the `countMax` elements that an endpoint with so many slots must hold, in order.
    ///
    /// The first `countMax` of those named last, then those behind the first of them, then those before it. The window depends only
    /// on the route and on what was named last, so an endpoint that joins late holds the same.
    ///
    /// - Complexity: O(n) for a `countMax` of n, and O(k log k) for k elements that were named.
    func window(_ countMax: Int) -> [Int] {
        guard self.elements.count > countMax else { return Array(self.elements.indices) }
        let named = self.named.prefix(countMax).compactMap { self.indices[$0] }
        var sorted: [Int] = []
        for index in named.sorted() where index != sorted.last { sorted.append(index) }
        // The places that are left go to a run of elements from the first named one on, which skips those that are named anyway.
        var left = countMax - sorted.count
        var end = named.first ?? 0
        var next = sorted.firstIndex { $0 >= end } ?? sorted.count
        while left > 0 || (next < sorted.count && sorted[next] == end), end < self.elements.count {
            if next < sorted.count, sorted[next] == end { next += 1 } else { left -= 1 }
            end += 1
        }
        var begin = named.first ?? 0
        var previous = (sorted.firstIndex { $0 >= begin } ?? sorted.count) - 1
        while left > 0, begin > 0 {
            begin -= 1
            if previous >= 0, sorted[previous] == begin { previous -= 1 } else { left -= 1 }
        }
        let run = begin..<end
        return sorted.prefix { $0 < run.lowerBound } + run + sorted.drop { $0 < run.upperBound }
    }
}
