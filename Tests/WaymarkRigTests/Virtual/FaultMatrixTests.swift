import Foundation
import Testing
import WaymarkClient
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkRoutes

/// Each kind of fault at each message that a lively drive has on each hop.
@Suite struct FaultMatrixTests {
    private struct Cell: Hashable {
        let peer: PeerID
        let way: Way
        let type: MessageType
    }

    private static func kind(_ name: LinkFault.Name) -> LinkFault.Kind {
        switch name {
        case .delay: .delay(.milliseconds(500))
        case .jitter: .jitter(.milliseconds(500))
        case .throttle: .throttle(bytesPerSecond: 2_000)
        case .slice: .slice(bytes: 3)
        case .stall: .stall
        case .cut: .cut(.reset)
        case .drop, .chaos: .drop
        case .duplicate: .duplicate
        case .reorder: .reorder
        case .corrupt: .corrupt
        case .halfClose: .halfClose
        case .refuse: .refuse
        case .blackhole: .blackhole
        }
    }

    /// A drive with requests, prompts, an alert, a share, a lost connection and a pause; with one fault.
    private static func drive(_ fault: (LinkFault, PeerID)?, seed: UInt64) throws -> Stage {
        var client = RigClient.Behaviour()
        client.detour = try Stage.route("vaduz-balzers-charging").routes[0]
        client.answerAfter = .milliseconds(100)
        var stage = try Stage(seed, client: client, connects: false)
        if let (fault, peer) = fault { stage.run.begin(fault, of: peer) }
        stage.run.tell(Stage.vehicle, .open)
        stage.run.tell(Stage.client, .open)
        try stage.drive("vaduz-balzers")
        try stage.pass(.seconds(3))
        let stop = Waypoint(center: Coordinate(latitude: 47.0956, longitude: 9.5176))
        _ = stage.asVehicle { $0.request(stop, at: $1, into: &$2) }
        let alert = NavigationAlert(id: 1, titleVariants: ["Jam"])
        stage.asClient { $0.publish(.showAlert(alert), at: $1, into: &$2) }
        stage.asClient { $0.shareDestination(at: $1, into: &$2) }
        try stage.pass(.seconds(2))
        stage.asVehicle { vehicle, now, actions in
            vehicle.use(at: now, into: &actions) { endpoint, outputs in
                endpoint.respondToAlert(1, into: &outputs)
                endpoint.zoom(.in, into: &outputs)
                endpoint.setRouteSource(.clientUnchanged, into: &outputs)
            }
        }
        stage.asClient { $0.pause(.loading, at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        stage.asClient { $0.resume(at: $1, into: &$2) }
        stage.run.begin(LinkFault(.cut(.finished)), of: Stage.vehicle)
        stage.run.begin(LinkFault(.cut(.finished)), of: Stage.client)
        try stage.pass(.seconds(60))
        stage.asClient { $0.end(isFinished: true, at: $1, into: &$2) }
        try stage.pass(.seconds(40))
        return stage
    }

    private static func cells() throws -> [Cell] {
        var seen: Set<Cell> = []
        return try self.drive(nil, seed: 1).frames.compactMap { _, frame in
            guard let type = frame.frame.header.type else { return nil }
            let cell = Cell(peer: frame.peer, way: frame.way, type: type)
            return seen.insert(cell).inserted ? cell : nil
        }
    }

    /// A peer is connected in the end, or the gateway has told it that it may not come back.
    private static func isExplained(_ state: ConnectionState?) -> Bool {
        switch state {
        case .connected: true
        case .closed(.refused): true
        case .closed, .connecting, nil: false
        }
    }

    @Test func `a run with any fault at any message comes to rest, with every peer connected or refused`()
        throws
    {
        let cells = try Self.cells()
        #expect(cells.count >= 40)
        var random = Generator(state: 17)
        var count = 0
        for (number, cell) in cells.enumerated() {
            for name in LinkFault.Name.single {
                guard Int.random(in: 0..<Self.part, using: &random) == 0 else { continue }
                count += 1
                let trigger = LinkFault.Trigger(cell.way) { $0.header.rawType == cell.type.rawValue }
                let isSpan = [.delay, .jitter, .throttle, .slice, .stall, .refuse, .blackhole].contains(name)
                let fault = LinkFault(
                    Self.kind(name), after: trigger, times: isSpan ? nil : 1, for: isSpan ? .seconds(5) : nil)
                let stage = try Self.drive((fault, cell.peer), seed: UInt64(number))
                let text = "\(name.rawValue) at \(cell.type) of \(cell.peer), \(cell.way)"
                #expect(Self.isExplained(stage.vehicle?.connection), "vehicle: \(text)")
                #expect(Self.isExplained(stage.client?.connection), "client: \(text)")
                #expect(stage.history.entries.count < 3_000, "\(text)")
                // What loses or changes a frame may lose the session's end.
                let changesFrames = [.drop, .duplicate, .reorder, .corrupt, .blackhole].contains(name)
                #expect(stage.client?.session == nil || changesFrames, "\(text)")
            }
        }
        print("fault matrix: \(count) of \(cells.count * LinkFault.Name.single.count) cells were run")
    }

    /// One cell of so many is run: 12 by default, or `WAYMARK_CELLS_PART`, 1 for all.
    private static let part =
        ProcessInfo.processInfo.environment["WAYMARK_CELLS_PART"].flatMap { Int($0) } ?? 12

    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return self.state ^ (self.state >> 33)
        }
    }
}
