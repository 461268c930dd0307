internal import WaymarkLint
internal import WaymarkModel
internal import WaymarkProtocol

extension Mutation {
    /// Mistakes in maneuvers, lanes, texts and segments.
    package static let ofContent: [Mutation] = [
        .maneuver("roundabouts are told as intersections", finds: .maneuverKind) { maneuver, _ in
            maneuver.junctionType = .intersection
        },
        .maneuver("the number of a roundabout's exit is one too high", finds: .maneuverKind) { maneuver, _ in
            maneuver.roundaboutExitNumber = maneuver.roundaboutExitNumber.map { $0 + 1 }
        },
        .maneuver("exits of roundabouts have the type of the next exit", finds: .maneuverKind) {
            maneuver, _ in
            guard let exit = maneuver.type.roundaboutExit else { return }
            maneuver.type = .roundaboutExit(exit + 1) ?? maneuver.type
        },
        .maneuver("no maneuver has a type", finds: .maneuverKind) { maneuver, _ in maneuver.type = .noTurn },
        .maneuver("every third maneuver is on the other side of the road", finds: .maneuverKind) {
            maneuver, index in
            if index % 3 == 2 { maneuver.trafficSide = maneuver.trafficSide == .left ? .right : .left }
        },
        .maneuver("angles are counted counterclockwise", finds: .maneuverAngle) { maneuver, _ in
            maneuver.junctionExitAngle = maneuver.junctionExitAngle.map { .degrees(-Int($0.degrees)) }
        },
        .maneuver("the exit is among the other roads", finds: .maneuverAngle) { maneuver, _ in
            guard let angle = maneuver.junctionExitAngle else { return }
            maneuver.junctionElementAngles = (maneuver.junctionElementAngles + [angle]).sorted()
        },
        .maneuver("left and right are exchanged", finds: .maneuverAngle) { maneuver, _ in
            switch maneuver.type {
            case .leftTurn: maneuver.type = .rightTurn
            case .rightTurn: maneuver.type = .leftTurn
            default: break
            }
        },
        .maneuver("angles are compass bearings", finds: .maneuverAngle) { maneuver, index in
            maneuver.junctionExitAngle = maneuver.junctionExitAngle.map {
                .degrees(Int($0.degrees) + 97 * index)
            }
        },
        .maneuver("every turn is a sharp one", finds: .maneuverAngle) { maneuver, _ in
            switch maneuver.type {
            case .leftTurn, .slightLeftTurn: maneuver.type = .sharpLeftTurn
            case .rightTurn, .slightRightTurn: maneuver.type = .sharpRightTurn
            default: break
            }
        },
        .maneuver("every turn is straight ahead on the same road", finds: .maneuverKind) { maneuver, _ in
            maneuver.roadFollowingManeuverVariants = ["Landstrasse"]
            if [.leftTurn, .rightTurn].contains(maneuver.type) { maneuver.type = .straightAhead }
        },
        .maneuver("angles are radians", finds: .maneuverAngle) { maneuver, _ in
            maneuver.junctionExitAngle = maneuver.junctionExitAngle.map { .degrees(Int($0.degrees) / 57) }
        },
        .maneuver("no maneuver links to its lanes", finds: .laneLink) { maneuver, _ in
            maneuver.linkedLaneGuidance = nil
        },
        .maneuver("maneuvers link to the lanes after theirs", finds: .laneLink) { maneuver, _ in
            maneuver.linkedLaneGuidance = maneuver.linkedLaneGuidance.map {
                LaneGuidanceID(rawValue: $0.rawValue + 1)
            }
        },
        .route("lanes are never added", finds: .laneLink) { route in
            route.laneGuidances = []
            route.currentLaneGuidance = nil
            for index in route.segments.indices {
                route.segments[index].laneGuidances = []
                route.segments[index].currentLaneGuidance = nil
            }
        },
        .lane("no arrow is highlighted", finds: .laneHighlight) { $0.highlightedAngle = nil },
        .lane("the highlighted arrow is none of the lane's", finds: .laneHighlight) { lane in
            lane.highlightedAngle = lane.highlightedAngle.map { .degrees(Int($0.degrees) + 10) }
        },
        .lane("wrong lanes are highlighted, too", finds: .laneStatus) { lane in
            if lane.status == .notGood { lane.highlightedAngle = lane.angles.first }
        },
        .lane("all lanes are good", finds: nil) { $0.status = .good },
        .route("lanes come from right to left", finds: nil) { route in
            for index in route.laneGuidances.indices { route.laneGuidances[index].lanes.reverse() }
        },
        .lane("lanes are mirrored", finds: .laneArrow) { lane in
            lane.angles = lane.angles.reversed().map { .degrees(-Int($0.degrees)) }
            lane.highlightedAngle = lane.highlightedAngle.map { .degrees(-Int($0.degrees)) }
        },
        .maneuver("instructions have no short variant", finds: .textLong) { maneuver, _ in
            maneuver.instructionVariants = [String(repeating: "In 300 metres turn left. ", count: 4)]
        },
        .maneuver("instructions come shortest first", finds: .textOrder) { maneuver, _ in
            maneuver.instructionVariants = ["On", "Drive on"] + maneuver.instructionVariants.prefix(1)
        },
        .maneuver("the same instruction is there twice", finds: .textOrder) { maneuver, _ in
            let first = maneuver.instructionVariants.prefix(1)
            maneuver.instructionVariants = Array(first + first)
        },
        .of("a road's names are sorted by the alphabet", finds: .textOrder) { publication, _ in
            guard case .plain(.currentRoadName(let names)) = publication, !names.isEmpty else {
                return publication
            }
            return .currentRoadName((names + ["A \(names[0])"]).sorted())
        },
        .of("the trip's places have the short name first", finds: .textOrder) { publication, _ in
            guard case .startGuidance(var trip, let generation, let route) = publication else {
                return publication
            }
            trip.destination.nameVariants = ["Home", "Landstrasse 1, Home"]
            return .startGuidance(trip, generation: generation, route)
        },
        .route("segments have no maneuvers", finds: .segmentManeuvers) { route in
            for index in route.segments.indices { route.segments[index].maneuvers = [] }
        },
        .route("the maneuvers of all segments are in the first", finds: .segmentManeuvers) { route in
            for index in route.segments.indices {
                route.segments[index].maneuvers = index == 0 ? route.maneuvers.map(\.id) : []
            }
        },
        .route("segments come in reverse", finds: .segmentJoin) { route in
            route.segments.reverse()
            route.currentSegment = route.segments.last?.id
        },
        .route("a segment's line ends one kilometre too early", finds: .segmentJoin) { route in
            for index in route.segments.indices {
                route.segments[index].coordinates.removeLast(route.segments[index].coordinates.count / 2)
            }
        },
        .route("lines have latitude and longitude swapped", finds: .segmentLine) { route in
            for index in route.segments.indices {
                route.segments[index].coordinates = route.segments[index].coordinates.map {
                    Coordinate(latitude: $0.longitude, longitude: $0.latitude)
                }
            }
        },
        .route("lines begin at their end", finds: .segmentJoin) { route in
            for index in route.segments.indices { route.segments[index].coordinates.reverse() }
        },
        .of("the last segment is current from the begin", finds: .segmentManeuvers) { publication, memory in
            switch publication {
            case .startGuidance(let trip, let generation, var route):
                route.currentSegment = route.segments.last?.id
                return .startGuidance(trip, generation: generation, route)
            case .currentRouteSegment(_, let generation):
                return memory.route.segments.last.map { .currentRouteSegment($0.id, generation: generation) }
            default: return publication
            }
        },
        .route("maneuvers are added in reverse", finds: .upcomingOrder) { $0.maneuvers.reverse() },
    ]
}
