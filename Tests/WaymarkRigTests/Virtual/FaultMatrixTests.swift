import FaultCells
import Foundation
import Sweeps
import Testing
import WaymarkFaults
import WaymarkRig

/// Each kind of fault at each message on each hop of the protocol page's table, in virtual time.
@Suite struct FaultMatrixTests {
    @Test func `every hop of the page occurs in a scene`() throws {
        let hops = try FaultMatrix.read().hops
        #expect(hops.count == 103)
        #expect(hops.filter { $0.scene == nil }.map(\.hop.description) == [])
    }

    @Test func `a run with any fault at any message comes to rest, and every verdict is explained`() throws {
        let matrix = try FaultMatrix.read()
        let cells = SweepPart("WAYMARK_CELLS")?.cases(of: matrix.cells) ?? matrix.chosen
        var coverage = FaultCoverage()
        for cell in cells {
            let outcome = try cell.play().run()
            #expect(cell.problems(outcome) == [], "\(cell), \(cell.scene)")
            coverage.add(cell, outcome.history)
        }
        for line in coverage.lines("fault matrix", of: matrix) { print(line) }
        #expect(coverage.missed == [])
    }

    @Test func `every kind and every hop is among the chosen cells`() throws {
        let chosen = try FaultMatrix.read().chosen
        #expect(Set(chosen.map(\.number)).count == 110)
        #expect(Set(chosen.map(\.name)).count == LinkFault.Name.single.count)
        #expect(Set(chosen.map(\.hop)).count == 103)
    }
}
