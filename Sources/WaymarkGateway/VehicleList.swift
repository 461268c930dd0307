internal import WaymarkProtocol

/// The vehicles of a session in the order in which they came. Each has a place that stays the same, so that a walk that is divided
/// into steps goes on where it was, whatever came and left meanwhile.
///
/// Adding costs O(1), removing O(log n).
struct VehicleList: Sendable, Codable {
    /// Counts from 1.
    typealias Place = UInt64

    private struct Entry: Sendable, Hashable, Codable {
        let place: Place
        /// nil once the vehicle has left.
        var vehicle: VehicleID?
    }

    /// In the order of the places. At most half of them, or 32, are of vehicles that left.
    private var entries: [Entry] = []
    private(set) var count = 0
    /// The last place that was given.
    private(set) var last: Place = 0

    var isEmpty: Bool { self.count == 0 }

    /// Adds a vehicle and returns its place.
    mutating func append(_ vehicle: VehicleID) -> Place {
        self.last += 1
        self.entries.append(Entry(place: self.last, vehicle: vehicle))
        self.count += 1
        return self.last
    }

    /// Removes the vehicle at a place.
    mutating func remove(_ place: Place) {
        let index = self.index(notBefore: place)
        guard index < self.entries.count, self.entries[index].place == place,
            self.entries[index].vehicle != nil
        else { return }
        self.entries[index].vehicle = nil
        self.count -= 1
        let emptyCount = self.entries.count - self.count
        if emptyCount > 32, emptyCount > self.count { self.entries.removeAll { $0.vehicle == nil } }
    }

    /// The first vehicle after a place.
    func next(after place: Place) -> (place: Place, vehicle: VehicleID)? {
        for entry in self.entries[self.index(notBefore: place + 1)...] {
            if let vehicle = entry.vehicle { return (entry.place, vehicle) }
        }
        return nil
    }

    private func index(notBefore place: Place) -> Int {
        var (low, high) = (0, self.entries.count)
        while low < high {
            let middle = (low + high) / 2
            if self.entries[middle].place < place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension VehicleList: Sequence {
    func makeIterator() -> AnyIterator<VehicleID> {
        var place: Place = 0
        return AnyIterator {
            self.next(after: place).map {
                place = $0.place
                return $0.vehicle
            }
        }
    }
}

// Places of vehicles that left make no difference.
extension VehicleList: Hashable {
    static func == (lhs: VehicleList, rhs: VehicleList) -> Bool {
        lhs.last == rhs.last && lhs.present == rhs.present
    }

    func hash(into hasher: inout Hasher) { hasher.combine(self.present) }

    private var present: [Entry] { self.entries.filter { $0.vehicle != nil } }
}
