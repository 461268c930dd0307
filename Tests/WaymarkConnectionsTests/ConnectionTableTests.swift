import Testing
import WaymarkConnections
import WaymarkProtocol

@Suite struct ConnectionTableTests {
    /// Ids as they are counted up, with holes; or of which many are looked for at the same place.
    @Test(arguments: [UInt64(1), 1 << 16, 1 << 33], 0..<20)
    func `a table does what a dictionary does`(_ step: UInt64, _ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var table = ConnectionTable<Int>()
        var model: [ConnectionID: Int] = [:]
        for turn in 0..<3_000 {
            let id = ConnectionID(step &* .random(in: 0...200, using: &random))
            if Int.random(in: 0..<5, using: &random) < (turn < 1_500 ? 3 : 1) {
                table[id] = turn
                model[id] = turn
            } else {
                table[id] = nil
                model[id] = nil
            }
            #expect(table.count == model.count)
            #expect(table.isEmpty == model.isEmpty)
            guard turn.isMultiple(of: 50) else { continue }
            for number in 0...200 {
                let id = ConnectionID(step &* UInt64(number))
                #expect(table[id] == model[id])
            }
            #expect(table.values.sorted() == model.values.sorted())
        }
    }
}
