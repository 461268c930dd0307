package import WaymarkProtocol

/// Assigns each connection a place in the arrays of its owner. The place of a removed connection is assigned again.
///
/// Why it is not generic, as ``ConnectionTable`` is: that would not be specialized for other modules.
package struct ConnectionPlaces: Sendable {
    private var places = ConnectionTable<Int32>()
    private var freePlaces: [Int] = []

    package init() {}

    package var count: Int { self.places.count }

    /// The place of a connection; nil for none.
    package func place(of id: ConnectionID) -> Int? { self.places[number: id] }

    /// Assigns a place: one that was assigned before, or the next one.
    package mutating func add(_ id: ConnectionID) -> Int {
        let place = self.freePlaces.popLast() ?? self.places.count
        self.places[number: id] = place
        return place
    }

    /// Frees the place of a connection.
    package mutating func remove(_ id: ConnectionID) {
        guard let place = self.places[number: id] else { return }
        self.places[id] = nil
        // Gives the memory of a peak back: the owner may empty its arrays as well.
        if self.places.isEmpty { self.freePlaces = [] } else { self.freePlaces.append(place) }
    }
}
