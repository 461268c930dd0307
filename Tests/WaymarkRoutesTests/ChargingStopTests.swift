import Testing
import WaymarkModel
import WaymarkRoutes

/// Mapbox routes for electric vehicles: stops at charging stations, whose time is only in the route's duration.
@Suite struct ChargingStopTests {
    /// Two legs of 111 m and 10 s each, and half an hour at a charging station between them.
    private static func answer(station: String, isInRoute: Bool = true) -> [UInt8] {
        let leg: [Sketch.Step] = [.init(type: "depart"), .init(type: "arrive")]
        let waypoints = """
            "waypoints":[{"location":[9,0],"name":"Start"},
            {"location":[9,0.001],"name":"Raststraße","metadata":{\(station)}},
            {"location":[9,0.002],"name":"End"}]
            """
        let text = String(decoding: Sketch.osrm([leg, leg]), as: UTF8.self)
        let members = "\"distance\":222,\"duration\":1820,"
        return Array(
            (isInRoute
                ? text.replacing("{\"legs\":", with: "{\(members)\(waypoints),\"legs\":")
                : text.replacing("{\"legs\":", with: "{\(members)\"legs\":")
                    .replacing("{\"code\":", with: "{\(waypoints),\"code\":")).utf8)
    }

    private static let station = """
        "type":"charging-station","name":"Ionity Nord","station_id":"de-1","plug_type":"ccs_combo_type2",
        "power_kw":150,"current_type":"dc","charge_time":1800,"charge_at_arrival":6000,"charge_to":40000,
        "provider_names":["Ionity"]
        """

    @Test(arguments: [true, false])
    func `a charging stop keeps its station, plug, power and time`(_ isInRoute: Bool) throws {
        let route = try RouteReader.read(Self.answer(station: Self.station, isInRoute: isInRoute)).routes[0]
        let stop = route.waypoints[1]
        #expect(stop.stopKind == .charging && stop.nameVariants == ["Ionity Nord"] && stop.id == "de-1")
        #expect(
            stop.charge
                == ChargeStop(connector: .ccs2, powerWatts: 150_000, chargingTime: .seconds(1_800)))
        #expect(route.information.segments[0].destination == stop)
        #expect(route.information.segments[1].origin == stop)
        #expect(route.waypoints[0].charge == nil && route.waypoints[2].stopKind == nil)
    }

    @Test func `estimates include the charging time, like the engine's duration`() throws {
        let route = try RouteReader.read(Self.answer(station: Self.station)).routes[0]
        #expect(route.duration == .seconds(1_820))
        #expect(route.information.tripTravelEstimates?.timeRemaining == .seconds(1_820))
        // From the arrival at the station on.
        let trips = route.information.segments.map(\.tripTravelEstimates?.timeRemaining)
        #expect(trips == [.seconds(1_820), .seconds(1_810)])
    }

    @Test func `a drive stops at a charging station as long as the engine says`() throws {
        let route = try RouteReader.read(Self.answer(station: Self.station)).routes[0]
        var drive = Drive(route: route)
        var remaining: [Duration?] = []
        var places: [Double] = []
        for seconds in [5, 10, 910, 1_810, 1_815, 1_820] {
            var changes: [DriveChange] = []
            drive.advance(to: .seconds(seconds), into: &changes)
            remaining.append(drive.information.tripTravelEstimates?.timeRemaining)
            places.append((drive.position.latitude * 10_000).rounded())
        }
        #expect(remaining == [1_815, 1_810, 910, 10, 5, 0].map { .seconds($0) })
        #expect(places == [5, 10, 10, 10, 15, 20])
        #expect(drive.state == .finished)
    }

    @Test(arguments: [0, 1, 2])
    func `a waypoint off the Earth is reported; the names, the charging stop and the line stay`(_ index: Int)
        throws
    {
        let right = try RouteReader.read(Self.answer(station: Self.station)).routes[0]
        let text = String(decoding: Self.answer(station: Self.station), as: UTF8.self)
        let location = "{\"location\":[9,\(["0", "0.001", "0.002"][index])],"
        let wrong = text.replacing(location, with: "{\"location\":[9,91],")
        #expect(wrong != text)
        let route = try RouteReader.read(Array(wrong.utf8)).routes[0]
        #expect(route.waypoints.map(\.nameVariants) == [["Start"], ["Ionity Nord"], ["End"]])
        #expect(route.waypoints[1].stopKind == .charging)
        #expect(route.waypoints[1].charge == right.waypoints[1].charge)
        #expect(route.line == right.line && route.distance == right.distance)
        #expect(route.waypoints[index].center.meters(to: right.waypoints[index].center) < 10)
        let notices = route.notices.filter { !right.notices.contains($0) }
        #expect(notices.map(\.path) == ["routes[0].waypoints[\(index)]"])
        #expect(notices.map(\.reason) == ["no location on the Earth; the line's end is taken"])
    }

    @Test func `a distance with a text for people is read like its number, without a notice`() throws {
        let text = String(decoding: Self.answer(station: Self.station), as: UTF8.self)
        // The legs say 222 m together.
        func route(_ distance: String) throws -> EngineRoute {
            let changed = text.replacing("\"distance\":222,", with: "\"distance\":\(distance),")
            return try RouteReader.read(Array(changed.utf8)).routes[0]
        }
        let read = try route("{\"text\":\"222 m\",\"value\":222}")
        let plain = try route("222")
        #expect(read.distance == .meters(222) && read.notices == plain.notices)
        let other = try route("{\"text\":\"0.2 km\",\"value\":230}")
        #expect(other.distance == .meters(230) && other.notices == read.notices)
    }

    @Test func `a station that the request named is a charging stop as well`() throws {
        let station = Self.station.replacing(
            "\"charging-station\"", with: "\"user-provided-charging-station\"")
        let route = try RouteReader.read(Self.answer(station: station)).routes[0]
        #expect(route.waypoints[1].charge?.chargingTime == .seconds(1_800))
    }

    @Test func `properties of a station that the protocol lacks are reported`() throws {
        let odd = """
            "type":"charging-station","plug_type":"banana","power_kw":-3,"charge_time":1e9,"charge_to":40000
            """
        let route = try RouteReader.read(Self.answer(station: odd)).routes[0]
        #expect(route.waypoints[1].charge == ChargeStop() && route.waypoints[1].stopKind == .charging)
        #expect(route.waypoints[1].nameVariants == ["Raststraße"])
        #expect(route.reports("\"banana\" is no known plug"))
        #expect(route.notices.count { $0.reason.contains("not a number in the range of the protocol") } == 2)
        #expect(route.notices.contains { $0.path.hasSuffix("metadata.charge_to") })
        let other = try RouteReader.read(Self.answer(station: "\"type\":\"restaurant\"")).routes[0]
        #expect(other.waypoints[1].stopKind == nil && other.reports("metadata of no known type"))
    }
}
