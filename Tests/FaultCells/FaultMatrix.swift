internal import WaymarkFaults
package import WaymarkHistory
import WaymarkProtocol
import WaymarkRig

/// Each kind of fault at each message on each hop of the protocol page's table.
package struct FaultMatrix: Sendable {
    /// The hops of the page with the scene in which each occurs; without one: nil.
    package let hops: [(hop: Hop, scene: FaultScene?)]
    /// Every kind at every hop.
    package let cells: [FaultCell]

    package static func read() throws -> FaultMatrix { try Self.shared.get() }

    private static let shared = Result { try FaultMatrix() }

    private init() throws {
        let seen = try FaultScene.allCases.map { scene in
            let frames = try scene.play().run().history.frames
            let hops = frames.compactMap { _, frame in
                frame.frame.header.type.map { Hop(peer: frame.peer, way: frame.way, type: $0) }
            }
            return (scene, Set(hops))
        }
        self.hops = try Hop.ofPage().map { hop in (hop, seen.first { $0.1.contains(hop) }?.0) }
        var cells: [FaultCell] = []
        for (hop, scene) in self.hops {
            for name in LinkFault.Name.single {
                guard let scene else { continue }
                cells.append(FaultCell(number: cells.count + 1, name: name, hop: hop, scene: scene))
            }
        }
        self.cells = cells
    }

    /// 110 cells in which every kind and every hop occurs, for runs that take long.
    package var chosen: [FaultCell] {
        let kinds = LinkFault.Name.single.count
        let hops = self.cells.count / kinds
        return (0..<110).map { self.cells[$0 % hops * kinds + ($0 % hops + $0 / hops) % kinds] }
    }

    /// Some cells in a short scene, from whose faults peers recover at once.
    package var quick: [FaultCell] {
        let kinds: [LinkFault.Name] = [.delay, .slice, .cut]
        return kinds.compactMap { name in
            self.cells.first { $0.name == name && $0.scene == .publications }
        }
    }
}

/// In which cells the fault has happened.
package struct FaultCoverage: Sendable {
    private var counts: [LinkFault.Name: (covered: Int, all: Int)] = [:]
    /// Those in which it has not, and could have.
    package private(set) var missed: [String] = []

    package init() {}

    package mutating func add(_ cell: FaultCell, _ history: History) {
        let isCovered = cell.isCovered(history)
        var count = self.counts[cell.name] ?? (0, 0)
        count.all += 1
        if isCovered { count.covered += 1 }
        self.counts[cell.name] = count
        if !isCovered, cell.mayHappen { self.missed.append("\(cell)") }
    }

    /// For each kind, and for all of them, in how many cells of a matrix it happened.
    package func lines(_ title: String, of matrix: FaultMatrix) -> [String] {
        let kinds = LinkFault.Name.single.map { name in
            let count = self.counts[name] ?? (0, 0)
            return "\(title): \(name.rawValue) happened in \(count.covered) of \(count.all) cells"
        }
        let covered = self.counts.values.reduce(0) { $0 + $1.covered }
        let all = self.counts.values.reduce(0) { $0 + $1.all }
        let total = "\(covered) of \(all) cells were covered; the matrix has \(matrix.cells.count)"
        return kinds + ["\(title): \(total)"]
    }
}
