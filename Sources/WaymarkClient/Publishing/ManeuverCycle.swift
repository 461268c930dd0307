internal import WaymarkModel
internal import WaymarkProtocol

/// The position of the first upcoming maneuver in its cycle, which decides the maneuver states that may come next.
///
/// - Source: Docs/protocol.md, REQ-ROUTE-09.
struct ManeuverCycle: Sendable, Hashable {
    /// The first upcoming maneuver.
    private(set) var first: ManeuverID?
    /// nil: any state may come next.
    private(set) var state: ManeuverState?

    init(first: ManeuverID? = nil, state: ManeuverState? = nil) {
        self.first = first
        self.state = state
    }

    /// Whether the protocol lets `next` follow `state`: forward, skipping states, and from execute back to continue.
    static func allows(_ next: ManeuverState, after state: ManeuverState?) -> Bool {
        guard let state else { return true }
        return next.rawValue >= state.rawValue || (state == .execute && next == .continue)
    }

    /// Applies a publication to the cycle.
    mutating func advance(by publication: Publication) {
        switch publication {
        case .startGuidance(_, _, let route), .resumeGuidance(_, _, let route?):
            self = ManeuverCycle(first: route.upcomingManeuvers.first)
        case .upcomingManeuvers(let ids, _):
            if ids.first != self.first { self = ManeuverCycle(first: ids.first) }
        case .maneuverState(let state, _): self.state = state
        case .pauseGuidance: self.state = nil
        default: break
        }
    }
}
