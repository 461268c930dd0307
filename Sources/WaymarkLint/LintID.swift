internal import WaymarkProtocol

/// A lint rule, by the id under which it is reported and allowed. Docs/lint.md has an example of each.
public enum LintID: String, Sendable, Hashable, CaseIterable, Codable, CustomStringConvertible {
    /// A maneuver's type, junction, exit number or traffic side contradict each other.
    case maneuverKind = "LINT-MANEUVER-KIND"
    /// A maneuver's exit angle contradicts its type or the other roads of the junction.
    case maneuverAngle = "LINT-MANEUVER-ANGLE"
    /// A maneuver does not link to the lanes that are shown before it.
    case laneLink = "LINT-LANE-LINK"
    /// The lanes that a maneuver links to are not shown before it.
    case laneUnshown = "LINT-LANE-UNSHOWN"
    /// Lanes are still shown after their maneuver was passed.
    case laneStale = "LINT-LANE-STALE"
    /// Lanes are shown, and none says which arrow to follow.
    case laneHighlight = "LINT-LANE-HIGHLIGHT"
    /// A lane that does not lead along the route has a highlighted arrow.
    case laneStatus = "LINT-LANE-STATUS"
    /// The highlighted arrows of lanes contradict the maneuver that links to them.
    case laneArrow = "LINT-LANE-ARROW"
    /// The lanes of a later maneuver are shown before the next one.
    case laneLater = "LINT-LANE-LATER"
    /// The current road has the name of the road behind the next maneuver.
    case roadNext = "LINT-ROAD-NEXT"
    /// The distance to the destination rises on the same route.
    case tripRises = "LINT-TRIP-RISES"
    /// The distance to the destination stays the same while the next maneuvers come nearer.
    case tripStays = "LINT-TRIP-STAYS"
    /// The distance to the next maneuver rises on the same route.
    case maneuverRises = "LINT-MANEUVER-RISES"
    /// The next maneuver is farther away than the destination.
    case maneuverFarther = "LINT-MANEUVER-FARTHER"
    /// The distance to the next maneuver stays the same while the destination comes nearer.
    case maneuverStays = "LINT-MANEUVER-STAYS"
    /// The distances to the destination and to the next maneuvers fall by different amounts.
    case estimatesDiffer = "LINT-ESTIMATES-DIFFER"
    /// Estimates right after a new route contradict those in the route.
    case routeEstimates = "LINT-ROUTE-ESTIMATES"
    /// Estimates belong to another maneuver than the next.
    case estimatesOther = "LINT-ESTIMATES-OTHER"
    /// No maneuver is next while guidance is active.
    case upcomingNone = "LINT-UPCOMING-NONE"
    /// The next maneuvers are not in the order of the route.
    case upcomingOrder = "LINT-UPCOMING-ORDER"
    /// The maneuver state contradicts the distance to the maneuver.
    case stateDistance = "LINT-STATE-DISTANCE"
    /// The next maneuver is named while the state of the one before still holds.
    case stateOrder = "LINT-STATE-ORDER"
    /// The variants of a text are not ordered from the longest to the shortest.
    case textOrder = "LINT-TEXT-ORDER"
    /// A long text has no short variant.
    case textLong = "LINT-TEXT-LONG"
    /// The distance to display contradicts the true distance.
    case distanceDisplay = "LINT-DISTANCE-DISPLAY"
    /// The remaining time contradicts the remaining distance.
    case timeDistance = "LINT-TIME-DISTANCE"
    /// The time to the destination jumps on the same route.
    case timeJumps = "LINT-TIME-JUMPS"
    /// The next maneuver is farther away in time than the destination.
    case maneuverLater = "LINT-MANEUVER-LATER"
    /// The next speed limit is the one that holds already.
    case speedSame = "LINT-SPEED-SAME"
    /// The distance to the next speed limit does not fall.
    case speedDistance = "LINT-SPEED-DISTANCE"
    /// A speed limit has a value that no sign has.
    case speedValue = "LINT-SPEED-VALUE"
    /// A route segment does not begin where the one before it ends.
    case segmentJoin = "LINT-SEGMENT-JOIN"
    /// The current route segment does not contain the next maneuvers.
    case segmentManeuvers = "LINT-SEGMENT-MANEUVERS"
    /// A route segment's line contradicts its ends or its length.
    case segmentLine = "LINT-SEGMENT-LINE"
    /// The current route segment is behind the next maneuver.
    case segmentBehind = "LINT-SEGMENT-BEHIND"
    /// A client accepted a stop, and no new route followed.
    case requestReroute = "LINT-REQUEST-REROUTE"
    /// A client offers a trip without distance and time.
    case previewEstimates = "LINT-PREVIEW-ESTIMATES"
    /// A vehicle chooses a trip, or a route choice, that it was not offered.
    case previewUnknown = "LINT-PREVIEW-UNKNOWN"
    /// A client accepted to start a trip, and guidance on it did not start.
    case startGuidance = "LINT-START-GUIDANCE"
    /// Guidance starts again for the trip that is guided already.
    case startAgain = "LINT-START-AGAIN"
    /// A client answered a request twice, or one that it was not asked.
    case answerTwice = "LINT-ANSWER-TWICE"
    /// A client publishes the same value more often than a vehicle can show it.
    case rateFast = "LINT-RATE-FAST"
    /// A client that guides publishes no estimates for more than 10 seconds.
    case driveSilent = "LINT-DRIVE-SILENT"
    /// A client publishes estimates that change nothing that is displayed.
    case estimatesSame = "LINT-ESTIMATES-SAME"
    /// A client adds the maneuvers of a route one at a time.
    case maneuverSingle = "LINT-MANEUVER-SINGLE"
    /// A client names only one next maneuver.
    case upcomingSingle = "LINT-UPCOMING-SINGLE"
    /// A client declares a feature and never uses it.
    case featureUnused = "LINT-FEATURE-UNUSED"
    /// An alert of high priority may not interrupt the display.
    case alertQuiet = "LINT-ALERT-QUIET"
    /// A client shows more alerts than a driver can read.
    case alertFlood = "LINT-ALERT-FLOOD"
    /// A client continues guidance that was ended.
    case cancelIgnored = "LINT-CANCEL-IGNORED"
    /// A client's connection ends again and again, and it connects without waiting.
    case connectFast = "LINT-CONNECT-FAST"
    /// The gateway rejected a publication.
    case clientRejected = "LINT-CLIENT-REJECTED"
    /// The gateway rejected a message of a vehicle.
    case vehicleRejected = "LINT-VEHICLE-REJECTED"
    /// A vehicle's user was asked, and no answer came in time.
    case promptLate = "LINT-PROMPT-LATE"
    /// A vehicle answered a prompt twice, too late, or without being asked.
    case promptUnasked = "LINT-PROMPT-UNASKED"
    /// A vehicle answered an alert that was no longer shown.
    case alertStale = "LINT-ALERT-STALE"
    /// A vehicle's receipts are wrong or missing.
    case receiptWrong = "LINT-RECEIPT-WRONG"
    /// A peer came back without the token that continues its session.
    case resumeForgotten = "LINT-RESUME-FORGOTTEN"
    /// A vehicle came back with another number than that of what it holds.
    case resumeCursor = "LINT-RESUME-CURSOR"
    /// A vehicle read too slowly or stopped answering, so that the gateway closed its connection.
    case readSlow = "LINT-READ-SLOW"
    /// A peer sent nothing in an interval of its keepalive.
    case peerSilent = "LINT-PEER-SILENT"

