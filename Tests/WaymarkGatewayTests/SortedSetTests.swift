import Testing
import WaymarkProtocol

@testable import WaymarkGateway

@Suite struct SortedSetTests {
    @Test func `a sorted set has what a set has, in order`() {
        var random = SeededRandom(seed: 1)
        var sorted = SortedSet<Int>()
        var plain: Set<Int> = []
        for round in 0..<20_000 {
            let number = Int.random(in: 0..<3_000, using: &random)
            // First it grows, then it shrinks.
            if Int.random(in: 0..<20_000, using: &random) > round {
                sorted.insert(number)
                plain.insert(number)
            } else {
                sorted.remove(number)
                plain.remove(number)
            }
            guard round % 500 == 0 else { continue }
            #expect(Array(sorted) == plain.sorted() && sorted.count == plain.count)
            #expect(sorted.contains(number) == plain.contains(number))
            let probe = Int.random(in: 0..<3_000, using: &random)
            #expect(sorted.first(after: probe) == plain.sorted().first { $0 > probe })
            #expect(sorted.first(after: nil) == plain.min() && sorted.first == plain.min())
        }
    }

    @Test func `vehicles keep their places while others come and go`() {
        var random = SeededRandom(seed: 2)
        var list = VehicleList()
        var plain: [(place: UInt64, vehicle: VehicleID)] = []
        for round in 0..<5_000 {
            if plain.isEmpty || Int.random(in: 0..<5_000, using: &random) > round {
                let vehicle = VehicleID(unchecked: "car-\(round)")
                plain.append((list.append(vehicle), vehicle))
            } else {
                let index = Int.random(in: 0..<plain.count, using: &random)
                list.remove(plain.remove(at: index).place)
            }
            guard round % 100 == 0 else { continue }
            #expect(Array(list) == plain.map(\.vehicle) && list.count == plain.count)
            let place = UInt64.random(in: 0..<5_000, using: &random)
            #expect(list.next(after: place)?.vehicle == plain.first { $0.place > place }?.vehicle)
        }
    }
}
