import WaymarkModel
import WaymarkProtocol
import WaymarkRig

// What clients do at the wrong time: order, states, new routes, the end.
extension Mutant {
    static let ofRoutes = Self.ofUpcoming + Self.ofPace + Self.ofSegments + Self.ofReroutes
    static let ofSessions = Self.ofEnds + Self.ofConnections

    private static let ofUpcoming: [Mutant] = [
        .publishes("still names the maneuver that is over as the next one") { publication, memory in
            guard case .upcomingManeuvers(let ids, let generation) = publication else { return [publication] }
            let over = memory.maneuvers
            memory.maneuvers = Array(ids.prefix(1))
            return [.upcomingManeuvers(over + ids, generation: generation)]
        },
        .publishes("names the next maneuver but one as the next one") { publication, _ in
            guard case .upcomingManeuvers(let ids, let generation) = publication, ids.count > 1 else {
                return [publication]
            }
            return [.upcomingManeuvers(Array(ids.dropFirst()), generation: generation)]
        },
        .publishes("lists upcoming maneuvers from the farthest to the nearest") { publication, _ in
            guard case .upcomingManeuvers(let ids, let generation) = publication else {
                return [publication.changingRoute { $0.upcomingManeuvers.reverse() }]
            }
            return [.upcomingManeuvers(ids.reversed(), generation: generation)]
        },
        .publishes("names the upcoming maneuvers once, at the start") { publication, _ in
            if case .upcomingManeuvers = publication { [] } else { [publication] }
        },
        .publishes("clears the upcoming maneuvers at each maneuver") { publication, _ in
            guard case .upcomingManeuvers(_, let generation) = publication else { return [publication] }
            return [.upcomingManeuvers([], generation: generation)]
        },
        .publishes("never publishes the state of a maneuver", in: "right-turn-lanes") { publication, _ in
            if case .maneuverState = publication { [] } else { [publication] }
        },
        .publishes("says execute when it is time to prepare", in: "right-turn-lanes") { publication, _ in
            guard case .maneuverState(.prepare, let generation) = publication else { return [publication] }
            return [.maneuverState(.execute, generation: generation)]
        },
        .publishes("names the next maneuver before it has ended the state of the last one") {
            publication, memory in
            switch publication {
            case .maneuverState(.continue, _):
                memory.publications = [publication]
                return []
            case .upcomingManeuvers:
                defer { memory.publications = [] }
                return [publication] + memory.publications
            default: return [publication]
            }
        },
    ]

    private static let ofPace: [Mutant] = [
        .publishes("publishes the estimates of all maneuvers ahead whenever one changes") {
            publication, memory in
            if let route = publication.newRoute { memory.maneuvers = route.maneuvers.map(\.id) }
            guard case .maneuverEstimates(let id, let estimates, let generation) = publication else {
                return [publication]
            }
            let ahead = memory.maneuvers.filter { $0 > id }.map { id in
                var later = estimates
                later.distanceRemaining = .meters(estimates.distanceRemaining.meters + 100 * id.rawValue)
                (later.distanceRemainingToDisplay, later.timeRemaining) = (nil, nil)
                return Publication.maneuverEstimates(id, later, generation: generation)
            }
            return [publication] + ahead
        },
        .publishes("publishes estimates once in a while", in: "standing-in-traffic") { publication, memory in
            switch publication {
            case .tripEstimates, .maneuverEstimates:
                memory.count += 1
                return memory.count % 20 == 0 ? [publication] : []
            default: return [publication]
            }
        },
    ]

    private static let ofSegments: [Mutant] = [
        .publishes("confuses latitude and longitude of the route's line", in: "charging-stop") {
            publication, _ in
            [
                publication.changingSegments { segment in
                    segment.coordinates = segment.coordinates.map {
                        Coordinate(latitude: $0.longitude, longitude: $0.latitude)
                    }
                }
            ]
        },
        .publishes("stays in the first segment of the route", in: "charging-stop") { publication, _ in
            if case .currentRouteSegment = publication { [] } else { [publication] }
        },
    ]

