internal import WaymarkModel
internal import WaymarkProtocol

/// A session as endpoints of one profile see it.
///
/// An endpoint with n slots keeps the n maneuvers that were added last. The view knows from this rule what the endpoint
/// holds, and before anything that needs other maneuvers it sends an AddManeuvers that leaves the endpoint with exactly
/// the window (``Stock/window(_:)``): those that are new to it if that is enough, else the whole window. The newest
/// estimates of what was added follow. Lane guidances likewise.
///
/// AddManeuvers is an event and comes first, so that nothing that is conflated behind it can make the endpoint miss one.
///
/// - Source: Docs/protocol.md, "Fitting".
struct FittedView: Sendable, Hashable, Codable {
    enum Result: Sendable, Hashable {
        /// The received bytes, unchanged.
        case asReceived
        /// These publications instead, in order; withheld if there are none.
        case fitted([Publication])
    }

    /// The result as far as a rule alone determines it.
    enum Foresight: Sendable, Hashable { case asReceived, withheld, unknown }

    let profile: Profile
    private var maneuvers: Slots
    private var laneGuidances: Slots

    /// Before anything was sent to an endpoint of `profile`.
    init(profile: Profile) {
        self.profile = profile
        self.maneuvers = Slots(countMax: Int(profile.limits.maneuversStoredMax))
        self.laneGuidances = Slots(countMax: Int(profile.limits.laneGuidancesStoredMax))
    }

    /// Fits the next publication of the session to the profile. It was applied to `route` before, and so were publications behind it,
    /// perhaps: then the endpoint gets the window of the newest route at once, and nothing of windows that are over.
    mutating func fit(_ publication: Publication, _ route: StoredRoute) -> Result {
        let fitted = self.cut(publication, route)
        return fitted == [publication] ? .asReceived : .fitted(fitted)
    }

    /// How ``fit(_:_:)`` will end, as far as the rule of a publication tells without its content. O(1).
    ///
    /// Why: most publications are states that most profiles leave as they are.
    func foresight(by rule: PublicationRule) -> Foresight {
        if let feature = rule.feature, !self.profile.allows(feature) { return .withheld }
        let fittedBy = rule.fittedBy
        if fittedBy.isEmpty { return .asReceived }
        if fittedBy.contains(.content)
            || (fittedBy.contains(.distanceUnits) && !self.profile.leavesEstimates)
            || (fittedBy.contains(.maneuverSlots) && !self.maneuvers.isUnlimited)
            || (fittedBy.contains(.laneGuidanceSlots) && !self.laneGuidances.isUnlimited)
            || (fittedBy.contains(.roadNameLength) && self.profile.limits.currentRoadNameLengthMax != 0)
            || (fittedBy.contains(.extensionName) && self.profile.extensions != .all)
        {
            return .unknown
        }
        return .asReceived
    }

    /// The work of finding the windows that a publication of a rule moves, see ``WorkMeter``.
    func windowUnits(for rule: PublicationRule) -> Int {
        var slotCount = 0
        if rule.fittedBy.contains(.maneuverSlots) { slotCount += self.maneuvers.countMax }
        if rule.fittedBy.contains(.laneGuidanceSlots) { slotCount += self.laneGuidances.countMax }
        return WorkMeter.units(ofSlots: slotCount)
    }

