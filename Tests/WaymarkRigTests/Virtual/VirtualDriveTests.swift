import ExpectedState
import Foundation
import ProcessIO
import Testing
import WaymarkClient
import WaymarkFaults
import WaymarkGuidance
import WaymarkHistory
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkRoutes

@Suite struct VirtualDriveTests {
    private static let routes = [
        "heidelberg-lanes", "singapore-left-hand", "vaduz-balzers", "vaduz-balzers-charging",
    ]

    /// What the publications of a way make of a drive.
    private static func state(_ stage: Stage, _ peer: PeerID, _ way: Way) -> DriveState {
        var state = DriveState()
        for case .publication(let publication) in stage.messages(peer, way) { state.apply(publication) }
        return state
    }

    @Test(arguments: routes) func `a drive in virtual time ends as over sockets`(_ route: String) throws {
        var options = GuideMachine.Options()
        options.drive.speedFactor = 20
        var stage = try Stage()
        try stage.drive(route, options)
        try stage.run.run(until: Duration.seconds(3_600).instant) { run in
            run.peer(Stage.client, as: RigClient.self)?.guide?.isOver == true
        }
        try stage.pass(.seconds(5))
        #expect(stage.client?.ends == [.finished])
        #expect(stage.client?.isAccepted == true)
        #expect(stage.vehicle?.state.phase == .ended(.finished))
        // The vehicle got what was published, in its order.
        func publications(_ peer: PeerID, _ way: Way) -> [Publication] {
            stage.messages(peer, way).compactMap {
                if case .publication(let publication) = $0 { publication } else { nil }
            }
        }
        let published = publications(Stage.client, .toGateway)
        #expect(published.count > 30)
        #expect(publications(Stage.vehicle, .toPeer) == published)
        #expect(published.suffix(2) == [.pauseGuidance(.arrived, description: []), .finishGuidance])
    }

    @Test func `half-way, a small cluster holds what the protocol page says`() throws {
        var limits = VehicleLimits()
        limits.maneuversStoredMax = 2
        limits.laneGuidancesStoredMax = 2
        limits.maneuverInstructionLengthMax = 20
        limits.currentRoadNameLengthMax = 10
        var stage = try Stage(limits: limits)
        try stage.drive("heidelberg-lanes")
        for _ in 0..<60 {
            try stage.pass(.seconds(2))
            var fitting = ExpectedFitting()
            fitting.limits = limits
            let expected = fitting.apply(to: Self.state(stage, Stage.client, .toGateway))
            var held = DriveState(maneuversMax: 2, laneGuidancesMax: 2)
            for case .publication(let publication) in stage.messages(Stage.vehicle, .toPeer) {
                held.apply(publication)
            }
            #expect(held.differences(from: expected).map(\.description) == [])
        }
    }

    /// Faults of all kinds, and a gateway that dies and hands over.
    private static func storm(
        _ seed: UInt64, _ kinds: [LinkFault.Name] = LinkFault.Name.single
    ) throws -> Stage {
        var stage = try Stage(seed)
        for peer in [Stage.vehicle, Stage.client] {
            stage.run.begin(
                LinkFault(.chaos(every: .seconds(2), kinds), for: .seconds(60)), of: peer)
        }
        var options = GuideMachine.Options()
        options.drive.speedFactor = 2
        try stage.drive("vaduz-balzers", options)
        for _ in 0..<6 {
            try stage.pass(.seconds(5))
            try stage.run.begin(.restart)
            try stage.pass(.seconds(5))
            try stage.run.begin(.kill, for: .milliseconds(500))
        }
        try stage.pass(.seconds(60))
        return stage
    }

    @Test func `one seed, one history`() throws {
        for seed in UInt64(1)...3 {
            let (first, second) = (try Self.storm(seed), try Self.storm(seed))
            #expect(first.history.entries.count > 300)
            #expect(first.trace == second.trace)
        }
        #expect(try Self.storm(1).trace != Self.storm(2).trace)
    }

    @Test func `after a storm the vehicle is guided again`() throws {
        for seed in UInt64(1)...20 {
            // What changes the stream of frames, e.g. a second Hello, may end a connection for good.
            let stage = try Self.storm(
                seed,
                [.delay, .jitter, .throttle, .slice, .stall, .cut, .halfClose, .refuse])
            guard stage.client?.guide?.isOver == false else { continue }
            #expect(stage.vehicle?.state.phase == .active, "seed \(seed)")
        }
    }

    // MARK: Two processes

    private static let file = ProcessInfo.processInfo.environment["WAYMARK_TRACE_FILE"]

    /// Hashing is seeded differently in every process: nothing may depend on the order of a dictionary or a set.
    @Test(.enabled(if: file == nil)) func `two processes write the same history`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waymark-trace-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let other = folder.appending(path: "trace")
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        let words = [
            program, "--testing-library", "swift-testing", "--filter", "the history of another process",
        ]
        let process = try FinishedProcess(words, environment: ["WAYMARK_TRACE_FILE": other.path])
        try #require(process.exit == .status(0), "\(process.text)")
        let written = try String(contentsOf: other, encoding: .utf8)
        #expect(written == (try Self.storm(7).trace))
    }

    @Test(.enabled(if: file != nil)) func `the history of another process`() throws {
        try Self.storm(7).trace.write(toFile: Self.file ?? "", atomically: true, encoding: .utf8)
    }
}
