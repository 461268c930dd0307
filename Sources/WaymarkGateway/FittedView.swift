internal import WaymarkModel
package import WaymarkProtocol

/// A session as endpoints of one profile see it.
///
/// An endpoint that stores n maneuvers is sent a window of the route's maneuvers: n of them from the first upcoming one.
/// It keeps n slots: when an UpcomingManeuvers arrives it frees those before the first upcoming maneuver, in the order
/// in which they were added. So the window moves by an UpcomingManeuvers with what the endpoint holds already, then an
/// AddManeuvers with those that come into the window, then the whole UpcomingManeuvers. Lane guidances likewise, with the
/// current one in the place of the first upcoming.
package struct FittedView: Sendable, Hashable {
    package enum Result: Sendable, Hashable {
        /// The received bytes fit as they are.
        case asReceived
        /// These instead, in order; empty withholds it.
        case fitted([Publication])
    }

    package let profile: Profile
    private var maneuvers: Window<Maneuver, ManeuverID>
    private var laneGuidances: Window<LaneGuidance, LaneGuidanceID>
    /// The newest estimates of maneuvers that are not in the window yet.
    private var pendingEstimates: [ManeuverID: TravelEstimates] = [:]

    package init(profile: Profile) {
        self.profile = profile
        self.maneuvers = Window(countMax: Int(profile.limits.maneuversStoredMax))
        self.laneGuidances = Window(countMax: Int(profile.limits.laneGuidancesStoredMax))
    }

    /// Cuts the next publication of the session to the profile.
    package mutating func fit(_ publication: Publication) -> Result {
        let fitted = self.cut(publication)
        return fitted == [publication] ? .asReceived : .fitted(fitted)
    }

    private mutating func cut(_ publication: Publication) -> [Publication] {
        let profile = self.profile
        switch publication {
        case .tripPreviews(let trips, let selected):
            return profile.allows(.tripPreviews)
                ? [.tripPreviews(trips.map(profile.fit), selected: selected)] : []
        case .startGuidance(let trip, let generation, let route):
            return [.startGuidance(profile.fit(trip), generation: generation, self.replaceRoute(route))]
        case .updateTrip(let trip): return [.updateTrip(profile.fit(trip))]
        case .addManeuvers(let added, let generation): return self.addManeuvers(added, generation)
        case .addLaneGuidances(let added, let generation): return self.addLaneGuidances(added, generation)
        case .addRouteSegments(let segments, let generation):
            guard profile.allows(.routeSegments) else { return [] }
            return [.addRouteSegments(segments.map(profile.fit), generation: generation)]
        case .upcomingManeuvers(let ids, let generation): return self.moveManeuvers(to: ids, generation)
        case .currentLaneGuidance(let id, let generation): return self.moveLaneGuidances(to: id, generation)
        case .currentRoadName(let variants):
            guard profile.allows(.currentRoadName) else { return [] }
            return [.currentRoadName(Profile.fit(variants, profile.limits.currentRoadNameLengthMax))]
        case .maneuverState: return profile.allows(.maneuvers) ? [publication] : []
        case .tripEstimates(let estimates, let color): return [.tripEstimates(profile.fit(estimates), color)]
        case .maneuverEstimates(let id, let estimates, let generation):
            return self.estimate(id, estimates, generation)
        case .currentRouteSegment: return profile.allows(.routeSegments) ? [publication] : []
        case .resumeGuidance(let generation, let reason, let route):
            return [.resumeGuidance(generation: generation, reason, route.map { self.replaceRoute($0) })]
        case .showAlert(let alert):
            return profile.allows(.navigationAlerts) ? [.showAlert(profile.fit(alert))] : []
        case .dismissAlert: return profile.allows(.navigationAlerts) ? [publication] : []
        case .shareDestination(let id, let destination):
            guard profile.allows(.destinationSharing) else { return [] }
            return [.shareDestination(shareID: id, profile.fit(destination))]
        case .pauseGuidance, .finishGuidance, .cancelGuidance: return [publication]
        }
    }

    private mutating func replaceRoute(_ route: RouteInformation) -> RouteInformation {
        let profile = self.profile
        self.maneuvers.removeAll()
        self.laneGuidances.removeAll()
        self.pendingEstimates = [:]
        var route = route
        route.maneuvers =
            profile.allows(.maneuvers)
            ? self.maneuvers.add(route.maneuvers, from: route.upcomingManeuvers.first, \.id).map(profile.fit)
            : []
        route.upcomingManeuvers = self.maneuvers.held(of: route.upcomingManeuvers)
        route.laneGuidances =
            profile.allows(.laneGuidance)
            ? self.laneGuidances.add(route.laneGuidances, from: route.currentLaneGuidance, \.id).map(
                profile.fit) : []
        route.currentLaneGuidance =
            self.laneGuidances.held(of: route.currentLaneGuidance.map { [$0] } ?? []).first
        route.segments = profile.allows(.routeSegments) ? route.segments.map(profile.fit) : []
        if !profile.allows(.routeSegments) { route.currentSegment = nil }
        route.tripTravelEstimates = route.tripTravelEstimates.map(profile.fit)
        route.maneuverTravelEstimates =
            profile.allows(.maneuvers) ? route.maneuverTravelEstimates.map(profile.fit) : nil
        return route
    }

    private mutating func addManeuvers(_ added: [Maneuver], _ generation: UInt32) -> [Publication] {
        guard self.profile.allows(.maneuvers) else { return [] }
        let sent = self.maneuvers.add(added, from: nil, \.id).map(self.profile.fit)
        return sent.isEmpty ? [] : [.addManeuvers(sent, generation: generation)]
    }

    private mutating func moveManeuvers(to ids: [ManeuverID], _ generation: UInt32) -> [Publication] {
        guard self.profile.allows(.maneuvers) else { return [] }
        let held = self.maneuvers.held(of: ids)
        let added = ids.first.map { self.maneuvers.move(to: $0, \.id) } ?? []
        guard !added.isEmpty else { return [.upcomingManeuvers(held, generation: generation)] }
        var publications: [Publication] = [
            .upcomingManeuvers(held, generation: generation),
            .addManeuvers(added.map(self.profile.fit), generation: generation),
            .upcomingManeuvers(self.maneuvers.held(of: ids), generation: generation),
        ]
        for maneuver in added {
            guard let estimates = self.pendingEstimates.removeValue(forKey: maneuver.id) else { continue }
            publications.append(
                .maneuverEstimates(maneuver.id, self.profile.fit(estimates), generation: generation))
        }
        return publications
    }

    private mutating func addLaneGuidances(_ added: [LaneGuidance], _ generation: UInt32) -> [Publication] {
        guard self.profile.allows(.laneGuidance) else { return [] }
        let sent = self.laneGuidances.add(added, from: nil, \.id).map(self.profile.fit)
        return sent.isEmpty ? [] : [.addLaneGuidances(sent, generation: generation)]
    }

    private mutating func moveLaneGuidances(to id: LaneGuidanceID?, _ generation: UInt32) -> [Publication] {
        guard self.profile.allows(.laneGuidance) else { return [] }
        guard let id else { return [.currentLaneGuidance(nil, generation: generation)] }
        let added = self.laneGuidances.move(to: id, \.id).map(self.profile.fit)
        let current = Publication.currentLaneGuidance(id, generation: generation)
        if added.isEmpty { return [current] }
        // With the current one new to the endpoint, nothing that it holds is current meanwhile: all slots are free.
        let first =
            added.contains { $0.id == id }
            ? Publication.currentLaneGuidance(nil, generation: generation) : current
        return [first, .addLaneGuidances(added, generation: generation), current]
    }

    private mutating func estimate(
        _ id: ManeuverID, _ estimates: TravelEstimates, _ generation: UInt32
    ) -> [Publication] {
        guard self.profile.allows(.maneuvers) else { return [] }
        guard self.maneuvers.holds(id) else {
            self.pendingEstimates[id] = estimates
            return []
        }
        return [.maneuverEstimates(id, self.profile.fit(estimates), generation: generation)]
    }
}

