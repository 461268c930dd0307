import Testing
import WaymarkConnections
import WaymarkProtocol

@Suite struct ConnectionPlacesTests {
    @Test func `a place is assigned again once its connection is removed`() {
        var places = ConnectionPlaces()
        let first = (1...4).map { places.add(ConnectionID($0)) }
        #expect(first == [0, 1, 2, 3])
        places.remove(ConnectionID(2))
        places.remove(ConnectionID(2))
        #expect(places.place(of: ConnectionID(2)) == nil && places.count == 3)
        let (again, next) = (places.add(ConnectionID(5)), places.add(ConnectionID(6)))
        #expect(again == 1 && next == 4)
        #expect(places.place(of: ConnectionID(3)) == 2)
    }

    @Test func `without connections places begin at 0 again`() {
        var places = ConnectionPlaces()
        for id in UInt64(1)...3 { _ = places.add(ConnectionID(id)) }
        for id in UInt64(1)...3 { places.remove(ConnectionID(id)) }
        let place = places.add(ConnectionID(9))
        #expect(place == 0 && places.count == 1)
    }
}
