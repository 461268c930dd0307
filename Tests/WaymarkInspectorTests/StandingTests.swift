import Foundation
import Testing
import WaymarkHistory
import WaymarkModel
import WaymarkProtocol
import WaymarkRecording
import WaymarkTexts

@testable import WaymarkInspector

/// What a live gateway's vehicles are said to be: away, behind, arriving.
@Suite struct StandingTests {
    private static let all = ["car/cluster", "car/hud", "bus/cluster"]
    private static let contents = FeatureSet([.receipts, .currentRoadName, .maneuvers])

    private static func road(_ name: String) -> Publication { .currentRoadName([name]) }

    private static func row(_ vehicle: String, _ gateway: inout LiveGateway) throws -> [String: Any] {
        let rows = try gateway.ask("overview").objects("vehicles")
        return try #require(rows.first { $0.text("vehicle") == vehicle })
    }

    @Test func `a vehicle is away while only the inspector's own endpoint is connected`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        gateway.change("car") { car in
            for index in car.endpoints.indices { car.endpoints[index].connection = nil }
            var own = EndpointRecord(EndpointName(unchecked: "inspector-1"))
            (own.connection, own.session) = (ConnectionID(9), LiveGateway.session)
            car.endpoints.append(own)
        }
        #expect(try Self.row("car", &gateway)["standing"] as? [String] == ["away"])
        // And what is shown is what its displays hold.
        #expect(try gateway.ask("vehicle", ["id": "car"]).object("heldBy").text("endpoint") == "cluster")
    }

    @Test func `an endpoint that confirmed too little long ago is behind, however old that is`() throws {
        var gateway = LiveGateway(bytesMax: 20_000, blockBytesMax: 2_000)
        gateway.tellState()
        gateway.change("car") { car in
            for index in car.endpoints.indices { car.endpoints[index].features = Self.contents }
        }
        for name in ["1", "2", "3"] { gateway.publish(Self.road(name), to: Self.all) }
        gateway.confirm("car/hud", upTo: 1)
        gateway.confirm("car/cluster", upTo: 3)
        for _ in 0..<500 { gateway.reject(.currentRoadName, "name") }
        #expect(gateway.history.counts.dropped > 100)
        let endpoints = try gateway.ask("receipts", ["id": "car"]).objects("endpoints")
        #expect(endpoints.map { $0["behind"] as? Int } == [0, 1])
        #expect(endpoints.map { $0["behindAtLeast"] as? Bool } == [nil, true])
    }

    @Test func `the arrival counts from when the time left was published`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        var estimates = TravelEstimates(distanceRemaining: .meters(1_000))
        estimates.timeRemaining = .seconds(600)
        let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
        let trip = Trip(id: "t", origin: place, destination: place)
        gateway.publish(.startGuidance(trip, generation: 1, RouteInformation()), to: Self.all)
        gateway.wait(.seconds(10))
        gateway.publish(.tripEstimates(estimates, .default), to: Self.all)
        let expected = JSON.time((gateway.now + .seconds(600)).date)
        let at = (gateway.now - LiveGateway.start) / .seconds(1)
        gateway.wait(.seconds(100))
        gateway.publish(Self.road("1"), to: Self.all)
        #expect(try gateway.ask("vehicle", ["id": "car"]).object("arrival").text("time") == expected)
        // At a past moment, and in each row behind it.
        let past = try gateway.ask("vehicle", ["id": "car", "at": "\(Int(at) + 50)"])
        #expect(past.object("arrival").text("time") == expected)
        let rows = try gateway.ask("updates", ["id": "car"]).objects("rows")
        #expect(rows.prefix(2).map { $0.text("arrival") } == [expected, expected])
    }

    @Test func `what the operator withholds is withheld from a configuration that is tried, too`() throws {
        var gateway = LiveGateway()
        gateway.records.clients[0].granted = FeatureSet(Feature.allCases)
        gateway.tellState()
        gateway.change("car") { car in
            car.endpoints[0].withheld = [
                FeatureGrant(.routeSegments, withheld: .noConsent),
                FeatureGrant(.navigationAlerts, withheld: .policy),
            ]
        }
        let body = Data(#"{"vehicle": "car", "profile": {}}"#.utf8)
        guard case .json(let data) = try gateway.inspection.preview(body, now: gateway.date) else {
            Issue.record("no object")
            return
        }
        let why = try #require(RecordedJSON.object(String(decoding: data, as: UTF8.self))).objects("why")
        #expect(why.contains { $0.text("code") == "noConsent" && $0.text("feature") == "routeSegments" })
        #expect(why.contains { $0.text("code") == "policy" && $0.text("feature") == "navigationAlerts" })
    }

    @Test func `the age of a session that falls silent is told again`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        func tell(age: UInt32) {
            var (report, measure) = (CounterReport(), SessionMeasure(LiveGateway.session))
            measure.ageMilliseconds = age
            (report.instant, report.sessions) = (gateway.instant, [measure])
            gateway.inspection.sources[0].measure([report])
        }
        tell(age: 400)
        var stream = try EventStream(
            InspectorQuery(["views": "overview"]), lastID: nil, gateway.inspection)
        func next() throws -> [String: Any]? {
            let events = stream.next(&gateway.inspection, actions: [:], now: gateway.date)
            return events.first { $0.name == "overview" }.flatMap {
                RecordedJSON.object(String(decoding: $0.data, as: UTF8.self))
            }
        }
        #expect(try next()?.objects("sessions").map { $0["ageMilliseconds"] as? Int } == [400])
        tell(age: 1_400)
        #expect(try next() == nil)
        tell(age: 9_400)
        let told = try #require(try next())
        #expect(told.objects("sessions").map { $0["ageMilliseconds"] as? Int } == [9_400])
        #expect(told.objects("changed").map { $0["ageSeconds"] as? Double } == [9.4, 9.4])
    }

    @Test
    func
        `a request that is sent again after its end keeps its reason, and one that is asked anew is another`()
        throws
    {
        var gateway = LiveGateway()
        gateway.tellState()
        let (id, car) = (Identifier("d1"), VehicleID(unchecked: "car"))
        let (hud, place) = (
            try #require(LiveGateway.connections["car/hud"]),
            Waypoint(center: Coordinate(latitude: 47, longitude: 9))
        )
        let asked = Envelope(.destinationRequest(DestinationRequest(requestID: id, destination: place)))
        let forwarded = Envelope(
            .destinationRequest(DestinationRequest(requestID: id, destination: place, vehicle: car)))
        let outcome = Envelope(
            .requestOutcome(RequestOutcome(requestID: id, vehicle: car, outcome: .declinedByUser)))
        gateway.frame(.in, hud, asked)
        gateway.frame(.out, LiveGateway.app, forwarded)
        let decline = RequestAnswer(requestID: id, vehicle: car, answer: .decline(.declinedByUser))
        gateway.frame(.in, LiveGateway.app, Envelope(.requestAnswer(decline)))
        gateway.frame(.out, hud, outcome)
        let before = try gateway.ask("requests", ["id": "car"]).objects("requests")
        gateway.frame(.in, hud, asked)
        gateway.frame(.out, hud, outcome)
        let after = try gateway.ask("requests", ["id": "car"]).objects("requests")
        #expect(after.count == 1)
        #expect(after.first?.object("why").text("text") == before.first?.object("why").text("text"))
        #expect(after.first?.objects("steps").last?.text("text") == "car/hud asks again")
        gateway.frame(.in, hud, asked)
        gateway.frame(.out, LiveGateway.app, forwarded)
        let anew = try gateway.ask("requests", ["id": "car"]).objects("requests")
        #expect(anew.map { $0.text("stage") } == ["asked", "ended"])
        #expect(anew.first?.objects("steps").map { $0.text("what") } == ["asked", "forwarded"])
    }
}
