internal import WaymarkModel

// Lines of route segments, for endpoints that store few points.
extension Profile {
    /// At most `countMax` of the points, in order, with the first and the last; the last alone for 1; 0 is no limit.
    ///
    /// Removes the cheapest point until few enough are left. A point's cost is its distance from the straight line between its
    /// neighbours, plus the larger one of the errors that the line already has on either side of it. So on one flat map no removed
    /// point is farther from the thinned line than the highest cost of any removed point. Each distance is measured on a map around
    /// another point, so for lines over many degrees this is approximate.
    ///
    /// A line of more than ``weighedMax`` points first loses cheap points in the order of the line, without a search for the
    /// cheapest: a published line may have 262 144 points, and thinning must not hold up everything else.
    ///
    /// - Complexity: O(m + n log n) for m points; n is `countMax`, or ``weighedMax`` if that is more.
    /// - Source: Docs/protocol.md, "Fitting".
    static func thin(_ line: [Coordinate], to countMax: Int) -> [Coordinate] {
        guard countMax > 0, line.count > countMax, let last = line.last else { return line }
        guard countMax > 2 else { return countMax == 1 ? [last] : [line[0], last] }
        var thinning = LineThinning(line)
        return thinning.points(countMax)
    }

    /// The largest number of points among which the cheapest one is searched for.
    static let weighedMax = 16_384
}

/// A line that loses its points one by one.
struct LineThinning {
    /// A point of the line, with its neighbours among the remaining points.
    private struct Node {
        var previous: Int32
        var next: Int32
        var isRemaining = true
        /// Index in the heap; none for the two ends.
        var place: Int32?
        /// What it costs to drop the point, in metres.
        var cost = 0.0
        /// An upper bound of the distance of all points removed between this one and the next from the straight line between the
        /// two, in metres.
        var error = 0.0
    }

    private let line: [Coordinate]
    private var nodes: [Node]
    /// Remaining points.
    private var count: Int
    /// A binary heap of the points between the two ends, the cheapest first. Each node knows its index in it, so that a point
    /// whose cost has changed is moved without a search.
    private var heap: [Int32] = []

    /// The whole line; it must have two points.
    init(_ line: [Coordinate]) {
        self.line = line
        self.count = line.count
        self.nodes = line.indices.map { Node(previous: Int32($0) - 1, next: Int32($0) + 1) }
    }

    /// At most `countMax` of the points, at least the two ends. Each time no more than the time before.
    mutating func points(_ countMax: Int) -> [Coordinate] {
        if self.heap.isEmpty || self.count > Profile.weighedMax {
            // The order in which cheap points are dropped depends on how many are to stay.
            if !self.heap.isEmpty { self = LineThinning(self.line) }
            self.dropCheap(downTo: max(countMax, Profile.weighedMax))
            self.weigh()
        }
        while self.count > max(2, countMax) { self.dropCheapest() }
        return self.line.indices.filter { self.nodes[$0].isRemaining }.map { self.line[$0] }
    }

    /// Goes through the line and drops what costs at most 1 m, then 16 m, 256 m and so on, until no more than `countMax`
    /// points are left. The factor bounds the passes that a hostile line takes.
    private mutating func dropCheap(downTo countMax: Int) {
        var costMax = 1.0
        while self.count > countMax {
            var index = Int(self.nodes[0].next)
            while index < self.line.count - 1, self.count > countMax {
                let next = Int(self.nodes[index].next)
                self.nodes[index].cost = self.cost(of: index)
                if self.nodes[index].cost <= costMax { self.drop(index) }
                index = next
            }
            costMax *= 16
        }
    }

    /// Computes the cost of each remaining point, and builds the heap.
    private mutating func weigh() {
        self.heap.removeAll(keepingCapacity: true)
        self.heap.reserveCapacity(self.count)
        var index = Int(self.nodes[0].next)
        while index < self.line.count - 1 {
            self.nodes[index].cost = self.cost(of: index)
            self.nodes[index].place = Int32(self.heap.count)
            self.heap.append(Int32(index))
            index = Int(self.nodes[index].next)
        }
        for place in (0..<self.heap.count / 2).reversed() { self.sink(from: place) }
    }

