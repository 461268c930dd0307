import Foundation
import Testing
import WaymarkModel
import WaymarkRoutes

/// The same faults in the forms of all engines: each is repaired or reported, and none is read as a route elsewhere.
@Suite struct FaultTests {
    private static func route(_ form: FaultyAnswer, _ fault: FaultyAnswer.Fault = .init()) throws
        -> EngineRoute
    {
        let route = try RouteReader.read(form.answer(fault)).routes[0]
        Promises.check(route)
        return route
    }

    private static func isRight(_ route: EngineRoute) -> Bool {
        abs(route.measure.length - 1_250) < 15
            && route.line[0].meters(to: FaultyAnswer.line[0]) < 10
            && route.line[route.line.count - 1].meters(to: FaultyAnswer.line[25]) < 10
    }

    private static func angles(_ route: EngineRoute) -> [Int] {
        route.information.maneuvers.compactMap { $0.junctionExitAngle.map { Int($0.degrees) } }
    }

    @Test(arguments: FaultyAnswer.allCases)
    func `an answer without a fault is read without a complaint`(_ form: FaultyAnswer) throws {
        let route = try Self.route(form)
        #expect(Self.isRight(route) && Self.angles(route) == [90, -90])
        for words in ["the line", "polyline", "digits", "location"] { #expect(!route.reports(words)) }
    }

    @Test(
        arguments: FaultyAnswer.allCases,
        [
            (1e4, 2, 1), (1e5, 2, 1), (1e6, 2, 1), (1e7, 2, 1), (1e5, 3, 1), (1e6, 3, 1), (1e5, 2, 2),
            (1e6, 2, 2),
            (1e6, 3, 2), (1e6, 2, 3),
        ])
    func `digits, altitudes and doubled backslashes are found by the length and the number of points`(
        _ form: FaultyAnswer, _ line: (units: Double, dimensions: Int, backslashes: Int)
    ) throws {
        var fault = FaultyAnswer.Fault()
        (fault.unitsPerDegree, fault.dimensions, fault.backslashes) = (
            line.units, line.dimensions, line.backslashes
        )
        let route = try Self.route(form, fault)
        #expect(Self.isRight(route), "\(route.measure.length) m")
        #expect(route.line.allSatisfy { ($0.altitude == nil) == (line.dimensions == 2) })
        if line.dimensions == 3 { #expect(route.reports("three dimensions")) }
    }

    @Test(arguments: FaultyAnswer.allCases, [1e5, 1e6])
    func `backslashes that were lost or doubled are repaired, and reported`(
        _ form: FaultyAnswer, _ unitsPerDegree: Double
    ) throws {
        var fault = FaultyAnswer.Fault()
        fault.unitsPerDegree = unitsPerDegree
        fault.line = FaultyAnswer.lineWithBackslash(unitsPerDegree: unitsPerDegree)
        #expect(String(decoding: form.answer(fault), as: UTF8.self).contains(#"\\b@"#))
        let right = try Self.route(form, fault)
        #expect(!right.reports("backslash"))
        for (backslashes, words) in [(0, "it was put back"), (2, "escaped twice"), (3, "escaped twice")] {
            fault.backslashes = backslashes
            let route = try Self.route(form, fault)
            #expect(route.line == right.line)
            #expect(route.reports(words))
        }
    }

    @Test(arguments: FaultyAnswer.allCases)
    func `bearings of zero do not turn two turns into straight roads`(_ form: FaultyAnswer) throws {
        var fault = FaultyAnswer.Fault()
        for bearings in [[0.0], [nil], [180], [nil, 0]] as [[Double?]] {
            fault.bearings = bearings
            #expect(try Self.angles(Self.route(form, fault)) == [90, -90])
        }
    }

    @Test(arguments: FaultyAnswer.allCases, [400.0, 20_000, 9_000_000])
    func `a destination that is not where the line ends is reported with the distance`(
        _ form: FaultyAnswer, _ meters: Double
    ) throws {
        var fault = FaultyAnswer.Fault()
        fault.destination = FaultyAnswer.line[25].moved(meters: meters, bearing: 200)
        let route = try Self.route(form, fault)
        let moved = route.notices.filter(\.isMovedPoint)
        let distance = meters < 10_000 ? "400 m" : "\(Int(meters / 1_000)) km"
        #expect(moved.count == 1 && moved[0].reason.contains(distance), "\(moved)")
        #expect(Self.isRight(route))
    }

    @Test(arguments: FaultyAnswer.allCases)
    func `a destination off the Earth is reported, and the line's end is taken`(_ form: FaultyAnswer) throws {
        var fault = FaultyAnswer.Fault()
        fault.destination.latitude = 91
        let route = try Self.route(form, fault)
        #expect(Self.isRight(route) && Self.angles(route) == [90, -90])
        #expect(route.waypoints.last?.center == route.line.last)
        let notices = route.notices.filter { $0.reason.contains("on the Earth") || $0.isMovedPoint }
        #expect(notices.map(\.reason) == ["no location on the Earth; the line's end is taken"])
    }

    @Test(arguments: FaultyAnswer.allCases)
    func `a broken alternative is left out`(_ form: FaultyAnswer) throws {
        var fault = FaultyAnswer.Fault()
        fault.hasBrokenAlternative = true
        let answer = try RouteReader.read(form.answer(fault))
        #expect(answer.routes.count == 1 && Self.isRight(answer.routes[0]))
        #expect(answer.notices.contains { $0.reason.contains("left out") })
    }

    @Test func `a line that nothing explains is refused with both lengths`() throws {
        let text = """
            {"paths":[{"distance":4,"points":{"type":"LineString","coordinates":[[9,47],[9,48]]},"instructions":[
            {"sign":0,"interval":[0,1]},{"sign":4,"interval":[1,1]}]}]}
            """
        let error = try #require(throws: RouteReadingError.self) { try RouteReader.read(Array(text.utf8)) }
        #expect("\(error)".contains("the line is 111 km long, but the answer says 4 m"), "\(error)")
    }

    @Test(arguments: [
        (
            "{\"status\":200,\"status_message\":\"Found route between points\",\"route_geometry\":\"_p~iF\"}",
            "OSRM's form of before 2016"
        ),
        ("{\"status\":0,\"status_message\":\"Found route between points\"}", "an object of"),
        ("{\"code\":\"Ok\",\"message\":\"Found\",\"routes\":[]}", "no route in the answer"),
    ])
    func `a refusal never quotes the message of a success`(_ text: String, _ reason: String) throws {
        let error = try #require(throws: RouteReadingError.self) { try RouteReader.read(Array(text.utf8)) }
        #expect("\(error)".contains(reason) && !"\(error)".contains("Found"), "\(error)")
    }
}
