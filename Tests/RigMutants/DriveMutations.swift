internal import WaymarkLint
internal import WaymarkModel
internal import WaymarkProtocol

extension TravelEstimates {
    fileprivate mutating func setMeters(_ meters: Double) {
        self.distanceRemaining = .meters(rounding: meters)
        self.distanceRemainingToDisplay = .rounded(self.distanceRemaining, units: .metric)
    }

    fileprivate var meters: Double { Double(self.distanceRemaining.meters) }
}

extension Mutation {
    /// Mistakes in what changes while a client drives.
    package static let ofDrive: [Mutation] = Self.ofEstimates + Self.ofStates + Self.ofPace

    private static let ofEstimates: [Mutation] = [
        .trip("the distance is what was driven", finds: .tripRises) { estimates, memory in
            if memory.seconds == 0 { memory.seconds = estimates.meters }
            estimates.setMeters(memory.seconds - estimates.meters)
        },
        .trip("the distance jumps with the position", finds: .tripRises) { estimates, memory in
            estimates.setMeters(estimates.meters + (memory.count % 5 == 4 ? 400 : 0))
        },
        .trip("the distance to the destination is that to the maneuver", finds: .tripRises) {
            estimates, memory in
            estimates.setMeters(Double(memory.maneuver))
        },
        .trip("the distance to the destination is the straight line", finds: .maneuverFarther) {
            estimates, _ in
            estimates.setMeters(estimates.meters * 0.6)
        },
        .trip("distances are feet", finds: .routeEstimates) { estimates, _ in
            estimates.setMeters(estimates.meters * 3.28)
        },
        .trip("the distance is never updated", finds: .tripStays) { estimates, memory in
            estimates = memory.estimates ?? estimates
            memory.estimates = estimates
        },
        .trip("the time is now and then that of another route", finds: .timeJumps) { estimates, memory in
            if memory.count % 10 == 9 { estimates.timeRemaining = estimates.timeRemaining.map { $0 * 2 } }
        },
        .trip("the time is always 0", finds: .timeDistance) { estimates, _ in estimates.timeRemaining = .zero
        },
        .distance("the distance is that from the maneuver before", finds: .maneuverRises) {
            estimates, memory in
            estimates.setMeters(max(0, 3_000 - estimates.meters))
        },
        .distance("the distance to the maneuver is that to the destination and back", finds: .maneuverFarther)
        {
            estimates, memory in
            estimates.setMeters(Double(memory.trip) * 2)
        },
        .distance("the distance to the maneuver jumps", finds: .maneuverRises) { estimates, memory in
            estimates.setMeters(estimates.meters + (memory.count % 4 == 3 ? 300 : 0))
        },
        .distance("the true distance is in feet", finds: .distanceDisplay) { estimates, _ in
            estimates.distanceRemaining = .meters(rounding: estimates.meters * 3.28)
        },
        .distance("the distance to display is in another unit than it says", finds: .distanceDisplay) {
            estimates, _ in
            estimates.distanceRemainingToDisplay?.unit = .miles
        },
        .distance("the distance to display lacks its tenths", finds: .distanceDisplay) { estimates, _ in
            estimates.distanceRemainingToDisplay?.valueTenths /= 10
        },
        .trip("the distance to display stays what it was", finds: .distanceDisplay) { estimates, memory in
            memory.estimates = memory.estimates ?? estimates
            estimates.distanceRemainingToDisplay = memory.estimates?.distanceRemainingToDisplay
        },
        .of("estimates belong to the maneuver after the next", finds: .estimatesOther) {
            publication, memory in
            guard case .maneuverEstimates(_, let estimates, let generation) = publication,
                memory.upcoming.count > 1
            else { return publication }
            return .maneuverEstimates(memory.upcoming[1], estimates, generation: generation)
        },
    ]

