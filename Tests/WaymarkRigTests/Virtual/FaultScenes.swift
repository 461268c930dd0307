import Foundation
import WaymarkClient
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkRoutes

/// A message on its way between a peer and the gateway, as the protocol page's table has it.
struct Hop: Hashable, CustomStringConvertible {
    let peer: PeerID
    let way: Way
    let type: MessageType

    var description: String {
        self.way == .toGateway
            ? "\(self.type), \(self.peer) → gateway" : "\(self.type), gateway → \(self.peer)"
    }

    /// All hops between the gateway and an endpoint or a client, in the order of the page. Those of observers are not among them: they
    /// change nothing (REQ-OBS-01).
    static func ofPage() throws -> [Hop] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Docs/protocol.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        return page.matches(of: /(?m)^\| 0x([0-9A-F]{4}) \| \w+ \| ([^|]+?) \|/).flatMap { row -> [Hop] in
            guard let type = UInt16(row.1, radix: 16).flatMap(MessageType.init) else { return [] }
            return Self.ends(String(row.2)).map { Hop(peer: $0, way: $1, type: type) }
        }
    }

    private static func ends(_ who: String) -> [(PeerID, Way)] {
        let (client, endpoint) = (Stage.client, Stage.vehicle)
        return switch who {
        case "peer → gateway": [(client, .toGateway), (endpoint, .toGateway)]
        case "gateway → peer": [(client, .toPeer), (endpoint, .toPeer)]
        case "both ways":
            [(client, .toGateway), (endpoint, .toGateway), (client, .toPeer), (endpoint, .toPeer)]
        case "client → gateway": [(client, .toGateway)]
        case "gateway → client": [(client, .toPeer)]
        case "gateway → endpoint", "gateway → endpoints": [(endpoint, .toPeer)]
        case "gateway → client, endpoints", "gateway → endpoints; client":
            [(client, .toPeer), (endpoint, .toPeer)]
        case "client → gateway → endpoints": [(client, .toGateway), (endpoint, .toPeer)]
        case "endpoint → gateway": [(endpoint, .toGateway)]
        case "endpoint → gateway → client": [(endpoint, .toGateway), (client, .toPeer)]
        default: []
        }
    }
}

/// What happens in the run of a cell. Together the scenes have every hop of the page.
enum FaultScene: String, CaseIterable {
    /// A drive with a stop, an alert, a shared destination, a pause and lost connections.
    case drive
    /// What a client publishes besides, and what it gets wrong.
    case publications
    /// What a vehicle asks for before a drive, and how it ends one.
    case vehicle
    /// Nothing to say, then nothing that arrives, then a goodbye.
    case silence

    /// Runs the scene, with a fault that waits for its frame.
    func run(_ faults: [LinkFault] = [], of peer: PeerID = Stage.client) throws -> Stage {
        var client = RigClient.Behaviour()
        client.detour = try Stage.route("vaduz-balzers-charging").routes[0]
        client.answerAfter = .milliseconds(100)
        client.receipts = .seconds(1)
        var stage = try Stage(client: client, connects: false, mutation: Self.withdrawing)
        for fault in faults { stage.run.begin(fault, of: peer) }
        stage.run.tell(Stage.vehicle, .open)
        stage.run.tell(Stage.client, .open)
        switch self {
        case .drive: try Self.drive(&stage)
        case .publications: try Self.publish(&stage)
        case .vehicle: try Self.ask(&stage)
        case .silence: try Self.beSilent(&stage)
        }
        try stage.pass(.seconds(40))
        return stage
    }

    /// The vehicle also withdraws what it never asked for, which the gateway rejects.
    private static let withdrawing = FrameMutation(sending: { sent, _ in
        guard case .withdrawRequest = sent.message else { return [sent] }
        let other = WithdrawRequest(requestID: "never-sent")
        return [sent, Envelope(.withdrawRequest(other), session: sent.session)]
    })

    /// The client does something while it guides: a fault may have kept it from beginning.
    @discardableResult
    private static func guide(
        _ stage: inout Stage, _ body: (inout RigClient, Instant, inout [PeerAction]) -> Void
    ) -> Bool {
        guard stage.client?.session != nil, stage.client?.guide?.hasBegun == true else { return false }
        _ = stage.asClient(body)
        return true
    }