    private static let ofReroutes: [Mutant] = [
        .publishes("takes a new route without a pause", in: "missed-turn") { publication, _ in
            if case .pauseGuidance(.rerouting, _) = publication { [] } else { [publication] }
        },
        .publishes("starts guidance again for a new route", in: "missed-turn") { publication, memory in
            if case .startGuidance = publication { memory.publications = [publication] }
            guard case .resumeGuidance(_, _, let route?) = publication,
                case .startGuidance(let trip, _, _)? = memory.publications.first
            else { return [publication] }
            return [.startGuidance(trip, generation: 0, route)]
        },
        .publishes("says no reason for a new route", in: "missed-turn") { publication, _ in
            guard case .resumeGuidance(let generation, _, let route?) = publication else {
                return [publication]
            }
            return [.resumeGuidance(generation: generation, .unknown, route)]
        },
        .publishes("publishes estimates of the old route behind the new one", in: "missed-turn") {
            publication, memory in
            switch publication {
            case .maneuverEstimates, .tripEstimates:
                memory.publications = memory.publications.suffix(1) + [publication]
            case .resumeGuidance(_, _, _?):
                defer { memory.publications = [] }
                return [publication] + memory.publications
            default: break
            }
            return [publication]
        }
        .missed("the library sends the newest value of a state only, so these never leave the client"),
    ]

    private static let ofEnds: [Mutant] = [
        .publishes("arrives, and never finishes guidance", in: "charging-stop") { publication, _ in
            if case .finishGuidance = publication { [] } else { [publication] }
        },
        .publishes("cancels guidance at the destination", in: "charging-stop") { publication, _ in
            if case .finishGuidance = publication { [.cancelGuidance] } else { [publication] }
        },
        .publishes("never resumes guidance after a pause", in: "guidance-paused") { publication, _ in
            if case .resumeGuidance(_, _, nil) = publication { [] } else { [publication] }
        },
        .clientReads("guides on after the vehicle has cancelled", in: "nothing-after-cancelling") { read, _ in
            if case .sessionEnded = read.message { ([], []) } else { ([read], []) }
        },
        .clientReads(
            "opens another session as soon as the vehicle has cancelled", in: "nothing-after-cancelling"
        ) {
            read, _ in
            guard case .sessionEnded(let ended) = read.message, ended.reason == .userStopped else {
                return ([read], [])
            }
            let again = OpenSession(
                requestID: "again", vehicles: .vehicles([VehicleID(unchecked: "dut")]))
            return ([read], [Envelope(.openSession(again))])
        },
    ]

    private static let ofConnections: [Mutant] = [
        .clientSends("forgets its token when the connection is lost", in: "client-lost-and-back") { sent, _ in
            guard case .hello(var hello) = sent.message else { return [sent] }
            hello.resumptionToken = nil
            return [sent.with(.hello(hello))]
        },
        .clientSends("begins a connection with the numbers that it had not sent", in: "client-lost-and-back")
        {
            sent, memory in
            if case .hello = sent.message { memory.count += 1 }
            guard memory.count > 1, case .publication = sent.message else { return [sent] }
            var later = sent
            later.sequence += 1
            return [later]
        },
        .clientSends("keeps the generation of the first route", in: "missed-turn") { sent, _ in
            switch sent.message {
            case .publication(.upcomingManeuvers(let ids, let generation)) where generation > 1:
                [sent.with(.publication(.upcomingManeuvers(ids, generation: 1)))]
            case .publication(.maneuverEstimates(let id, let estimates, let generation)) where generation > 1:
                [sent.with(.publication(.maneuverEstimates(id, estimates, generation: 1)))]
            default: [sent]
            }
        },
        .clientSends("answers each request twice", in: "declined-stop", "stop-accepted") { sent, _ in
            if case .requestAnswer = sent.message { [sent, sent] } else { [sent] }
        },
        .clientSends("drives to a stop before the driver has agreed", in: "stop-asked-of-the-driver") {
            sent, _ in
            guard case .requestAnswer(var answer) = sent.message, answer.answer == .ownPrompt else {
                return [sent]
            }
            answer.answer = .accept
            return [sent, sent.with(.requestAnswer(answer))]
        },
        .publishes("pauses for a stop that was accepted, and never resumes", in: "stop-accepted") {
            publication, _ in
            switch publication {
            case .resumeGuidance(_, .waypointModified, _?): []
            default: [publication]
            }
        },
    ]
}
