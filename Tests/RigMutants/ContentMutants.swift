import WaymarkModel
import WaymarkProtocol
import WaymarkRig

// What clients say wrong: units, signs, enumerations, lanes, texts.
extension Mutant {
    static let ofContent = Self.ofEstimates + Self.ofManeuvers + Self.ofLanes + Self.ofTexts

    private static let ofEstimates: [Mutant] = [
        .publishes("sends kilometres in the field for metres", in: "vehicle-navigates-itself") {
            publication, _ in
            [
                publication.changingEstimates {
                    $0.distanceRemaining = .meters($0.distanceRemaining.meters / 1_000)
                }
            ]
        },
        .publishes("sends minutes in the field for seconds", in: "vehicle-navigates-itself") {
            publication, _ in
            [publication.changingEstimates { $0.timeRemaining = $0.timeRemaining.map { $0 / 60 } }]
        },
        .publishes("takes tenths of the displayed distance for whole units") { publication, _ in
            [
                publication.changingEstimates { $0.distanceRemainingToDisplay?.valueTenths /= 10 }
            ]
        },
        .publishes("says kilometres with a displayed distance in metres") { publication, _ in
            [publication.changingEstimates { $0.distanceRemainingToDisplay?.unit = .kilometers }]
        },
        .publishes("publishes the distance driven instead of the distance that remains") {
            publication, memory in
            var whole = memory.count
            if let estimates = publication.newRoute?.tripTravelEstimates {
                whole = Int(estimates.distanceRemaining.meters)
            }
            memory.count = whole
            return [
                publication.changingTripEstimates {
                    $0.distanceRemaining = .meters(
                        UInt32(max(0, whole - Int($0.distanceRemaining.meters))))
                    $0.distanceRemainingToDisplay = nil
                }
            ]
        },
        .publishes("publishes the estimates to the next maneuver as those of the trip") {
            publication, memory in
            if case .maneuverEstimates(_, let estimates, _) = publication { memory.estimates = estimates }
            let estimates = memory.estimates
            return [publication.changingTripEstimates { if let estimates { $0 = estimates } }]
        },
        .publishes("leaves the way to the next maneuver out of the trip's estimates") { publication, memory in
            if case .maneuverEstimates(_, let estimates, _) = publication { memory.estimates = estimates }
            let next = memory.estimates?.distanceRemaining.meters ?? 0
            return [
                publication.changingTripEstimates {
                    $0.distanceRemaining = .meters(
                        $0.distanceRemaining.meters > next ? $0.distanceRemaining.meters - next : 0)
                    $0.distanceRemainingToDisplay = nil
                }
            ]
        },
        .publishes("never updates the estimates of the trip") { publication, _ in
            if case .tripEstimates = publication { [] } else { [publication] }
        },
        .publishes("computes the remaining time once, and repeats it") { publication, memory in
            if let estimates = publication.newRoute?.tripTravelEstimates { memory.estimates = estimates }
            let first = memory.estimates?.timeRemaining
            return [publication.changingTripEstimates { $0.timeRemaining = first }]
        },
        .publishes("publishes estimates for the maneuver before") { publication, _ in
            guard case .maneuverEstimates(let id, let estimates, let generation) = publication,
                id.rawValue > 1
            else { return [publication] }
            let before = ManeuverID(rawValue: id.rawValue - 1)
            return [.maneuverEstimates(before, estimates, generation: generation)]
        },
        .publishes("measures distances in a straight line from a noisy position") { publication, memory in
            memory.count += 1
            let noise = memory.count % 3 == 0 ? UInt32(250) : 0
            return [
                publication.changingEstimates {
                    $0.distanceRemaining = .meters($0.distanceRemaining.meters + noise)
                    $0.distanceRemainingToDisplay = nil
                }
            ]
        },
    ]

