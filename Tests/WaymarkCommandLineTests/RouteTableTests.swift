import Foundation
import Testing
import WaymarkModel
import WaymarkRoutes

@testable import WaymarkCommandLine

/// What `waymark routes show` prints.
@Suite struct RouteTableTests {
    /// Two legs in OSRM's form, with a charging stop between them, exits of all kinds, and members that are not read.
    private static let text = """
        {"code":"Ok","routes":[{"distance":36000,"duration":5400,"weight":7,
        "waypoints":[{"location":[9,47],"name":"Vaduz"},{"location":[9,47.1],"name":"Weg",
        "metadata":{"type":"charging-station","name":"Ionity","station_id":"s-1","plug_type":"ccs_combo_type2",
        "power_kw":150,"charge_time":1500}},{"location":[9,47.2],"name":"Balzers"}],
        "legs":[{"distance":20000,"duration":1900,"steps":[
        {"maneuver":{"type":"depart","location":[9,47],"instruction":"Drive north."},"distance":11120,"duration":1000,
        "weight":1,"geometry":{"coordinates":[[9,47],[9,47.05]]}},
        {"maneuver":{"type":"off ramp","modifier":"right","location":[9,47.05],"bearing_before":0,
        "bearing_after":40,"instruction":"\(String(repeating: "Take exit 12A toward the lake. ", count: 4))"},
        "exits":"12A","distance":350,"duration":900,"weight":1,
        "intersections":[{"location":[9,47.05],"lanes":[{"indications":["left"],"valid":false},
        {"indications":["right"],"valid":true}]}],"geometry":{"coordinates":[[9,47.05],[9,47.1]]}},
        {"maneuver":{"type":"arrive","modifier":"left","location":[9,47.1],"instruction":"Charge here."},
        "distance":0,"duration":0,"geometry":{"coordinates":[[9,47.1],[9,47.1]]}}]},
        {"distance":16000,"duration":2000,"steps":[
        {"maneuver":{"type":"depart","location":[9,47.1],"instruction":"Go on."},"distance":1150,"duration":1000,
        "geometry":{"coordinates":[[9,47.1],[9,47.15]]}},
        {"maneuver":{"type":"roundabout turn","modifier":"left","exit":3,"location":[9,47.15],
        "instruction":"Left at the roundabout."},"distance":1150,"duration":1000,
        "geometry":{"coordinates":[[9,47.15],[9,47.2]]}},
        {"maneuver":{"type":"arrive","modifier":"right","location":[9,47.2],"instruction":"You have arrived."},
        "distance":0,"duration":0,"geometry":{"coordinates":[[9,47.2],[9,47.2]]}}]}]}]}
        """

    @Test(arguments: ["12A", "12A; 12B; 13 Some Long Exit Name of a Place"])
    func `a long exit leaves the instruction its room`(_ exits: String) throws {
        let text = Self.text.replacing("\"exits\":\"12A\"", with: "\"exits\":\"\(exits)\"")
        let lines = RouteTable.lines(try RouteReader.read(Array(text.utf8)))
        for line in lines { #expect(line.count <= RouteTable.width, "\(line)") }
        #expect(lines.count < 45, "\(lines)")
        #expect(lines.joined(separator: "\n").contains(exits))
    }

    private static func lines(listsNotices: Bool = false) throws -> [String] {
        RouteTable.lines(try RouteReader.read(Array(Self.text.utf8)), listsNotices: listsNotices)
    }

    @Test func `the table has length, time, maneuvers and stops of a route`() throws {
        #expect(
            try Self.lines().prefix { !$0.hasPrefix("note: ") } == [
                "Route 1 of 1, by Mapbox",
                "  36 km, 1 h 30 min, 6 maneuvers, 1 stop, 25 min of charging, lanes at 1 place",
                "",
                "  #    after  maneuver                  angle  exit  instruction",
                "Leg 1 of 2: Vaduz to Ionity, 11 km, 32 min",
                "  1           startRoute                             Drive north.",
                "  2    11 km  highwayOffRampRight         40°  12A   Take exit 12A toward the",
                "                                                     lake. Take exit 12A toward",
                "                                                     the lake. Take exit 12A",
                "                                                     toward the lake. Take exit",
                "                                                     12A toward the lake.",
                "              lanes ← │ [→]",
                "  3    350 m  stop on the left                       Charge here.",
                "              charging, 25 min, 150 kW, ccs2, station s-1",
                "Leg 2 of 2: Ionity to Balzers, 11 km, 33 min",
                "  4           startRoute                             Go on.",
                "  5   1.2 km  leftTurn, exit 3                       Left at the roundabout.",
                "  6   1.2 km  arriveAtDestinationRight               You have arrived.",
                "",
            ])
    }

    @Test func `no line is wider than a terminal`() throws {
        for line in try Self.lines() { #expect(line.count <= RouteTable.width, "\(line)") }
    }

    @Test func `notes are summed up, and listed when asked for`() throws {
        let summed = try Self.lines()
        #expect(summed.last?.contains("--notices lists all") ?? false)
        #expect(summed.contains { $0.hasPrefix("note: not carried over: ") && $0.contains("weight") })
        let listed = try Self.lines(listsNotices: true)
        #expect(listed.contains("note: routes[0].legs[].steps[].weight: not carried over, 2 times"))
        #expect(listed.contains("note: routes[0].weight: not carried over"))
        #expect(!listed.contains { $0.contains("--notices") })
    }

    @Test(arguments: [
        (0.0, "0 s"), (59, "59 s"), (60, "1 min"), (3_569, "59 min"), (3_600, "1 h"), (10_700, "2 h 58 min"),
    ])
    func `times are in minutes and hours`(_ seconds: Double, _ text: String) {
        #expect(RouteTable.time(seconds) == text)
    }
}
