internal import WaymarkProtocol

/// A lint rule, by the id under which it is reported and allowed. Docs/lint.md has an example of each.
package enum LintID: String, Sendable, Hashable, CaseIterable, Codable, CustomStringConvertible {
    case maneuverKind = "LINT-MANEUVER-KIND"
    case maneuverAngle = "LINT-MANEUVER-ANGLE"
    case laneLink = "LINT-LANE-LINK"
    case laneUnshown = "LINT-LANE-UNSHOWN"
    case laneStale = "LINT-LANE-STALE"
    case laneHighlight = "LINT-LANE-HIGHLIGHT"
    case laneStatus = "LINT-LANE-STATUS"
    case tripRises = "LINT-TRIP-RISES"
    case maneuverRises = "LINT-MANEUVER-RISES"
    case maneuverFarther = "LINT-MANEUVER-FARTHER"
    case estimatesOther = "LINT-ESTIMATES-OTHER"
    case upcomingNone = "LINT-UPCOMING-NONE"
    case upcomingOrder = "LINT-UPCOMING-ORDER"
    case stateDistance = "LINT-STATE-DISTANCE"
    case textOrder = "LINT-TEXT-ORDER"
    case distanceDisplay = "LINT-DISTANCE-DISPLAY"
    case segmentJoin = "LINT-SEGMENT-JOIN"
    case segmentManeuvers = "LINT-SEGMENT-MANEUVERS"
    case requestReroute = "LINT-REQUEST-REROUTE"
    case rateFast = "LINT-RATE-FAST"
    case driveSilent = "LINT-DRIVE-SILENT"
    case cancelIgnored = "LINT-CANCEL-IGNORED"
    case clientRejected = "LINT-CLIENT-REJECTED"
    case vehicleRejected = "LINT-VEHICLE-REJECTED"
    case promptLate = "LINT-PROMPT-LATE"
    case alertStale = "LINT-ALERT-STALE"
    case receiptWrong = "LINT-RECEIPT-WRONG"
    case resumeForgotten = "LINT-RESUME-FORGOTTEN"
    case readSlow = "LINT-READ-SLOW"

    package var description: String { self.rawValue }

    /// What a finding means, as a sentence.
    package var sentence: String {
        switch self {
        case .maneuverKind: "A maneuver's type, junction, exit number or traffic side contradict each other."
        case .maneuverAngle:
            "A maneuver's exit angle contradicts its type or the other roads of the junction."
        case .laneLink: "A maneuver does not link to the lanes that are shown before it."
        case .laneUnshown: "The lanes that a maneuver links to are not shown before it."
        case .laneStale: "Lanes are still shown after their maneuver was passed."
        case .laneHighlight: "Lanes are shown, and none says which arrow to follow."
        case .laneStatus: "A lane that does not lead along the route has a highlighted arrow."
        case .tripRises: "The distance to the destination rises on the same route."
        case .maneuverRises: "The distance to the next maneuver rises on the same route."
        case .maneuverFarther: "The next maneuver is farther away than the destination."
        case .estimatesOther: "Estimates belong to another maneuver than the next."
        case .upcomingNone: "No maneuver is next while guidance is active."
        case .upcomingOrder: "The next maneuvers are not in the order of the route."
        case .stateDistance: "The maneuver state contradicts the distance to the maneuver."
        case .textOrder: "The variants of a text are not ordered from the longest to the shortest."
        case .distanceDisplay: "The distance to display contradicts the true distance."
        case .segmentJoin: "A route segment does not begin where the one before it ends."
        case .segmentManeuvers: "The current route segment does not contain the next maneuvers."
        case .requestReroute: "A client accepted a stop, and no new route followed."
        case .rateFast: "A client publishes the same value more often than a vehicle can show it."
        case .driveSilent: "A client that guides publishes no estimates for more than 10 seconds."
        case .cancelIgnored: "A client continues guidance that was ended."
        case .clientRejected: "The gateway rejected a publication."
        case .vehicleRejected: "The gateway rejected a message of a vehicle."
        case .promptLate: "A vehicle's user was asked, and no answer came in time."
        case .alertStale: "A vehicle answered an alert that was no longer shown."
        case .receiptWrong: "A vehicle's receipts are wrong or missing."
        case .resumeForgotten: "A peer came back without the token that continues its session."
        case .readSlow:
            "A vehicle read too slowly or stopped answering, so that the gateway closed its connection."
        }
    }

    /// It judges texts or places, which an observer may not see.
    package var needsContent: Bool { [.textOrder, .segmentJoin].contains(self) }

    /// It judges when something came, or that it did not come: what a fault delays is no mistake.
    var dependsOnTime: Bool {
        switch self {
        case .laneLink, .laneStale, .maneuverFarther, .estimatesOther, .upcomingNone, .stateDistance,
            .segmentManeuvers, .requestReroute, .rateFast, .driveSilent, .cancelIgnored, .promptLate,
            .alertStale, .receiptWrong, .readSlow:
            true
        case .maneuverKind, .maneuverAngle, .laneUnshown, .laneHighlight, .laneStatus, .tripRises,
            .maneuverRises, .upcomingOrder, .textOrder, .distanceDisplay, .segmentJoin, .clientRejected,
            .vehicleRejected, .resumeForgotten:
            false
        }
    }

    /// It judges resumption tokens, which no observer sees.
    package var needsTokens: Bool { self == .resumeForgotten }
}

extension LintID {
    /// The rule about fields that contradict each other, for which a gateway rejects a publication; nil if it is for another reason.
    init?(_ rejection: Rejection) {
        guard rejection.code == .inconsistent else { return nil }
        if rejection.field.contains("junction_element_angles_degrees[") {
            self = .maneuverAngle
        } else if rejection.field.hasSuffix("highlighted_angle_degrees") {
            self = rejection.reason.contains("NOT_GOOD") ? .laneStatus : .laneHighlight
        } else {
            return nil
        }
    }

    /// What such a rejection means.
    var contradiction: String {
        switch self {
        case .maneuverAngle: "the exit angle is among the other roads"
        case .laneStatus: "a lane that is not good has a highlighted arrow"
        default: "the highlighted arrow of a lane is none of its arrows"
        }
    }
}

/// A rule whose findings are expected, and why.
package struct LintAllowance: Sendable, Hashable {
    package let rule: LintID
    /// Not empty.
    package let reason: String

    package init(_ rule: LintID, reason: String) {
        self.rule = rule
        self.reason = reason
    }
}
