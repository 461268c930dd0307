import RecordedRoutes
import WaymarkClient
package import WaymarkFaults
import WaymarkGuidance
package import WaymarkHistory
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkRoutes
internal import WaymarkScenario

/// What happens in the run of a cell, by either clock. Together the scenes have every hop of the page.
package enum FaultScene: String, Sendable, CaseIterable {
    /// A drive with a stop, an alert, a shared destination, a pause and lost connections.
    case drive
    /// What a client publishes besides, and what it gets wrong.
    case publications
    /// What a vehicle asks for before a drive, and how it ends one.
    case vehicle
    /// A trip that a vehicle selects and starts.
    case previews
    /// Nothing to say, then nothing that arrives, then a goodbye.
    case silence

    /// What a scene remembers from one act to the next.
    struct Memory: Sendable {
        var isPaused = false
        var call: Int?
        /// The peers at the end.
        var peers: (vehicle: RigVehicle?, client: RigClient?)?
    }

    /// Something that happens in a run, so long after the act before it.
    struct Act: Sendable {
        typealias Body = @Sendable (_ run: inout VirtualRun, _ memory: inout Memory) throws -> Void
        var after: Duration
        let body: Body

        init(after: Duration, _ body: @escaping Body) { (self.after, self.body) = (after, body) }
    }

    /// How long a scene lasts after its last act. Within this time every fault is over, and who lost a connection has noticed.
    package static let rest = Duration.seconds(40)

    /// Peers connect within this time, on a machine that has some.
    private static let connecting = Duration.milliseconds(500)

    /// At least one, and the first not before ``connecting``.
    private var acts: [Act] {
        switch self {
        case .drive: Self.driving
        case .publications: Self.publishing
        case .vehicle: Self.asking
        case .previews: Self.choosing
        case .silence: Self.beingSilent
        }
    }

    private var beginsWithDrive: Bool { self == .drive || self == .publications }

    /// How long it takes until its last act.
    package var time: Duration { self.acts.reduce(.zero) { $0 + $1.after } }

    /// The scene as a run that has not begun.
    ///
    /// - Parameters:
    ///   - faults: They wait for their frame from the first connection on.
    ///   - peer: On whose link.
    ///   - rest: How long it lasts after the last act.
    ///   - onBegun: Called once the peers have had time to connect; not if the run ends before.
    /// - Returns: It can be run once.
    /// - Throws: Why a route cannot be read.
    package func play(
        _ faults: [LinkFault] = [], of peer: PeerID = .ofClient, rest: Duration = Self.rest,
        onBegun: @escaping @Sendable () -> Void = {}
    ) throws -> FaultPlay {
        let begin = Act(after: .zero) { run, _ in
            for fault in faults { run.begin(fault, of: peer) }
            run.tell(.ofVehicle, .open)
            run.tell(.ofClient, .open)
            // Before the connections are there.
            if self.beginsWithDrive { try run.drive("vaduz-balzers") }
        }
        let begun = Act(after: Self.connecting) { _, _ in onBegun() }
        let end = Act(after: rest) { run, memory in memory.peers = (run.vehicle, run.client) }
        var acts = self.acts
        acts[0].after -= Self.connecting
        return try FaultPlay([begin, begun] + acts + [end], "\(self.rawValue).scene")
    }

    /// The client does something while it guides: a fault may have kept it from beginning.
    @discardableResult
    private static func guide(
        _ run: inout VirtualRun, _ body: (inout RigClient, Instant, inout [PeerAction]) -> Void
    ) -> Bool {
        guard run.client?.session != nil, run.client?.guide?.hasBegun == true else { return false }
        _ = run.asClient(body)
        return true
    }

    private static let stop = Waypoint(center: Coordinate(latitude: 47.0956, longitude: 9.5176))
    private static let alert = NavigationAlert(id: 1, titleVariants: ["Jam"])

    // MARK: The scenes

    private static let driving: [Act] = [
        Act(after: .seconds(3)) { run, _ in
            _ = run.asVehicle { $0.request(Self.stop, at: $1, into: &$2) }
            Self.guide(&run) { $0.publish(.showAlert(Self.alert), at: $1, into: &$2) }
            Self.guide(&run) { $0.shareDestination(at: $1, into: &$2) }
        },
        Act(after: .seconds(2)) { run, memory in
            _ = run.asVehicle { vehicle, now, actions in
                vehicle.use(at: now, into: &actions) { endpoint, outputs in
                    endpoint.respondToAlert(1, into: &outputs)
                    endpoint.zoom(.in, into: &outputs)
                    endpoint.setRouteSource(.clientUnchanged, into: &outputs)
                    // A vehicle that holds no trip has nothing to ask for.
                    if endpoint.state.trip != nil { endpoint.wantDestination(ofTrip: "", into: &outputs) }
                    let feedback = RouteFeedback(
                        generation: endpoint.state.generation, stops: [StopFeedback(reachability: .reachable)]
                    )
                    endpoint.setRouteFeedback(feedback, into: &outputs)
                }
            }
            memory.isPaused = Self.guide(&run) { $0.pause(.loading, at: $1, into: &$2) }
        },
        Act(after: .seconds(1)) { run, memory in
            if memory.isPaused { Self.guide(&run) { $0.resume(at: $1, into: &$2) } }
            run.begin(LinkFault(.cut(.finished)), of: .ofVehicle)
        },
        Act(after: .seconds(2)) { run, _ in run.begin(LinkFault(.cut(.finished)), of: .ofClient) },
        Act(after: .seconds(30)) { run, _ in
            _ = run.asClient { $0.end(isFinished: true, at: $1, into: &$2) }
        },
    ]

    private static let publishing: [Act] =
        Self.published.enumerated().map { index, publication in
            Act(after: index == 0 ? .seconds(2) : .milliseconds(200)) { run, _ in
                guard let guide = run.client?.guide else { return }
                Self.guide(&run) { $0.publish(publication(guide), at: $1, into: &$2) }
            }
        } + [
            Act(after: .milliseconds(200)) { run, _ in
                let answer = try RouteAnswer.shipped("vaduz-balzers-charging")
                _ = run.asClient { client, _, _ in client.reroute(to: answer.routes[0], .missedTurn) }
            },
            Act(after: .seconds(2)) { run, _ in
                let answer = try RouteAnswer.shipped("vaduz-balzers-charging")
                let last = answer.routes[0].information.segments.last?.id ?? ""
                Self.guide(&run) {
                    $0.publish(.currentRouteSegment(last, generation: 0), at: $1, into: &$2)
                }
                _ = run.asClient { $0.preview([answer], at: $1, into: &$2) }
            },
            Act(after: .seconds(2)) { run, _ in
                _ = run.asClient { $0.end(isFinished: false, at: $1, into: &$2) }
            },
        ]

    private static let lanes = LaneGuidance(
        id: LaneGuidanceID(rawValue: 900),
        lanes: [Lane(angles: [.degrees(0)], highlightedAngle: .degrees(0), status: .good)])

    private static let published: [@Sendable (GuideMachine) -> Publication] = [
        { _ in
            let maneuver = Maneuver(id: ManeuverID(rawValue: 900), type: .straightAhead)
            return .addManeuvers([maneuver], generation: 0)
        },
        { _ in .addLaneGuidances([Self.lanes], generation: 0) },
        { _ in .currentLaneGuidance(Self.lanes.id, generation: 0) },
        { _ in .currentLaneGuidance(nil, generation: 0) },
        { guide in
            let end = guide.trip.destination
            return .addRouteSegments([RouteSegment(id: "more", origin: end, destination: end)], generation: 0)
        },
        { guide in
            var trip = guide.trip
            trip.isDestinationShareable = false
            return .updateTrip(trip)
        },
        { _ in .speedLimit(SpeedLimit(80, .kilometersPerHour), next: nil) },
        { _ in .showAlert(Self.alert) },
        { _ in .dismissAlert(1, .systemDismissed) },
        { _ in .dismissAlert(2, .systemDismissed) },
    ]

    private static let asking: [Act] = [
        Act(after: .seconds(1)) { run, _ in
            _ = run.asClient { client, _, _ in client.behaviour.onDestination = .decline }
            _ = run.asVehicle { $0.request(Self.stop, isDestination: true, at: $1, into: &$2) }
        },
        Act(after: .seconds(1)) { run, memory in
            _ = run.asClient { client, _, _ in client.behaviour.answerAfter = .seconds(5) }
            memory.call = run.asVehicle { $0.request(Self.stop, isDestination: true, at: $1, into: &$2) }
        },
        Act(after: .seconds(1)) { run, memory in
            let call = memory.call ?? 0
            _ = run.asVehicle { $0.withdraw(call, at: $1, into: &$2) }
        },
        Act(after: .seconds(1)) { run, _ in try run.drive("vaduz-balzers") },
        Act(after: .seconds(3)) { run, _ in
            _ = run.asVehicle { $0.cancel(.ownNavigationStarted, at: $1, into: &$2) }
        },
        Act(after: .seconds(2)) { run, _ in
            _ = run.asVehicle { vehicle, now, actions in
                vehicle.use(at: now, into: &actions) { endpoint, _ in endpoint.allowNavigation() }
            }
        },
    ]

    private static let choosing: [Act] = [
        Act(after: .seconds(1)) { run, _ in
            _ = run.asClient { client, _, _ in client.behaviour.awaits = .tripRequest }
            try run.drive("vaduz-balzers")
        },
        Act(after: .seconds(2)) { run, _ in
            _ = run.asVehicle { vehicle, now, actions in
                vehicle.use(at: now, into: &actions) { endpoint, outputs in
                    endpoint.selectPreview(trip: "preview-1", into: &outputs)
                }
            }
        },
        Act(after: .seconds(1)) { run, _ in
            _ = run.asVehicle { $0.startTrip("preview-1", at: $1, into: &$2) }
        },
        Act(after: .seconds(3)) { run, _ in
            _ = run.asClient { $0.end(isFinished: true, at: $1, into: &$2) }
        },
    ]

    private static let beingSilent: [Act] = [
        Act(after: .seconds(45)) { run, _ in
            for peer in [PeerID.ofVehicle, .ofClient] {
                run.begin(LinkFault(.stall, ways: [.toGateway], for: .seconds(45)), of: peer)
            }
        },
        Act(after: .seconds(60)) { run, _ in
            _ = run.asVehicle { $0.leave(.goodbye, at: $1, into: &$2) }
            _ = run.asClient { $0.leave(.goodbye, at: $1, into: &$2) }
        },
        Act(after: .seconds(5)) { run, _ in
            _ = try run.asVehicle { try $0.comeBack(withToken: false, at: $1, into: &$2) }
            _ = try run.asClient { try $0.comeBack(withToken: false, at: $1, into: &$2) }
        },
    ]
}
