import Foundation
import Testing
import WaymarkClient
import WaymarkProtocol
import WaymarkRig

/// Each kind of fault at each message on each hop of the protocol page's table.
@Suite struct FaultMatrixTests {
    /// A kind of fault at a message on its way.
    private struct Cell {
        let number: Int
        let name: LinkFault.Name
        let hop: Hop
        let scene: FaultScene

        var text: String { "\(self.name.rawValue) at \(self.hop)" }

        /// At the first such frame. What lasts does so for 4 s: after 5 s without a Welcome, peers give up.
        var faults: [LinkFault] {
            let type = self.hop.type.rawValue
            let trigger = LinkFault.Trigger(self.hop.way) { $0.header.rawType == type }
            func span(_ kind: LinkFault.Kind) -> [LinkFault] {
                [LinkFault(kind, after: trigger, for: .seconds(4))]
            }
            func once(_ kind: LinkFault.Kind) -> [LinkFault] {
                [LinkFault(kind, after: trigger, times: 1)]
            }
            return switch self.name {
            case .delay: span(.delay(.milliseconds(500)))
            case .jitter: span(.jitter(.milliseconds(500)))
            case .throttle: span(.throttle(bytesPerSecond: 2_000))
            case .slice: span(.slice(bytes: 3))
            case .stall: span(.stall)
            case .cut: once(.cut(.reset))
            case .drop, .chaos: once(.drop)
            case .duplicate: once(.duplicate)
            case .reorder: once(.reorder)
            case .corrupt: [LinkFault(.corrupt, after: trigger, atByte: self.number % 61, times: 1)]
            case .halfClose: once(.halfClose)
            // Only who connects again can be refused.
            case .refuse: span(.refuse) + once(.cut(.reset))
            case .blackhole: span(.blackhole)
            }
        }

        /// Whether the fault happened; the scene has faults of its own.
        func isCovered(_ history: History) -> Bool {
            history.entries.contains { entry in
                guard case .fault(let fault) = entry.kind, fault.peer == self.hop.peer else { return false }
                return fault.kind == self.name.rawValue && fault.text != "the connection is closed"
                    && fault.text != "nothing is read, towards the gateway"
            }
        }
    }

    /// The hops of the page with the scene in which each occurs; without one: nil.
    private static func hops() throws -> [(hop: Hop, scene: FaultScene?)] {
        let seen = try FaultScene.allCases.map { scene in
            let hops = try scene.run().frames.compactMap { _, frame in
                frame.frame.header.type.map { Hop(peer: frame.peer, way: frame.way, type: $0) }
            }
            return (scene, Set(hops))
        }
        return try Hop.ofPage().map { hop in (hop, seen.first { $0.1.contains(hop) }?.0) }
    }

    @Test func `every hop of the page occurs in a scene`() throws {
        let hops = try Self.hops()
        #expect(hops.count == 93)
        #expect(hops.filter { $0.scene == nil }.map(\.hop.description) == [])
    }

    /// A peer is connected in the end, or the gateway has told it that it may not come back.
    private static func isExplained(_ state: ConnectionState?) -> Bool {
        switch state {
        case .connected: true
        case .closed(.refused): true
        case .closed, .connecting, nil: false
        }
    }

    /// What a fault took from a connection that lived on. The protocol promises nothing then: transports are reliable (REQ-VIEW-05), and
    /// no message says that another one was lost.
    private struct Losses {
        /// A number is missing: the gateway rejects all that follow (REQ-NUM-04), also the end of guidance.
        private(set) var publication = false
        /// Publications did not reach the gateway once and in order, so its session is another one than the client means.
        private(set) var altered = false
        /// The session was not opened, or the client does not know it.
        private(set) var opening = false
        /// The vehicle's wish to end guidance did not arrive.
        private(set) var cancellation = false
        /// The end of the session did not reach the client, or the endpoint.
        private(set) var endForClient = false
        private(set) var endForVehicle = false

        init(_ cell: Cell, _ stage: Stage) {
            // Changed places: every frame arrives whole, and a publication before the one of the number before.
            if cell.name == .reorder { self.see(cell.hop.peer, cell.hop.way, cell.hop.type) }
            if cell.name == .duplicate, cell.hop.peer == Stage.client, cell.hop.way == .toGateway {
                self.altered = true
            }
            for (_, frame) in stage.frames where frame.delivery != .whole {
                if let type = frame.frame.header.type { self.see(frame.peer, frame.way, type) }
            }
        }