    /// Its id, e.g. `LINT-LANE-LINK`.
    public var description: String { self.rawValue }

    /// The meaning of a finding, as a sentence.
    public var sentence: String {
        switch self {
        case .maneuverKind: "A maneuver's type, junction, exit number or traffic side contradict each other."
        case .maneuverAngle:
            "A maneuver's exit angle contradicts its type or the other roads of the junction."
        case .laneLink: "A maneuver does not link to the lanes that are shown before it."
        case .laneUnshown: "The lanes that a maneuver links to are not shown before it."
        case .laneStale: "Lanes are still shown after their maneuver was passed."
        case .laneHighlight: "Lanes are shown, and none says which arrow to follow."
        case .laneStatus: "A lane that does not lead along the route has a highlighted arrow."
        case .laneArrow: "The highlighted arrows of lanes contradict the maneuver that links to them."
        case .laneLater: "The lanes of a later maneuver are shown before the next one."
        case .roadNext: "The current road has the name of the road behind the next maneuver."
        case .tripRises: "The distance to the destination rises on the same route."
        case .tripStays:
            "The distance to the destination stays the same while the next maneuvers come nearer."
        case .maneuverRises: "The distance to the next maneuver rises on the same route."
        case .maneuverFarther: "The next maneuver is farther away than the destination."
        case .maneuverStays:
            "The distance to the next maneuver stays the same while the destination comes nearer."
        case .estimatesDiffer:
            "The distances to the destination and to the next maneuvers fall by different amounts."
        case .routeEstimates: "Estimates right after a new route contradict those in the route."
        case .estimatesOther: "Estimates belong to another maneuver than the next."
        case .upcomingNone: "No maneuver is next while guidance is active."
        case .upcomingOrder: "The next maneuvers are not in the order of the route."
        case .stateDistance: "The maneuver state contradicts the distance to the maneuver."
        case .stateOrder: "The next maneuver is named while the state of the one before still holds."
        case .textOrder: "The variants of a text are not ordered from the longest to the shortest."
        case .textLong: "A long text has no short variant."
        case .distanceDisplay: "The distance to display contradicts the true distance."
        case .timeDistance: "The remaining time contradicts the remaining distance."
        case .timeJumps: "The time to the destination jumps on the same route."
        case .maneuverLater: "The next maneuver is farther away in time than the destination."
        case .speedSame: "The next speed limit is the one that holds already."
        case .speedDistance: "The distance to the next speed limit does not fall."
        case .speedValue: "A speed limit has a value that no sign has."
        case .segmentJoin: "A route segment does not begin where the one before it ends."
        case .segmentManeuvers: "The current route segment does not contain the next maneuvers."
        case .segmentLine: "A route segment's line contradicts its ends or its length."
        case .segmentBehind: "The current route segment is behind the next maneuver."
        case .requestReroute: "A client accepted a stop, and no new route followed."
        case .previewEstimates: "A client offers a trip without distance and time."
        case .previewUnknown: "A vehicle chooses a trip, or a route choice, that it was not offered."
        case .startGuidance: "A client accepted to start a trip, and guidance on it did not start."
        case .startAgain: "Guidance starts again for the trip that is guided already."
        case .answerTwice: "A client answered a request twice, or one that it was not asked."
        case .rateFast: "A client publishes the same value more often than a vehicle can show it."
        case .driveSilent: "A client that guides publishes no estimates for more than 10 seconds."
        case .estimatesSame: "A client publishes estimates that change nothing that is displayed."
        case .maneuverSingle: "A client adds the maneuvers of a route one at a time."
        case .upcomingSingle: "A client names only one next maneuver."
        case .featureUnused: "A client declares a feature and never uses it."
        case .alertQuiet: "An alert of high priority may not interrupt the display."
        case .alertFlood: "A client shows more alerts than a driver can read."
        case .cancelIgnored: "A client continues guidance that was ended."
        case .connectFast: "A client's connection ends again and again, and it connects without waiting."
        case .clientRejected: "The gateway rejected a publication."
        case .vehicleRejected: "The gateway rejected a message of a vehicle."
        case .promptLate: "A vehicle's user was asked, and no answer came in time."
        case .promptUnasked: "A vehicle answered a prompt twice, too late, or without being asked."
        case .alertStale: "A vehicle answered an alert that was no longer shown."
        case .receiptWrong: "A vehicle's receipts are wrong or missing."
        case .resumeForgotten: "A peer came back without the token that continues its session."
        case .resumeCursor: "A vehicle came back with another number than that of what it holds."
        case .peerSilent: "A peer sent nothing in an interval of its keepalive."
        case .readSlow:
            "A vehicle read too slowly or stopped answering, so that the gateway closed its connection."
        }
    }