    private static let ofStates: [Mutation] = [
        .of("a maneuver is carried out as soon as it is next", finds: .stateDistance) { publication, _ in
            guard case .maneuverState(_, let generation) = publication else { return publication }
            return .maneuverState(.execute, generation: generation)
        },
        .of("a maneuver is never carried out", finds: .stateDistance) { publication, _ in
            if case .maneuverState = publication { nil } else { publication }
        },
        .of("initial is told as execute", finds: .stateDistance) { publication, _ in
            guard case .maneuverState(.initial, let generation) = publication else { return publication }
            return .maneuverState(.execute, generation: generation)
        },
        .of("execute is told as continue", finds: .stateDistance) { publication, _ in
            guard case .maneuverState(.execute, let generation) = publication else { return publication }
            return .maneuverState(.continue, generation: generation)
        },
        Mutation("states come 20 s late", finds: .stateDistance) { publication, _ in
            if case .maneuverState = publication {
                [(.seconds(20), publication)]
            } else {
                [(.zero, publication)]
            }
        },
        .of("the next maneuvers come in reverse", finds: .upcomingOrder) { publication, _ in
            guard case .upcomingManeuvers(let ids, let generation) = publication else { return publication }
            return .upcomingManeuvers(ids.reversed(), generation: generation)
        },
        .of("the next maneuvers are sorted by their ids, as texts", finds: .upcomingOrder) { publication, _ in
            guard case .upcomingManeuvers(let ids, let generation) = publication else { return publication }
            return .upcomingManeuvers(
                ids.sorted { "\($0.rawValue)" < "\($1.rawValue)" }, generation: generation)
        },
        Mutation("the former maneuver is next again", finds: .upcomingOrder) { publication, memory in
            guard case .upcomingManeuvers(_, let generation) = publication, memory.count > 0 else {
                return [(.zero, publication)]
            }
            let former = Publication.upcomingManeuvers(memory.upcoming, generation: generation)
            return [(.zero, publication), (.milliseconds(100), former), (.milliseconds(200), publication)]
        },
        Mutation("for some seconds no maneuver is next", finds: .upcomingNone) { publication, _ in
            guard case .upcomingManeuvers(_, let generation) = publication else {
                return [(.zero, publication)]
            }
            return [(.zero, .upcomingManeuvers([], generation: generation)), (.seconds(5), publication)]
        },
        .of("no maneuver is ever next", finds: .upcomingNone) { publication, _ in
            switch publication {
            case .startGuidance(let trip, let generation, var route):
                route.upcomingManeuvers = []
                route.maneuverTravelEstimates = nil
                return .startGuidance(trip, generation: generation, route)
            case .upcomingManeuvers: return nil
            default: return publication
            }
        },
        .of("only one maneuver is named as next", finds: .upcomingSingle) { publication, _ in
            guard case .upcomingManeuvers(let ids, let generation) = publication else { return publication }
            return .upcomingManeuvers(Array(ids.prefix(1)), generation: generation)
        },
        .of("the first maneuver stays the next", finds: .estimatesOther) { publication, _ in
            if case .upcomingManeuvers = publication { nil } else { publication }
        },
        .of("the maneuver after the next is told as the next", finds: .estimatesOther) { publication, _ in
            guard case .upcomingManeuvers(let ids, let generation) = publication, ids.count > 1 else {
                return publication
            }
            return .upcomingManeuvers(Array(ids.dropFirst()), generation: generation)
        },
        .of("the lanes before are shown", finds: .laneLink) { publication, memory in
            guard case .currentLaneGuidance(let id?, let generation) = publication, id.rawValue > 1 else {
                return publication
            }
            return .currentLaneGuidance(LaneGuidanceID(rawValue: id.rawValue - 1), generation: generation)
        },
        .of("lanes are never hidden", finds: .laneStale) { publication, _ in
            if case .currentLaneGuidance(nil, _) = publication { nil } else { publication }
        },
        .of("lanes are never shown", finds: .laneUnshown) { publication, _ in
            if case .currentLaneGuidance = publication { nil } else { publication }
        },
        .of("the lanes stay on the screen for all maneuvers", finds: .laneLink) { publication, memory in
            guard case .currentLaneGuidance = publication else { return publication }
            return memory.lanes == nil ? publication : nil
        },
    ]

    private static let ofPace: [Mutation] = [
        .of("estimates stop after two minutes", finds: .driveSilent) { publication, memory in
            switch publication {
            case .tripEstimates, .maneuverEstimates: memory.elapsed < .seconds(120) ? publication : nil
            default: publication
            }
        },
        .of("the client is silent after two minutes", finds: .driveSilent) { publication, memory in
            memory.elapsed < .seconds(120) ? publication : nil
        },
        .of("estimates come every half minute", finds: .driveSilent) { publication, memory in
            switch publication {
            case .tripEstimates, .maneuverEstimates:
                let seconds = Double(memory.elapsed.components.seconds)
                guard seconds - memory.seconds >= 30 else { return nil }
                memory.seconds = seconds
                return publication
            default: return publication
            }
        },
        .of("guidance is not ended", finds: .driveSilent) { publication, memory in
            switch publication {
            case .finishGuidance: nil
            case .pauseGuidance: memory.trip < 100 ? nil : publication
            default: publication
            }
        },
        Mutation("each estimate is repeated every 50 ms for four seconds", finds: .rateFast) {
            publication, _ in
            guard case .tripEstimates = publication else { return [(.zero, publication)] }
            return (0..<80).map { (.milliseconds(50 * $0), publication) }
        },
        Mutation("the road's name comes with every frame of the map", finds: .rateFast) { publication, _ in
            guard case .plain(.currentRoadName) = publication else { return [(.zero, publication)] }
            return (0..<240).map { (.milliseconds(33 * $0), publication) }
        },
        Mutation("the maneuvers come one at a time", finds: .maneuverSingle) { publication, _ in
            guard case .startGuidance(let trip, let generation, var route) = publication else {
                return [(.zero, publication)]
            }
            let later = route.maneuvers.dropFirst(3)
            route.maneuvers = Array(route.maneuvers.prefix(3))
            (route.segments, route.currentSegment) = ([], nil)
            return [(.zero, .startGuidance(trip, generation: generation, route))]
                + later.map { (.zero, .addManeuvers([$0], generation: generation)) }
        },
        Mutation("each publication is sent twice", finds: .estimatesSame) { publication, memory in
            if case .startGuidance = publication {
                [(.zero, publication)]
            } else {
                [(.zero, publication), (.zero, publication)]
            }
        },
        Mutation("estimates come three seconds late", finds: nil) { publication, _ in
            switch publication {
            case .tripEstimates, .maneuverEstimates: [(.seconds(3), publication)]
            default: [(.zero, publication)]
            }
        },
    ]
}