    private static func drive(_ stage: inout Stage) throws {
        try stage.drive("vaduz-balzers")
        try stage.pass(.seconds(3))
        let stop = Waypoint(center: Coordinate(latitude: 47.0956, longitude: 9.5176))
        _ = stage.asVehicle { $0.request(stop, at: $1, into: &$2) }
        let alert = NavigationAlert(id: 1, titleVariants: ["Jam"])
        Self.guide(&stage) { $0.publish(.showAlert(alert), at: $1, into: &$2) }
        Self.guide(&stage) { $0.shareDestination(at: $1, into: &$2) }
        try stage.pass(.seconds(2))
        stage.asVehicle { vehicle, now, actions in
            vehicle.use(at: now, into: &actions) { endpoint, outputs in
                endpoint.respondToAlert(1, into: &outputs)
                endpoint.zoom(.in, into: &outputs)
                endpoint.setRouteSource(.clientUnchanged, into: &outputs)
            }
        }
        let isPaused = Self.guide(&stage) { $0.pause(.loading, at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        if isPaused { Self.guide(&stage) { $0.resume(at: $1, into: &$2) } }
        stage.run.begin(LinkFault(.cut(.finished)), of: Stage.vehicle)
        try stage.pass(.seconds(2))
        stage.run.begin(LinkFault(.cut(.finished)), of: Stage.client)
        try stage.pass(.seconds(30))
        stage.asClient { $0.end(isFinished: true, at: $1, into: &$2) }
    }

    private static func publish(_ stage: inout Stage) throws {
        try stage.drive("vaduz-balzers")
        try stage.pass(.seconds(2))
        guard let guide = stage.client?.guide else { return }
        var trip = guide.trip
        trip.isDestinationShareable = false
        let lanes = LaneGuidance(
            id: LaneGuidanceID(rawValue: 900),
            lanes: [Lane(angles: [.degrees(0)], highlightedAngle: .degrees(0), status: .good)])
        let end = guide.trip.destination
        let segment = RouteSegment(id: "more", origin: end, destination: end)
        let maneuver = Maneuver(id: ManeuverID(rawValue: 900), type: .straightAhead)
        let alert = NavigationAlert(id: 1, titleVariants: ["Jam"])
        let publications: [Publication] = [
            .addManeuvers([maneuver], generation: 0), .addLaneGuidances([lanes], generation: 0),
            .currentLaneGuidance(lanes.id, generation: 0), .currentLaneGuidance(nil, generation: 0),
            .addRouteSegments([segment], generation: 0), .updateTrip(trip), .showAlert(alert),
            .dismissAlert(1, .systemDismissed), .dismissAlert(2, .systemDismissed),
        ]
        for publication in publications {
            Self.guide(&stage) { $0.publish(publication, at: $1, into: &$2) }
            try stage.pass(.milliseconds(200))
        }
        let answer = try Stage.route("vaduz-balzers-charging")
        stage.asClient { client, _, _ in client.reroute(to: answer.routes[0], .missedTurn) }
        try stage.pass(.seconds(2))
        let last = answer.routes[0].information.segments.last?.id ?? ""
        Self.guide(&stage) { $0.publish(.currentRouteSegment(last, generation: 0), at: $1, into: &$2) }
        stage.asClient { $0.preview([answer], at: $1, into: &$2) }
        try stage.pass(.seconds(2))
        stage.asClient { $0.end(isFinished: false, at: $1, into: &$2) }
    }

    private static func ask(_ stage: inout Stage) throws {
        try stage.pass(.seconds(1))
        stage.asClient { client, _, _ in client.behaviour.onDestination = .decline }
        let place = Waypoint(center: Coordinate(latitude: 47.0956, longitude: 9.5176))
        _ = stage.asVehicle { $0.request(place, isDestination: true, at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        stage.asClient { client, _, _ in client.behaviour.answerAfter = .seconds(5) }
        let call = stage.asVehicle { $0.request(place, isDestination: true, at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        stage.asVehicle { $0.withdraw(call ?? 0, at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        try stage.drive("vaduz-balzers")
        try stage.pass(.seconds(3))
        _ = stage.asVehicle { $0.cancel(.ownNavigationStarted, at: $1, into: &$2) }
        try stage.pass(.seconds(2))
        stage.asVehicle { vehicle, now, actions in
            vehicle.use(at: now, into: &actions) { endpoint, _ in endpoint.allowNavigation() }
        }
    }

    private static func beSilent(_ stage: inout Stage) throws {
        try stage.pass(.seconds(45))
        for peer in [Stage.vehicle, Stage.client] {
            stage.run.begin(LinkFault(.stall, ways: [.toGateway], for: .seconds(45)), of: peer)
        }
        try stage.pass(.seconds(60))
        stage.asVehicle { $0.leave(.goodbye, at: $1, into: &$2) }
        stage.asClient { $0.leave(.goodbye, at: $1, into: &$2) }
        try stage.pass(.seconds(5))
        try stage.asVehicle { try $0.comeBack(withToken: false, at: $1, into: &$2) }
        try stage.asClient { try $0.comeBack(withToken: false, at: $1, into: &$2) }
    }
}