    private static let ofManeuvers: [Mutant] = [
        .publishes("counts angles to the left as positive") { publication, _ in
            [
                publication.changingManeuvers { maneuver in
                    maneuver.junctionExitAngle = maneuver.junctionExitAngle.map {
                        .degrees(-Int($0.degrees))
                    }
                    maneuver.junctionElementAngles = maneuver.junctionElementAngles.map {
                        .degrees(-Int($0.degrees))
                    }
                }
            ]
        },
        .publishes("sends angles in radians") { publication, _ in
            [
                publication.changingManeuvers { maneuver in
                    maneuver.junctionExitAngle = maneuver.junctionExitAngle.map {
                        .degrees(Int($0.degrees) / 57)
                    }
                    maneuver.junctionElementAngles = []
                }
            ]
        },
        .publishes("measures angles from the road that one comes from") { publication, _ in
            [
                publication.changingManeuvers { maneuver in
                    maneuver.junctionExitAngle = maneuver.junctionExitAngle.map {
                        .degrees(Int($0.degrees) + 180)
                    }
                    maneuver.junctionElementAngles = maneuver.junctionElementAngles.map {
                        .degrees(Int($0.degrees) + 180)
                    }
                }
            ]
        },
        .publishes("lists the exit among the other roads of a junction") { publication, _ in
            [
                publication.changingManeuvers { maneuver in
                    if let exit = maneuver.junctionExitAngle { maneuver.junctionElementAngles.append(exit) }
                }
            ]
        },
        .publishes("confuses left and right in the types of maneuvers") { publication, _ in
            [
                publication.changingManeuvers { maneuver in
                    switch maneuver.type {
                    case .leftTurn: maneuver.type = .rightTurn
                    case .rightTurn: maneuver.type = .leftTurn
                    case .slightLeftTurn: maneuver.type = .slightRightTurn
                    case .slightRightTurn: maneuver.type = .slightLeftTurn
                    case .keepLeft: maneuver.type = .keepRight
                    case .keepRight: maneuver.type = .keepLeft
                    default: break
                    }
                }
            ]
        },
        .publishes("counts the exits of roundabouts from 0") { publication, _ in
            [
                publication.changingManeuvers { maneuver in
                    if let exit = maneuver.type.roundaboutExit, exit > 1,
                        let type = ManeuverType.roundaboutExit(exit - 1)
                    {
                        maneuver.type = type
                    }
                }
            ]
        },
        .publishes("never sets the type of a maneuver") { publication, _ in
            [publication.changingManeuvers { $0.type = .noTurn }]
        },
        .publishes("says intersection for roundabouts") { publication, _ in
            [publication.changingManeuvers { $0.junctionType = .intersection }]
        },
        .publishes("says that all traffic keeps to the right", in: "left-hand-traffic") { publication, _ in
            [publication.changingManeuvers { $0.trafficSide = .right }]
        },
        .publishes("leaves the arrival out of the maneuvers") { publication, memory in
            if let last = publication.newRoute?.maneuvers.last { memory.maneuvers = [last.id] }
            let last = memory.maneuvers.first
            switch publication {
            case .upcomingManeuvers(let ids, let generation):
                return [.upcomingManeuvers(ids.filter { $0 != last }, generation: generation)]
            case .maneuverEstimates(let id, _, _) where id == last: return []
            default:
                return [
                    publication.changingRoute { route in
                        route.maneuvers.removeLast()
                        route.upcomingManeuvers.removeAll { $0 == last }
                        for index in route.segments.indices {
                            route.segments[index].maneuvers.removeAll { $0 == last }
                            route.segments[index].currentManeuvers.removeAll { $0 == last }
                        }
                    }
                ]
            }
        },
    ]

    private static let ofLanes: [Mutant] = [
        .publishes("lists lanes from right to left", in: "right-turn-lanes") { publication, _ in
            [publication.changingLanes { $0.reverse() }]
        },
        .publishes("numbers the status of lanes from good to bad", in: "right-turn-lanes") { publication, _ in
            [
                publication.changingLanes { lanes in
                    for index in lanes.indices {
                        lanes[index].status = LaneStatus(rawValue: 2 - min(2, lanes[index].status.rawValue))
                    }
                }
            ]
        },
        .publishes("counts the highlighted angle of a lane to the left", in: "right-turn-lanes") {
            publication, _ in
            [
                publication.changingLanes { lanes in
                    for index in lanes.indices {
                        lanes[index].highlightedAngle = lanes[index].highlightedAngle.map {
                            .degrees(-Int($0.degrees))
                        }
                    }
                }
            ]
        },
        .publishes("highlights no angle of a lane", in: "right-turn-lanes") { publication, _ in
            [
                publication.changingLanes { lanes in
                    for index in lanes.indices { lanes[index].highlightedAngle = nil }
                }
            ]
        },
        .publishes("shows lanes and never takes them away", in: "right-turn-lanes") { publication, _ in
            if case .currentLaneGuidance(nil, _) = publication { [] } else { [publication] }
        },
        .publishes("shows the lanes of the next junction but one", in: "right-turn-lanes") {
            publication, memory in
            if let route = publication.newRoute { memory.count = route.laneGuidances.count }
            guard case .currentLaneGuidance(let id?, let generation) = publication,
                id.rawValue < memory.count
            else { return [publication] }
            let next = LaneGuidanceID(rawValue: id.rawValue + 1)
            return [.currentLaneGuidance(next, generation: generation)]
        },
        .publishes("links no maneuver with its lanes", in: "right-turn-lanes") { publication, _ in
            [publication.changingManeuvers { $0.linkedLaneGuidance = nil }]
        },
    ]

    private static let ofTexts: [Mutant] = [
        .publishes("sorts instructions by length, shortest first", in: "short-texts") { publication, _ in
            [publication.changingManeuvers { $0.instructionVariants.reverse() }]
        },
        .publishes("sends maneuvers without instructions", in: "small-cluster") { publication, _ in
            [publication.changingManeuvers { $0.instructionVariants = [] }]
        },
        .publishes("shows an alert for seconds in the field for milliseconds", in: "alert-answered") {
            publication, _ in
            guard case .showAlert(var alert) = publication else { return [publication] }
            alert.duration = alert.duration.map { $0 / 1_000 }
            return [.showAlert(alert)]
        },
        .publishes("gives every alert the same id", in: "slow-cluster-misses-no-event") { publication, _ in
            guard case .showAlert(var alert) = publication else { return [publication] }
            alert.id = 1
            return [.showAlert(alert)]
        },
        .publishes("never dismisses an alert", in: "alert-answered") { publication, _ in
            if case .dismissAlert = publication { [] } else { [publication] }
        },
    ]
}