        private mutating func see(_ peer: PeerID, _ way: Way, _ type: MessageType) {
            switch (peer, way, type) {
            case (Stage.client, .toGateway, _) where MessageType.published.contains(type.rawValue):
                (self.publication, self.altered) = (true, true)
            case (Stage.vehicle, .toGateway, .cancelNavigation): self.cancellation = true
            case (Stage.client, .toGateway, .openSession), (Stage.client, .toPeer, .sessionOpened):
                self.opening = true
            case (Stage.client, .toPeer, .sessionEnded): self.endForClient = true
            case (Stage.vehicle, .toPeer, .sessionEnded), (Stage.vehicle, .toPeer, .finishGuidance),
                (Stage.vehicle, .toPeer, .cancelGuidance):
                self.endForVehicle = true
            default: break
            }
        }
    }

    /// What is wrong at the end of a run, and not explained.
    private static func problems(_ cell: Cell, _ stage: Stage) -> [String] {
        var problems: [String] = []
        if !Self.isExplained(stage.vehicle?.connection) { problems.append("the vehicle is not connected") }
        if !Self.isExplained(stage.client?.connection) { problems.append("the client is not connected") }
        if stage.history.entries.count >= 5_000 { problems.append("there are too many entries") }
        let losses = Losses(cell, stage)
        let mayContinue = losses.publication || losses.cancellation
        if stage.client?.session != nil, !mayContinue, !losses.opening, !losses.endForClient {
            problems.append("the client's session is open")
        }
        if case .connected? = stage.vehicle?.connection, stage.vehicle?.state.session != 0,
            !mayContinue, !losses.endForVehicle
        {
            problems.append("the vehicle is guided")
        }
        var linter = Linter()
        for finding in linter.judge(stage.history) + linter.advance(to: stage.now) {
            let text = finding.text
            // What the scenes do wrong on purpose.
            if text.contains("alert 2 is not shown") || text.contains("there is no such request") { continue }
            if finding.peer == Stage.client, losses.altered { continue }
            // A changed frame is not judged, so the rule does not know of this Goodbye.
            if cell.name == .corrupt, cell.hop.type == .goodbye, finding.rule == .resumeForgotten { continue }
            problems.append("\(finding.rule) \(text)")
        }
        return problems
    }

    @Test func `a run with any fault at any message comes to rest, and every verdict is explained`() throws {
        let all = try Self.cells()
        let cells = Self.part.map { part in all.filter { $0.number % part == 0 } } ?? Self.chosen(of: all)
        var covered: [LinkFault.Name: Int] = [:]
        var missed: [String] = []
        for cell in cells {
            let stage: Stage
            do { stage = try cell.scene.run(cell.faults, of: cell.hop.peer) } catch {
                Issue.record("\(cell.text): no end: \(error)")
                continue
            }
            let problems = Self.problems(cell, stage)
            #expect(problems == [], "\(cell.text), \(cell.scene)")
            if cell.isCovered(stage.history) {
                covered[cell.name, default: 0] += 1
            } else {
                missed.append(cell.text)
            }
        }
        for name in LinkFault.Name.single {
            let count = cells.count { $0.name == name }
            print("fault matrix: \(name.rawValue) happened in \(covered[name] ?? 0) of \(count) cells")
        }
        let total = covered.values.reduce(0, +)
        print("fault matrix: \(total) of \(cells.count) cells were covered; the matrix has \(all.count)")
        // Who has said Goodbye does not connect again, so nothing is refused.
        #expect(missed.filter { !$0.hasPrefix("refuse at goodbye, ") } == [])
    }

    /// Every kind at every hop.
    private static func cells() throws -> [Cell] {
        var cells: [Cell] = []
        for (hop, scene) in try Self.hops() {
            for name in LinkFault.Name.single {
                guard let scene else { continue }
                cells.append(Cell(number: cells.count + 1, name: name, hop: hop, scene: scene))
            }
        }
        return cells
    }

    /// 100 cells in which every kind and every hop occurs, for runs that take long.
    private static func chosen(of cells: [Cell]) -> [Cell] {
        let kinds = LinkFault.Name.single.count
        let hops = cells.count / kinds
        return (0..<100).map { cells[$0 % hops * kinds + ($0 + $0 / hops) % kinds] }
    }

    @Test func `every kind and every hop is among the chosen cells`() throws {
        let chosen = Self.chosen(of: try Self.cells())
        #expect(Set(chosen.map(\.number)).count == 100)
        #expect(Set(chosen.map(\.name)).count == LinkFault.Name.single.count)
        #expect(Set(chosen.map(\.hop)).count == 93)
    }

    /// Every cell whose number is a multiple of `WAYMARK_CELLS_PART`, so 1 for all; nil: the chosen ones.
    private static let part =
        ProcessInfo.processInfo.environment["WAYMARK_CELLS_PART"].flatMap { Int($0) }.map { max(1, $0) }
}