    private mutating func cut(_ publication: Publication, _ stored: StoredRoute) -> [Publication] {
        let profile = self.profile
        if let feature = publication.rule.feature, !profile.allows(feature) { return [] }
        switch publication {
        case .startGuidance(let trip, let generation, let route):
            let (fitted, estimates) = self.replaceRoute(route, generation, stored)
            return [.startGuidance(profile.fit(trip), generation: generation, fitted)] + estimates
        case .resumeGuidance(let generation, let reason, let route?):
            let (fitted, estimates) = self.replaceRoute(route, generation, stored)
            return [.resumeGuidance(generation: generation, reason, fitted)] + estimates
        case .addManeuvers(let added, let generation):
            if self.maneuvers.isUnlimited { return self.add(added, generation) }
            return self.moveManeuvers(stored, generation)
        case .upcomingManeuvers(let ids, let generation):
            if self.maneuvers.isUnlimited { return [publication] }
            guard generation == stored.generation else { return [] }
            let held = Array(ids.prefix(self.maneuvers.countMax))
            return self.moveManeuvers(stored, generation)
                + [.upcomingManeuvers(held, generation: generation)]
        case .maneuverEstimates(let id, let estimates, let generation):
            guard self.holds(id, generation, stored) else { return [] }
            return [.maneuverEstimates(id, profile.fit(estimates), generation: generation)]
        case .addLaneGuidances(let added, let generation):
            if self.laneGuidances.isUnlimited { return self.add(added, generation) }
            return self.moveLaneGuidances(stored, generation)
        case .currentLaneGuidance(_, let generation):
            if self.laneGuidances.isUnlimited { return [publication] }
            guard generation == stored.generation else { return [] }
            return self.moveLaneGuidances(stored, generation) + [publication]
        case .publishExtension(let published): return profile.allows(published.name) ? [publication] : []
        default: return [profile.fit(publication)]
        }
    }

    /// Whether the endpoint holds a maneuver of the present route.
    private func holds(_ id: ManeuverID, _ generation: UInt32, _ stored: StoredRoute) -> Bool {
        if self.maneuvers.isUnlimited { return true }
        return generation == stored.generation && self.maneuvers.holds(stored.maneuvers.index(of: id))
    }

    // MARK: A whole route

    /// The route as the endpoint can hold it, and the estimates that belong to it.
    ///
    /// In a snapshot, `stored` is newer than the publication: the route comes with the present window. Its upcoming maneuvers
    /// are left out if the endpoint no longer holds them, since newer publications name the present ones. Of a route that a
    /// later one has replaced, no element is needed.
    private mutating func replaceRoute(
        _ route: RouteInformation, _ generation: UInt32, _ stored: StoredRoute
    ) -> (RouteInformation, estimates: [Publication]) {
        self.maneuvers.removeAll()
        self.laneGuidances.removeAll()
        var fitted = self.profile.fit(route)
        var estimates: [Publication] = []
        if !self.maneuvers.isUnlimited {
            let added = generation == stored.generation ? self.missingManeuvers(stored) : []
            fitted.maneuvers = added.map(self.profile.fit)
            let upcoming = route.upcomingManeuvers.prefix(self.maneuvers.countMax)
            let isHeld = upcoming.allSatisfy { self.maneuvers.holds(stored.maneuvers.index(of: $0)) }
            fitted.upcomingManeuvers = isHeld ? Array(upcoming) : []
            if !isHeld { fitted.maneuverTravelEstimates = nil }
            // The route itself has the estimates of this maneuver.
            let estimated = fitted.maneuverTravelEstimates == nil ? nil : upcoming.first
            estimates = self.estimates(of: added.filter { $0.id != estimated }, stored, generation)
        }
        if !self.laneGuidances.isUnlimited {
            let added = generation == stored.generation ? self.missingLaneGuidances(stored) : []
            fitted.laneGuidances = added.map(self.profile.fit)
            if let current = route.currentLaneGuidance,
                !self.laneGuidances.holds(stored.laneGuidances.index(of: current))
            {
                fitted.currentLaneGuidance = nil
            }
        }
        return (fitted, estimates)
    }

    // MARK: Windows

    private func add(_ added: [Maneuver], _ generation: UInt32) -> [Publication] {
        [.addManeuvers(added.map(self.profile.fit), generation: generation)]
    }

    private func add(_ added: [LaneGuidance], _ generation: UInt32) -> [Publication] {
        [.addLaneGuidances(added.map(self.profile.fit), generation: generation)]
    }

