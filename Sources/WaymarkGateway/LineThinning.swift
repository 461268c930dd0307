internal import WaymarkModel

// Lines of route segments, for endpoints that store few points.
extension Profile {
    /// At most `countMax` of the points, in order, with the first and the last; the last alone for 1; 0 is no limit.
    ///
    /// Removes the cheapest point until few enough are left. A point's cost is its distance from the straight line between its
    /// neighbours, plus the larger one of the errors that the line already has on either side of it. So on one flat map no removed
    /// point is farther from the thinned line than the highest cost of any removed point, apart from half a millimetre for each removed
    /// one: distances are rounded, so that costs that are equal on paper are equal. Each distance is measured on a map around another point,
    /// so for lines over many degrees this is approximate.
    ///
    /// Of a line that is one of several, which have `pointCount` points `among` them, or of one long line, cheap points first go in the order
    /// of the line, without a search for the cheapest, if these are more than ``weighedMax``: the lines of a message may have 262 144 points,
    /// and thinning them must take no more than some milliseconds.
    ///
    /// - Complexity: O(m + n log n) for m points among all lines; n is ``weighedMax``.
    /// - Source: Docs/protocol.md, "Fitting".
    static func thin(_ line: [Coordinate], to countMax: Int, among pointCount: Int? = nil) -> [Coordinate] {
        guard let kept = self.pointsKept(of: line, to: countMax, among: pointCount) else { return line }
        return kept.map { line[$0] }
    }

    /// The indices of the points that ``thin(_:to:among:)`` keeps; nil if it keeps all.
    static func pointsKept(of line: [Coordinate], to countMax: Int, among pointCount: Int? = nil) -> [Int]? {
        guard countMax > 0, line.count > countMax else { return nil }
        guard countMax > 2 else { return countMax == 1 ? [line.count - 1] : [0, line.count - 1] }
        var thinning = LineThinning(line, among: pointCount)
        return thinning.indices(countMax)
    }

    /// The largest number of points of a message among which the cheapest one is searched for.
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
        /// The cost of dropping the point, in millimetres.
        var cost: Int64 = 0
        /// An upper bound of the distance of all points removed between this one and the next from the straight line between the
        /// two, in millimetres.
        var error: Int64
    }

    private let published: [Coordinate]
    /// What is searched for the cheapest points: as many, or as many as are to stay if that is more.
    private let weighedMax: Int
    /// The published line without the points that went before the search, and the indices of its points in the published one.
    private var line: [Coordinate] = []
    private var publishedIndices: [Int32] = []
    private var nodes: [Node] = []
    /// Remaining points.
    private var count = 0
    /// A binary heap of the points between the two ends, the cheapest first. Each node knows its index in it, so that a point
    /// whose cost has changed is moved without a search.
    private var heap: [Int32] = []

    /// For a line of at least two points, which is one of several that have `pointCount` points `among` them.
    init(_ line: [Coordinate], among pointCount: Int? = nil) {
        self.published = line
        let pointCount = max(line.count, pointCount ?? 0)
        self.weighedMax =
            pointCount > Profile.weighedMax ? Profile.weighedMax * line.count / pointCount : line.count
    }

    /// At most `countMax` of the points, at least the two ends. Each time no more than the time before.
    mutating func points(_ countMax: Int) -> [Coordinate] {
        self.indices(countMax).map { self.published[$0] }
    }

    /// The indices of ``points(_:)`` in the published line.
    mutating func indices(_ countMax: Int) -> [Int] {
        let countMax = max(2, countMax)
        // Which cheap points are dropped depends on how many are to stay.
        if self.nodes.isEmpty || self.nodes.count > self.weighedMax {
            self.dropCheap(downTo: max(countMax, self.weighedMax))
        }
        if self.count > countMax, self.heap.isEmpty { self.weigh() }
        while self.count > countMax { self.dropCheapest() }
        return self.line.indices.filter { self.nodes[$0].isRemaining }.map { Int(self.publishedIndices[$0]) }
    }

    /// Begins with the published line, without cheap points if it has more than `countMax`.
    private mutating func dropCheap(downTo countMax: Int) {
        let (kept, errors) = Self.droppingCheap(self.published, downTo: countMax)
        self.line =
            kept.count == self.published.count ? self.published : kept.map { self.published[Int($0)] }
        self.publishedIndices = kept
        self.count = kept.count
        self.nodes = errors.enumerated().map { index, error in
            Node(previous: Int32(index) - 1, next: Int32(index) + 1, error: error)
        }
        self.heap = []
    }

    /// The most that the cheapest points cost, in millimetres.
    private static let cheap: Int64 = 1_000

    /// Goes through the line once and drops what costs at most 1 m, until no more than `countMax` points are left. Where points that cost
    /// more use up the share of those behind them, it drops what costs at most 16 m, 256 m and so on.
    ///
    /// - Returns: The indices of the points that are left, and the error between each and the next, see ``Node/error``.
    private static func droppingCheap(
        _ line: [Coordinate], downTo countMax: Int
    ) -> (kept: [Int32], errors: [Int64]) {
        var kept: [Int32] = [0]
        var errors: [Int64] = [0]
        kept.reserveCapacity(min(countMax, line.count))
        errors.reserveCapacity(min(countMax, line.count))
        var costMax = Self.cheap
        for index in 1..<line.count {
            guard kept.count + line.count - index > countMax else {
                kept.append(Int32(index))
                errors.append(0)
                continue
            }
            let before = kept.count - 1
            let cost =
                Self.distance(of: line[index], from: line[Int(kept[before])], line[index + 1])
                + errors[before]
            let share = countMax / 2 + countMax / 2 * index / line.count
            if kept.count < share - countMax / 16 { costMax = max(Self.cheap, costMax / 16) }
            while cost > costMax, kept.count >= share { costMax *= 16 }
            if cost <= costMax {
                errors[before] = cost
            } else {
                kept.append(Int32(index))
                errors.append(0)
            }
        }
        return (kept, errors)
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
    private func cost(of index: Int) -> Int64 {
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

    /// How far a point is from the straight line between two others, in whole millimetres, on a map that is true at the point.
    private static func distance(
        of point: Coordinate, from first: Coordinate, _ last: Coordinate
    ) -> Int64 {
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
        return Int64(((east * east + north * north).squareRoot() * 1_000).rounded())
    }
}