    /// It judges texts or places, which an observer may not see.
    package var needsContent: Bool {
        [.textOrder, .textLong, .segmentJoin, .segmentLine, .roadNext].contains(self)
    }

    /// It judges when something came, or that it did not come: what a fault delays is no mistake.
    var dependsOnTime: Bool {
        switch self {
        case .laneLink, .laneStale, .maneuverFarther, .estimatesOther, .upcomingNone, .stateDistance,
            .segmentManeuvers, .requestReroute, .rateFast, .driveSilent, .cancelIgnored, .promptLate,
            .alertStale, .receiptWrong, .readSlow, .promptUnasked, .peerSilent, .tripStays, .timeDistance,
            .routeEstimates, .stateOrder, .answerTwice, .estimatesSame, .speedDistance,
            .previewUnknown, .startGuidance, .timeJumps, .maneuverLater, .maneuverStays, .estimatesDiffer,
            .laneLater, .roadNext, .segmentBehind, .alertFlood, .connectFast:
            true
        case .maneuverKind, .maneuverAngle, .laneUnshown, .laneHighlight, .laneStatus, .tripRises,
            .maneuverRises, .upcomingOrder, .textOrder, .distanceDisplay, .segmentJoin, .clientRejected,
            .vehicleRejected, .resumeForgotten, .resumeCursor, .maneuverSingle, .featureUnused,
            .alertQuiet, .speedSame, .speedValue, .previewEstimates, .laneArrow, .segmentLine, .startAgain,
            .upcomingSingle, .textLong:
            false
        }
    }

    /// It judges resumption tokens or Pings, which no observer sees and no recording has.
    package var isForRunsAlone: Bool { [.resumeForgotten, .resumeCursor, .peerSilent].contains(self) }
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