    private mutating func missingManeuvers(_ stored: StoredRoute) -> [Maneuver] {
        self.maneuvers.move(to: stored.maneuvers.window(self.maneuvers.countMax))
            .map { stored.maneuvers.elements[$0] }
    }

    private mutating func missingLaneGuidances(_ stored: StoredRoute) -> [LaneGuidance] {
        self.laneGuidances.move(to: stored.laneGuidances.window(self.laneGuidances.countMax))
            .map { stored.laneGuidances.elements[$0] }
    }

    private mutating func moveManeuvers(_ stored: StoredRoute, _ generation: UInt32) -> [Publication] {
        // A later route has replaced this one.
        guard generation == stored.generation else { return [] }
        let added = self.missingManeuvers(stored)
        guard !added.isEmpty else { return [] }
        return self.add(added, generation) + self.estimates(of: added, stored, generation)
    }

    private mutating func moveLaneGuidances(_ stored: StoredRoute, _ generation: UInt32) -> [Publication] {
        guard generation == stored.generation else { return [] }
        let added = self.missingLaneGuidances(stored)
        return added.isEmpty ? [] : self.add(added, generation)
    }

    private func estimates(
        of maneuvers: [Maneuver], _ stored: StoredRoute, _ generation: UInt32
    ) -> [Publication] {
        maneuvers.compactMap { maneuver in
            stored.estimates[maneuver.id].map {
                .maneuverEstimates(maneuver.id, self.profile.fit($0), generation: generation)
            }
        }
    }
}

extension FittedView {
    /// Fits a frame. `publication` is its content; nil until a view needs it.
    mutating func fit(
        _ frame: Frame, _ publication: inout DecodedPublication?, _ outline: PublicationOutline,
        _ route: StoredRoute, _ coder: BodyCoder
    ) -> Result {
        let isTooLong = self.isTooLong(frame)
        // Nothing of it can be cut.
        if let name = outline.extensionName {
            return self.profile.allows(name) && !isTooLong ? .asReceived : .fitted([])
        }
        switch self.foresight(by: outline.rule) {
        case .asReceived: if !isTooLong { return .asReceived }
        case .withheld: return .fitted([])
        case .unknown: break
        }
        publication = publication ?? coder.decode(frame)
        // A type that this build does not know is forwarded as it is, or not at all.
        guard let publication else { return isTooLong ? .fitted([]) : .asReceived }
        let result = self.fit(publication.content, route)
        return isTooLong && result == .asReceived ? .fitted([publication.content]) : result
    }

    private func isTooLong(_ frame: Frame) -> Bool {
        frame.header.frameByteCount > self.profile.frameBytesMax
    }
}

/// What an endpoint with few slots holds: the indices in the route of the elements that were added last.
private struct Slots: Sendable, Hashable, Codable {
    /// 0: no limit.
    let countMax: Int
    /// In the order of the route, which is the order in which they were added.
    private var held: [Int] = []

    init(countMax: Int) { self.countMax = countMax }

    var isUnlimited: Bool { self.countMax == 0 }

    mutating func removeAll() { self.held = [] }

    /// Whether the endpoint holds the element at `index`; nil for one that was never added.
    func holds(_ index: Int?) -> Bool {
        if self.isUnlimited { return true }
        guard let index else { return false }
        var (first, end) = (0, self.held.count)
        while first < end {
            let middle = (first + end) / 2
            if self.held[middle] < index { first = middle + 1 } else { end = middle }
        }
        return first < self.held.count && self.held[first] == index
    }

    /// Makes the endpoint hold `window`; returns what it must be sent for that.
    mutating func move(to window: [Int]) -> [Int] {
        // Both are sorted.
        var next = 0
        let new = window.filter { index in
            while next < self.held.count, self.held[next] < index { next += 1 }
            return next == self.held.count || self.held[next] != index
        }
        let result = (self.held + new).suffix(self.countMax)
        self.held = window
        // After a step back, a jump, or out of order the slots would not hold the window: send all of it.
        return result.elementsEqual(window) ? new : window
    }
}