    /// Drops the point that costs least, of equal ones the earlier.
    private mutating func dropCheapest() {
        guard let cheapest = self.heap.first, let last = self.heap.popLast() else { return }
        let index = Int(cheapest)
        if last != cheapest {
            self.put(last, at: 0)
            self.sink(from: 0)
        }
        self.drop(index)
        self.updateCost(of: Int(self.nodes[index].previous))
        self.updateCost(of: Int(self.nodes[index].next))
    }

    private mutating func drop(_ index: Int) {
        let node = self.nodes[index]
        self.nodes[index].isRemaining = false
        self.nodes[Int(node.previous)].next = node.next
        self.nodes[Int(node.previous)].error = node.cost
        self.nodes[Int(node.next)].previous = node.previous
        self.count -= 1
    }

    private mutating func updateCost(of index: Int) {
        guard let place = self.nodes[index].place else { return }
        self.nodes[index].cost = self.cost(of: index)
        self.sink(from: self.rise(from: Int(place)))
    }

    /// What it costs to drop a point now.
    ///
    /// A removed point within some distance of the line between this point and a neighbour is, once this point is removed as
    /// well, within that distance plus this point's own distance of the line between its neighbours.
    private func cost(of index: Int) -> Double {
        let node = self.nodes[index]
        let (before, behind) = (Int(node.previous), Int(node.next))
        return Self.distance(of: self.line[index], from: self.line[before], self.line[behind])
            + max(self.nodes[before].error, node.error)
    }

    // MARK: The heap

    private mutating func put(_ index: Int32, at place: Int) {
        self.heap[place] = index
        self.nodes[Int(index)].place = Int32(place)
    }

    private func isCheaper(_ first: Int32, than second: Int32) -> Bool {
        let (cost, other) = (self.nodes[Int(first)].cost, self.nodes[Int(second)].cost)
        return cost == other ? first < second : cost < other
    }

    /// - Returns: The point's new index in the heap.
    private mutating func rise(from start: Int) -> Int {
        var place = start
        let index = self.heap[start]
        while place > 0, self.isCheaper(index, than: self.heap[(place - 1) / 2]) {
            self.put(self.heap[(place - 1) / 2], at: place)
            place = (place - 1) / 2
        }
        if place != start { self.put(index, at: place) }
        return place
    }

    private mutating func sink(from start: Int) {
        var place = start
        let index = self.heap[start]
        while case var child = 2 * place + 1, child < self.heap.count {
            if child + 1 < self.heap.count, self.isCheaper(self.heap[child + 1], than: self.heap[child]) {
                child += 1
            }
            guard self.isCheaper(self.heap[child], than: index) else { break }
            self.put(self.heap[child], at: place)
            place = child
        }
        if place != start { self.put(index, at: place) }
    }

    // MARK: The Earth

    /// Of a degree of latitude, in metres.
    private static let degree = 111_195.0

    /// How far a point is from the straight line between two others, in metres, on a map that is true at the point.
    private static func distance(
        of point: Coordinate, from first: Coordinate, _ last: Coordinate
    ) -> Double {
        // A degree of longitude is shorter away from the equator: the cosine, by Bhaskara's formula.
        let square = point.latitude * point.latitude
        let width = (32_400 - 4 * square) / (32_400 + square)
        func place(_ other: Coordinate) -> (x: Double, y: Double) {
            let degrees = other.longitude - point.longitude
            let east = degrees > 180 ? degrees - 360 : degrees < -180 ? degrees + 360 : degrees
            return (east * width * Self.degree, (other.latitude - point.latitude) * Self.degree)
        }
        let (start, end) = (place(first), place(last))
        let (x, y) = (end.x - start.x, end.y - start.y)
        let lengthSquared = x * x + y * y
        let part = lengthSquared > 0 ? min(1, max(0, -(start.x * x + start.y * y) / lengthSquared)) : 0
        let (east, north) = (start.x + part * x, start.y + part * y)
        return (east * east + north * north).squareRoot()
    }
}