/// A window over a list that grows at its end: what an endpoint with few slots holds of it.
struct Window<Element: Sendable & Hashable, ID: Sendable & Hashable>: Sendable, Hashable {
    /// 0: no limit.
    let countMax: Int
    private var elements: [Element] = []
    private var places: [ID: Int] = [:]
    private var start = 0
    /// One behind the last element that the endpoint was sent.
    private var end = 0

    init(countMax: Int) { self.countMax = countMax }

    mutating func removeAll() { self = Window(countMax: self.countMax) }

    /// Puts elements at the end, moves the window to `first`, and returns what the endpoint is sent.
    mutating func add(_ added: [Element], from first: ID?, _ id: (Element) -> ID) -> [Element] {
        for element in added {
            self.places[id(element)] = self.elements.count
            self.elements.append(element)
        }
        if let place = first.flatMap({ self.places[$0] }) { self.start = place }
        return self.fill()
    }

    /// Moves the window to `first`, and returns what comes into it.
    mutating func move(to first: ID, _ id: (Element) -> ID) -> [Element] {
        guard self.countMax > 0, let place = self.places[first] else { return [] }
        // Back again, or far ahead: what the endpoint holds is of no use.
        if place < self.start || place > self.end { self.end = place }
        self.start = place
        return self.fill()
    }

    func holds(_ id: ID) -> Bool {
        guard let place = self.places[id] else { return false }
        return place >= self.start && place < self.end
    }

    func held(of ids: [ID]) -> [ID] { ids.filter(self.holds) }

    private mutating func fill() -> [Element] {
        let newEnd =
            self.countMax == 0 ? self.elements.count : min(self.elements.count, self.start + self.countMax)
        let first = max(self.end, self.start)
        self.end = max(newEnd, first)
        return Array(self.elements[first..<self.end])
    }
}
