internal import WaymarkClient
package import WaymarkHistory
internal import WaymarkModel
package import WaymarkProtocol
internal import WaymarkTexts

/// What an endpoint showed, in steps: one for each change of its connection, phase, next maneuver or maneuver state.
package struct VehicleTimeLine: Sendable, Hashable {
    /// From one instant to the next.
    package struct Step: Sendable, Hashable {
        package let instant: Instant
        package let text: String
        package let isConnected: Bool
        /// Guidance is shown.
        package let isGuided: Bool
    }

    package private(set) var steps: [Step] = []

    package init(of endpoint: PeerID, in history: History) {
        guard let record = history.endpoint(endpoint) else { return }
        var before = Shown()
        for (position, moment) in record.moments.enumerated() {
            let shown = Shown(moment)
            let instant = history.entries[moment.index].instant
            // Of what changed at one instant, the last is shown, but no loss of a connection is left out.
            if position + 1 < record.moments.count {
                let next = record.moments[position + 1]
                let isSameInstant = history.entries[next.index].instant == instant
                if isSameInstant, next.isConnected == moment.isConnected { continue }
            }
            guard shown != before else { continue }
            let state = moment.state
            self.steps.append(
                Step(
                    instant: instant, text: shown.text(after: before, state),
                    isConnected: moment.isConnected, isGuided: state.phase == .active))
            before = shown
        }
    }

    /// What a step is made of.
    private struct Shown: Equatable {
        var isConnected = false
        var isResumed = false
        var isSuspended = false
        var phase = VehicleState.Phase.idle
        var maneuver: ManeuverID?
        var maneuverState: ManeuverState?

        init() {}

        init(_ moment: EndpointHistory.Moment) {
            let state = moment.state
            (self.isConnected, self.isResumed) = (moment.isConnected, moment.isResumed)
            (self.isSuspended, self.phase) = (state.isSuspended, state.phase)
            guard state.phase == .active, let next = state.nextManeuver else { return }
            (self.maneuver, self.maneuverState) = (next.id, state.maneuverState)
        }

        func text(after before: Shown, _ state: VehicleState) -> String {
            var parts: [String] = []
            if self.isConnected != before.isConnected {
                parts.append(self.isConnected ? (self.isResumed ? "resumed" : "connected") : "lost")
            } else if self.isResumed != before.isResumed {
                parts.append(self.isResumed ? "resumed" : "connected anew")
            }
            if self.phase != before.phase { parts.append(self.phaseText) }
            if self.isSuspended != before.isSuspended {
                parts.append(self.isSuspended ? "client away" : "client back")
            }
            if let maneuver, self.maneuver != before.maneuver || self.maneuverState != before.maneuverState {
                parts.append("maneuver \(maneuver.rawValue), \(state.maneuverState.name)")
                if let estimates = state.maneuverEstimates[maneuver] {
                    parts.append(GuidanceText.distance(estimates))
                }
            } else if self.maneuver == nil, before.maneuver != nil, self.phase == .active {
                parts.append("no maneuver")
            }
            return parts.joined(separator: ", ")
        }

        private var phaseText: String {
            switch self.phase {
            case .idle: "idle"
            case .preview: "preview"
            case .active: "active"
            case .paused(let reason, _): "paused: \(reason.name)"
            case .ended(let reason): "ended: \(reason.word)"
            }
        }
    }
}
